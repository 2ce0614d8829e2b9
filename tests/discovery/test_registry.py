"""Discovery: from entry points and descriptions in code to the catalog of the backends."""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import spatch_core
from spatch_core import (
    BackendSkippedWarning,
    EnvironmentVariableWarning,
    UnknownBackendError,
)
from spatch_core._discovery.catalog import Catalog
from spatch_core._discovery.environment import read_environment
from spatch_core._discovery.registry import build_catalog
from spatch_core._type_patterns import TypePattern
from spatch_core.testing import run_python, write_distribution

CORE = Path(spatch_core.__file__).parents[1]

FIELDS: dict[str, Any] = {
    "name": "loud",
    "primary_types": ["builtins:str", "~builtins:bytes"],
    "secondary_types": ["builtins:int"],
    "requires_opt_in": True,
    "higher_priority_than": ["other"],
    "lower_priority_than": ["default"],
    "functions": {
        "defaults": {"uses_context": True},
        "auto-generation": {"backend": "loud:backend", "modules": ["loud.code"]},
        "photolib:double": {
            "function": "loud.code:double",
            "should_run": "loud.code:ask",
            "additional_docs": "Louder.",
        },
        "photolib:halve": {"function": "loud.code:halve", "uses_context": False},
    },
}
TOML = """
    name = "loud"
    primary_types = ["builtins:str", "~builtins:bytes"]
    secondary_types = ["builtins:int"]
    requires_opt_in = true
    higher_priority_than = ["other"]
    lower_priority_than = ["default"]

    [functions.defaults]
    uses_context = true

    [functions.auto-generation]
    backend = "loud:backend"
    modules = ["loud.code"]

    [functions."photolib:double"]
    function = "loud.code:double"
    should_run = "loud.code:ask"
    additional_docs = "Louder."

    [functions."photolib:halve"]
    function = "loud.code:halve"
    uses_context = false
"""


def catalog(*entry_points: Any, in_code: Any = (), **variables: str) -> Catalog:
    """Build the catalog of a library whose variables start with PHOTOLIB."""
    environment = read_environment(
        "PHOTOLIB", {f"PHOTOLIB_{name}": value for name, value in variables.items()}
    )
    return build_catalog(entry_points, in_code, [TypePattern("builtins:float")], environment)


def entry_point(name: str, value: str) -> EntryPoint:
    """An entry point that belongs to no distribution, as a test or a plugin may make one."""
    return EntryPoint(name, value, "photolib.backends")


def backend(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "primary_types": ["builtins:str"], **fields}


class TestForms:
    """A TOML file, an object, a class, a module and a mapping mean the same."""

    CODE = {  # noqa: RUF012  # constant
        "class": (
            "loud:backend",
            "class backend:\n" + "\n".join(f"    {k} = {v!r}" for k, v in FIELDS.items()),
        ),
        "object": (
            "loud:box.backend",
            f"""from types import SimpleNamespace
box = SimpleNamespace(backend=SimpleNamespace(**{FIELDS!r}))""",
        ),
        "module": ("loud", "\n".join(f"{k} = {v!r}" for k, v in FIELDS.items())),
        "mapping": ("loud:backend", f"backend = {FIELDS!r}"),
        "read-only-mapping": (
            "loud:backend",
            f"from types import MappingProxyType\nbackend = MappingProxyType({FIELDS!r})",
        ),
        "tuples-and-sets": (
            "loud:backend",
            "class backend:\n"
            + "\n".join(
                f"    {k} = {tuple(v) if isinstance(v, list) else v!r}" for k, v in FIELDS.items()
            ),
        ),
        "properties": (
            "loud:backend",
            f"""fields = {FIELDS!r}
class Backend:
    def __getattr__(self, name):
        try:
            return fields[name]
        except KeyError:
            raise AttributeError(name) from None
backend = Backend()""",
        ),
    }

    @pytest.mark.parametrize("form", CODE)
    def test_a_python_form_says_the_same_as_a_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
    ) -> None:
        """D1, D4: each kind of value leads to the same description."""
        value, code = self.CODE[form]
        write_distribution(tmp_path / "a", "loud", files={"loud/loud.toml": TOML})
        write_distribution(tmp_path / "b", "loud", files={"loud.py": code})

        monkeypatch.syspath_prepend(tmp_path / "a")
        from_file = catalog(entry_point("loud", "loud:loud.toml"))
        monkeypatch.syspath_prepend(tmp_path / "b")
        monkeypatch.delitem(sys.modules, "loud", raising=False)
        from_code = catalog(entry_point("loud", value))

        assert from_file.problems == from_code.problems == ()
        one, other = from_file.descriptions["loud"], from_code.descriptions["loud"]
        assert one.source.file == str(tmp_path / "a" / "loud" / "loud.toml")
        assert other.source.file is None
        for field in one.__dataclass_fields__:
            if field != "source":
                assert getattr(one, field) == getattr(other, field), field

    def test_a_description_in_code_says_the_same_too(self) -> None:
        """D3, D4: the fields mean the same there."""
        (name,) = set(catalog(in_code=[FIELDS]).descriptions) - {"default"}

        description = catalog(in_code=[FIELDS]).descriptions[name]

        assert description.name == "loud"
        assert description.in_code
        assert [str(each) for each in description.primary_types] == FIELDS["primary_types"]
        assert description.functions["photolib:double"].uses_context
        assert not description.functions["photolib:halve"].uses_context

    @pytest.mark.parametrize(
        "value", ["loud:backend [fast]", "loud : backend", "loud:backend.toml [fast]"]
    )
    def test_the_value_of_an_entry_point_may_have_spaces_and_extras(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
    ) -> None:
        """The entry-points specification allows both."""
        files = {"loud/__init__.py": f"backend = {FIELDS!r}", "loud/backend.toml": TOML}
        write_distribution(tmp_path, "loud", files=files)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "loud", raising=False)

        assert catalog(entry_point("loud", value)).problems == ()


