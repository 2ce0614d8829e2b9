"""What a decorated function is: its place in the tables, its attributes, its docstring."""

from __future__ import annotations

from _collections_abc import Sequence  # as collections.abc has it, without that import

from .._dispatch_arguments import Function, missing
from ..exceptions import GENERATED
from .acceleration import accelerate, prepare
from .shortcut import Shortcut
from .wrapper import make_wrapper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

    from .._dispatch_arguments import DispatchArguments
    from .._resolution.explanation import Explanation
    from .dispatcher import Dispatcher

    P = ParamSpec("P")
    Q = ParamSpec("Q")
    R = TypeVar("R")
    R_co = TypeVar("R_co", covariant=True)

    class DispatchableFunction(Protocol[P, R_co]):
        """A decorated function: called like the original, with these attributes besides."""

        __name__: str
        __qualname__: str
        __module__: str
        __wrapped__: Callable[..., Any]

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

        @overload
        def __get__(self, instance: None, owner: type) -> DispatchableFunction[P, R_co]: ...
        @overload
        def __get__(
            self: DispatchableFunction[Concatenate[Any, Q], R_co],
            instance: object,
            owner: type | None = None,
        ) -> Callable[Q, R_co]: ...

        @property
        def backends(self) -> Sequence[str]:
            """Names of the backends that implement it, by priority."""
            ...

        def explain(self, *args: P.args, **kwargs: P.kwargs) -> Explanation:
            """Say what would run for this call, and why."""
            ...

        def invoke(
            self, *, backend: str | None = None, type: type | None = None
        ) -> Callable[P, R_co]:
            """Return the function as one backend, or for one type, would run it."""
            ...


_NOWHERE = -1
"""The position of a dispatch argument that can only be given by keyword."""


