"""Kernels for all operators that are not registered."""

from __future__ import annotations

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


def register(environment: BackendEnvironment) -> None:
    """Register decompositions, and kernels where C++ would compose in vain."""
    from torch._decomp import decomposition_table

    from .arrays.recurrent import cells  # `arrays` imports this module

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
