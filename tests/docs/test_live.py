"""The built pages in a real Chromium, from a server on this machine alone.

BUILT_DOCS names the folder of the pages; the session ``browser`` of noxfile.py builds them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from tests.chromium import CHROMIUM, keep, opened_browser

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BUILT = Path(os.environ.get("BUILT_DOCS", "/no/folder"))
PAGES = sorted(
    name
    for name in (each.relative_to(BUILT).as_posix() for each in BUILT.rglob("*.html"))
    if not name.startswith("_")
)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no program chromium"),
    pytest.mark.skipif(not PAGES, reason="BUILT_DOCS names no folder of built pages"),
]
TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
CELLS = len(re.findall(r"^```python$", TUTORIAL.read_text(encoding="utf-8"), re.MULTILINE))
TOO_WIDE = """
allowed => [
  ...document.querySelectorAll("html, .bd-article-container, .bd-article-container *")
].filter(each => {
  const hides = each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0;
  const inLine = getComputedStyle(each).display === "inline";
  return hides && !inLine && each.checkVisibility() && !each.matches(allowed);
}).map(each => `${each.tagName} ${each.className}: ${each.textContent.trim().slice(0, 60)}`)
"""


class Handler(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with opened_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=BUILT)) as started:
        Thread(target=started.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{started.server_port}/"
        started.shutdown()


@pytest.fixture
def tutorial(browser: Browser, server: str) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    asked: list[str] = []
    faults: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"{server}tutorial.html")
    yield page
    assert [each for each in asked if not each.startswith((server, "data:"))] == []
    assert faults == []
    page.close()


def outputs(page: Page) -> list[str]:
    return [each.strip() for each in page.locator(".live-output").all_text_contents()]


def status(page: Page) -> Any:
    return page.locator(".live-bar").get_by_role("status")


def wait_for(page: Page, text: str) -> None:
    status(page).filter(has_text=text).wait_for(timeout=120_000)


def edit(page: Page, number: int, code: str) -> None:
    page.get_by_label(f"Code of cell {number}", exact=True).fill(code)


def test_nothing_is_clipped(browser: Browser, server: str) -> None:
    """On no page; on narrow screens tables may be scrolled. No page asks the network."""
    page = browser.new_page()
    asked: set[str] = set()
    page.on("request", lambda request: asked.add(request.url))
    found = {}
    for name in PAGES:
        page.goto(server + name)
        for width in (1280, 800, 400):
            page.set_viewport_size({"width": width, "height": 900})
            allowed = "dialog *" if width == 1280 else ".pst-scrollable-table-container, .ellipsis"
            found[name, width] = page.evaluate(TOO_WIDE, allowed)
    assert len(PAGES) > 40
    assert {place: each for place, each in found.items() if each} == {}
    assert [each for each in asked if not each.startswith((server, "data:"))] == []
    page.close()


@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (800, "dark"), (1280, "light")])
def test_the_tutorial_is_usable_by_everybody(
    browser: Browser, server: str, width: int, scheme: Any
) -> None:
    """axe-core finds nothing in the text and the cells."""
    size: Any = {"width": width, "height": 900}
    page = browser.new_page(viewport=size, color_scheme=scheme)
    page.goto(f"{server}tutorial.html")
    page.get_by_role("button", name="Run cell 1", exact=True).click()
    wait_for(page, "Cell 1 has run.")
    keep(page, f"tutorial-{width}-{scheme}")
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text("utf-8"))
    found = page.evaluate("axe.run('.bd-article')")
    assert len(found["passes"]) > 10
    assert [(each["id"], each["impact"]) for each in found["violations"]] == []
    page.close()


def test_the_tutorial_runs(tutorial: Page) -> None:
    """All cells, with the installed wheels of the package and of the example."""
    tutorial.get_by_role("button", name="Run all cells").click()
    wait_for(tutorial, f"Cell {CELLS} has run.")
    printed = outputs(tutorial)
    assert len(printed) == CELLS
    assert tutorial.locator(".live-output.failed").count() == 0
    assert "minimal:sqrt -> rough deferred: it is for positive numbers" in printed[-1]


def test_a_cell_can_be_edited(tutorial: Page) -> None:
    """It shows what its last line is; those above run first; Reset brings the code back."""
    before = tutorial.get_by_label("Code of cell 2", exact=True).inner_text()
    edit(tutorial, 2, "import sys\nsys.version_info[:2] >= (3, 14), sqrt(9.0)")
    tutorial.get_by_label("Code of cell 2", exact=True).press("Control+Enter")
    wait_for(tutorial, "Cell 2 has run.")
    assert outputs(tutorial)[:2] == ["(It printed nothing.)", "(True, 3.0)"]
    tutorial.get_by_role("button", name="Take back the changes of cell 2").click()
    assert tutorial.get_by_label("Code of cell 2", exact=True).inner_text() == before
    edit(tutorial, 2, "from spatch_core import accelerated\naccelerated")
    tutorial.get_by_role("button", name="Run cell 2", exact=True).click()
    tutorial.locator(".live-output:visible").nth(1).filter(has_text="False").wait_for()


def test_an_error_is_shown_where_it_was_made(tutorial: Page) -> None:
    """With its line, without the steps of what runs the cells; cells below do not run."""
    edit(tutorial, 2, "def wrong():\n    return sqrt('text')\n\n\nwrong()")
    tutorial.get_by_role("button", name="Run all cells").click()
    wait_for(tutorial, "Cell 2 raised an error.")
    shown = outputs(tutorial)[1]
    assert "return sqrt('text')" in shown
    assert "TypeError" in shown
    assert "pyodide" not in shown
    assert tutorial.locator(".live-output:visible").count() == 2
    edit(tutorial, 2, "sqrt(")
    tutorial.get_by_role("button", name="Run cell 2", exact=True).click()
    tutorial.locator(".live-output:visible").nth(1).filter(has_text="SyntaxError").wait_for()


def test_a_cell_that_never_ends_is_stopped(tutorial: Page) -> None:
    """Start over stops Python; the next cell starts another."""
    edit(tutorial, 1, "while True:\n    pass")
    tutorial.get_by_role("button", name="Run cell 1", exact=True).click()
    wait_for(tutorial, "runs in this page.")
    tutorial.get_by_role("button", name="Stop Python").click()
    wait_for(tutorial, "stopped")
    edit(tutorial, 1, "print('again')")
    tutorial.get_by_role("button", name="Run cell 1", exact=True).click()
    wait_for(tutorial, "Cell 1 has run.")
    assert outputs(tutorial)[0] == "again"


def test_the_files_are_those_of_this_checkout() -> None:
    """Pyodide and two wheels of pure Python lie beside the pages."""
    names = {each.name for each in (BUILT / "_static" / "live").iterdir()}
    wheels = {each for each in names if each.endswith(".whl")}
    assert {each.split("-")[0] for each in wheels} == {"spatch_core", "spatch_core_minimal"}
    assert all(each.endswith("-py3-none-any.whl") for each in wheels)
    assert "pyodide.asm.wasm" in names
