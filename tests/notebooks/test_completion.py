"""Names that IPython completes."""

from __future__ import annotations

from pathlib import Path

import pytest

import spatch_core
from spatch_core.testing import run_python

LIBRARY = """
from spatch_core import BackendSystem
from spatch_core.switching import Switch

names = ("jax", "gpu", "gpu-old")
backends = [{"name": name, "primary_types": [f"m{name[-1]}:A"]} for name in names]
system = BackendSystem(None, "COMPLETED", backends=backends, default_name="own")
backend_opts = system.backend_opts
set_backend = Switch(system).set_backend


@system.dispatchable("x")
def blur(x):
    return x
"""
PROGRAM = """
import sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.run_cell("%load_ext spatch_core.notebooks\\n%reload_ext spatch_core.notebooks")
shell.run_cell("import complib as lib; from complib import *; known = system.backends")
shell.Completer.use_jedi = False


def completed(line):
    _, found = shell.complete(None, line, len(line))
    return sorted({each.strip("'\\"") for each in found})


everything = ["gpu", "gpu-old", "jax", "own"]
for line, expected in {
    "lib.backend_opts('": everything,
    "with lib.backend_opts(prioritize='g": ["gpu", "gpu-old"],
    'backend_opts(disable=["gpu", "j': ["jax"],
    "lib.backend_opts(prioritize=('gpu', 'j": ["jax"],
    "backend_opts(trace=True, backend='o": ["own"],
    "lib.set_backend('g": ["gpu", "gpu-old"],
    "x = lib.blur.invoke(backend='j": ["jax"],
    "known['j": ["jax"],
    "print(set_backend('j": ["jax"],
    "lib.blur.ex": [".explain"],
}.items():
    found = completed(line)
    assert found == expected, (line, found)
assert "complib:blur" in str(completed("lib.system.explain_types('complib:b"))
others = ["backend_opts(fallback='", "print('", "lib.blur.explain('", "no('", "lib.no.no('"]
for line in others:
    assert not {"jax", "gpu"} & {*completed(line)}, line
"""


def test_names_in_ipython(tmp_path: Path) -> None:
    """Arguments are completed with backends and functions; other completions stay."""
    pytest.importorskip("IPython")
    (tmp_path / "complib.py").write_text(LIBRARY)
    folders = [tmp_path, Path(spatch_core.__file__).parents[1]]
    run_python(PROGRAM, path=folders, environment={"IPYTHONDIR": str(tmp_path / "ipython")})
