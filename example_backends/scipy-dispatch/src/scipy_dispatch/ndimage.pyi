# Written by tools/write_stubs.py from SciPy 1.18; do not edit.
from typing import Any

from scipy.ndimage import generate_binary_structure as generate_binary_structure

from ._dispatch import system

@system.dispatchable()
def affine_transform(
    input: Any,
    matrix: Any,
    offset: Any = ...,
    output_shape: Any = ...,
    output: Any = ...,
    order: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    prefilter: Any = ...,
) -> Any: ...
@system.dispatchable()
def binary_closing(
    input: Any,
    structure: Any = ...,
    iterations: Any = ...,
    output: Any = ...,
    origin: Any = ...,
    mask: Any = ...,
    border_value: Any = ...,
    brute_force: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def binary_dilation(
    input: Any,
    structure: Any = ...,
    iterations: Any = ...,
    mask: Any = ...,
    output: Any = ...,
    border_value: Any = ...,
    origin: Any = ...,
    brute_force: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def binary_erosion(
    input: Any,
    structure: Any = ...,
    iterations: Any = ...,
    mask: Any = ...,
    output: Any = ...,
    border_value: Any = ...,
    origin: Any = ...,
    brute_force: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def binary_fill_holes(
    input: Any,
    structure: Any = ...,
    output: Any = ...,
    origin: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def binary_hit_or_miss(
    input: Any,
    structure1: Any = ...,
    structure2: Any = ...,
    output: Any = ...,
    origin1: Any = ...,
    origin2: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def binary_opening(
    input: Any,
    structure: Any = ...,
    iterations: Any = ...,
    output: Any = ...,
    origin: Any = ...,
    mask: Any = ...,
    border_value: Any = ...,
    brute_force: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def binary_propagation(
    input: Any,
    structure: Any = ...,
    mask: Any = ...,
    output: Any = ...,
    border_value: Any = ...,
    origin: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def black_tophat(
    input: Any,
    size: Any = ...,
    footprint: Any = ...,
    structure: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def center_of_mass(input: Any, labels: Any = ..., index: Any = ...) -> Any: ...
@system.dispatchable()
def convolve(
    input: Any,
    weights: Any,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def convolve1d(
    input: Any,
    weights: Any,
    axis: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
) -> Any: ...
@system.dispatchable()
def correlate(
    input: Any,
    weights: Any,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def correlate1d(
    input: Any,
    weights: Any,
    axis: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
) -> Any: ...
@system.dispatchable()
def distance_transform_bf(
    input: Any,
    metric: Any = ...,
    sampling: Any = ...,
    return_distances: Any = ...,
    return_indices: Any = ...,
    distances: Any = ...,
    indices: Any = ...,
) -> Any: ...
@system.dispatchable()
def distance_transform_cdt(
    input: Any,
    metric: Any = ...,
    return_distances: Any = ...,
    return_indices: Any = ...,
    distances: Any = ...,
    indices: Any = ...,
) -> Any: ...
@system.dispatchable()
def distance_transform_edt(
    input: Any,
    sampling: Any = ...,
    return_distances: Any = ...,
    return_indices: Any = ...,
    distances: Any = ...,
    indices: Any = ...,
) -> Any: ...
@system.dispatchable()
def extrema(input: Any, labels: Any = ..., index: Any = ...) -> Any: ...
@system.dispatchable()
def find_objects(input: Any, max_label: Any = ...) -> Any: ...
@system.dispatchable()
def fourier_ellipsoid(
    input: Any,
    size: Any,
    n: Any = ...,
    axis: Any = ...,
    output: Any = ...,
) -> Any: ...
@system.dispatchable()
def fourier_gaussian(
    input: Any,
    sigma: Any,
    n: Any = ...,
    axis: Any = ...,
    output: Any = ...,
) -> Any: ...
@system.dispatchable()
def fourier_shift(
    input: Any,
    shift: Any,
    n: Any = ...,
    axis: Any = ...,
    output: Any = ...,
) -> Any: ...
@system.dispatchable()
def fourier_uniform(
    input: Any,
    size: Any,
    n: Any = ...,
    axis: Any = ...,
    output: Any = ...,
) -> Any: ...
@system.dispatchable()
def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    truncate: Any = ...,
    *,
    radius: Any = ...,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def gaussian_filter1d(
    input: Any,
    sigma: Any,
    axis: Any = ...,
    order: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    truncate: Any = ...,
    *,
    radius: Any = ...,
) -> Any: ...
@system.dispatchable()
def gaussian_gradient_magnitude(
    input: Any,
    sigma: Any,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    *,
    axes: Any = ...,
    **kwargs: Any,
) -> Any: ...
@system.dispatchable()
def gaussian_laplace(
    input: Any,
    sigma: Any,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    *,
    axes: Any = ...,
    **kwargs: Any,
) -> Any: ...
@system.dispatchable()
def generic_filter(
    input: Any,
    function: Any,
    size: Any = ...,
    footprint: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
    extra_arguments: Any = ...,
    extra_keywords: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def generic_filter1d(
    input: Any,
    function: Any,
    filter_size: Any,
    axis: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
    extra_arguments: Any = ...,
    extra_keywords: Any = ...,
) -> Any: ...
@system.dispatchable()
def generic_gradient_magnitude(
    input: Any,
    derivative: Any,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    extra_arguments: Any = ...,
    extra_keywords: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def generic_laplace(
    input: Any,
    derivative2: Any,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    extra_arguments: Any = ...,
    extra_keywords: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def geometric_transform(
    input: Any,
    mapping: Any,
    output_shape: Any = ...,
    output: Any = ...,
    order: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    prefilter: Any = ...,
    extra_arguments: Any = ...,
    extra_keywords: Any = ...,
) -> Any: ...
@system.dispatchable()
def grey_closing(
    input: Any,
    size: Any = ...,
    footprint: Any = ...,
    structure: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def grey_dilation(
    input: Any,
    size: Any = ...,
    footprint: Any = ...,
    structure: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def grey_erosion(
    input: Any,
    size: Any = ...,
    footprint: Any = ...,
    structure: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def grey_opening(
    input: Any,
    size: Any = ...,
    footprint: Any = ...,
    structure: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def histogram(
    input: Any,
    min: Any,
    max: Any,
    bins: Any,
    labels: Any = ...,
    index: Any = ...,
) -> Any: ...
@system.dispatchable()
def iterate_structure(structure: Any, iterations: Any, origin: Any = ...) -> Any: ...
@system.dispatchable()
def label(input: Any, structure: Any = ..., output: Any = ...) -> Any: ...
@system.dispatchable()
def labeled_comprehension(
    input: Any,
    labels: Any,
    index: Any,
    func: Any,
    out_dtype: Any,
    default: Any,
    pass_positions: Any = ...,
) -> Any: ...
@system.dispatchable()
def laplace(
    input: Any,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def map_coordinates(
    input: Any,
    coordinates: Any,
    output: Any = ...,
    order: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    prefilter: Any = ...,
) -> Any: ...
@system.dispatchable()
def maximum(input: Any, labels: Any = ..., index: Any = ...) -> Any: ...
@system.dispatchable()
def maximum_filter(
    input: Any,
    size: Any = ...,
    footprint: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def maximum_filter1d(
    input: Any,
    size: Any,
    axis: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
) -> Any: ...
@system.dispatchable()
def maximum_position(input: Any, labels: Any = ..., index: Any = ...) -> Any: ...
@system.dispatchable()
def mean(input: Any, labels: Any = ..., index: Any = ...) -> Any: ...
@system.dispatchable()
def median(input: Any, labels: Any = ..., index: Any = ...) -> Any: ...
@system.dispatchable()
def median_filter(
    input: Any,
    size: Any = ...,
    footprint: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def minimum(input: Any, labels: Any = ..., index: Any = ...) -> Any: ...
@system.dispatchable()
def minimum_filter(
    input: Any,
    size: Any = ...,
    footprint: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def minimum_filter1d(
    input: Any,
    size: Any,
    axis: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
) -> Any: ...
@system.dispatchable()
def minimum_position(input: Any, labels: Any = ..., index: Any = ...) -> Any: ...
@system.dispatchable()
def morphological_gradient(
    input: Any,
    size: Any = ...,
    footprint: Any = ...,
    structure: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def morphological_laplace(
    input: Any,
    size: Any = ...,
    footprint: Any = ...,
    structure: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def percentile_filter(
    input: Any,
    percentile: Any,
    size: Any = ...,
    footprint: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def prewitt(
    input: Any,
    axis: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
) -> Any: ...
@system.dispatchable()
def rank_filter(
    input: Any,
    rank: Any,
    size: Any = ...,
    footprint: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def rotate(
    input: Any,
    angle: Any,
    axes: Any = ...,
    reshape: Any = ...,
    output: Any = ...,
    order: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    prefilter: Any = ...,
) -> Any: ...
@system.dispatchable()
def shift(
    input: Any,
    shift: Any,
    output: Any = ...,
    order: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    prefilter: Any = ...,
) -> Any: ...
@system.dispatchable()
def sobel(
    input: Any,
    axis: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
) -> Any: ...
@system.dispatchable()
def spline_filter(input: Any, order: Any = ..., output: Any = ..., mode: Any = ...) -> Any: ...
@system.dispatchable()
def spline_filter1d(
    input: Any,
    order: Any = ...,
    axis: Any = ...,
    output: Any = ...,
    mode: Any = ...,
) -> Any: ...
@system.dispatchable()
def standard_deviation(input: Any, labels: Any = ..., index: Any = ...) -> Any: ...
@system.dispatchable()
def sum(input: Any, labels: Any = ..., index: Any = ...) -> Any: ...
@system.dispatchable()
def sum_labels(input: Any, labels: Any = ..., index: Any = ...) -> Any: ...
@system.dispatchable()
def uniform_filter(
    input: Any,
    size: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def uniform_filter1d(
    input: Any,
    size: Any,
    axis: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
) -> Any: ...
@system.dispatchable()
def value_indices(arr: Any, *, ignore_value: Any = ...) -> Any: ...
@system.dispatchable()
def variance(input: Any, labels: Any = ..., index: Any = ...) -> Any: ...
@system.dispatchable()
def vectorized_filter(
    input: Any,
    function: Any,
    *,
    size: Any = ...,
    footprint: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
    axes: Any = ...,
    batch_memory: Any = ...,
) -> Any: ...
@system.dispatchable()
def watershed_ift(input: Any, markers: Any, structure: Any = ..., output: Any = ...) -> Any: ...
@system.dispatchable()
def white_tophat(
    input: Any,
    size: Any = ...,
    footprint: Any = ...,
    structure: Any = ...,
    output: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    origin: Any = ...,
    *,
    axes: Any = ...,
) -> Any: ...
@system.dispatchable()
def zoom(
    input: Any,
    zoom: Any,
    output: Any = ...,
    order: Any = ...,
    mode: Any = ...,
    cval: Any = ...,
    prefilter: Any = ...,
    *,
    grid_mode: Any = ...,
) -> Any: ...
