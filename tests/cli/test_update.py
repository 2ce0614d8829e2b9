"""``spatch-core update``: the file says what the code registers, and keeps all else."""

from __future__ import annotations

import ctypes
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from spatch_core.testing import run_python
from tests.cli.conftest import Answer, Site

HEAD = """
    #:schema ./backend.schema.json
    name = 'oil'   # as in pyproject.toml
    primary_types = [
        "fractions:Fraction", # exact
    ]

    [functions.auto-generation]
    backend = "paint_oil:backend"
    modules = ["paint_oil.tools"]
    """
INIT = """
    from spatch_core import BackendImplementation
    backend = BackendImplementation("oil")
    """
TOOLS = """
    from . import backend

    def ask(context, x):
        return True

    @backend.implements("paintlib.filters:blur", should_run=ask)
    def blur(x):
        return x

    @backend.implements("paintlib.filters:blend", uses_context=True)
    def blend(context, x, y):
        '''Blend in linear light.

        Slowly.
        '''
        return x
    """
BLUR = """
    [functions."paintlib.filters:blur"]
    function = "paint_oil.tools:blur"
    should_run = "paint_oil.tools:ask"
    """
BLEND = """
    [functions."paintlib.filters:blend"]
    function = "paint_oil.tools:blend"
    uses_context = true
    additional_docs = "Blend in linear light."
    """


def text(*parts: str) -> str:
    return "".join(dedent(part) for part in parts).lstrip("\n")


class Project:
    """A backend in a folder, not installed."""

    def __init__(self, site: Site, folder: Path) -> None:
        self.site = site
        self.package = folder / "paint_oil"
        self.package.mkdir(parents=True)
        self.file = self.package / "backend.toml"
        self.write("__init__.py", INIT)
        self.write("tools.py", TOOLS)

    def write(self, name: str, content: str) -> None:
        (self.package / name).write_bytes(text(content).encode())

    def update(self, before: str | None, *options: str) -> Answer:
        """Update a file with this content; None for the one that is there."""
        if before is not None:
            self.file.write_bytes(before.encode())
        return self.site.run("update", *options, str(self.file))

    @property
    def after(self) -> str:
        return self.file.read_bytes().decode()


@pytest.fixture
def project(site: Site, tmp_path: Path) -> Project:
    return Project(site, tmp_path / "src")


def outcome(answer: Answer) -> dict[str, Any]:
    (found,) = answer.json["files"]
    result: dict[str, Any] = found
    return result


def test_functions_are_added_in_order(project: Project) -> None:
    """The rest of the file is unchanged; the second time, even its modification time stays."""
    answer = project.update(text(HEAD))
    assert (answer.code, answer.errors) == (0, "")
    assert project.after == text(HEAD, BLEND, BLUR)
    assert answer.output.endswith(f"\n{project.file}: updated (2 added)\n\n1 file: 1 updated\n")
    before = os.stat(project.file)
    answer = project.update(None)
    after = os.stat(project.file)
    assert answer.output.endswith(f"\n{project.file}: up to date\n\n1 file: 1 up to date\n")
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert project.update(None, "--check").code == 0


