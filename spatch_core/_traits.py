"""Traits: the options of `dispatchable` besides the dispatch arguments.

They are the fallback policy, ``like=`` and ``inside=``, and what the instance of a method such as
``fit`` remembers. Imported only for functions with such options, and for libraries with a policy.
"""

from __future__ import annotations

from ._patterns import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any, Final

DEFAULT_POLICY: Final = "default"
POLICIES: Final = (DEFAULT_POLICY, "warn", "raise", "convert")
"""The fallback policies."""


class Traits:
    """The further options of one function.

    `mutated` (the places of the arguments that the function writes into) and `memory` (what the
    instance of a method remembers) are set once the function is known.
    """

    __slots__ = (
        *("compositional", "decides", "fallback", "follows", "inside", "like", "memory"),
        *("mutated", "mutates"),
    )

    def __init__(
        self,
        fallback: str | None = None,
        compositional: bool = False,
        mutates: str | Iterable[str] | Mapping[str, int | None] = (),
        like: str | None = None,
        inside: str | Iterable[str] = (),
        decides: bool | str = False,
        follows: str | None = None,
    ) -> None:
        if like is not None and not isinstance(like, str):
            raise TypeError(f"like= takes the name of an argument, not {like!r}")
        if not hasattr(inside, "__iter__"):
            raise TypeError(f"inside= takes the names of arguments, not {inside!r}")
        for option, name, nothing in (
            ("decides", decides, isinstance(decides, bool)),
            ("follows", follows, follows is None),
        ):
            if not nothing and not (isinstance(name, str) and name.isidentifier()):
                raise ValueError(f"{option}= takes the name of a method, not {name!r}")
        self.fallback = None if fallback is None else checked_policy(fallback)
        if compositional and fallback is not None:
            raise TypeError(
                f"a compositional function takes no fallback={fallback!r}: the functions that it "
                "is written in terms of have policies of their own; give one of the two"
            )
        self.compositional = compositional
        self.mutates = mutates
        self.like = like
        self.inside = (inside,) if isinstance(inside, str) else tuple(inside)
        self.decides = decides
        self.follows = follows
        self.mutated: tuple[Any, ...] = ()
        self.memory: Memory | None = None

    def copy(self) -> Traits:
        """Return the same traits for another function."""
        return Traits(
            *(self.fallback, self.compositional, self.mutates, self.like, self.inside),
            *(self.decides, self.follows),
        )


def checked_policy(fallback: object) -> str:
    """Return a fallback policy; raise if it is none."""
    if isinstance(fallback, str) and fallback in POLICIES:
        return fallback
    raise ValueError(f"fallback= takes one of {', '.join(map(repr, POLICIES))}, not {fallback!r}")


def checked_exceptions(classes: Iterable[Any]) -> tuple[type[Exception], ...]:
    """Return the exception classes that implementations raise to defer; raise if one is none."""
    found: tuple[Any, ...] = (classes,) if isinstance(classes, type) else tuple(classes)
    for each in found:
        if not (isinstance(each, type) and issubclass(each, Exception)):
            raise TypeError(f"defer_on= takes exception classes in a list, not {each!r}")
    return found


# --- like= and inside= --------------------------------------------------------------------------


class Elements(tuple):  # type: ignore[type-arg]  # noqa: SLOT001  # tuples have no slots
    """Dispatch arguments, one of each type; `every` has all.

    A list of a thousand arrays then has a short key in the table.
    """

    every: list[Any]


