"""Pages of a library that Sphinx builds, and the distributions of its backends."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from spatch_core.testing import write_distribution

Build = Callable[..., str]
LIBRARY = {
    "artlib.py": '''
        from spatch_core import BackendSystem

        system = BackendSystem("artlib.backends", "ARTLIB", default_primary_types=["builtins:int"])


        @system.dispatchable("x")
        def blur(x):
            """Blur.

            Parameters
            ----------
            x : int
                A picture.

            Notes
            -----
            A note.
            """
            return x


        @system.dispatchable("x")
        def blend(x):
            """Blend."""
            return x


        system.adopt(max, "builtins:max")


        class Canvas:
            """A canvas."""

            @system.dispatchable("x")
            def draw(self, x):
                """Draw."""
                return x
        ''',
    "artlib_oil.py": "raise RuntimeError('it is imported')",
    "oil.toml": '''
        name = "oil"
        primary_types = ["fractions:Fraction_"]
        secondary_types = ["~builtins:str"]
        requires_opt_in = true
        requires = ["no-such-distribution"]
        url = "https://oil.example/a_(b)?c=1&d='e'#f_"
        [functions."artlib:blur"]
        function = "artlib_oil:blur"
        should_run = "artlib_oil:fits"
        additional_docs = """
        Only on *canvas*.

        >>> blur(oil)
        """
        [functions."artlib:Canvas.draw"]
        function = "artlib_oil:draw"
        [functions."builtins:max"]
        function = "artlib_oil:greatest"
        ''',
    "water/water_.toml": """
        name = "water_"
        primary_types = ["builtins:str"]
        [functions."artlib:blur"]
        function = "artlib_water:blur"
        """,
    "chalk.toml": """
        name = "chalk"
        primary_types = ["builtins:bytes"]
        functions."*".function = "artlib_chalk:any"
        """,
}
ADDRESS = "https://oil.example/a_(b)?c=1&d='e'#f_"
CONF = """
extensions = ["numpydoc", "spatch_core.sphinx"]
html_theme = "basic"
nitpicky = True
numpydoc_show_class_members = False
spatch_backends = {"artlib": ["oil", "../water/water_.toml"]}
"""
PAGE = """
Art
===

.. spatch-backends:: artlib

.. autofunction:: artlib.blur

.. autoclass:: artlib.Canvas
   :members:
"""


class Elements(HTMLParser):
    """The texts of cells by row, the links, and the terms of definition lists."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[tuple[str, str]]] = []
        self.links: list[tuple[str, str]] = []
        self.caption = ""
        self._open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append((tag, ""))
        elif tag == "a":
            self.links.append((dict(attrs).get("href") or "", ""))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & {*self._open}:
            tag, text = self.rows[-1][-1]
            self.rows[-1][-1] = tag, text + data.strip()
        if "caption" in self._open and "a" not in self._open:
            self.caption += data.strip()
        if "a" in self._open:
            href, text = self.links[-1]
            self.links[-1] = href, text + data


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Build the page of a library; return it."""
    from docutils.utils import DependencyList  # noqa: F401  # before the path is changed
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    write_distribution(
        tmp_path,
        "artlib",
        entry_points={
            "artlib.backends": {
                "oil": "oil_package:oil.toml",
                "chalk": "chalk_package:chalk.toml",
                "broken": "nowhere:broken.toml",
            },
            "spatch_core.libraries": {"artlib": "artlib:system"},
        },
        files={
            **LIBRARY,
            "oil_package/oil.toml": LIBRARY["oil.toml"],
            "chalk_package/chalk.toml": LIBRARY["chalk.toml"],
        },
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("ARTLIB_BLOCK", "oil")
    before = {*sys.modules}

    def run(page: str = PAGE, conf: str = CONF, *, expects: str = "") -> str:
        source = tmp_path / "docs"
        source.mkdir(exist_ok=True)
        (source / "conf.py").write_text(conf, encoding="utf-8")
        (source / "index.rst").write_text(page, encoding="utf-8")
        warnings = StringIO()
        with patch_docutils(str(source)), docutils_namespace():
            app: Any = Sphinx(
                *(source, source, tmp_path / "html", tmp_path / "doctrees", "html"),
                status=None,
                warning=warnings,
            )
            app.build()
        text = re.sub(r"\x1b\[[\d;]*m", "", warnings.getvalue())
        assert expects in text
        assert expects or not text
        return (tmp_path / "html" / "index.html").read_text(encoding="utf-8")

    yield run
    for name in {*sys.modules} - before:
        if name.startswith("artlib"):
            del sys.modules[name]


def plain(html: str) -> str:
    """Return the text of HTML, with single spaces."""
    from html import unescape

    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())
