"""The record of one dispatchable function: its index in the tables, its wrapper, its attributes."""

from __future__ import annotations

from _collections_abc import Sequence  # as collections.abc has it, without that import

from .._dispatch_arguments import Function, missing
from .._patterns import GENERATED
from .template import CATCHES
from .wrapper import Generated, dress
from .wrapper_support import accelerate, tables_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .._dispatch_arguments import DispatchArguments
    from .._resolution.explanation import Explanation
    from .._signature.traits import Traits
    from .dispatcher import Dispatcher
    from .invocation import Invocation

_NO_POSITION = -1
"""For the C extension: the position of a keyword-only dispatch argument."""


class Dispatchable:
    """A function of a library, with its wrapper.

    Parameters
    ----------
    dispatcher : Dispatcher
        The library's dispatcher, which gives the function its index in the tables.
    default : callable
        The default implementation.
    dispatch_args : None, str, iterable of str, mapping of str to int, or callable
        See `BackendSystem.dispatchable`.
    module, qualname : str
        Those of the wrapper.
    identifier : str
        Its public identity, ``"module:qualname"``.
    traits : Traits, optional
        The further options of the decorator.

    Attributes
    ----------
    identifier : str
        ``"module:qualname"``.
    function : Function
        The default implementation and the dispatch arguments.
    wrapper : types.FunctionType
        The decorated function.
    generated : Generated
        Makes the wrapper and its source.
    filename : str
        The file name under which tracebacks show that source.
    doc : str or None
        The docstring of the default implementation.
    origin : object
        The spec of the module that defines it; a module that is imported again has another one.
    index : int
        Its place in the tables.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        default: Callable[..., Any],
        dispatch_args: DispatchArguments,
        module: str,
        qualname: str,
        identifier: str,
        traits: Traits | None = None,
    ) -> None:
        self.dispatcher = dispatcher
        self.identifier = identifier
        self.function = function = Function(identifier, default, dispatch_args, traits)
        function.default_name = dispatcher.default_name
        self.filename = f"{GENERATED}{self.identifier}>"
        self.origin: object = None
        self.doc: str | None = default.__doc__
        self.index = index = dispatcher.add(self)
        namespace = getattr(default, "__globals__", None)
        catches = CATCHES or bool(dispatcher.defer_on)
        self.generated = Generated(
            *(function.parameters, function.nature, index, qualname, self.filename, catches)
        )
        self.wrapper = self.generated.wrapper(
            namespace if isinstance(namespace, dict) else {}, self._tables(), dispatcher
        )
        accelerate(self.wrapper)
        dress(self.wrapper, default, module, qualname)
        made: Any = self.wrapper
        made.explain, made.invoke = self.explain, self.invoke
        made.backends = BackendNames(self)

    def _tables(self) -> Callable[[], list[Any]]:
        """Return the callable that returns the tables in force."""
        dispatcher, parameters = self.dispatcher, self.function.parameters
        if tables_type is None or not parameters or self.function.nature:
            return dispatcher.tables
        # With the data for calls through C.
        places = [each.position for each in parameters]
        made: Callable[[], list[Any]] = tables_type(
            dispatcher.variable,
            dispatcher,
            self.index,
            tuple([_NO_POSITION if place is None else place for place in places]),
            tuple([each.name for each in parameters]),
            missing,
        )
        return made

    def explain(self, /, *args: Any, **kwargs: Any) -> Explanation:
        """Return which implementation would run for this call, and why.

        It calls each ``should_run`` on the way, and no implementation.

        Parameters
        ----------
        *args, **kwargs
            The arguments of the call.

        Returns
        -------
        Explanation
            Print it, or look at its ``selected`` and ``backends``.

        Raises
        ------
        TypeError
            If the function cannot be called with these arguments.

        Notes
        -----
        A method may take its instance, ``Class.method.explain(instance, x)``. In
        ``instance.method.explain(x)`` the instance is lost: if the method dispatches on it, its
        class counts, and a ``should_run`` is not asked.
        """
        from .introspection import explain  # a library needs it later

        return explain(self, args, kwargs)

    def invoke(
        self, *, backend: str | None = None, type: type | str | None = None, force: bool = False
    ) -> Invocation:
        """Return the function as one backend, or for one type, would run it.

        Parameters
        ----------
        backend : str, optional
            Run this backend's implementation, whatever the types of the arguments.
            ``"default"`` is the library's own.
        type : type or str, optional
            Dispatch as if an object of this type had been passed too, in this call alone. An
            identifier such as ``"numpy:ndarray"`` is imported.
        force : bool, optional
            Whether to run the implementation without asking the backend's ``should_run``.
            Results may be wrong: it says which calls the implementation is right for.

        Returns
        -------
        Invocation
            Called like the function. It can be pickled.

        Raises
        ------
        UnknownBackendError, UnknownTypeError
            A `ValueError` when called, if there is no such backend or type.
        BackendDeferredError
            When called, if the backend does not implement the function, or defers.
        """
        if backend is None and (type is None or force):
            given = "force= with backend= alone" if force else "backend= or type="
            raise TypeError(f"invoke() takes {given}")
        from .invocation import Invocation  # few programs need it

        return Invocation(self, backend, type, force)


# In this module, because every decorated function has one: another module to import would cost
# a library 60 to 100 microseconds.
class BackendNames(Sequence):  # type: ignore[type-arg]  # of str; no subscript at run time
    """Names of the backends that implement a function, by priority; a lazy sequence.

    Parameters
    ----------
    record : Dispatchable
        The function.
    """

    __slots__ = ("_record",)

    def __init__(self, record: Dispatchable) -> None:
        self._record = record

    def _names(self) -> tuple[str, ...]:
        record = self._record
        return tuple(record.dispatcher.ensure_loaded().resolver.implementers(record.identifier))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __getitem__(self, position: Any) -> Any:
        return self._names()[position]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (BackendNames, tuple, list)):
            return self._names() == tuple(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have none

    def __repr__(self) -> str:
        return repr(self._names())
