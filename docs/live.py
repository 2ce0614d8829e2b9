"""Pages whose Python blocks can be edited and run in the browser, without other servers.

``conf.py`` lists the pages in `live_pages`, and in `live_distributions` the folders of the
distributions that they import. The build gets Pyodide from npm, and the wheels from this checkout.
If that fails, the blocks of these pages cannot be run, and the build says so.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

from _webassembly import UnavailableError, get_pyodide, pure_wheel

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

FOLDER = "live"
"""The folder of the files, below that of the static files."""
PYODIDE = (
    *("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm"),
    *("pyodide-lock.json", "python_stdlib.zip"),
)


def copy_files(app: Sphinx) -> None:
    """Put Pyodide and the wheels beside the pages; note whether they are available."""
    if app.builder.format != "html" or not app.config.live_pages:
        return
    try:
        pyodide = get_pyodide()
        distributions = [Path(app.confdir, each) for each in app.config.live_distributions]
        wheels = [pure_wheel(each.resolve()) for each in distributions]
    except UnavailableError as error:
        from sphinx.util import logging

        logging.getLogger(__name__).info("no page can be run in the browser: %s", error)
        app.config.live_is_available = False
        return
    folder = Path(app.outdir, "_static", FOLDER)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in (*(pyodide / name for name in PYODIDE), *wheels):
        shutil.copyfile(file, folder / file.name)
    (folder / "wheels.json").write_text(json.dumps([each.name for each in wheels]))


def add_scripts(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Add the script that turns the blocks of a live page into cells."""
    if tree is not None and page in app.config.live_pages and app.config.live_is_available:
        app.add_css_file("live.css")
        app.add_js_file("live.mjs", type="module")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.add_config_value("live_pages", (), "html", types=(list, tuple))
    app.add_config_value("live_distributions", (), "html", types=(list, tuple))
    app.add_config_value("live_is_available", True, "", types=(bool,))
    app.connect("builder-inited", copy_files)
    # The availability of Pyodide may have changed since the last build.
    app.connect("env-get-outdated", lambda app, *_: list(app.config.live_pages))
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
