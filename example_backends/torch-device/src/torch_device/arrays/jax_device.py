"""The device of JAX's arrays, and of what JAX traces."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
import torch

from .._schema import OMITTED
from ..environment import BackendEnvironment
from . import register
from .linear import register_factors
from .windows import check_sizes, for_each_dimension

if TYPE_CHECKING:
    from collections.abc import Callable

aten = torch.ops.aten

OPERATORS = """
    convolution convolution_backward native_layer_norm native_layer_norm_backward
    _native_batch_norm_legit_functional _native_batch_norm_legit.no_stats
    native_batch_norm_backward max_pool2d_with_indices max_pool2d_with_indices_backward
    max_pool3d_with_indices_backward adaptive_max_pool2d_backward adaptive_max_pool3d_backward
    nll_loss_forward nll_loss2d_forward nll_loss_backward nll_loss2d_backward addmm baddbmm
    sum.dim_IntList mean.dim var.correction _softmax _log_softmax _softmax_backward_data
    _log_softmax_backward_data sigmoid sigmoid_backward tanh_backward silu relu
    threshold_backward embedding_dense_backward slice_backward
    select_backward constant_pad_nd sort topk ones_like zeros_like empty_like as_strided
    as_strided_scatter
"""
"""Those whose other arguments rarely change: each value of these is compiled by itself."""


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
    environment.register_op(aten.as_strided.default)(as_strided)
    environment.register_op(aten.as_strided_scatter.default)(as_strided_scatter)
    register(environment, jnp)
    register_factors(environment, jnp, lambda x: jax.lax.linalg.lu(x)[:2])
    _register_linear(environment)
    _register_convolutions(environment)
    _register_compiled(environment)
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
        return torch.from_numpy(found.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(np.array(found))


def _register_linear(environment: Any) -> None:
    """Register them."""
    op = environment.register_op
    # To read whether a matrix has factors would wait for JAX; results without are NaN.
    environment.register_kernel(
        aten._linalg_check_errors.default, lambda info, name, *, is_matrix: None
    )
    op(aten._linalg_eigvals.default)(jnp.linalg.eigvals)
    op(aten.linalg_matrix_exp.default)(lambda x: jsp.linalg.expm(x) if x.size else x)

    # PyTorch reads one half of a matrix, where JAX takes the mean of both.
    @op(aten._linalg_eigh.default)
    def eigh(x: Any, uplo: str = "L", vectors: bool = True) -> Any:
        values, found = jnp.linalg.eigh(x, uplo, symmetrize_input=False)
        return values, found if vectors else jnp.zeros((0,), x.dtype)

    @op(aten.linalg_cholesky_ex.default)
    def cholesky(x: Any, upper: bool = False, check_errors: bool = False) -> Any:
        found = jax.lax.linalg.cholesky(x, symmetrize_input=False)
        found = jnp.conj(jnp.swapaxes(found, -1, -2)) if upper else found
        return found, jnp.zeros(x.shape[:-2], jnp.int32)

    @op(aten.linalg_solve_triangular.default)
    def triangular(
        x: Any, y: Any, upper: bool, left: bool = True, unitriangular: bool = False
    ) -> Any:
        if not left:
            x, y, upper = jnp.swapaxes(x, -1, -2), jnp.swapaxes(y, -1, -2), not upper
        outer = jnp.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        x, y = (jnp.broadcast_to(each, (*outer, *each.shape[-2:])) for each in (x, y))
        found = jsp.linalg.solve_triangular(x, y, lower=not upper, unit_diagonal=unitriangular)
        return found if left else jnp.swapaxes(found, -1, -2)

    @op(aten.polygamma.default)
    def polygamma(n: int, x: Any) -> Any:
        if n > 1:  # JAX's own series does not reach below zero
            return NotImplemented
        if n == 0:
            return jsp.special.digamma(x)
        found = jsp.special.polygamma(1, jnp.where(x < 0, 1 - x, x))
        sine = jnp.sin(math.pi * (x - jnp.round(x)))
        return jnp.where(x < 0, (math.pi / sine) ** 2 - found, found)


def _register_convolutions(environment: Any) -> None:
    """Register them where they are faster; the others stay products of matrices."""
    op = environment.register_op
    product = environment.operators[aten.convolution.default]
    product_backward = environment.operators[aten.convolution_backward.default]

    def is_wide(x: Any, w: Any, transposed: bool) -> bool:
        is_batch = x.ndim == w.ndim
        return is_batch and w.shape[1] > 1 and x.dtype.kind == "f" and not transposed

    def convolved(x: Any, w: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
        stride, padding, dilation = for_each_dimension(w.ndim - 2, stride, padding, dilation)
        return jax.lax.conv_general_dilated(
            x, w, stride, [(n, n) for n in padding],
            rhs_dilation=dilation, feature_group_count=groups,
        )  # fmt: skip

    @op(aten.convolution.default)
    def convolution(
        x: Any, w: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
        output_padding: Any, groups: int,
    ) -> Any:  # fmt: skip
        if not is_wide(x, w, transposed):
            options = (stride, padding, dilation, transposed, output_padding, groups)
            return product(x, w, bias, *options)
        found = convolved(x, w, stride, padding, dilation, groups)
        check_sizes(found.shape[2:], x.shape[2:], w.shape[2:])
        return found if bias is None else found + bias.reshape(-1, *(1,) * (w.ndim - 2))

    @op(aten.convolution_backward.default)
    def convolution_backward(
        g: Any, x: Any, w: Any, bias_sizes: Any, stride: Any, padding: Any, dilation: Any,
        transposed: bool, output_padding: Any, groups: int, mask: Any,
    ) -> Any:  # fmt: skip
        if not is_wide(x, w, transposed):
            options = (stride, padding, dilation, transposed, output_padding, groups, mask)
            return product_backward(g, x, w, bias_sizes, *options)
        _, pull = jax.vjp(lambda x, w: convolved(x, w, stride, padding, dilation, groups), x, w)
        of_bias = g.sum((0, *range(2, g.ndim)))
        found = (*pull(g), of_bias)
        return tuple(
            each if is_wanted else None for each, is_wanted in zip(found, mask, strict=True)
        )


def _register_compiled(environment: Any) -> None:
    """Compile implementations that are registered, and those of lists of tensors."""
    for each in OPERATORS.split():
        packet, _, overload = each.partition(".")
        operator = getattr(getattr(aten, packet), overload or "default")
        environment.register_op(operator)(_compiled(environment.operators[operator], operator))
    _register_lists(environment)


def _compiled(function: Callable[..., Any], operator: Any) -> Callable[..., Any]:
    arguments = [each for each in operator._schema.arguments if each.name not in OMITTED]
    constant = [each for each in arguments if "Tensor" not in str(each.type)]
    compiled = jax.jit(
        function,
        static_argnums=[
            number
            for number, each in enumerate(arguments)
            if each in constant and not each.kwarg_only
        ],
        static_argnames=[each.name for each in constant if each.kwarg_only],
    )

    def call(*args: Any, **kwargs: Any) -> Any:
        return compiled(*[tuple(a) if a.__class__ is list else a for a in args], **kwargs)

    return call


def _register_lists(environment: Any) -> None:
    """Register what optimizers call, for all parameters at once."""

    def register(name: str, function: Callable[..., Any]) -> None:
        packet, overload = name.split(".")

        def each_of(*lists: Any, **kwargs: Any) -> Any:
            size = len(lists[0])
            rows = [a if isinstance(a, list) else [a] * size for a in lists]
            return [function(*row, **kwargs) for row in zip(*rows, strict=True)]

        operator = getattr(getattr(aten, f"_foreach_{packet}"), overload)
        environment.register_op(operator)(jax.jit(each_of))

    register("add.List", lambda x, y, alpha=1: x + y * alpha)
    register("add.Scalar", jnp.add)
    register("mul.List", jnp.multiply)
    register("mul.Scalar", jnp.multiply)
    register("div.ScalarList", jnp.divide)
    register("sqrt.default", jnp.sqrt)
    register("lerp.Scalar", lambda x, y, weight: x + weight * (y - x))
    register("addcmul.Scalar", lambda x, a, b, value=1: x + value * a * b)
    register("addcdiv.ScalarList", lambda x, a, b, value: x + value * (a / b))
