"""The traits of a function: the options of its decorator besides the dispatch arguments.

Imported only for functions with such options, and for libraries with a fallback policy.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Final

    from .method_memory import Memory

DEFAULT_POLICY: Final = "default"
POLICIES: Final = (DEFAULT_POLICY, "warn", "raise", "convert")
"""The fallback policies."""


class Traits:
    """The options of `BackendSystem.dispatchable` besides the dispatch arguments.

    Parameters
    ----------
    fallback : str or None
        The fallback policy; None for the library's policy.
    compositional : bool
        Whether the default implementation is written in terms of other dispatchables. No policy
        applies to it.
    mutates : str, iterable of str, or mapping of str to int
        The arguments into which the function writes.
    like : str or None
        The argument that is used only for its type, and is left out of the call.
    inside : str or iterable of str
        The dispatch arguments whose elements decide.
    decides : bool or str
        Whether the instance remembers the backend that runs the function; the name of another
        method if it decides in the place of that one.
    follows : str or None
        The method whose backend runs this one.

    Attributes
    ----------
    mutated : tuple of Parameter
        The places of `mutates` in the signature, once the function is known.
    memory : Memory or None
        What the instance remembers, once the function is known.
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
        self.like = like
        if not hasattr(inside, "__iter__"):
            raise TypeError(f"inside= takes the names of arguments, not {inside!r}")
        self.inside = (inside,) if isinstance(inside, str) else tuple(inside)
        self.mutates = mutates
        self.mutated: tuple[Any, ...] = ()
        for option, name in (("decides", decides), ("follows", follows)):
            nothing = isinstance(decides, bool) if option == "decides" else name is None
            if not nothing and not (isinstance(name, str) and name.isidentifier()):
                raise ValueError(f"{option}= takes the name of a method, not {name!r}")
        self.decides = decides
        self.follows = follows
        self.memory: Memory | None = None
        self.fallback = None if fallback is None else checked_policy(fallback)
        self.compositional = compositional
        if compositional and fallback is not None:
            raise TypeError(
                f"a compositional function takes no fallback={fallback!r}: the functions that it "
                "is written in terms of have policies of their own; give one of the two"
            )

    def copy(self) -> Traits:
        """Return the same traits for another function."""
        return Traits(**self.fields())

    def fields(self) -> dict[str, Any]:
        """Return the options that are set, by their names in `dispatchable`; also for pickles."""
        found = {
            "fallback": self.fallback,
            "compositional": self.compositional,
            "mutates": self.mutates,
            "like": self.like,
            "inside": self.inside,
            "decides": self.decides,
            "follows": self.follows,
        }
        return {name: value for name, value in found.items() if value}


def checked_exceptions(classes: Iterable[Any]) -> tuple[type[Exception], ...]:
    """Return the exception classes that implementations raise to defer.

    Raises
    ------
    TypeError
        If an element is not an exception class.
    """
    found: tuple[Any, ...] = (classes,) if isinstance(classes, type) else tuple(classes)
    for each in found:
        if not (isinstance(each, type) and issubclass(each, Exception)):
            raise TypeError(f"defer_on= takes exception classes in a list, not {each!r}")
    return found


def checked_policy(fallback: object) -> str:
    """Return a fallback policy.

    Raises
    ------
    ValueError
        If `fallback` is not a policy.
    """
    if isinstance(fallback, str) and fallback in POLICIES:
        return fallback
    raise ValueError(f"fallback= takes one of {', '.join(map(repr, POLICIES))}, not {fallback!r}")
