"""Dispatch arguments: the arguments whose types decide which implementation runs."""

from __future__ import annotations

from ._parameters import Parameter, find_parameters
from ._patterns import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeAlias

    from ._signature.traits import Traits

    DispatchArguments: TypeAlias = (
        str | Iterable[str] | Mapping[str, int | None] | Callable[..., Iterable[Any]] | None
    )

# Natures of functions: the flags of their code that `inspect` tests.
PLAIN = 0
GENERATOR = 0x20
COROUTINE = 0x80
ASYNC_GENERATOR = 0x200
NATURES = GENERATOR | COROUTINE | 0x100 | ASYNC_GENERATOR
"""0x100 is the flag of generators that `types.coroutine` has made awaitable."""


def nature_of(function: Any) -> int:
    """Return the nature of a callable: whether a call makes a generator, a coroutine or neither."""
    code = getattr(function, "__code__", None)
    while code is None and type(function).__module__ == "functools" and hasattr(function, "func"):
        function = function.func  # of a partial
        code = getattr(function, "__code__", None)
    flags = getattr(code, "co_flags", PLAIN)
    return flags & NATURES if type(flags) is int else PLAIN


class Missing:
    """The type of `missing`, the value of an argument that was not given."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "missing"


missing = Missing()


def given(values: Iterable[Any], _: object = None) -> tuple[Any, ...]:
    """Return the dispatch arguments that were given and are not None."""
    if type(values) is not tuple:
        values = getattr(values, "every", values)  # of the `Elements` of lists
    return tuple([each for each in values if each is not None and type(each) is not Missing])


class TakesFound:
    """A table entry that takes the dispatch arguments, so that the finder runs only once.

    The wrapper of a function with a finder calls `call_found` with the finder's result, followed by
    the arguments of the call.
    """

    __slots__ = ()

    call_found: Callable[..., Any]


class Function:
    """The default implementation of a dispatchable function, and its dispatch arguments.

    It refers neither to its wrapper nor to its dispatcher.

    Parameters
    ----------
    identifier : str
        ``"module:qualname"``.
    default : callable
        The default implementation.
    dispatch_args : None, str, iterable of str, mapping of str to int, or callable
        See `BackendSystem.dispatchable`.
    traits : Traits or None
        The further options of the decorator.

    Attributes
    ----------
    parameters : tuple of Parameter or None
        The places of the dispatch arguments; None if a callable returns them.
    nature : int
        The nature of the default implementation; see `nature_of`.
    default_name : str
        The name of the default implementation that users see.
    """

    __slots__ = (
        "_finder",
        "default",
        "default_name",
        "identifier",
        "nature",
        "parameters",
        "traits",
    )

    def __init__(
        self,
        identifier: str,
        default: Callable[..., Any],
        dispatch_args: DispatchArguments,
        traits: Traits | None = None,
    ) -> None:
        self.identifier = identifier
        self.traits = traits
        if traits is not None and traits.mutates:
            traits.mutated = find_parameters(default, traits.mutates, identifier)
        if traits is not None and (traits.decides or traits.follows is not None):
            from ._signature.method_memory import make_memory  # few functions have one

            decides, follows = traits.decides, traits.follows
            traits.memory = make_memory(default, identifier, decides=decides, follows=follows)
        self.default = default
        self.default_name = DEFAULT
        self.nature = nature_of(default)
        self._finder: Callable[..., Iterable[Any]] | None = None
        self.parameters: tuple[Parameter, ...] | None = None
        if traits is not None and (traits.like is not None or traits.inside):
            from ._signature.finder import named_finder  # few functions need one

            self._finder = named_finder(
                lambda names: find_parameters(default, names, identifier),
                *(dispatch_args, traits, identifier),
            )
        elif dispatch_args is None:
            self._finder = _all_arguments
        elif callable(dispatch_args):
            self._finder = dispatch_args
        else:
            self.parameters = find_parameters(default, dispatch_args, identifier)

    @property
    def count(self) -> int:
        """The number of positional parameters up to the last dispatch argument."""
        places = [each.position for each in self.parameters or () if each.position is not None]
        return max(places, default=-1) + 1

    @property
    def has_like(self) -> bool:
        """Whether an argument is only for dispatching: hooks see it, implementations do not."""
        return self.traits is not None and self.traits.like is not None

    def without_like(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return keyword arguments without the one that is only for dispatching."""
        like = None if self.traits is None else self.traits.like
        if like is None or like not in kwargs:
            return kwargs
        return {name: value for name, value in kwargs.items() if name != like}

    @property
    def runs_no_code(self) -> bool:
        """Whether finding the dispatch arguments runs no code of the library."""
        finder: Any = self._finder
        return finder is None or finder is _all_arguments or getattr(finder, "runs_no_code", False)

    def extract(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the dispatch arguments of a call that were given and are not None, in order."""
        return given(self.values(args, kwargs))

    def values(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return all dispatch arguments of a call in order, None and `missing` among them."""
        if self.parameters is None:
            return self.find(args, kwargs)
        return tuple(
            args[each.position]
            if each.position is not None and each.position < len(args)
            else kwargs.get(each.name, missing)
            if each.name is not None
            else missing
            for each in self.parameters
        )

    def find(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the dispatch arguments that the library's callable finds in a call.

        Raises
        ------
        TypeError
            If it does not take the arguments of the call, or returns no iterable.
        """
        assert self._finder is not None  # there are no parameters
        try:
            found: Any = self._finder(*args, **kwargs)
        except TypeError as error:
            if _is_of_inner_frame(error):
                raise
            from ._signature.inspected_signatures import mismatch  # imports `inspect`

            raise mismatch(self.identifier, self.default, error, args, kwargs) from error
        if isinstance(found, tuple) and hasattr(found, "every"):
            return found  # `Elements` of lists
        try:
            return tuple(found)
        except TypeError as error:
            if _is_of_inner_frame(error):  # a generator's
                raise
            from ._signature.inspected_signatures import no_arguments

            raise no_arguments(self.identifier, found) from error


def _is_of_inner_frame(error: BaseException) -> bool:
    """Whether an error comes from inside a called function.

    A mismatch of parameters is raised by the call itself, in the frame that catches it.
    """
    return error.__traceback__ is not None and error.__traceback__.tb_next is not None


def _all_arguments(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
    return (*args, *kwargs.values())
