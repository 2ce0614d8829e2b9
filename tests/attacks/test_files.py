"""A file that is saved while `update` imports the backend's code keeps what was saved."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import spatch_core
from spatch_core.testing import run_python

CORE = Path(spatch_core.__file__).parents[1]

FILE = """
name = "oil"
primary_types = ["builtins:str"]
[functions.auto-generation]
backend = "paint_oil:backend"
modules = ["paint_oil.tools"]
"""
TOOLS = """
from pathlib import Path
import os
from paint_oil import backend

file = Path({file!r})
{save}
os.utime(file, (1, 1))

@backend.implements("paintlib:blur")
def blur(x):
    return x
"""
SAVES = {
    "in place": "file.write_text(file.read_text() + '# precious\\n')",
    "by renaming": "Path({copy!r}).write_text('# precious\\n'); os.replace({copy!r}, file)",
    "of equal size": "file.write_text(file.read_text().replace('oil', 'OIL'))",
}


@pytest.mark.parametrize("save", SAVES.values(), ids=[*SAVES])
def test_update_does_not_overwrite_what_was_saved_meanwhile(tmp_path: Path, save: str) -> None:
    """Importing the code of the backend takes as long as it takes."""
    package = tmp_path / "paint_oil"
    package.mkdir()
    file = package / "backend.toml"
    file.write_text(FILE)
    os.utime(file, (1, 1))
    create = "from spatch_core import BackendImplementation as B\nbackend = B('oil')\n"
    (package / "__init__.py").write_text(create)
    save = save.format(copy=str(package / "copy"))
    (package / "tools.py").write_text(TOOLS.format(file=str(file), save=save))

    code = f"from spatch_core.examination import update_file\nprint(update_file({str(file)!r}))"
    done = run_python(code, path=[tmp_path, CORE])

    assert "it was changed during the update" in done.stdout
    saved = file.read_text()
    assert saved != FILE
    assert "paintlib:blur" not in saved
    assert not (package / "copy").exists()
