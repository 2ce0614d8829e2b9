"""Stubs: declare attributes that follow the current backend, for type checkers."""

from __future__ import annotations

from collections.abc import Mapping
from keyword import iskeyword
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..backend_system import BackendSystem

__all__ = ["stub"]

_HEAD = "# Attributes of {} that follow the current backend; written by spatch_core.switching.stub."
_ANY = "_Any"
# Private names, because an attribute may be called `float` or `Any`.
IMPORTS = ("import builtins as _builtins", "from typing import Any as _Any")
_PLAIN = (bool, int, float, complex, str, bytes)


def stub(system: BackendSystem, module: str, own: Mapping[str, object] | None = None) -> str:
    """Return the text of a stub file with the attributes that follow the current backend.

    The values of backends are not imported. An attribute has the type of the library's own value
    if that is a plain number, string or bytes; a class is a `type`, and anything else is `Any`.

    Parameters
    ----------
    system : BackendSystem
        The library's system.
    module : str
        The module's name.
    own : mapping of str to object, optional
        The library's own values, as for `attributes`.

    Returns
    -------
    str
        For a file such as ``mylib/_attributes.pyi``, from which the module imports everything,
        ``if TYPE_CHECKING: from ._attributes import *``.

    Examples
    --------
    >>> from spatch_core import BackendSystem
    >>> class Jax:
    ...     name = "jax"
    ...     primary_types = ["jax:Array"]
    ...     attributes = {"mylib:newaxis": "jax.numpy:newaxis"}
    >>> system = BackendSystem(None, "MYLIB", backends=[Jax])
    >>> print(stub(system, "mylib", {"pi": 3.14, "number": float}))
    # Attributes of mylib that follow the current backend; written by spatch_core.switching.stub.
    import builtins as _builtins
    from typing import Any as _Any
    <BLANKLINE>
    newaxis: _Any
    number: _builtins.type[_Any]
    pi: _builtins.float
    <BLANKLINE>
    """
    lines = [_HEAD.format(module), *IMPORTS, "", *declared_attributes(system, module, own).values()]
    return "\n".join(lines) + "\n"


def declared_attributes(
    system: BackendSystem, module: str, own: Mapping[str, object] | None = None
) -> dict[str, str]:
    """Return the lines that declare attributes in a stub, by name, sorted."""
    found = {name: _annotation(value) for name, value in (own or {}).items()}
    for description in system.backends.values():
        # The description may come from an earlier, vendored copy of this package.
        for attribute in getattr(description, "attributes", ()):
            home, _, name = attribute.partition(":")
            if home == module:
                found.setdefault(name, _ANY)
    return {name: f"{name}: {found[name]}" for name in sorted(found) if is_public(name)}


def _annotation(value: object) -> str:
    if isinstance(value, type):
        return f"_builtins.type[{_ANY}]"
    cls = type(value)
    return f"_builtins.{cls.__name__}" if cls in _PLAIN else _ANY


def is_public(name: str) -> bool:
    """Whether ``import *`` takes a name from a stub."""
    return name.isidentifier() and not iskeyword(name) and not name.startswith("_")
