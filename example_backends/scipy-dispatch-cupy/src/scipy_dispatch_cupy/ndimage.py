"""The functions of `scipy_dispatch.ndimage` for CuPy arrays."""

from ._map import add_functions

add_functions("ndimage", globals())
