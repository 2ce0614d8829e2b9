"""The functions of `scipy_dispatch.signal` for CuPy arrays."""

from ._map import add_functions

add_functions("signal", globals())
