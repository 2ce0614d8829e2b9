"""Signatures: whether an implementation takes every call of the library's function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from inspect import Parameter, Signature, signature
from typing import Any

_BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_BY_KEYWORD = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
_STARS: dict[object, str] = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}


def find_signature(function: Callable[..., Any]) -> Signature | None:
    """Return the signature of a function without annotations; None if it cannot be determined."""
    try:
        found = signature(function)
        parameters = [each.replace(annotation=each.empty) for each in found.parameters.values()]
        return found.replace(parameters=parameters, return_annotation=found.empty)
    except Exception:  # noqa: BLE001  # a third party's __signature__ may raise anything
        return None


def written(
    parameters: Iterable[Parameter],
    annotation: Callable[[Parameter], str],
    default: Callable[[Any], str],
) -> list[str]:
    """Return parameters as code, with the markers ``/`` and ``*`` between them.

    >>> parameters = signature(lambda x, /, *, n=1: x).parameters.values()
    >>> written(parameters, lambda each: "Any", repr)
    ['x: Any', '/', '*', 'n: Any = 1']
    """
    texts: list[str] = []
    previous: object = None
    for each in parameters:
        if previous is Parameter.POSITIONAL_ONLY and each.kind is not previous:
            texts.append("/")
        if each.kind is Parameter.KEYWORD_ONLY and previous not in (
            Parameter.VAR_POSITIONAL,
            Parameter.KEYWORD_ONLY,
        ):
            texts.append("*")
        value = "" if each.default is each.empty else f" = {default(each.default)}"
        texts.append(f"{_STARS.get(each.kind, '')}{each.name}: {annotation(each)}{value}")
        previous = each.kind
    if previous is Parameter.POSITIONAL_ONLY:
        texts.append("/")
    return texts


class _Shape:
    """The parameters of a signature, by the ways of passing an argument."""

    def __init__(self, parameters: list[Parameter]) -> None:
        self.positional = [each for each in parameters if each.kind in _BY_POSITION]
        self.keyword_only = [each for each in parameters if each.kind is Parameter.KEYWORD_ONLY]
        self.keywords = {each.name for each in parameters if each.kind in _BY_KEYWORD}
        self.takes_more = any(each.kind is Parameter.VAR_POSITIONAL for each in parameters)
        self.takes_any = any(each.kind is Parameter.VAR_KEYWORD for each in parameters)

    @property
    def names(self) -> set[str]:
        """The names of positional parameters and of keywords."""
        return {each.name for each in self.positional} | self.keywords


def mismatches(default: Signature, implementation: Signature, context: bool) -> list[str]:
    """Say which calls of `default` an implementation cannot take: a clause for each parameter.

    Every call must bind, with each argument at the parameter of its name. With `context`, the
    implementation gets a `DispatchContext` before the arguments.

    >>> mismatches(signature(lambda x, n=None: ...), signature(lambda x: ...), context=False)
    ["it does not take 'n'"]
    """
    given = _Shape(list(default.parameters.values()))
    parameters = list(implementation.parameters.values())
    first = ""
    if context:
        if parameters and parameters[0].kind in _BY_POSITION:
            dropped = parameters.pop(0)
            if dropped.kind in _BY_KEYWORD:
                first = dropped.name
        elif not any(each.kind is Parameter.VAR_POSITIONAL for each in parameters):
            return ["it does not take the context as its first argument"]
    taken = _Shape(parameters)
    faults: dict[str, str] = {}  # by parameter: only the first fault of each is reported
    for name, fault in (
        *_positions(given, taken),
        *_keywords(given, taken),
        *_requirements(given, taken),
        *_rest(given, taken, first),
    ):
        faults.setdefault(name, fault)
    return list(faults.values())


def other_defaults(default: Signature, implementation: Signature, context: bool) -> list[str]:
    """Say which parameters have other default values in an implementation.

    Only numbers, strings and tuples of these are compared: None or an object of the library may
    stand for a value that the implementation computes. The parameters are those of `mismatches`.

    >>> library = signature(lambda x, radius=1, mode="same": ...)
    >>> other_defaults(library, signature(lambda x, radius=2, mode=None: ...), context=False)
    ['radius=2 instead of radius=1']
    """
    parameters = list(implementation.parameters.values())[int(context) :]
    names = {each.name: each for each in parameters if each.kind in _BY_KEYWORD}
    places = [each for each in parameters if each.kind in _BY_POSITION]
    found = []
    for position, given in enumerate(default.parameters.values()):
        taken = names.get(given.name)
        if taken is None and given.kind in _BY_POSITION and position < len(places):
            taken = places[position]
        if taken is None or not (_is_plain(given.default) and _is_plain(taken.default)):
            continue
        if given.default != taken.default and given.default == given.default:  # not NaN
            found.append(
                f"{taken.name}={taken.default!r} instead of {given.name}={given.default!r}"
            )
    return found


def _is_plain(value: object) -> bool:
    return type(value) in (bool, int, float, complex, str, bytes) or (
        type(value) is tuple and all(map(_is_plain, value))
    )


def _positions(given: _Shape, taken: _Shape) -> Iterator[tuple[str, str]]:
    """Yield mismatches of arguments passed by position."""
    for position, parameter in enumerate(given.positional):
        name = parameter.name
        if position >= len(taken.positional):
            if name in taken.keywords:
                yield name, f"{name!r} may be passed by position, but is keyword-only"
            elif not taken.takes_more and not (taken.takes_any and name in given.keywords):
                yield name, f"it does not take {name!r}"
            elif not taken.takes_more:
                yield name, f"it does not take {name!r} by position"
            continue
        there = taken.positional[position].name
        if there != name and (there in given.names or name in taken.names):
            position += 1
            fault = f"the library's parameter at position {position} is {name!r}"
            yield name, f"{fault}, but its own is {there!r}"
    if given.takes_more:
        for position, parameter in enumerate(taken.positional[len(given.positional) :]):
            if parameter.name in given.keywords & taken.keywords:
                place = position + len(given.positional) + 1
                fault = f"but is at position {place}, where further arguments may be passed"
                yield parameter.name, f"{parameter.name!r} is passed by keyword, {fault}"


def _keywords(given: _Shape, taken: _Shape) -> Iterator[tuple[str, str]]:
    """Yield mismatches of arguments passed by keyword."""
    for position, parameter in enumerate(given.positional):
        name = parameter.name
        if name not in given.keywords or name in taken.keywords:
            continue
        there = taken.positional[position].name if position < len(taken.positional) else name
        if name in taken.names or (there == name and not taken.takes_any):
            yield name, f"{name!r} may be passed by keyword, but is positional-only"
        elif not taken.takes_any:
            yield name, f"{name!r} may be passed by keyword, but is called {there!r}"
    for parameter in given.keyword_only:
        name = parameter.name
        if name in taken.names - taken.keywords:
            yield name, f"{name!r} is passed by keyword, but is positional-only"
        elif name not in taken.keywords and not taken.takes_any:
            yield name, f"it does not take {name!r}"


def _requirements(given: _Shape, taken: _Shape) -> Iterator[tuple[str, str]]:
    """Yield parameters that an implementation requires and that callers may leave out."""
    always = {each.name for each in given.keyword_only if each.default is each.empty}
    for position, parameter in enumerate(taken.positional):
        if parameter.default is not parameter.empty:
            continue
        by_keyword = parameter.name if parameter.kind in _BY_KEYWORD else None
        if position >= len(given.positional):
            if by_keyword not in always:
                yield parameter.name, f"it requires {parameter.name!r}, which is not passed"
            continue
        there = given.positional[position]
        if there.default is not there.empty:
            yield there.name, f"it requires {parameter.name!r}, which callers may leave out"
        elif there.kind in _BY_KEYWORD and there.name != by_keyword:
            is_same = there.name == parameter.name
            fault = "positional-only" if is_same else f"called {parameter.name!r}"
            yield there.name, f"{there.name!r} may be passed by keyword, but is {fault}"
    known = given.names
    for parameter in taken.keyword_only:
        if parameter.default is parameter.empty and parameter.name not in always:
            reason = "which callers may leave out or pass by position"
            if parameter.name not in known:
                reason = "which is not passed"
            yield parameter.name, f"it requires {parameter.name!r} by keyword, {reason}"


def _rest(given: _Shape, taken: _Shape, context: str) -> Iterator[tuple[str, str]]:
    """Yield further arguments that it does not take, and a context that has the name of another."""
    if given.takes_more and not taken.takes_more:
        yield "*", "it does not take further positional arguments (*args)"
    if given.takes_any and not taken.takes_any:
        yield "**", "it does not take further keyword arguments (**kwargs)"
    if context and context in given.keywords:
        yield context, f"{context!r} may be passed by keyword, but the context has this name"
