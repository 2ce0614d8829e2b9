"""Generates the table's entry for a first candidate with ``should_run`` or a context.

For two positional arguments, a ``should_run``, and an implementation without context it is::

    def call(a0=missing, a1=missing, /, *rest, **keywords):
        nonlocal implementation
        if a1 is missing:
            return chain(*given((a0, a1)), **keywords)
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
            if fallback is None or answer is IF_NEEDED:
                return chain.go_on((a0, a1, *rest), keywords, answer, context)
            try:
                return fallback(a0, a1, *rest, **keywords)
            except Exception as error:
                chain.failed_after(answer, error)
                raise
        if implementation is None:
            implementation = load()
        if rest or keywords:
            result = implementation(a0, a1, *rest, **keywords)
        else:
            result = implementation(a0, a1)
        if result is NotImplemented:
            return chain.go_on((a0, a1, *rest), keywords, RETURNED, context)
        return result

For a function with a finder, the first parameter takes the dispatch arguments that the finder has
returned, which become ``context._args``; `Asking` calls the generated function.

`Chain` does the same for any number of candidates, in four times the time. Calls with fewer
positional arguments than usual, and all candidates but the first, are left to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from .._dispatch_arguments import Function, TakesFound, missing
from .._implementation.if_needed import IF_NEEDED
from .._patterns import GENERATED
from .._resolution.candidate import Candidate
from .context import CallContext
from .context_call_next import Rest
from .progress import RETURNED
from .should_run import make_shared_part

_NAMES = (
    "CallContext",
    "IF_NEEDED",
    "RETURNED",
    "chain",
    "fallback",
    "given",
    "known",
    "load",
    "missing",
    "should_run",
)
"""The free variables of the generated function."""

Shape: TypeAlias = tuple[int | None, bool, bool]
"""The properties on which the generated source depends.

The number of positional arguments, None with a finder; whether the candidate has ``should_run``;
whether its implementation takes a context.
"""

# Without a lock: two threads may compile the same shape, with the same outcome.
_factories: dict[Shape, Any] = {}
_namespace: dict[str, Any] = {"__name__": __name__}
"""Globals of the generated functions."""


def make_first_call(
    chain: Any, first: Candidate, fallback: Callable[..., Any] | None
) -> Callable[..., Any]:
    """Make the callable that asks and calls the first candidate of a chain.

    Parameters
    ----------
    chain : Chain
        All candidates.
    first : Candidate
        The first one, which has ``should_run`` or takes a context.
    fallback : callable or None
        The default implementation, if it is the only other candidate.

    Returns
    -------
    callable
        Called like the function; it tries the whole chain.

    Raises
    ------
    ImplementationImportError
        If ``should_run`` cannot be imported.
    """
    assert first.implementation is not None  # else it would be plain
    should_run = first.load_should_run()
    function: Function = chain.function
    count = None if function.parameters is None else function.count
    shape = count, should_run is not None, first.implementation.uses_context
    factory = _factories.get(shape)
    if factory is None:
        factory = _factories[shape] = _compile(shape)
    known = make_shared_part(first, chain.types, count is None, Rest(chain, 1))
    target: Any = factory(
        *(CallContext, IF_NEEDED, RETURNED, chain, fallback, _given, known, first.load),
        *(missing, should_run),
    )
    if count is None:
        return Asking(function, target)
    target._tries_whole_chain = True
    return target  # type: ignore[no-any-return]  # a function with an attribute


class Asking(TakesFound):
    """Calls the generated function with the dispatch arguments that a finder returns.

    Parameters
    ----------
    function : Function
        The library's function.
    call_found : callable
        The generated function.
    """

    __slots__ = ("_function", "call_found")

    def __init__(self, function: Function, call_found: Callable[..., Any]) -> None:
        self._function = function
        self.call_found = call_found

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.call_found(self._function.find(args, kwargs), *args, **kwargs)


def _compile(shape: Shape) -> Any:
    import linecache

    count, asks, uses_context = shape
    arguments = "a finder" if count is None else f"{count} arguments"
    details = [arguments, *["should_run"] * asks, *["context"] * uses_context]
    file = f"{GENERATED}{', '.join(details)}>"
    text = _source(*shape)
    # So that tracebacks and debuggers show the source.
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope: dict[str, Any] = {}
    exec(compile(text, file, "exec", dont_inherit=True), _namespace, scope)  # noqa: S102  # own text
    return scope["make"]


def _given(values: tuple[Any, ...]) -> list[Any]:
    return [value for value in values if value is not missing]


def _source(count: int | None, asks: bool, uses_context: bool) -> str:
    names = [f"a{number}" for number in range(count or 0)]
    placeholders = "".join(f"{name}=missing, " for name in names) + ("/, " if names else "")
    usual = ", ".join(names)
    every = ", ".join([*names, "*rest"])
    every_found, usual_found, more = f"({every},)", f"({usual},)" if names else "()", ""
    if count is None:
        placeholders, every_found, usual_found, more = "found, /, ", "found", "found", ", found"
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
        f"        context._args = {every_found}",
        *([f"        answer = should_run(context, {every}, **keywords)"] if asks else []),
        "    else:",
        f"        context._args = {usual_found}",
        *([f"        answer = should_run(context, {usual})"] if asks else []),
    ]
    if asks:
        lines += [
            "    if answer is not True:",
            "        if fallback is None or answer is IF_NEEDED:",
            f"            return chain.go_on(({every},), keywords, answer, context{more})",
            "        try:",
            f"            return fallback({every}, **keywords)",
            "        except Exception as error:",
            "            chain.failed_after(answer, error)",
            "            raise",
        ]
    lines += [
        "    if implementation is None:",
        "        implementation = load()",
        "    if rest or keywords:",
        f"        result = implementation({extended}{every}, **keywords)",
        "    else:",
        f"        result = implementation({extended}{usual})",
        "    if result is NotImplemented:",
        f"        return chain.go_on(({every},), keywords, RETURNED, context{more})",
        "    return result",
    ]
    body = "\n".join(f"    {line}" for line in lines)
    # A free variable caches `implementation`; two threads that load it find the same object.
    return f"def make({', '.join(_NAMES)}):\n    implementation = None\n{body}\n    return call\n"
