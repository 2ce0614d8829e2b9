"""Loads the backends of a library when they are needed, and lets its functions follow them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import invalidate_caches
from os import environ
from typing import TYPE_CHECKING, Any

from ._decide import Decider, Decision
from ._discovery.catalog_builder import build_catalog
from ._discovery.entry_points import find_entry_points
from ._discovery.environment import read_environment
from ._discovery.loader import Loader
from ._entries import Calls
from ._patterns import DEFAULT, TypePattern
from ._state.process_default import set_environment
from ._state.state import initial_state
from ._wrapper import document

if TYPE_CHECKING:
    from ._description import Description
    from ._dispatcher import Dispatcher
    from ._parameters import Function

_ROUNDS = 10
"""How often discovery runs if modules that it imports register backends each time.

A module whose import fails is imported, and may register a backend, in each run."""


def make_loader(
    system: Any,
    dispatcher: Dispatcher,
    in_code: Sequence[Any],
    default_types: Sequence[str],
    secondary_types: Sequence[str] = (),
) -> Loader[Calls]:
    """Return the loader of a library's backends.

    `in_code` are descriptions that the library itself passes, `default_types` and
    `secondary_types` the type patterns of its own implementations.
    """
    patterns = [tuple(map(TypePattern, each)) for each in (default_types, secondary_types)]
    discover = partial(_discover, system, dispatcher, in_code, *patterns)
    return Loader(discover, partial(_publish, dispatcher))


def reload(dispatcher: Dispatcher) -> None:
    """Discover the backends of a library again; see `BackendSystem.reload`."""
    invalidate_caches()
    dispatcher.ensure_loader().load(again=True)


def refresh(dispatcher: Dispatcher) -> None:
    """Look up implementations and attributes again; see `BackendSystem.refresh`."""
    calls = dispatcher.loaded
    if calls is not None:
        calls.decider.objects.clear()
        dispatcher.keeper.forget_tables()
        dispatcher.backend_opts._forget()


def _discover(
    system: Any,
    dispatcher: Dispatcher,
    in_code: Sequence[Any],
    default_types: Sequence[TypePattern],
    secondary_types: Sequence[TypePattern],
) -> Calls:
    """Find the backends by the current entry points and environment variables."""
    group = system.group
    entry_points, problems = find_entry_points(group) if group else ([], [])
    rounds = 0
    while True:
        rounds += 1
        registered = system._registered
        catalog = build_catalog(
            entry_points,
            in_code,
            default_types,
            read_environment(system.environ_prefix, environ),
            problems,
            group,
            secondary_types,
            [*dispatcher.by_identifier],
            dispatcher.default_name,
            registered,
        )
        # Done unless a module that was imported has registered a backend.
        if system._registered is registered or rounds == _ROUNDS:
            break

    def override(decision: Decision, classes: tuple[type, ...]) -> Callable[..., Any]:
        from ._overriding import following, make_override  # few libraries have a protocol

        follow = partial(following, calls, decision)
        wrapper = _wrapper_of(dispatcher, decision.function)
        return make_override(wrapper, decision, classes, system.protocol, follow)

    decider = Decider(catalog, system._fallback, system._notices, system.protocol, override)
    calls = Calls(decider, dispatcher.keeper, system._defer_on)
    return calls


def _wrapper_of(dispatcher: Dispatcher, function: Function) -> Any:
    record = dispatcher.by_identifier.get(function.identifier)
    if record is None or record.function is not function:
        # Another function has taken its identity.
        record = next(each for each in dispatcher.records if each.function is function)
    return record.wrapper


def _publish(dispatcher: Dispatcher, calls: Calls) -> None:
    """Drop everything that depends on the earlier backends, and bring docstrings up to date.

    It is repeated as a whole if it was interrupted.

    The loader returns `calls` already. Until the tables are forgotten, another thread may still
    store a target of the earlier backends.
    """
    keeper = dispatcher.keeper
    set_environment(keeper, initial_state(calls.catalog))
    keeper.forget_tables()
    dispatcher.backend_opts._forget()
    for record in dispatcher.records:
        document(record, docs(calls, record.identifier))


def docs(calls: Calls, identifier: str) -> str:
    """Return the section "Backends" for the docstring of a function; may be empty."""
    decider = calls.decider
    texts = []
    for name in decider.implementers(identifier):
        if name == DEFAULT:
            continue
        description = decider.catalog.descriptions[name]
        implementation = description.implementation(identifier)
        text = implementation.additional_docs.strip() if implementation is not None else ""
        lines = [f"    {line}".rstrip() for line in text.splitlines()]
        texts.append(
            "\n".join([f"{name}\n    {summary_of(description)}", *[""] * bool(lines), *lines])
        )
    return "\n".join(["Backends", "--------", *texts]) if texts else ""


def summary_of(description: Description, quote: str = "", *, links: bool = True) -> str:
    """Return the types of a backend, whether it needs opt-in, and its web address, as text.

    `quote` is put around each type; `links` says whether the text includes the web address.
    """

    def listed(types: Iterable[TypePattern]) -> str:
        return ", ".join(f"{quote}{each}{quote}" for each in types)

    text = f"Types: {listed(description.primary_types)}"
    if description.secondary_types:
        text += f"; converts {listed(description.secondary_types)}"
    if description.requires_opt_in:
        text += f'. Needs opt-in: ``prioritize="{description.name}"``'
    # No full stop after an address: some programs would make it part of the link.
    return f"{text}. See {description.url}" if description.url and links else f"{text}."
