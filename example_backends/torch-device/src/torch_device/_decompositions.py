"""Kernels for all operators that are not registered."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from .environment import BackendEnvironment

# What C++ composes of others is right for these; their decompositions are not, or draw other
# random numbers.
KEPT = {
    *("complex", "polar", "rand", "randn", "randint", "randperm", "rand_like", "randn_like"),
    *("empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "normal"),
    *("bernoulli", "randint_like", "multinomial", "poisson", "to", "_to_copy", "clone"),
    *("expand", "alias", "detach", "select", "slice", "permute", "transpose", "t", "squeeze"),
    *("unsqueeze", "diagonal", "split", "split_with_sizes", "unbind", "view_as_real", "lift"),
    *("view_as_complex", "_unsafe_view", "resize", "set", "copy", "lift_fresh", "chunk"),
}


TORCH = SimpleNamespace(
    tanh=torch.tanh,
    sum=torch.sum,
    zeros_like=torch.zeros_like,
    split=torch.tensor_split,
    concatenate=torch.cat,
)
"""PyTorch's functions under the names and parameters of an array library."""

aten = torch.ops.aten

DIFFERENTIATED = """
    upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_linear1d upsample_bilinear2d
    upsample_trilinear3d upsample_bicubic2d _upsample_nearest_exact1d _upsample_nearest_exact2d
    _upsample_nearest_exact3d replication_pad1d replication_pad2d replication_pad3d
    _adaptive_avg_pool2d
"""
"""Operators whose decompositions autograd differentiates: their own gradients have none."""


def norms(difference: Any, p: float) -> Any:
    found = torch.linalg.vector_norm(difference, p, -1)
    # The gradient of a count is zero, and not absent.
    return found + 0 * difference.sum(-1) if p == 0 else found


def cdist(x: Any, y: Any, p: float, mode: Any = None) -> Any:
    return norms(x[..., :, None, :] - y[..., None, :, :], p)


def pdist(x: Any, p: float = 2) -> Any:
    i, j = torch.triu_indices(len(x), len(x), 1, device=x.device)
    return norms(x[i] - x[j], p)


def adaptive_average_3d(x: Any, size: Any) -> Any:
    """Pool two dimensions of three, and then the other one, beside which all is one dimension."""
    found = torch._adaptive_avg_pool2d(x.flatten(0, -4), size[1:])
    found = torch._adaptive_avg_pool2d(found.flatten(-2), (size[0], size[1] * size[2]))
    return found.reshape(*x.shape[:-3], *size)


OWN = {
    aten._cdist_forward.default: cdist,
    aten._pdist_forward.default: pdist,
    aten._adaptive_avg_pool3d.default: adaptive_average_3d,
}


def register(environment: BackendEnvironment) -> None:
    """Register decompositions, and kernels where C++ would compose in vain."""
    from torch._decomp import decomposition_table

    known = environment.fallback.decompositions
    known.update(
        (operator, function)
        for operator, function in decomposition_table.items()
        if isinstance(operator, torch._ops.OpOverload)
    )
    # The CPU has no kernels for these, to which others could be converted.
    known.update(cells(TORCH))
    for each in (
        aten._native_batch_norm_legit_functional.default,
        aten._native_batch_norm_legit.no_stats,
    ):
        known[each] = _with_empty_statistics(each, known[each])
    for each in (aten.native_batch_norm.default, aten._native_batch_norm_legit.default):
        known[each] = batch_norm_in_place(environment)
    add = aten.index_add.default
    known[add] = _of_equal_sizes(known[add])
    # It counts the entries after the last label as the label 0, and gives one row the shape (1,).
    del known[aten.multilabel_margin_loss_forward.default]
    known.update(OWN)
    for each in (*(getattr(aten, name).default for name in DIFFERENTIATED.split()), *OWN):
        if each not in environment.operators:
            library = environment.differentiated[each] = torch.library.Library("aten", "IMPL")
            library.impl(each, known[each], "AutogradPrivateUse1")
    decomposed = {operator.name() for operator in known}
    # The functional variants of these are C++ around `out=`, which would recurse.
    composed = _with_kernel("CompositeExplicitAutogradNonFunctional")
    composed |= _with_kernel("CompositeExplicitAutograd") & decomposed
    # What C++ makes of these ends in operators that no device has, in place of an own kernel.
    composed |= {"aten::convolution", "aten::convolution_backward"}
    for full in sorted(composed - _with_kernel("CompositeImplicitAutograd")):
        namespace, _, name = full.partition("::")
        packet, _, overload = name.partition(".")
        if namespace != "aten" or packet.removesuffix("_") in KEPT:
            continue
        operator = getattr(getattr(aten, packet, None), overload or "default", None)
        if operator is not None and not environment.is_registered(operator):
            environment.register_kernel(operator, environment.fallback.kernel(operator))


def _with_kernel(key: str) -> set[str]:
    return set(torch._C._dispatch_get_registrations_for_dispatch_key(key))