# What a fresh interpreter finds of the backend, and what of it has been imported by then.
FIND = """
    import json, sys
    {before}
    from spatch_core import BackendSystem

    system = BackendSystem("photolib.backends", "PHOTOLIB")
    description = system.backends.get("loud")
    print(json.dumps({{
        "found": description is not None,
        "file": description and description.source.file,
        "distribution": description and description.source.distribution,
        "imported": sorted(name for name in sys.modules if name.startswith("loud")),
        "problems": [str(each) for each in system.problems],
    }}))
"""


def find(
    *path: Path, before: str = "", options: tuple[str, ...] = ("-W", "ignore")
) -> dict[str, Any]:
    """Discover backends in a fresh interpreter."""
    done = run_python(FIND.format(before=before), path=[*path, CORE], options=options)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


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

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_in_a_zip_file_on_the_path(self, tmp_path: Path, layout: str) -> None:
        self.write(tmp_path / "site", layout)
        archive = Path(shutil.make_archive(str(tmp_path / "site"), "zip", tmp_path / "site"))

        report = find(archive)

        assert report["problems"] == []
        assert report["found"]
        assert report["file"] == str(archive / self.LAYOUTS[layout][2])
        assert report["imported"] == []

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_through_a_path_file(self, tmp_path: Path, layout: str) -> None:
        """The metadata lies in one folder, which has a ``.pth`` file that names another."""
        file = self.write(tmp_path / "source", layout)
        (metadata,) = (tmp_path / "source").glob("*.dist-info")
        site = tmp_path / "site"
        site.mkdir()
        metadata.rename(site / metadata.name)
        (site / "loud.pth").write_text(f"{tmp_path / 'source'}\n", encoding="utf-8")

        report = find(before=f"import site; site.addsitedir({str(site)!r})")

        assert report == {
            "found": True,
            "file": str(file),
            "distribution": "loud-dist",
            "imported": [],
            "problems": [],
        }

    @pytest.mark.parametrize(
        "layout", ["package", "sub-package", "module-in-a-package", "folder-of-data-in-a-package"]
    )
    def test_through_a_finder_of_its_own(self, tmp_path: Path, layout: str) -> None:
        """Editable installations of setuptools put such a finder on ``sys.meta_path``."""
        file = self.write(tmp_path / "source", layout)
        (metadata,) = (tmp_path / "source").glob("*.dist-info")
        (tmp_path / "site").mkdir()
        metadata.rename(tmp_path / "site" / metadata.name)

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

    def test_in_a_namespace_package_that_several_folders_share(self, tmp_path: Path) -> None:
        write_distribution(tmp_path / "first", "other-dist", files={"loud/a/other.py": ""})
        self.write(tmp_path / "second", "nested-namespace-package")

        report = find(tmp_path / "first", tmp_path / "second")

        assert report["file"] == str(tmp_path / "second" / "loud/a/b/backend.toml")

    def test_in_a_namespace_package_of_which_a_part_is_imported_already(
        self, tmp_path: Path
    ) -> None:
        write_distribution(tmp_path / "first", "other-dist", files={"loud/a/other.py": ""})
        self.write(tmp_path / "second", "nested-namespace-package")

        report = find(tmp_path / "first", tmp_path / "second", before="import loud.a.other")

        assert report["file"] == str(tmp_path / "second" / "loud/a/b/backend.toml")
        assert report["imported"] == ["loud", "loud.a", "loud.a.other"]

    def test_a_file_next_to_the_metadata_counts_before_one_that_comes_earlier_on_the_path(
        self, tmp_path: Path
    ) -> None:
        """It is the distribution's own; the other belongs to something of the same name."""
        write_distribution(
            tmp_path / "first", "impostor", files={"loud/__init__.py": "", "loud/backend.toml": "?"}
        )
        file = self.write(tmp_path / "second", "package")

        assert find(tmp_path / "first", tmp_path / "second")["file"] == str(file)

    def test_a_finder_that_fails_costs_the_backend_alone(self, tmp_path: Path) -> None:
        """E1: the library and other backends work."""
        write_distribution(
            tmp_path,
            "loud-dist",
            entry_points={"photolib.backends": {"loud": "loud:backend.toml"}},
        )

        report = find(
            tmp_path,
            before="""
    class Finder:
        @classmethod
        def find_spec(cls, name, path=None, target=None):
            if name == "loud":
                raise LookupError("out of order")

    sys.meta_path.append(Finder)
    """,
        )

        assert not report["found"]
        (problem,) = report["problems"]
        assert "LookupError: out of order" in problem
        assert "loud-dist" in problem

    def test_a_finder_of_the_old_kind_is_passed_over(self, tmp_path: Path) -> None:
        """Before Python 3.4 finders had another method; such ones are still about."""
        self.write(tmp_path, "package")
        (tmp_path / "site").mkdir()
        next(tmp_path.glob("*.dist-info")).rename(tmp_path / "site" / "loud_dist-0.1.0.dist-info")

        report = find(
            tmp_path / "site",
            tmp_path,
            before="""
    class Old:
        @classmethod
        def find_module(cls, name, path=None):
            return None

    sys.meta_path.insert(0, Old)
    """,
        )

        assert report["found"]

    @pytest.mark.parametrize("missing", ["metadata", "name", "encoding"])
    def test_a_distribution_that_does_not_say_its_name(self, tmp_path: Path, missing: str) -> None:
        """An interrupted installation, say; what there is of it still works."""
        distribution = write_distribution(
            tmp_path,
            "loud-dist",
            entry_points={"photolib.backends": {"loud": "loud:missing.toml"}},
        )
        file = distribution.metadata / "METADATA"
        if missing == "metadata":
            file.unlink()
        elif missing == "name":
            file.write_text("Metadata-Version: 2.1\n", encoding="utf-8")
        else:
            file.write_bytes(b"Name: \xff\nVersion: \xff\n")

        report = find(tmp_path)

        (problem,) = report["problems"]
        assert "'loud = loud:missing.toml'" in problem
        assert "None" not in problem

    @pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such a file")
    def test_a_file_that_cannot_be_read(self, tmp_path: Path) -> None:
        """E1: even root is refused the first bytes of a process's memory."""
        self.write(tmp_path, "package").unlink()
        (tmp_path / "loud" / "backend.toml").symlink_to("/proc/self/mem")

        (problem,) = find(tmp_path)["problems"]

        assert "the package 'loud' or its file cannot be read (OSError: " in problem

    def test_a_file_in_a_zip_file_that_is_missing(self, tmp_path: Path) -> None:
        write_distribution(
            tmp_path / "site",
            "loud-dist",
            entry_points={"photolib.backends": {"loud": "loud:backend.toml"}},
            files={"loud/__init__.py": ""},
        )
        archive = Path(shutil.make_archive(str(tmp_path / "site"), "zip", tmp_path / "site"))
        assert zipfile.is_zipfile(archive)

        (problem,) = find(archive)["problems"]

        assert f"there is no file 'backend.toml' in '{archive / 'loud'}'" in problem


