"""Generates the wrapper: the function that takes the place of a library's function.

A wrapper looks up what to call for the types of the dispatch arguments, and calls it with
exactly the arguments that it was given: positional as positional, keyword as keyword, omitted
as omitted. For ``dispatchable(("x", "y"))`` on ``def f(x, y, n=None)``, the second function of
its library, it is::

    def f(a0=missing, a1=missing, /, *rest, **keywords):
        if a1 is missing or rest or keywords:
            args = () if a0 is missing else (a0,) if a1 is missing else (a0, a1, *rest)
            if a1 is missing: a1 = keywords.get('y', missing)
            if a0 is missing: a0 = keywords.get('x', missing)
            try:
                call = tables()[2][type(a0)][type(a1)]
            except Exception:
                call = None
            # Outside the handler, so that an error of `fill` has no KeyError as its context.
            if call is None:
                call = dispatcher.fill(2, (a0, a1))
            result = call(*args, **keywords)
            if result is NotImplemented:
                return dispatcher.deferred(2, call, args, keywords)
            return result
        try:
            call = tables()[2][type(a0)][type(a1)]
        except Exception:
            call = None
        # Outside the handler, so that an error of `fill` has no KeyError as its context.
        if call is None:
            call = dispatcher.fill(2, (a0, a1))
        result = call(a0, a1)
        if result is NotImplemented:
            return dispatcher.deferred(2, call, (a0, a1), keywords)
        return result

The usual call gives all dispatch arguments by position, and nothing else. The branch is for every
other call. If both shared one text, the usual call would take 4 to 6 % longer.

A text is compiled once for each `Shape`. A function gets a copy of that code in which
constants take the place of ``tables``, ``dispatcher``, ``2``, ``'x'``, ``'y'``, ``missing`` and
of the builtins. The text cannot refer to them by name: the wrapper's globals are those of the
default implementation (see `shortcut`), whose names may mean anything.

The garbage collector does not traverse code objects. Therefore no constant may keep the wrapper
alive: ``dispatcher`` is a `Link`, which holds its dispatcher weakly. ``tables`` leads to
implementations, whose globals may hold the wrapper: before a full collection the dispatch state
drops the tables of functions that only such a cycle may keep alive.

Other forms were measured on CPython 3.10 and 3.13 without the C extension, as ratios to the time
of a call with this one:

- Free variables instead of constants: 1.02 to 1.06, but 1.13 to 1.17 where no backend implements
  the function, because CPython only exchanges code for code with as many free variables.
- ``*args`` and ``**keywords`` as the only parameters: 1.3 to 1.4 for the usual call.
- Default values of keyword-only parameters instead of constants: 1.15 to 1.5.
- One branch for each number of positional arguments: 0.93 to 1.0 for calls with keywords, and the
  same for the usual call.
"""

from __future__ import annotations

import sys
from types import FunctionType

from .._dispatch_arguments import missing
from .template import SHARED, compiled, own_names, source_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType
    from typing import Any

    from .._dispatch_arguments import Parameter
    from .template import Shape


def make_wrapper(
    index: int,
    name: str,
    qualname: str,
    parameters: Sequence[Parameter] | None,
    namespace: dict[str, Any],
    tables: Callable[[], list[Any]],
    dispatcher: Any,
    filename: str,
) -> tuple[FunctionType, Generated]:
    """Make the wrapper of one function.

    Parameters
    ----------
    index : int
        The function's index in the tables.
    name, qualname : str
        Names of the code object, which tracebacks and profilers show.
    parameters : sequence of Parameter or None
        The dispatch arguments; None if a finder returns them.
    namespace : dict
        The wrapper's globals, which it does not read.
    tables : callable
        Returns the tables in force.
    dispatcher : Link
        Leads to the library's `Dispatcher`.
    filename : str
        File name that tracebacks show.

    Returns
    -------
    wrapper : types.FunctionType
        The wrapper.
    generated : Generated
        Makes its source, and other code for it.
    """
    shape = (
        None
        if parameters is None
        else tuple([(each.position, each.name is not None) for each in parameters])
    )
    names = [each.name for each in parameters or ()]
    generated = Generated(shape, (tables, dispatcher, index, *names), name, qualname, filename)
    code = generated.code(shape)
    return FunctionType(code, namespace, name, (missing,) * code.co_argcount), generated


class Generated:
    """The code of one function's wrapper.

    Parameters
    ----------
    shape : Shape
        Of the wrapper.
    own : tuple
        The function's own constants, in the order of `own_names`.
    name, qualname, filename : str
        Of the code.
    """

    __slots__ = ("_filename", "_name", "_own", "_qualname", "_shape")

    _shape: Shape

    def __init__(
        self, shape: Shape, own: tuple[Any, ...], name: str, qualname: str, filename: str
    ) -> None:
        self._shape = shape
        self._own = own
        self._name = name
        self._qualname = qualname
        self._filename = filename

    def code(self, shape: Shape) -> CodeType:
        """Return code of a shape with the function's own constants."""
        code, places = compiled(shape)
        constants = list(code.co_consts)
        for place, number in places:
            constants[place] = self._own[number]
        if sys.version_info >= (3, 11):
            return code.replace(
                co_consts=tuple(constants),
                co_name=self._name,
                co_qualname=self._qualname,
                co_filename=self._filename,
            )
        return code.replace(
            co_consts=tuple(constants), co_name=self._name, co_filename=self._filename
        )

    def bridge(self) -> CodeType:
        """Return code that calls the default implementation; see `Shortcut`."""
        return self.code("bridge")

    def source(self) -> str:
        """Return the wrapper's source, for `linecache`."""
        words = {each: each for each in ("tables", "dispatcher", *SHARED)}
        shown = zip(own_names(self._shape)[2:], map(repr, self._own[2:]), strict=True)
        return source_of(self._shape, self._name, {**words, **dict(shown)})
