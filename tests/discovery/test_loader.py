"""The forms of a description mean the same; backends are loaded once, and again when asked to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSkippedWarning, BackendSystem, UnknownBackendError
from spatch_core.testing import Distribution, isolated, write_distribution
from spatch_core.types import Description
from tests.discovery.conftest import TOML

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


def read(folder: Path, value: str, files: dict[str, str]) -> Description:
    """Return the description that an entry point of this value leads to."""
    entry_points = {"photolib.backends": {"loud": value}}
    write_distribution(folder, "loud-dist", entry_points=entry_points, files=files)
    system = BackendSystem("photolib.backends", "PHOTOLIB")
    with isolated(system, path=[folder]):
        assert system.problems == ()
        return system.backends["loud"]


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
    def test_a_python_form_says_the_same_as_a_file(self, tmp_path: Path, form: str) -> None:
        """D1: each kind of value leads to the same description."""
        value, code = self.CODE[form]

        from_file = read(tmp_path / "a", "loud:loud.toml", {"loud/loud.toml": TOML})
        from_code = read(tmp_path / "b", value, {"loud.py": code})

        assert from_file.source.file == str(tmp_path / "a" / "loud" / "loud.toml")
        assert from_code.source.file is None
        for field in (*FIELDS, "auto_generation", "url", "attributes", "in_code"):
            assert getattr(from_file, field) == getattr(from_code, field), field

    def test_a_description_in_code_says_the_same_too(self, tmp_path: Path) -> None:
        """D1: the fields have the same meaning in code."""
        from_file = read(tmp_path, "loud:loud.toml", {"loud/loud.toml": TOML})

        in_code = BackendSystem(None, "PHOTOLIB", backends=[FIELDS]).backends["loud"]

        assert (from_file.in_code, in_code.in_code) == (False, True)
        for field in FIELDS:
            assert getattr(from_file, field) == getattr(in_code, field), field

    @pytest.mark.parametrize(
        "value", ["loud:backend [fast]", "loud : backend", "loud:backend.toml [fast]"]
    )
    def test_the_value_of_an_entry_point_may_have_spaces_and_extras(
        self, tmp_path: Path, value: str
    ) -> None:
        """The entry-points specification allows both."""
        files = {"loud/__init__.py": f"backend = {FIELDS!r}", "loud/backend.toml": TOML}
        assert read(tmp_path, value, files).name == "loud"


GROUP = "loader_library.backends"


@pytest.fixture
def system() -> BackendSystem:
    return BackendSystem(GROUP, "LOADER_LIBRARY", default_primary_types=["builtins:float"])


@pytest.fixture
def double(system: BackendSystem) -> Any:
    """A dispatchable function of the library."""

    @system.dispatchable("x", module="loader_library", qualname="double")
    def double(x: object) -> str:
        """Twice as much."""
        return "default"

    return double


@pytest.fixture
def site(tmp_path: Path, system: BackendSystem) -> Iterator[Path]:
    """A folder on the path, while the library is isolated."""
    with isolated(system, path=[tmp_path]):
        yield tmp_path


def install(folder: Path, name: str, rest: str = "", types: str = "'builtins:str'") -> Distribution:
    """Install a backend of the library, whose implementation returns its name."""
    return write_distribution(
        folder,
        f"{name}-dist",
        entry_points={GROUP: {name: f"loader_{name}:backend.toml"}},
        files={
            f"loader_{name}/__init__.py": f"def double(x):\n    return {name!r}\n",
            f"loader_{name}/backend.toml": f"""
                name = {name!r}
                primary_types = [{types}]
                {rest}
                [functions."loader_library:double"]
                function = "loader_{name}:double"
            """,
        },
    )


class TestReload:
    """`reload` discovers again, e.g. in a notebook after an installation."""

    def test_finds_backends_installed_meanwhile(
        self, system: BackendSystem, double: Any, site: Path
    ) -> None:
        assert double("text") == "default"
        install(site, "late")

        assert double("text") == "default"
        system.reload()

        assert double("text") == "late"
        assert list(system.backends) == ["default", "late"]

    def test_warns_of_a_backend_that_is_broken_now_at_the_line_that_calls_it(
        self, system: BackendSystem, double: Any, site: Path
    ) -> None:
        assert system.problems == ()
        install(site, "sick", rest="requires_opt_in = 0")

        with pytest.warns(BackendSkippedWarning) as caught:
            system.reload()

        assert [each.filename for each in caught] == [__file__]
        assert double("text") == "default"

    def test_keeps_blocks_in_force(self, system: BackendSystem, double: Any, site: Path) -> None:
        install(site, "shy", rest="requires_opt_in = true")
        with system.backend_opts(prioritize="shy"):
            assert double("text") == "shy"
            install(site, "bold")
            system.reload()

            assert double("text") == "shy"
        assert double("text") == "bold"

    def test_a_block_may_outlive_its_backend(
        self, system: BackendSystem, double: Any, site: Path
    ) -> None:
        distribution = install(site, "early")
        with system.backend_opts(prioritize="early"):
            distribution.remove()
            system.reload()

            assert double("text") == "default"
            with pytest.raises(UnknownBackendError):
                system.backend_opts(prioritize="early")

    @pytest.mark.parametrize("globally", [False, True], ids=["before", "after enable_globally"])
    def test_reads_variables_again_and_keeps_global_options(
        self,
        system: BackendSystem,
        double: Any,
        site: Path,
        monkeypatch: pytest.MonkeyPatch,
        globally: bool,
    ) -> None:
        """S8: the environment sets the default, until a program does."""
        for name in ("a", "b"):
            install(site, name)
        assert double("text") == "a"
        if globally:
            system.backend_opts("a").enable_globally()
        monkeypatch.setenv("LOADER_LIBRARY_PRIORITIZE", "b,misspelled")
        system.reload()
        assert double("text") == ("a" if globally else "b")

    def test_a_name_that_was_installed_meanwhile_is_explained(
        self, system: BackendSystem, site: Path
    ) -> None:
        """S4, F9: users reload through the options, which are published."""
        options = system.backend_opts
        assert options().backends == ("default",)
        install(site, "late")
        with pytest.raises(UnknownBackendError, match="installed since then, call back"):
            options("late")
        options.reload()
        assert options("late").prioritized == ("late",)