class TestMalformedEntryPoints:
    """Of whichever distribution: the others are read one by one then."""

    @pytest.fixture
    def site(self, tmp_path: Path) -> Path:
        malformed = write_distribution(tmp_path, "malformed-dist")
        (malformed.metadata / "entry_points.txt").write_text("[x]\nno value\n", encoding="utf-8")
        return tmp_path

    def install(self, folder: Path, package: str, distribution: str) -> Path:
        write_distribution(
            folder,
            distribution,
            entry_points={"photolib.backends": {"loud": f"{package}:backend.toml"}},
            files={f"{package}/backend.toml": TOML},
        )
        return folder / package / "backend.toml"

    def test_the_first_folder_on_the_path_wins_then_too(self, site: Path) -> None:
        file = self.install(site / "newer", "loud", "loud-dist")
        self.install(site / "older", "loud", "Loud_Dist")

        report = find(site / "newer", site / "older", site)

        assert report["file"] == str(file)
        (problem,) = report["problems"]
        assert "malformed-dist" in problem
        assert "entry_points.txt cannot be read" in problem

    def test_distributions_without_a_name_are_different_ones_then_too(self, site: Path) -> None:
        file = self.install(site / "later", "loud", "loud-dist")
        write_distribution(site / "earlier", "another")
        for metadata in site.glob("*/*.dist-info/METADATA"):
            metadata.unlink()

        assert find(site / "earlier", site / "later", site)["file"] == str(file)


