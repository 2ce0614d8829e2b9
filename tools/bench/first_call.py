"""Measure a library's first call where many installed backends implement all its functions.

    python tools/bench/first_call.py                                # 200 backends, 1,000 functions
    python tools/bench/first_call.py --backends 20 --functions 100

Each process is fresh, and sees only the distributions that are written here. The figures are
processor times.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench._fresh import Program, first_call, install
from bench._record import ROOT
from bench._versions import MODES, Contestant, stage


def measure(program: Program, contestant: Contestant, rounds: int) -> str:
    """Run a program several times; return the line for one path."""
    found = [program.seconds(contestant) * 1e3 for _ in range(rounds)]
    return f"{contestant.mode:12} {median(found):8.0f} ms   ({min(found):.0f} to {max(found):.0f})"


def main() -> None:
    """Write the distributions, and print a line for each path."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--backends", type=int, default=200)
    parser.add_argument("--functions", type=int, default=1000, help="functions of the library")
    parser.add_argument("--documented", action="store_true", help="each backend documents each")
    parser.add_argument("--rounds", type=int, default=9, help="processes of each path")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="spatch-core-bench-") as name:
        folder = Path(name)
        count = options.backends
        functions, documented = options.functions, options.documented
        print(f"writing {count} distributions", flush=True)
        installed = install(folder / "installed", count, count, functions, documented)
        program = Program("first call", first_call(count, functions), installed)
        version = stage(ROOT, folder / "version")
        for mode in MODES if version.is_built else MODES[:1]:
            contestant = Contestant(version, mode)
            print(measure(program, contestant, options.rounds), flush=True)


if __name__ == "__main__":
    main()
