"""The generated function that stands in for a library's function.

It reads the tables of the state in force, looks up what to call for the types of the
dispatch arguments, and calls it with exactly the arguments that it was given: positional
as positional, keyword as keyword, omitted as omitted. For ``dispatchable(("x", "y"))`` on
``def f(x, y, n=None)`` it is::

    def f(a0=missing, a1=missing, /, *rest, **keywords):
        if a1 is not missing:
            try:
                call = tables()[INDEX][type(a0)][type(a1)]
            except Exception:
                call = None
            if call is None:
                call = dispatcher.fill(INDEX, (a0, a1,))
            if rest or keywords:
                result = call(a0, a1, *rest, **keywords)
            else:
                result = call(a0, a1)
            if result is NotImplemented:
                return dispatcher.deferred(INDEX, call, (a0, a1, *rest,), keywords)
            return result
        ...

and two more branches where `a0` or nothing was given by position. The table is filled
outside the handler, so that an error on the way has no `KeyError` for its context.

One code object is compiled for each shape of signature; a function gets a copy with its own
constants. All names that are not its own are constants too, because its globals are those of
the default implementation (`_shortcut` says why). The garbage collector does not look into
code, so what a constant keeps alive must not lead back to the wrapper: ``dispatcher`` is a
`Link`, and of tables, which hold implementations, whose globals may hold the wrapper, those of
functions that are not where their names say are dropped before a full collection.
"""

from __future__ import annotations

import sys
from types import FunctionType

from .._dispatch_arguments import missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType
    from typing import Any

    from .._dispatch_arguments import Parameter

    Shape = tuple[tuple[int | None, bool], ...]


_SHARED: dict[str, Any] = {
    "missing": missing,
    "type": type,
    "map": map,
    "tuple": tuple,
    "Exception": Exception,
    "NotImplemented": NotImplemented,
}
"""Names in the text that become constants, the same ones in all wrappers."""

_PLACEHOLDER = 0x5CA1AB1E
"""The first of the integers that stand for constants while a shape is compiled; large,
because interpreters keep small integers elsewhere."""

_shapes: dict[Shape | None, _Shape] = {}


def make_wrapper(
    index: int,
    name: str,
    qualname: str,
    parameters: Sequence[Parameter] | None,
    namespace: dict[str, Any],
    tables: Callable[[], list[Any]],
    dispatcher: Any,
    filename: str,
) -> tuple[FunctionType, Callable[[], str]]:
    """Make the wrapper of one function.

    Parameters
    ----------
    index : int
        The function's place in the tables.
    name, qualname : str
        For the code object, which tracebacks and profilers show.
    parameters : sequence of Parameter or None
        The dispatch arguments; None if a callable finds them.
    namespace : dict
        Its globals, which it does not read.
    tables : callable
        Returns the tables in force.
    dispatcher : Link
        Leads to the library's `Dispatcher`.
    filename : str
        What tracebacks show as the file.

    Returns
    -------
    wrapper : types.FunctionType
        The wrapper.
    source : callable
        Returns its source text, for `linecache`.
    """
    shape = (
        None
        if parameters is None
        else tuple([(each.position, each.name is not None) for each in parameters])
    )
    known = _shapes.get(shape)
    if known is None:
        known = _shapes[shape] = _Shape(shape)
    own = [index, *[each.name for each in parameters or ()]]
    wrapper = FunctionType(
        known.code_of([tables, dispatcher, *own], name, qualname, filename),
        namespace,
        name,
        known.defaults,
    )

    def source() -> str:
        return known.text_of(name, own)

    return wrapper, source


