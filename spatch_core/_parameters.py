"""The arguments of functions: their places in a signature, and those whose types decide a call.

Almost everything here works without importing `inspect`, which takes longer than a library's
decorations do.
"""

from __future__ import annotations

from types import FunctionType

from ._patterns import DEFAULT, loaded_object, mro_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, NoReturn, TypeAlias

    from ._traits import Finder, Traits

    DispatchArguments: TypeAlias = (
        str | Iterable[str] | Mapping[str, int | None] | Callable[..., Iterable[Any]] | None
    )

# --- the places of parameters -------------------------------------------------------------------

SIGNED = {"__wrapped__", "__signature__"}
"""Attributes by which the signature of a function may differ from that of its code."""

# A sanity limit: a wrapper has a variable for each position up to the last dispatch argument.
_MOST_POSITIONS = 64


class Parameter:
    """The place of a dispatch argument in a signature.

    `name` is None if it cannot be passed by keyword, and `position` if it cannot be passed by
    position. `label` is the name by which the library names it in every case.
    """

    __slots__ = ("label", "name", "position")

    def __init__(self, name: str | None, position: int | None, label: str | None = None) -> None:
        self.name = name
        self.position = position
        self.label = name if label is None else label


def find_parameters(
    default: Callable[..., Any],
    dispatch_args: str | Iterable[str] | Mapping[str, int | None],
    identifier: str,
) -> tuple[Parameter, ...]:
    """Find the places of the dispatch arguments in the signature of `default`."""
    given: Any = dispatch_args
    if isinstance(given, str):
        names: tuple[Any, ...] = (given,)
    elif hasattr(given, "items"):
        return tuple([_checked(name, place, identifier) for name, place in given.items()])
    else:
        try:
            names = tuple(given)
        except TypeError:
            raise TypeError(
                f"{identifier}: the dispatch arguments are a name, several names in a list, a "
                f"mapping of names to positions or a callable that returns them, not {given!r}"
            ) from None
    if not names:
        return ()  # before reading the signature, which some builtins lack
    # `inspect.signature` works for all callables, but is slow to import and to run.
    if type(default) is not FunctionType or not SIGNED.isdisjoint(default.__dict__):
        return tuple(_inspected(default, names, identifier))
    code = default.__code__
    count, first_named = code.co_argcount, code.co_posonlyargcount
    known = code.co_varnames[: count + code.co_kwonlyargcount]
    found = []
    for label in names:
        if label not in known:
            _refuse(identifier, label, known)
        place = known.index(label)
        name = label if place >= first_named else None
        found.append(Parameter(name, place if place < count else None, label))
    return tuple(found)


def _inspected(
    default: Callable[..., Any], names: Iterable[Any], identifier: str
) -> Iterable[Parameter]:
    """Yield the places of parameters that `inspect` finds."""
    from inspect import signature

    try:
        parameters = signature(default).parameters.values()
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"the signature of {identifier} cannot be determined ({error}); give the dispatch "
            "arguments as {name: position}"
        ) from error
    found = {}
    for position, each in enumerate(parameters):
        if each.kind is each.POSITIONAL_ONLY:
            found[each.name] = Parameter(None, position, each.name)
        elif each.kind is each.POSITIONAL_OR_KEYWORD:
            found[each.name] = Parameter(each.name, position)
        elif each.kind is each.KEYWORD_ONLY:
            found[each.name] = Parameter(each.name, None)
    for label in names:
        if label not in found:
            _refuse(identifier, label, found)
        yield found[label]


def _checked(name: Any, position: Any, identifier: str) -> Parameter:
    is_place = position is None or (type(position) is int and 0 <= position < _MOST_POSITIONS)
    if not isinstance(name, str) or not is_place:
        raise TypeError(
            f"{identifier}: dispatch arguments map names to positions from 0, or to None for "
            f"keyword-only ones, not {name!r} to {position!r}"
        )
    return Parameter(name, position)


def _refuse(identifier: str, name: object, known: Iterable[str]) -> NoReturn:
    raise TypeError(
        f"{identifier} has no parameter {name!r}; it has {', '.join(known) or 'none'}. For "
        "dispatch arguments inside *args or **kwargs give a callable that returns them, or "
        "{name: position}"
    )


