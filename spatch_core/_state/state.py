"""The dispatch state: one frozen value for all options.

A block of options is described by a state too: by the one that is in force inside the block
if nothing is in force around it.

A new option is a row of `OPTIONS` and a field of `DispatchState` here, a parameter of
`BackendOptions`, and a property of `Block` that tells what is in force. The row says all that
other modules need: how the option is checked, nested, compared and pickled.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, NoReturn

    from .._discovery.catalog import Catalog
    from .trace import Trace

    Class = type  # where a parameter or a property is called `type`


class Option:
    """An option other than ``prioritize`` and ``disable``, whose rules depend on each other.

    Its field has the same name, and is None unless the option is given.

    Parameters
    ----------
    name : str
        As users write it.
    check : callable
        Takes the library, an `Owner`, and the value that a user has written; returns the value
        of the field, or raises.
    is_plain : bool, optional
        Whether its values are names. These are compared by value, others by identity, because
        a class may have a metaclass that defines ``==``; and only names are kept by caches.
    is_observed : bool, optional
        Whether it must see every call, also those with nothing to decide.
    unobserved : object, optional
        A value for which that does not hold.
    travels : bool, optional
        Whether its value is pickled. Otherwise frozen functions are sent without it, and
        pickled options say that it is given.
    """

    __slots__ = ("check", "is_observed", "is_plain", "name", "travels", "unobserved")

    def __init__(
        self,
        name: str,
        check: Callable[[Any, Any], Any],
        *,
        is_plain: bool = False,
        is_observed: bool = False,
        unobserved: object = None,
        travels: bool = True,
    ) -> None:
        self.name = name
        self.check = check
        self.is_plain = is_plain
        self.is_observed = is_observed
        self.unobserved = unobserved
        self.travels = travels

    def inside(self, own: Any, outer: Any) -> Any:
        """Return the value inside a block that says `own`, with `outer` in force around it."""
        return outer if own is None else own

    def key(self, value: Any) -> object:
        """Return what is equal for values that mean the same, while one of them is alive."""
        return value if self.is_plain else id(value)


def _checked_type(owner: Any, cls: Class) -> Class:
    owner.check_type(cls)
    return cls


def _new_trace(_: Any, given: bool) -> Trace | None:
    if not given:
        return None
    from .trace import Trace  # imports more than a library needs

    return Trace()


def _checked_fallback(_: Any, given: object) -> str:
    from .._manner import checked_policy

    return checked_policy(given)


OPTIONS = (
    Option("type", _checked_type),
    Option("trace", _new_trace, is_observed=True, travels=False),
    # A function that no backend implements must not just run its default implementation.
    Option("fallback", _checked_fallback, is_plain=True, is_observed=True, unobserved="default"),
)
"""All options but ``prioritize`` and ``disable``."""


class DispatchState:
    """Options that are in force somewhere; frozen.

    Two states with the same options are different keys of a dictionary, because hashing
    by identity is fast, and because the metaclass of a `type` may define ``==`` and
    ``hash``. `key` compares states by value.

    Parameters
    ----------
    prioritized : tuple of str
        Backends that go first, the most recently prioritized one before the others.
    disabled : frozenset of str
        Backends that are not active.
    type : type or None
        Counts as if an object of it had been passed to every call.
    trace : Trace or None
        The list to which events are added.
    fallback : str or None
        The fallback policy; None for that of the function, or of the library.
    """

    __slots__ = ("disabled", "prioritized", *(option.name for option in OPTIONS))

    prioritized: tuple[str, ...]
    disabled: frozenset[str]
    type: Class | None
    trace: Trace | None
    fallback: str | None

    def __init__(
        self,
        prioritized: tuple[str, ...] = (),
        disabled: frozenset[str] = frozenset(),
        **others: Any,
    ) -> None:
        initialize = object.__setattr__
        initialize(self, "prioritized", prioritized)
        initialize(self, "disabled", disabled)
        for option in OPTIONS:
            initialize(self, option.name, others.pop(option.name, None))
        if others:
            raise TypeError(f"a DispatchState has no field {', '.join(map(repr, others))}")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a DispatchState is frozen; {name!r} cannot be set")

    def within(self, outer: DispatchState) -> DispatchState:
        """Return the state inside a block of these options, with `outer` in force around it."""
        names = dict.fromkeys((*self.prioritized, *outer.prioritized))
        return DispatchState(
            tuple([name for name in names if name not in self.disabled]),
            (outer.disabled - {*self.prioritized}) | self.disabled,
            **{
                option.name: option.inside(getattr(self, option.name), getattr(outer, option.name))
                for option in OPTIONS
            },
        )

    def replace(self, **fields: Any) -> DispatchState:
        """Return the state with other values in some of its fields."""
        return DispatchState(**{name: getattr(self, name) for name in self.__slots__} | fields)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for states with the same options, while one of them is alive.

        No code of a metaclass runs.
        """
        others = [option.key(getattr(self, option.name)) for option in OPTIONS]
        return self.prioritized, self.disabled, *others

    @property
    def others(self) -> dict[str, Any]:
        """What travels of the options besides ``prioritize`` and ``disable``, if it is given."""
        found = {option.name: getattr(self, option.name) for option in OPTIONS if option.travels}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def is_observed(self) -> bool:
        """Whether every call must be seen, also those with nothing to decide."""
        for option in OPTIONS:
            value = getattr(self, option.name) if option.is_observed else None
            if value is not None and value != option.unobserved:
                return True
        return False

    @property
    def is_plain(self) -> bool:
        """Whether it refers to names alone, so that caches may keep it."""
        for option in OPTIONS:
            if not option.is_plain and getattr(self, option.name) is not None:
                return False
        return True

    def is_active(self, name: str, requires_opt_in: bool) -> bool:
        """Whether the backend `name` takes part in calls."""
        return name not in self.disabled and (not requires_opt_in or name in self.prioritized)

    def active(self, catalog: Catalog) -> tuple[str, ...]:
        """Return the names of the active backends by priority."""
        descriptions = catalog.descriptions
        return tuple(
            name
            for name in self.ordered(tuple(descriptions))
            if self.is_active(name, descriptions[name].requires_opt_in)
        )

    def ordered(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return `names`, which are in the library's order, with the prioritized ones first."""
        if not self.prioritized:
            return tuple(names)
        names = dict.fromkeys(names)
        first = dict.fromkeys([name for name in self.prioritized if name in names])
        return tuple(first | names)

    def __repr__(self) -> str:
        names = {"prioritized": self.prioritized, "disabled": tuple(sorted(self.disabled))}
        options = {name: value for name, value in names.items() if value} | self.others
        given = ", ".join(f"{name}={value!r}" for name, value in options.items())
        return f"<DispatchState {given or 'without options'}>"
