"""What would run for each function, and for the types that backends name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from spatch_core.examination import what_runs as module
from spatch_core.examination.libraries import Library
from spatch_core.examination.what_runs import REFUSED, UNDECIDED, WhatRuns, what_runs
from spatch_core.types import Source

if TYPE_CHECKING:
    from tests.cli.conftest import Site

BLUR, BLEND = "paintlib.filters:blur", "paintlib.filters:blend"
LIBRARY = Library("paintlib", "paintlib._dispatch:system", Source())
IMPORTED = "import pathlib; pathlib.Path(__file__).with_name('imported').touch()\n"


@pytest.fixture
def studio(paint: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A second backend whose should_run is asked, and a type that cannot be imported."""
    monkeypatch.syspath_prepend(paint.folder)
    paint.install_backend(
        "wax",
        f"""
        primary_types = ["decimal:Decimal", "absent:Array"]
        [functions."{BLEND}"]
        function = "paint_wax:f"
        should_run = "paint_wax:asks"
        """,
        IMPORTED + "class Hard: ...\n",
    )
    return paint


def answered(found: WhatRuns, function: str, *types: str) -> tuple[Any, dict[str, str]]:
    """Return which backend runs, and the verdict of each."""
    places = sorted([each["name"] for each in found.types].index(name) for name in types)
    row = found.answers[found.functions.index(function)]
    selected, lines, rest = found.outcomes[row[found.combinations.index(places)]]
    assert rest == 0
    verdicts = {found.texts[a]: found.texts[b] for a, b, _ in lines}
    return found.texts[selected] if selected >= 0 else selected, verdicts


def test_the_answers_are_those_of_explain(studio: Site) -> None:
    """They are for each type alone, and for pairs of primary types."""
    found = what_runs(LIBRARY, [BLEND, BLUR])
    assert found.fault == ""
    assert [each["name"] for each in found.types] == [
        "builtins:int", "absent:Array", "decimal:Decimal", "fractions:Fraction",
    ]  # fmt: skip
    assert "stands in for absent:Array" in found.types[1]["note"]
    assert len(found.combinations) == 4 + 6
    assert answered(found, BLUR, "fractions:Fraction")[0] == "oil"
    assert answered(found, BLEND, "decimal:Decimal", "builtins:int")[0] == "default"
    selected, verdicts = answered(found, BLEND, "decimal:Decimal")
    assert (selected, verdicts["wax"]) == (UNDECIDED, "would be asked")
    explained = studio.run("explain", BLUR, "fractions:Fraction", "builtins:int", "--json").json
    selected, verdicts = answered(found, BLUR, "fractions:Fraction", "builtins:int")
    assert selected == explained["selected"]
    assert verdicts == {each["backend"]: each["verdict"] for each in explained["backends"]}


def test_a_refused_call(studio: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is distinguished from a call that the arguments decide."""
    code = (studio.folder / "paintlib" / "_dispatch.py").read_text(encoding="utf-8")
    changed = code.replace('default_primary_types=["builtins:int"]', "default_primary_types="
                           '["builtins:int"], fallback="raise"')  # fmt: skip
    (studio.folder / "paintlib" / "_dispatch.py").write_text(changed, encoding="utf-8")
    found = what_runs(LIBRARY, [BLUR])
    assert answered(found, BLUR, "decimal:Decimal")[0] == REFUSED


def test_no_more_is_asked_than_the_limit(studio: Site) -> None:
    """The library's own types come first."""
    found = what_runs(LIBRARY, [BLEND, BLUR], limit=5)
    assert [each["name"] for each in found.types] == ["builtins:int", "absent:Array"]
    assert (found.left_out, found.combinations) == (2, [[0], [1]])


def test_nothing_of_a_blocked_backend_is_imported(
    studio: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds even if another backend names one of its types."""
    studio.install_backend("ink", 'primary_types = ["paint_wax:Hard"]\n')
    monkeypatch.setenv("PAINTLIB_BLOCK", "wax")
    found = what_runs(LIBRARY, [BLUR])
    (hard,) = (each for each in found.types if each["name"] == "paint_wax:Hard")
    assert hard["note"] == "it belongs to a backend that is blocked"
    assert not (studio.folder / "paint_wax" / "imported").exists()
    assert all(found.types[place] is not hard for each in found.combinations for place in each)
    monkeypatch.delenv("PAINTLIB_BLOCK")
    what_runs(LIBRARY, [BLUR])
    assert (studio.folder / "paint_wax" / "imported").exists()


def test_a_type_whose_module_ends_the_interpreter(studio: Site) -> None:
    """The questions about other types are answered."""
    (studio.folder / "ending.py").write_text("import os\nos._exit(3)\n", encoding="utf-8")
    studio.install_backend("ink", 'primary_types = ["ending:Array"]\n')
    found = what_runs(LIBRARY, [BLUR])
    notes = {each["name"]: each["note"] for each in found.types}
    assert notes["ending:Array"] == "importing ending ended the interpreter"
    assert answered(found, BLUR, "fractions:Fraction")[0] == "oil"


def test_a_library_that_cannot_be_asked(studio: Site) -> None:
    """The fault says why."""
    found = what_runs(Library("paintlib", "paintlib._dispatch:missing", Source()), [BLUR])
    assert "library 'paintlib' cannot be used" in found.fault
    assert found == WhatRuns(fault=found.fault)
    (studio.folder / "paintlib" / "_dispatch.py").write_text("import os\nos._exit(3)\n")
    ended = what_runs(LIBRARY, [BLUR]).fault
    assert ended == "loading paintlib ended the interpreter with exit code 3"


def test_many_backends_have_lines_only_where_they_take_part(studio: Site) -> None:
    """The others are only counted."""
    for number in range(module._FEW):
        studio.install_backend(f"ink{number}", 'primary_types = ["datetime:date"]\n')
    found = what_runs(LIBRARY, [BLUR])
    place = [each["name"] for each in found.types].index("fractions:Fraction")
    _, lines, rest = found.outcomes[found.answers[0][found.combinations.index([place])]]
    assert [found.texts[each] for _, each, _ in lines] == ["runs", "comes later"]
    assert rest == module._FEW + 1
