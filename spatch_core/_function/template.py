"""The source of wrappers, one for each shape of signature, and the code compiled from it.

The source looks up entries of tables where `scope.store` puts them.
"""

from __future__ import annotations

import sys
from types import AsyncGeneratorType, CodeType, CoroutineType, GeneratorType

from .._dispatch_arguments import ASYNC_GENERATOR, COROUTINE, GENERATOR, TakesFound, missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Places: TypeAlias = tuple[tuple[int | None, bool], ...]
    Shape: TypeAlias = tuple[Places | None, int, bool]
    """The places of the dispatch arguments, the nature of the function by `nature_of`, `CATCHES`.

    A place is the argument's position, and whether it has a name; None for a finder.
    """


# Any exception means that there is no entry: no table, no key, or a metaclass whose hash fails.
_FIND = """\
try:
    call = {tables}()[{index}]{keys}
except {Exception}:
    call = None
# Outside the handler, so that an error of `fill` has no KeyError as its context.
if call is None:
    call = {dispatcher}.fill({index}, {values})
"""

_ANY_CALL = "result = call(*args, **keywords)\n"

# The values that the finder has returned are passed on, so that it runs once in a call.
_FOUND_CALL = """\
if {isinstance}(call, {TakesFound}):
    result = call.call_found(values, *args, **keywords)
else:
    result = call(*args, **keywords)
"""

_USUAL_CALL = """\
if keywords:
    result = call(*args, **keywords)
else:
    result = call({passed})
"""

# An exception may defer, or gets a note. The rest of the chain runs outside the handler.
_CAUGHT = """\
try:
{tried}\
except {Exception} as error:
    deferred = {dispatcher}.failed({index}, call, args, keywords, error{found})
    if deferred is None:
        raise
    call, result = deferred, {NotImplemented}
"""

_ANSWER = """\
if result is {NotImplemented}:
    return {dispatcher}.deferred({index}, call, args, keywords{found})
return result
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
    "Coroutine": CoroutineType,
    "Generator": GeneratorType,
    "AsyncGenerator": AsyncGeneratorType,
    "GeneratorExit": GeneratorExit,
    "BaseException": BaseException,
    "StopAsyncIteration": StopAsyncIteration,
}
"""Free variables of the template that have the same values in all wrappers."""

CATCHES = sys.version_info >= (3, 11)
"""Whether wrappers catch exceptions although the library names none that defers.

Before Python 3.11, exceptions have no notes, and a ``try`` takes time.
"""

_codes: dict[Shape, CodeType] = {}
"""The results of `compiled`, by shape."""


def own_names(shape: Shape) -> list[str]:
    """Return the free variables of a source whose values are one wrapper's own."""
    names = [f"name{number}" for number in range(len(shape[0] or ()))]
    return ["tables", "dispatcher", "index", *names]


def compiled(shape: Shape) -> CodeType:
    """Return the code of a shape, with `own_names` and `SHARED` as free variables."""
    code = _codes.get(shape)
    if code is not None:
        return code
    names = [*own_names(shape), *SHARED]
    text = source_of(shape, "wrapper", {name: name for name in names})
    # Variables of an outer function are free in the inner one.
    outer = f"def make({', '.join(names)}):\n{_indented(text, 1)}    return wrapper\n"
    scope: dict[str, Any] = {}
    exec(compile(outer, "<spatch_core>", "exec", dont_inherit=True), scope)  # noqa: S102  # own text
    constants: tuple[Any, ...] = scope["make"].__code__.co_consts
    made: CodeType = next(each for each in constants if type(each) is CodeType)
    # The first line of the source that tracebacks show is that of `wrapper`. Generators that
    # `types.coroutine` has marked differ by a flag alone.
    code = _codes[shape] = made.replace(co_firstlineno=1, co_flags=made.co_flags | shape[1])
    return code


