"""Generates the kernels that PyTorch calls, one for each operator, when it is registered."""

from __future__ import annotations

import linecache
from types import FunctionType
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_map_only

from spatch_core import NoImplementationError

from . import _schema
from ._dtypes import DtypeFinder

if TYPE_CHECKING:
    from collections.abc import Callable

    from .environment import BackendEnvironment

# How kernels read an argument, and its part of the key by which dtypes of results are remembered.
_READS = {
    "Tensor": """\
if {0}.__class__ in numbers:
    {0}_data, {0}_type = {0}, data_type
    {0}_key = {0}_flat = {0}.__class__
else:
    {0}_data = read({0})
    {0}_key, {0}_flat, {0}_type = {0}_data.dtype, not {0}_data.shape, {0}_data.__class__""",
    "Optional[Tensor]": """\
if {0} is None:
    {0}_data = {0}_key = {0}_flat = None
else:
    {0}_data = read({0})
    {0}_key, {0}_flat = {0}_data.dtype, not {0}_data.shape""",
    "List[Tensor]": """\
{0}_data = [read(each) for each in {0}]
{0}_key = *(each.dtype for each in {0}_data), *(not each.shape for each in {0}_data)""",
    "List[Optional[Tensor]]": "{0}_data = [None if each is None else read(each) for each in {0}]",
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
    "layout": "if layout is not None and layout is not strided: refuse(layout)",
}
_ENTER = ["try: context = contexts.pop()", "except IndexError: context = new_context()"]
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
        return self._later(operator, operator, lambda: end)

    def in_place(self, operator: Any, functional: Any) -> Callable[..., Any]:
        """Return the kernel of an in-place operator whose functional variant is implemented."""

        name = _safe(_schema.written(operator)[0])
        arguments = f"{name}, {name}_data, found, expected"
        if not _schema.is_kind(operator._schema.arguments[0], "List[Tensor]"):
            end = [f"return replace({arguments})"]
            return self._later(operator, functional, lambda: end)
        end = [f"for _ in map(replace, {arguments}): pass"]
        together = self._later(operator, functional, lambda: end)

        def in_turn(*args: Any, **kwargs: Any) -> None:
            """Change tensors that share a storage one after the other."""
            tensors = args[0]
            if len({id(each.untyped_storage()) for each in tensors}) == len(tensors):
                together(*args, **kwargs)
                return
            for place in range(len(tensors)):
                together(*([a[place]] if isinstance(a, list) else a for a in args), **kwargs)

        return in_turn

    def _compute(self, operator: Any) -> list[str]:
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
                reads += _READS[kind].format(name).split("\n")
            if kind == "Tensor":
                types.append(f"{name}_type")
            if kind in _KEYS:
                keys.append(_KEYS[kind].format(name))
            passed.append(f"{name}={value}" if each.kwarg_only else value)
        if not types:
            types = ["data_type"]
        key = f"({''.join(f'{each}, ' for each in keys)})"
        call = f"found = implementation({', '.join(passed)})"
        ran: list[str] = []
        if self._environment.is_run_in_context(operator):
            call = f"found = context.run({', '.join(['implementation', *passed])})"
            ran = ["finally: contexts.append(context)"]
        return [
            *reads,
            f"try: expected = dtypes[{key}]",
            f"except KeyError: expected = find_dtypes({key}, ({arguments},))",
            f"implementation = lookup(identity, ({', '.join(types)},))",
            f"if implementation is None: return general(operator, {arguments})",
            *(_ENTER if ran else []),
            f"try: {call}",
            f"except NoImplementationError: return general(operator, {arguments})",
            "except Exception as error:",
            f"    explain(error, ({arguments},))",
            "    raise",
            *ran,
            f"if found is NotImplemented: return general(operator, {arguments})",
        ]

    def _later(
        self, operator: Any, functional: Any, end: Callable[[], list[str]]
    ) -> Callable[..., Any]:
        """Return a function whose code is generated when it is first called.

        A device has hundreds of kernels, of which a program calls some.
        """
        names: dict[str, Any] = {}

        def generate() -> Callable[..., Any]:
            made = self._make(operator, functional, end(), names)
            stub.__defaults__, stub.__kwdefaults__ = made.__defaults__, made.__kwdefaults__
            stub.__code__ = made.__code__  # last: other threads call it meanwhile
            return stub

        names["generate"] = generate
        stub = FunctionType(_STUB, names, "kernel")
        return stub

    def _make(self, operator: Any, functional: Any, end: list[str], names: dict[str, Any]) -> Any:
        environment = self._environment
        data = environment.data
        positional = [each for each in operator._schema.arguments if not each.kwarg_only]
        keywords = [each for each in operator._schema.arguments if each.kwarg_only]
        defaults: dict[str, Any] = {}
        parts = [_parameter(each, defaults) for each in positional]
        if keywords:
            parts += ["*", *(_parameter(each, defaults) for each in keywords)]
        body = [*self._compute(functional), *end]
        source = "\n".join([f"def kernel({', '.join(parts)}):", *(f"    {each}" for each in body)])
        find = DtypeFinder(environment, functional)
        environment.find(_schema.identity(functional))  # the first look-up is another method
        names |= {
            **defaults,
            "read": data.read if _sees_conjugates(operator) else data.read_plain,
            "wrap": data.wrap,
            "wrap_optional": data.wrap_optional,
            "replace": data.replace,
            "lookup": environment.system.lookup,
            "identity": _schema.identity(functional),
            "operator": operator,
            "general": self._general,
            "dtypes": find.known,
            "find_dtypes": find,
            "explain": find.explain,
            "data_type": environment.data_type,
            "NoImplementationError": NoImplementationError,
            "refuse": self._refuse,
            "elsewhere": self._elsewhere,
            "name": environment.name,
            "strided": torch.strided,
            "numbers": _NUMBERS,
            "contexts": environment.contexts,
            "new_context": environment.new_context,
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


def _safe(name: str) -> str:
    return f"{name}_" if name in {"self", "from", "lambda"} else name


def _parameter(argument: Any, defaults: dict[str, Any]) -> str:
    # Kernels get what PyTorch passes by position, and keywords by the names of the schema.
    name = _safe(argument.name)
    if not argument.has_default_value():
        return name
    defaults[f"{name}_default"] = argument.default_value
    return f"{name}={name}_default"
