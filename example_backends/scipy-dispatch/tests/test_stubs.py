from __future__ import annotations

import ast
import importlib.util
import os
import runpy
from pathlib import Path
from typing import Any

import pytest
from scipy_functions import FUNCTIONS, TABLES

import scipy_dispatch
import spatch_core

HERE = Path(__file__).parent
TOOL = HERE.parent / "tools" / "write_stubs.py"
PROGRAM = HERE / "typing" / "program.py"


@pytest.fixture(scope="module")
def tool() -> Any:
    spec = importlib.util.spec_from_file_location("write_stubs", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shipped_stub(tool: Any, module: str) -> str:
    """Return the text of a stub of the imported package, which may be an installed one."""
    place = tool.STUBS[module][1].relative_to(tool.PACKAGE)
    shipped: Path = Path(str(scipy_dispatch.__file__)).parent / place
    return shipped.read_text(encoding="utf-8")


@pytest.mark.parametrize("module", [*TABLES, "signal.windows"])
def test_stubs_are_in_step_with_their_release_of_scipy(tool: Any, module: str) -> None:
    stub = shipped_stub(tool, module)
    release = stub.splitlines()[0].removeprefix(tool.HEADER).removesuffix("; do not edit.")
    if release != tool.RELEASE:
        pytest.skip(f"the stubs are those of SciPy {release}, installed is {tool.RELEASE}")
    assert stub == tool.render(module)


@pytest.mark.parametrize("module", TABLES)
def test_stubs_have_every_parameter_of_the_installed_scipy(tool: Any, module: str) -> None:
    """Stubs of a newer release may have more parameters, and lack removed ones."""
    declared = {
        node.name: {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
        for node in ast.parse(shipped_stub(tool, module)).body
        if isinstance(node, ast.FunctionDef)
    }
    for function in FUNCTIONS:
        signature = function.signature
        if function.module == module and function.name in declared and signature is not None:
            missing = signature.parameters.keys() - declared[function.name]
            # An alias with the signature (*args, **kwargs) in one release has named parameters
            # in another.
            assert not missing or "args" in declared[function.name], (function.name, missing)


def test_a_type_checker_knows_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    api = pytest.importorskip("mypy.api", reason="mypy is not installed")
    roots = [Path(str(module.__file__)).parents[1] for module in (scipy_dispatch, spatch_core)]
    paths = [str(root) for root in roots if root.name != "site-packages"]
    monkeypatch.setenv("MYPYPATH", os.pathsep.join(paths))
    options = ["--config-file", str(PROGRAM.with_name("mypy.ini")), "--cache-dir", os.devnull]
    out, err, _ = api.run([*options, str(PROGRAM)])
    assert err == ""
    assert [line for line in out.splitlines() if PROGRAM.name in line] == []


def test_what_the_type_checker_accepts_is_so() -> None:
    program = runpy.run_path(str(PROGRAM))
    assert "default" in program["right_calls"]()
    with pytest.raises(TypeError):
        program["wrong_calls"]()
