"""Configuration of the Sphinx build."""

from __future__ import annotations

import re
import sys
from pathlib import Path

_PYPROJECT = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")

sys.path.insert(0, str(Path(__file__).parent))  # for session

project = "spatch-core"
author = "The spatch-core developers"
copyright = author
release = version = re.findall(r'^version = "(.*)"', _PYPROJECT, re.MULTILINE)[0]

extensions = [
    "live",
    "myst_parser",
    "numpydoc",
    "session",
    "spatch_core.sphinx",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build"]

# By name and by file.
spatch_backends = {
    "minimal": ["precise", "../example_backends/minimal/src/minimal_backends/rough.toml"],
}

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # numpydoc says what parameters are
numpydoc_show_class_members = False
# PR01 to PR03: the docstring lists exactly the parameters of the signature, in their order.
# PR10: a space precedes the colon between a parameter and its type.
numpydoc_validation_checks = {"PR01", "PR02", "PR03", "PR10"}
numpydoc_validation_exclude = {
    r"^minimal\.",  # as short as its readers' own code
    # Users do not construct these classes, so their docstrings list no constructor parameters.
    r"\.(Call|DispatchContext|DispatchableFunction|Outcome|Severity|Trace|Verdict)$",
    r"\.(AutoGeneration|Description|Implementation|Variant)$",  # the reference has their fields
    r"\.DispatchableFunction\.",  # its methods are described in the pages
    r"\.(find_system|restore)$",  # pickles alone call these
    r"\.describe_class$",  # numpydoc takes its `cls` for that of a class method
}

copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

live_pages = ["tutorial"]
live_distributions = ["..", "../example_backends/minimal"]

html_theme = "pydata_sphinx_theme"
html_title = "spatch-core"
html_theme_options = {
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
}
# These are in no section, so that there is nothing to navigate in.
html_sidebars: dict[str, list[str]] = {"index": [], "tutorial": [], "changelog": []}
html_show_copyright = False
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
templates_path: list[str] = []
