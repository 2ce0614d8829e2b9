"""Backends of other packages, installed as distributions; their results identify the backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spatch_core.testing import write_distribution

if TYPE_CHECKING:
    from pathlib import Path

# Each backend fills its result with its own number.
SEVENS, EIGHTS, NINES, TENS, ELEVENS = 7.0, 8.0, 9.0, 10.0, 11.0

_FILES = {
    "marker/__init__.py": "",
    "marker/sevens.toml": """
        name = "sevens"
        primary_types = ["numpy:ndarray"]
        requires_opt_in = true

        [functions."scipy_dispatch.ndimage:sobel"]
        function = "marker.filters:sevens"

        [functions."scipy_dispatch.ndimage:correlate"]
        function = "marker.filters:sevens"
    """,
    "marker/eights.toml": """
        name = "eights"
        primary_types = ["numpy:ndarray"]
        requires_opt_in = true

        [functions."scipy_dispatch.ndimage:sobel"]
        function = "marker.filters:eights"
    """,
    # This backend supports its own type; NumPy arrays are supported if the user selects it.
    "marker/nines.toml": """
        name = "nines"
        primary_types = ["marker.types:Nine"]
        secondary_types = ["numpy:ndarray"]

        [functions."scipy_dispatch.ndimage:sobel"]
        function = "marker.filters:nines"
    """,
    # Two backends for another type, neither of which requires opting in.
    "marker/tens.toml": """
        name = "tens"
        primary_types = ["marker.types:Ten"]

        [functions."scipy_dispatch.ndimage:sobel"]
        function = "marker.filters:tens"
    """,
    "marker/elevens.toml": """
        name = "elevens"
        primary_types = ["marker.types:Ten"]

        [functions."scipy_dispatch.ndimage:sobel"]
        function = "marker.filters:elevens"
    """,
    "marker/types.py": """
        import sys
        import numpy as np

        class Nine(np.ndarray):
            pass

        class Ten:
            "No NumPy array, and so not the library's own: its backends need no opt-in."

            def __init__(self, data):
                self.data = np.asarray(data)

            shape = property(lambda self: self.data.shape)
            dtype = property(lambda self: self.data.dtype)
            ndim = property(lambda self: self.data.ndim)

            def __getitem__(self, key):
                return Ten(self.data[key])

            def __array__(self, dtype=None, copy=None):
                return self.data.astype(dtype or self.dtype)

            def __array_namespace__(self):
                return sys.modules[__name__]

        def asarray(data):
            return Ten(data)

        def ones(shape, dtype):
            return Ten(np.ones(shape, dtype))
    """,
    "marker/filters.py": """
        import numpy as np
        from marker.types import Nine, Ten

        def sevens(input, *args, **kwargs):
            return np.full(input.shape, 7.0)

        def eights(input, *args, **kwargs):
            return np.full(input.shape, 8.0)

        def nines(input, *args, **kwargs):
            return np.full(input.shape, 9.0).view(Nine)

        def tens(input, *args, **kwargs):
            return Ten(np.full(input.shape, 10.0))

        def elevens(input, *args, **kwargs):
            return Ten(np.full(input.shape, 11.0))
    """,
}

_LATE = {
    "late/__init__.py": "",
    "late/backend.toml": """
        name = "late"
        primary_types = ["numpy:ndarray"]
        requires_opt_in = true

        [functions."scipy_dispatch.ndimage:sobel"]
        function = "late.filters:sobel"
    """,
    "late/filters.py": """
        def sobel(input, *args, **kwargs):
            return input
    """,
}


def install(folder: Path) -> Path:
    """Install five backends in `folder`."""
    write_distribution(
        folder,
        "marker",
        entry_points={
            "scipy_dispatch.backends": {
                name: f"marker:{name}.toml"
                for name in ("sevens", "eights", "nines", "tens", "elevens")
            }
        },
        files=_FILES,
    )
    return folder


def install_another(folder: Path) -> Path:
    """Install another backend, named ``late``, in another folder."""
    write_distribution(
        folder,
        "late",
        entry_points={"scipy_dispatch.backends": {"late": "late:backend.toml"}},
        files=_LATE,
    )
    return folder
