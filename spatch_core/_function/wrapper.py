"""Generates the wrapper: the function that takes the place of a library's function.

A wrapper looks up a callable by the types of the dispatch arguments, and calls it with exactly
the arguments of the call: positional as positional, keyword as keyword, omitted as omitted. For
``dispatchable(("x", "y"))`` on ``def f(x, y, n=None)``, the second function of its library, it
is::

    def f(*args, **keywords):
        match args:
            case (a0, a1):
                try:
                    call = tables()[2][type(a0)][type(a1)]
                except Exception:
                    call = None
                # Outside the handler, so that an error of `fill` has no KeyError as its context.
                if call is None:
                    call = dispatcher.fill(2, (a0, a1))
                try:
                    if keywords:
                        result = call(*args, **keywords)
                    else:
                        result = call(a0, a1)
                except Exception as error:
                    deferred = dispatcher.failed(2, call, args, keywords, error)
                    if deferred is None:
                        raise
                    call, result = deferred, NotImplemented
                if result is NotImplemented:
                    return dispatcher.deferred(2, call, args, keywords)
                return result
            case (a0, a1, *_):
                pass
            case (a0, *_):
                a1 = keywords.get('y', missing) if keywords else missing
            case _:
                a0 = keywords.get('x', missing) if keywords else missing
                a1 = keywords.get('y', missing) if keywords else missing
        try:
            call = tables()[2][type(a0)][type(a1)]
        except Exception:
            call = None
        # Outside the handler, so that an error of `fill` has no KeyError as its context.
        if call is None:
            call = dispatcher.fill(2, (a0, a1))
        try:
            result = call(*args, **keywords)
        except Exception as error:
            deferred = dispatcher.failed(2, call, args, keywords, error)
            if deferred is None:
                raise
            call, result = deferred, NotImplemented
        if result is NotImplemented:
            return dispatcher.deferred(2, call, args, keywords)
        return result

Before Python 3.11 there is no second ``try``, unless the library names exceptions that defer. The
first case is the usual call, with the dispatch arguments by position. If it shared its source with
the others, it would take 8 to 11 % longer.

The code has no parameters that could take default values. Therefore the wrapper has the default
values of the default implementation: tools that read them see the library's own.

The wrapper of a coroutine function is a coroutine function, and so for generators and
asynchronous generators: `inspect` and frameworks tell them apart by flags of the code. It
dispatches when its body starts, at the first ``await`` or step.

The source is compiled once for each `Shape`, as the body of an outer function. So ``tables``,
``dispatcher``, ``2``, ``'x'``, ``'y'``, ``missing`` and the builtins are free variables, and each
function gets a closure with its own values. The source cannot refer to them as globals: the
wrapper's globals are those of the default implementation, where the names may mean anything. As
constants of the code they would be objects that compilers such as `torch.compile` do not expect,
and that the garbage collector does not see.

Other forms were measured on CPython 3.10 to 3.13 without the C extension, as ratios to the time
of a call with this one:

- Parameters with `missing` as default values: 0.84 to 0.9 for the usual call, 1.15 to 1.35 for
  calls with more positional arguments, 1.1 to 1.2 with keywords. Their default values are not the
  library's own.
- ``a0, a1 = args`` in the ``try`` instead of ``match``: 0.93 to 0.95 for the usual call, but 1.8
  to 4.2 with more or fewer positional arguments, which then raise an error inside.
- Constants instead of free variables: 0.94 to 0.98.
"""

from __future__ import annotations

import sys
from types import CellType, FunctionType

from .._parameters import SIGNED, Signature
from .template import CATCHES, SHARED, compiled, own_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .._parameters import Parameter
    from .template import Shape

_SHARED_CELLS = {name: CellType(value) for name, value in SHARED.items()}
"""The cells of all wrappers' closures for `SHARED`."""


class Generated:
    """The code of one function's wrapper.

    Parameters
    ----------
    parameters : sequence of Parameter or None
        The dispatch arguments; None if a finder returns them.
    nature : int
        The nature of the default implementation; see `nature_of`.
    index : int
        The function's index in the tables.
    qualname : str
        The qualname of the code object, which tracebacks and profilers show.
    filename : str
        The file name that tracebacks show.
    catches : bool, optional
        Whether the wrapper catches exceptions.
    """

    __slots__ = ("_filename", "_index", "_name", "_names", "_qualname", "_shape")

    def __init__(
        self,
        parameters: Sequence[Parameter] | None,
        nature: int,
        index: int,
        qualname: str,
        filename: str,
        catches: bool = CATCHES,
    ) -> None:
        places = (
            None
            if parameters is None
            else tuple([(each.position, each.name is not None) for each in parameters])
        )
        self._shape: Shape = places, nature, catches
        self._names = [each.name for each in parameters or ()]
        self._index = index
        self._name = qualname.rpartition(".")[2]
        self._qualname = qualname
        self._filename = filename

    def wrapper(
        self, namespace: dict[str, Any], tables: Callable[[], list[Any]], dispatcher: Any
    ) -> FunctionType:
        """Return the wrapper.

        Parameters
        ----------
        namespace : dict
            The wrapper's globals, which it does not read.
        tables : callable
            Returns the tables in force.
        dispatcher : Dispatcher
            The library's dispatcher.
        """
        code = compiled(self._shape)
        names: Any = {"co_name": self._name, "co_filename": self._filename}
        if sys.version_info >= (3, 11):
            names["co_qualname"] = self._qualname
        own = dict(zip(own_names(self._shape), (tables, dispatcher, *self._own()), strict=True))
        cells = [
            CellType(own[name]) if name in own else _SHARED_CELLS[name] for name in code.co_freevars
        ]
        return FunctionType(code.replace(**names), namespace, self._name, None, tuple(cells))

    def source(self) -> str:
        """Return the wrapper's source, for `linecache`."""
        from .docstring import source  # not needed when a library is imported

        return source(self._shape, self._name, self._own())

    def _own(self) -> tuple[Any, ...]:
        """Return the wrapper's index and the names of its dispatch arguments."""
        return (self._index, *self._names)


def dress(wrapper: Any, default: Callable[..., Any], module: str, qualname: str) -> None:
    """Give a wrapper the attributes of the default implementation.

    Parameters
    ----------
    wrapper : types.FunctionType
        The wrapper.
    default : callable
        The default implementation.
    module, qualname : str
        Those of the wrapper.
    """
    wrapper.__dict__.update(getattr(default, "__dict__", {}))
    wrapper.__module__ = module
    wrapper.__qualname__ = qualname
    wrapper.__doc__ = default.__doc__
    if isinstance(default, FunctionType):
        if default.__defaults__:
            wrapper.__defaults__ = default.__defaults__
        if default.__kwdefaults__:
            wrapper.__kwdefaults__ = default.__kwdefaults__
    if SIGNED.isdisjoint(wrapper.__dict__):
        wrapper.__signature__ = Signature(default)
    annotations = getattr(default, "__annotations__", None)
    if annotations:
        wrapper.__annotations__ = annotations
    type_parameters = getattr(default, "__type_params__", ())
    if type_parameters:
        wrapper.__type_params__ = type_parameters
    wrapper.__wrapped__ = default
