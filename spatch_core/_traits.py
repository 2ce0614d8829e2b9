"""Traits: the options of `dispatchable` besides the dispatch arguments."""

from __future__ import annotations

from ._options import checked_policy
from ._patterns import DEFAULT
from ._wrapper import ASYNC_GENERATOR, GENERATOR, missing, nature_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ._call import Run
    from ._function import Function


def set_traits(function: Function, dispatch_args: Any, traits: Mapping[str, Any]) -> Any:
    """Set the given traits of a function; return its dispatch arguments, or what finds them."""
    fallback, like, inside = traits.get("fallback"), traits.get("like"), traits.get("inside", ())
    function.compositional = "compositional" in traits
    if function.compositional and fallback is not None:
        raise TypeError(
            f"a compositional function takes no fallback={fallback!r}: the functions that it is "
            "written in terms of have policies of their own; give one of the two"
        )
    if like is not None and not isinstance(like, str):
        raise TypeError(f"like= takes the name of an argument, not {like!r}")
    function.fallback = None if fallback is None else checked_policy(fallback)
    function.like = like
    function.mutated = function.find_parameters(traits.get("mutates", ()))
    if "decides" in traits or "follows" in traits:
        function.memory = Memory(function, traits.get("decides", False), traits.get("follows"))
    names = (inside,) if isinstance(inside, str) else tuple(inside)
    return Finder(function, dispatch_args, names, like) if like or names else dispatch_args


# --- like= and inside= --------------------------------------------------------------------------


class Elements(tuple):  # type: ignore[type-arg]  # noqa: SLOT001  # tuples have no slots
    """Dispatch arguments, one of each type for a short key in the table; `every` has all."""

    every: list[Any]


class Finder:
    """Finds the dispatch arguments of a function that dispatches on elements or on ``like``."""

    __slots__ = ("_inside", "_like", "_parameters")

    def __init__(
        self, function: Function, dispatch_args: Any, inside: tuple[str, ...], like: str | None
    ) -> None:
        identifier = function.identifier
        if callable(dispatch_args):
            raise TypeError(
                f"{identifier}: like= and inside= name arguments, so the dispatch arguments must "
                "be names too, not a callable that finds them"
            )
        names = inside if dispatch_args is None else dispatch_args
        self._parameters = function.find_parameters(names)
        self._inside = frozenset(inside)
        self._like = like
        known = [each.label for each in self._parameters]
        for name in inside:
            if name not in known:
                raise TypeError(
                    f"{identifier}: inside= names {name!r}, which is not a dispatch argument; the "
                    f"dispatch arguments are {', '.join(map(str, known)) or 'none'}"
                )
        if like is not None and function.find_parameters(like)[0].position is not None:
            raise TypeError(
                f"{identifier}: like={like!r} is left out of the call, so it must be passed by "
                "keyword only: write it after * in the signature"
            )

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Return the dispatch arguments of a call."""
        values: list[Any] = []
        if self._like is not None and kwargs.get(self._like) is not None:
            values.append(kwargs[self._like])
        for each in self._parameters:
            value = each.value(args, kwargs)
            if value is not missing:
                values += elements(value) if each.label in self._inside else [value]
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
    if cls is slice:
        value = (value.start, value.stop, value.step)
    elif cls is not list and cls is not tuple:
        return [value]
    return [leaf for item in value for leaf in elements(item)]


# --- decides= and follows= ----------------------------------------------------------------------


class Memory:
    """Keeps the backend that ran a method in an attribute of the instance, so that copies have it.

    `method` is the method that decides, such as ``"fit"``.
    """

    __slots__ = ("attribute", "decides", "follows", "method")

    def __init__(self, function: Function, decides: Any, follows: Any) -> None:
        identifier, default = function.identifier, function.default
        for option, name, is_name in (
            ("decides", decides, not isinstance(decides, bool)),
            ("follows", follows, follows is not None),
        ):
            if is_name and not (isinstance(name, str) and name.isidentifier()):
                raise ValueError(f"{option}= takes the name of a method, not {name!r}")
        if nature_of(default) & (GENERATOR | ASYNC_GENERATOR):
            raise TypeError(
                f"{identifier} is a generator function, which neither decides nor follows"
            )
        method = decides if isinstance(decides, str) else getattr(default, "__name__", "")
        if decides and follows is not None and follows != method:
            raise ValueError(
                f"{identifier} follows {follows!r} and decides for {method!r}: "
                f"give decides={follows!r}"
            )
        if "." not in identifier.partition(":")[2]:
            raise TypeError(
                f"{identifier} has no class in its name, so it is no method, and neither decides "
                "nor follows; give a method the identity 'module:Class.method'"
            )
        self.method = method if decides else str(follows)
        self.attribute = f"_{self.method}_backend"
        self.decides = bool(decides)
        self.follows = follows is not None

    def call(self, run: Run) -> Any:
        """Call the candidates of a call, or the backend that the instance remembers."""
        from ._classes import remember  # few functions have a memory

        return remember(run, self)

    def instance(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Return the instance of a call; None if it is missing, so that the call will fail."""
        return args[0] if args else kwargs.get("self")

    def recall(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str | None:
        """Return the remembered backend, as given to `keep`; None if the method has not run."""
        name = getattr(self.instance(args, kwargs), self.attribute, None)
        return name if type(name) is str and name else None

    def keep(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], backend: str) -> None:
        """Remember the backend that has run the method; meanwhile none is remembered.

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
