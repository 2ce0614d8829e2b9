"""The table and the sections of backends, in pages that Sphinx builds."""

from __future__ import annotations

import re
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


def test_the_functions_by_backend(build: Build) -> None:
    """Every cell has a word; headers, backends and documented functions have links."""
    html = build()

    elements = Elements(html)
    assert elements.caption == (
        "Functions of artlib by backend; where it asks, the arguments of a call decide"
    )
    assert elements.rows == [
        [("th", "function"), ("th", "oil"), ("th", "water_")],
        [("th", "artlib.Canvas.draw"), ("td", "yes"), ("td", "no")],
        [("th", "artlib.blend"), ("td", "no"), ("td", "no")],
        [("th", "artlib.blur"), ("td", "asks"), ("td", "yes")],
        [("th", "builtins.max"), ("td", "yes"), ("td", "no")],  # the library has adopted it
    ]
    assert [text for href, text in elements.links if href == ADDRESS] == ["oil"] * 3
    assert ("#artlib.blur", "artlib.blur") in elements.links
    assert ("#artlib.blend", "artlib.blend") not in elements.links  # it is not documented


def test_a_library_that_is_not_chosen(build: Build) -> None:
    page = "Art\n===\n\n.. spatch-backends:: artlip\n"
    build(page, expects="no backends are chosen for a library 'artlip': did you mean 'artlib'?")


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


@pytest.mark.filterwarnings("ignore:The mapping interface")  # napoleon's, with Sphinx 9
@pytest.mark.parametrize("others", ["", '"sphinx.ext.napoleon", '], ids=["alone", "napoleon"])
def test_without_numpydoc(build: Build, others: str) -> None:
    """Other extensions read docstrings first, and the library is named by its system."""
    text = plain(
        build(
            "Art\n===\n\n.. spatch-backends:: artlib:system\n\n.. autofunction:: artlib.blur\n",
            f'extensions = [{others}"spatch_core.sphinx"]\n'
            'spatch_backends = {"artlib:system": ["chalk"]}',
        )
    )
    assert "A note. Backends chalk Types: builtins:bytes ." in text
    assert "artlib.blur yes" in text


def test_notes_link_to_other_documentation(build: Build, tmp_path: Path) -> None:
    """The texts of backends may have roles of intersphinx."""
    build()  # its inventory is that of the other documentation
    (tmp_path / "html" / "objects.inv").rename(tmp_path / "oil.inv")
    file = tmp_path / "oil_package" / "oil.toml"
    file.write_text(file.read_text().replace("Only on *canvas*", "See :external+oil:doc:`index`"))
    mapping = {"oil": ("https://oil.example/", str(tmp_path / "oil.inv"))}
    html = build(
        conf=CONF.replace('["numpydoc"', '["numpydoc", "sphinx.ext.intersphinx"')
        + f"intersphinx_mapping = {mapping!r}"
    )
    links = [
        text for href, text in Elements(html).links if href == "https://oil.example/index.html"
    ]
    assert links == ["Art"]
