"""Kernels for all operators that are not registered."""

from __future__ import annotations

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


aten = torch.ops.aten


def register(environment: BackendEnvironment) -> None:
    """Register decompositions, and kernels where C++ would compose in vain."""
    from torch._decomp import decomposition_table

    known = environment.fallback.decompositions
    known.update(
        (operator, function)
        for operator, function in decomposition_table.items()
        if isinstance(operator, torch._ops.OpOverload)
    )
    for each in (aten.native_batch_norm.default, aten._native_batch_norm_legit.default):
        known[each] = _with_empty_statistics(known[each])
    decomposed = {operator.name() for operator in known}
    # The functional variants of these are C++ around `out=`, which would recurse.
    composed = _with_kernel("CompositeExplicitAutogradNonFunctional")
    composed |= _with_kernel("CompositeExplicitAutograd") & decomposed
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


def _with_empty_statistics(decomposition: Any) -> Any:
    """Return a decomposition of batch normalization whose results are those of the CPU.

    Without training, the statistics of the batch are not computed, and empty.
    """

    def call(x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        found, *statistics = decomposition(x, *args, **kwargs)
        is_training = kwargs["training"] if "training" in kwargs else args[4]
        if not is_training:
            statistics = [each.new_empty(0) for each in statistics]
        return found, *statistics

    return call