def test_what_changed_is_rewritten_and_nothing_else(project: Project) -> None:
    """Comments, blank lines, quotes and order of the rest survive."""
    before = """

        # --- Filters

        # The one that everybody uses.
        [functions . 'paintlib.filters:blur'] # hot
        should_run = 'paint_oil.tools:ask'   # cheap
        function = "paint_oil.tools:smear"   # fast
        # Ends here.

        # Gone.
        [functions."paintlib.filters:gone"]
        # Inside.
        function = "paint_oil.tools:gone"

        # --- Mixing

        [functions."paintlib.filters:blend"]
        x-extra = 3
        function = "paint_oil.tools:blend"
        should_run = "paint_oil.tools:ask"
        additional_docs = "old"

        [other]
        # The end.
        """
    after = """

        # --- Filters

        # The one that everybody uses.
        [functions . 'paintlib.filters:blur'] # hot
        should_run = 'paint_oil.tools:ask'   # cheap
        function = "paint_oil.tools:blur"   # fast
        # Ends here.

        # --- Mixing

        [functions."paintlib.filters:blend"]
        x-extra = 3
        function = "paint_oil.tools:blend"
        additional_docs = "Blend in linear light."
        uses_context = true

        [other]
        # The end.
        """
    answer = project.update(text(HEAD, before), "--prune", "--json")
    assert project.after == text(HEAD, after)
    found = outcome(answer)
    assert (found["added"], found["removed"]) == ([], ["paintlib.filters:gone"])
    assert found["changed"] == ["paintlib.filters:blend", "paintlib.filters:blur"]
    assert (found["written"], found["is_current"]) == (True, False)
    assert project.update(None, "--check").code == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(BLUR, BLEND + BLUR, id="before-the-first"),
        pytest.param(
            "# Why.\n" + text(BLUR), text(BLEND) + "\n# Why.\n" + text(BLUR), id="comment"
        ),
        pytest.param(
            text(BLEND) + "[functions.'paintlib.filters:blend'.sub]\nx = 1 # kept\n",
            text(BLEND) + "[functions.'paintlib.filters:blend'.sub]\nx = 1 # kept\n" + dedent(BLUR),
            id="behind-tables-below",
        ),
        pytest.param(text(BLEND).rstrip(), text(BLEND) + dedent(BLUR), id="no-line-end"),
    ],
)  # fmt: skip
def test_where_a_function_is_added(project: Project, before: str, after: str) -> None:
    head = text(HEAD) + ("" if before.startswith("\n") or not before else "\n")
    project.update(head + text(before).join(["\n" if before.startswith("\n") else "", ""]))
    expected = text(HEAD) + "\n" + text(after)
    assert project.after == expected
    assert project.update(None, "--check").code == 0


def test_other_ways_to_write_a_function(project: Project) -> None:
    """Inline tables and dotted keys are rewritten as such."""
    head = (
        text(HEAD)
        .replace("[functions.auto-generation]", "[functions]")
        .replace("backend =", "auto-generation.backend =")
        .replace("modules =", "auto-generation.modules =")
    )
    project.update(
        head
        + '"paintlib.filters:blur" = { function = "paint_oil.tools:blur", x = 1 } # inline\n'
        + '"paintlib.filters:gone" = 3\n'
        + '"paintlib.filters:blend".uses_context = true # dotted\n'
        + '"paintlib.filters:blend".should_run = "a:b"\n',
        "--prune",
    )
    assert project.after == (
        head
        + '"paintlib.filters:blur" = { function = "paint_oil.tools:blur", x = 1, '
        + 'should_run = "paint_oil.tools:ask"} # inline\n'
        + '"paintlib.filters:blend".uses_context = true # dotted\n'
        + '"paintlib.filters:blend".function = "paint_oil.tools:blend"\n'
        + '"paintlib.filters:blend".additional_docs = "Blend in linear light."\n'
    )
    assert project.update(None, "--check").code == 0


@pytest.mark.parametrize("name", ["", "paintlib.filters:blur"])
def test_functions_on_one_line_cannot_be_added_to(project: Project, name: str) -> None:
    """The table of functions is an inline table."""
    functions = 'auto-generation = { backend = "paint_oil.tools:backend" }'
    if name:
        functions += f', "{name}" = {{ function = "a:b" }}'
    before = f'name = "oil"\nprimary_types = ["m:T"]\nfunctions = {{ {functions} }}\n'
    answer = project.update(before, "--json")
    (fault,) = outcome(answer)["faults"]
    assert (fault["line"], fault["key"], fault["remedy"]) == (
        3,
        "functions",
        'Write [functions], and for each function a table: [functions."library:name"]',
    )
    assert (answer.code, project.after) == (1, before)


# --- what a function says ------------------------------------------------------------


