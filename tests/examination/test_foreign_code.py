"""Third-party code that prints and fails."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import pytest

from spatch_core.examination.foreign_code import foreign_code, import_failure
from spatch_core.exceptions import SpatchCoreWarning


def test_nothing_reaches_stdout(capfd: pytest.CaptureFixture[str]) -> None:
    """Neither Python nor the descriptor reaches it, and afterwards stdout is restored."""
    with foreign_code():
        sys.stdout.write("from Python\n")
        os.write(1, b"from C\n")
    sys.stdout.write("result\n")
    sys.stdout.flush()
    output, errors = capfd.readouterr()
    assert output == "result\n"
    assert "from Python" in errors
    assert "from C" in errors


def test_warnings_about_backends_are_not_shown() -> None:
    """They are among the problems; other warnings are shown."""
    with foreign_code():
        warnings.warn("a backend", SpatchCoreWarning, stacklevel=1)
    with pytest.raises(UserWarning, match="another"), foreign_code():
        warnings.warn("another", UserWarning, stacklevel=1)


def test_why_an_import_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing module is distinguished from a broken one."""
    (tmp_path / "easel_broken.py").write_text("import no_such_module_xyz\n")
    (tmp_path / "easel_ends.py").write_text("raise SystemExit(3)\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert import_failure("fractions") == ""
    assert import_failure("no_such_xyz.sub") == "the module no_such_xyz is not installed"
    assert import_failure("easel_broken") == (
        "importing easel_broken failed with ModuleNotFoundError: No module named "
        "'no_such_module_xyz'"
    )
    assert import_failure("easel_ends") == "importing easel_ends failed with SystemExit: 3"
