"""``spatch-core report``: one page of HTML with everything."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from spatch_core.testing import run_python, write_distribution
from tests.cli.conftest import LIBRARY

if TYPE_CHECKING:
    from tests.cli.conftest import Site

BLUR = "paintlib.filters:blur"
MARKUP = "<script>alert(1)<img src=x>\"'&"
PROGRAM = """
import os
from fractions import Fraction
from paintlib._dispatch import system
from paintlib.filters import blur
from spatch_core import hooks

with hooks.record(os.environ["RUN"], times=True) as recorded, system.backend_opts(hook=recorded):
    blur(1)
"""
IMPORTED = "import pathlib; pathlib.Path(__file__).with_name('imported').touch()\n"


def page(site: Site, name: str = "report.html") -> str:
    return (site.folder / name).read_text(encoding="utf-8")


def data(site: Site) -> list[Any]:
    """The data of each library on the page."""
    found = re.findall(r'<script type="application/json" id="[\w-]+">(.*?)</script>', page(site))
    return [json.loads(each) for each in found]


def test_the_page_has_what_the_commands_tell(paint: Site) -> None:
    """It also has the answers of explain."""
    answer = paint.run("report", "paintlib", "--no-doctor")
    assert (answer.code, answer.errors) == (0, "")
    assert answer.output == "report.html: 1 library, 2 backends, no findings\n"
    text = page(paint)
    assert "paint-oil 1.0" in text
    assert "doctor was not run" in text
    for edge in paint.run("show", "paintlib", "--json").json["edges"]:
        assert (edge["reason"] in text) is not bool(edge["void"])
    (found,) = data(paint)
    assert found["matrix"]["rows"] == [
        ["paintlib.filters:blend", "y-", True],
        [BLUR, "yy", True],
    ]
    explained = paint.run("explain", BLUR, "--json").json
    assert found["what"]["calls"][BLUR] == explained["calls"]


def test_the_findings_are_those_of_doctor(paint: Site) -> None:
    """The exit code is 0, because the file was written."""
    paint.install_backend("wax", 'primary_types = ["fractions:Fractoin"]\n')
    answer = paint.run("report", "-o", "all.html", "paintlib")
    findings = paint.run("doctor", "paintlib", "--json").json["libraries"][0]["findings"]
    assert len(findings) > 1
    number = f"{len(findings)} findings"
    assert (answer.code, answer.output) == (0, f"all.html: 1 library, 3 backends, {number}\n")
    text = page(paint, "all.html").replace("&#39;", "'")
    assert all(f"{each['message']}. {each['remedy']}." in text for each in findings)


def test_nothing_of_a_blocked_backend_is_imported(paint: Site) -> None:
    """Neither doctor nor the panel imports it; it is listed."""
    toml = f'primary_types = ["paint_ink:T"]\n[functions."{BLUR}"]\nfunction = "paint_ink:f"\n'
    paint.install_backend("ink", toml, IMPORTED)
    paint.run("report", "paintlib", PAINTLIB_BLOCK="ink")
    assert not (paint.folder / "paint_ink" / "imported").exists()
    assert "by the environment variable PAINTLIB_BLOCK" in page(paint).replace("&#39;", "'")
    paint.run("report", "paintlib")
    assert (paint.folder / "paint_ink" / "imported").exists()


def test_names_that_are_markup_are_texts(site: Site) -> None:
    """Names of libraries, functions, backends and types, and versions, are escaped."""
    filters = (
        LIBRARY["paintlib/filters.py"]
        + f"""
        @system.dispatchable("x", module="paintlib", qualname={"b" * 2000!r})
        def long(x):
            return x
        """
    )
    write_distribution(
        site.folder,
        "paint-lib",
        MARKUP,
        entry_points={
            "spatch_core.libraries": {MARKUP.replace("=", ""): "paintlib._dispatch:system"}
        },
        files={**LIBRARY, "paintlib/filters.py": filters},
    )
    write_distribution(
        site.folder,
        "paint-oil",
        entry_points={"paintlib.backends": {MARKUP: "paint_oil:b.toml", "o" * 3000: "nowhere:x"}},
        files={"paint_oil/b.toml": f"name = '''{MARKUP}'''\nprimary_types = ['''{MARKUP}''']\n"},
    )
    assert site.run("report", MARKUP.replace("=", "")).code == 0
    text = page(site)
    assert "alert(1)" in text
    assert "<script>alert" not in text
    assert "o" * 3000 in text
    assert any("b" * 2000 in row[0] for row in data(site)[0]["matrix"]["rows"])


def test_a_recorded_run(paint: Site) -> None:
    """The page has its timeline; a file that is not a record is refused."""
    run_python(PROGRAM, path=[paint.folder], environment={"RUN": str(paint.folder / "run.json")})
    answer = paint.run("report", "paintlib", "--no-doctor", "--record", "run.json")
    assert answer.code == 0
    assert "blur → default, 1 call" in page(paint)
    (paint.folder / "no.json").write_text("{}")
    answer = paint.run("report", "--record", "no.json")
    assert answer.code == 1
    assert answer.errors == "Error: no.json is not a record of hooks.record: it lacks 'format'\n"


def test_wrong_usage(paint: Site) -> None:
    """Nothing is written."""
    answer = paint.run("report", "paintlip")
    assert (answer.code, answer.output) == (2, "")
    assert "did you mean 'paintlib'?" in answer.errors
    answer = paint.run("report", "--record", "absent.json")
    assert (answer.code, answer.output) == (2, "")
    assert "absent.json" in answer.errors
    answer = paint.run("report", "-o", "absent/report.html")
    assert (answer.code, answer.output) == (2, "")
    assert "Invalid value for '-o' / '--output': there is no folder absent" in answer.errors
    assert not (paint.folder / "report.html").exists()
