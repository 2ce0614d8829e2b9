"""Identifiers (``"module:qualname"``), backend names, and the state of imports.

Only `import_identifier` imports the module that an identifier names.
"""

from __future__ import annotations

import builtins
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final, TypeGuard


GENERATED: Final = "<dispatch of "
"""The prefix of generated code's file names; the globals of such code may be the library's."""

DEFAULT: Final = "default"
"""The name of the library itself in the priority order."""


def shown(backend: str, default_name: str) -> str:
    """Return the name of a backend that users see; the library may have a name of its own."""
    return default_name if backend == DEFAULT else backend


def split_identifier(text: object) -> tuple[str, str]:
    """Split ``"module:qualname"`` into its two parts.

    Parameters
    ----------
    text : str
        The identifier.

    Returns
    -------
    module, qualname : str
        Both dotted names.

    Raises
    ------
    IdentifierError
        If `text` is not an identifier.

    Examples
    --------
    >>> split_identifier("dask.array:Array.sum")
    ('dask.array', 'Array.sum')
    """
    if is_identifier(text):
        module, _, qualname = text.partition(":")
        return module, qualname
    from ._reporting.errors import IdentifierError  # imported only to raise

    like = identifier_like(text)
    example = f", such as {like!r}" if like else ""
    raise IdentifierError(text, f"an identifier of the form 'module:qualname'{example}")


def identifier_like(text: object) -> str:
    """Guess the identifier or type pattern that a text without a colon means; "" if none.

    The qualname starts at the first capitalized part, or else is the last part. Nothing is
    imported.

    >>> identifier_like("~scipy.sparse.csr_array"), identifier_like("lib.Class.method")
    ('~scipy.sparse:csr_array', 'lib:Class.method')
    >>> identifier_like("float"), identifier_like("something")
    ('builtins:float', '')
    """
    if not isinstance(text, str):
        return ""
    prefix = text[:1] if text[:1] in ("~", "@") else ""
    parts = text[len(prefix) :].split(".")
    if len(parts) == 1 and parts[0] in dir(builtins):
        parts = ["builtins", *parts]
    if len(parts) < 2 or not all(part.isidentifier() for part in parts):
        return ""
    names = [n for n, part in enumerate(parts) if n and part[:1].isupper()]
    first = names[0] if names else len(parts) - 1
    return f"{prefix}{'.'.join(parts[:first])}:{'.'.join(parts[first:])}"


def is_dotted_name(text: str) -> bool:
    """Whether `text` consists of Python names joined by dots, as a qualname does."""
    if text.isidentifier():
        return True
    for part in text.split("."):  # noqa: SIM110  # a generator takes three times as long
        if not part.isidentifier() and part != "<locals>":
            return False
    return True


def is_identifier(text: object) -> TypeGuard[str]:
    """Whether `text` has the form ``"module:qualname"``."""
    if not isinstance(text, str):
        return False
    module, separator, qualname = text.partition(":")
    return separator != "" and is_dotted_name(module) and is_dotted_name(qualname)


def is_type_pattern(text: object) -> bool:
    """Whether `text` is a type pattern; if not, `TypePattern` raises an error that says why."""
    return isinstance(text, str) and is_identifier(text[1:] if text[:1] in ("~", "@") else text)


def is_backend_name(text: object) -> bool:
    r"""Whether `text` follows the grammar of backend names, ``[\w.-]+``."""
    return (
        isinstance(text, str)
        and text != ""
        and all(character.isalnum() or character in "_.-" for character in text)
    )


def import_identifier(identifier: str) -> object:
    """Import the module of an identifier and look up its qualname.

    Parameters
    ----------
    identifier : str
        ``"module:qualname"``.

    Returns
    -------
    object
        The object that the identifier names.

    Raises
    ------
    ImportError
        If the module has no such attribute.
    Exception
        Any exception that importing the module raises.
    """
    module, qualname = split_identifier(identifier)
    # Deferred, because importing a library does not get here.
    from importlib import import_module

    found: object = import_module(module)
    for part in qualname.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            hint = nearest(part, dir(found))
            meant = f"; did you mean {' or '.join(map(repr, hint))}?" if hint else ""
            raise ImportError(f"{identifier!r} does not exist: {error}{meant}") from error
    return found


def is_initializing(module: object) -> bool:
    """Whether a module is in the middle of being imported."""
    try:
        return getattr(getattr(module, "__spec__", None), "_initializing", False) is True
    except Exception:  # noqa: BLE001  # whatever it raises
        # A stand-in for a missing module may raise from attribute access.
        return False


def is_awaited(name: str) -> bool:
    """Whether a module is not imported, or not completely."""
    module = sys.modules.get(name)
    return module is None or is_initializing(module)


def loaded_object(module: str, qualname: str, hooks: bool = True) -> object:
    """Return the object that an identifier names if its module is imported, else None.

    Nothing is imported, except by a module's own ``__getattr__``.

    Parameters
    ----------
    module, qualname : str
        The two parts of the identifier.
    hooks : bool, optional
        Whether the module's own ``__getattr__`` may be called.
    """
    found: object = sys.modules.get(module)
    if found is None:
        return None
    try:
        if not hooks and qualname.partition(".")[0] not in vars(found):
            return None
        for part in qualname.split("."):
            found = getattr(found, part)
    except Exception:  # noqa: BLE001  # whatever it raises
        # A failing `__getattr__` of a module or class counts as a missing attribute.
        return None
    return found


def nearest(name: object, names: Iterable[str], similarity: float = 0.6) -> list[str]:
    """Return up to three of the `names`, those most similar to `name` apart from case.

    Parameters
    ----------
    name : object
        The name given; it need not be a string.
    names : iterable of str
        The names that it may be a misspelling of.
    similarity : float, optional
        The least similarity, from 0 (nothing in common) to 1 (equal), as `difflib` measures it.
    """
    from difflib import get_close_matches

    spellings: dict[str, list[str]] = {}
    for each in names:
        spellings.setdefault(each.casefold(), []).append(each)
    found = get_close_matches(str(name).casefold(), [*spellings], n=3, cutoff=similarity)
    # Of names that differ only in case, the one closest to the case of `name` goes first.
    ordered = [get_close_matches(str(name), spellings[each], n=3, cutoff=0) for each in found]
    return [spelling for group in ordered for spelling in group][:3]
