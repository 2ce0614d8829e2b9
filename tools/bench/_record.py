"""The record of a run, and its tables in Markdown, for a terminal and for a page."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import pyperf
from rich.console import Console
from rich.markdown import Markdown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "<!--- figures -->", "<!--- end of figures -->"
DASH = "\N{EN DASH}"
BAD = ("over", "under", "slower")


@dataclass
class Record:
    """The samples of a run, its machine and versions, and the measurements that failed.

    `samples` holds for each name the seconds of all rounds. Those of the same round were taken side
    by side, also those of different names.
    """

    machine: dict[str, str]
    samples: dict[str, list[float]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)

    def ratios(self, name: str, other: str) -> list[float]:
        """Return the ratios to the times of the other name, round by round."""
        both = zip(self.samples.get(name, []), self.samples.get(other, []), strict=False)
        return [one / two for one, two in both]


def describe_machine(packages: Iterable[str]) -> dict[str, str]:
    """Return machine, system, interpreter, commit, the packages' versions and the date."""
    found = pyperf.Run([1.0]).get_metadata()
    interpreter = f"{platform.python_implementation()} {platform.python_version()}"
    if "--enable-optimizations" not in found.get("python_config_args", "--enable-optimizations"):
        interpreter += ", built without profile-guided optimization"
    load, cores = found.get("load_avg_1min"), os.cpu_count() or 1
    busy = ", busy: times are noisy" if load and load > 0.75 * cores else ""
    processor = found.get("cpu_model_name") or platform.processor()
    return {
        "machine": f"{processor} ({platform.machine()}), {cores} cores",
        "system": f"{platform.system()} {platform.release()}",
        "interpreter": interpreter,
        "spatch-core": describe_commit(ROOT),
        "versions": ", ".join(_versions(packages)) or "what the standard library has",
        "date": found["date"][:16],
        "load average before": "unknown" if load is None else f"{load:.1f}{busy}",
    }


def describe_commit(folder: Path) -> str:
    """Return the commit that is checked out in a folder, or the folder without one."""
    try:
        return f"commit {run(['git', 'describe', '--always', '--dirty'], folder)}"
    except (OSError, RuntimeError):
        return str(folder)


def run(command: list[str], folder: Path, variables: Mapping[str, str] | None = None) -> str:
    """Run a command in a folder and return its output."""
    options: Any = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    found = subprocess.run(command, cwd=folder, env=variables, check=False, **options)
    if found.returncode:
        raise RuntimeError(f"{command[-1]}\nended with {found.returncode}:\n{found.stderr}")
    return str(found.stdout).strip()


def _versions(packages: Iterable[str]) -> list[str]:
    installed = {each.metadata["Name"]: each.version for each in metadata.distributions()}
    return [f"{name} {installed[name]}" for name in packages if name in installed]


def number(value: float | None, like: float | None = None) -> str:
    """Return a value with three digits, or with as many decimals as `like`."""
    if value is None:
        return DASH
    size = abs(value if like is None else like)
    return f"{value:,.{2 if size < 10 else 1 if size < 100 else 0}f}"


def with_spread(values: list[float]) -> str:
    """Return the median ± half the distance between the quartiles."""
    if len(values) < 2:
        return number(values[0] if values else None)
    middle = median(values)
    low, _, high = quantiles(values, n=4)
    return f"{number(middle)} ± {number((high - low) / 2, middle)}"


def table(title: str, columns: list[str], rows: Iterable[list[str]]) -> list[str]:
    """Return a table as lines of Markdown, after an empty line."""
    body = [[f"**{cell}**" if cell in BAD else cell for cell in row] for row in rows]
    widths = [max(3, *map(len, cells)) for cells in zip(columns, *body, strict=True)]
    rules = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = ["", f"**{title}**", ""]
    for first, *others in (columns, rules, *body):
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        lines.append(f"| {' | '.join([first.ljust(widths[0]), *cells])} |")
    return lines


def markdown(record: Record, lines: Iterable[str]) -> str:
    """Return the machine of a run, its tables and its failures."""
    failures = [f"\nNot measured: {failure.splitlines()[0]}" for failure in record.failures]
    machine = (f"- {key}: {value}" for key, value in record.machine.items())
    return "\n".join([*machine, *lines, *failures]) + "\n"


def show(text: str) -> None:
    """Print Markdown; in a terminal, as tables."""
    if sys.stdout.isatty():
        Console().print(Markdown(text))
    else:
        print(text, end="")


def update(page: Path, text: str) -> None:
    """Put `text` between the two marks of a page."""
    content = page.read_text(encoding="utf-8")
    before, begin, rest = content.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} lacks the marks {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}", encoding="utf-8")
