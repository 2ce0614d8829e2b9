"""The private names of a stub: its imports and type variables."""

from __future__ import annotations

from dataclasses import dataclass, field
from keyword import iskeyword
from typing import TypeVar

ANY = "_Any"
_PLAIN = ("bool", "int", "float", "complex", "str", "bytes")


class UnknownAnnotationError(Exception):
    """An annotation that a stub cannot repeat."""


@dataclass(slots=True)
class StubNames:
    """The imports of one stub, under private names that clash with no name of the module."""

    aliases: dict[str, str] = field(default_factory=dict)  # of modules
    typevars: dict[str, TypeVar] = field(default_factory=dict)
    taken: set[str] = field(default_factory=lambda: {ANY, "_builtins", "_overload", "_Plain"})
    has_plain: bool = False

    def free(self, name: str) -> str:
        """Return a private name that is not taken in the stub, and take it."""
        found = name = f"_{name}"
        number = 2
        while found in self.taken:
            found, number = f"{name}_{number}", number + 1
        self.taken.add(found)
        return found

    def of(self, module: str, qualname: str = "") -> str | None:
        """Return an expression for a module or a name in it; None if Python cannot write it."""
        if not all(each.isidentifier() and not iskeyword(each) for each in module.split(".")):
            return None
        if not all(e.isidentifier() and not iskeyword(e) for e in qualname.split(".") if qualname):
            return None
        if module == "typing" and qualname == "Any":
            return ANY
        alias = "_builtins"
        if module != "builtins":
            if module not in self.aliases:
                self.aliases[module] = self.free(module.replace(".", "_"))
            alias = self.aliases[module]
        return f"{alias}.{qualname}" if qualname else alias

    def imports(self) -> list[str]:
        """Return the lines that import modules and declare type variables."""
        found = [f"import {module} as {alias}" for module, alias in sorted(self.aliases.items())]
        variables = [
            f'{name} = {self.aliases["typing"]}.TypeVar("{name}")' for name in sorted(self.typevars)
        ]
        plain = [*(f"_builtins.{each}" for each in _PLAIN)]
        plain += [f"_builtins.list[{ANY}]", f"_builtins.tuple[{ANY}, ...]"]
        return found + variables + [f"_Plain = {' | '.join(plain)}"] * self.has_plain

    def plain(self) -> str:
        """Return the name for Python's own values, which may stand beside any array."""
        self.has_plain = True
        return "_Plain"

    def variable(self, found: TypeVar) -> str:
        """Return the name of a type variable, and declare it in the stub."""
        if found.__bound__ is not None or found.__constraints__:
            raise UnknownAnnotationError
        for name, each in self.typevars.items():
            if each is found:
                return name
        self.of("typing")
        name = self.free(found.__name__)
        self.typevars[name] = found
        return name