class TestNames:
    """One backend a name, whatever the order in which entry points were found."""

    def test_the_order_of_entry_points_does_not_matter(self, tmp_path: Path) -> None:
        """P1: the order of finding is not the order of priority."""
        names = [f"b{number}" for number in range(6)]
        points = [entry_point(name, f"no_such_{name}:backend.toml") for name in names]

        one, other = catalog(*points), catalog(*points[::-1])

        assert one.problems == other.problems
        assert [each.backend for each in one.problems] == names

    def test_a_description_in_code_goes_before_an_installed_one_of_its_name(self) -> None:
        """P10: the library's own choice counts."""
        found = catalog(entry_point("twin", "no:twin.toml"), in_code=[backend("twin")])

        assert found.descriptions["twin"].in_code
        (problem,) = found.problems
        assert "the library itself offers a backend of the same name" in problem.message

    def test_a_name_in_code_that_occurs_twice_is_reported(self) -> None:
        """P10: the first counts."""
        found = catalog(in_code=[backend("twin"), backend("twin", requires_opt_in=True)])

        assert not found.descriptions["twin"].requires_opt_in
        assert [each.backend for each in found.problems] == ["twin"]

    def test_a_first_that_is_broken_is_not_replaced_by_the_second(self, tmp_path: Path) -> None:
        """P10: which one a name means does not depend on the health of either."""
        for name, content in [("a", "name = 1"), ("b", TOML)]:
            write_distribution(
                tmp_path,
                f"{name}-dist",
                entry_points={"photolib.backends": {"loud": f"loud_{name}:backend.toml"}},
                files={f"loud_{name}/backend.toml": content},
            )

        report = find(tmp_path)

        assert not report["found"]
        assert len(report["problems"]) == 3
        assert any("distribution b-dist" in each for each in report["problems"])

    def test_metadata_is_read_only_when_somebody_asks(self, tmp_path: Path) -> None:
        """Parsing it takes about as long as parsing the description."""

        class Counting:
            reads = 0

            @property
            def metadata(self) -> dict[str, str]:
                self.reads += 1
                return {"Name": "loud-dist"}

            def locate_file(self, path: str) -> Path:
                return tmp_path / path

        write_distribution(tmp_path, "loud-dist", files={"loud/backend.toml": TOML})
        distribution = Counting()
        point = SimpleNamespace(name="loud", value="loud:backend.toml", dist=distribution)

        description = catalog(point).descriptions["loud"]

        assert distribution.reads == 0
        assert description.source.distribution == "loud-dist"
        assert distribution.reads == 1

    def test_many_backends(self) -> None:
        """1,000 of them, half of them broken: no recursion, no warning left out."""
        found = catalog(
            *(entry_point(f"installed{n}", f"no_such_package{n}:b.toml") for n in range(500)),
            in_code=[backend(f"own{number}") for number in range(500)],
        )

        assert len(found.descriptions) == 501
        assert len(found.problems) == len(list(found.warnings())) == 500


