"""The extension for IPython, as IPython loads it."""

from __future__ import annotations

from pathlib import Path

import pytest

import spatch_core
from spatch_core.testing import run_python


def test_loading_it_twice_adds_one_matcher(tmp_path: Path) -> None:
    """By ``%load_ext`` and ``%reload_ext``."""
    pytest.importorskip("IPython")
    run_python(
        """
        from IPython.core.interactiveshell import InteractiveShell

        shell = InteractiveShell.instance()
        before = len(shell.Completer.custom_matchers)
        for command in ("load_ext", "load_ext", "reload_ext"):
            assert shell.run_cell(f"%{command} spatch_core.notebooks").success
        assert len(shell.Completer.custom_matchers) == before + 1
        """,
        path=[Path(spatch_core.__file__).parents[1]],
        environment={"IPYTHONDIR": str(tmp_path)},
    )
