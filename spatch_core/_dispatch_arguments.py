"""Dispatch arguments: their places in a signature, and their values in a call."""

from __future__ import annotations

from types import FunctionType

from ._identifiers import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeAlias

    from ._manner import Manner

    DispatchArguments: TypeAlias = (
        str | Iterable[str] | Mapping[str, int | None] | Callable[..., Iterable[Any]] | None
    )

# Attributes that give a function another signature than that of its code.
SIGNED = {"__wrapped__", "__signature__"}

# A sanity limit: a wrapper has a variable for each position up to the last dispatch argument.
_MOST_POSITIONS = 64


# Natures of functions, by the flags that `inspect` looks for in their code.
PLAIN = 0
GENERATOR = 0x20
COROUTINE = 0x80
ASYNC_GENERATOR = 0x200
NATURES = GENERATOR | COROUTINE | 0x100 | ASYNC_GENERATOR
"""0x100 is the flag of generators that `types.coroutine` has marked: they can be awaited."""


def nature_of(function: Any) -> int:
    """Return the nature of a callable: what a call of it gives, as `inspect` would say."""
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

    def __reduce__(self) -> Any:
        return int, ()  # in the code of a pickled function


missing = Missing()


class Parameter:
    """The place of a dispatch argument in a signature.

    Parameters
    ----------
    name : str or None
        Its name, if it can be passed by keyword.
    position : int or None
        Its position, if it can be passed by position.
    label : str, optional
        The name by which the library names it, also if it cannot be passed by keyword.
    """

    __slots__ = ("label", "name", "position")

    def __init__(self, name: str | None, position: int | None, label: str | None = None) -> None:
        self.name = name
        self.position = position
        self.label = name if label is None else label


def given(values: Iterable[Any], _: object = None) -> tuple[Any, ...]:
    """Return the dispatch arguments that were given and are not None."""
    if type(values) is not tuple:
        values = getattr(values, "every", values)  # of the `Elements` of lists
    return tuple([each for each in values if each is not None and type(each) is not Missing])


class TakesFound:
    """What a table may hold that can be told the dispatch arguments, so that no finder runs twice.

    The wrapper of a function with a finder calls `call_found` with what the finder returned,
    followed by the arguments of the call.
    """

    __slots__ = ()

    call_found: Callable[..., Any]


def find_parameters(
    default: Callable[..., Any],
    dispatch_args: str | Iterable[str] | Mapping[str, int | None],
    identifier: str,
) -> tuple[Parameter, ...]:
    """Find the places of the dispatch arguments in the signature of `default`.

    Parameters
    ----------
    default : callable
        The default implementation.
    dispatch_args : str, iterable of str, or mapping of str to int or None
        Their names, or their names and positions.
    identifier : str
        The function's identifier, for the messages.

    Raises
    ------
    TypeError
        If there is no such parameter, or the signature is unknown.
    """
    positions: Any = dispatch_args
    if hasattr(positions, "items"):
        return tuple(
            _checked(Parameter(name, position), identifier) for name, position in positions.items()
        )
    try:
        names = (dispatch_args,) if isinstance(dispatch_args, str) else tuple(dispatch_args)
    except TypeError:
        raise TypeError(
            f"{identifier}: the dispatch arguments are a name, several names in a list, a mapping "
            f"of names to positions or a callable that returns them, not {dispatch_args!r}"
        ) from None
    if not names:
        return ()  # without a look at the signature, which the function need not have
    places = _simple_signature(default)
    if places is None:
        places = _inspected_signature(default, identifier)
    for name in names:
        if name not in places:
            raise TypeError(
                f"{identifier} has no parameter {name!r} to dispatch on; it has "
                f"{', '.join(places) or 'none'}. For arguments inside *args or **kwargs "
                "give a callable that returns them, or {name: position}"
            )
    return tuple(places[name] for name in names)


def _checked(parameter: Parameter, identifier: str) -> Parameter:
    position = parameter.position
    if not isinstance(parameter.name, str) or not (
        position is None or (type(position) is int and 0 <= position < _MOST_POSITIONS)
    ):
        raise TypeError(
            f"{identifier}: dispatch arguments map names to positions from 0, or to None for "
            f"those passed by keyword alone, not {parameter.name!r} to {position!r}"
        )
    return parameter


def _simple_signature(default: Callable[..., Any]) -> dict[str, Parameter] | None:
    """Read the parameters of a plain function; None for any other callable.

    `inspect.signature` works for all callables, but is slow to import and to run.
    """
    if type(default) is not FunctionType or default.__dict__.keys() & SIGNED:
        return None
    code = default.__code__
    positional = code.co_argcount
    names = code.co_varnames
    places = {
        name: Parameter(None if position < code.co_posonlyargcount else name, position, name)
        for position, name in enumerate(names[:positional])
    }
    for name in names[positional : positional + code.co_kwonlyargcount]:
        places[name] = Parameter(name, None)
    return places


