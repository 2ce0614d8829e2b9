"""The functions whose result has the shape of an argument, and the argument. Data only."""

from __future__ import annotations

_BY_ARGUMENT = {
    "scipy_dispatch.ndimage": {
        "input": """
            affine_transform binary_closing binary_dilation binary_erosion binary_fill_holes
            binary_hit_or_miss binary_opening binary_propagation black_tophat convolve convolve1d
            correlate correlate1d distance_transform_bf distance_transform_cdt
            distance_transform_edt fourier_ellipsoid fourier_gaussian fourier_shift
            fourier_uniform gaussian_filter gaussian_filter1d gaussian_gradient_magnitude
            gaussian_laplace generic_filter generic_filter1d generic_gradient_magnitude
            generic_laplace grey_closing grey_dilation grey_erosion grey_opening label laplace
            maximum_filter maximum_filter1d median_filter minimum_filter minimum_filter1d
            morphological_gradient morphological_laplace percentile_filter prewitt rank_filter
            rotate shift sobel spline_filter spline_filter1d uniform_filter uniform_filter1d
            vectorized_filter watershed_ift white_tophat
        """,
    },
    "scipy_dispatch.signal": {
        "a": "order_filter",
        "data": "detrend",
        "im": "wiener",
        "in1": "convolve convolve2d correlate correlate2d fftconvolve oaconvolve",
        "input": "medfilt2d",
        "t": "chirp gausspulse sawtooth square",
        "volume": "medfilt",
        "x": "filtfilt hilbert hilbert2 lfilter savgol_filter sosfilt sosfiltfilt",
    },
}

KEPT: dict[str, str] = {
    f"{module}:{name}": argument
    for module, arguments in _BY_ARGUMENT.items()
    for argument, names in arguments.items()
    for name in names.split()
}
"""The argument with the coordinates of the result, by function."""
