"""The files for services and editors parse, and the commands in them exist."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from _environments import VERSIONS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

pytestmark = pytest.mark.skipif(not WORKFLOWS, reason="only a checkout has these files")


def load(file: Path) -> Any:
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def runs(workflow: dict[str, Any]) -> list[str]:
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    return [step["run"] for step in steps if "run" in step]


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_workflows_run_what_exists(file: Path) -> None:
    """Files of this repository, and modules that an earlier step installs."""
    workflow = load(file)
    assert workflow["name"] == file.stem
    assert True in workflow, "YAML reads the key `on` as true"
    modules = {"pip"}
    for command in runs(workflow):
        program, *arguments = shlex.split(command)
        assert program in ("bash", "python")
        if program == "bash":
            assert (ROOT / arguments[0]).is_file()
        elif arguments[:3] == ["-m", "pip", "install"]:
            modules.add(re.split(r"[^\w-]", arguments[3])[0])
        elif arguments[0] == "-m":
            assert arguments[1] in modules
        else:
            assert arguments[0] == "-c"
            compile(arguments[1], file.name, "exec")


def test_the_checks_are_the_script_that_everybody_can_run() -> None:
    assert runs(load(ROOT / ".github" / "workflows" / "check.yml")) == ["bash .ci/run"]
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "python3 tools/check.py --all" in script


def test_the_classifiers_are_the_versions_that_the_checks_run_on() -> None:
    project = pyproject()["project"]
    prefix = "Programming Language :: Python :: 3."
    listed = [each for each in project["classifiers"] if each.startswith(prefix)]
    assert listed == [f"Programming Language :: Python :: {version}" for version in VERSIONS]
    assert project["requires-python"] == f">={VERSIONS[0]}"
