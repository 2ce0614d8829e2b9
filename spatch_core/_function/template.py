"""The text of wrappers, one for each shape of signature, and the tables that it reads.

`store` puts an entry where the text looks for it.
"""

from __future__ import annotations

from .._dispatch_arguments import Missing, TakesFound, missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any, Literal, TypeAlias

    from .._dispatch_arguments import Function

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
{answer}
if result is {NotImplemented}:
    return {dispatcher}.deferred({index}, call, {args}, keywords{found})
return result
"""

_BRIDGE = """\
def {wrapper}(*args, **keywords):
    return {dispatcher}.call_default({index}, args, keywords)
"""

SHARED: dict[str, Any] = {
    "missing": missing,
    "type": type,
    "map": map,
    "tuple": tuple,
    "Exception": Exception,
    "isinstance": isinstance,
    "TakesFound": TakesFound,
    "NotImplemented": NotImplemented,
}
"""Names in the template that stand for the same constants in all wrappers."""

_PLACEHOLDER = 0x5CA1AB1E
"""The first of the integers that stand for constants while a text is compiled.

They are large, because interpreters do not keep small integers among the constants.
"""

_codes: dict[Shape, tuple[CodeType, list[tuple[int, int]]]] = {}
"""What `compiled` has returned for each shape."""


def own_names(shape: Shape) -> list[str]:
    """Return the names in a source that stand for constants of one wrapper."""
    count = 0 if shape is None or shape == "bridge" else len(shape)
    names = [f"name{number}" for number in range(count)]
    return ["tables", "dispatcher", "index", *names]


def compiled(shape: Shape) -> tuple[CodeType, list[tuple[int, int]]]:
    """Return the code of a shape, and which constant stands for which of the `own_names`."""
    found = _codes.get(shape)
    if found is None:
        found = _codes[shape] = _compile(shape)
    return found


def _compile(shape: Shape) -> tuple[CodeType, list[tuple[int, int]]]:
    """Return the code of a shape, and which constant stands for which of the `own_names`."""
    own = own_names(shape)
    # The compiler warns of a call of an integer, and of `is` with one. It does not look into a
    # conditional expression, and leaves the integer alone as a constant.
    numbers = enumerate([*own, *SHARED], _PLACEHOLDER)
    text = source_of(
        shape, "wrapper", {name: f"({number} if 1 else 0)" for number, name in numbers}
    )
    scope: dict[str, Any] = {"missing": missing}
    exec(compile(text, "<spatch_core>", "exec", dont_inherit=True), scope)  # noqa: S102  # own text
    code: CodeType = scope["wrapper"].__code__
    shared: dict[Any, Any] = dict(enumerate(SHARED.values(), _PLACEHOLDER + len(own)))
    constants = [shared.get(each, each) for each in code.co_consts]
    places = [
        (place, each - _PLACEHOLDER)
        for place, each in enumerate(constants)
        if type(each) is int and each >= _PLACEHOLDER
    ]
    return code.replace(co_consts=tuple(constants)), places


def source_of(shape: Shape, wrapper: str, words: dict[str, str]) -> str:
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
        # What the finder has found is handed on, so that it runs once in a call.
        answer = [
            "if {isinstance}(call, {TakesFound}):".format(**words),
            "    result = call.call_found(values, *args, **keywords)",
            "else:",
            "    result = call(*args, **keywords)",
        ]
        text = body(
            found,
            keys="[{tuple}({map}({type}, values))]".format(**words),
            values="values",
            answer="\n".join(answer),
            args="args",
            found=", values",
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
    text = body(*any_call, answer="result = call(*args, **keywords)", args="args", **types)
    if not names:
        return f"def {wrapper}(*args, **keywords):\n{_indented(text, 1)}"
    parameters = "".join(f"{name}=missing, " for name in names)
    usual = body(
        *usual_call, answer=f"result = call({', '.join(names)})", args=_tuple(names), **types
    )
    return (
        f"def {wrapper}({parameters}/, *rest, **keywords):\n"
        f"    if {names[-1]} is {missing} or rest or keywords:\n"
        f"{_indented(text, 2)}{_indented(usual, 1)}"
    )


def _tuple(names: list[str]) -> str:
    return f"({names[0]},)" if len(names) == 1 else f"({', '.join(names)})"


def _indented(text: str, level: int) -> str:
    return "".join([f"{'    ' * level}{line}\n" for line in text.splitlines()])


def table_of(tables: list[Any], index: int) -> dict[Any, Any]:
    """Return a function's table; other threads may drop all tables meanwhile."""
    while True:
        try:
            table: dict[Any, Any] = tables[index]
        except IndexError:
            tables.append({})
        else:
            return table


def store(
    table: dict[Any, Any], function: Function, key: tuple[type, ...], target: Callable[..., Any]
) -> None:
    """Put a target into the table of a function.

    The wrapper looks it up type by type, in nested tables; if a finder returns the dispatch
    arguments, by the tuple of their types.
    """
    if function.parameters is None:
        table[key] = target
        return
    *first, last = key or (Missing,)
    for cls in first:
        table = table.setdefault(cls, {})
    table[last] = target
