"""Runs the ``should_run`` of a backend, and makes its context."""

from __future__ import annotations

from typing import Any

from .._parameters import given
from .._resolution.candidate import Candidate
from ..backend_utils import IF_NEEDED, IfNeeded
from .context import CallContext, DispatchContext, SharedPart
from .context_call_next import Rest


def make_context(
    candidate: Candidate,
    types: tuple[type, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    previous: DispatchContext | None = None,
    found: tuple[Any, ...] | None = None,
    rest: Rest | None = None,
) -> DispatchContext:
    """Return the context of a call for a candidate.

    `previous` is the context of the candidate before it. `found` are the dispatch arguments,
    including None and `missing`, if they are known; `rest` is called by ``call_next``.
    """
    context: DispatchContext = CallContext()
    context._known = make_shared_part(candidate, types, found is not None, rest)
    context._args = args if found is None else found
    context._kwargs = kwargs
    if previous is not None:
        # So that a finder of the library runs once for all candidates.
        found = getattr(previous, "_dispatch_args", None)
        if found is not None:
            context._dispatch_args = found
    return context


def make_shared_part(
    candidate: Candidate, types: tuple[type, ...], is_found: bool, rest: Rest | None
) -> SharedPart:
    """Return the part that the contexts of all calls with the same types share."""
    function = candidate.function
    extract = given if is_found else function.extract
    return SharedPart(
        types, candidate.backend, candidate.prioritized, function.identifier, extract, rest
    )


def ask(
    candidate: Candidate,
    context: DispatchContext,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> str | IfNeeded | None:
    """Ask ``should_run``.

    Returns
    -------
    str, IfNeeded or None
        None if the implementation should run, `IF_NEEDED` if only when no other one does, else the
        reason for deferring.

    Raises
    ------
    ImplementationImportError
        If ``should_run`` cannot be imported.
    """
    should_run = candidate.load_should_run()
    if should_run is None:
        return None
    answer = should_run(context, *args, **kwargs)
    # Only True itself: the truth of an array would be ambiguous, or take a computation.
    if answer is True:
        return None
    return IF_NEEDED if answer is IF_NEEDED else reason_of_answer(answer)


def reason_of_answer(answer: Any) -> str:
    """Return the reason for an answer of ``should_run``; a string is the reason itself."""
    if isinstance(answer, str):
        return answer
    hint = ", and only True itself runs it: use bool(...)" if _is_true(answer) else ""
    return f"should_run returned {answer!r}{hint}"


def _is_true(answer: object) -> bool:
    try:
        return bool(answer)
    except Exception:  # noqa: BLE001  # an array of several elements, for example
        return False
