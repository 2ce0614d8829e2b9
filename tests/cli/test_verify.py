"""``spatch-core verify``: faulty files of real packages, which need not be installed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from spatch_core.testing import write_distribution
from tests.cli.conftest import Answer, Site

GOOD = """
    # The backend.
    name = "oil"
    primary_types = ["fractions:Fraction"]

    [functions.auto-generation]
    backend = "paint_oil.tools:backend"
    modules = ["paint_oil.tools"]

    [functions.defaults]
    should_run = "paint_oil.tools:ask"

    [functions."paintlib.filters:blur"]
    function = "paint_oil.tools:blur"
    """
TOOLS = """
    from spatch_core import BackendImplementation

    backend = BackendImplementation("oil")
    number = 1

    def ask(context, x):
        return True

    @backend.implements("paintlib.filters:blur")
    def blur(x):
        return x
    """


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(dedent(content).lstrip("\n").encode())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A backend that is not installed, in the layout with a folder ``src``."""
    folder = tmp_path / "project"
    write(
        folder / "src" / "paint_oil",
        {"__init__.py": "", "tools.py": TOOLS, "backend.toml": GOOD},
    )
    return folder


def verify(site: Site, project: Path, toml: str, *options: str) -> Answer:
    """Verify the project's file with this content."""
    file = project / "src" / "paint_oil" / "backend.toml"
    write(file.parent, {file.name: toml})
    return site.run("verify", *options, str(file))


def faults(answer: Answer) -> dict[tuple[int, str | None], tuple[str, str]]:
    (file,) = answer.json["files"]
    assert answer.code == (1 if file["faults"] else 0)
    return {
        (each["line"], each["key"]): (each["message"], each["remedy"]) for each in file["faults"]
    }


def fault(site: Site, project: Path, old: str, new: str) -> tuple[Any, ...]:
    """The only fault after a change: line, key, message, remedy."""
    assert old in GOOD
    found = faults(verify(site, project, GOOD.replace(old, new), "--json"))
    ((place, texts),) = found.items()
    return (*place, *texts)


def test_a_good_file_is_fine_though_nothing_is_installed(site: Site, project: Path) -> None:
    """Its package is imported from its folder, and the output says so."""
    answer = verify(site, project, GOOD)
    assert (answer.code, answer.errors) == (0, "")
    file = str(project / "src" / "paint_oil" / "backend.toml")
    unchecked = f"{file}:12: note: functions.\"paintlib.filters:blur\": the package 'paintlib' is"
    first, rest = answer.output.split("\n", 1)
    assert first == f"{unchecked} not installed here, so this is not checked"
    assert rest == (
        f"{file}: fine (backend oil, 1 function)\n"
        f"Imported from where the files are:\n  {project / 'src'}\n"
        "\n1 file: 1 note\n"
    )


def test_what_the_code_has_renamed_is_to_be_updated(site: Site, project: Path) -> None:
    """The file has the old name; in one that no update writes, the name is to be corrected."""
    write(project / "src" / "paint_oil", {"tools.py": TOOLS.replace("def ask(", "def asks(")})
    text = GOOD.replace("defaults]\n    should_run", '"paintlib.filters:blend"]\n    function')
    advice = "If the code has changed, run `spatch-core update --prune`"
    found = faults(verify(site, project, GOOD, "--json"))
    assert found[10, "functions.defaults.should_run"] == (
        "'paint_oil.tools' has no 'ask'",
        f"Did you mean 'asks'? {advice}",
    )
    written_by_hand = text.replace('backend = "paint_oil.tools:backend"', "")
    found = faults(verify(site, project, written_by_hand, "--json"))
    assert advice not in str(found)
    assert "'paint_oil.tools' has no 'ask'" in str(found)


@pytest.mark.parametrize("command", ["verify", "update"])
def test_without_a_file_the_message_says_what_to_give(site: Site, command: str) -> None:
    """It is wrong usage."""
    answer = site.run(command)
    assert "FILE is missing: give the TOML file of the backend, for example src/" in answer.errors
    assert (answer.code, answer.output) == (2, "")