def test_what_the_defaults_say_is_left_out(project: Project) -> None:
    """Fields that differ from the defaults are written."""
    project.write(
        "tools.py",
        TOOLS
        + '''
    @backend.implements("paintlib.filters:sharpen", should_run="paint_oil.tools:blur")
    def sharpen(x):
        """Blend in
        linear light."""
    ''',
    )
    defaults = """
        [functions.defaults]
        should_run = "paint_oil.tools:ask"
        uses_context = true
        additional_docs = "Blend  in linear light."
        """
    old = BLEND.replace("uses_context = true\n", "uses_context = true # as said\n")
    project.update(text(HEAD, defaults, old))
    assert project.after == text(
        HEAD,
        defaults,
        """
        [functions."paintlib.filters:blend"]
        function = "paint_oil.tools:blend"

        [functions."paintlib.filters:blur"]
        function = "paint_oil.tools:blur"
        uses_context = false

        [functions."paintlib.filters:sharpen"]
        function = "paint_oil.tools:sharpen"
        should_run = "paint_oil.tools:blur"
        uses_context = false
        """,
    )


def test_docs_written_by_hand_stay_where_there_is_no_docstring(project: Project) -> None:
    docs = 'additional_docs = """\nBy hand.\n"""\n'
    before = text(HEAD, BLEND, BLUR) + docs
    assert project.update(before).code == 0
    assert project.after == before


@pytest.mark.parametrize("modules", ["", "modules = []"])
def test_a_forgotten_module_does_not_empty_the_file(project: Project, modules: str) -> None:
    """No function is registered, but the file has functions."""
    head = HEAD.replace('modules = ["paint_oil.tools"]', modules)
    before = text(head, BLUR)
    answer = project.update(before, "--json")
    (fault,) = outcome(answer)["faults"]
    assert fault["key"] == "functions.auto-generation"
    assert fault["message"] == (
        "importing its modules registered no function, but the file has some"
    )
    assert fault["remedy"].startswith("Name the modules that register them: modules = ['package.")
    assert (answer.code, project.after) == (1, before)
    assert project.update(text(head), "--check").code == 0


GONE = """
    # By hand.
    [functions."paintlib.filters:gone"]
    function = "paint_oil.tools:gone"
    """


def test_a_function_that_is_not_registered_stays_and_is_named(project: Project) -> None:
    """Only ``--prune`` removes it; without, the file is up to date."""
    before = text(HEAD, BLEND, GONE)
    answer = project.update(before)
    assert project.after == text(HEAD, BLEND, BLUR, GONE)
    assert answer.code == 0
    line = before.splitlines().index('[functions."paintlib.filters:gone"]') + 1
    assert (
        f'{project.file}:{line}: note: functions."paintlib.filters:gone": the code does not '
        "register functions, which stay: paintlib.filters:gone\n"
        "    help: Register them, remove them with --prune, or keep them up to date by hand\n"
    ) in answer.output
    answer = project.update(None, "--check", "--json")
    found = outcome(answer)
    assert (answer.code, found["is_current"], found["removed"]) == (0, True, [])
    assert found["unregistered"] == ["paintlib.filters:gone"]
    answer = project.update(None, "--check", "--prune", "--json")
    found = outcome(answer)
    assert (answer.code, found["is_current"], found["written"]) == (1, False, False)
    assert (found["removed"], found["unregistered"]) == (["paintlib.filters:gone"], [])
    answer = project.update(None, "--prune")
    assert (answer.code, project.after) == (0, text(HEAD, BLEND, BLUR))
    assert answer.output.endswith(": updated (1 removed)\n\n1 file: 1 updated\n")


MOVED = """
    [functions."paintlib.filters:soften"]
    function = "paint_oil.tools:blur"
    """


def test_a_function_that_is_registered_for_another_one_instead_is_a_fault(
    project: Project,
) -> None:
    """Its decorator was changed: the library would call it for both."""
    before = text(HEAD, BLEND, MOVED)
    line = before.splitlines().index('function = "paint_oil.tools:blur"') + 1
    fault = (
        f'{project.file}:{line}: error: functions."paintlib.filters:soften".function: the code '
        "registers 'paint_oil.tools:blur' for 'paintlib.filters:blur' instead\n"
        "    help: Register it for both, or run `spatch-core update --prune`\n"
    )
    answer = project.update(before)
    assert fault in answer.output
    assert (answer.code, project.after) == (1, before)
    project.file.write_text(text(HEAD, BLEND, MOVED, GONE))
    answer = project.site.run("verify", str(project.file))
    assert (fault in answer.output, answer.code) == (True, 1)
    assert "does not register functions of the file: paintlib.filters:gone\n" in answer.output
    assert project.update(None, "--prune").code == 0
    assert project.after == text(HEAD, BLEND, BLUR)


