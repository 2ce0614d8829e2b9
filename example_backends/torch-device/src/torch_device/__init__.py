"""PyTorch devices written in Python, whose operators spatch-core dispatches."""

from ._fallback import ConversionError
from ._report import Report
from .environment import BackendEnvironment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._jax_jit import HostReadError, jax_jit

__all__ = ["BackendEnvironment", "ConversionError", "HostReadError", "Report", "jax_jit"]


def __getattr__(name: str) -> object:
    if name in ("HostReadError", "jax_jit"):
        from . import _jax_jit as module  # imports JAX

        globals().update(jax_jit=module.jax_jit, HostReadError=module.HostReadError)
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
