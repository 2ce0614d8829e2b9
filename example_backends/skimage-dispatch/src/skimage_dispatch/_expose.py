"""The backend system, and which functions and parameters of scikit-image are dispatched on."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from spatch_core import BackendSystem

system = BackendSystem(
    "skimage_dispatch.backends",
    "SKIMAGE_DISPATCH",
    default_primary_types=["~numpy:ndarray"],
    default_secondary_types=["~numpy:generic"],
)
backend_opts = system.backend_opts

_MODULES = """
    color draw exposure feature filters filters.rank future graph measure metrics morphology
    registration restoration segmentation transform util
"""
MODULES = tuple(_MODULES.split())
"""The modules of scikit-image with functions of arrays."""
_ARRAYS = """
    a A_elems angles ar arr arr_in array c coords corners data descriptors descriptors1
    descriptors2 dists dst edge_map faces features footprint footprints gimage H_elems hed
    high hist hspace hspaces hsv ii im1 im2 im_test im_true image image0 image0_mask image1
    image1_mask image_test image_true init_level_set input_arr input_vals int_image
    intensity_image kernel lab lab1 lab2 label label_field label_image label_img labels lch
    low luv markers mask masks moving_image moving_mask mu nu out output_vals P parent points
    polygon priority psf r radii radon_image reference reference_image reference_mask reg rgb
    rgba rgbcie s1 s2 seed snake src stains T table template tree_traverser verts volume x xyz
    ycbcr ydbdr yiq ypbpr yuv
"""
ARRAYS = frozenset(_ARRAYS.split())
"""The parameters for which scikit-image documents that they take an array, to read or to fill.

Settings have other names, even if they may be arrays (`sigma`, `radii`): they say nothing about
where the data live. So a function that a later release adds needs no entry.
"""
LISTS = frozenset({"A_elems", "H_elems", "data", "footprints", "hist"})
"""Those that may be lists of arrays, also nested ones; and in `morphology` ``footprint``."""
SETTINGS = {
    **dict.fromkeys(("draw_haar_like_feature", "draw_multiblock_lbp"), "r c"),
    **dict.fromkeys(("haar_like_feature", "multiblock_lbp"), "r c"),
    **dict.fromkeys(("mean_bilateral", "pop_bilateral", "sum_bilateral"), "s1"),
    "chan_vese": "mu",
    "graycomatrix": "angles",
    "local_binary_pattern": "P",
    "profile_line": "src dst",
    "set_color": "coords",
    "threshold_sauvola": "r",
}
"""The parameters of functions that have such a name, and take no array there."""
_UNCHANGED = """
    circle_perimeter circle_perimeter_aa ellipse ellipse_perimeter ellipsoid ellipsoid_stats
    manual_lasso_segmentation manual_polygon_segmentation plot_matched_features show_rag star
    try_all_threshold
"""
UNCHANGED = frozenset(_UNCHANGED.split())
"""Functions that have such parameters, and take numbers or draw with matplotlib."""
WRITTEN = {
    "flood_fill": ("image",),
    "iradon_sart": ("image",),
    "montage": ("arr_in",),
    "random_walker": ("data",),
    "set_color": ("image",),
}
"""Functions that write, always or on demand, into other parameters than ``out``."""
SAME = {
    "morphology": {"label": "measure"},
    "segmentation": {"flood": "morphology", "flood_fill": "morphology"},
}
"""By module, the functions that are those of another module."""


def arrays_of(name: str, public: Any) -> list[str]:
    """Return the parameters that a function dispatches on, in order; none if it is no function."""
    if name in UNCHANGED or not inspect.isfunction(public):
        return []
    settings = SETTINGS.get(name, "").split()
    return [each for each in inspect.signature(public).parameters if each in ARRAYS - {*settings}]


def expose(namespace: dict[str, Any]) -> None:
    """Fill the namespace of a module with the dispatchable functions of its namesake.

    A name that is not dispatchable is scikit-image's own object. The installed release decides
    which functions and parameters exist.
    """
    home = namespace["__name__"]
    _, _, name = home.partition(".")
    module = import_module(f"skimage.{name}")
    lists = LISTS | {"footprint"} if name == "morphology" else LISTS
    for each in module.__all__:
        function = getattr(module, each)
        if each not in SAME.get(name, {}) and (parameters := arrays_of(each, function)):
            decorate = system.dispatchable(
                parameters,
                inside=[part for part in parameters if part in lists],
                mutates=[part for part in WRITTEN.get(each, ("out",)) if part in parameters],
                module=home,
                qualname=each,
            )
            namespace[each] = decorate(function)
    for each, other in SAME.get(name, {}).items():
        namespace[each] = getattr(import_module(f"skimage_dispatch.{other}"), each)
    for each in MODULES:
        if each.startswith(f"{name}."):
            import_module(f"skimage_dispatch.{each}")
    namespace["__doc__"] = f"`skimage.{name}`, open to backends."
    namespace["__all__"] = list(module.__all__)
    namespace["__dir__"] = lambda: sorted({*namespace, *dir(module)})

    def attribute(name: str) -> Any:
        if name.startswith("__"):  # such as `__path__`, which is that of other modules
            raise AttributeError(f"module {home!r} has no attribute {name!r}")
        return getattr(module, name)

    namespace["__getattr__"] = attribute
