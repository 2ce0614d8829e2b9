"""Run the tests of the C extension with AddressSanitizer and UndefinedBehaviorSanitizer.

    python tools/sanitize.py                          # all tests that call the C extension
    python tools/sanitize.py tests/test_scale.py -x   # arguments for pytest instead

The tests run on the current interpreter, which must have their dependencies. Requires Linux and
gcc or clang with the sanitizers. The script builds in a temporary folder and leaves the checkout
unchanged. It is not a session of ``noxfile.py``: many machines lack the libraries, the tests
take three times as long, and the C code seldom changes.

Memory that is still in use at exit is not reported, because the interpreter itself leaves some.
`tests/function/test_acceleration_stress.py` tests that calls do not leak memory.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
FLAGS = [
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
    "-g",
    "-O1",
    "-Wall",
    "-Wextra",
]
TESTS = [
    "tests/function/test_acceleration.py",
    "tests/function/test_acceleration_stress.py",
    "tests/function/test_adopting.py",
    "tests/function/test_one_function.py",
    "tests/protocols/test_array_function.py",
    "tests/call/test_candidate_chain.py",
    "tests/function/test_dispatcher.py",
    "tests/property/test_paths.py",
    "tests/state/test_options_block.py",
    "tests/state/test_options_view.py",
]
CHECK = "import spatch_core as s; print(s.accelerated, s.__file__)"


def find_library(compiler: str) -> str:
    """Return the path of the sanitizer's library, which must be loaded before all others."""
    # The name differs between gcc and clang. A bare name means that the library is not
    # installed.
    for name in ("libasan.so", f"libclang_rt.asan-{os.uname().machine}.so", "libclang_rt.asan.so"):
        found = subprocess.run(
            [compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        if os.path.isabs(found):
            return os.path.realpath(found)
    sys.exit(f"{compiler} has no AddressSanitizer as a shared library")


def build(compiler: str, folder: Path) -> None:
    """Copy the package into `folder` and build its extension with the sanitizers."""
    package = folder / "spatch_core"
    shutil.copytree(
        ROOT / "spatch_core", package, ignore=shutil.ignore_patterns("*.so", "__pycache__")
    )
    shared = ["-shared-libasan"] if "clang" in os.path.basename(compiler) else []
    for source in package.glob("*.c"):
        made = source.with_name(f"{source.stem}{sysconfig.get_config_var('EXT_SUFFIX')}")
        include = f"-I{sysconfig.get_path('include')}"
        command = [compiler, *FLAGS, *shared, "-shared", "-fPIC", include]
        subprocess.run([*command, str(source), "-o", str(made)], check=True)


def main() -> int:
    compiler = shutil.which(os.environ.get("CC", "gcc")) or shutil.which("clang")
    if compiler is None or sys.platform != "linux":
        sys.exit("This needs Linux and gcc or clang")
    with TemporaryDirectory() as name:
        build(compiler, Path(name))
        variables = {
            **os.environ,
            "LD_PRELOAD": find_library(compiler),
            # The interpreter's allocator would hide object boundaries from the sanitizer.
            "PYTHONMALLOC": "malloc",
            "PYTHONPATH": name,
            "PYTHONSAFEPATH": "1",  # do not import the checkout's package
            "PYTHONDONTWRITEBYTECODE": "1",
            "SPATCH_CORE_PURE": "0",
            "ASAN_OPTIONS": "detect_leaks=0",
            "UBSAN_OPTIONS": "print_stacktrace=1",
        }
        found = subprocess.run(
            [sys.executable, "-c", CHECK],
            env=variables,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if not found.stdout.startswith(f"True {name}"):
            sys.exit(f"the extension that was built is not used:\n{found.stdout}{found.stderr}")
        # The sanitizers write to file descriptor 2 and bypass `sys.stderr`.
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "--capture=sys",
            "-m",
            "",
        ]
        command += sys.argv[1:] or TESTS
        return subprocess.run(command, env=variables, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
