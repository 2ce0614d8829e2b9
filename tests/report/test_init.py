"""The room costs nothing that is not used."""

from __future__ import annotations

import subprocess
import sys


def test_the_core_imports_neither_this_nor_jinja2() -> None:
    """The room itself does not import jinja2 before it makes a page."""
    code = (
        "import sys, spatch_core, spatch_core.report.page\n"
        "sys.exit(any(each.startswith('jinja2') for each in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    code = "import sys, spatch_core.backend_system\nsys.exit('spatch_core.report' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
