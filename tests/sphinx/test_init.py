"""The extension without other ones, and beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sphinx.conftest import CONF, Build, Elements, plain

pytest.importorskip("numpydoc")
pytest.importorskip("sphinx")


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
