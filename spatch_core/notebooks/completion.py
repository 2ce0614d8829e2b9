"""Completes arguments in IPython that are names of backends or functions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .._identifiers import shown
from .._state.options_block import Block
from ..backend_system import BackendSystem
from ..switching.switch import Switch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_CALL = re.compile(
    r"""(?P<called>[A-Za-z_][\w.]*)\(  # a name, perhaps of an attribute
        [^()]*?  # other arguments, without calls
        (?:(?P<keyword>\w+)\s*=\s*\(?[^()=]*)?  # perhaps with other names in a list or tuple
        ["'](?P<text>[^"']*)$""",
    re.VERBOSE,
)
_OPTIONS = ("prioritize", "disable", "backend")
"""Options whose value is the name of a backend, or several names."""


def matcher(shell: Any) -> Callable[[Any], Any]:
    """Return the matcher that IPython calls to complete a text.

    Parameters
    ----------
    shell : IPython.core.interactiveshell.InteractiveShell
        The shell, whose namespace has the called functions.
    """
    from IPython.core.completer import SimpleCompletion, context_matcher

    def complete(context: Any) -> dict[str, Any]:
        found = _CALL.search(context.text_until_cursor)
        names: Iterable[str] = ()
        if found is not None:
            names = names_for(found["called"], found["keyword"], shell.user_ns)
        given = "" if found is None else found["text"]
        completions = [SimpleCompletion(each) for each in names if each.startswith(given)]
        # Suppress the other matchers: the argument is neither a file nor a variable.
        return {"completions": completions, "matched_fragment": given, "suppress": bool(names)}

    decorate: Any = context_matcher()  # typed for functions that have its attributes already
    made: Callable[[Any], Any] = decorate(complete)
    return made


def names_for(called: str, keyword: str | None, names: dict[str, Any]) -> Iterable[str]:
    """Return the possible names for an argument of a call; no function is called.

    `called` is the source of the callable, `keyword` the name of the argument or None, and `names`
    the namespace of the call.
    """
    first, *parts = called.split(".")
    found: Any = names.get(first)
    owner: Any = None
    for part in parts:
        owner, found = found, getattr(found, part, None)
    if isinstance(found, type) and issubclass(found, Block):
        return _shown(found._owner) if keyword in (None, *_OPTIONS) else ()
    if isinstance(getattr(found, "__self__", None), Switch):
        return _shown(found.__self__._owner) if keyword in (None, "name") else ()
    if isinstance(owner, BackendSystem) and keyword in (None, "identifier"):
        return owner.functions if parts[-1] == "explain_types" else ()
    dispatcher = getattr(getattr(found, "__self__", None), "dispatcher", None)
    if dispatcher is not None and parts[-1:] == ["invoke"] and keyword == "backend":
        return _shown(dispatcher)
    return ()


def _shown(owner: Any) -> list[str]:
    """Return the names of a library's backends; discovers them if necessary."""
    return [shown(each, owner.default_name) for each in owner.catalog().descriptions]
