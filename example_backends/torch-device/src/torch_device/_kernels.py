"""Generates the kernels that PyTorch calls, one for each operator, when it is registered."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, Any

import torch
from spatch_core import NoImplementationError
from torch.utils._pytree import tree_map_only

from . import _schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from .environment import BackendEnvironment

_READS = {
    "Tensor": "{0} if {0}.__class__ in numbers else read({0})",
    "Optional[Tensor]": "None if {0} is None else read({0})",
    "List[Tensor]": "[read(each) for each in {0}]",
    "List[Optional[Tensor]]": "[None if each is None else read(each) for each in {0}]",
    "Optional[List[Tensor]]": "None if {0} is None else [read(each) for each in {0}]",
}
_KEYS = {
    "Tensor": "{0}.__class__ if {0}.__class__ in numbers else ({0}.dtype, {0}.dim() == 0)",
    "Optional[Tensor]": "None if {0} is None else {0}.dtype",
    "List[Tensor]": "*[(each.dtype, each.dim() == 0) for each in {0}]",
    "number": "{0}.__class__",
    "Optional[number]": "{0}.__class__",
    "bool": "{0}",
    "Optional[int]": "{0}",  # a dtype is an int in schemas
}

_CHECKED = {
    "device": "if device is not None and device.index: refuse(device)",
    "pin_memory": "if pin_memory: refuse('pinned memory')",
    "layout": "if layout is not None and layout is not strided: refuse(layout)",
}
# Tensors that PyTorch has made of numbers come as numbers.
_NUMBERS = frozenset((bool, int, float, complex))


class Kernels:
    """Makes the kernels of a backend.

    Parameters
    ----------
    environment : BackendEnvironment
        The backend.
    """

    def __init__(self, environment: BackendEnvironment) -> None:
        self._environment = environment

    def functional(self, operator: Any) -> Callable[..., Any]:
        """Return the kernel of an operator with an implementation of its own."""
        identity = _schema.identity(operator)
        body = self._compute(operator)
        returns = [str(each.type) for each in operator._schema.returns]
        if returns == ["Tensor"]:
            body += ["return wrap(found, expected)"]
        elif returns == ["List[Tensor]"]:
            body += ["return [wrap(each, expected) for each in found]"]
        elif set(returns) == {"Tensor"}:
            body += ["if expected is None: return tuple(map(wrap_optional, found))"]
            body += ["return tuple(map(wrap_optional, found, expected))"]
        else:
            body += ["return found"]
        return self._make(operator, identity, body)

    def in_place(self, operator: Any, functional: Any) -> Callable[..., Any]:
        """Return the kernel of an in-place operator whose functional variant is implemented."""
        name = _safe(_schema.written(operator)[0])
        shape = f"if tuple(found.shape) != {name}.shape: check_shape(found, {name})"
        body = self._compute(functional)
        body += ["found = settle(found)", shape]
        body += [f"check_dtype(expected, {name})", f"return write({name}, found)"]
        return self._make(operator, _schema.identity(functional), body, functional)

    def _compute(self, operator: Any) -> list[str]:
        passed, types, keys, reads = [], [], [], []
        for each in operator._schema.arguments:
            kind = str(each.type)
            name = _safe(each.name)
            if each.name in _CHECKED:
                reads.append(_CHECKED[each.name])
            if each.name in _schema.OMITTED:
                continue
            value = name
            if kind in _READS:
                value = f"{name}_data"
                reads.append(f"{value} = {_READS[kind].format(name)}")
                if kind == "Tensor":
                    kind_of = f"{value}.__class__"
                    types.append(f"data_type if {kind_of} in numbers else {kind_of}")
            if kind in _KEYS:
                keys.append(_KEYS[kind].format(name))
            passed.append(f"{name}={value}" if each.kwarg_only else value)
        if not types:
            types = ["data_type"]
        key = f"({', '.join(keys)}{',' if len(keys) == 1 else ''})"
        arguments = ", ".join(_safe(each.name) for each in operator._schema.arguments)
        return [
            *reads,
            f"expected = dtypes.get(key := {key}, missing)",
            f"if expected is missing: expected = find_dtypes(key, ({arguments},))",
            f"implementation = system.lookup(identity, ({', '.join(types)},))",
            f"if implementation is None: return general(operator, {arguments})",
            "try:",
            f"    found = implementation({', '.join(passed)})",
            f"except NoImplementationError: return general(operator, {arguments})",
            "except Exception as error:",
            f"    explain(error, ({arguments},))",
            "    raise",
            f"if found is NotImplemented: return general(operator, {arguments})",
        ]

    def _make(
        self, operator: Any, identity: str, body: list[str], functional: Any = None
    ) -> Callable[..., Any]:
        environment = self._environment
        data = environment.data
        positional = [each for each in operator._schema.arguments if not each.kwarg_only]
        keywords = [each for each in operator._schema.arguments if each.kwarg_only]
        defaults: dict[str, Any] = {}
        parts = [_parameter(each, defaults) for each in positional]
        if keywords:
            parts += ["*", *(_parameter(each, defaults) for each in keywords)]
        source = "\n".join([f"def kernel({', '.join(parts)}):", *(f"    {each}" for each in body)])
        find = _DtypeFinder(environment, functional or operator)
        known = {
            **defaults,
            **{"read": data.read, "wrap": data.wrap, "wrap_optional": data.wrap_optional},
            **{"write": data.write, "settle": data.settle, "system": environment.system},
            **{"identity": identity, "operator": operator, "general": self._general},
            **{"dtypes": find.known, "missing": find, "find_dtypes": find},
            **{"explain": find.explain, "data_type": environment.data_type},
            **{"NoImplementationError": NoImplementationError},
            **{"refuse": self._refuse, "strided": torch.strided},
            **{"numbers": _NUMBERS, "check_shape": _check_shape, "check_dtype": _check_dtype},
        }
        filename = f"<kernel of {_schema.identity(operator)}>"
        # A traceback shows the lines of a kernel.
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
        exec(compile(source, filename, "exec"), known)
        made: Callable[..., Any] = known["kernel"]
        return made

    def _refuse(self, what: Any) -> Any:
        name = self._environment.name
        if isinstance(what, torch.device):
            raise RuntimeError(f"the device {name!r} has the index 0 alone, not {what}")
        raise NotImplementedError(f"the device {name!r} does not support {what}")

    def _general(self, operator: Any, *values: Any) -> Any:
        names = [each.name for each in operator._schema.arguments]
        return self._environment.fallback.call(operator, dict(zip(names, values, strict=True)))


class _DtypeFinder:
    """The dtypes of results, by those of the arguments: PyTorch's promotion is its own."""

    def __init__(self, environment: BackendEnvironment, operator: Any) -> None:
        self._environment = environment
        self._operator = operator
        self.known: dict[Any, Any] = {}

    def __call__(self, key: Any, values: tuple[Any, ...]) -> Any:
        self._environment.describe()
        try:
            found = self._on_meta(values)
        except (NotImplementedError, RuntimeError, TypeError) as error:
            if not isinstance(error, NotImplementedError) and not _is_missing(error):
                raise
            self.known[key] = None
            return None
        if isinstance(found, torch.Tensor):
            dtypes: Any = found.dtype
        elif isinstance(found, list):
            dtypes = found[0].dtype if found else None
        else:
            dtypes = tuple(None if each is None else each.dtype for each in found)
        self.known[key] = dtypes
        return dtypes

    def explain(self, error: Exception, values: tuple[Any, ...]) -> None:
        """Raise PyTorch's own error, if the operator does not allow the arguments."""
        if isinstance(error, (RuntimeError, NotImplementedError)):
            return
        try:
            self._on_meta(values)
        except (RuntimeError, IndexError, ValueError) as own:
            if not _is_missing(own):
                raise own from error

    def _on_meta(self, values: tuple[Any, ...]) -> Any:
        arguments = self._operator._schema.arguments
        if not any(str(each.type) in _READS for each in arguments):
            raise NotImplementedError

        def to_meta(tensor: torch.Tensor) -> torch.Tensor:
            return torch.empty(tensor.shape, dtype=tensor.dtype, device="meta")

        values = tree_map_only(torch.Tensor, to_meta, values)
        named = {
            each.name: value
            for each, value in zip(arguments, values, strict=False)
            if each.name != "generator"
        }
        if "device" in named and named["device"] is not None:
            named["device"] = torch.device("meta")
        return _schema.call(self._operator, named)


def _is_missing(error: Exception) -> bool:
    text = str(error)
    return "meta" in text.lower() or "data-dependent" in text or "fake" in text.lower()


def _safe(name: str) -> str:
    return f"{name}_" if name in {"self", "from", "lambda"} else name


def _parameter(argument: Any, defaults: dict[str, Any]) -> str:
    # Kernels get what PyTorch passes by position, and keywords by the names of the schema.
    name = _safe(argument.name)
    if not argument.has_default_value():
        return name
    defaults[f"{name}_default"] = argument.default_value
    return f"{name}={name}_default"


def _check_shape(array: Any, tensor: torch.Tensor) -> None:
    raise RuntimeError(
        f"output with shape {list(tensor.shape)} doesn't match the broadcast shape "
        f"{list(array.shape)}"
    )


def _check_dtype(expected: torch.dtype | None, tensor: torch.Tensor) -> None:
    if isinstance(expected, torch.dtype) and expected is not tensor.dtype:
        if not torch.can_cast(expected, tensor.dtype):
            names = [str(each).partition(".")[2].capitalize() for each in (expected, tensor.dtype)]
            raise RuntimeError(
                f"result type {names[0]} can't be cast to the desired output type {names[1]}"
            )
