"""The hooks for pre-commit run what they say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.cli.test_update import BLEND, BLUR, HEAD, Project, text

if TYPE_CHECKING:
    from tests.cli.conftest import Site

HOOKS = {
    hook["id"]: hook
    for hook in yaml.safe_load(
        (Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    )
}


def test_there_is_a_hook_for_each_check() -> None:
    """Each hook has the keys that pre-commit requires."""
    assert [*HOOKS] == ["spatch-core-update", "spatch-core-verify"]
    for hook in HOOKS.values():
        assert {"id", "name", "entry", "language", "description"} <= hook.keys()
        # They import the backend: an environment of their own would have nothing to import.
        assert hook["language"] == "system"


@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
def test_its_entry_tells_right_from_wrong(site: Site, tmp_path: Path, hook: dict[str, str]) -> None:
    """The hook checks the file that pre-commit appends, and writes nothing."""
    project = Project(site, tmp_path / "src")
    program, *arguments = hook["entry"].split()
    assert program == "spatch-core"
    for functions, code in ((BLEND + BLUR, 0), (BLEND + BLUR.replace("tools:ask", "tools:a"), 1)):
        before = text(HEAD, functions)
        project.file.write_text(before)
        assert site.run(*arguments, str(project.file)).code == code
        assert project.after == before