def source_of(shape: Shape, wrapper: str, words: dict[str, str]) -> str:
    """Return the source of a wrapper.

    Parameters
    ----------
    shape : Shape
        The places of the dispatch arguments, and the nature of the function.
    wrapper : str
        The wrapper's name.
    words : dict of str to str
        The text for each name that the template has in braces.
    """
    places, nature, catches = shape
    answer = _ANSWER
    if nature:
        from .template_natures import ANSWERS  # few libraries need them

        answer = ANSWERS.get(nature & (COROUTINE | GENERATOR | ASYNC_GENERATOR), _ANSWER)

    def called(text: str) -> str:
        """Return the text of a call, which may defer or fail."""
        if not catches or nature & (GENERATOR | ASYNC_GENERATOR):
            return text
        return _CAUGHT.replace("{tried}", _indented(text, 1).removesuffix("\n") + "\n")

    head = f"def {wrapper}(*args, **keywords):\n"
    if nature & (COROUTINE | ASYNC_GENERATOR):
        head = f"async {head}"
    if places is None:
        first = "values = {dispatcher}.extract({index}, args, keywords)\n".format(**words)
        words = {
            **words,
            "keys": "[{tuple}({map}({type}, values))]".format(**words),
            "values": "values",
            "found": ", values",
        }
        return head + _indented(first + (_FIND + called(_FOUND_CALL) + answer).format(**words), 1)
    values = _values(places)
    words = {
        **words,
        "keys": "".join([f"[{words['type']}({value})]" for value in values]),
        "values": _tuple(values),
        "found": "",
    }
    any_call = (_FIND + called(_ANY_CALL) + answer).format(**words)
    positions = sorted({position for position, _ in places if position is not None})
    if not positions:
        return head + _indented(_assigned(places, values, 0, words) + any_call, 1)
    lines = ["match args:"]
    count = positions[-1] + 1
    if not nature:
        names = [f"a{position}" for position in range(count)]
        usual = (_FIND + called(_USUAL_CALL) + answer).format(passed=", ".join(names), **words)
        lines.append(f"    case {_tuple(names)}:")
        lines.append(_indented(_assigned(places, values, count, words) + usual, 2))
    for position in reversed(positions):
        names = [f"a{each}" if each in positions else "_" for each in range(position + 1)]
        lines.append(f"    case {_tuple([*names, '*_'])}:")
        lines.append(_indented(_assigned(places, values, position + 1, words) or "pass", 2))
    lines.append("    case _:")
    lines.append(_indented(_assigned(places, values, 0, words), 2))
    match = "\n".join([line.rstrip() for line in lines])
    return head + _indented(f"{match}\n{any_call}", 1)


def _values(places: Places) -> list[str]:
    """Return the variables of the dispatch arguments.

    At each position, a pattern binds the variable of the first one; `_assigned` sets the others.
    """
    found: list[str] = []
    # Without dispatch arguments, the key is the type of `missing`.
    for number, (position, _) in enumerate(places or ((None, False),)):
        name = f"a{position}"
        found.append(f"d{number}" if position is None or name in found else name)
    return found


def _assigned(places: Places, values: list[str], given: int, words: dict[str, str]) -> str:
    """Return the lines that set variables that no pattern binds, with `given` positional ones."""
    lines = []
    for number, (value, (position, has_name)) in enumerate(
        zip(values, places or ((None, False),), strict=True)
    ):
        if position is not None and position < given:
            if value != f"a{position}":
                lines.append(f"{value} = a{position}\n")
        elif has_name:
            by_name = f"keywords.get({words[f'name{number}']}, {words['missing']})"
            # The test makes calls without keywords faster.
            lines.append(f"{value} = {by_name} if keywords else {words['missing']}\n")
        else:
            lines.append(f"{value} = {words['missing']}\n")
    return "".join(lines)


def _tuple(names: list[str]) -> str:
    return f"({names[0]},)" if len(names) == 1 else f"({', '.join(names)})"


def _indented(text: str, level: int) -> str:
    return "".join([f"{'    ' * level}{line}\n" for line in text.splitlines()])
