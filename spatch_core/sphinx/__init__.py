"""An extension of Sphinx that adds chosen backends to the documentation of a library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["setup"]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive ``spatch-backends`` and the section "Backends" of docstrings.

    Parameters
    ----------
    app : sphinx.application.Sphinx
        Sphinx, which calls this for ``extensions = ["spatch_core.sphinx"]``.

    Returns
    -------
    dict
        The metadata of the extension.
    """
    from .. import __version__
    from .chosen import OPTION, read_all, resolve_paths
    from .pages import Matrix, add_section, keep_text, remove_section, restore_docstrings

    app.setup_extension("sphinx.ext.autodoc")
    app.add_config_value(OPTION, {}, "env", types=(dict,))
    app.add_directive("spatch-backends", Matrix)
    app.connect("config-inited", resolve_paths)
    app.connect("builder-inited", read_all)
    app.connect("builder-inited", restore_docstrings)
    app.connect("autodoc-process-signature", restore_docstrings, priority=100)
    # numpydoc and napoleon have priorities in between. They must not see the section: numpydoc
    # drops sections that it does not know.
    app.connect("autodoc-process-docstring", remove_section, priority=100)
    app.connect("autodoc-process-docstring", add_section, priority=900)
    app.connect("missing-reference", keep_text, priority=900)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
