"""Makes objects of a library again from the content of pickles; imported when one is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._freezing import check_names, restore_function, restore_options
from .invocation import restore_invocation

if TYPE_CHECKING:
    from collections.abc import Callable

    from .dispatcher import Dispatcher


def restore(dispatcher: Dispatcher, kind: str, content: dict[str, Any]) -> Any:
    """Make an object again; see `BackendSystem.restore` and `.._freezing`."""
    kinds: dict[str, Callable[..., Any]] = {
        "options": restore_options,
        "function": restore_function,
        "invocation": restore_invocation,
    }
    check_names({kind: content}, kinds)
    return kinds[kind](dispatcher, content)
