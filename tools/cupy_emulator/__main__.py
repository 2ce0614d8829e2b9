"""Run a program with CuPy's kernels emulated on the processor: see this package.

python -m cupy_emulator program.py arguments ...      in the folder tools, or with it on PYTHONPATH
python -m cupy_emulator --no-fma program.py
"""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

from cupy_emulator import NotEmulated, Unavailable, install


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--no-fma", action="store_true", help="round products before they are added"
    )
    parser.add_argument("program", type=Path, help="a file of Python")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    try:
        install(fma=not options.no_fma)
    except Unavailable as error:
        raise SystemExit(str(error)) from None
    sys.argv = [str(options.program), *options.arguments]
    sys.path[0] = str(options.program.resolve().parent)
    try:
        runpy.run_path(str(options.program), run_name="__main__")
    except NotEmulated as error:
        raise SystemExit(str(error)) from error


if __name__ == "__main__":
    main()
