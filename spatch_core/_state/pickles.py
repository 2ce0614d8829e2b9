"""The content of pickles: a format that later versions extend and never change.

A pickle of these kinds names no module of this package but `spatch_core.backend_system`. A system
is found by `find_system(module, environ_prefix, group)`; all else is made by its method
``restore``, which takes the kind of object and a dictionary:

==============  ================================================================
kind            content
==============  ================================================================
"options"       ``options``
"function"      ``options``, and either ``function``, the callable itself, or
                ``decorated``, the identifier of the decorated function;
                ``is_coroutine``
"invocation"    ``function``, a dispatchable; ``options`` of `invoke`
==============  ================================================================

``options`` is a dictionary of the options that differ from their default values, under the
names that users write. A name that this version does not know is an error, because ignoring an
option could run another backend than the pickled options ask for.
"""

from __future__ import annotations

from .state import CURRENT, OPTIONS, STAYING, DispatchState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from .options_owner import Owner


_NAMES = ("prioritize", "disable", *OPTIONS)
_PICKLED = tuple(name for name in _NAMES if name not in STAYING)


def options_of(state: DispatchState) -> dict[str, Any]:
    """Return the options that make a state, except trace and hooks, which are not pickled."""
    prioritized = state.prioritized
    if state.places[-1:] == (CURRENT,):  # the default place of the current backend
        prioritized = state.places[:-1]
    names = {"prioritize": prioritized, "disable": tuple(sorted(state.disabled))}
    return {option: value for option, value in names.items() if value} | state.others


def state_of(options: Mapping[str, Any]) -> DispatchState:
    """Return the state that `options_of` has turned into options.

    The names are not checked: a frozen function may be loaded by a process that does not
    have its backends. A call then raises an error.
    """
    check_names(options, _PICKLED)
    others = {**options}
    prioritized, disabled = others.pop("prioritize", ()), others.pop("disable", ())
    return DispatchState(tuple(prioritized), frozenset(disabled), **others)


def reduce_options(owner: Owner, state: DispatchState) -> Any:
    """Return the result of ``__reduce__`` for options that describe `state`.

    Raises
    ------
    TypeError
        If they have a hook, which belongs to its process.
    """
    if state.hook is not None:
        from .hooks import hook_name

        raise TypeError(
            "backend options with a hook cannot be pickled or copied, because a hook belongs to "
            f"its process; give {hook_name(state.hook[0])} where the options are used"
        )
    options = options_of(state)
    if state.trace is not None:
        options["trace"] = True  # each process has a trace of its own
    return owner.restore, ("options", {"options": options})


def restore_options(owner: Owner, content: Mapping[str, Any]) -> Any:
    """Rebuild pickled options."""
    check_names(content, ("options",))
    options = content["options"]
    check_names(options, _NAMES)
    return owner.backend_opts(**options)


def check_names(given: Mapping[str, Any], known: Iterable[str]) -> None:
    """Raise if a pickle has names that this version does not know.

    Raises
    ------
    ValueError
        With all unknown names.
    """
    unknown = sorted(given.keys() - {*known})
    if unknown:
        raise ValueError(
            "this was pickled by a later version of spatch-core, with names that this version "
            f"does not know: {', '.join(map(repr, unknown))}"
        )