def test_every_fault_is_shown_at_once(site: Site, project: Path) -> None:
    """D4, D5: faults of fields, of keys that are none here, and of imports, sorted by line."""
    toml = """
        name = "oil"
        primary_types = [
            "fractions:Fractio",  # see [1]
            "no identifier",
        ]
        requires_opt_in = 1
        [functions."paintlib.filters:blur"]
        functon = "paint_oil.tools:blur"
        [functions."paintlib.filters:blend"]
        function = "paint_oil.tools:blend"
        should_run = "paint_oil.tools:number"
        requires_opt_in = true
        [functions."paintlib.blur"]
        function = "paint_oil.tools:blur"
        [functions.default]
        should_run = "paint_oil.tools:no_such_function"
        """
    found = faults(verify(site, project, toml, "--json"))
    assert list(found) == [
        (3, "primary_types[0]"),
        (4, "primary_types[1]"),
        (6, "requires_opt_in"),
        (7, 'functions."paintlib.filters:blur".function'),
        (8, 'functions."paintlib.filters:blur".functon'),
        (10, 'functions."paintlib.filters:blend".function'),
        (11, 'functions."paintlib.filters:blend".should_run'),
        (12, 'functions."paintlib.filters:blend".requires_opt_in'),
        (13, 'functions."paintlib.blur"'),
        (15, 'functions."default"'),
    ]
    remedies = [remedy for _, remedy in found.values()]
    assert remedies[-3:] == [
        "Write it above the first table",
        "Write it as 'paintlib:blur'",
        "Did you mean 'defaults'?",
    ]
    assert found[3, "primary_types[0]"] == (
        "'fractions' has no 'Fractio', so 'fractions:Fractio' can never match",
        "Did you mean 'Fraction'?",
    )
    assert found[6, "requires_opt_in"] == ("1 is not a boolean", "Write true or false")
    assert found[11, 'functions."paintlib.filters:blend".should_run'] == (
        "'paint_oil.tools:number' is not a function but of type 'int'",
        "Name a function",
    )


def test_a_fault_is_one_line_with_file_and_line(site: Site, project: Path) -> None:
    """Editors understand the format of compilers; the remedy is below."""
    answer = verify(site, project, GOOD.replace("tools:blur", "tools:blurr"))
    file = project / "src" / "paint_oil" / "backend.toml"
    key = 'functions."paintlib.filters:blur".function'
    assert (
        f"\n{file}:13: error: {key}: 'paint_oil.tools' has no 'blurr'\n"
        "    help: Did you mean 'blur'? If the code has changed, run "
        "`spatch-core update --prune`\n"
    ) in answer.output
    assert answer.output.endswith("\n\n1 file: 1 error, 1 note\n")
    assert answer.code == 1


def test_without_imports_the_validator_judges_alone(site: Site, project: Path) -> None:
    toml = GOOD.replace("tools:blur", "nowhere:blur").replace('"oil"', '"o i l"')
    answer = verify(site, project, toml, "--no-imports", "--json")
    assert [*faults(answer)] == [(2, "name")]
    assert answer.json["files"][0]["imported"] is False


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "message", "remedy"),
    [
        pytest.param(
            "tools:backend", "tools:number", 6, "functions.auto-generation.backend",
            "'paint_oil.tools:number' is not a BackendImplementation but of type 'int'",
            "Name the BackendImplementation with which the code registers its functions",
            id="backend",
        ),
        pytest.param(
            '["paint_oil.tools"]', '["paint_oil.tols"]', 7, "functions.auto-generation.modules[0]",
            "there is no module 'paint_oil.tols'", "Did you mean 'paint_oil.tools'?", id="modules",
        ),
        pytest.param(
            '"oil"', '"gouache"', 6, "functions.auto-generation.backend",
            "'paint_oil.tools:backend' calls itself 'oil', the description 'gouache'",
            "Give both the same name", id="name",
        ),
    ],
)  # fmt: skip
def test_what_a_file_names_must_exist(
    site: Site, project: Path, old: str, new: str, line: int, key: str, message: str, remedy: str
) -> None:
    """A fault has line, key, message, and the nearest name or another remedy."""
    assert fault(site, project, old, new) == (line, key, message, remedy)


def test_the_name_is_that_of_the_projects_entry_point(site: Site, project: Path) -> None:
    """The nearest pyproject.toml has it."""
    entry = '[project.entry-points."paintlib.backends"]\n'
    write(project, {"pyproject.toml": f'{entry}linseed = "paint_oil:backend.toml"\n'})
    answer = verify(site, project, GOOD, "--json")
    assert faults(answer)[2, "name"][0] == ("the description says 'oil', its entry point 'linseed'")
    write(project, {"pyproject.toml": f'{entry}oil = "paint_oil : backend.toml"\n'})
    assert not faults(verify(site, project, GOOD, "--json"))
    for other in ("no TOML", "[project]\nentry-points = 3\n", "[project]\n"):
        write(project, {"pyproject.toml": other})
        assert not faults(verify(site, project, GOOD, "--json"))


