"""``python -m spatch_core`` and the script ``spatch-core``: the command line, where it can run."""

from __future__ import annotations

from pathlib import Path

import spatch_core
from spatch_core.testing import run_python

CORE = Path(spatch_core.__file__).parents[1]


def test_what_the_command_line_needs_is_named(tmp_path: Path) -> None:
    """Without the extra: one line, the exit code of wrong usage, and no traceback."""
    (tmp_path / "spatch_core").symlink_to(CORE / "spatch_core")  # without what stands beside it
    done = run_python(
        """
        import runpy
        runpy.run_module("spatch_core", run_name="__main__")
        """,
        path=[tmp_path],
        options=["-S"],  # no installed packages
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "spatch-core needs click, jinja2, packaging, rich, tomlkit for its command line: "
        "pip install 'spatch-core[cli]', or '.[cli]' in a checkout\n"
    )
