"""The dispatch state: one frozen value for all options.

The options of a block are a state, too: the one that is in force inside the block if no other
options are in force around it.

A new option is an item of `OPTIONS` and a field of `DispatchState` here, a row of
`option_checks.CHECKS`, a parameter of `BackendOptions`, and a property of `OptionsView`. For speed,
the methods of `DispatchState` name its fields one by one; other modules iterate over `OPTIONS`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NoReturn

    from .._discovery import Catalog
    from .hooks import Hook
    from .trace import Trace

    Class = type  # where a parameter or a property is called `type`


OPTIONS = ("type", "trace", "fallback", "backend", "hook")
"""The options except ``prioritize`` and ``disable``, whose rules depend on each other.

The field of each has the same name, and is None unless the option is given.
"""

STAYING = ("trace", "hook")
"""Options that belong to their process, and are not pickled with a frozen function."""

CURRENT = ""
"""Stands for the current backend among prioritized names; never the name of a backend."""

MAX_EARLIER = 32
"""How many formerly current backends a state remembers."""


class DispatchState:
    """Options that are in force somewhere; frozen.

    Two states with the same options are different keys of a dictionary, because hashing
    by identity is fast, and because the metaclass of a `type` may define ``==`` and
    ``hash``. `key` compares states by value.

    Parameters
    ----------
    prioritized : tuple of str
        Backends that go first, the most recently prioritized one before the others. `CURRENT`
        may be among them; otherwise the current backend comes after them.
    disabled : frozenset of str
        Backends that are not active.
    type : type or None
        Counts as if an object of it had been passed to every call.
    trace : Trace or None
        The list to which events are added.
    fallback : str or None
        The fallback policy; None for the policy of the function or library.
    backend : str or None
        The current backend.
    earlier : tuple of str
        The backends that were current before, the latest first.
    hook : tuple of callable or None
        The hooks that see every call, innermost first.

    Attributes
    ----------
    places : tuple of str
        The prioritized names, with `CURRENT` in the place of the current backend.
    prioritized : tuple of str
        The same, with the name of the current backend.
    """

    __slots__ = ("disabled", "earlier", "places", "prioritized", *OPTIONS)

    places: tuple[str, ...]
    prioritized: tuple[str, ...]
    disabled: frozenset[str]
    type: Class | None
    trace: Trace | None
    fallback: str | None
    backend: str | None
    earlier: tuple[str, ...]
    hook: tuple[Hook, ...] | None

    def __init__(
        self,
        prioritized: tuple[str, ...] = (),
        disabled: frozenset[str] = frozenset(),
        type: Class | None = None,
        trace: Trace | None = None,
        fallback: str | None = None,
        backend: str | None = None,
        earlier: tuple[str, ...] = (),
        hook: tuple[Hook, ...] | None = None,
    ) -> None:
        initialize = object.__setattr__
        places = prioritized
        if backend is not None:
            if CURRENT not in places:
                places = (*places, CURRENT)
            names = dict.fromkeys([each or backend for each in places])
            if backend in disabled:
                del names[backend]
            prioritized = tuple(names)
        initialize(self, "places", places)
        initialize(self, "prioritized", prioritized)
        initialize(self, "disabled", disabled)
        initialize(self, "type", type)
        initialize(self, "trace", trace)
        initialize(self, "fallback", fallback)
        initialize(self, "backend", backend)
        initialize(self, "earlier", earlier)
        initialize(self, "hook", hook)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a DispatchState is frozen; {name!r} cannot be set")

    def within(self, outer: DispatchState) -> DispatchState:
        """Return the state inside a block of these options, with `outer` in force around it."""
        # Names of inner blocks go first. This holds for `CURRENT`, too: the innermost block that
        # has a current backend determines its place.
        names = dict.fromkeys((*self.places, *outer.places))
        backend, earlier = outer.backend, outer.earlier
        if self.backend is not None and self.backend != backend:
            earlier = remembered(backend, earlier)
            backend = self.backend
        return DispatchState(
            tuple([name for name in names if name not in self.disabled]),
            (outer.disabled - {*self.prioritized}) | self.disabled,
            outer.type if self.type is None else self.type,
            outer.trace if self.trace is None else self.trace,
            outer.fallback if self.fallback is None else self.fallback,
            backend,
            earlier,
            outer.hook if self.hook is None else self._joined_hooks(outer),
        )

    def _joined_hooks(self, outer: DispatchState) -> tuple[Hook, ...]:
        own: tuple[Hook, ...] = self.hook or ()
        if outer.hook is None:
            return own
        from .hooks import joined  # most programs have none

        return joined(own, outer.hook)

    def replace(self, **fields: Any) -> DispatchState:
        """Return the state with other values in some of its fields."""
        kept = {name: getattr(self, name) for name in self.__slots__}
        kept["prioritized"] = kept.pop("places")
        return DispatchState(**kept | fields)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for states with the same options, as long as both are alive.

        Classes, traces and hooks are compared by identity, so that no foreign code runs.
        """
        options: tuple[object, ...]
        options = self.places, self.disabled, id(self.type), id(self.trace), self.fallback
        if self.backend is not None or self.hook is not None:
            options = (*options, self.backend, self.earlier, *map(id, self.hook or ()))
        return options

    @property
    def others(self) -> dict[str, Any]:
        """The given options, without ``prioritize``, ``disable`` and those of `STAYING`."""
        found = {name: getattr(self, name) for name in OPTIONS if name not in STAYING}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def is_plain(self) -> bool:
        """Whether it refers only to names, so that caches may keep it."""
        return self.type is None and self.trace is None and self.hook is None

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
            and not descriptions[name].unmet
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


def remembered(backend: str | None, earlier: tuple[str, ...]) -> tuple[str, ...]:
    """Return the formerly current backends after another one has replaced `backend`."""
    return earlier if backend is None else (backend, *earlier)[:MAX_EARLIER]


def initial_state(catalog: Catalog) -> DispatchState:
    """Return the state that the environment variables describe."""
    return DispatchState(catalog.prioritized, backend=catalog.current)