class _Shape:
    """What wrappers have in common whose dispatch arguments stand in the same places."""

    def __init__(self, shape: Shape | None) -> None:
        self._text = _source(shape)
        self._own = ("index", *[f"name{number}" for number in range(len(shape or ()))])
        self.defaults = (missing,) * _count(shape or ())
        names = ("tables", "dispatcher", *self._own, *_SHARED)
        code = self._compile(names)
        values = {_PLACEHOLDER + names.index(each): value for each, value in _SHARED.items()}
        self._constants = [
            values.get(value, value) if type(value) is int else value for value in code.co_consts
        ]
        self._places = [
            (place, value - _PLACEHOLDER)
            for place, value in enumerate(self._constants)
            if type(value) is int and value >= _PLACEHOLDER
        ]
        self._code = code

    def _compile(self, names: tuple[str, ...]) -> CodeType:
        """Compile the text with placeholders for `names`."""
        # Of a mere integer the compiler would say that it cannot be called; this is one too.
        literals = {
            each: f"({_PLACEHOLDER + number} if 1 else 0)" for number, each in enumerate(names)
        }
        text = self._text.format(wrapper="wrapper", **literals)
        scope: dict[str, Any] = {"missing": missing}
        exec(compile(text, "<spatch_core>", "exec", dont_inherit=True), scope)  # noqa: S102  # own text
        found: CodeType = scope["wrapper"].__code__
        return found

    def code_of(self, values: list[Any], name: str, qualname: str, filename: str) -> CodeType:
        """Return the code of one function: `values` are its constants."""
        constants = self._constants.copy()
        for place, number in self._places:
            constants[place] = values[number]
        if sys.version_info >= (3, 11):
            return self._code.replace(
                co_consts=tuple(constants),
                co_name=name,
                co_qualname=qualname,
                co_filename=filename,
            )
        return self._code.replace(co_consts=tuple(constants), co_name=name, co_filename=filename)

    def text_of(self, name: str, own: list[Any]) -> str:
        """Return the source of one function, with the names that its constants stand for."""
        shown = dict(zip(self._own, map(repr, own), strict=True))
        words = {each: each for each in ("tables", "dispatcher", *_SHARED)}
        return self._text.format(wrapper=name, **shown, **words)


def _count(shape: Shape) -> int:
    """Return how many parameters the wrapper names: up to the last dispatch argument."""
    return max((position + 1 for position, _ in shape if position is not None), default=0)


def _source(shape: Shape | None) -> str:
    """Return a template; what stands in braces becomes a constant, and a name when shown."""
    if shape is None:
        return (
            "def {wrapper}(*rest, **keywords):\n"
            "    values = {dispatcher}.extract({index}, rest, keywords)\n"
            + "\n".join(_call("    ", "[{tuple}({map}({type}, values))]", "values", [], rest=True))
            + "\n"
        )
    count = _count(shape)
    names = [f"a{number}" for number in range(count)]
    placeholders = "".join(f"{name}=missing, " for name in names) + ("/, " if names else "")
    lines = [f"def {{wrapper}}({placeholders}*rest, **keywords):"]
    # One branch for each number of arguments given by position, the usual one first.
    for given in range(count, -1, -1):
        indent = "    "
        if given:
            lines.append(f"    if {names[given - 1]} is not {{missing}}:")
            indent += "    "
        values = []
        for number, (position, has_name) in enumerate(shape):
            if position is not None and position < given:
                values.append(names[position])
            elif has_name:
                values.append(f"d{number}")
                lookup = f"keywords.get({{name{number}}}, {{missing}})"
                lines.append(f"{indent}d{number} = {lookup}")
            else:
                values.append("{missing}")
        keys = "".join(f"[{{type}}({value})]" for value in values or ["{missing}"])
        found = f"({', '.join(values)},)" if values else "()"
        lines += _call(indent, keys, found, names[:given], rest=given == count)
    return "\n".join(lines) + "\n"


def _call(indent: str, keys: str, values: str, given: list[str], rest: bool) -> list[str]:
    """Return the lines that look up what to call, call it, and go on if it defers.

    Without further arguments the call is spelled out: unpacking nothing takes time.
    """
    passed = ", ".join([*given, *(["*rest"] if rest else [])])
    positional = f"({passed},)" if passed else "()"
    unpacked = f"result = call({passed}, **keywords)" if passed else "result = call(**keywords)"
    spelled_out = [
        "if rest or keywords:",
        f"    {unpacked}",
        "else:",
        f"    result = call({', '.join(given)})",
    ]
    return [
        indent + line
        for line in (
            "try:",
            f"    call = {{tables}}()[{{index}}]{keys}",
            "except {Exception}:",
            "    call = None",
            "if call is None:",
            f"    call = {{dispatcher}}.fill({{index}}, {values})",
            *(spelled_out if rest and given else [unpacked]),
            "if result is {NotImplemented}:",
            f"    return {{dispatcher}}.deferred({{index}}, call, {positional}, keywords)",
            "return result",
        )
    ]