class Signature:
    """The signature of a default implementation, for the ``__signature__`` of its wrapper.

    Importing `inspect` and reading signatures would take most of the time of a decoration. This
    object has the layout of `inspect.Signature`, and becomes one as soon as its ``__class__``
    (as by `inspect`) or any other attribute is read.
    """

    # The slots of `inspect.Signature`: `__class__` can be assigned only between equal layouts.
    __slots__ = ("_parameters", "_return_annotation")

    _parameters: Any
    _return_annotation: Any

    def __init__(self, function: Any) -> None:
        self._parameters = (function,)

    @property  # type: ignore[misc]  # reading it changes it
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        import inspect

        waiting = self._parameters
        # It is a mapping if another thread has stored the content, but not the class yet.
        if type(waiting) is tuple:
            found: Any = inspect.signature(waiting[0])
            self._return_annotation = found._return_annotation
            self._parameters = found._parameters
        # Last, because from here on other threads use the content. `object`'s descriptor is called,
        # because this property hides it.
        object.__dict__["__class__"].__set__(self, inspect.Signature)
        # `isinstance` ignores a `__class__` that is the object's type, as it is from here on.
        return _subclass(inspect.Signature)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real(), name)

    def __repr__(self) -> str:
        return repr(self._real())

    def __str__(self) -> str:
        return str(self._real())

    def __eq__(self, other: object) -> bool:
        return bool(self._real() == other)

    def __hash__(self) -> int:
        return hash(self._real())

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._real().__reduce_ex__(protocol)

    def _real(self) -> Any:
        """Return this object, which is an `inspect.Signature` from now on."""
        self.__class__  # noqa: B018  # reading it changes the class
        return self


_subclasses: dict[type, type] = {}
"""One subclass for each class given to `_subclass`."""


def _subclass(cls: type) -> type:
    """Return a subclass of `cls` that adds nothing."""
    return _subclasses.get(cls) or _subclasses.setdefault(cls, type("Signature", (cls,), {}))


# --- natures of functions, and values of arguments ----------------------------------------------

# The flags of code that `inspect` tests.
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


# --- the record of a function -------------------------------------------------------------------


class Function:
    """The default implementation of a dispatchable function, and its dispatch arguments.

    It refers neither to its wrapper nor to its dispatcher. `parameters` are the places of the
    dispatch arguments; None if a callable, `_finder`, returns them. `nature` is that of the default
    and `default_name` the name of the default that users see.
    """

    __slots__ = (
        *("_finder", "default", "default_name", "identifier", "nature", "parameters"),
        "traits",
    )

    is_adopted = False
    """Whether the library does not own it; see `adopt.AdoptedFunction`."""

    def counts(self, cls: type) -> bool:
        """Whether a type counts for all backends, whatever their type patterns."""
        return False

    def __init__(
        self,
        identifier: str,
        default: Callable[..., Any],
        dispatch_args: DispatchArguments,
        traits: Traits | None = None,
        default_name: str = DEFAULT,
    ) -> None:
        self.identifier = identifier
        self.default = default
        self.default_name = default_name
        self.nature = nature_of(default)
        self.traits = traits
        self._finder: Callable[..., Iterable[Any]] | None = None
        self.parameters: tuple[Parameter, ...] | None = None
        if traits is not None:
            self._use(traits)
        if traits is not None and (traits.like is not None or traits.inside):
            self._finder = self._named_finder(traits, dispatch_args)
        elif dispatch_args is None:
            self._finder = _all_arguments
        elif callable(dispatch_args):
            self._finder = dispatch_args
        else:
            self.parameters = find_parameters(default, dispatch_args, identifier)

    def others_may_answer(self, types: Iterable[type]) -> bool:
        """Whether a type of the call that the library does not serve may answer instead."""
        return False

    def _use(self, traits: Traits) -> None:
        """Find what the traits name in the signature."""
        if traits.mutates:
            traits.mutated = find_parameters(self.default, traits.mutates, self.identifier)
        if traits.decides or traits.follows is not None:
            from ._traits import Memory  # few functions have one

            traits.memory = Memory(self.default, self.identifier, traits)

    def _named_finder(self, traits: Traits, dispatch_args: Any) -> Finder:
        """Return the finder of a function with ``like=`` or ``inside=``."""
        from ._traits import Finder  # few functions have one

        default, identifier = self.default, self.identifier
        if callable(dispatch_args):
            raise TypeError(
                f"{identifier}: like= and inside= name arguments, so the dispatch arguments must "
                "be names too, not a callable that finds them"
            )
        names = traits.inside if dispatch_args is None else dispatch_args
        parameters = find_parameters(default, names, identifier)
        known = [each.label for each in parameters]
        for name in traits.inside:
            if name not in known:
                raise TypeError(
                    f"{identifier}: inside= names {name!r}, which is not a dispatch argument; the "
                    f"dispatch arguments are {', '.join(map(str, known)) or 'none'}"
                )
        like = traits.like
        if like is not None and find_parameters(default, like, identifier)[0].position is not None:
            raise TypeError(
                f"{identifier}: like={like!r} is left out of the call, so it must be passed by "
                "keyword only: write it after * in the signature"
            )
        return Finder(parameters, traits.inside, like)

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
        """Return the dispatch arguments that the library's callable finds in a call."""
        assert self._finder is not None  # there are no parameters
        try:
            found: Any = self._finder(*args, **kwargs)
        except TypeError as error:
            if _is_of_inner_frame(error):
                raise
            raise self._mismatch(args, kwargs, error) from error
        if isinstance(found, tuple) and hasattr(found, "every"):
            return found  # `Elements` of lists
        try:
            return tuple(found)
        except TypeError as error:
            if _is_of_inner_frame(error):  # a generator's
                raise
            what = f"an object of type {type(found).__qualname__!r}"
            raise TypeError(
                f"{self.identifier}: the callable that finds its dispatch arguments returned "
                f"{'None' if found is None else what}, not several arguments in a tuple or list"
            ) from error

    def _mismatch(self, args: Any, kwargs: Any, error: TypeError) -> TypeError:
        """Return the error for a call whose arguments the finder does not accept."""
        from inspect import signature

        try:
            wrong = _mismatch(signature(self.default), args, kwargs)
        except (TypeError, ValueError):
            wrong = None  # the signature is unknown
        if wrong is not None:  # the call is wrong, not the finder
            return TypeError(f"{self.identifier.partition(':')[2]}() {wrong}")
        return TypeError(
            f"{self.identifier}: the callable that finds its dispatch arguments must take the "
            f"arguments of every call, as the function does, but {error}"
        )


