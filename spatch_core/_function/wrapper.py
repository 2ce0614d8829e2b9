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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType
    from typing import Any, Literal, TypeAlias

    from .._dispatch_arguments import Parameter

    Shape: TypeAlias = tuple[tuple[int | None, bool], ...] | Literal["bridge"] | None
    """The position of each dispatch argument, and whether it has a name; None for a finder.

    ``"bridge"`` is the shape of the code that runs in the middle of an exchange (see `shortcut`).
    """


_BODY = """\
try:
    call = {tables}()[{index}]{keys}
except {Exception}:
    call = None
# Outside the handler, so that an error of `fill` has no KeyError as its context.
if call is None:
    call = {dispatcher}.fill({index}, {values})
result = call({passed})
if result is {NotImplemented}:
    return {dispatcher}.deferred({index}, call, {args}, keywords{found})
return result
"""

_BRIDGE = """\
def {wrapper}(*args, **keywords):
    return {dispatcher}.call_default({index}, args, keywords)
"""

_SHARED: dict[str, Any] = {
    "missing": missing,
    "type": type,
    "map": map,
    "tuple": tuple,
    "Exception": Exception,
    "NotImplemented": NotImplemented,
}
"""Names in the template that stand for the same constants in all wrappers."""

_PLACEHOLDER = 0x5CA1AB1E
"""The first of the integers that stand for constants while a text is compiled.

They are large, because interpreters do not keep small integers among the constants.
"""

_codes: dict[Shape, tuple[CodeType, list[tuple[int, int]]]] = {}
"""What `_compile` returned for each shape."""


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
        The function's own constants, in the order of `_own_names`.
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
        compiled = _codes.get(shape)
        if compiled is None:
            compiled = _codes[shape] = _compile(shape)
        code, places = compiled
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
        words = {each: each for each in ("tables", "dispatcher", *_SHARED)}
        shown = zip(_own_names(self._shape)[2:], map(repr, self._own[2:]), strict=True)
        return _source(self._shape, self._name, {**words, **dict(shown)})


def _own_names(shape: Shape) -> list[str]:
    """Return the names in a source that stand for constants of one wrapper."""
    count = 0 if shape is None or shape == "bridge" else len(shape)
    names = [f"name{number}" for number in range(count)]
    return ["tables", "dispatcher", "index", *names]


def _compile(shape: Shape) -> tuple[CodeType, list[tuple[int, int]]]:
    """Return the code of a shape, and which constant stands for which of the `_own_names`."""
    own = _own_names(shape)
    # The compiler warns of a call of an integer, and of `is` with one. It does not look into a
    # conditional expression, and leaves the integer alone as a constant.
    numbers = enumerate([*own, *_SHARED], _PLACEHOLDER)
    text = _source(shape, "wrapper", {name: f"({number} if 1 else 0)" for number, name in numbers})
    scope: dict[str, Any] = {"missing": missing}
    exec(compile(text, "<spatch_core>", "exec", dont_inherit=True), scope)  # noqa: S102  # own text
    code: CodeType = scope["wrapper"].__code__
    shared: dict[Any, Any] = dict(enumerate(_SHARED.values(), _PLACEHOLDER + len(own)))
    constants = [shared.get(each, each) for each in code.co_consts]
    places = [
        (place, each - _PLACEHOLDER)
        for place, each in enumerate(constants)
        if type(each) is int and each >= _PLACEHOLDER
    ]
    return code.replace(co_consts=tuple(constants)), places


def _source(shape: Shape, wrapper: str, words: dict[str, str]) -> str:
    """Return the source of a wrapper.

    Parameters
    ----------
    shape : Shape
        Where the dispatch arguments stand.
    wrapper : str
        The wrapper's name.
    words : dict of str to str
        What stands in the source for each name that the template has in braces.
    """

    def body(*find: str, **parts: str) -> str:
        return "\n".join([*find, _BODY.format(**parts, **words)])

    if shape == "bridge":
        return _BRIDGE.format(wrapper=wrapper, **words)
    if shape is None:
        found = "values = {dispatcher}.extract({index}, args, keywords)".format(**words)
        text = body(
            found,
            keys="[{tuple}({map}({type}, values))]".format(**words),
            values="values",
            passed="*args, **keywords",
            args="args",
            found=", values",  # so that the finder runs once in a call
        )
        return f"def {wrapper}(*args, **keywords):\n{_indented(text, 1)}"
    missing = words["missing"]
    values, any_call, usual_call = [], [], []
    # Without dispatch arguments, the key is the type of `missing`.
    for number, (position, has_name) in enumerate(shape or ((None, False),)):
        given = missing if position is None else f"a{position}"
        # A parameter becomes the value of the first dispatch argument at its position.
        value = given if position is not None and given not in values else f"d{number}"
        values.append(value)
        by_name = f"keywords.get({words[f'name{number}']}, {missing})" if has_name else missing
        if value != given:
            usual_call.append(f"{value} = {given}")
            choice = f"{given} if {given} is not {missing} else {by_name}"
            any_call.append(f"{value} = {by_name if position is None else choice}")
        elif has_name:
            any_call.append(f"if {value} is {missing}: {value} = {by_name}")
    # The first argument at a position changes the parameter, so it comes after the others.
    any_call.reverse()
    types = {
        "keys": "".join([f"[{words['type']}({value})]" for value in values]),
        "values": _tuple(values),
        "found": "",
    }
    count = max([position + 1 for position, _ in shape if position is not None], default=0)
    names = [f"a{number}" for number in range(count)]
    choices = [
        f"{_tuple(names[:number])} if {name} is {missing} else "
        for number, name in enumerate(names)
    ]
    if names:
        any_call.insert(0, f"args = {''.join(choices)}{_tuple([*names, '*rest'])}")
    text = body(*any_call, passed="*args, **keywords", args="args", **types)
    if not names:
        return f"def {wrapper}(*args, **keywords):\n{_indented(text, 1)}"
    parameters = "".join(f"{name}=missing, " for name in names)
    usual = body(*usual_call, passed=", ".join(names), args=_tuple(names), **types)
    return (
        f"def {wrapper}({parameters}/, *rest, **keywords):\n"
        f"    if {names[-1]} is {missing} or rest or keywords:\n"
        f"{_indented(text, 2)}{_indented(usual, 1)}"
    )


def _tuple(names: list[str]) -> str:
    return f"({names[0]},)" if len(names) == 1 else f"({', '.join(names)})"


def _indented(text: str, level: int) -> str:
    return "".join([f"{'    ' * level}{line}\n" for line in text.splitlines()])
