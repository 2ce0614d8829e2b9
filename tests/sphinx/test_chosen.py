"""The backends that conf.py chooses, and what becomes of wrong choices."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.sphinx.conftest import Build, plain

pytest.importorskip("numpydoc")
pytest.importorskip("sphinx")


def test_a_changed_description_is_read_again(build: Build, tmp_path: Path) -> None:
    """The pages that show it depend on its file."""
    assert "Types: builtins:str" in plain(build())
    file = tmp_path / "water" / "water_.toml"
    file.write_text(file.read_text().replace("builtins:str", "builtins:complex"))
    assert "Types: builtins:complex" in plain(build())


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ('{"artlib": ["oli"]}', "artlib has no backend 'oli': did you mean 'oil'?"),
        ('{"artlib": ["broken"]}', "there is no file 'broken.toml'"),
        ('{"artlib": ["absent.toml"]}', "absent.toml cannot be read"),
        ('{"artlip": ["oil"]}', "no library is named 'artlip'; did you mean 'artlib'?"),
        ('{"artlib:blur": ["oil"]}', "'artlib:blur' is not a BackendSystem"),
        ('{"artlib": ["conf.toml"]}', "primary_types"),
    ],
)
def test_a_wrong_choice_ends_the_build(
    build: Build, tmp_path: Path, choice: str, message: str
) -> None:
    """The error has a remedy, and comes before anything is written."""
    from sphinx.errors import ConfigError

    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "conf.toml").write_text('name = "a"')
    with pytest.raises(ConfigError, match=re.escape(message)):
        build(conf=f'extensions = ["spatch_core.sphinx"]\nspatch_backends = {choice}')
