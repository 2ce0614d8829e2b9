"""Generates the kernels that PyTorch calls, one for each operator, from its schema."""

from __future__ import annotations

import linecache
from contextlib import suppress
from functools import partial
from inspect import signature
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils._pytree import tree_map_only

from spatch_core import NoImplementationError

from . import _schema
from ._fallback import KernelError

if TYPE_CHECKING:
    from collections.abc import Callable

    from .environment import BackendEnvironment

# Tensors that PyTorch has made of numbers come as numbers.
_NUMBERS = frozenset((bool, int, float, complex))


class Kernels:
    """Makes the kernels of a backend."""

    def __init__(self, environment: BackendEnvironment) -> None:
        self._environment = environment

    def functional(self, operator: Any) -> Callable[..., Any]:
        """Return the kernel of an operator with an implementation of its own."""
        returns = [str(each.type) for each in operator._schema.returns]
        if returns == ["Tensor"]:
            end = ["return wrap(found, expected)"]
        elif returns == ["List[Tensor]"]:
            end = ["return list(map(wrap, found, expected or [None] * len(found)))"]
        elif set(returns) == {"Tensor"}:
            end = ["if expected is None: return tuple(map(wrap_optional, found))"]
            end += ["return tuple(map(wrap_optional, found, expected))"]
        else:
            end = ["return found"]
        return self._later(operator, operator, end)

    def in_place(self, operator: Any, functional: Any) -> Callable[..., Any]:
        """Return the kernel of an in-place operator whose functional variant is implemented."""

        name = _safe(_schema.written(operator)[0])
        arguments = f"{name}, {name}_data, found, expected"
        if str(operator._schema.arguments[0].type) != "List[Tensor]":
            end = [f"return replace({arguments})"]
            return self._later(operator, functional, end)
        end = [f"for _ in map(replace, {arguments}): pass"]
        together = self._later(operator, functional, end)

        def in_turn(*args: Any, **kwargs: Any) -> None:
            """Change tensors that share a storage one after the other."""
            tensors = args[0]
            if len({id(each.untyped_storage()) for each in tensors}) == len(tensors):
                together(*args, **kwargs)
                return
            for place in range(len(tensors)):
                together(*([a[place]] if isinstance(a, list) else a for a in args), **kwargs)

        return in_turn

    def _later(self, operator: Any, functional: Any, end: list[str]) -> Callable[..., Any]:
        """Return a function whose code is generated when it is first called.

        A device has hundreds of kernels, of which a program calls some.
        """
        names: dict[str, Any] = {}

        def generate() -> Callable[..., Any]:
            made = self._make(operator, functional, end, names)
            stub.__defaults__, stub.__kwdefaults__ = made.__defaults__, made.__kwdefaults__
            stub.__code__ = made.__code__  # last: other threads call it meanwhile
            return stub

        names["generate"] = generate
        stub = FunctionType(_STUB, names, "kernel")
        return stub

    def _make(self, operator: Any, functional: Any, end: list[str], names: dict[str, Any]) -> Any:
        environment = self._environment
        data = environment.data
        source, defaults = _write(
            operator, functional, end, describe_themselves=data.describe_themselves
        )
        find = DtypeFinder(environment, functional)
        environment.find(_schema.identity(functional))  # the first look-up is another method
        names |= {
            **defaults,
            "read": data.read if _sees_conjugates(operator) else data.read_plain,
            "read_index": data.read_index,
            "wrap": data.wrap,
            "wrap_optional": data.wrap_optional,
            "replace": data.fill if functional in _schema.FILLS else data.replace,
            "lookup": environment.system.lookup,
            "identity": _schema.identity(functional),
            "operator": operator,
            "general": self._general,
            "dtypes": find.known,
            "find_dtypes": find,
            "explain": find.explain,
            "refuse_type_error": partial(self._refuse_type_error, functional),
            "data_type": environment.data_type,
            "NoImplementationError": NoImplementationError,
            "refuse": self._refuse,
            "elsewhere": self._elsewhere,
            "name": environment.name,
            "strided": torch.strided,
            "numbers": _NUMBERS,
        }
        filename = f"<kernel of {_schema.identity(operator)}>"
        # A traceback shows the lines of a kernel.
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
        # The source is made of the schema of an operator of PyTorch.
        exec(compile(source, filename, "exec"), names)  # noqa: S102
        return names["kernel"]

    def _refuse(self, what: Any) -> Any:
        name = self._environment.name
        raise NotImplementedError(f"the device {name!r} does not support {what}")

    def _refuse_type_error(self, operator: Any, error: TypeError) -> Any:
        """Raise an error that PyTorch does not take for NotImplemented, as it does this one."""
        function = self._environment.operators[operator]
        name = (
            f"{function.__module__}.{function.__qualname__}"
            if isinstance(function, FunctionType)
            else repr(function)
        )
        with suppress(TypeError, ValueError):  # some functions of C say no signature
            name += str(signature(function))
        raise KernelError(
            f"{_schema.identity(operator)} raised TypeError: {error}. "
            f"Its implementation is {name}; it is called with {_schema.passed(operator)}"
        ) from error

    def _elsewhere(self, operator: Any, device: torch.device, *values: Any) -> Any:
        """Make what is like a tensor of this device on another one."""
        name = self._environment.name
        if device.type == name:
            raise RuntimeError(f"the device {name!r} has the index 0 alone, not {device}")

        def example(tensor: torch.Tensor) -> torch.Tensor:
            size, stride = tensor.shape, tensor.stride()
            return torch.empty_strided(size, stride, dtype=tensor.dtype, device=device)

        values = tree_map_only(torch.Tensor, example, values)
        names = [each.name for each in operator._schema.arguments]
        return _schema.call(operator, dict(zip(names, values, strict=True)))

    def _general(self, operator: Any, *values: Any) -> Any:
        names = [each.name for each in operator._schema.arguments]
        return self._environment.fallback.call(operator, dict(zip(names, values, strict=True)))