def test_a_file_that_no_entry_point_leads_to(site: Site, project: Path) -> None:
    """No library finds it; the remedy has the value of the entry point."""
    head = '[project]\nname = "paint-oil"\n'
    entry = f'{head}[project.entry-points."paintlib.backends"]\n'
    write(project, {"pyproject.toml": f'{entry}wax = "paint_oil:wax.toml"\n'})
    ((place, (message, remedy)),) = faults(verify(site, project, GOOD, "--json")).items()
    assert not any(place)
    assert message == "no entry point leads to this file, so no library finds the backend"
    assert remedy.endswith(': oil = "paint_oil:backend.toml"')
    write(project, {"pyproject.toml": head})
    (file,) = verify(site, project, GOOD, "--json").json["files"]
    assert [each["message"] for each in file["notes"]] == [message]
    # Its project may declare it elsewhere.
    points = {"paintlib.backends": {"oil": "paint_oil:backend.toml"}}
    write_distribution(site.folder, "paint-oil", entry_points=points)
    (file,) = verify(site, project, GOOD, "--json").json["files"]
    assert file["notes"] == []


def test_remarks_are_told_apart_from_what_is_not_checked(site: Site, project: Path) -> None:
    """They have a remedy, and are not faults."""
    toml = GOOD.replace('name = "oil"', 'name = "oil"\n    requires = ["no-such-distribution"]')
    answer = verify(site, project, toml, "--json")
    (found,) = answer.json["files"]
    assert answer.code == 0
    assert [each["key"] for each in found["notes"]] == ["requires"]
    assert "requires" not in [each["key"] for each in found["unchecked"]]


FUNCTIONS = """
    name = "oil"
    primary_types = ["fractions:Fraction"]
    [functions.defaults]
    function = "paint_oil.tools:blur"
    [functions."paintlib.filters:blur"]
    [functions."paintlib.filters:blend"]
    [functions."zzz_lib:blur"]
    [functions."zzz_lib:blend"]
    [functions."json:dumps"]
    """


def test_functions_are_looked_up_in_the_library(site: Site, project: Path) -> None:
    """If the library is not here, or is none, the output says so; `test_doctor` has all faults."""
    site.install_library()
    answer = verify(site, project, FUNCTIONS, "--json")
    ((place, (message, _)),) = faults(answer).items()
    assert place == (4, "functions.defaults.function")
    start = "paint_oil.tools:blur(x) cannot take all calls of the library's function (x, y): "
    assert message.startswith(start)
    absent = "the package 'zzz_lib' is not installed here, so this is not checked"
    unknown = "no library is known that has functions of 'json', so this is not checked"
    (file,) = answer.json["files"]
    assert [(each["key"], each["message"]) for each in file["unchecked"]] == [
        ('functions."zzz_lib:blur"', absent),
        ('functions."zzz_lib:blend"', absent),
        ('functions."json:dumps"', unknown),
    ]
    # Only where the project says which library is meant.
    group = '[project.entry-points."paintlib.backends"]\noil = "paint_oil:backend.toml"\n'
    (project / "pyproject.toml").write_text(group)
    answer = verify(site, project, FUNCTIONS.replace("json:dumps", "json:blur"), "--json")
    assert faults(answer)[9, 'functions."json:blur"'] == (
        "the library has no function 'json:blur'",
        "Did you mean 'paintlib.filters:blur'?",
    )
    (project / "pyproject.toml").unlink()
    answer = verify(site, project, FUNCTIONS)
    assert 'functions."zzz_lib:blur" and 1 more: the package' in answer.output


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b'name = "a"\n\nprimary_types = [\n', 3, "it is not valid TOML: "),
        (b'name = "a"\nname = "b"\n', 2, "it is not valid TOML: Cannot overwrite a value"),
        (b'name = "\xff"', None, "it cannot be read: 'utf-8' codec"),
        (b"", 1, "the field is missing"),
        (b'\xef\xbb\xbfname = "a"\n\n', 1, "it is not valid TOML: it begins with a byte order"),
    ],
    ids=["unfinished", "twice", "encoding", "empty", "byte order mark"],
)
def test_a_file_that_cannot_be_read(
    site: Site, tmp_path: Path, content: bytes, line: int | None, message: str
) -> None:
    """E1: even root cannot read the first bytes of a process's memory."""
    file = tmp_path / "backend.toml"
    file.write_bytes(content)
    found = faults(site.run("verify", "--json", str(file)))
    assert {place[0] for place in found} == {line}
    assert all(text.startswith(message) for text, _ in found.values())