def batch_norm_in_place(environment: BackendEnvironment) -> Any:
    """Return `native_batch_norm` as its functional variant, which has another name."""

    def call(
        x: Any, weight: Any, bias: Any, mean: Any, var: Any, training: bool, momentum: Any, eps: Any
    ) -> Any:
        if mean is None or var is None:
            run = aten._native_batch_norm_legit.no_stats
            return run(x, weight, bias, training, momentum, eps)
        run = aten._native_batch_norm_legit_functional.default
        *found, new_mean, new_var = run(x, weight, bias, mean, var, training, momentum, eps)
        if training:
            environment.data.assign(mean, new_mean, resizing=False)
            environment.data.assign(var, new_var, resizing=False)
        return tuple(found)

    return call


def _of_equal_sizes(decomposition: Any) -> Any:
    """Return a decomposition of `index_add` that raises where it would broadcast the source."""

    def call(x: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
        shapes = x.shape, source.shape
        one, other = ([*each[:dim], *each[dim:][1:]] for each in shapes)
        if all(shapes) and one != other:
            raise RuntimeError(
                "source tensor shape must match self tensor shape, excluding the specified "
                f"dimension. Got self.shape = {list(x.shape)} source.shape = {list(source.shape)}"
            )
        return decomposition(x, dim, index, source, alpha=alpha)

    return call


def _with_empty_statistics(operator: Any, decomposition: Any) -> Any:
    """Return a decomposition of batch normalization whose results are those of the CPU.

    Without training, the statistics of the batch are not computed, and empty.
    """
    place = [each.name for each in operator._schema.arguments].index("training")

    def call(*args: Any) -> Any:
        found, *statistics = decomposition(*args)
        if not args[place]:
            statistics[:2] = [each.new_empty(0) for each in statistics[:2]]
        return found, *statistics

    return call


def cells(xp: Any) -> dict[Any, Any]:
    """Return them by operator, written in the functions of an array library."""
    found: dict[Any, Any] = {}

    def op(operator: Any) -> Any:
        return partial(found.setdefault, operator)

    def sigmoid(x: Any) -> Any:
        return 0.5 + 0.5 * xp.tanh(0.5 * x)

    def with_bias(gates: Any, bias: Any) -> Any:
        return gates if bias is None else gates + bias

    def of_bias(gates: Any, has_bias: bool) -> Any:
        return xp.sum(gates, axis=0) if has_bias else None

    @op(aten._thnn_fused_lstm_cell.default)
    def lstm(x: Any, h: Any, c: Any, x_bias: Any = None, h_bias: Any = None) -> Any:
        gates = with_bias(x, x_bias) + with_bias(h, h_bias)
        i, f, g, o = xp.split(gates, 4, axis=1)
        i, f, g, o = sigmoid(i), sigmoid(f), xp.tanh(g), sigmoid(o)
        c = f * c + i * g
        return o * xp.tanh(c), c, xp.concatenate((i, f, g, o), axis=1)

    @op(aten._thnn_fused_lstm_cell_backward_impl.default)
    def lstm_backward(of_h: Any, of_c: Any, c: Any, new_c: Any, saved: Any, has_bias: bool) -> Any:
        i, f, g, o = xp.split(saved, 4, axis=1)
        t = xp.tanh(new_c)
        of_h = xp.zeros_like(c) if of_h is None else of_h
        of_c = (0 if of_c is None else of_c) + of_h * o * (1 - t * t)
        parts = of_c * g * i * (1 - i), of_c * c * f * (1 - f), of_c * i * (1 - g * g)
        gates = xp.concatenate((*parts, of_h * t * o * (1 - o)), axis=1)
        return gates, of_c * f, of_bias(gates, has_bias)

    @op(aten._thnn_fused_gru_cell.default)
    def gru(x: Any, h: Any, state: Any, x_bias: Any = None, h_bias: Any = None) -> Any:
        x_r, x_z, x_n = xp.split(with_bias(x, x_bias), 3, axis=1)
        h_r, h_z, h_n = xp.split(with_bias(h, h_bias), 3, axis=1)
        r, z = sigmoid(x_r + h_r), sigmoid(x_z + h_z)
        n = xp.tanh(x_n + r * h_n)
        return n + z * (state - n), xp.concatenate((r, z, n, state, h_n), axis=1)

    @op(aten._thnn_fused_gru_cell_backward.default)
    def gru_backward(g: Any, saved: Any, has_bias: bool) -> Any:
        r, z, n, state, h_n = xp.split(saved, 5, axis=1)
        of_n = g * (1 - z) * (1 - n * n)
        both = of_n * h_n * r * (1 - r), g * (state - n) * z * (1 - z)
        of_x = xp.concatenate((*both, of_n), axis=1)
        of_h = xp.concatenate((*both, of_n * r), axis=1)
        return of_x, of_h, g * z, of_bias(of_x, has_bias), of_bias(of_h, has_bias)

    return found
