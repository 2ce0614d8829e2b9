"""The record of a run, in pyperf's format: ``python -m pyperf stats FILE`` reads it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyperf

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Record:
    """The samples of a run, its machine and versions, and the measurements that failed.

    `samples` holds for each name the seconds of all rounds, a list for each process. Samples
    of the same process and round were taken side by side, also those of different names.
    """

    machine: dict[str, str]
    samples: dict[str, list[list[float]]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)

    def seconds(self, name: str) -> list[float]:
        return [each for process in self.samples.get(name, []) for each in process]

    def ratios(self, name: str, other: str) -> list[float]:
        """Return the ratios to the times of the other name, round by round."""
        both = zip(self.samples.get(name, []), self.samples.get(other, []), strict=False)
        return [one / two for process in both for one, two in zip(*process, strict=False)]

    def save(self, file: Path) -> None:
        """Write a pyperf suite, in which each process is a run."""
        fields = {key: value for key, value in vars(self).items() if key != "samples"}
        about = {**pyperf.Run([1.0]).get_metadata(), "record": json.dumps(fields)}
        benchmarks = [
            pyperf.Benchmark(
                [
                    pyperf.Run(each, metadata={**about, "name": name}, collect_metadata=False)
                    for each in processes
                ]
            )
            for name, processes in self.samples.items()
        ]
        pyperf.BenchmarkSuite(benchmarks).dump(str(file), replace=True)

    @classmethod
    def load(cls, file: Path) -> Record:
        suite = pyperf.BenchmarkSuite.load(str(file))
        about = json.loads(suite.get_metadata()["record"])
        runs = {each.get_name(): each.get_runs() for each in suite}
        return cls(
            samples={name: [list(run.values) for run in each] for name, each in runs.items()},
            **about,
        )


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
