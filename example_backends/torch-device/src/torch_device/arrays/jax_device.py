"""The device of JAX's arrays, and of what JAX traces."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from ..environment import BackendEnvironment
from . import compiled_jax, convolution_jax, factors, linear_jax, register


def make_environment(name: str = "jax", *, conversions: bool = True) -> BackendEnvironment:
    """Return the device of JAX's arrays; JAX gets PyTorch's 64-bit dtypes (``jax_enable_x64``).

    Parameters
    ----------
    name : str, default: "jax"
        The name of the device.
    conversions : bool, default: True
        Whether operators without an implementation run on the CPU.
    """
    jax.config.update("jax_enable_x64", True)
    environment = BackendEnvironment(
        name,
        jax.Array,
        to_data,
        to_torch,
        settle=jnp.asarray,
        patterns=["@jax:Array", "~jax._src.core:Tracer"],
        conversions=conversions,
    )
    environment.data_type = type(jnp.zeros(()))
    environment.register_op(torch.ops.aten.as_strided.default)(as_strided)
    environment.register_op(torch.ops.aten.as_strided_scatter.default)(as_strided_scatter)
    register(environment, jnp)
    factors.register(environment, jnp, lambda x: jax.lax.linalg.lu(x)[:2])
    linear_jax.register(environment)
    convolution_jax.register(environment)
    compiled_jax.register(environment)
    environment.register_default_decompositions()
    return environment


def as_strided(x: Any, size: Any, stride: Any, offset: int = 0) -> Any:
    """Return a view by reshaping, slicing and transposing; overlapping ones by indexing."""
    if 0 in size:
        return jnp.zeros(tuple(size), x.dtype)
    flat = x.reshape(-1)
    real = [i for i, (n, step) in enumerate(zip(size, stride, strict=True)) if n > 1 and step]
    real.sort(key=lambda i: -stride[i])
    width = [1 + sum((size[j] - 1) * stride[j] for j in real[k + 1 :]) for k in range(len(real))]
    if any(stride[i] < w for i, w in zip(real, width, strict=True)):
        return flat[_places(size, stride, offset)]
    part = flat[offset:].reshape(1, -1)
    for i in real:  # each becomes rows of `stride` elements, of which the next takes its part
        needed = size[i] * stride[i]
        missing = needed - part.shape[1]
        if missing > 0:
            part = jnp.pad(part, ((0, 0), (0, missing)))
        part = part[:, :needed].reshape(-1, stride[i])
    part = part[:, 0].reshape([size[i] for i in real])
    order = sorted(range(len(real)), key=lambda k: real[k])
    part = jnp.transpose(part, order)
    shape = [n if i in real else 1 for i, n in enumerate(size)]
    return jnp.broadcast_to(part.reshape(shape), tuple(size))


def as_strided_scatter(x: Any, source: Any, size: Any, stride: Any, offset: int = 0) -> Any:
    """Return a copy of data with other values below a view."""
    flat = x.reshape(-1)
    source = jnp.broadcast_to(source, tuple(size)).astype(x.dtype)
    return flat.at[_places(size, stride, offset)].set(source).reshape(x.shape)


def _places(size: Any, stride: Any, offset: int) -> Any:
    places = np.full((), offset)
    for n, step in zip(size, stride, strict=True):
        places = places[..., None] + np.arange(n) * step
    return places


def to_data(tensor: torch.Tensor) -> Any:
    """Return a tensor of the CPU as an array, which shares nothing with it."""
    tensor = tensor.detach()
    if tensor.dtype is torch.bfloat16:
        return jnp.asarray(tensor.view(torch.int16).numpy().copy().view(jnp.bfloat16))
    return jnp.asarray(tensor.numpy().copy())


def to_torch(array: Any) -> torch.Tensor:
    """Return an array as a tensor of the CPU, which can be resized and shares nothing with it."""
    if isinstance(array, jax.core.Tracer):
        raise RuntimeError("values that JAX traces cannot leave the device")
    found = np.asarray(array)
    if array.dtype == jnp.bfloat16:
        return torch.from_numpy(found.view(np.int16).copy()).clone().view(torch.bfloat16)
    return torch.from_numpy(np.array(found)).clone()
