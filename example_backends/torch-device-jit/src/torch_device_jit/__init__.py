"""Whole training steps of PyTorch, compiled by JAX."""

from ._step import CompiledStep, jax_jit
from ._tracing import HostReadError

__all__ = ["CompiledStep", "HostReadError", "jax_jit"]
