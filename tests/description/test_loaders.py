"""Files of packages without folders are read through their loaders."""

from __future__ import annotations

from pathlib import Path

import pytest

from spatch_core.testing import write_distribution
from tests.discovery.conftest import find

LOADER = """
    import sys
    from importlib.abc import Loader, MetaPathFinder
    from importlib.machinery import ModuleSpec
    from pathlib import Path

    FILES = {files!r}
    IN_MEMORY = {in_memory!r}

    class Memory:
        '''A file or a folder in memory, as `importlib.resources` shows it.'''

        def __init__(self, path):
            self.path = path

        def joinpath(self, *names):
            path = "/".join([self.path, *names])
            if path in FILES and not IN_MEMORY:
                return Path(FILES[path])
            return Memory(path)

        def is_file(self):
            return self.path in FILES

        def read_bytes(self):
            return FILES[self.path].encode()

    class Reader:
        def __init__(self, package):
            self.package = package

        def files(self):
            return Memory(self.package.replace(".", "/"))

    class Packages(Loader):
        def create_module(self, spec):
            return None

        def exec_module(self, module):
            if module.__name__ == "loud":
                raise SystemExit("imported")
            module.double = lambda x: "loud"

        def get_resource_reader(self, name):
            return Reader(name)

    class Finder(MetaPathFinder):
        '''The folders of its packages do not exist.'''

        def find_spec(self, name, path=None, target=None):
            if name in {packages!r}:
                spec = ModuleSpec(name, Packages(), origin="nowhere", is_package=True)
                spec.submodule_search_locations.append(__file__ + "/" + name)
                return spec
            if name in {modules!r}:
                return ModuleSpec(name, Packages(), origin="nowhere")
            if name in {namespaces!r}:
                spec = ModuleSpec(name, None, is_package=True)
                spec.submodule_search_locations.append(__file__ + "/" + name)
                return spec
            return None

    sys.meta_path.insert(0, Finder())
    """
BACKEND = """
    name = "loud"
    primary_types = ["builtins:str"]

    [functions."photolib:double"]
    function = "loudcode:double"
    """
# In each layout: the entry point's package, the packages of the loader, its namespace packages.
LAYOUTS = {
    "package": ("loud", ["loud"], []),
    "module-in-a-package": ("loud.a", ["loud"], []),
    "sub-package": ("loud.a", ["loud", "loud.a"], []),
    "folder-of-data-in-a-package": ("loud.data", ["loud"], ["loud.data"]),
    "package-in-a-namespace-package": ("shared.loud", ["shared.loud"], ["shared"]),
}


def install(
    place: Path, layout: str = "package", in_memory: bool = False, text: str = BACKEND
) -> Path:
    """Install a backend as meson-python does in editable mode; return the folder of its source.

    A path file imports a module, which adds a finder whose packages have no folders.
    """
    package, packages, namespaces = LAYOUTS[layout]
    site = place / "site"
    source = place / "source.toml"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(text, encoding="utf-8")
    modules = [package] if package not in [*packages, *namespaces] else []
    folder = package.rpartition(".")[0] if modules else package
    path = f"{folder.replace('.', '/')}/backend.toml"
    write_distribution(
        site,
        "loud-dist",
        entry_points={"photolib.backends": {"loud": f"{package}:backend.toml"}},
        files={
            "_loud_editable.py": LOADER.format(
                files={path: text if in_memory else str(source)},
                in_memory=in_memory,
                packages=[*packages, "loudcode"],
                namespaces=namespaces,
                modules=modules,
            ),
            "loud.pth": "import _loud_editable\n",
        },
    )
    # Every interpreter processes the path file, as those in its own folder of packages.
    (site / "sitecustomize.py").write_text(
        f"import site; site.addsitedir({str(site)!r})", encoding="utf-8"
    )
    return source


@pytest.mark.parametrize("in_memory", [False, True], ids=["file", "memory"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_package_without_folders(tmp_path: Path, layout: str, in_memory: bool) -> None:
    """D2: the loader's resource reader has the file; the package fails when it is imported."""
    source = install(tmp_path, layout, in_memory)

    report = find(tmp_path / "site")

    assert report["problems"] == []
    assert report["found"]
    assert report["imported"] == []
    if not in_memory:
        assert report["file"] == str(source)


def test_the_package_was_imported_before(tmp_path: Path) -> None:
    """D2: its loader is that of the module."""
    source = install(tmp_path, "package-in-a-namespace-package")

    report = find(
        tmp_path / "site", before="import shared.loud; sys.meta_path.remove(sys.meta_path[0])"
    )

    assert (report["problems"], report["file"]) == ([], str(source))


def test_a_loader_that_fails(tmp_path: Path) -> None:
    """E1: it costs the backend alone."""
    install(tmp_path)
    loader = tmp_path / "site" / "_loud_editable.py"
    loader.write_text(
        loader.read_text(encoding="utf-8").replace("return Reader(name)", "raise LookupError(1)"),
        encoding="utf-8",
    )

    (problem,) = find(tmp_path / "site")["problems"]

    assert "the package 'loud' or its file cannot be read (LookupError: 1)" in problem
