"""Kernels for all operators that are not registered."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F  # noqa: N812 -- as PyTorch's own modules call it

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
    "_trilinear",
}


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


def average_pool(
    operator: Any, x: Any, kernel: Any, stride: Any = (), padding: Any = (0,), ceil: bool = False,
    with_padding: bool = True, divisor: Any = None,
) -> Any:  # fmt: skip
    """Pool by a convolution of each channel with ones."""
    # PyTorch's own function says the sizes, and refuses what it does not allow.
    made = torch.empty(x.shape, dtype=x.dtype, device="meta")
    shape = operator(made, kernel, stride, padding, ceil, with_padding, divisor).shape
    dims = 2 if operator is aten.avg_pool2d.default else 3
    kernel, stride, padding = (
        list(each) * (dims if len(each) == 1 else 1) for each in (kernel, stride or kernel, padding)
    )
    none = [0] * dims
    sizes = x.shape[-dims:], shape[-dims:], kernel, stride, padding
    beyond = [max((m - 1) * s + k - n - 2 * p, 0) for n, m, k, s, p in zip(*sizes, strict=True)]

    def padded(x: Any, low: Any, high: Any, value: float = 0) -> Any:
        widths = [each for pair in zip(low[::-1], high[::-1], strict=True) for each in pair]
        return F.pad(x, widths, value=value) if any(widths) else x

    def windows(x: Any, border: float) -> Any:
        """Return the sum below each window; the last ones may reach beyond the border."""
        x = padded(padded(x, padding, padding, border), none, beyond)
        ones = x.new_ones(1, 1, *kernel)
        return torch.convolution(x, ones, None, stride, none, [1] * dims, False, none, 1)

    found = windows(x.reshape(-1, 1, *x.shape[-dims:]), 0).reshape(shape)
    if divisor is None and (ceil or not with_padding):
        divisor = windows(torch.ones(1, 1, *x.shape[-dims:]), float(with_padding))[0, 0].to(x)
    return found / (math.prod(kernel) if divisor is None else divisor)


# A layer calls each cell as one operator, which the CPU does not have.
def lstm_cell(x: Any, h: Any, c: Any, x_bias: Any = None, h_bias: Any = None) -> Any:
    gates = x + h if x_bias is None else x + x_bias + (h + h_bias)
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    c = f * c + i * g
    return o * c.tanh(), c, torch.cat((i, f, g, o), 1)


def gru_cell(x: Any, h: Any, state: Any, x_bias: Any = None, h_bias: Any = None) -> Any:
    x_r, x_z, x_n = (x if x_bias is None else x + x_bias).chunk(3, 1)
    h_r, h_z, h_n = (h if h_bias is None else h + h_bias).chunk(3, 1)
    r, z = (x_r + h_r).sigmoid(), (x_z + h_z).sigmoid()
    n = (x_n + r * h_n).tanh()
    return n + z * (state - n), torch.cat((r, z, n, state, h_n), 1)


COMPOSED = {
    aten._thnn_fused_lstm_cell.default: lstm_cell,
    aten._thnn_fused_gru_cell.default: gru_cell,
    aten._cdist_forward.default: cdist,
    aten._pdist_forward.default: pdist,
    aten._adaptive_avg_pool3d.default: adaptive_average_3d,
    aten.avg_pool2d.default: partial(average_pool, aten.avg_pool2d.default),
    aten.avg_pool3d.default: partial(average_pool, aten.avg_pool3d.default),
}
"""Decompositions of our own that autograd differentiates, too."""


def kthvalue(x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    if x.dim() and not 1 <= k <= x.shape[dim]:
        raise RuntimeError("kthvalue(): selected number k out of range for dimension")
    return placed(x, torch.full((), k - 1), dim, keepdim)


def median(x: Any, dim: int = 0, keepdim: bool = False, *, ignoring: bool = False) -> Any:
    """Choose from the sorted elements, of which NaN are the last; with any, one is the median."""
    n, missing = x.shape[dim] if x.dim() else 1, x.isnan().sum(dim, keepdim=True)
    if ignoring:
        middle = ((n - missing - 1) // 2).clamp(min=0)
    else:
        middle = torch.where(missing > 0, n - missing, (n - 1) // 2)
    return placed(x, middle, dim, keepdim)


def placed(x: Any, place: Any, dim: int, keepdim: bool) -> Any:
    """Return which elements are in a place if they are sorted, and where they were."""
    if not x.dim():
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    size = [*x.shape]
    size[dim] = 1
    place = place.to(x.device).expand(size)
    found = (each.gather(dim, place) for each in x.sort(dim=dim, stable=True))
    return tuple(each if keepdim else each.squeeze(dim) for each in found)


OWN = {
    aten.kthvalue.default: kthvalue,
    aten.median.dim: median,
    aten.median.default: lambda x: median(x.reshape(-1))[0],
    aten.nanmedian.dim: partial(median, ignoring=True),
    aten.nanmedian.default: lambda x: median(x.reshape(-1), ignoring=True)[0],
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
    known.update(OWN | COMPOSED)
    names = DIFFERENTIATED.split()
    for each in (*(getattr(aten, name).default for name in names), *COMPOSED):
        if each not in environment.operators:
            library = environment.differentiated[each] = torch.library.Library("aten", "IMPL")
            library.impl(each, known[each], "AutogradPrivateUse1")
    decomposed = {operator.name() for operator in known}
    # The functional variants of these are C++ around `out=`, which would recurse.
    composed = _with_kernel("CompositeExplicitAutogradNonFunctional")
    composed |= _with_kernel("CompositeExplicitAutograd") & decomposed
    # Of these numbers C++ makes tensors, which PyTorch takes as numbers again.
    for each in ("add", "sub", "mul", "div"):
        composed -= {f"aten::{each}.Scalar", f"aten::{each}_.Scalar", f"aten::{each}.Scalar_mode"}
    # What C++ makes of these ends in operators that no device has, in place of an own kernel.
    composed |= {"aten::convolution", "aten::convolution_backward"}
    for full in sorted(composed - _with_kernel("CompositeImplicitAutograd")):
        namespace, _, name = full.partition("::")
        packet, _, overload = name.partition(".")
        if namespace != "aten" or packet.removesuffix("_") in KEPT:
            continue
        operator = getattr(getattr(aten, packet, None), overload or "default", None)
        if operator is not None and not environment.is_registered(operator):
            environment.register_kernel(operator, partial(environment.fallback.run, operator))


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
