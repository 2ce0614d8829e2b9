"""The design of a new backend: its example and its names follow from the library."""

from __future__ import annotations

import pytest

from spatch_core.testing import write_distribution
from tests.cli.conftest import ODD, TYPE, Site, create


def test_the_example_is_a_plain_function(paint: Site) -> None:
    """Another function is the example only if there is no plain one."""
    paint.install_library({"paintlib/filters.py": ODD})
    answer = create(paint, "water", "--type", "fractions:Fraction", "--json")
    assert answer.json["function"] == "paintlib.filters:smooth"
    without = ODD.replace('@system.dispatchable("x")\n    def smooth', "def smooth")
    paint.install_library({"paintlib/filters.py": without})
    answer = create(paint, "wax", "--type", "fractions:Fraction", "--json")
    assert answer.json["function"] == "paintlib.filters:Image.blend"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("system = BackendSystem('inklib.backends', 'I')", "has no function whose signature"),
        ("system = BackendSystem(None, 'I')", "has no entry point group"),
        ("system = 1", "is not a BackendSystem"),
    ],
)
def test_a_library_that_takes_no_backends_is_reported(site: Site, code: str, message: str) -> None:
    """It has no group, no functions, or no system."""
    write_distribution(
        site.folder,
        "1nk-lib",
        entry_points={"spatch_core.libraries": {"inklib": "inklib:system"}},
        files={"inklib.py": f"from spatch_core import BackendSystem\n{code}\n"},
    )
    answer = create(site, "water", *TYPE, library="inklib")
    assert answer.code in (1, 2)
    assert message in " ".join(answer.errors.split()) or "no package can be named" in answer.errors


def test_who_takes_the_librarys_own_types_is_told_of_opt_in(paint: Site) -> None:
    """The golden rule: the library goes first."""
    types = ["--type", "builtins:int"]
    told = " ".join(create(paint, "a", *types).output.split())
    assert "so the backend requires opt-in: it runs only where it is prioritized" in told
