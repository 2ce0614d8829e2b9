"""Identifiers (``"module:qualname"``) and backend names.

Parsing needs no import of what is named; only `import_identifier` imports.
"""

from __future__ import annotations

import sys

from .exceptions import IdentifierError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

DEFAULT: Final = "default"
"""The name under which the library itself stands in the order."""


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
    if isinstance(text, str):
        module, separator, qualname = text.partition(":")
        if separator and is_dotted_name(module) and is_dotted_name(qualname):
            return module, qualname
    raise IdentifierError(text, "an identifier of the form 'module:qualname'")


def is_dotted_name(text: str) -> bool:
    """Whether `text` is Python names joined by dots, as in a qualname."""
    if text.isidentifier():
        return True
    for part in text.split("."):  # noqa: SIM110  # a generator takes three times as long
        if not part.isidentifier() and part != "<locals>":
            return False
    return True


def is_backend_name(text: object) -> bool:
    r"""Whether `text` follows the grammar of backend names, ``[\w.-]+``."""
    return (
        isinstance(text, str)
        and text != ""
        and all(character.isalnum() or character in "_.-" for character in text)
    )


def import_identifier(identifier: str) -> object:
    """Import the module of an identifier and look its qualname up.

    Parameters
    ----------
    identifier : str
        ``"module:qualname"``.

    Returns
    -------
    object
        What the identifier names.

    Raises
    ------
    ImportError
        If the module has no such attribute.
    Exception
        Whatever importing the module raises.
    """
    # Only reached on first use of something; the package is part of a running interpreter.
    from importlib import import_module

    module, qualname = split_identifier(identifier)
    found: object = import_module(module)
    for part in qualname.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            hint = nearest(part, dir(found))
            meant = f"; did you mean {' or '.join(map(repr, hint))}?" if hint else ""
            raise ImportError(f"{identifier!r} does not exist: {error}{meant}") from error
    return found


def is_importing() -> bool:
    """Whether this thread is in the middle of importing a module."""
    frame = sys._getframe()
    while frame.f_back is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def is_initializing(module: object) -> bool:
    """Whether a module is in the middle of being imported."""
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


def is_awaited(name: str) -> bool:
    """Whether a module has not been imported, or not to its end."""
    module = sys.modules.get(name)
    return module is None or is_initializing(module)


def loaded_object(module: str, qualname: str, hooks: bool = True) -> object:
    """Return the object that an identifier names if its module is imported, else None.

    Nothing is imported, but what a module's own ``__getattr__`` imports.

    Parameters
    ----------
    module, qualname : str
        The two parts of the identifier.
    hooks : bool, optional
        Whether the module's own ``__getattr__`` may be asked.
    """
    found: object = sys.modules.get(module)
    if found is None:
        return None
    try:
        if not hooks and qualname.partition(".")[0] not in vars(found):
            return None
        for part in qualname.split("."):
            found = getattr(found, part)
    except Exception:  # noqa: BLE001
        # A module's or class's own attribute hook failed: it does not have the attribute.
        return None
    return found


def nearest(name: object, names: Iterable[str], similarity: float = 0.6) -> list[str]:
    """Return the `names` that resemble `name` most, at most three.

    Parameters
    ----------
    name : object
        What was found.
    names : iterable of str
        What it may have been meant to be.
    similarity : float, optional
        From 0 (nothing in common) to 1 (the same), as `difflib` measures it.
    """
    from difflib import get_close_matches

    return get_close_matches(str(name), list(names), n=3, cutoff=similarity)