def test_a_package_that_is_nowhere_is_said_to_be(site: Site, tmp_path: Path) -> None:
    """It is neither installed nor around the file."""
    write(tmp_path, {"backend.toml": GOOD.split("[functions.auto", maxsplit=1)[0]})
    with open(tmp_path / "backend.toml", "a", encoding="utf-8") as stream:
        stream.write('[functions."l:f"]\nfunction = "paint_oil.tools:blur"\n')
    found = faults(site.run("verify", "--json", str(tmp_path / "backend.toml")))
    ((message, remedy),) = found.values()
    assert message == "the package 'paint_oil' is not installed, so calls fail"
    assert "no folder around the file is called 'paint_oil'" in remedy


@pytest.mark.parametrize(
    "files",
    [
        {"tools.py": TOOLS, "backend.toml": GOOD.replace("paint_oil.tools", "tools")},
        {"a/paint_oil/data/backend.toml": GOOD, "a/paint_oil/tools.py": TOOLS},
        {
            "src/paint/oil/backend.toml": GOOD.replace("paint_oil", "paint.oil"),
            "src/paint/oil/tools.py": TOOLS,
        },
    ],
    ids=["module", "data-folder", "namespace"],
)
def test_other_layouts(site: Site, tmp_path: Path, files: dict[str, str]) -> None:
    """They are a module beside the file, a data folder, and a namespace package."""
    write(tmp_path, files)
    (file,) = tmp_path.rglob("backend.toml")
    assert faults(site.run("verify", "--json", str(file))) == {}


def test_several_files_are_judged_one_by_one(site: Site, project: Path, tmp_path: Path) -> None:
    """Their packages may have the same name."""
    write(tmp_path / "other" / "paint_oil", {"tools.py": TOOLS.replace("blur", "blend")})
    write(tmp_path / "other" / "paint_oil", {"backend.toml": GOOD})
    files = [project / "src" / "paint_oil", tmp_path / "other" / "paint_oil"]
    answer = site.run("verify", *(str(each / "backend.toml") for each in files))
    lines = answer.output.splitlines()
    (error,) = (line for line in lines if ": error: " in line)
    assert error.startswith(f"{files[1] / 'backend.toml'}:13: error: ")
    (fine,) = (line for line in lines if ": fine" in line)
    assert fine == f"{files[0] / 'backend.toml'}: fine (backend oil, 1 function)"
    assert (lines[-1], answer.code) == ("2 files: 1 error, 4 notes", 1)


def test_all_kinds_of_toml_have_their_lines(site: Site, tmp_path: Path) -> None:
    """Strings of several lines, dotted keys, inline tables, arrays of tables, dates."""
    toml = '''
        date = 1979-05-27 07:32:00 # [not.a.table]
        half = -0.5
        text = """
        [no.table]
        a "quote" \\""" ] """" # end
        raw = \'\'\'
        C:\\ \'\'\'\'
        name = "\\u006Fil"
        primary_types = ["m:T",
        1]
        [[others]]
        a = { b = [1, {c = 2}], "d e" = '#' }
        [others.more]
        [[others]]
        x = 1
        [functions]
        "l:a" = { function = 3 }
        'l:b'.function = 4
        "l:\\u0063" . "function" = 5
        [ functions . "l:d" ] # comment
        function = 6
        '''
    write(tmp_path, {"backend.toml": toml})
    found = faults(site.run("verify", "--no-imports", "--json", str(tmp_path / "backend.toml")))
    assert list(found) == [
        (1, "date"),
        (2, "half"),
        (3, "text"),
        (6, "raw"),
        (10, "primary_types[1]"),
        (11, "others"),
        (17, 'functions."l:a".function'),
        (18, 'functions."l:b".function'),
        (19, 'functions."l:c".function'),
        (21, 'functions."l:d".function'),
    ]


def test_a_backend_that_only_converts_is_fine(site: Site, project: Path) -> None:
    """A class is a conversion, too."""
    tools = """
        def there(x): return float(x)
        def copy(original, converted): ...
        def every(context, *args, **kwargs): ...
        """
    write(project / "src" / "paint_oil", {"tools.py": tools})
    converting = """
        name = "oil"
        primary_types = ["fractions:Fraction"]
        to_default = "paint_oil.tools:there"
        from_default = "fractions:Fraction"
        copy_into = "paint_oil.tools:copy"
        """
    every = """
        [functions."*"]
        function = "paint_oil.tools:every"
        """
    answer = verify(site, project, dedent(converting) + dedent(every))
    assert answer.code == 0
    assert ": fine (backend oil, every function, conversions)\n" in answer.output
    only = verify(site, project, converting).output
    assert ": fine (backend oil, no functions, conversions)\n" in only
