"""``spatch-core explain`` and ``replay-check``: what runs, and why."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from functools import partial
from typing import Any

import click

from .._decide import Verdict
from .._options import POLICIES
from .._patterns import DEFAULT, type_identifier
from ..examination.child import progress
from ..examination.choices import Attempt, Outcome, read_record, replay, why_not
from ..examination.libraries import (
    LoadedLibrary,
    find_libraries,
    list_backends,
    load_library,
    unusable_backends,
)
from ..examination.question import (
    GivenType,
    Options,
    Question,
    calls_of,
    find_function,
    given_type,
    is_refused,
    type_named,
)
from .arguments import (
    complete_backends,
    complete_functions,
    complete_types,
    json_option,
    meant,
    naming,
)
from .output import Column, Notes, Part, Table, counted, show, show_json
from .show import state_notes

Json = dict[str, Any]

_VERDICTS = (
    Column("backend"),
    Column(
        "verdict",
        styles={
            **dict.fromkeys((Verdict.RUNS, Verdict.CONVERTS), "bold green"),
            **dict.fromkeys((Verdict.REFUSES, Verdict.RAISES), "bold red"),
        },
    ),
    Column("reason", is_prose=True),
)
_CALLS = (Column("type"), Column("what runs"), Column("reason", is_prose=True))
_CHOICES = (
    Column("function"),
    Column("types"),
    Column("backend"),
    Column("outcome", styles={Outcome.SAME.value: "green"}),
)
_backend_option = partial(click.option, metavar="NAME", shell_complete=complete_backends)


@click.command(
    "explain",
    help="""Show what would run if FUNCTION were called with arguments of these types, and why.

FUNCTION and TYPE are written as in a program, or as module:qualname; a name alone will do if
only one thing has it. Without TYPE, show what runs for each type that backends name. If a type
cannot be imported, a class with the same module and name takes its place. If no backend has a
type as a primary type, the modules of all types that backends name are imported first.""",
    epilog="""\b
Examples:
  spatch-core explain gaussian_filter
  spatch-core explain scipy_dispatch.ndimage:gaussian_filter numpy:ndarray
  spatch-core explain mylib.blur cupy.ndarray --prioritize gpu --json
  spatch-core explain mylib:zeros --backend jax
  spatch-core explain mylib:blur numpy:ndarray --why-not gpu

