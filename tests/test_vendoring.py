"""A library can vendor the package as the page about it says."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import spatch_core
from spatch_core.testing import run_python, write_distribution

PACKAGE = Path(spatch_core.__file__).parent
ROOT = PACKAGE.parent
PAGE = ROOT / "docs" / "how-to" / "vendoring.md"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="only a checkout has the docs")


def left_out() -> list[str]:
    """Return the parts that the page's table says may be left out."""
    rows = re.findall(r"^\| (`.*?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [part for row in rows for part in re.findall(r"`([\w./]+[./]\w*)`", row)]


@pytest.fixture(params=["all", "least"])
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A library that vendors the package, all of it or the least, with the files of the page."""
    text = PAGE.read_text(encoding="utf-8")
    files = dict(
        re.findall(r"^```python\n# (photolib/\S+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    )
    assert sorted(files) == ["photolib/_dispatch.py", "photolib/exceptions.py"]
    write_distribution(
        tmp_path,
        "photolib",
        entry_points={
            "photolib.backends": {
                "loud": "photolib_loud:loud.toml",
                "bad": "photolib_loud:no.toml",
            },
            "spatch_core.libraries": {"photolib": "photolib._dispatch:system"},
        },
        files={
            **files,
            "photolib/__init__.py": """
                from ._dispatch import backend_opts, system

                @system.dispatchable("x")
                def double(x):
                    return 2 * x
            """,
            "photolib_loud/__init__.py": """
                def double(context, x):
                    return f"{type(context).__module__}: {x}"
            """,
            "photolib_loud/loud.toml": """
                name = "loud"
                primary_types = ["builtins:str"]

                [functions."photolib:double"]
                function = "photolib_loud:double"
                uses_context = true
            """,
        },
    )
    copy = tmp_path / "photolib" / "_vendor" / "spatch_core"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    if request.param == "least":
        for part in left_out():
            found = copy / part
            shutil.rmtree(found) if found.is_dir() else found.unlink()
    return tmp_path


def test_the_page_names_what_may_be_left_out() -> None:
    """Otherwise the tests below would leave out nothing."""
    parts = ["cli/", "__main__.py", "examination/", "report/", "testing/", "protocols/"]
    assert left_out() == [*parts, "_accelerator.c"]


def test_the_folder_has_its_licence() -> None:
    """F10: a copy of the folder has it, too."""
    assert (PACKAGE / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_page_publishes_every_error(site: Path) -> None:
    """They are the classes that the copy raises."""
    done = run_python(
        """
        from photolib import exceptions
        from photolib._vendor import spatch_core

        errors = [name for name in spatch_core.__all__ if name.endswith(("Error", "Warning"))]
        print(*{getattr(exceptions, name) is getattr(spatch_core, name) for name in errors})
        """,
        path=[site],
    )
    assert done.stdout == "True\n"


def test_it_works_and_is_a_package_of_its_own(site: Path) -> None:
    """F10: without another copy; its warnings are shown at the caller's line."""
    done = run_python(
        """
        import pickle, sys, warnings
        sys.modules["spatch_core"] = None  # importing it fails
        import photolib

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            print(photolib.double("x"), photolib.double(1))
        print([each.filename == __file__ for each in caught])
        print(pickle.loads(pickle.dumps(photolib.system)) is photolib.system)
        """,
        path=[site],
        environment={"PYTHONPATH": None},
    )
    called, *others = done.stdout.splitlines()
    assert called.startswith("photolib._vendor.spatch_core.")
    assert called.endswith(": x 2")
    assert others == ["[True]", "True"]


def test_filters_name_the_published_class(site: Path) -> None:
    """E2: where warnings are errors, the first call raises."""
    done = run_python(
        "import photolib; photolib.double(2)",
        path=[site],
        environment={"PYTHONPATH": None},
        options=["-W", "error::photolib.exceptions.BackendSkippedWarning"],
        check=False,
    )
    assert "photolib._vendor.spatch_core.exceptions.BackendSkippedWarning" in done.stderr


def test_the_command_line_takes_a_library_with_a_copy(site: Path) -> None:
    """It need not be the copy's own."""
    pytest.importorskip("click")
    pytest.importorskip("rich")
    done = run_python(
        "from spatch_core.cli import main; main(['list', 'photolib', '--json'])",
        path=[site, ROOT],
        check=False,
    )
    assert '"loud"' in done.stdout, done.stderr
