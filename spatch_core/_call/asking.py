"""Generates what a table holds where the first candidate must be asked, or wants its context.

For two positional arguments, a ``should_run``, and an implementation without context it is::

    def call(a0=missing, a1=missing, /, *rest, **keywords):
        if a1 is missing:
            return chain(*given((a0, a1,)), **keywords)
        context = CallContext()
        context._known = known
        context._kwargs = keywords
        if rest or keywords:
            context._args = (a0, a1, *rest)
            answer = should_run(context, a0, a1, *rest, **keywords)
        else:
            context._args = (a0, a1)
            answer = should_run(context, a0, a1)
        if answer is not True:
            if fallback is None:
                return chain.run((a0, a1, *rest), keywords, 1)
            return fallback(a0, a1, *rest, **keywords)
        if rest or keywords:
            result = implementation(a0, a1, *rest, **keywords)
        else:
            result = implementation(a0, a1)
        if result is NotImplemented:
            return chain.run((a0, a1, *rest), keywords, 1)
        return result

That is what `Chain` does too, for any number of candidates, in four times the time. Calls with
fewer positional arguments than usual, and all candidates but the first, are left to it.
"""

from __future__ import annotations

from types import FunctionType

from .._dispatch_arguments import missing
from ..exceptions import GENERATED
from .context import CallContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_NAMES = (
    "CallContext",
    "chain",
    "fallback",
    "given",
    "known",
    "load",
    "missing",
    "should_run",
)
"""What the text refers to; free variables of the generated function."""

_factories: dict[tuple[int, bool, bool], Callable[..., Any]] = {}
_namespace: dict[str, Any] = {"__name__": __name__}
"""Globals of what is made here, by which it is known again."""


def make_asking(
    chain: Any,
    known: Any,
    should_run: Callable[..., Any] | None,
    uses_context: bool,
    load: Callable[[], Callable[..., Any]],
    fallback: Callable[..., Any] | None,
    count: int,
) -> Callable[..., Any]:
    """Make what calls the first candidate of a chain.

    Parameters
    ----------
    chain : Chain
        All candidates.
    known : Known
        For the context.
    should_run : callable or None
        What to ask first.
    uses_context : bool
        Whether the implementation gets the context.
    load : callable
        Returns the implementation.
    fallback : callable or None
        The default implementation, if it is the only other candidate.
    count : int
        How many positional arguments there usually are, at least.

    Returns
    -------
    callable
        Called like the function; if it returns ``NotImplemented``, nobody answers.
    """
    shape = count, should_run is not None, uses_context
    factory = _factories.get(shape)
    if factory is None:
        factory = _factories[shape] = _compile(shape)
    made: Callable[..., Any] = factory(
        CallContext, chain, fallback, _given, known, load, missing, should_run
    )
    return made


def is_asking(target: object) -> bool:
    """Whether `target` was made here, and so has tried a whole chain."""
    return type(target) is FunctionType and target.__globals__ is _namespace


def _compile(shape: tuple[int, bool, bool]) -> Callable[..., Any]:
    import linecache

    count, asks, uses_context = shape
    details = [f"{count} arguments", *["should_run"] * asks, *["context"] * uses_context]
    file = f"{GENERATED}{', '.join(details)}>"
    text = _source(*shape)
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope: dict[str, Any] = {}
    exec(compile(text, file, "exec", dont_inherit=True), _namespace, scope)  # noqa: S102  # own text
    factory: Callable[..., Any] = scope["make"]
    return factory


def _given(values: tuple[Any, ...]) -> list[Any]:
    return [value for value in values if value is not missing]


def _source(count: int, asks: bool, uses_context: bool) -> str:
    names = [f"a{number}" for number in range(count)]
    placeholders = "".join(f"{name}=missing, " for name in names) + ("/, " if names else "")
    usual = ", ".join(names)
    every = ", ".join([*names, "*rest"])
    extended = "context, " if uses_context else ""
    lines = [f"def call({placeholders}*rest, **keywords):", "    nonlocal implementation"]
    if names:
        lines += [
            f"    if {names[-1]} is missing:",
            f"        return chain(*given(({usual},)), **keywords)",
        ]
    lines += [
        "    context = CallContext()",
        "    context._known = known",
        "    context._kwargs = keywords",
        "    if rest or keywords:",
        f"        context._args = ({every},)",
        *([f"        answer = should_run(context, {every}, **keywords)"] if asks else []),
        "    else:",
        f"        context._args = ({usual},)" if names else "        context._args = ()",
        *([f"        answer = should_run(context, {usual})"] if asks else []),
    ]
    if asks:
        lines += [
            "    if answer is not True:",
            "        if fallback is None:",
            f"            return chain.run(({every},), keywords, 1)",
            f"        return fallback({every}, **keywords)",
        ]
    lines += [
        "    if implementation is None:",
        "        implementation = load()",
        "    if rest or keywords:",
        f"        result = implementation({extended}{every}, **keywords)",
        "    else:",
        f"        result = implementation({extended}{usual})",
        "    if result is NotImplemented:",
        f"        return chain.run(({every},), keywords, 1)",
        "    return result",
    ]
    body = "\n".join(f"    {line}" for line in lines)
    return f"def make({', '.join(_NAMES)}):\n    implementation = None\n{body}\n    return call\n"