def test_a_faulty_entry_that_is_not_registered_is_a_fault(project: Project) -> None:
    """It would keep the library from using the backend, and nobody said to remove it."""
    before = text(HEAD, '\n[functions]\n"paintlib.filters:gone" = 3\n')
    answer = project.update(before, "--json")
    (fault,) = outcome(answer)["faults"]
    assert fault["key"] == 'functions."paintlib.filters:gone"'
    assert (answer.code, project.after) == (1, before)


def test_variants_are_found_by_their_names(project: Project) -> None:
    """D6: those of the code are written; those that it no longer has go; others stay."""
    kept = '{requires = "numpy", function = "paint_oil.tools:ask"}'
    new = '{requires = "torch>=1.12", function = "paint_oil.tools:blur_v_1p12_and_above"}'
    head = f'{text(HEAD)}variants_of = "torch"\n{text(BLEND)}variants = [{kept}]\n'
    project.write("tools.py", f"{TOOLS}\n    def blur_v_1p12_and_above(x):\n        return x\n")
    assert project.update(head).code == 0
    assert project.after == f"{head}\n{text(BLUR)}variants = [{new}]\n"
    assert project.update(None, "--check").code == 0
    project.write("tools.py", TOOLS)
    assert project.update(f"{head}\n{text(BLUR)}variants = [{new}, {kept}]\n").code == 0
    assert project.after == f"{head}\n{text(BLUR)}variants = [{kept}]\n"
    assert project.update(f"{head}\n{text(BLUR)}variants = [{new}]\n").code == 0
    assert project.after == f"{head}\n{text(BLUR)}"


VERSIONS = {
    "blur_v_1p9p0_to_1p11p1": "torch>=1.9.0,<=1.11.1",
    "blur_v_2p1_and_above": "torch>=2.1",
    "blur_v_1p12_and_above": "torch>=1.12",
    "blur_v_1p8_and_below": "torch<=1.8",
    "blur_v_1p10_and_below": "torch<=1.10",
}
"""Variants in their order: ranges first, and of two open ends the one that fewer versions meet."""


def test_variants_in_tables_of_their_own_are_replaced(project: Project) -> None:
    """Other tables of the function stay. The most special variant goes first."""
    head = text(HEAD) + 'variants_of = "torch"\n' + text(BLEND).join(["\n", ""])
    old = """
        # By hand.
        [[functions."paintlib.filters:blur".variants]]
        requires = "torch>=1"
        function = "paint_oil.tools:ask"

        # Ours.
        [functions."paintlib.filters:blur".x-extra]
        a = 1
        """
    others = ("blur_v_1p12", "blur_v_new_and_above", "blur_v_1p_and_above", "ask_v_2_and_above")
    named = "".join(f"\n{name} = blur" for name in sorted([*VERSIONS, *others]))
    project.write("tools.py", text(TOOLS) + named)
    project.update(head + dedent(BLUR) + dedent(old))
    new = ", ".join(
        f'{{requires = "{versions}", function = "paint_oil.tools:{name}"}}'
        for name, versions in VERSIONS.items()
    )
    kept = dedent(old)[dedent(old).index("\n# Ours.") :]
    assert project.after == f"{head}{dedent(BLUR)}variants = [{new}]\n{kept}"
    assert project.update(None, "--check").code == 0