A blocked backend is never read: for one, --why-not only says how to lift
the block.""",
)
@click.argument("function", shell_complete=complete_functions)
@click.argument("types", metavar="[TYPE]...", nargs=-1, shell_complete=complete_types)
@_backend_option(
    "--prioritize",
    multiple=True,
    help="Under backend_opts(prioritize=NAME). Repeatable: the first NAME goes first.",
)
@_backend_option("--disable", multiple=True, help="Under backend_opts(disable=NAME). Repeatable.")
@click.option(
    "--type",
    "assumed",
    metavar="TYPE",
    shell_complete=complete_types,
    help="Under backend_opts(type=TYPE).",
)
@click.option(
    "--fallback",
    metavar="POLICY",
    type=click.Choice(POLICIES),
    help="Under backend_opts(fallback=POLICY): default, warn, raise or convert.",
)
@_backend_option(
    "--backend",
    "current",
    help="Under backend_opts(backend=NAME). Without TYPE, the call has no dispatch types.",
)
@_backend_option("--why-not", "wanted", help="Say how to make NAME run. Needs TYPE.")
@json_option
def explain_command(
    function: str,
    types: tuple[str, ...],
    prioritize: tuple[str, ...],
    disable: tuple[str, ...],
    assumed: str | None,
    fallback: str | None,
    current: str | None,
    wanted: str | None,
    as_json: bool,
) -> None:
    """Run ``spatch-core explain``."""
    libraries = [load_library(each) for each in find_libraries()]

    def named(text: str) -> GivenType:
        return given_type(type_named(text, libraries))

    with naming():
        given = tuple(map(named, types))
        loaded, identifier = find_function(function, libraries, [each.identifier for each in given])
        assumed_type = None if assumed is None else named(assumed)
        options = Options(prioritize, disable, assumed_type, fallback, current)
        question = Question(loaded.usable, identifier, given, options)
        question.import_homes()
        if given or current is not None:
            record, parts = _one_call(loaded, question, wanted)
        elif wanted is not None:
            raise click.UsageError("--why-not needs TYPE: the types of the call")
        else:
            record, parts = _every_type(loaded, question)
    if as_json:
        show_json(record)
    else:
        show(parts)


def _every_type(loaded: LoadedLibrary, question: Question) -> tuple[Json, list[Part]]:
    """Explain a call with each type that backends with an implementation name."""
    given = {}
    for name in loaded.types:
        with suppress(ValueError):  # doctor reports it
            given[name] = given_type(name)
    calls = calls_of(question, given)
    rows = [(each["type"], _what(loaded, **each), each["reason"]) for each in calls]
    stand_ins = ", ".join(each["type"] for each in calls if each["note"])
    record = {
        "library": loaded.library.name,
        "function": question.function,
        "calls": calls,
        "options": question.options.as_json(),
    }
    return record, [
        f"{question.function}: what runs for each type that backends name",
        Table(_CALLS, rows),
        *_circumstances(loaded, question),
        Notes(
            "Not importable here, so classes of the same name stand in",
            [stand_ins] if stand_ins else [],
        ),
        f"{counted(len(rows), 'type')}; with a TYPE, every backend has its reason",
    ]


def _what(loaded: LoadedLibrary, selected: str | None, refused: bool, **_: object) -> str:
    """Return what would run as people see it."""
    undecided = "refused" if refused else "depends on the arguments"
    return loaded.shown(selected or "") or undecided


def _circumstances(loaded: LoadedLibrary, question: Question) -> list[Part]:
    options = str(question.options)
    return [
        Notes("Options in force", [options] if options else []),
        state_notes("Not considered", unusable_backends(loaded)),
    ]


def _one_call(
    loaded: LoadedLibrary, question: Question, wanted: str | None
) -> tuple[Json, list[Part]]:
    explanation = question.ask()
    record: Json = {
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
        "why_not": None if wanted is None else _why_not(loaded, question, wanted),
    }
    names_of_types = ", ".join(map(type_identifier, explanation.types))
    refuses = is_refused(explanation)
    selected = _what(loaded, explanation.selected, refuses)
    rows = [
        (loaded.shown(each["backend"]), each["verdict"], each["reason"])
        for each in record["backends"]
    ]
    hints = []
    outcome = "the call is refused" if refuses else "the arguments decide"
    if explanation.selected:
        converts = any(each.verdict == Verdict.CONVERTS for each in explanation.backends)
        outcome = f"{selected} {'would convert' if converts else 'runs'}"
    elif not refuses:
        name = explanation.function.replace(":", ".")
        hints = [f"should_run decides by the arguments; in Python, {name}.explain(...) takes them"]
    # A backend that does not match but converts has two rows.
    number = len({each.backend for each in explanation.backends})
    return record, [
        f"{explanation.function}({names_of_types}) -> {selected}",
        Table(_VERDICTS, rows),
        Notes("Not decided", hints),
        *_circumstances(loaded, question),
        Notes("Stand-ins", [each.note for each in question.given if each.note]),
        *(_answer(record["why_not"], loaded) if record["why_not"] else ()),
        f"{counted(number, 'backend')}: {outcome}",
    ]


def _why_not(loaded: LoadedLibrary, question: Question, wanted: str) -> Json:
    names = {loaded.shown(each.name): each.name for each in list_backends(loaded)}
    if wanted not in (*names, DEFAULT):
        hint = meant(wanted, names, "installed")
        raise click.UsageError(f"no backend is named {wanted!r}; {hint}")
    return why_not(question, names.get(wanted, wanted))


def _answer(answer: Json, loaded: LoadedLibrary) -> list[Part]:
    question = f"Why not {loaded.shown(answer['backend'])}?"
    if answer["outcome"] == Attempt.RUNS:
        return [f"{question} It runs."]
    if answer["outcome"] == Attempt.ASKED:
        return [f"{question} It is asked first; its should_run decides."]
    remedies = [each["text"] for each in answer["remedies"]]
    runs = Attempt.RUNS in [each["outcome"] for each in answer["remedies"]]
    title = f"Any one of these would {'make it run' if runs else 'put it first'}"
    if answer["outcome"] == Attempt.UNREAD:
        title = "To find out"
    obstacles = "What else it would take" if remedies else "Nothing makes it run here"
    return [
        f"{question} {answer['reason']}",
        Notes(title, remedies),
        Notes(obstacles, answer["obstacles"]),
    ]


@click.command(
    "replay-check",
    help="""Say whether this environment would choose the backends that FILE has recorded.

For each recorded call, compare the backends that were asked before the one that answered,
and the version of that one. No implementation and no should_run is called.""",
    epilog="""\b
Examples:
  spatch-core replay-check run.json
  spatch-core replay-check run.json --json

A program writes the file: with backend_opts(hook=hooks.record("run.json")).
Exit code 1 if a choice is not the same.""",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@json_option
@click.pass_context
def replay_check_command(context: click.Context, file: str, as_json: bool) -> None:
    """Run ``spatch-core replay-check``."""
    with naming(), progress(f"replaying {file}"):
        choices = list(replay(read_record(file)))
    counts = Counter(each["outcome"] for each in choices)
    is_same = counts[Outcome.SAME.value] == len(choices)
    if as_json:
        show_json({"file": file, "same": is_same, "choices": choices})
    else:
        show(_replayed(choices, counts))
    context.exit(0 if is_same else 1)


def _replayed(choices: list[Json], counts: Counter[str]) -> list[Part]:
    calls = [f"{each['function']}({', '.join(each['types'])})" for each in choices]
    rows = [
        (each["function"], ", ".join(each["types"]), each["backend"], each["outcome"])
        for each in choices
    ]
    reasons = [
        f"{call}: {each['reason']}"
        for call, each in zip(calls, choices, strict=True)
        if each["reason"]
    ]
    outcomes = [f"{counts[each.value]} {each.value}" for each in Outcome if counts[each.value]]
    summary = ", ".join(outcomes) or "nothing to compare"
    return [
        *([Table(_CHOICES, rows)] if rows else []),
        Notes("Reasons", reasons),
        f"{counted(len(rows), 'recorded choice')}: {summary}",
    ]