class TestBlocked:
    """Blocked backends are known by name, and by nothing else."""

    def test_they_are_listed_but_not_read(self) -> None:
        """S13: `list` can show them."""
        found = catalog(entry_point("one", "no:1.toml"), in_code=[backend("two")], BLOCK="one,two")

        assert set(found.blocked) == {"one", "two"}
        assert list(found.descriptions) == ["default"]
        assert found.problems == ()
        assert found.blocked["one"].entry_point == "one = no:1.toml"

    def test_asking_for_one_says_why(self) -> None:
        """S13, S5: the error names the variable."""
        found = catalog(entry_point("one", "no:1.toml"), BLOCK="*")

        with pytest.raises(UnknownBackendError, match=r"blocked by .* PHOTOLIB_BLOCK") as caught:
            found.check_backend("one")

        assert caught.value.name == "one"
        assert caught.value.reason


class TestUnusableNames:
    """What a user gets who asks for a backend that is not to be had."""

    def test_a_broken_one_says_why(self) -> None:
        """S5: the error has the first fault."""
        with pytest.raises(UnknownBackendError, match=r"cannot be used: .*no file 'b.toml'"):
            catalog(entry_point("broken", "no:b.toml")).check_backend("broken")

    def test_a_misspelled_one_shows_the_nearest(self) -> None:
        """S5: the names are compared."""
        found = catalog(in_code=[backend("threads"), backend("gpu")])

        with pytest.raises(UnknownBackendError, match="did you mean 'threads'") as caught:
            found.check_backend("thread")

        assert caught.value.nearest == ("threads",)

    def test_any_other_shows_what_is_installed(self) -> None:
        """S5: a name like no other."""
        with pytest.raises(UnknownBackendError, match="installed: default, gpu"):
            catalog(in_code=[backend("gpu")]).check_backend("xyz")

    @pytest.mark.parametrize("name", [3, None, ("gpu",)])
    def test_what_is_no_name_at_all(self, name: object) -> None:
        with pytest.raises(UnknownBackendError, match="no backend is named"):
            catalog(in_code=[backend("gpu")]).check_backend(name)


class TestWarnings:
    """One warning for each backend or variable that has problems."""

    def test_a_backend_with_several_faults_has_one(self) -> None:
        (warning,) = catalog(in_code=[{"name": "b", "requires_opt_in": 1}]).warnings()

        assert isinstance(warning, BackendSkippedWarning)
        assert [each.key for each in warning.problems] == ["primary_types", "requires_opt_in"]
        assert "(1 more fault: see the library's system.problems)" in str(warning)

    def test_backends_on_one_cycle_share_one(self) -> None:
        found = catalog(
            in_code=[
                backend("a", higher_priority_than=["b"]),
                backend("b", higher_priority_than=["a"]),
                backend("c", higher_priority_than=["d"]),
                backend("d", higher_priority_than=["c"]),
            ]
        )

        texts = [str(each) for each in found.warnings()]

        assert len(found.problems) == 4
        assert len(texts) == 2
        assert "a before b before a" in texts[0]
        assert "c before d before c" in texts[1]

    def test_a_variable_has_its_own(self) -> None:
        found = catalog(in_code=[backend("gpu")], PRIORITIZE="gpus,,", BLOCK="gqu")

        warnings = list(found.warnings())

        assert [type(each) for each in warnings] == [EnvironmentVariableWarning] * 2
        assert [each.problem.key for each in warnings] == [  # type: ignore[attr-defined]  # of this class
            "PHOTOLIB_PRIORITIZE",
            "PHOTOLIB_BLOCK",
        ]

    def test_nothing_wrong_nothing_warned(self) -> None:
        assert list(catalog(in_code=[backend("gpu")]).warnings()) == []


class TestNearMisses:
    """A name in a variable that resembles one that is installed is a mistake."""

    @pytest.mark.parametrize("variable", ["PRIORITIZE", "BLOCK", "SET_ORDER"])
    def test_reported(self, variable: str) -> None:
        value = "thread>gpu" if variable == "SET_ORDER" else "thread"

        (problem,) = catalog(
            in_code=[backend("threads"), backend("gpu")], **{variable: value}
        ).problems

        assert problem.key == f"PHOTOLIB_{variable}"
        assert problem.remedy == "Did you mean 'threads'?"

    def test_of_a_broken_or_blocked_backend_too(self) -> None:
        found = catalog(entry_point("threads", "no:b.toml"), PRIORITIZE="thread", BLOCK="threads")

        assert [each.remedy for each in found.problems] == ["Did you mean 'threads'?"]

    def test_the_exact_name_of_a_broken_backend_is_none(self) -> None:
        found = catalog(entry_point("threads", "no:b.toml"), PRIORITIZE="threads")

        assert [each.backend for each in found.problems] == ["threads"]
