"""One implementation of all functions: the rule of a function, and the function on the values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from operator import attrgetter
from typing import Any

from . import JaxQuantity, Quantity, Unit, UnitError
from .rules import ONE, RULES, Given, Result

_ARRAYS = frozenset({"a", "x", "m", "arr", "array", "arrays", "x1", "x2", "b", "y", "v"})
_OPTIONS = frozenset(
    {
        *("initial", "min", "max", "a_min", "a_max", "fill_value", "values"),
        *("prepend", "append", "to_begin", "to_end", "constant_values", "end_values"),
    }
)
"""Names of arguments that may have units, where they are given by keyword."""


def on_numpy(context: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Implement every function that has a rule, on NumPy's arrays."""
    module, _, name = context.function.partition(":")
    return _call(context, attrgetter(name)(import_module(module)), Quantity, args, kwargs)


def on_jax(context: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Implement every function that has a rule and that JAX has, on its arrays."""
    module, _, name = context.function.partition(":")
    place = module.replace("scipy", "jax.scipy") if module[:5] == "scipy" else f"jax.{module}"
    try:
        function = attrgetter(name)(import_module(place))
    except (ImportError, AttributeError):
        return NotImplemented  # JAX does not have it
    if kwargs.get("out") is not None:
        return NotImplemented  # its arrays cannot be written into
    return _call(context, function, JaxQuantity, args, kwargs)


def _call(
    context: Any,
    function: Callable[..., Any],
    cls: type[Quantity],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    rule, count = RULES.get(context.function, (None, 0))
    if rule is None:
        return NotImplemented
    is_at = context.function.endswith(".at")  # whose second argument is an index
    given = (*args[:1], *args[2:]) if is_at else args[:count]
    arrays = [*given, *(kwargs[name] for name in kwargs if name in _ARRAYS | _OPTIONS)]
    units = [unit for each in arrays for unit in _units(each)]
    options = {name: value for name, value in kwargs.items() if name not in _ARRAYS | _OPTIONS}
    out = options.pop("out", None)
    for each in (*(() if is_at else args[count:]), *options.values()):
        if any(unit != ONE for unit in _units(each, only=Quantity)):
            raise UnitError(f"an option of {context.function} takes no unit")
    values = tuple(map(_bare, args))
    found = rule(units, Given(values, kwargs))
    if out is not None:
        return _written(function, found, values, kwargs, out)
    result = function(*values, **{name: _bare(value) for name, value in kwargs.items()})
    return _dressed(result, found, cls)


def _written(
    function: Callable[..., Any],
    found: Result,
    values: tuple[Any, ...],
    kwargs: dict[str, Any],
    out: Any,
) -> Any:
    """Call a function with ``out=``, which gets the unit of the result."""
    targets = out if isinstance(out, tuple) else (out,)
    results = found if isinstance(found, tuple) else (found,) * len(targets)
    is_partial = kwargs.get("where", True) is not True
    for target, unit in zip(targets, results, strict=True):
        if isinstance(target, Quantity):
            if is_partial and unit not in (None, target.unit):
                raise UnitError(f"with where=, out= keeps values of {target.unit}, not of {unit}")
        elif target is not None and unit not in (None, ONE):
            raise UnitError(f"out= is an array without a unit, and the result has {unit}")
    function(*values, **{name: _bare(value) for name, value in kwargs.items()})
    # Last, because a call that fails changes nothing.
    for target, unit in zip(targets, results, strict=True):
        if isinstance(target, Quantity) and unit is not None:
            target.unit = unit
    return out[0] if isinstance(out, tuple) and len(out) == 1 else out


def _units(value: Any, only: type = object) -> Iterator[Unit]:
    """Yield the units of an argument; of every item of a list or tuple, unless all are numbers."""
    if isinstance(value, Quantity):
        yield value.unit
    elif isinstance(value, (list, tuple)) and any(map(_has_quantity, value)):
        for each in value:
            yield from _units(each, only)
    elif value is not None and only is object:
        yield ONE


def _has_quantity(value: Any) -> bool:
    """Whether a quantity is in an argument, perhaps in lists and tuples."""
    if isinstance(value, (list, tuple)):
        return any(map(_has_quantity, value))
    return isinstance(value, Quantity)


def _bare(value: Any) -> Any:
    """Return the values of quantities, also in lists and tuples."""
    if isinstance(value, Quantity):
        return value.values
    if type(value) in (list, tuple):
        return type(value)(map(_bare, value))
    return value


def _dressed(result: Any, unit: Result, cls: type[Quantity]) -> Any:
    """Return a result with its unit."""
    if isinstance(result, (list, tuple)):
        units = unit if isinstance(unit, tuple) else (unit,) * len(result)
        made = [_dressed(each, one, cls) for each, one in zip(result, units, strict=True)]
        if isinstance(result, list):
            return made
        return type(result)(*made) if hasattr(result, "_fields") else tuple(made)
    return result if result is None or not isinstance(unit, Unit) else cls(result, unit)