@pytest.mark.parametrize("modules", ['"paint_oil"', '["paint_oil"]', '"paint_oil.tools"'])
def test_submodules_are_imported(project: Project, modules: str) -> None:
    """Of a package, at any depth; a string names a single module. Tests and scripts are not."""
    (project.package / "tools.py").unlink()
    (project.package / "tools" / "deep").mkdir(parents=True)
    project.write("tools/__init__.py", TOOLS.replace("from .", "from .."))
    project.write("tools/deep/__init__.py", "")
    project.write(
        "tools/deep/more.py",
        """
        from paint_oil import backend

        @backend.implements("paintlib.filters:sharpen")
        def sharpen(x): return x
        """,
    )
    for name in ("__main__", "conftest", "test_more", "tests"):
        project.write(f"tools/{name}.py", "import os; os._exit(7)")
    head = HEAD.replace('["paint_oil.tools"]', modules)
    sharpen = """
        [functions."paintlib.filters:sharpen"]
        function = "paint_oil.tools.deep.more:sharpen"
        """
    answer = project.update(text(head))
    assert (answer.code, project.after) == (0, text(head, BLEND, BLUR, sharpen)), answer
    assert project.update(None, "--check", "--prune").code == 0


def test_functions_of_a_submodule_that_cannot_be_imported_here_stay(project: Project) -> None:
    """A package that it needs is not installed on this machine; removing them would lose work."""
    project.write("gpu.py", "import absentgpu\n")
    head = HEAD.replace('["paint_oil.tools"]', '"paint_oil"')
    before = text(head, BLEND, BLUR, GONE)
    answer = project.update(before, "--json")
    found = outcome(answer)
    assert (answer.code, project.after, found["faults"]) == (0, before, [])
    assert found["unregistered"] == ["paintlib.filters:gone"]
    assert "'absentgpu', which paint_oil.gpu imports" in found["unchecked"][0]["message"]
    assert found["unchecked"][0]["key"] == "functions.auto-generation.modules"
    answer = project.update(before, "--prune", "--json")
    (fault,) = outcome(answer)["faults"]
    assert "'absentgpu', which paint_oil.gpu imports" in fault["message"]
    assert (answer.code, project.after) == (1, before)


# --- end to end ----------------------------------------------------------------------


def test_what_is_registered_runs_once_the_file_says_so(site: Site, tmp_path: Path) -> None:
    """Functions are registered by identifier and as objects; lambdas, ``_`` and contexts occur."""
    site.install_library({
        "paintlib/more.py": """
            from ._dispatch import system

            @system.dispatchable("x")
            def sharpen(x): return "default"

            @system.dispatchable("x")
            def invert(x): return "default"

            @system.dispatchable("x")
            def mix(x): return "default"
            """
    })  # fmt: skip
    site.install_backend("oil", text(HEAD).partition("\n")[2].partition("\n")[2])
    package = site.folder / "paint_oil"
    (package / "__init__.py").write_text(text(INIT))
    (package / "tools.py").write_text(
        text("""
        from paintlib.more import invert
        from spatch_core import DispatchContext
        from . import backend

        class Kernels:
            @staticmethod
            def mix(x): return "oil"

        @backend.implements("paintlib.more:sharpen", should_run=lambda context, x: x > 1 or "small")
        @backend.implements("paintlib.filters:blur", uses_context=True)
        def both(*arguments, **keywords):
            return isinstance(arguments[0], DispatchContext), len(arguments)

        @backend.implements(invert)
        def invert(x):
            return "oil"

        @backend.set_should_run(invert)
        def _(context, x):
            return x > 2 or "too small"

        backend.implements("paintlib.more:mix", should_run=_)(Kernels.mix)
        """)
    )
    answer = site.run("update", str(package / "backend.toml"), "--json")
    assert outcome(answer)["added"] == [
        "paintlib.filters:blur", "paintlib.more:invert", "paintlib.more:mix",
        "paintlib.more:sharpen",
    ]  # fmt: skip
    for arguments in (["verify"], ["update", "--check"]):
        done = site.run(*arguments, str(package / "backend.toml"))
        assert done.code == 0, done
    found = run_python(
        """
        from fractions import Fraction
        from paintlib import filters, more

        one, two, three = Fraction(1), Fraction(2), Fraction(3)
        print(filters.blur(one))
        print(more.sharpen(one), more.sharpen(two))
        print(more.invert(two), more.invert(three), more.mix(two), more.mix(three))
        print(more.invert.explain(two).backends[0].reason)
        print(more.invert(5))
        """,
        path=[site.folder],
    )
    assert found.stdout.splitlines() == [
        "(True, 2)",
        "default (False, 1)",
        "default oil default oil",
        "too small",
        "default",
    ]