def _stub(*args: Any, **kwargs: Any) -> Any:
    return generate()(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821


_STUB = _stub.__code__


def _sees_conjugates(operator: Any) -> bool:
    """Return whether a kernel gets views that only say that their values are conjugates.

    Of all others PyTorch resolves them before it calls a kernel.
    """
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    return any(has_kernel(operator.name(), key) for key in ("Conjugate", "Negative"))


# How kernels read an argument, and its part of the key by which dtypes of results are remembered:
# of its data, or, if these have neither a dtype nor a shape, of the tensor, which takes longer.
_READS = {
    "Tensor": """\
if {0}.__class__ in numbers:
    {0}_data, {0}_type = {0}, data_type
    {0}_key = {0}_flat = {0}.__class__
else:
    {0}_data = read({0})
    {0}_key, {0}_flat, {0}_type = {1}.dtype, not {1}.shape, {0}_data.__class__""",
    "Optional[Tensor]": """\
if {0} is None:
    {0}_data = {0}_key = {0}_flat = None
else:
    {0}_data = read({0})
    {0}_key, {0}_flat = {1}.dtype, not {1}.shape""",
    "List[Tensor]": """\
{0}_data = [read(each) for each in {0}]
{0}_key = *(each.dtype for each in {1}), *(not each.shape for each in {1})""",
    "List[Optional[Tensor]]": "{0}_data = list(map(read_index, {0}))",
    "Optional[List[Tensor]]": "{0}_data = None if {0} is None else [read(each) for each in {0}]",
}
_KEYS = {
    # Beside other tensors, one without dimensions counts less for the dtype of the result.
    **dict.fromkeys(("Tensor", "Optional[Tensor]"), "{0}_key, {0}_flat"),
    "List[Tensor]": "{0}_key",
    **dict.fromkeys(("number", "Optional[number]"), "{0}.__class__"),
    "bool": "{0}",
    "Optional[int]": "{0}",  # a dtype is an int in schemas
}

_CHECKED = {
    "device": "if device is not None and (device.index or device.type != name): "
    "return elsewhere(operator, device, {arguments})",
    "pin_memory": "if pin_memory: refuse('pinned memory')",
    "generator": "if generator is not None: refuse('generators of the program, only that of "
    "torch.manual_seed')",
    "layout": "if layout is not None and layout is not strided: refuse(layout)",
}


def _write(
    operator: Any, functional: Any, end: list[str], *, describe_themselves: bool
) -> tuple[str, dict[str, Any]]:
    """Return the source of a function ``kernel``, and the defaults that it names.

    It takes the arguments of `operator`, calls the implementation of `functional`, and ends with
    these lines.
    """
    defaults: dict[str, Any] = {}
    arguments = operator._schema.arguments
    parts = [_parameter(each, defaults) for each in arguments]
    positional = sum(not each.kwarg_only for each in arguments)
    if positional < len(parts):
        parts.insert(positional, "*")
    body = [*_compute(functional, describe_themselves=describe_themselves), *end]
    lines = [
        f"def kernel({', '.join(parts)}):",
        "    try:",
        *(f"        {each}" for each in body),
        "    except TypeError as error: refuse_type_error(error)",
    ]
    return "\n".join(lines), defaults


def _compute(operator: Any, *, describe_themselves: bool) -> list[str]:
    passed, types, keys, reads = [], [], [], []
    kinds = [str(each.type) for each in operator._schema.arguments]
    arguments = ", ".join(_safe(each.name) for each in operator._schema.arguments)
    for each, kind in zip(operator._schema.arguments, kinds, strict=True):
        name = _safe(each.name)
        if each.name in _CHECKED:
            reads.append(_CHECKED[each.name].format(arguments=arguments))
        if each.name in _schema.OMITTED:
            continue
        value = name
        if kind in _READS:
            value = f"{name}_data"
            described = value if describe_themselves else name
            reads += _READS[kind].format(name, described).split("\n")
        if kind == "Tensor":
            types.append(f"{name}_type")
        if kind in _KEYS:
            keys.append(_KEYS[kind].format(name))
        passed.append(f"{name}={value}" if each.kwarg_only else value)
    if not types:
        types = ["data_type"]
    key = f"({''.join(f'{each}, ' for each in keys)})"
    return [
        *reads,
        f"try: expected = dtypes[{key}]",
        f"except KeyError: expected = find_dtypes({key}, ({arguments},))",
        f"implementation = lookup(identity, ({', '.join(types)},))",
        f"if implementation is None: return general(operator, {arguments})",
        f"try: found = implementation({', '.join(passed)})",
        f"except NoImplementationError: return general(operator, {arguments})",
        "except Exception as error:",
        f"    explain(error, ({arguments},))",
        "    raise",
        f"if found is NotImplemented: return general(operator, {arguments})",
    ]


def _safe(name: str) -> str:
    """Return the name of an argument, which may not be one in Python."""
    return f"{name}_" if name in {"self", "from", "lambda"} else name


def _parameter(argument: Any, defaults: dict[str, Any]) -> str:
    # Kernels get what PyTorch passes by position, and keywords by the names of the schema.
    name = _safe(argument.name)
    if not argument.has_default_value():
        return name
    defaults[f"{name}_default"] = argument.default_value
    return f"{name}={name}_default"


class DtypeFinder:
    """The dtypes of an operator's results, by those of the arguments.

    PyTorch's promotion is its own: the operator runs on tensors without data to find them.
    """

    def __init__(self, environment: BackendEnvironment, operator: Any) -> None:
        self._environment = environment
        self._operator = operator
        self.known: dict[Any, Any] = {}

    def __call__(self, key: Any, values: tuple[Any, ...]) -> Any:
        self._environment.describe()
        try:
            found = self._on_meta(values)
        except (NotImplementedError, RuntimeError, TypeError, AttributeError) as error:
            # An AttributeError is a fault of PyTorch's function for tensors without data.
            is_fault = isinstance(error, (NotImplementedError, AttributeError))
            if not is_fault and not _is_missing(error):
                raise
            self.known[key] = None
            return None
        if isinstance(found, torch.Tensor):
            dtypes: Any = found.dtype
        elif isinstance(found, list):
            dtypes = [each.dtype for each in found]
        else:
            dtypes = tuple(None if each is None else each.dtype for each in found)
        self.known[key] = dtypes
        return dtypes

    def explain(self, error: Exception, values: tuple[Any, ...]) -> None:
        """Raise PyTorch's own error, if the operator does not allow the arguments."""
        if isinstance(error, (RuntimeError, NotImplementedError)):
            return
        if isinstance(error, np.linalg.LinAlgError):
            kind: Any = torch.linalg.LinAlgError  # type: ignore[attr-defined]
            raise kind(str(error)) from error
        try:
            self._on_meta(values)
        except (RuntimeError, IndexError, ValueError) as own:
            # Without tensors there is nothing to ask.
            if not (isinstance(own, NotImplementedError) or _is_missing(own)):
                raise own from error

    def _on_meta(self, values: tuple[Any, ...]) -> Any:
        arguments = self._operator._schema.arguments
        if not any("Tensor" in str(each.type) for each in arguments):
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
