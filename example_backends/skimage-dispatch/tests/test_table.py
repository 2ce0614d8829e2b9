"""The table is that of the installed scikit-image, and dispatches on what it documents."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
import skimage
from numpydoc.docscrape import FunctionDoc

import skimage_dispatch
from skimage_dispatch import filters, morphology, segmentation, system
from skimage_dispatch._expose import MODULES, SAME, arrays_of

SETTINGS = (
    "K alpha angles background bg_color block_size center color connectivity conv_matrix coords "
    "distances dst factors feature_coord fill initial_guess initial_inliers inverse_map "
    "kernel_size kwargs matrix offset projection_shifts ring_radii shape sigma sigmas spacing "
    "sparse_type src start stop theta"
)
"""Parameters that may be arrays, but say nothing about where the data are."""
WITHOUT = (
    "central_pixel manual_lasso_segmentation manual_polygon_segmentation plot_matched_features "
    "regular_grid show_rag try_all_threshold"
)
"""Functions that draw with matplotlib, or take graphs or shapes."""


def entries() -> list[tuple[str, str, set[str]]]:
    return [
        (module, name, {*arrays_of(name, getattr(import_module(f"skimage.{module}"), name))})
        for module in MODULES
        for name in import_module(f"skimage.{module}").__all__
        if name not in SAME.get(module, {})
    ]


@pytest.mark.parametrize(("module", "name", "arguments"), entries())
def test_every_documented_array_is_dispatched_on(
    module: str, name: str, arguments: set[str]
) -> None:
    """If a new function fails here, add the names of its arrays."""
    default: Any = getattr(import_module(f"skimage.{module}"), name)
    if not inspect.isfunction(default) or name in WITHOUT.split():
        return
    parameters = inspect.signature(default).parameters
    doc = FunctionDoc(default)
    documented = {
        each
        for parameter in (*doc["Parameters"], *doc["Other Parameters"])
        for each in re.split(r",\s*", parameter.name)
        if re.search("array", parameter.type)
    }
    assert (documented & parameters.keys()) - arguments <= {*SETTINGS.split()}


def test_names_and_what_is_no_function_are_those_of_scikit_image() -> None:
    assert {*skimage.__all__} < {*skimage_dispatch.__all__}
    for module in MODULES:
        theirs = import_module(f"skimage.{module}")
        ours = import_module(f"skimage_dispatch.{module}")
        assert ours.__all__ == theirs.__all__
        assert {*theirs.__all__} <= {*dir(ours)}
        for name in theirs.__all__:
            expected, found = getattr(theirs, name), getattr(ours, name)
            if name != "rank":
                assert found is expected or found.__wrapped__ is expected
    assert skimage_dispatch.data is skimage.data
    assert morphology.disk is skimage.morphology.disk
    assert segmentation.flood is morphology.flood
    with pytest.raises(AttributeError, match="absent"):
        filters.absent  # noqa: B018


@pytest.mark.skipif(
    find_spec("spatch_core._accelerator") is None, reason="without it, the function has a frame"
)
def test_a_warning_points_to_the_callers_line() -> None:
    """The footprint of `median` is one array; a search in lists of arrays would have a frame."""
    with pytest.warns(UserWarning, match="behavior") as caught:
        filters.median(np.eye(5, dtype=np.uint8), mode="constant", behavior="rank")
    assert [each.filename for each in caught] == [__file__]


def test_nothing_runs_unasked_for_numpy_arrays() -> None:
    """Both backends are installed, and scikit-image's own function is the only candidate."""
    for module in MODULES:
        import_module(f"skimage_dispatch.{module}")
    assert len(system.functions) > 300
    for identifier in system.functions:
        explained = system.explain_types(identifier, [np.ndarray])
        assert [each.backend for each in explained.backends if each.verdict == "runs"] == [
            "default"
        ], identifier
