"""The decorator of a library: makes functions dispatchable, and lists all that it has made."""

from __future__ import annotations

import sys
from types import MappingProxyType

from .._patterns import split_identifier
from .dispatchable import Dispatchable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, ParamSpec, TypeVar

    from .._dispatch_arguments import DispatchArguments
    from .._signature.traits import Traits
    from .dispatcher import Dispatcher
    from .function_type import DispatchableFunction

    P = ParamSpec("P")
    R = TypeVar("R")


UNDISPATCHABLE = ("__hash__", "__init__", "__new__")
"""Methods that no backend may replace; see `mistakes.refuse_method`."""


class Decorator:
    """The part of a `BackendSystem` that decorates functions."""

    if TYPE_CHECKING:
        _dispatcher: Dispatcher

    def dispatchable(
        self,
        dispatch_args: DispatchArguments = None,
        *,
        module: str | None = None,
        qualname: str | None = None,
        identifier: str | None = None,
        fallback: str | None = None,
        compositional: bool = False,
        mutates: str | Iterable[str] | Mapping[str, int | None] = (),
        like: str | None = None,
        inside: str | Iterable[str] = (),
        decides: bool | str = False,
        follows: str | None = None,
    ) -> Callable[[Callable[P, R]], DispatchableFunction[P, R]]:
        """Make the decorated function dispatchable.

        Parameters
        ----------
        dispatch_args : None, str, iterable of str, mapping of str to int, or callable
            The arguments whose types decide: the name of one, or the names of several; a
            mapping of names to positions if there is no signature; a callable that is called
            like the function and returns them; None for all arguments.
            With an empty list, only ``type=`` decides.
        module, qualname : str, optional
            The public identity, if it is not the place of definition. They become the
            ``__module__`` and ``__qualname__`` of the function.
        identifier : str, optional
            The public identity, ``"module:qualname"``, for a function that keeps its
            ``__module__`` and ``__qualname__``.
        fallback : str, optional
            The policy for calls with foreign types that no backend takes, instead of the
            library's.
        compositional : bool, optional
            Whether the function is written in terms of other dispatchable functions, and so takes
            the types that these take. Then it has no fallback policy.
        mutates : str, iterable of str, or mapping of str to int, optional
            The arguments that the function writes into, such as ``"out"``, named like the dispatch
            arguments. To convert one of them, a backend needs ``copy_into``.
        like : str, optional
            A keyword-only argument that is passed for its type alone, as in `numpy.zeros`. It is a
            dispatch argument that neither the default implementation nor a backend gets. Without
            `dispatch_args` it is the only one.
        inside : str or iterable of str, optional
            Dispatch arguments that are lists or tuples, nested or not, whose elements decide, as
            in `numpy.concatenate`. A generator is passed on as a list. Without `dispatch_args`
            they are the only ones.
        decides : bool or str, optional
            Whether the instance of this method, such as ``fit``, remembers the backend that has run
            it, for the methods that follow. A name, such as ``"fit"`` for ``fit_transform``, if
            they follow a method of that name.
        follows : str, optional
            The method, such as ``"fit"``, whose backend also runs this one.

        Returns
        -------
        callable
            A decorator. It returns a plain function with the name, the docstring and the
            signature of the decorated one, which becomes the default implementation.

        Raises
        ------
        TypeError
            If the function has no such parameter, if it is a class, if it decides or follows and is
            no method, or if ``@dispatchable`` was written without parentheses.
        IdentifierError
            If `identifier`, or that of `module` and `qualname`, is malformed.
        ValueError
            If `fallback` is not a fallback policy.
        """
        if dispatch_args is not None and not isinstance(dispatch_args, (str, list, tuple, dict)):
            frame, name = sys._getframe(1), getattr(dispatch_args, "__name__", "")
            # A lambda, or a function that is bound to its name already, is not being decorated.
            named = frame.f_locals.get(name, frame.f_globals.get(name))
            if name != "<lambda>" and named is not dispatch_args:
                from .mistakes import check_parentheses  # most libraries never need it

                check_parentheses(dispatch_args, frame)
        traits = None
        has_names = fallback is not None or like is not None or follows is not None
        if has_names or compositional or mutates or inside or decides:
            from .._signature.traits import Traits  # few functions need one

            traits = Traits(fallback, compositional, mutates, like, inside, decides, follows)

        def decorate(function: Callable[P, R]) -> DispatchableFunction[P, R]:
            wrapper: DispatchableFunction[P, R] = make_dispatchable(
                *(self._dispatcher, function, dispatch_args, module, qualname, identifier),
                None if traits is None else traits.copy(),
            )
            return wrapper

        return decorate

    @property
    def functions(self) -> Mapping[str, DispatchableFunction[..., Any]]:
        """All dispatchable functions by identifier."""
        records: Any = self._dispatcher.by_identifier
        return MappingProxyType({name: each.wrapper for name, each in records.items()})


def make_dispatchable(
    dispatcher: Dispatcher,
    default: Any,
    dispatch_args: DispatchArguments,
    module: str | None,
    qualname: str | None,
    identifier: str | None,
    traits: Traits | None = None,
) -> Any:
    """Return the wrapper of a function; see `BackendSystem.dispatchable`."""
    if not callable(default) or isinstance(default, (type, staticmethod)):
        from .mistakes import check_callable  # correct libraries never need it

        check_callable(default)
    if getattr(default, "__name__", None) in UNDISPATCHABLE:
        from .mistakes import refuse_method

        refuse_method(default)
    if identifier is None:
        if not hasattr(default, "__qualname__") and not (module and qualname):
            raise TypeError(
                f"{default!r} has no name of its own: give identifier=, or module= and qualname="
            )
        home = module or default.__module__, qualname or default.__qualname__
        identifier = ":".join(home)
        if module or qualname:
            split_identifier(identifier)
    elif module or qualname:
        raise TypeError("dispatchable() takes identifier=, or module= and qualname=, not both")
    else:
        home = split_identifier(identifier)
        if hasattr(default, "__qualname__"):
            home = default.__module__ or home[0], default.__qualname__
    origin = getattr(sys.modules.get(getattr(default, "__module__", "")), "__spec__", None)
    earlier: Any = dispatcher.by_identifier.get(identifier)
    if earlier is not None:
        from .mistakes import warn_of_duplicate

        warn_of_duplicate(earlier, default, origin)
    record = Dispatchable(dispatcher, default, dispatch_args, *home, identifier, traits)
    record.origin = origin
    caller = dispatcher.loaded
    if caller is not None:
        from .docstring import document  # most libraries have no backends yet

        document(record, caller.resolver.docs(identifier))
    return record.wrapper
