"""Live pages without Pyodide are built like all other pages."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


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
