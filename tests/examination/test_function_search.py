"""Finding a library's function by any of its names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from spatch_core.testing import run_python, write_distribution

if TYPE_CHECKING:
    from tests.cli.conftest import Site

CODE = """
    from spatch_core.examination.function_search import (
        LibraryError, UnknownFunctionError, find_function
    )

    for name in {names!r}:
        try:
            loaded, identifier = find_function(name)
            print(loaded.library.name, identifier)
        except (LibraryError, UnknownFunctionError) as error:
            print(type(error).__name__, error)
    """


def test_a_function_has_one_identifier_and_other_names(paint: Site) -> None:
    """Near misses are suggested."""
    (paint.folder / "easel.py").write_text("from paintlib.filters import blur as smear\n")
    names = ["paintlib.filters:blur", "easel:smear", "paintlib.filters:blr", "nowhere:blur"]
    found = run_python(CODE.format(names=names), path=[paint.folder]).stdout.splitlines()
    without = "UnknownFunctionError no library has a function"
    assert found == [
        "paintlib paintlib.filters:blur",
        "paintlib paintlib.filters:blur",
        f"{without} 'paintlib.filters:blr'; did you mean paintlib.filters:blur?",
        f"{without} 'nowhere:blur' (the module nowhere is not installed)",
    ]


def test_a_library_that_cannot_be_used_is_told(paint: Site) -> None:
    paint.install_library({"paintlib/_dispatch.py": "1 / 0"})
    (line,) = run_python(
        CODE.format(names=["paintlib.filters:blur"]), path=[paint.folder]
    ).stdout.splitlines()
    assert line.startswith("LibraryError library 'paintlib' cannot be used (")


ADOPTING = """
import math
from spatch_core import BackendSystem

class Bird:
    pass

class Chick(Bird):
    pass

backend = {"name": "own", "primary_types": [f"~{__name__}:Bird"], "functions": {}}
system = BackendSystem(None, "BIRDS", backends=[backend])
system.adopt(math.fsum, "math:fsum")
total = math.fsum
"""
CHOOSING = """
    from spatch_core.examination.function_search import find_function

    for types in ["ducks:Chick"], ["builtins:float", "geese:Chick"], ["absent:T", "math:pi"], []:
        loaded, identifier = find_function("math:fsum", types)
        print(loaded.library.name, identifier)
    loaded, identifier = find_function("geese:total", ["geese:Chick"])
    print(loaded.library.name, identifier)
    """


def test_several_libraries_may_adopt_a_function(tmp_path: Path) -> None:
    """T1: the library whose backends know a type is meant, else the first one.

    It is found by any name that it has.
    """
    for name in ("ducks", "geese"):
        group = {"spatch_core.libraries": {name: f"{name}:system"}}
        write_distribution(tmp_path, name, entry_points=group, files={f"{name}.py": ADOPTING})
    found = run_python(CHOOSING, path=[tmp_path]).stdout.split()
    assert found[::2] == ["ducks", "geese", "ducks", "ducks", "geese"]
    assert {*found[1::2]} == {"math:fsum"}
