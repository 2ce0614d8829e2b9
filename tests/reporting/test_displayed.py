"""The methods by which IPython and rich display results; `notebooks` makes the tables."""

from __future__ import annotations

from pathlib import Path

import pytest

import spatch_core
from spatch_core.testing import run_python

FOLDERS = [Path(spatch_core.__file__).parents[1]]


def test_ipython_shows_a_table_and_a_text(tmp_path: Path) -> None:
    """In a real shell, the text is the same as from `print`, not the `repr`."""
    pytest.importorskip("IPython")
    run_python(
        """
        from IPython.core.interactiveshell import InteractiveShell
        from spatch_core import BackendSystem

        shell = InteractiveShell.instance()
        system = BackendSystem(None, "SHELL", backends=[{"name": "b", "primary_types": ["m:T"]}])
        f = system.dispatchable("x", identifier="lib:f")(lambda x: x)
        with system.backend_opts(trace=True) as trace:
            f(3)
        for value in (f.explain(3), trace, system.backend_opts(), system.backends):
            data, _ = shell.display_formatter.format(value)
            assert data["text/html"].startswith("<table>"), data
            assert data["text/plain"] == str(value), data
        """,
        path=FOLDERS,
        environment={"IPYTHONDIR": str(tmp_path)},
    )
