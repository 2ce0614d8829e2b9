"""Checks the arguments of ``backend_opts``, and makes the state that they describe.

A library's options have these caches. `BackendOptions._forget` empties them when the backends have
changed, and when `MAX_OPTIONS` combinations are known:

============  =====================================================  =======================
cache         key                                                    value
============  =====================================================  =======================
_prioritized  ``prioritize``, a string or a tuple, with no others    the options' state
_values       a module's name, a backend's name or None, an         the value
              attribute; nested dictionaries
_plain        ``prioritize`` and ``disable``, strings or tuples,     the options' state
              with no others, or with ``backend``, a string,
              as the third; besides, the names and the set
              of names they mean; the keys of other states; for a
              `Switch`, the name of a backend alone
============  =====================================================  =======================
"""

from __future__ import annotations

from collections.abc import Iterable

from .._patterns import DEFAULT
from .state import DispatchState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, ClassVar, Protocol

    from .._discovery import Catalog
    from .hooks import Hook
    from .options_owner import Owner
    from .state import Class
    from .trace import Trace

    class Options(Protocol):
        """`BackendOptions`, as far as their caches are concerned."""

        _owner: ClassVar[Owner]
        _prioritized: ClassVar[dict[Any, DispatchState]]
        _plain: ClassVar[dict[Any, DispatchState]]

        @classmethod
        def _forget(cls) -> None: ...


MAX_OPTIONS = 256
"""How many combinations of plain options are cached before all are forgotten."""


def check_and_keep(
    options: Options | type[Options],
    prioritize: str | Iterable[str] | None,
    disable: str | Iterable[str] | None,
    others: Mapping[str, Any],
) -> DispatchState:
    """Return the state of a block of these options; cache it if the options are constants."""
    if len(options._plain) >= MAX_OPTIONS:
        options._forget()
    # Read before the backends. If the backends change meanwhile, the caches are exchanged, and this
    # outdated state lands in a discarded one.
    plain, prioritized = options._plain, options._prioritized
    own = check(options._owner, plain, prioritize, disable, others)
    if is_constant(prioritize) and is_constant(disable):
        # Not with other options, because the keys do not contain them.
        if plain.get((own.places, own.disabled)) is own:
            plain[prioritize, disable] = own
            if disable == ():
                prioritized[prioritize] = own
        elif own.others.keys() == {"backend"} and plain.get(own.key) is own:
            plain[prioritize, disable, others["backend"]] = own
    return own


def check(
    owner: Owner,
    known: dict[Any, DispatchState],
    prioritize: str | Iterable[str] | None,
    disable: str | Iterable[str] | None,
    others: Mapping[str, Any],
) -> DispatchState:
    """Return the state that a block of these options describes.

    Parameters
    ----------
    owner : Owner
        The library.
    known : dict
        The states of plain options that were checked before, by prioritized and disabled names.
        The same backends give the same object, however they are spelled, because the scopes of
        inner blocks are found by its identity.
    prioritize, disable
        As users write them; None means no names.
    others : mapping of str to object
        The other options, as users write them; None for those that are not given.

    Raises
    ------
    UnknownBackendError, UnknownTypeError
        For a name or a type that no backend has.
    ValueError
        If the library itself is to be disabled.
    TypeError
        If `type` is not a class, or names are not names.
    """
    catalog = owner.catalog()
    fields = {}
    for name, check_value in CHECKS.items():
        given = others.get(name)
        if given is not None:
            fields[name] = check_value(owner, given)
    names = _checked_names("prioritize", prioritize, catalog)
    disabled = frozenset(_checked_names("disable", disable, catalog))
    if DEFAULT in disabled:
        raise ValueError(
            "disable= cannot name 'default': the library itself cannot be disabled, nor blocked; "
            "prioritize= the backends that go before it"
        )
    if fields:
        state = DispatchState(names, disabled, **fields)
        # Other states are not cached, because they refer to more than names.
        return known.setdefault(state.key, state) if state.is_plain else state
    found = known.get((names, disabled))
    if found is None:
        # Atomic: two threads that come here at once get the same object.
        found = known.setdefault((names, disabled), DispatchState(names, disabled))
    return found


def is_constant(names: object) -> bool:
    """Whether `names` are immutable, so that they mean the same backends next time."""
    return names is None or type(names) is str or type(names) is tuple


def _checked_names(option: str, given: object, catalog: Catalog) -> tuple[str, ...]:
    names: Any = () if given is None else (given,) if isinstance(given, str) else given
    is_several = isinstance(names, Iterable) and not isinstance(names, bytes)
    names = tuple(names) if is_several else names
    if not is_several or not all(isinstance(name, str) for name in names):
        raise TypeError(
            f"{option}= takes the name of a backend, or several names in a list, not {given!r}"
        )
    is_disabled = option == "disable"
    return tuple(dict.fromkeys(catalog.check_backend(name, is_disabled) for name in names))


def checked_type(owner: Owner, given: Class | str) -> Class:
    """Return the class that ``type=`` means; an identifier is imported.

    Raises
    ------
    UnknownTypeError, TypeError
        If it is not a primary type of any backend, or not a class.
    IdentifierError, ImportError
        If a string is not an identifier, or cannot be imported.
    """
    found: Any = given
    if issubclass(type(given), str):  # `isinstance` would read `__class__`, which may run code
        from .._patterns import import_identifier  # few programs need it

        found = import_identifier(str(given))
    owner.check_type(found)
    return found  # type: ignore[no-any-return]  # `check_type` raises for anything but a class


def checked_backend(owner: Owner, given: object) -> str:
    """Return the name of the backend that becomes current.

    Raises
    ------
    UnknownBackendError
        If there is no such backend.
    TypeError
        If it is not a string.
    """
    if not issubclass(type(given), str):
        raise TypeError(f"the current backend is given by its name, not by {given!r}")
    name: str = owner.catalog().check_backend(given)
    return name


def _new_trace(_: Owner, given: object) -> Trace:
    from .trace import Trace  # imports more than a library needs

    return Trace()


def _checked_fallback(_: Owner, given: object) -> str:
    from .._traits import checked_policy  # most programs give none

    return checked_policy(given)


def _checked_hook(_: Owner, given: object) -> tuple[Hook]:
    from .hooks import checked_hook  # most programs give none

    return checked_hook(given)


CHECKS: Mapping[str, Callable[[Any, Any], Any]] = {
    "type": checked_type,
    "trace": _new_trace,
    "fallback": _checked_fallback,
    "backend": checked_backend,
    "hook": _checked_hook,
}
"""For each of `OPTIONS`, a function that takes the library and a user's value, and returns the
value of the state's field, or raises."""
