"""The page in a real Chromium: three widths, light and dark, with keys, on paper, and by axe-core.

Skipped where the group ``browser`` or Chromium is not installed. With SCREENSHOTS set to a folder,
pictures of the page are kept there, to be looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spatch_core.report.page import ReportedLibrary, ReportedRun, render
from tests.chromium import CHROMIUM, keep, opened_browser
from tests.report.conftest import MARKUP, edge, library, recorded

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no program chromium")
BACKENDS, FUNCTIONS = 201, 1000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with opened_browser() as opened:
        yield opened


class Opened:
    """A page with its errors and its requests to the network."""

    def __init__(self, browser: Browser, file: Path, **options: Any) -> None:
        self.page: Page = browser.new_page(**options)
        self.faults: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda message: self.faults.append(message.text))
        self.page.on("request", lambda request: self.faults.append(request.url))
        self.page.goto(file.as_uri())
        assert self.faults.pop(0) == file.as_uri()

    def keep(self, name: str) -> None:
        keep(self.page, name)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An ordinary page: two libraries, arrows of each kind, a run with times and one without."""
    names = ["default", *(f"oil{number}" for number in range(3))]
    edges = [
        edge("default", "oil1", "environment", reason="PAINTLIB_SET_ORDER"),
        edge("oil0", "oil2"),
        edge("oil1", "oil2", "type specificity"),
    ]
    made = library()
    assert made.order is not None
    order = {**made.order, "order": names, "edges": edges, "prioritized": [], "cycles": []}
    first = ReportedLibrary(made.listed, made.default_name, order, made.examined, made.what_runs)
    runs = [
        ReportedRun("run.json", [recorded(), recorded("x", 0.5, 0.7), recorded("y", 0.2, 0.9)]),
        ReportedRun("old.json", [recorded(first=None, last=None)]),
    ]
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render([first, library("x")], runs, "today"), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("width", "scheme"), [(400, "light"), (400, "dark"), (800, "light"), (1280, "dark")]
)
def test_it_fits_and_everybody_can_use_it(
    browser: Browser, file: Path, width: int, scheme: Any
) -> None:
    """It fits the window, makes no requests, and has no findings of axe-core."""
    size = {"width": width, "height": 900}
    opened = Opened(browser, file, viewport=size, color_scheme=scheme)
    page = opened.page
    opened.keep(f"report-{width}-{scheme}")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text("utf-8"))
    found = page.evaluate("axe.run()")
    assert len(found["passes"]) > 20
    assert [(each["id"], each["impact"]) for each in found["violations"]] == []
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert light == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 27)")
    assert opened.faults == []
    page.close()


def test_markup_in_names_is_shown_and_does_nothing(
    browser: Browser, tmp_path: Path, hostile: str
) -> None:
    """It includes text that the script adds to the page."""
    path = tmp_path / "hostile.html"
    path.write_text(hostile, encoding="utf-8")
    opened = Opened(browser, path)
    page = opened.page
    cells = page.locator(".matrix tbody th").all_text_contents()
    assert cells == [f"lib:f{MARKUP}", f"lib:g{MARKUP}"]
    page.get_by_label("Function", exact=True).fill("lib:g")
    assert page.locator("[data-what] tbody td").first.text_content() == "own" + MARKUP
    assert page.evaluate("window.caught") is None
    assert page.locator("img").count() == 0
    assert opened.faults == []
    page.close()


def test_the_policy_stops_other_scripts(browser: Browser, tmp_path: Path, hostile: str) -> None:
    """It works even if a text is not escaped."""
    path = tmp_path / "hostile.html"
    attack = "<script>window.caught=1</script><img src=x onerror=window.caught=1></main>"
    path.write_text(hostile.replace("</main>", attack), encoding="utf-8")
    opened = Opened(browser, path)
    assert opened.page.evaluate("window.caught") is None
    assert any("Content Security Policy" in each for each in opened.faults)
    opened.page.close()


def test_the_matrix_is_searched_and_filtered(browser: Browser, file: Path) -> None:
    """Parts of names are enough; the status has the number of matches."""
    page = Opened(browser, file).page
    matrix = page.locator("[data-matrix=library-1]")
    rows, heads = matrix.locator("tbody th"), matrix.locator("thead th")
    assert rows.all_text_contents() == ["lib:f", "lib:g"]
    assert heads.all_text_contents() == ["Function", "own", "oil0", "oil1", "oil2"]
    assert matrix.locator("tbody tr").first.text_content() == "lib:fyesasks"
    matrix.get_by_label("Search functions").fill("LIB G")
    assert rows.all_text_contents() == ["lib:g"]
    matrix.get_by_label("Search functions").fill("")
    matrix.get_by_label("Show").select_option("none")
    assert rows.all_text_contents() == ["lib:g"]
    matrix.get_by_label("Show").select_option("asks")
    assert rows.all_text_contents() == ["lib:f"]
    matrix.get_by_label("Search backends").fill("il1, own")
    assert heads.all_text_contents() == ["Function", "own", "oil1"]
    assert rows.all_text_contents() == []
    status = str(matrix.get_by_role("status").text_content())
    assert status.startswith("0 of 2 functions; 2 of 4 backends.")
    page.close()


