"""Whole training steps of PyTorch, compiled by JAX."""

from ._errors import HostReadError
from ._step import CompiledStep, jax_jit

__all__ = ["CompiledStep", "HostReadError", "jax_jit"]