# --- files ---------------------------------------------------------------------------


def test_check_writes_nothing_and_shows_what_would_change(project: Project) -> None:
    before = text(HEAD, BLEND, BLUR.replace("tools:ask", "tools:aks"))
    answer = project.update(before, "--check")
    assert (answer.code, answer.errors, project.after) == (1, "", before)
    assert answer.output == (
        f"""--- {project.file}
+++ {project.file}
@@ -15,4 +15,4 @@

 [functions."paintlib.filters:blur"]
 function = "paint_oil.tools:blur"
-should_run = "paint_oil.tools:aks"
+should_run = "paint_oil.tools:ask"

{project.file}:16: note: functions."paintlib.filters:blur" and 1 more: the package 'paintlib' is \
not installed here, so this is not checked
{project.file}: not up to date (1 changed)

1 file: 1 not up to date
""".replace("@@\n\n", "@@\n \n")
    )
    found = outcome(project.update(None, "--check", "--json"))
    assert found["diff"] in answer.output
    assert (found["written"], found["is_current"]) == (False, False)


def test_line_ends_permissions_and_links_stay(project: Project, tmp_path: Path) -> None:
    """A file with Windows line ends keeps them; a link stays one, and its target is written."""
    project.file.write_text(text(HEAD).replace("\n", "\r\n"), newline="")
    project.file.chmod(0o640)
    link = tmp_path / "link.toml"
    link.symlink_to(project.file)
    assert project.site.run("update", str(link)).code == 0
    assert link.is_symlink()
    assert project.after == text(HEAD, BLEND, BLUR).replace("\n", "\r\n")
    assert stat.S_IMODE(project.file.stat().st_mode) == 0o640
    assert [each.name for each in project.package.glob("*backend*")] == ["backend.toml"]


_DROP_FROM_BOUNDING_SET, _CAP_DAC_OVERRIDE = 24, 1


def obey_permissions() -> None:
    """Let permissions hold for root too, as from the next program on."""
    ctypes.CDLL(None).prctl(_DROP_FROM_BOUNDING_SET, _CAP_DAC_OVERRIDE, 0, 0, 0)


