"""``spatch-core explain``: what would run for arguments of given types, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .._decide import Verdict
from .._options import POLICIES
from .._patterns import type_identifier
from ..examination.backends import list_backends, unusable_backends
from ..examination.libraries import LoadedLibrary
from ..examination.question import (
    Answer,
    Attempt,
    GivenType,
    LibraryError,
    Options,
    Question,
    UnknownFunctionError,
    find_function,
    import_homes,
)
from ..examination.why_not import why_not
from .arguments import (
    checked_function,
    complete_backends,
    complete_functions,
    complete_types,
    given_type_or_none,
    given_types,
    json_option,
    no_backend,
)
from .findings import counted, state_notes
from .output import Column, Notes, Part, Table, show, show_json

if TYPE_CHECKING:
    from .._explain import Explanation

_COLUMNS = (
    Column("backend"),
    Column(
        "verdict",
        styles={
            Verdict.RUNS: "bold green",
            Verdict.CONVERTS: "bold green",
            Verdict.REFUSES: "bold red",
            Verdict.RAISES: "bold red",
            Verdict.CANNOT_CONVERT: "yellow",
            Verdict.ASKED: "yellow",
            Verdict.INACTIVE: "yellow",
            Verdict.SKIPPED: "yellow",
            Verdict.NO_MATCH: "dim",
            Verdict.NO_IMPLEMENTATION: "dim",
        },
    ),
    Column("reason", is_prose=True),
)

_EPILOG = """\b
Examples:
  spatch-core explain scipy_dispatch.ndimage:gaussian_filter numpy:ndarray
  spatch-core explain mylib:blur cupy:ndarray --prioritize gpu --json
  spatch-core explain mylib:blur cupy:ndarray --fallback convert
  spatch-core explain mylib:zeros --backend jax
  spatch-core explain mylib:blur numpy:ndarray --why-not gpu