def _is_of_inner_frame(error: BaseException) -> bool:
    """Whether an error comes from inside a called function.

    A mismatch of parameters is raised by the call itself, in the frame that catches it.
    """
    return error.__traceback__ is not None and error.__traceback__.tb_next is not None


def _all_arguments(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
    return (*args, *kwargs.values())


# --- methods ------------------------------------------------------------------------------------

# ``instance.method.explain`` and ``.invoke`` are attributes of the function, so they do not get the
# instance.


class Unknown:
    """Stands for the instance of a method in an explanation; `cls` is None if it is not found."""

    __slots__ = ("cls",)

    def __init__(self, cls: type | None) -> None:
        self.cls = cls


def _home(function: Function) -> tuple[str, str, str, type | None]:
    """Return module, class, name of a method, and that class if it is found; else empty names."""
    module = getattr(function.default, "__module__", "")
    path, _, name = getattr(function.default, "__qualname__", "").rpartition(".")
    if not path or path.endswith("<locals>"):
        return "", "", "", None
    cls: Any = loaded_object(module, path) if isinstance(module, str) else None
    return module, path, name, cls if isinstance(cls, type) else None


def with_instance(
    function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of `explain`; those of a method get the instance, or `Unknown` for it.

    Raises a `TypeError` if the function cannot be called with them.
    """
    import inspect

    try:
        # Not the signature of a function that the default wraps: the default gets the arguments.
        signature = inspect.signature(function.default, follow_wrapped=False)
    except (TypeError, ValueError):
        return args, kwargs  # some functions written in C have none
    error = _mismatch(signature, args, kwargs)
    module, path, name, cls = _home(function)
    kind = None if cls is None else type(vars(cls).get(name))
    is_class = kind is classmethod
    names_first = next(iter(signature.parameters), None) in kwargs
    # If the class is not found, the method may be static: arguments that fit are left alone.
    if path and kind is not staticmethod and not names_first and (kind or error):
        first: Any = cls if is_class else Unknown(cls)
        holder: Any = None if not args else args[0] if is_class else type(args[0])
        is_given = isinstance(holder, type) and any(
            (each.__module__, each.__qualname__) == (module, path) for each in mro_of(holder)
        )
        if (error or not is_given) and _mismatch(signature, (first, *args), kwargs) is None:
            return (first, *args), kwargs
    if error is not None:
        raise error
    return args, kwargs


def _mismatch(signature: inspect.Signature, args: Any, kwargs: Any) -> TypeError | None:
    """Return the error of a call with these arguments; None if they fit."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        return error
    return None


def check_instance(function: Function, wrapper: object, args: tuple[Any, ...]) -> None:
    """Raise if the result of a method's `invoke` is called without the instance.

    Else the first argument would pass for the instance, and the result be silently wrong. Without
    any positional argument, the call itself raises.
    """
    _, path, name, cls = _home(function)
    if not args or cls is None:
        return
    found = vars(cls).get(name)
    is_class = isinstance(found, classmethod)
    if found is not wrapper and not (is_class and getattr(found, "__func__", None) is wrapper):
        return  # a static method, or a function that another one has replaced
    holder: Any = args[0] if is_class else type(args[0])
    if isinstance(holder, type):
        classes = mro_of(holder)
        # A class may borrow a method of another one. By identity: attributes may define ==.
        if any(each is cls for each in classes) or any(
            value is found for each in classes for value in vars(each).values()
        ):
            return
    wanted = "class" if is_class else "instance"
    raise TypeError(
        f"{path}.{name} is a method: pass the {wanted} to the result of invoke(...), as in "
        f"{path}.{name}.invoke(...)({'cls' if is_class else 'instance'}, ...)"
    )
