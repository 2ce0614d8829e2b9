"""Declares a dispatchable function in a stub: an overload for each type, then its own signature."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from inspect import Parameter, Signature
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

from .._dispatch_arguments import COROUTINE, nature_of
from .._identifiers import DEFAULT, shown
from .importing import is_module_installed
from .packages import package_of
from .signatures import written
from .stub_annotations import Annotations
from .stub_names import ANY, StubNames

if TYPE_CHECKING:
    from ..backend_system import BackendSystem

_NAMED = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


class StubFunction:
    """The declarations of one function in a stub.

    Parameters
    ----------
    function : callable
        The library's own implementation.
    names : StubNames
        The names that the stub imports.
    own_types : set of str
        The identifiers of the library's own types.
    """

    def __init__(self, function: Any, names: StubNames, own_types: set[str]) -> None:
        self._names = names
        self._own_types = own_types
        self._read = Annotations(function, names, own_types)
        self._prefix = "async def" if nature_of(function) & COROUTINE else "def"
        self._doc = str(getattr(function, "__doc__", None) or "")
        try:
            self._signature = inspect.signature(function)
        except Exception:  # noqa: BLE001  # a third party's __signature__ may raise anything
            self._signature = Signature(
                [
                    Parameter("args", Parameter.VAR_POSITIONAL),
                    Parameter("kwargs", Parameter.VAR_KEYWORD),
                ]
            )
        self._parameters = list(self._signature.parameters.values())

    def plain(self, name: str) -> str:
        """Return the declaration of the function without dispatching."""
        texts = {each.name: self._read.text(each.annotation) for each in self._parameters}
        result = self._read.text(self._signature.return_annotation)
        return f"{self._prefix} {name}({_joined(self._parameters, texts)}) -> {result}: ..."

    def dispatched(self, name: str, system: BackendSystem, identifier: str, base: str) -> list[str]:
        """Return the lines that declare the function as dispatchable."""
        signatures: dict[str, list[str]] = {}
        for backend in system.functions[identifier].backends:
            for signature in self._overloads(system, identifier, backend):
                default = str(getattr(system, "default_name", DEFAULT))
                signatures.setdefault(signature, []).append(shown(backend, default))
        own = self.plain("__call__").replace("(", f"({self._self}, ", 1).replace(", )", ")", 1)
        signatures.pop(own, None)
        cls = self._names.free(name)
        lines = [f"class {cls}({base}[..., {ANY}]):"]
        for signature, backends in signatures.items():
            comment = ", ".join(dict.fromkeys(backends)).encode("unicode_escape").decode()
            lines += [f"    # {comment}", "    @_overload", f"    {signature}"]
        if signatures:
            lines += ["    # the library's own", "    @_overload"]
        return [*lines, f"    {own}", "", f"{name}: {cls}", ""]

    @property
    def _self(self) -> str:
        taken = {each.name for each in self._parameters}
        return next(each for each in ("self", "_self", "_self_") if each not in taken)

    def _overloads(self, system: BackendSystem, identifier: str, backend: str) -> Iterator[str]:
        """Yield a signature for each primary type at each required dispatch argument."""
        description = system.backends[backend]
        dispatched = self._dispatched(system, identifier)
        known = [
            self._names.of(each.module, each.qualname)
            for each in description.known_types
            if is_module_installed(package_of(each.module))
        ]
        accepted = [each for each in known if each is not None]
        found = {self._read.variable(each.annotation) for each in dispatched}
        variables = found - {None}
        own = [*(each.annotation for each in dispatched), self._signature.return_annotation]
        if backend == DEFAULT and all(self._read.text(each) != ANY for each in own):
            return  # the library's own signature declares its types
        for pattern in description.primary_types:
            primary = self._names.of(pattern.module, pattern.qualname)
            if primary is None or not is_module_installed(package_of(pattern.module)):
                continue
            for focus in self._required(dispatched):
                texts = {}
                for each in self._parameters:
                    if each is focus:
                        texts[each.name] = primary
                    elif each in dispatched:
                        text = self._read.text(each.annotation, primary, variables)
                        texts[each.name] = self._accepting(each, accepted, text)
                    else:
                        texts[each.name] = self._read.text(each.annotation)
                parameters = [
                    each.replace(default=each.empty) if each is focus else each
                    for each in self._parameters
                ]
                result = self._result(primary, variables)
                inside = _joined(parameters, texts)
                yield f"{self._prefix} __call__({self._self}, {inside}) -> {result}: ..."

    def _dispatched(self, system: BackendSystem, identifier: str) -> list[Parameter]:
        """Return the dispatch arguments, as far as they are known by name."""
        record = system._dispatcher.by_identifier.get(identifier)
        function: Any = getattr(record, "function", None)
        named = [each for each in self._parameters if each.kind in _NAMED]
        if getattr(function, "parameters", None) is not None:
            labels = {getattr(each, "label", each.name) for each in function.parameters}
            return [each for each in named if each.name in labels]
        is_any = getattr(getattr(function, "_finder", None), "__name__", "") == "_all_arguments"
        return named if is_any else []

    def _required(self, dispatched: list[Parameter]) -> list[Parameter]:
        """Return the dispatched parameters that an overload can require."""
        found = []
        is_after_default = False
        for each in self._parameters:
            if each in dispatched and (each.kind is each.KEYWORD_ONLY or not is_after_default):
                found.append(each)
            is_after_default = is_after_default or each.default is not each.empty
        needed = [each for each in found if each.default is each.empty]
        return needed or found[:1]

    def _accepting(self, parameter: Parameter, accepted: list[str], text: str) -> str:
        """Return the annotation of a dispatch argument beside one of a primary type."""
        if text == ANY:
            texts = [*accepted, self._names.plain()]
        else:
            texts = [*accepted, text]
        if parameter.default is None:
            texts.append("None")
        return " | ".join(dict.fromkeys(texts))

    def _result(self, primary: str, variables: set[Any]) -> str:
        annotation = self._signature.return_annotation
        if annotation is not Signature.empty:
            return self._read.text(annotation, primary, variables)
        return primary if self._documents_own_type() else ANY

    def _documents_own_type(self) -> bool:
        """Whether the docstring says that the result is one object of a type of the library's."""
        text = inspect.cleandoc(self._doc)
        found = re.search(r"^Returns\n-+\n((?:.*\n?)*?)(?=^\S.*\n-+$|\Z)", text, re.MULTILINE)
        if found is None:
            return False
        entries = [each for each in found[1].splitlines() if re.match(r"\S", each)]
        if len(entries) != 1:
            return False
        documented = entries[0].rpartition(" : ")[2].strip("`: ").rpartition(".")[2]
        return documented in {each.partition(":")[2] for each in self._own_types}


def _joined(parameters: list[Parameter], texts: dict[str, str]) -> str:
    """Return parameters with these annotations, and ``...`` for their defaults."""
    if any(not each.name.isidentifier() or iskeyword(each.name) for each in parameters):
        return f"*args: {ANY}, **kwargs: {ANY}"
    return ", ".join(written(parameters, lambda each: texts[each.name], lambda _: "..."))
