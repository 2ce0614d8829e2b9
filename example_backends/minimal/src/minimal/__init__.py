"""A library with one function."""

from spatch_core import BackendSystem

system = BackendSystem("minimal.backends", "MINIMAL", default_primary_types=["builtins:float"])
backend_opts = system.backend_opts


@system.dispatchable("x")
def sqrt(x):
    """Return the square root of `x`."""
    return x**0.5