class Finder:
    """Finds the dispatch arguments of a function that dispatches on elements or on ``like``."""

    __slots__ = ("_inside", "_like", "_parameters")

    def __init__(self, parameters: Iterable[Any], inside: Iterable[str], like: str | None) -> None:
        self._parameters = tuple(parameters)
        self._inside = frozenset(inside)
        self._like = like

    @property
    def runs_no_code(self) -> bool:
        """Whether calls may go to the default implementation as they are."""
        return self._like is None

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Return the dispatch arguments of a call."""
        values: list[Any] = []
        like = self._like
        if like is not None and kwargs.get(like) is not None:
            values.append(kwargs[like])
        for each in self._parameters:
            if each.position is not None and each.position < len(args):
                value = args[each.position]
            elif each.name is not None and each.name in kwargs:
                value = kwargs[each.name]
            else:
                continue
            if each.label in self._inside:
                values += elements(value)
            else:
                values.append(value)
        if not self._inside:
            return values
        # By identity: a metaclass may define == and hash.
        found = Elements({id(type(each)): each for each in values}.values())
        found.every = values
        return found


def elements(value: Any) -> list[Any]:
    """Return the elements of nested lists, tuples and slices in order; any other value as one.

    >>> elements([1, (2, [3], ())]), elements("ab"), elements((slice(1, None), 2))
    ([1, 2, 3], ['ab'], [1, None, None, 2])
    """
    cls = type(value)
    if cls is not list and cls is not tuple and cls is not slice:
        return [value]
    # Without recursion, because lists may be nested more deeply than the stack allows.
    found: list[Any] = []
    seen = {id(value)}  # a list may contain itself
    pending = [_items(value)]
    while pending:
        for item in pending[-1]:
            cls = type(item)
            if cls is not list and cls is not tuple and cls is not slice:
                found.append(item)
            elif id(item) not in seen:
                seen.add(id(item))
                pending.append(_items(item))
                break
        else:
            pending.pop()
    return found


def _items(container: Any) -> Iterator[Any]:
    if type(container) is slice:
        return iter((container.start, container.stop, container.step))
    return iter(container)


# --- decides= and follows= ----------------------------------------------------------------------


class Memory:
    """Keeps the backend that ran a method in an attribute of the instance, so that copies have it.

    `method` is the method that decides, such as ``"fit"``; `parameter` takes the instance.
    """

    __slots__ = ("attribute", "decides", "follows", "method", "parameter")

    def __init__(self, default: Callable[..., Any], identifier: str, traits: Traits) -> None:
        from inspect import isasyncgenfunction, isgeneratorfunction, signature

        decides, follows = traits.decides, traits.follows
        if isgeneratorfunction(default) or isasyncgenfunction(default):
            raise TypeError(
                f"{identifier} is a generator function, which neither decides nor follows"
            )
        try:
            parameters = [*signature(default).parameters.values()]
        except (TypeError, ValueError):
            parameters = []
        if not parameters or parameters[0].kind not in (
            parameters[0].POSITIONAL_ONLY,
            parameters[0].POSITIONAL_OR_KEYWORD,
        ):
            raise TypeError(
                f"{identifier} has no parameter for an instance, which remembers the backend: "
                "decides= and follows= are for methods"
            )
        method = decides if isinstance(decides, str) else getattr(default, "__name__", "")
        if decides and follows is not None and follows != method:
            raise ValueError(
                f"{identifier} follows {follows!r} and decides for {method!r}: "
                f"give decides={follows!r}"
            )
        self.method = method if decides else str(follows)
        self.attribute = f"_{self.method}_backend"
        self.parameter = parameters[0].name
        self.decides = bool(decides)
        self.follows = follows is not None

    def instance(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Return the instance of a call; None if it is missing, so that the call will fail."""
        return args[0] if args else kwargs.get(self.parameter)

    def recall(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str | None:
        """Return the remembered backend, as given to `keep`; None if the method has not run."""
        name = getattr(self.instance(args, kwargs), self.attribute, None)
        return name if type(name) is str and name else None

    def undecided(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Undecided:
        """Forget the backend while a method that decides runs; restore it if no other is kept."""
        return Undecided(self, self.instance(args, kwargs), self.recall(args, kwargs))

    def keep(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], backend: str) -> None:
        """Remember the backend that has run the method, inside `undecided`.

        If the default implementation has called another method that decides, as `fit_transform`
        calls `fit`, the decision of that method stands. `backend` is a name; after that of the
        default follow the identifiers of the foreign types of the call, separated by spaces.
        """
        instance = self.instance(args, kwargs)
        is_default = backend.partition(" ")[0] == DEFAULT
        if is_default and getattr(instance, self.attribute, None) is not None:
            return
        try:
            setattr(instance, self.attribute, backend)
        except (AttributeError, TypeError) as error:
            raise TypeError(
                f"{type(instance).__qualname__} cannot remember that {backend!r} has run "
                f"{self.method}: let its instances have an attribute {self.attribute!r}, for "
                "example in __slots__"
            ) from error


class Undecided:
    """The block in which an instance has forgotten its backend, `before`; see `Memory`."""

    __slots__ = ("_attribute", "_before", "_instance")

    def __init__(self, memory: Memory, instance: Any, before: str | None) -> None:
        self._attribute = memory.attribute
        self._instance = instance
        self._before = before

    def __enter__(self) -> None:
        if self._before is not None:
            setattr(self._instance, self._attribute, None)

    def __exit__(self, *_: object) -> None:
        if self._before is not None and getattr(self._instance, self._attribute, None) is None:
            setattr(self._instance, self._attribute, self._before)
