"""Operators of PyTorch: their names and schemas, and which of them a backend may implement."""

from __future__ import annotations

from functools import cache
from types import BuiltinFunctionType
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Collection

OMITTED = {"layout", "device", "pin_memory", "memory_format", "generator", "non_blocking"}
"""Arguments that implementations do not get."""


def identity(operator: Any) -> str:
    """Return the identity of an operator: ``"aten:add.Tensor"``, ``"aten:relu"``."""
    name: str = operator._schema.name.replace("::", ":")
    overload = operator._schema.overload_name
    return f"{name}.{overload}" if overload else name


def packet(operator: Any) -> str:
    """Return the name of an operator without its overload: ``"add"``."""
    return operator._schema.name.partition("::")[2]  # type: ignore[no-any-return]


def is_written(argument: Any) -> bool:
    """Return whether an operator writes into an argument."""
    return argument.alias_info is not None and argument.alias_info.is_write


def written(operator: Any) -> list[str]:
    """Return the names of the arguments that an operator writes into."""
    return [each.name for each in operator._schema.arguments if is_written(each)]


def is_view(operator: Any) -> bool:
    """Return whether the result of an operator shares its storage with an argument."""
    return any(
        each.alias_info is not None and not each.alias_info.is_write
        for each in operator._schema.returns
    )


def _signature(operator: Any, *, without_out: bool) -> list[tuple[str, str]]:
    return [
        (each.name, str(each.type))
        for each in operator._schema.arguments
        if not (without_out and each.is_out) and each.name not in OMITTED | {"dtype"}
    ]


@cache
def functional_of(operator: Any) -> Any:
    """Return the functional variant of an in-place or ``out=`` operator, or None."""
    schema = operator._schema
    namespace, _, name = schema.name.partition("::")
    packets = getattr(torch.ops, namespace)
    is_out = any(each.is_out for each in schema.arguments)
    base = name.removesuffix("_")
    names = [name] if is_out else [base, f"{base}_functional"]
    if not is_out and base == name:
        return None  # it writes into something besides, such as running statistics
    wanted = _signature(operator, without_out=is_out)
    for each in names:
        packet = getattr(packets, each, None)
        if packet is None:
            continue
        for overload in packet.overloads():
            found = getattr(packet, overload)
            if not written(found) and _signature(found, without_out=False) == wanted:
                return found
    return None


def passed(operator: Any) -> str:
    """Return what implementations get, as a signature: ``(self, other, *, alpha=1)``."""
    parts = []
    for each in operator._schema.arguments:
        if each.name not in OMITTED:
            if each.kwarg_only and "*" not in parts:
                parts.append("*")
            parts.append(each.name)
            if each.has_default_value():
                parts[-1] += f"={each.default_value}"
    return f"({', '.join(parts)})"


