"""What the schema of an operator says: which variants it has, and how to pass arguments."""

from __future__ import annotations

from typing import Any

import torch

OMITTED = {"layout", "device", "pin_memory", "memory_format", "generator", "non_blocking"}
"""Arguments that implementations do not get."""


def identity(operator: Any) -> str:
    """Return the identity of an operator: ``"aten:add.Tensor"``, ``"aten:relu"``."""
    name: str = operator._schema.name.replace("::", ":")
    overload = operator._schema.overload_name
    return f"{name}.{overload}" if overload else name


def is_kind(argument: Any, *kinds: str) -> bool:
    """Return whether an argument is of one of these types of PyTorch's schemas."""
    return str(argument.type) in kinds


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