def test_what_would_run(browser: Browser, file: Path) -> None:
    """The panel answers for a function, found by a part of its name, and each type."""
    page = Opened(browser, file).page
    panel = page.locator("[data-what=library-1]")
    rows = panel.locator("tbody tr")
    assert rows.all_text_contents() == ["m:Toil0why", "m:Urefusedwhy"]
    assert "classes of the same name stand in: m:T." in str(panel.text_content())
    panel.get_by_label("Function").fill("G")
    assert panel.locator(".outcome").text_content() == "lib:g: what runs for 1 type"
    assert rows.all_text_contents() == ["m:Townwhy"]
    panel.get_by_label("Function").fill("no such function")
    assert panel.locator(".outcome").text_content() == "No function has this name."
    assert rows.all_text_contents() == []
    page.close()


def test_everything_is_reached_by_keys(browser: Browser, file: Path) -> None:
    """The skip link and every control get the focus, which is outlined."""
    page = Opened(browser, file, viewport={"width": 400, "height": 900}).page
    page.locator("details").first.evaluate("each => { each.open = true }")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    box = page.locator(".skip").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    seen: list[Any] = []
    for _ in range(200):
        page.keyboard.press("Tab")
        now = page.evaluate(
            "(() => { const e = document.activeElement, all = document.querySelectorAll('*');"
            " return [[...all].indexOf(e), e.tagName, getComputedStyle(e).outlineWidth]; })()"
        )
        if now[1] == "BODY" or now in seen:
            break
        seen.append(now)
    assert {"A", "DIV", "SUMMARY", "BUTTON", "INPUT", "SELECT"} <= {name for _, name, _ in seen}
    assert all(width != "0px" for _, _, width in seen)
    wanted = page.locator(
        "a, summary, button:visible:enabled, input:visible, select:visible, .scroll"
    ).count()
    assert len(seen) == wanted - 1  # the first is the link that skips
    page.close()


def test_an_arrow_is_shown_for_its_reason(browser: Browser, file: Path) -> None:
    """A button beside the reason shows it; another button replaces it."""
    page = Opened(browser, file).page
    for number in (2, 3):
        page.get_by_label(f"Show arrow {number} in the picture").first.press("Enter")
        chosen = page.locator("svg.order .chosen title").all_text_contents()
        assert any(each.startswith(f"{number}. ") for each in chosen)
        assert len(chosen) == 2  # its line and its number
    titles = page.locator("svg.order .arrow title").all_text_contents()
    assert "1. own before oil1, environment: PAINTLIB_SET_ORDER" in titles
    page.close()


def test_it_can_be_printed(browser: Browser, file: Path) -> None:
    """It is printed in black on white, without controls and with all rows."""
    page = Opened(browser, file, color_scheme="dark").page
    page.emulate_media(media="print")
    assert page.locator(".controls:visible, nav:visible").count() == 0
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert (
        page.locator(".scroll").first.evaluate("each => getComputedStyle(each).overflow")
        == "visible"
    )
    closed = page.locator("details").first
    closed.evaluate("each => { each.open = false }")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert closed.get_attribute("open") is not None
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert closed.get_attribute("open") is None
    assert page.pdf()[:5] == b"%PDF-"
    page.close()


def large() -> ReportedLibrary:
    names = ["default", *(f"backend-{number:03}" for number in range(BACKENDS - 1))]
    functions = [
        {
            "function": f"lib:function_{number:04}",
            "backends": [each for place, each in enumerate(names) if (place * number) % 3 == 0],
            "asks": [],
            "is_dispatchable": True,
        }
        for number in range(FUNCTIONS)
    ]
    edges = [edge(a, b, "type specificity") for a, b in zip(names, names[5:], strict=False)]
    order = {
        "order": names,
        "edges": edges,
        "functions": functions,
        "prioritized": [],
        "cycles": [],
    }
    made = library(size=BACKENDS - 1)
    return ReportedLibrary(made.listed, "default", order)


def test_a_large_library_stays_usable(browser: Browser, tmp_path: Path) -> None:
    """200 backends and 1,000 functions: the page holds a part of the cells at a time."""
    path = tmp_path / "large.html"
    path.write_text(render([large()], [], "today"), encoding="utf-8")
    assert path.stat().st_size < 2_000_000
    page = Opened(browser, path).page
    rows = page.locator(".matrix tbody tr")
    assert rows.count() * BACKENDS <= 6000
    page.get_by_role("button", name="Next functions").click()
    assert rows.first.locator("th").text_content() == f"lib:function_{rows.count():04}"
    status = page.get_by_role("status").text_content()
    assert str(status).startswith("1000 of 1000 functions, 30 to 58 of")
    page.get_by_label("Search functions").fill("function_0999")
    assert rows.count() == 1
    page.get_by_label("Search functions").fill("")
    page.get_by_label("Search backends").fill("backend-007")
    assert rows.count() == FUNCTIONS
    page.close()