def test_a_file_that_cannot_be_written_is_reported(project: Project) -> None:
    """The fault has a remedy."""
    before = text(HEAD)
    project.file.write_text(before)
    project.file.chmod(0o444)
    done = subprocess.run(
        [sys.executable, "-B", "-m", "spatch_core", "update", "--json", str(project.file)],
        env=project.site.variables({}),
        preexec_fn=obey_permissions,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 1, done.stderr
    (fault,) = outcome(Answer(done.returncode, done.stdout))["faults"]
    assert fault["message"].startswith("it cannot be written: [Errno 13]")
    assert fault["remedy"].startswith("Make the file writable")
    assert project.after == before


# --- what keeps a file from being updated ----------------------------------------------


@pytest.mark.parametrize(
    ("files", "key", "message"),
    [
        pytest.param(
            {"tools.py": "1 / 0"}, "functions.auto-generation.modules[0]",
            "importing paint_oil.tools failed with ZeroDivisionError", id="module",
        ),
        pytest.param(
            {"tools.py": "import os; os._exit(3)"}, "functions.auto-generation.modules[0]",
            "importing paint_oil.tools ended the interpreter with exit code 3", id="ended",
        ),
        pytest.param(
            {"tools.py": TOOLS + "\n    blur = 1"}, 'functions."paintlib.filters:blur"',
            "'paint_oil.tools:blur' does not lead to the registered", id="hidden",
        ),
        pytest.param(
            {"tools.py": TOOLS.replace("=ask", "='paint_oil.tools:aks'")},
            'functions."paintlib.filters:blur"', "'paint_oil.tools' has no 'aks'",
            id="should-run",
        ),
    ],
)  # fmt: skip
def test_a_failure_leaves_the_file_as_it_was(
    project: Project, files: Mapping[str, str], key: str, message: str
) -> None:
    """If the code has faults, also of a submodule, no byte of the file changes."""
    for name, content in files.items():
        project.write(name, content)
    head = HEAD.replace('["paint_oil.tools"]', '["paint_oil"]')
    before = text(head, BLUR.replace("ask", "aks"))
    answer = project.update(before, "--json")
    (fault,) = outcome(answer)["faults"]
    assert fault["key"] == key
    assert fault["message"].startswith(message)
    assert fault["remedy"]
    assert (answer.code, project.after) == (1, before)
    lines = project.update(before).output.splitlines()
    assert lines[0].startswith(f"{project.file}:{fault['line']}: error: {key}: {message}")
    assert lines[1:] == [
        f"    help: {fault['remedy']}",
        f"{project.file}: left as it was",
        "",
        "1 file: 1 left as it was",
    ]


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("name = 'oil'", "name = 'o", None),
        ('backend = "paint_oil:backend"', "", "functions.auto-generation.backend"),
        ("[functions.auto-generation]", "[functions.defaults]", "functions.auto-generation"),
        ("[\n    \"fractions:Fraction\", # exact\n]", "[]", "primary_types"),
    ],
    ids=["toml", "backend", "no-table", "types"],
)  # fmt: skip
def test_a_faulty_file_is_not_touched(
    project: Project, old: str, new: str, key: str | None
) -> None:
    """Faults that the update does not repair are reported."""
    before = text(HEAD).replace(old, new)
    assert before != text(HEAD)
    answer = project.update(before, "--json")
    assert key in [each["key"] for each in outcome(answer)["faults"]]
    assert (answer.code, project.after) == (1, before)


@pytest.mark.parametrize("options", [(), ("--check",)], ids=["write", "check"])
def test_functions_of_a_library_that_is_not_installed_are_written_with_a_note(
    project: Project, options: tuple[str, ...]
) -> None:
    """The backend may be written on another machine, where nothing checks the names."""
    project.write("tools.py", TOOLS.replace("paintlib.filters:blur", "absentlib:blurr"))
    answer = project.update(text(HEAD), *options, "--json")
    found = outcome(answer)
    assert (answer.code, found["faults"]) == (1 if options else 0, [])
    said = {each["key"]: each["message"] for each in found["unchecked"]}
    assert said == {
        f'functions."{name}"': f"the package {name.partition(':')[0].partition('.')[0]!r} is not "
        "installed here, so this is not checked"
        for name in ("absentlib:blurr", "paintlib.filters:blend")
    }
    assert ('[functions."absentlib:blurr"]' in project.after) is not bool(options)
    text_only = project.update(None).output
    assert "note: functions.\"absentlib:blurr\": the package 'absentlib' is not" in text_only
    assert project.update(None, "--check").code == 0  # which is no fault


SAVES = {
    "in place": "file.write_text(file.read_text() + '# precious\\n')",
    "by renaming": "copy = file.with_name('copy')\ncopy.write_text('# mine')\ncopy.replace(file)",
    "of equal size": "file.write_text(file.read_text().replace('oil', 'OIL'))",
}


@pytest.mark.parametrize("save", SAVES.values(), ids=[*SAVES])
def test_what_is_saved_meanwhile_is_not_overwritten(project: Project, save: str) -> None:
    """Importing the code of the backend takes as long as it takes; times of files may be equal."""
    saving = f"import os, pathlib\nfile = pathlib.Path({str(project.file)!r})\n{save}\n"
    project.write("tools.py", f"{saving}os.utime(file, (1, 1))\n{text(TOOLS)}")
    answer = project.update(text(HEAD), "--json")
    (fault,) = outcome(answer)["faults"]
    assert fault["message"] == "it was changed during the update and is left as it is"
    assert answer.code == 1
    assert project.after != text(HEAD)
    assert "paint_oil.tools:blur" not in project.after
