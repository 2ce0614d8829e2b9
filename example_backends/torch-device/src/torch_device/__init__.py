"""PyTorch devices written in Python, whose operators spatch-core dispatches."""

from ._fallback import ConversionError
from ._report import Report
from .compilers import register_compiler
from .environment import BackendEnvironment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._host_reads import HostReadError
    from ._jax_jit import jax_jit

__all__ = [
    "BackendEnvironment",
    "ConversionError",
    "HostReadError",
    "Report",
    "jax_jit",
    "register_compiler",
]


def __getattr__(name: str) -> object:
    if name in ("HostReadError", "jax_jit"):
        from ._jax_jit import HostReadError, jax_jit  # imports JAX

        globals().update(jax_jit=jax_jit, HostReadError=HostReadError)
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
