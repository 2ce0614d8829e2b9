"""The tables and drawings of the pages agree with the code, and the tutorial with the example."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import architecture
import spatch_core
from spatch_core import _environment, exceptions

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "reference"
GUIDES = ROOT / "docs" / "how-to"
EXAMPLES = REFERENCE / "examples"
MINIMAL = ROOT / "example_backends" / "minimal"


def table(page: str, mark: str) -> list[list[str]]:
    """Return the rows of the table that follows a mark, without its head."""
    text = (REFERENCE / page).read_text(encoding="utf-8").split(f"<!--- {mark} -->")[1]
    rows = re.findall(r"^\|(.*)\|$", text.lstrip().split("\n\n")[0], re.MULTILINE)
    return [[cell.strip() for cell in row.split("|")] for row in rows[2:]]


def first_column(page: str, mark: str) -> list[str]:
    """Return the first column of a table."""
    return [row[0].strip("`") for row in table(page, mark)]


def test_every_variable_is_in_its_table() -> None:
    """The reference has the variables that the package reads."""
    suffixes = _environment.SUFFIXES
    assert first_column("environment.md", "variables") == [f"<PREFIX>_{each}" for each in suffixes]


@pytest.mark.parametrize(("mark", "base"), [("errors", Exception), ("warnings", Warning)])
def test_every_error_and_warning_is_in_its_table(mark: str, base: type[Exception]) -> None:
    """The reference has all public errors and warnings, with a base class of each."""
    rows = {row[0].strip("`"): row[1].strip("`") for row in table("errors.md", mark)}
    public = {name: getattr(exceptions, name) for name in dir(exceptions)}  # some are lazy
    defined = {
        name
        for name, value in public.items()
        if isinstance(value, type)
        and issubclass(value, base)
        and issubclass(value, Warning) == (base is Warning)
        and value.__module__ == exceptions.__name__
    }
    assert rows.keys() == defined
    assert defined <= set(spatch_core.__all__)
    for name, also in rows.items():
        parents = [each.__name__ for each in getattr(spatch_core, name).__mro__[1:]]
        assert also in parents


def test_every_error_and_warning_has_its_trouble() -> None:
    """On the page that starts from what users see, but for the base classes."""
    page = (GUIDES / "troubleshooting.md").read_text(encoding="utf-8")
    rows = [*first_column("errors.md", "errors"), *first_column("errors.md", "warnings")]
    wanted = {each for each in rows if not each.startswith("SpatchCore")}
    assert len(wanted) > 10
    assert {each for each in wanted if f"`{each}`" not in page} == set()


@pytest.mark.parametrize(
    "file",
    [
        "pyproject.toml",
        "src/minimal/__init__.py",
        "src/minimal_backends/precise.toml",
        "src/minimal_backends/rough.toml",
    ],
)
def test_the_tutorial_shows_the_example_as_it_is(file: str) -> None:
    """The files in the tutorial are those of the example."""
    tutorial = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    content = (MINIMAL / file).read_text(encoding="utf-8")
    assert f"\n{content}```" in tutorial


def test_the_tutorial_shows_the_functions_of_the_backends_as_they_are() -> None:
    """The tutorial shows this module in two parts."""
    tutorial = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    module = (MINIMAL / "src" / "minimal_backends" / "__init__.py").read_text(encoding="utf-8")
    for part in module.split("\n\n\n")[1:]:
        assert part.strip() in tutorial


def test_the_minimal_example_is_small() -> None:
    """One function, two backends, the packaging: under 60 lines, as its README says."""
    files = [MINIMAL / "pyproject.toml", *(MINIMAL / "src").glob("minimal*/*.*")]
    assert len(files) == 5
    assert sum(len(each.read_text(encoding="utf-8").splitlines()) for each in files) < 60


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The directive with which pages show the output of commands."""
    pytest.importorskip("docutils")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return import_module("session")


def test_every_command_is_shown_at_work() -> None:
    """Its help alone is not enough."""
    pytest.importorskip("click")
    from spatch_core.cli import main

    page = (REFERENCE / "command-line.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^(`{3,})\{session\}.*\n((?:.*\n)*?)\1$", page, re.MULTILINE)
    used = [
        re.findall(r"\bspatch-core ([a-z-]+)", line)
        for _, block in blocks
        for line in block.splitlines()
        if "--help" not in line
    ]
    assert {name for names in used for name in names} == set(main.commands)
    helped = re.findall(r"^spatch-core ([a-z-]+) --help$", page, re.MULTILINE)
    assert sorted(helped) == sorted(main.commands)


def test_a_session_prints_its_commands_and_their_output(session: ModuleType) -> None:
    """One after another in one folder; a pipeline ends as the first command that fails in it."""
    commands = ["echo one > file; cat file", "cat file missing; exit 3", "(echo two; exit 4) | cat"]
    assert session.run(commands) == [
        session.Answer(commands[0], "one", 0),
        session.Answer(commands[1], "one\ncat: missing: No such file or directory", 3),
        session.Answer(commands[2], "two", 4),
    ]


@pytest.mark.parametrize("page", sorted(GUIDES.glob("*.md")), ids=lambda page: page.stem)
def test_the_sessions_of_a_guide_end_well(session: ModuleType, page: Path) -> None:
    """Those of the reference are run when the pages are built."""
    pytest.importorskip("minimal")
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"^```\{session\}\n((?:.*\n)*?)```$", text, re.MULTILINE):
        for answer in session.run(block.splitlines()):
            assert answer.code == 0, answer.output


