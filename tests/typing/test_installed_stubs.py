"""``spatch-core stubs``, under type checkers: F12."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from spatch_core.testing import run_python, write_distribution

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
INIT = """
from . import filters
from ._arrays import Grid
from ._system import backend_opts
from .filters import blur

__version__ = "1.0"
LIMIT = 3
"""
ARRAYS = """
class Grid:
    def __init__(self, values: list[float]) -> None:
        self.values = values
"""
SYSTEM = """
from spatch_core import BackendSystem

system = BackendSystem("gridlib.backends", "GRIDLIB", default_primary_types=["gridlib:Grid"])
backend_opts = system.backend_opts
"""
FILTERS = '''
from __future__ import annotations
from typing import TYPE_CHECKING, Literal, TypeVar
from ._system import system

if TYPE_CHECKING:
    from collections.abc import Sequence
    from ._arrays import Grid

T = TypeVar("T")

class FilterError(ValueError):
    """What filters raise."""

class Plan:
    pass

@system.dispatchable("image")
def blur(image: Grid, sigma: float = 1.0, *, mode: Literal["wrap", "same"] = "same") -> Grid:
    return image

@system.dispatchable(("x", "y"))
def mix(x, y, weights=None):
    """Mix.

    Returns
    -------
    mixed : Grid
        Half of each.
    """
    return x

@system.dispatchable("x")
def unknown(x): return x

@system.dispatchable("image")
def extrema(image: Grid) -> tuple[Grid, int]: ...

@system.dispatchable("image")
def count(image: Grid) -> int: ...

@system.dispatchable("x")
def same(x: T) -> T: return x

@system.dispatchable("image")
async def later(image: Grid) -> Grid: return image

@system.dispatchable("image")
def strange(image: Nowhere) -> Sequence[Nothing]: ...

def plain(values: Sequence[float], n: int = 1) -> dict[str, int]: return {}

class Filter:
    @system.dispatchable("image")
    def apply(self, image: Grid) -> Grid: return image
'''
NAMES = ("blur", "mix", "unknown", "extrema", "count", "same", "later", "strange")
BACKEND = """
name = "{name}"
primary_types = [{types}]
secondary_types = [{more}]
"""
RIGHT = """
from __future__ import annotations
from decimal import Decimal
from fractions import Fraction
from typing import Any
import gridlib
from gridlib import Grid, filters
from typing_extensions import assert_type

grid = Grid([1.0])
assert_type(grid.values, list[float])
assert_type(filters.blur(grid), Grid)
assert_type(filters.blur(Fraction(1), 2.0, mode="wrap"), Fraction)
assert_type(filters.blur(image=Decimal(1)), Decimal)
assert_type(gridlib.blur(Decimal(1)), Decimal)
assert_type(filters.mix(Fraction(1), Fraction(2)), Fraction)
assert_type(filters.mix(grid, Fraction(2)), Fraction)
assert_type(filters.mix(Fraction(2), grid), Fraction)
assert_type(filters.mix(2.0, Fraction(2)), Fraction)
assert_type(filters.mix(grid, grid), Grid)
assert_type(filters.mix(b"", object()), Any)
assert_type(filters.mix(Decimal(1), Fraction(1)), Any)
assert_type(filters.unknown(Fraction(1)), Any)
assert_type(filters.extrema(Fraction(1)), tuple[Fraction, int])
assert_type(filters.extrema(grid), tuple[Grid, int])
assert_type(filters.count(Fraction(1)), int)
assert_type(filters.same(Fraction(1)), Fraction)
assert_type(filters.same(3), int)
assert_type(filters.strange(Fraction(1)), Any)
assert_type(filters.plain([1.0]), dict[str, int])
assert_type(gridlib.LIMIT, int)
assert_type(gridlib.__version__, str)
filters.blur.invoke(backend="exact")(1)
assert_type(list(filters.blur.backends), list[str])
with gridlib.backend_opts(prioritize="exact") as options:
    options.backends

async def wait(x: Fraction) -> None:
    assert_type(await filters.later(x), Fraction)

def handle(plan: filters.Plan) -> filters.Plan:
    try:
        return filters.Plan(plan, depth=1)
    except filters.FilterError:
        raise

def by_hand(x: Fraction | Grid) -> Fraction | Grid:
    return filters.blur(x)
"""
WRONG = """
from fractions import Fraction
from gridlib import filters
filters.blurr(Fraction(1))
filters.blur()
filters.blur("text")
filters.blur(Fraction(1), mode="unknown")
filters.blur(Fraction(1)).numerators
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of a user, with the library, two backends and the stubs of these."""
    folder = tmp_path_factory.mktemp("project")
    site = folder / "site"
    library = {"__init__": INIT, "_arrays": ARRAYS, "_system": SYSTEM, "filters": FILTERS}
    write_distribution(
        site,
        "grid-lib",
        entry_points={"spatch_core.libraries": {"gridlib": "gridlib._system:system"}},
        files={f"gridlib/{name}.py": text for name, text in library.items()}
        | {"gridlib/py.typed": ""},
    )
    functions = "".join(
        f'[functions."gridlib.filters:{name}"]\nfunction = "absent:{name}"\n' for name in NAMES
    )
    types = {
        "exact": ('"absent:Array", "~fractions:Fraction"', '"absent:Array", "gridlib:Grid"'),
        # No checker could import the second one, and the code of the third one would run.
        "tens": ('"decimal:Decimal", "decimal:class", "decimal:import"', ""),
    }
    for name, (primary, secondary) in types.items():
        write_distribution(
            site,
            f"grid-{name}",
            entry_points={"gridlib.backends": {name: f"grid_{name}:backend.toml"}},
            files={
                f"grid_{name}/__init__.py": "raise SystemExit('imported')",
                f"grid_{name}/backend.toml": BACKEND.format(
                    name=name, types=primary, more=secondary
                )
                + functions,
            },
        )
    code = "import sys; from spatch_core.__main__ import main; sys.argv[1:] = ['stubs', 'gridlib']"
    run_python(f"import os; os.chdir({str(folder)!r}); {code}; main()", path=[site, ROOT])
    (folder / "right.py").write_text(RIGHT, encoding="utf-8")
    (folder / "wrong.py").write_text(WRONG, encoding="utf-8")
    paths = f'"site", "{ROOT}"'
    (folder / "pyrightconfig.json").write_text(
        f'{{"extraPaths": [{paths}], "exclude": ["site"], "reportMissingModuleSource": "none"}}'
    )
    (folder / "mypy.ini").write_text(f"[mypy]\nmypy_path = typings:site:{ROOT}\nstrict = True\n")
    return folder


def check(checker: str, project: Path, *what: str) -> subprocess.CompletedProcess[str]:
    if find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    options = ["--pythonpath", sys.executable] if checker == "pyright" else ["--no-error-summary"]
    # The project alone: pyright takes names on the command line for all that is checked.
    return subprocess.run(
        [sys.executable, "-m", checker, *options, *what],
        cwd=project,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_checkers_know_the_types_of_installed_backends(project: Path, checker: str) -> None:
    """Also nothing is wrong in the stubs; what is wrong in a program is found at its line."""
    what = ["right.py", "wrong.py", "typings"] if checker == "mypy" else []
    done = check(checker, project, *what)
    lines = re.findall(r"(\w+\.pyi?):(\d+)(?::\d+)?[: -]+error", done.stdout)
    expected = [("wrong.py", str(line)) for line in (4, 5, 6, 7, 8)]
    assert sorted({each for each in lines if each[0] != "_locks.py"}) == expected, (
        done.stdout + done.stderr
    )
