"""The functions of `scipy_dispatch.fft` for CuPy arrays."""

from ._map import add_functions

add_functions("fft", globals())
