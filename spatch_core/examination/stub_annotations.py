"""Annotations of the library's functions, written with the names that a stub imports."""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from collections.abc import Callable, Collection
from functools import lru_cache
from types import ModuleType
from typing import Any, TypeVar

from .._identifiers import loaded_object, split_identifier
from .stub_names import ANY, StubNames, UnknownAnnotationError

_NDARRAYS = {"numpy.typing:NDArray", "numpy._typing:NDArray", "numpy:ndarray"}
"""The class, and two type aliases of it."""


class Annotations:
    """The annotations of a function; strings among them are parsed, never evaluated.

    Parameters
    ----------
    function : callable
        The library's own function.
    names : StubNames
        The names that the stub imports.
    own_types : collection of str
        The identifiers of the library's own types.

    Attributes
    ----------
    mentions : bool
        Whether the annotation of the last `text` has a type that `instead` replaces.
    """

    def __init__(
        self, function: Callable[..., Any], names: StubNames, own_types: Collection[str]
    ) -> None:
        self._globals: dict[str, Any] = getattr(inspect.unwrap(function), "__globals__", {})
        self._names = names
        self._own = {*own_types}
        if "numpy:ndarray" in self._own:
            self._own |= _NDARRAYS
        self._replaced: Callable[[object], str | None] = lambda _: None
        self.mentions = False

    def text(
        self, annotation: object, instead: str | None = None, variables: Collection[object] = ()
    ) -> str:
        """Return an annotation with the names of the stub; ``_Any`` if that is not possible.

        The text `instead` replaces the library's own types and the type variables in `variables`.
        """
        self.mentions = False

        def replaced(found: object) -> str | None:
            if isinstance(found, str):
                is_own = found in self._own or self._is_own(found)
            else:
                is_own = found in variables
            self.mentions = self.mentions or is_own
            return instead if is_own else None

        self._replaced = replaced
        if annotation is inspect.Parameter.empty:
            return ANY
        try:
            return self._object(annotation)
        except (UnknownAnnotationError, SyntaxError, ValueError, RecursionError):
            return ANY

    def variable(self, annotation: object) -> TypeVar | None:
        """Return the annotation if it is a type variable, else None."""
        found = self._globals.get(annotation) if isinstance(annotation, str) else annotation
        return found if isinstance(found, TypeVar) else None

    def _is_own(self, identifier: str) -> bool:
        found = loaded_object(*split_identifier(identifier))
        return isinstance(found, type) and any(
            loaded_object(*split_identifier(each)) is found for each in self._own
        )

    def _object(self, annotation: object) -> str:
        if annotation is None or annotation is type(None):
            return "None"
        if isinstance(annotation, str):
            return self._node(ast.parse(annotation.strip(), mode="eval").body, True)
        if isinstance(annotation, TypeVar):
            return self._replaced(annotation) or self._names.variable(annotation)
        if type(annotation) is type or (
            isinstance(annotation, type) and not hasattr(annotation, "__args__")
        ):
            return self._target(annotation.__module__, annotation.__qualname__)
        return self._node(ast.parse(repr(annotation), mode="eval").body, False)

    def _node(self, node: ast.expr, is_text: bool) -> str:
        """Return an expression; `is_text` says whether it uses names of the function's module."""
        if isinstance(node, ast.Name | ast.Attribute):
            return self._dotted(ast.unparse(node), is_text)
        if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Name):
            return self._dotted(node.operand.id, True)  # the repr of a type variable: ~T
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return f"{self._node(node.left, is_text)} | {self._node(node.right, is_text)}"
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                return self._node(ast.parse(node.value, mode="eval").body, True)
            if node.value is None or node.value is ...:
                return "None" if node.value is None else "..."
        if isinstance(node, ast.Tuple | ast.List):
            inside = ", ".join(self._node(each, is_text) for each in node.elts)
            return f"[{inside}]" if isinstance(node, ast.List) else inside or "()"
        if isinstance(node, ast.Subscript):
            return self._subscript(node, is_text)
        raise UnknownAnnotationError

    def _subscript(self, node: ast.Subscript, is_text: bool) -> str:
        head = self._node(node.value, is_text)
        if head == self._replaced_head(node.value, is_text):
            return head  # the class that replaces it need not be generic
        if head.endswith(".Literal"):
            ast.literal_eval(node.slice)
            return f"{head}[{ast.unparse(node.slice).strip('()')}]"
        return f"{head}[{self._node(node.slice, is_text)}]"

    def _replaced_head(self, node: ast.expr, is_text: bool) -> str | None:
        found = self._resolved(ast.unparse(node), is_text)
        return self._replaced(":".join(found)) if isinstance(found, tuple) else None

    def _dotted(self, name: str, is_text: bool) -> str:
        found = self._resolved(name, is_text)
        if isinstance(found, tuple):
            return self._target(*found)
        if isinstance(found, str):
            raise UnknownAnnotationError
        return self._object(found)

    def _resolved(self, name: str, is_text: bool) -> Any:
        """Return module and qualname of a name, or the object of a name that is an alias."""
        root, _, rest = name.partition(".")
        if not is_text:  # the repr of an object has full names
            parts = name.split(".")
            for number in range(len(parts) - 1, 0, -1):
                if ".".join(parts[:number]) in sys.modules:
                    return ".".join(parts[:number]), ".".join(parts[number:])
            if hasattr(builtins, name):
                return "builtins", name
            raise UnknownAnnotationError
        imported = imported_names(str(self._globals.get("__name__"))).get(root)
        if imported is not None:
            qualname = ".".join(each for each in (imported[1], rest) if each)
            if qualname:
                return _settled(imported[0], qualname)
        if root in self._globals:
            value = self._globals[root]
            if isinstance(value, ModuleType) and rest:
                return value.__name__, rest
            if isinstance(value, type) and not hasattr(value, "__args__"):
                return value.__module__, ".".join(filter(None, (value.__qualname__, rest)))
            if rest or isinstance(value, str):
                raise UnknownAnnotationError
            return value
        if hasattr(builtins, root) and not rest:
            return "builtins", root
        raise UnknownAnnotationError

    def _target(self, module: str, qualname: str) -> str:
        replaced = self._replaced(f"{module}:{qualname}")
        found = self._names.of(module, qualname)
        if found is None:
            raise UnknownAnnotationError
        return replaced or found


def _settled(module: str, qualname: str) -> tuple[str, str]:
    """Move the first part of a qualname to the module if it names a submodule."""
    first, _, rest = qualname.partition(".")
    is_submodule = rest and f"{module}.{first}" in sys.modules
    return (f"{module}.{first}", rest) if is_submodule else (module, qualname)


@lru_cache(maxsize=64)
def imported_names(module: str) -> dict[str, tuple[str, str]]:
    """Return the imports in the source of a module, also those for type checkers only.

    Returns
    -------
    dict
        By name in the module: the imported module, and the name in it, or an empty one.
    """
    try:
        loaded = sys.modules[module]
        tree = ast.parse(inspect.getsource(loaded))
    except (KeyError, OSError, TypeError, SyntaxError, ValueError):
        return {}
    package = str(getattr(loaded, "__package__", None) or "")
    found: dict[str, tuple[str, str]] = {}
    for each in ast.walk(tree):
        if isinstance(each, ast.Import):
            for alias in each.names:
                target = alias.name if alias.asname else alias.name.partition(".")[0]
                found[alias.asname or target] = (target, "")
        elif isinstance(each, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - each.level + 1]
            home = ".".join(filter(None, [*(parents if each.level else ()), each.module or ""]))
            for alias in each.names:
                found[alias.asname or alias.name] = (home, alias.name)
    return found