A blocked backend is never read: for one, --why-not only says how to lift
the block."""


@click.command("explain", epilog=_EPILOG)
@click.argument("function", callback=checked_function, shell_complete=complete_functions)
@click.argument(
    "types",
    metavar="TYPE...",
    nargs=-1,
    callback=given_types,
    shell_complete=complete_types,
)
@click.option(
    "--prioritize",
    metavar="NAME",
    multiple=True,
    shell_complete=complete_backends,
    help="Under backend_opts(prioritize=NAME). Repeatable: the first NAME goes first.",
)
@click.option(
    "--disable",
    metavar="NAME",
    multiple=True,
    shell_complete=complete_backends,
    help="Under backend_opts(disable=NAME). Repeatable.",
)
@click.option(
    "--type",
    "assumed",
    metavar="TYPE",
    callback=given_type_or_none,
    shell_complete=complete_types,
    help="Under backend_opts(type=TYPE).",
)
@click.option(
    "--fallback",
    metavar="POLICY",
    type=click.Choice(POLICIES),
    help="Under backend_opts(fallback=POLICY): default, warn, raise or convert.",
)
@click.option(
    "--backend",
    "current",
    metavar="NAME",
    shell_complete=complete_backends,
    help="Under backend_opts(backend=NAME). Then TYPE is optional.",
)
@click.option(
    "--why-not",
    "wanted",
    metavar="BACKEND",
    shell_complete=complete_backends,
    help="Say how to make BACKEND run.",
)
@json_option
def explain_command(
    function: str,
    types: tuple[GivenType, ...],
    prioritize: tuple[str, ...],
    disable: tuple[str, ...],
    assumed: GivenType | None,
    fallback: str | None,
    current: str | None,
    wanted: str | None,
    as_json: bool,
) -> None:
    """Show what would run if FUNCTION were called with arguments of these types, and why.

    FUNCTION and TYPE are identifiers, module:qualname: of a library's function, and of the
    type of each dispatch argument. If a type cannot be imported, a class with the same module
    and name takes its place. If no backend has a type as a primary type, the modules of all
    types that backends name are imported first.
    """
    if not types and current is None:
        raise click.MissingParameter(param_hint="'TYPE...'", param_type="argument")
    try:
        loaded, identifier = find_function(function, [each.identifier for each in types])
    except UnknownFunctionError as error:
        raise click.UsageError(str(error)) from None
    except LibraryError as error:
        raise click.ClickException(str(error)) from None
    options = Options(prioritize, disable, assumed, fallback, current)
    question = Question(loaded.usable, identifier, types, options)
    import_homes(loaded.usable, (*types, *([assumed] if assumed else [])))
    try:
        explanation = question.ask()
    except (TypeError, ValueError) as error:
        raise click.UsageError(str(error)) from None
    answer = None
    if wanted is not None:
        names = [each.name for each in list_backends(loaded)]
        if wanted not in names:
            raise no_backend(wanted, names)
        answer = why_not(question, wanted)
    if as_json:
        show_json(_as_json(loaded, question, explanation, answer))
    else:
        show(_parts(loaded, question, explanation, answer))


def _parts(
    loaded: LoadedLibrary, question: Question, explanation: Explanation, answer: Answer | None
) -> list[Part]:
    names = ", ".join(map(type_identifier, explanation.types))
    verdicts = {each.verdict for each in explanation.backends}
    refuses = Verdict.REFUSES in verdicts and Verdict.ASKED not in verdicts
    undecided = "refused" if refuses else "depends on the arguments"
    selected = loaded.shown(explanation.selected or "") or undecided
    rows = [
        (loaded.shown(each.backend), each.verdict.value, each.reason)
        for each in explanation.backends
    ]
    parts: list[Part] = [f"{explanation.function}({names}) -> {selected}", Table(_COLUMNS, rows)]
    if explanation.selected is None and not refuses:
        hint = "should_run needs the arguments; call the function's own explain(...) with them"
        parts.append(Notes("Not decided", [hint]))
    options = str(question.options)
    parts.append(Notes("Options in force", [options] if options else []))
    parts.append(state_notes("Not considered", unusable_backends(loaded)))
    given = [*question.types, *([question.options.type] if question.options.type else [])]
    parts.append(Notes("Stand-ins", [each.note for each in given if each.note]))
    if answer is not None:
        parts += _answer(answer)
    outcome = "the call is refused" if refuses else "the arguments decide"
    if explanation.selected:
        outcome = f"{selected} {'would convert' if Verdict.CONVERTS in verdicts else 'runs'}"
    # A backend that does not match but converts has two rows.
    number = len({each.backend for each in explanation.backends})
    return [*parts, f"{counted(number, 'backend')}: {outcome}"]


def _answer(answer: Answer) -> list[Part]:
    name = answer.backend
    if answer.outcome is Attempt.RUNS:
        return [f"Why not {name}? It runs."]
    if answer.outcome is Attempt.ASKED:
        return [f"Why not {name}? It is asked first; its should_run decides."]
    parts: list[Part] = [f"Why not {name}? {answer.reason}"]
    remedies = [each.text for each in answer.remedies]
    if answer.outcome is Attempt.UNREAD:
        parts.append(Notes("To find out", remedies))
        return parts
    parts.append(Notes("Any one of these would make it run", remedies))
    title = "What else it would take" if remedies else "Nothing makes it run here"
    parts.append(Notes(title, answer.obstacles))
    return parts


def _as_json(
    loaded: LoadedLibrary, question: Question, explanation: Explanation, answer: Answer | None
) -> dict[str, Any]:
    return {
        "library": loaded.library.name,
        "function": explanation.function,
        "types": [
            {
                "given": each.identifier,
                "type": type_identifier(each.type),
                "stand_in": bool(each.note),
                "note": each.note,
            }
            for each in question.types
        ],
        "selected": explanation.selected,
        "backends": [
            {"backend": each.backend, "verdict": each.verdict.value, "reason": each.reason}
            for each in explanation.backends
        ],
        "unusable": [
            {"backend": each.name, "state": each.state.value, "reason": each.reason}
            for each in unusable_backends(loaded)
        ],
        "options": question.options.as_json(),
        "why_not": answer and answer.as_json(),
    }