def bind(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return all arguments of a call by name, with the defaults of the schema except dtypes."""
    arguments = operator._schema.arguments
    found = {}
    positional = iter(args)
    for each in arguments:
        if not each.kwarg_only:
            value = next(positional, _MISSING)
            if value is not _MISSING:
                found[each.name] = value
                continue
        if each.name in kwargs:
            found[each.name] = kwargs[each.name]
        elif each.has_default_value() and (each.name != "dtype" or each.default_value is None):
            # A dtype that is a default is a number there, which PyTorch itself does not take.
            found[each.name] = each.default_value
    return found


def call(operator: Any, values: dict[str, Any]) -> Any:
    """Call an operator with arguments by name."""
    args, kwargs = [], {}
    for each in operator._schema.arguments:
        if each.name not in values:
            continue
        if each.kwarg_only:
            kwargs[each.name] = values[each.name]
        else:
            args.append(values[each.name])
    return operator(*args, **kwargs)


_MISSING = object()


aten = torch.ops.aten
USED = frozenset(
    (
        aten.as_strided.default,
        aten.view.dtype,
        aten.expand.default,
        aten._to_copy.default,
        aten.equal.default,
        aten._local_scalar_dense.default,
    )
)
"""Operators whose implementations the kernels of the device itself call with data."""

FILLS = frozenset((aten.fill.Scalar, aten.fill.Tensor, aten.zero.default))
"""Operators that write the same value everywhere, also into elements that share their memory."""

_INSTEAD = {
    aten.empty.memory_format: "aten.full.default",
    aten.empty_strided.default: "aten.full.default",
    aten.copy.default: "aten._to_copy.default, for copies of another dtype",
    aten.copy_.default: "aten._to_copy.default, for copies of another dtype",
}
_FUNCTIONAL = dict.fromkeys(
    (aten.native_batch_norm.default, aten._native_batch_norm_legit.default),
    aten._native_batch_norm_legit_functional.default,
)
# Where PyTorch's public functions are, whose names are those of operators.
_MODULES = torch, *(getattr(torch._C, f"_{each}") for each in ("nn", "linalg", "special", "fft"))


def overload_of(operator: Any) -> Any:
    """Return the overload that a backend names: also by its packet, a function or a text.

    Raises
    ------
    ValueError
        If there is no such operator, or if it has several overloads.
    TypeError
        If the object names no operator.
    """
    if isinstance(operator, torch._ops.OpOverload):
        return operator
    packet, overload = operator, ""
    if isinstance(operator, str):
        namespace, _, full = operator.partition("::")
        name, _, overload = full.partition(".")
        packet = getattr(getattr(torch.ops, namespace), name, None) if namespace and name else None
        if packet is None or (overload and overload not in packet.overloads()):
            raise ValueError(
                f"PyTorch has no operator {operator!r}; names are like 'aten::tanh' and "
                "'aten::add.Tensor'"
            )
    elif isinstance(operator, BuiltinFunctionType):
        name = operator.__name__
        if any(getattr(module, name, None) is operator for module in _MODULES):
            packet = getattr(aten, name, operator)
    if not isinstance(packet, torch._ops.OpOverloadPacket):
        raise TypeError(
            f"{operator!r} is not an operator of PyTorch. Name one such as "
            "torch.ops.aten.add.Tensor; functions that PyTorch writes in Python call others"
        )
    if overload:
        return getattr(packet, overload)
    overloads = [getattr(packet, each) for each in packet.overloads()]
    found = [each for each in overloads if _has_kernel(each) and not written(each)]
    if len(found) > 1:
        raise ValueError(
            f"{packet} has several overloads, with arguments of their own. Register "
            f"{' or '.join(sorted(map(str, found)))}"
        )
    return (found or overloads)[0]


def check(operator: Any, own: Collection[Any]) -> None:
    """Raise a ValueError if an implementation of an operator would be of no use, or wrong.

    Parameters
    ----------
    operator : torch._ops.OpOverload
        The operator.
    own : collection of torch._ops.OpOverload
        What the device implements itself.
    """
    name = _name(operator)
    if not _has_kernel(operator):  # TorchScript has operators of numbers besides
        raise ValueError(f"{name} takes no tensors")
    if operator in USED:
        return
    if is_view(operator):
        raise ValueError(
            f"{name} returns a view, whose layout PyTorch computes; the data of all views are "
            "read by aten.as_strided.default: register this"
        )
    variants = operator, in_place_of(operator)
    # This tag says that an operator changes the layout of a tensor: `resize_as_`, `t_`.
    if any(each in own or torch.Tag.inplace_view in getattr(each, "tags", ()) for each in variants):
        instead = _INSTEAD.get(operator)
        raise ValueError(
            f"{name} is implemented by the device itself, which knows where the data are"
            + (f". It calls the implementation of {instead}: register this" if instead else "")
        )
    # The schema of this one does not say that it updates running statistics.
    if written(operator) or operator is aten.native_batch_norm.default:
        functional = functional_of(operator) or _FUNCTIONAL.get(operator)
        raise ValueError(
            f"{name} writes into a tensor, and data never change. "
            + (
                f"Register {functional}: in-place and `out=` variants follow from it"
                if functional
                else "It has no functional variant: give it a kernel of tensors by register_kernel"
            )
        )
    if torch._C._dispatch_has_kernel_for_dispatch_key(name, "CompositeImplicitAutograd"):
        raise ValueError(
            f"{name} would lose its gradient: PyTorch writes it in terms of other operators, "
            "which autograd differentiates. Register these instead"
        )


def in_place_of(operator: Any) -> Any:
    """Return the in-place variant of a functional operator, or None."""
    found = getattr(getattr(aten, f"{packet(operator)}_", None), operator._overloadname, None)
    return found if found is not None and functional_of(found) is operator else None


def _name(operator: Any) -> str:
    schema = operator._schema
    return f"{schema.name}.{schema.overload_name}".rstrip(".")


def _has_kernel(operator: Any) -> bool:
    return torch._C._dispatch_has_kernel(_name(operator))  # type: ignore[no-any-return]