class Dispatchable:
    """The library's function behind a wrapper.

    Parameters
    ----------
    dispatcher : Dispatcher
        The library's dispatcher, which gives the function its place.
    default : callable
        The default implementation.
    dispatch_args : None, str, iterable of str, mapping of str to int, or callable
        See `BackendSystem.dispatchable`.
    module, qualname : str
        Its public identity.

    Attributes
    ----------
    identifier : str
        ``"module:qualname"``.
    function : Function
        What is dispatched, and on what.
    wrapper : types.FunctionType
        The wrapper.
    shortcut : Shortcut or None
        For as long as no backend implements it; None where there can be none.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        default: Callable[..., Any],
        dispatch_args: DispatchArguments,
        module: str,
        qualname: str,
    ) -> None:
        self.dispatcher = dispatcher
        self.identifier = f"{module}:{qualname}"
        self.function = Function(self.identifier, default, dispatch_args)
        self.filename = f"{GENERATED}{self.identifier}>"
        index = dispatcher.add(self)
        namespace = getattr(default, "__globals__", None)
        self.wrapper, self.source = make_wrapper(
            index,
            qualname.rpartition(".")[2],
            qualname,
            self.function.parameters,
            namespace if isinstance(namespace, dict) else {},
            dispatcher.tables,
            dispatcher.link,
            self.filename,
        )
        if self.function.parameters is not None:
            prepare(
                self.wrapper,
                dispatcher.variable,
                dispatcher.link,
                index,
                tuple(
                    _NOWHERE if p.position is None else p.position for p in self.function.parameters
                ),
                tuple(p.name for p in self.function.parameters),
                missing,
            )
            accelerate(self.wrapper)
        self.shortcut: Shortcut | None = None
        if self.function.runs_no_code:
            self.shortcut = Shortcut.between(self.wrapper, default)
        self._dress(module, qualname)

    def _dress(self, module: str, qualname: str) -> None:
        """Give the wrapper the looks of the original, and its own attributes."""
        wrapper: Any = self.wrapper
        default = self.function.default
        wrapper.__dict__.update(getattr(default, "__dict__", {}))
        wrapper.__module__ = module
        wrapper.__qualname__ = qualname
        wrapper.__doc__ = self.doc = default.__doc__
        annotations = getattr(default, "__annotations__", None)
        if annotations:
            wrapper.__annotations__ = annotations
        type_parameters = getattr(default, "__type_params__", ())
        if type_parameters:
            wrapper.__type_params__ = type_parameters
        wrapper.__wrapped__ = default
        wrapper.explain = self.explain
        wrapper.invoke = self.invoke
        wrapper.backends = BackendNames(self)

    def explain(self, /, *args: Any, **kwargs: Any) -> Explanation:
        """Say what would run for this call, and why.

        Asks each ``should_run`` on the way; runs no implementation.

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
            If the function cannot be called with these arguments. A method takes its
            instance too: ``Class.method.explain(instance, x)``.
        """
        import inspect

        try:
            # Of what is called, whatever it wraps, because that is what takes the arguments.
            signature = inspect.signature(self.function.default, follow_wrapped=False)
        except (TypeError, ValueError):
            pass  # there is none: a function written in C, perhaps
        else:
            signature.bind(*args, **kwargs)
        return self.dispatcher.explain(self, args, kwargs)

    def invoke(self, *, backend: str | None = None, type: type | None = None) -> Invocation:
        """Return the function as one backend, or for one type, would run it.

        Parameters
        ----------
        backend : str, optional
            Run this backend's implementation, whatever the types of the arguments; its
            ``should_run`` is not asked. ``"default"`` is the library's own.
        type : type, optional
            Dispatch as if an object of this type had been passed too, in this call alone.

        Returns
        -------
        Invocation
            Called like the function. It can be pickled.

        Raises
        ------
        UnknownBackendError, UnknownTypeError
            A `ValueError` when called, if there is no such backend or type.
        BackendDeferredError
            When called, if the backend does not implement the function.
        """
        if backend is None and type is None:
            raise TypeError("invoke() takes backend= or type=")
        return Invocation(self, backend, type)

    def document(self, section: str) -> None:
        """Show the backends in the docstring, and the generated source in tracebacks.

        Parameters
        ----------
        section : str
            What to add to the docstring; may be empty.
        """
        import linecache

        source = self.source()
        lines = source.splitlines(keepends=True)
        linecache.cache[self.filename] = len(source), None, lines, self.filename
        doc = self.doc
        if section:
            margin = _margin(doc)
            text = "\n".join(margin + line if line else "" for line in section.splitlines())
            doc = f"{doc.rstrip()}\n\n{text}\n{margin}" if doc else text
        self.wrapper.__doc__ = doc


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
        return self._record.dispatcher.implementers(self._record)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __getitem__(self, position: Any) -> Any:
        return self._names()[position]

    def __contains__(self, name: object) -> bool:
        return name in self._names()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (BackendNames, tuple, list)):
            return self._names() == tuple(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have none

    def __repr__(self) -> str:
        return repr(self._names())


class Invocation:
    """A dispatchable bound to a backend or to a type; see `Dispatchable.invoke`.

    Parameters
    ----------
    record : Dispatchable
        The function.
    backend : str or None
        Whose implementation to run.
    type : type or None
        What to dispatch on besides the arguments.
    """

    __slots__ = ("_backend", "_record", "_type")

    def __init__(self, record: Dispatchable, backend: str | None, type: type | None) -> None:
        self._record = record
        self._backend = backend
        self._type = type

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._record.dispatcher.invoke(self._record, self._backend, self._type, args, kwargs)

    def __repr__(self) -> str:
        options = {"backend": self._backend, "type": self._type}
        given = ", ".join(f"{key}={value!r}" for key, value in options.items() if value)
        return f"<{self._record.identifier} invoked with {given}>"

    def __reduce__(self) -> Any:
        options = {"backend": self._backend, "type": self._type}
        given = {name: value for name, value in options.items() if value is not None}
        content = {"function": self._record.wrapper, "options": given}
        return self._record.dispatcher.restore, ("invocation", content)


def restore_invocation(_: object, content: Mapping[str, Any]) -> Invocation:
    """Make an invocation again that was pickled; see `.._state.pickles`."""
    from .._state.pickles import check_names

    check_names(content, ("function", "options"))
    check_names(content["options"], ("backend", "type"))
    invocation: Invocation = content["function"].invoke(**content["options"])
    return invocation


def _margin(doc: str | None) -> str:
    """Return the indentation of a docstring's lines after the first."""
    lines = [line for line in (doc or "").splitlines()[1:] if line.strip()]
    return min((line[: len(line) - len(line.lstrip())] for line in lines), key=len, default="")