def test_a_session_that_ends_otherwise_is_an_error(session: ModuleType) -> None:
    """The error has the output, so that the build shows the cause."""
    from docutils.core import publish_doctree
    from docutils.parsers.rst.directives import register_directive

    register_directive("session", session.Session)
    page = ".. session::\n   :code: {}\n\n   echo said; exit 1\n"
    quiet = {"report_level": 5}
    assert publish_doctree(page.format(1), settings_overrides=quiet).astext() == (
        "$ echo said; exit 1\nsaid"
    )
    failed = publish_doctree(page.format(0), settings_overrides=quiet).astext()
    assert "echo said; exit 1 ended with code 1, not 0:\nsaid" in failed


@pytest.mark.parametrize("page", sorted(GUIDES.glob("*.md")), ids=lambda page: page.stem)
def test_a_guide_is_short(page: Path) -> None:
    """At most a thousand words, with its examples."""
    assert len(page.read_text(encoding="utf-8").split()) <= 1000


@pytest.mark.slow
def test_one_worker_runs_a_whole_page(tmp_path: Path) -> None:
    """The blocks of a page share their names, also in ``pytest -n 2``."""
    pytest.importorskip("xdist")
    (tmp_path / "docs").mkdir()
    blocks = ["number = 0", *["number += 1"] * 9, "assert number == 9"]
    page = "\n".join(f"```python\n{each}\n```\n" for each in blocks)
    (tmp_path / "docs" / "page.md").write_text(page, encoding="utf-8")
    (tmp_path / "conftest.py").write_bytes((ROOT / "conftest.py").read_bytes())
    (tmp_path / "pytest.ini").touch()
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "docs"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


PAGE = architecture.PAGE
TEXT = PAGE.read_text(encoding="utf-8")
IDENTIFIER = re.compile(r"\b(_\w+(?:\.\w+)?):([A-Za-z_][\w.]*)")


def drawing(name: str) -> str:
    """Return a drawing of the page."""
    return TEXT.split(f"<!--- drawing: {name} -->")[1].split("```")[1]


def named(text: str) -> list[str]:
    """Return the identifiers in a drawing, without the package."""
    return [f"{module}:{qualname}" for module, qualname in IDENTIFIER.findall(text)]


def find(identifier: str) -> Any:
    """Return what an identifier of a drawing names."""
    module, qualname = identifier.split(":")
    found: Any = import_module(f"spatch_core.{module}")
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


def test_the_table_is_that_of_the_code() -> None:
    """If this fails, run ``python tools/architecture.py``."""
    assert architecture.page(TEXT) == TEXT


def test_every_module_has_one_row_in_the_order_of_the_contract() -> None:
    """From below to above: the contract of import-linter has them from above to below."""
    table = TEXT.split(architecture.START)[1].split(architecture.END)[0]
    rows = re.findall(r"^\| `(\w+)(/?)` \|", table, re.MULTILINE)
    assert [name for name, _ in rows] == architecture.modules()
    package = architecture.PACKAGE
    packages = {file.parent.name for file in package.glob("*/__init__.py")}
    modules = {file.stem for file in package.glob("*.py")} - {"__init__"}
    assert {name for name, slash in rows if slash} == packages
    assert {name for name, slash in rows if not slash} == modules
    assert len(rows) == len(packages | modules)


@pytest.mark.parametrize("name", ["call", "description"])
def test_drawings_name_what_there_is(name: str) -> None:
    """Each identifier leads to a function or a class of the package."""
    identifiers = named(drawing(name))
    assert identifiers
    for identifier in identifiers:
        assert callable(find(identifier)), identifier


def test_the_places_in_which_to_look_exist() -> None:
    """Each row names modules, packages, or functions and classes in modules."""
    section = TEXT.split("## Where to find what")[1].split("\n## ")[0]
    rows = re.findall(r"^\|.*\|(.*)\|$", section, re.MULTILINE)
    assert len(rows) > 2
    for row in rows[2:]:
        places = re.findall(r"`(_?[a-z][\w./:]*)`", row)
        assert places, row
        for place in places:
            if ":" in place:
                assert callable(find(place)), place
            elif place.endswith(("/", ".c")):
                assert (architecture.PACKAGE / place).exists(), place
            else:
                assert find_spec(f"spatch_core.{place}"), place
    for place in re.findall(r"`(_\w+)`", TEXT):
        assert find_spec(f"spatch_core.{place}"), place


def test_without_npm_a_page_is_as_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The build says so, and warns of nothing."""
    pytest.importorskip("sphinx")
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import _webassembly

    monkeypatch.setattr(_webassembly, "FOLDER", tmp_path / "pyodide")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    (tmp_path / "conf.py").write_text(
        "extensions = ['live']\nlive_pages = ['index']\nhtml_theme = 'basic'\n"
    )
    (tmp_path / "index.rst").write_text("Page\n====\n\n.. code-block:: python\n\n   print(1)\n")
    said, warned = StringIO(), StringIO()
    with patch_docutils(str(tmp_path)), docutils_namespace():
        app: Any = Sphinx(
            *(tmp_path, tmp_path, tmp_path / "html", tmp_path / "doctrees", "html"),
            status=said,
            warning=warned,
        )
        app.build()
    assert "no page can be run in the browser: this needs npm" in said.getvalue()
    assert warned.getvalue() == ""
    page = (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
    assert "highlight-python" in page
    assert "live.mjs" not in page
