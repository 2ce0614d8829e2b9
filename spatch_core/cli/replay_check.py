"""``spatch-core replay-check``: compare recorded choices with those of this environment."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

from ..examination.child import progress
from ..examination.replay import Outcome, RecordError, Replayed, read_record, replay
from .arguments import json_option
from .findings import counted
from .output import Column, Notes, Part, Table, show, show_json

_COLUMNS = (
    Column("function"),
    Column("types"),
    Column("backend"),
    Column(
        "outcome",
        styles={
            Outcome.SAME.value: "green",
            Outcome.VERSION.value: "yellow",
            Outcome.CHOICE.value: "bold red",
            Outcome.NOT_FOUND.value: "bold red",
        },
    ),
)

_EPILOG = """\b
Examples:
  spatch-core replay-check run.json
  spatch-core replay-check run.json --json

A program writes the file: with backend_opts(hook=hooks.record("run.json")).
Exit code 1 if a choice is not the same."""


@click.command("replay-check", epilog=_EPILOG)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@json_option
@click.pass_context
def replay_check_command(context: click.Context, file: str, as_json: bool) -> None:
    """Say whether this environment would choose the backends that FILE has recorded.

    For each recorded call, compare the backends that were asked before the one that answered,
    and the version of that one. No implementation and no should_run is called.
    """
    try:
        with progress(f"replaying {file}"):
            replayed = list(replay(read_record(file)))
    except (RecordError, OSError) as error:
        raise click.ClickException(str(error)) from None
    counts = Counter(each.outcome for each in replayed)
    is_same = counts[Outcome.SAME] == len(replayed)
    if as_json:
        found = [_as_json(each) for each in replayed]
        show_json({"file": file, "same": is_same, "choices": found})
    else:
        show(_parts(replayed, counts))
    context.exit(0 if is_same else 1)


def _parts(replayed: list[Replayed], counts: Counter[Outcome]) -> list[Part]:
    rows = [
        (
            each.recorded.function,
            ", ".join(each.recorded.types),
            each.recorded.backend,
            each.outcome.value,
        )
        for each in replayed
    ]
    reasons = [
        f"{each.recorded.function}({', '.join(each.recorded.types)}): {each.reason}"
        for each in replayed
        if each.reason
    ]
    parts: list[Part] = [Table(_COLUMNS, rows)] if rows else []
    parts.append(Notes("Reasons", reasons))
    others = [f"{counts[each]} {each.value}" for each in Outcome if counts[each]]
    parts.append(
        f"{counted(len(replayed), 'recorded choice')}: {', '.join(others) or 'nothing to compare'}"
    )
    return parts


def _as_json(replayed: Replayed) -> dict[str, Any]:
    recorded = replayed.recorded
    return {
        "function": recorded.function,
        "types": list(recorded.types),
        "backend": recorded.backend,
        "outcome": replayed.outcome.value,
        "reason": replayed.reason,
        "recorded": {"distribution": recorded.distribution, "version": recorded.version},
        "here": {"distribution": replayed.distribution, "version": replayed.version},
        "options": {
            "prioritize": list(recorded.prioritize),
            "disable": list(recorded.disable),
            "type": recorded.type,
            "backend": recorded.current,
        },
        "invoked": recorded.invoked,
        "count": recorded.count,
    }
