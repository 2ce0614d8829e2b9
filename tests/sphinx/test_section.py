"""The section of docstrings, in the pages that Sphinx builds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.sphinx.conftest import ADDRESS, CONF, Build, Elements, plain

pytest.importorskip("numpydoc")
pytest.importorskip("sphinx")


def test_the_chosen_backends_are_shown(build: Build) -> None:
    """They are shown even if they are not installed, blocked or broken."""
    html = build()

    text = plain(html)
    assert (
        "A note. Backends oil Types: fractions:Fraction_ ; converts ~builtins:str . "
        'Needs opt-in: prioritize="oil" . Only on canvas . >>> blur(oil) water_ Types: '
        "builtins:str ."
    ) in text
    assert text.count("Backends") == 2  # not those of `Canvas`
    assert "chalk" not in text
    assert not any(name in sys.modules for name in ("artlib_oil", "artlib_water"))
    assert "doctest" not in html  # an example of a backend's is none of the library's
    addresses = [text for href, text in Elements(html).links if href == ADDRESS]
    assert addresses.count("oil") == 3  # of `blur`, of `draw`, and in the matrix


def test_what_is_installed_is_not_shown(build: Build) -> None:
    """It holds even after discovery has added sections to docstrings."""
    import artlib  # type: ignore[import-not-found]

    with pytest.warns(match="broken"):
        assert list(artlib.system.backends) == ["default", "chalk"]
    assert "chalk" in artlib.blur.__doc__

    none = plain(build(conf=CONF.replace('"oil", "../water/water_.toml"', "")))
    assert "chalk" not in none
    assert "A note." in none
    assert "Backends" not in none

    every = plain(build(conf=CONF.replace('"oil", "../water/water_.toml"', '"chalk"')))
    assert every.count("Backends chalk Types: builtins:bytes .") == 2
    assert "artlib.blend yes" in every


def test_a_module_that_discovers_backends(build: Build, tmp_path: Path) -> None:
    """The docstring has its section before Sphinx asks for a signature."""
    (tmp_path / "artlib_late.py").write_text(
        "import warnings\nimport artlib\n"
        "with warnings.catch_warnings():\n"
        "    warnings.simplefilter('ignore')\n"
        "    assert 'chalk' in artlib.system.backends\n"
        "blur = artlib.blur\nassert 'chalk' in blur.__doc__\n"
    )
    text = plain(build("Art\n===\n\n.. autofunction:: artlib_late.blur\n"))
    assert "A note. Backends oil Types" in text
    assert "chalk" not in text
