"""Files of packages are found without importing the packages, also through their loaders."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from spatch_core.testing import write_distribution
from tests.discovery.conftest import TOML, find


class TestFiles:
    """A TOML file is found wherever imports would find its package, and nothing is imported."""

    LAYOUTS = {  # noqa: RUF012  # constant
        "package": ("loud:backend.toml", ["loud/__init__.py"], "loud/backend.toml"),
        "sub-package": (
            "loud.a.b:backend.toml",
            ["loud/__init__.py", "loud/a/__init__.py", "loud/a/b/__init__.py"],
            "loud/a/b/backend.toml",
        ),
        "namespace-package": ("loud:backend.toml", ["loud/a.py"], "loud/backend.toml"),
        "nested-namespace-package": (
            "loud.a.b:backend.toml",
            ["loud/a/b/c.py"],
            "loud/a/b/backend.toml",
        ),
        "package-in-a-namespace-package": (
            "loud.a:backend.toml",
            ["loud/a/__init__.py"],
            "loud/a/backend.toml",
        ),
        "folder-of-data-in-a-package": (
            "loud.data:backend.toml",
            ["loud/__init__.py"],
            "loud/data/backend.toml",
        ),
        "module-instead-of-a-package": ("loud:backend.toml", ["loud.py"], "backend.toml"),
        "module-in-a-package": (
            "loud.a:backend.toml",
            ["loud/__init__.py", "loud/a.py"],
            "loud/backend.toml",
        ),
        "name-with-dots-and-dashes": (
            "loud:back-end.v2.toml",
            ["loud/__init__.py"],
            "loud/back-end.v2.toml",
        ),
    }

    def write(self, folder: Path, layout: str) -> Path:
        """Write the backend; every module of it fails when it is imported."""
        value, modules, file = self.LAYOUTS[layout]
        write_distribution(
            folder,
            "loud-dist",
            entry_points={"photolib.backends": {"loud": value}},
            files={**dict.fromkeys(modules, "raise SystemExit('imported')\n"), file: TOML},
        )
        return folder / file

    def write_apart(self, folder: Path, layout: str) -> Path:
        """Write the package to ``source``, and its metadata to ``site``, as if it were editable."""
        file = self.write(folder / "source", layout)
        (metadata,) = (folder / "source").glob("*.dist-info")
        (folder / "site").mkdir()
        metadata.rename(folder / "site" / metadata.name)
        return file

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_in_a_folder_on_the_path(self, tmp_path: Path, layout: str) -> None:
        """D1, D2: every module of the package fails when it is imported."""
        file = self.write(tmp_path, layout)

        assert find(tmp_path) == {
            "found": True,
            "file": str(file),
            "distribution": "loud-dist",
            "imported": [],
            "problems": [],
        }

    @pytest.mark.parametrize("layout", ["sub-package", "folder-of-data-in-a-package"])
    def test_in_a_zip_file_on_the_path(self, tmp_path: Path, layout: str) -> None:
        self.write(tmp_path / "site", layout)
        archive = Path(shutil.make_archive(str(tmp_path / "site"), "zip", tmp_path / "site"))

        report = find(archive)

        assert report["problems"] == []
        assert report["found"]
        assert report["file"] == str(archive / self.LAYOUTS[layout][2])
        assert report["imported"] == []

    @pytest.mark.parametrize("layout", ["sub-package", "module-in-a-package"])
    def test_through_a_finder_of_its_own(self, tmp_path: Path, layout: str) -> None:
        """Editable installations of setuptools put such a finder on ``sys.meta_path``."""
        file = self.write_apart(tmp_path, layout)

        report = find(
            tmp_path / "site",
            before=f"""
    from importlib.util import spec_from_file_location

    class Finder:
        @classmethod
        def find_spec(cls, name, path=None, target=None):
            if name == "loud":
                file = {str(tmp_path / "source" / "loud")!r}
                return spec_from_file_location(
                    name, file + "/__init__.py", submodule_search_locations=[file]
                )

    sys.meta_path.append(Finder)
    """,
        )

        assert report["problems"] == []
        assert report["file"] == str(file)
        assert report["imported"] == []

    def test_through_a_finder_of_a_place_on_the_path(self, tmp_path: Path) -> None:
        """Editable installations of setuptools have one for namespace packages."""
        file = self.write_apart(tmp_path, "nested-namespace-package")

        report = find(
            tmp_path / "site",
            before=f"""
    from importlib.machinery import ModuleSpec

    FOLDERS = {{"loud": [], "loud.a": [], "loud.a.b": [{str(file.parent)!r}]}}

    class Finder:
        @classmethod
        def find_spec(cls, name, target=None):
            if name in FOLDERS:
                spec = ModuleSpec(name, None, is_package=True)
                spec.submodule_search_locations = [*FOLDERS[name], "editable-hook"]
                return spec

    def hook(place):
        if place != "editable-hook":
            raise ImportError
        return Finder

    sys.path_hooks.append(hook)
    sys.path.append("editable-hook")
    """,
        )

        assert (report["problems"], report["file"]) == ([], str(file))
        assert report["imported"] == []

    def test_in_a_namespace_package_of_which_a_part_is_imported_already(
        self, tmp_path: Path
    ) -> None:
        write_distribution(tmp_path / "first", "other-dist", files={"loud/a/other.py": ""})
        self.write(tmp_path / "second", "nested-namespace-package")

        report = find(tmp_path / "first", tmp_path / "second", before="import loud.a.other")

        assert report["file"] == str(tmp_path / "second" / "loud/a/b/backend.toml")
        assert report["imported"] == ["loud", "loud.a", "loud.a.other"]

    @pytest.mark.parametrize("layout", ["package", "sub-package", "nested-namespace-package"])
    def test_the_file_belongs_to_the_copy_that_an_import_finds(
        self, tmp_path: Path, layout: str
    ) -> None:
        """D2: such as a working folder, first on the path, with the wheel installed behind it."""
        self.write(tmp_path / "installed", layout)
        copy = self.write(tmp_path / "working", layout)
        shutil.rmtree(next((tmp_path / "working").glob("*.dist-info")))

        report = find(tmp_path / "working", tmp_path / "installed")

        assert (report["file"], report["distribution"]) == (str(copy), "loud-dist")
        assert report["imported"] == []

    def test_the_file_belongs_to_the_copy_that_is_imported_already(self, tmp_path: Path) -> None:
        """D2: calls use that one, wherever a new import would look."""
        self.write(tmp_path / "installed", "package")
        copy = self.write(tmp_path / "imported", "package")
        (copy.parent / "__init__.py").write_text("", encoding="utf-8")

        report = find(
            tmp_path / "installed",
            before=f"""
    sys.path.insert(0, {str(tmp_path / "imported")!r})
    import loud
    del sys.path[0]
    """,
        )

        assert report["file"] == str(copy)

    def test_a_lazily_imported_package_is_not_loaded(self, tmp_path: Path) -> None:
        """D2: looking at such a module as usual would run its code."""
        file = self.write(tmp_path, "package")

        report = find(
            tmp_path,
            before="""
    from importlib.util import LazyLoader, find_spec, module_from_spec

    spec = find_spec("loud")
    spec.loader = LazyLoader(spec.loader)
    sys.modules["loud"] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules["loud"])
    """,
        )

        assert (report["problems"], report["file"]) == ([], str(file))

    def test_a_copy_without_the_file_has_no_backend(self, tmp_path: Path) -> None:
        """D2: the file of another copy may describe other code."""
        self.write(tmp_path / "installed", "package")
        (tmp_path / "working" / "loud").mkdir(parents=True)
        (tmp_path / "working" / "loud" / "__init__.py").touch()

        report = find(tmp_path / "working", tmp_path / "installed")

        (problem,) = report["problems"]
        assert f"there is no file 'backend.toml' in '{tmp_path / 'working' / 'loud'}'" in problem

    @pytest.mark.parametrize("is_editable", [False, True], ids=["installed", "editable"])
    @pytest.mark.parametrize("before", ["", "import shared"], ids=["fresh", "imported"])
    def test_in_a_package_that_extends_its_path_when_it_is_imported(
        self, tmp_path: Path, before: str, is_editable: bool
    ) -> None:
        """D2: such as those of `pkgutil`, which are older than namespace packages."""
        init = "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"
        first, second, site = (tmp_path / each for each in ("first", "second", "site"))
        write_distribution(first, "first", files={"shared/__init__.py": init})
        write_distribution(
            second,
            "second",
            entry_points={"photolib.backends": {"loud": "shared.loud:backend.toml"}},
            files={
                "shared/__init__.py": init,
                "shared/loud/__init__.py": "",
                "shared/loud/backend.toml": TOML,
            },
        )
        site.mkdir()
        if is_editable:
            (metadata,) = second.glob("*.dist-info")
            metadata.rename(site / metadata.name)

        report = find(first, second, site, before=before)

        assert report["file"] == str(second / "shared/loud/backend.toml")
        assert report["problems"] == []

    @pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such a file")
    def test_a_file_that_cannot_be_read(self, tmp_path: Path) -> None:
        """E1: Even root is refused the first bytes of a process's memory."""
        self.write(tmp_path, "package").unlink()
        (tmp_path / "loud" / "backend.toml").symlink_to("/proc/self/mem")

        (problem,) = find(tmp_path)["problems"]

        assert "the package 'loud' or its file cannot be read (OSError: " in problem


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
