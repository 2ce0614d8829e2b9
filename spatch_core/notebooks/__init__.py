"""Tables of results for notebooks and for rich, and completion of names in IPython."""

from __future__ import annotations

from typing import Any

__all__ = ["load_ipython_extension"]


def load_ipython_extension(shell: Any) -> None:
    """Let IPython complete arguments that are names of backends or functions.

    Parameters
    ----------
    shell : IPython.core.interactiveshell.InteractiveShell
        IPython, which calls this for ``%load_ext spatch_core.notebooks``.
    """
    from .completion import matcher

    complete = matcher(shell)
    matchers: list[Any] = shell.Completer.custom_matchers
    if all(getattr(each, "__module__", None) != complete.__module__ for each in matchers):
        matchers.append(complete)