def _inspected_signature(default: Callable[..., Any], identifier: str) -> dict[str, Parameter]:
    import inspect

    try:
        signature = inspect.signature(default)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"the signature of {identifier} cannot be found out ({error}); give the dispatch "
            "arguments as {name: position}"
        ) from error
    places = {}
    for position, parameter in enumerate(signature.parameters.values()):
        if parameter.kind is parameter.POSITIONAL_ONLY:
            places[parameter.name] = Parameter(None, position, parameter.name)
        elif parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            places[parameter.name] = Parameter(parameter.name, position)
        elif parameter.kind is parameter.KEYWORD_ONLY:
            places[parameter.name] = Parameter(parameter.name, None)
    return places


class Function:
    """The default implementation of a dispatchable function, and its dispatch arguments.

    It refers neither to its wrapper nor to its dispatcher. Tables refer to it, and the code of
    the wrapper refers to the tables; a reference back would form a cycle.

    Parameters
    ----------
    identifier : str
        ``"module:qualname"``.
    default : callable
        The default implementation.
    dispatch_args : None, str, iterable of str, mapping of str to int, or callable
        See `BackendSystem.dispatchable`.
    manner : Manner or None
        What else the library says of the function.

    Attributes
    ----------
    parameters : tuple of Parameter or None
        The places of the dispatch arguments; None if a callable returns them.
    nature : int
        What `nature_of` says of the default implementation.
    default_name : str
        The name of the default implementation in what people see.
    """

    __slots__ = (
        "_finder",
        "default",
        "default_name",
        "identifier",
        "manner",
        "nature",
        "parameters",
    )

    def __init__(
        self,
        identifier: str,
        default: Callable[..., Any],
        dispatch_args: DispatchArguments,
        manner: Manner | None = None,
    ) -> None:
        self.identifier = identifier
        self.manner = manner
        if manner is not None and manner.mutates:
            manner.mutated = find_parameters(default, manner.mutates, identifier)
        if manner is not None and (manner.decides or manner.follows is not None):
            from ._memory import make_memory  # few functions have one

            decides, follows = manner.decides, manner.follows
            manner.memory = make_memory(default, identifier, decides=decides, follows=follows)
        self.default = default
        self.default_name = DEFAULT
        self.nature = nature_of(default)
        self._finder: Callable[..., Iterable[Any]] | None = None
        self.parameters: tuple[Parameter, ...] | None = None
        if manner is not None and (manner.like is not None or manner.inside):
            self._finder = _named_finder(default, dispatch_args, manner, identifier)
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
            raise self._mismatch(error, args, kwargs) from error
        if isinstance(found, tuple) and hasattr(found, "every"):
            return found  # `Elements` of lists
        try:
            return tuple(found)
        except TypeError as error:
            if _is_of_inner_frame(error):  # a generator's
                raise
            what = "None" if found is None else f"an object of type {type(found).__qualname__!r}"
            raise TypeError(
                f"{self.identifier}: the callable that finds its dispatch arguments returned "
                f"{what}, not several arguments in a tuple or list"
            ) from error

    def _mismatch(
        self, error: TypeError, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> TypeError:
        """Return the error of a call whose arguments the finder does not take."""
        from inspect import signature

        try:
            signature(self.default).bind(*args, **kwargs)
        except TypeError as wrong:  # the call is at fault, not the finder
            return TypeError(f"{self.identifier.partition(':')[2]}() {wrong}")
        except ValueError:  # the signature is unknown
            pass
        return TypeError(
            f"{self.identifier}: the callable that finds its dispatch arguments must take the "
            f"arguments of every call, as the function does, but {error}"
        )


def _is_of_inner_frame(error: BaseException) -> bool:
    """Whether Python code that was called raised it.

    Otherwise it was raised where it was caught, as a mismatch of parameters is.
    """
    return error.__traceback__ is not None and error.__traceback__.tb_next is not None


def _named_finder(
    default: Callable[..., Any], dispatch_args: Any, manner: Manner, identifier: str
) -> Any:
    """Return the finder of a function with ``like=`` or ``inside=``.

    Raises
    ------
    TypeError
        If it cannot be made of the dispatch arguments.
    """
    from ._finder import Finder  # few functions need one

    if callable(dispatch_args):
        raise TypeError(
            f"{identifier}: like= and inside= name arguments, so the dispatch arguments must be "
            "names too, not a callable that finds them"
        )
    names: Any = manner.inside if dispatch_args is None else dispatch_args
    parameters = find_parameters(default, names, identifier)
    known = [each.label for each in parameters]
    for name in manner.inside:
        if name not in known:
            raise TypeError(
                f"{identifier}: inside= names {name!r}, which is no dispatch argument; these are "
                f"{', '.join(map(str, known)) or 'none'}"
            )
    if manner.like is not None:
        (place,) = find_parameters(default, manner.like, identifier)
        if place.position is not None:
            raise TypeError(
                f"{identifier}: like={manner.like!r} is left out of the call, so it must be passed "
                f"by keyword alone: write it after * in the signature"
            )
    return Finder(parameters, manner.inside, manner.like)


def _all_arguments(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
    return (*args, *kwargs.values())
