"""``spatch-core doctor``: real broken packages, and what is said of each.

Faults that have nothing to do with each other are in the same packages, because every
backend takes an interpreter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from spatch_core.testing import write_distribution
from tests.cli.conftest import DEPENDENCIES, Answer, Site


def examine(site: Site, *options: str, **variables: str) -> dict[str, Any]:
    """Return the report about the library; the exit code must fit the findings."""
    answer = site.run("doctor", "paintlib", "--json", *options, **variables)
    (library,) = answer.json["libraries"]
    assert answer.code == any(each["severity"] != "note" for each in library["findings"])
    found: dict[str, Any] = {**library, "errors": answer.errors}
    return found


def findings(library: Mapping[str, Any], backend: str | None) -> list[dict[str, Any]]:
    """Return the findings about one backend."""
    return [each for each in library["findings"] if each["backend"] == backend]


def said(finding: Mapping[str, Any]) -> str:
    return f"{finding['message']}. {finding['remedy']}"


def types(*patterns: str) -> str:
    """Return a description with these primary types and a sound one."""
    return f"primary_types = {['fractions:Fraction', *patterns]}\n"


def write_modules(site: Site, package: str, modules: Mapping[str, str]) -> None:
    for name, code in modules.items():
        file = site.folder / package / f"{name}.py"
        file.write_text(dedent(code), encoding="utf-8")


# --- all kinds of backends side by side ------------------------------------------------


FAULTY = """
    higher_priority_than = ["defalt", "gild", "gol", "not-installed"]
    requires_opt_in = true
    primary_types = ["nowhere_at_all:Type", "fractions:Fracton", "fractions:Fraction"]
    lower_priority_than = ["golld", "default"]
    [functions."paintlib.filters:blurt"]
    function = "paint_faulty:blur"
    [functions."paintlib.filters:blur"]
    should_run = "paint_faulty.checks:ask"
    function = "paint_faulty:blurr"
    [functions."paintlib.filters:blend"]
    function = "paint_faulty.needing:blend"
    should_run = "paint_faulty.needing:ask"
"""


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """One backend without faults, and others with faults."""
    site = Site(tmp_path_factory.mktemp("mixed"))
    site.install_library(
        {
            "paintlib/_dispatch.py": """
                from spatch_core import BackendSystem

                chalk = {"name": "chalk", "primary_types": ["fractions:Fracton"]}
                system = BackendSystem("paintlib.backends", "PAINTLIB", ["builtins:itn"], [chalk])
                """
        }
    )
    site.install_backend(
        "gold",
        types()
        + "opt_in = true\n[functions.'paintlib.filters:blur']\nfunction = 'paint_gold:blur'\n",
        "import os\nprint('loud')\nos.write(1, b'raw')\ndef blur(x): return x\n",
    )
    write_distribution(
        site.folder,
        "paint-gold-too",
        entry_points={"paintlib.backends": {"gold": "elsewhere:backend.toml"}},
    )
    site.install_backend("broken", 'requires_opt_in = 1\nprimary_types = ["no identifier"]\n')
    site.install_backend("faulty", FAULTY, "def blur(x): ...\n")
    write_modules(site, "paint_faulty", {"needing": "import nowhere_at_all"})
    for name, code in {
        "exiting": "import os; os._exit(3)",
        "raising": "raise SystemExit(3)",
    }.items():
        write_distribution(
            site.folder,
            f"paint-{name}",
            "1.0",
            entry_points={"paintlib.backends": {name: f"paint_{name}:backend"}},
            files={f"paint_{name}.py": code},
        )
    return site


@pytest.fixture(scope="module")
def library(mixed: Site) -> dict[str, Any]:
    """The report as JSON."""
    return examine(mixed)


@pytest.fixture(scope="module")
def shown(mixed: Site) -> Answer:
    """The report as text."""
    return mixed.run("doctor", "paintlib")


def test_each_backend_has_a_row(library: dict[str, Any], shown: Answer) -> None:
    """With its state and how many findings there are; the same for programs.

    One with errors is not simply active.
    """
    assert shown.output.splitlines()[0] == "paintlib  paint-lib 2.5"
    expected = [
        ["default", "active", "1", "0", "0", "paint-lib 2.5"],
        ["chalk", "active", "1", "0", "0", "paint-lib 2.5"],
        ["gold", "active", "0", "2", "0", "paint-gold 1.0"],
        ["faulty", "needs opt-in", "4", "1", "4", "paint-faulty 1.0"],
        ["broken", "broken", "2", "0", "0", "paint-broken 1.0"],
        ["exiting", "broken", "1", "0", "0", "paint-exiting 1.0"],
        ["raising", "broken", "1", "0", "0", "paint-raising 1.0"],
    ]
    keys = ("name", "state", "errors", "warnings", "notes")
    assert sorted(row[:5] for row in expected) == sorted(
        [str(each[key]) for key in keys] for each in library["backends"]
    )
    rows = [row for row in shown.rows if len(row) == 4][1:]
    assert sorted(rows) == sorted(
        [
            name,
            f"{state}, faulty" if (state, errors) == ("active", "1") else state,
            ", ".join(
                f"{number} {noun}{'s' * (number != '1')}"
                for number, noun in ((errors, "error"), (warnings, "warning"), (notes, "note"))
                if number != "0"
            )
            or "no findings",
            distribution,
        ]
        for name, state, errors, warnings, notes, distribution in expected
    )
    assert shown.output.endswith("\n\n7 backends: 10 errors, 3 warnings, 4 notes\n")
    assert shown.code == 1


def test_all_faults_are_reported_at_once(mixed: Site, library: dict[str, Any]) -> None:
    """Findings are sorted by severity, then as found; unknown backends are at most a note."""
    found = findings(library, "faulty")
    blur, blend = (f'functions."paintlib.filters:{name}"' for name in ("blur", "blend"))
    assert [(each["severity"], each["keys"]) for each in found] == [
        ("error", ["primary_types[1]"]),
        ("error", ['functions."paintlib.filters:blurt"']),
        ("error", [f"{blur}.function"]),
        ("error", [f"{blur}.should_run"]),
        ("warning", [f"{blend}.function", f"{blend}.should_run"]),
        ("note", ["primary_types[0]"]),
        ("note", ["higher_priority_than[0]"]),
        ("note", ["higher_priority_than[2]"]),
        ("note", ["lower_priority_than[0]"]),
    ]
    assert said(found[-1]) == "no backend 'golld' is installed. Did you mean 'gold'?"
    place = {
        "entry_point": "faulty = paint_faulty:backend.toml",
        "file": str(mixed.folder / "paint_faulty" / "backend.toml"),
        "distribution": "paint-faulty",
        "version": "1.0",
    }
    assert all(place.items() <= each.items() for each in found)


def test_people_get_place_key_fault_and_remedy(mixed: Site, shown: Answer) -> None:
    """Each finding has a line below its backend, with the number of further keys."""
    file = mixed.folder / "paint_faulty" / "backend.toml"
    _, found = shown.output.split(f"\nfaulty (paint-faulty 1.0, {file}):\n")
    lines = found.splitlines()[:6]
    fault = "'paint_faulty' has no 'blurr'. Did you mean 'blur'?"
    assert lines[2] == f'  error: functions."paintlib.filters:blur".function: {fault}'
    start = '  warning: functions."paintlib.filters:blend".function and 1 more: '
    assert lines[4].startswith(start)
    severities = [line.split(":")[0] for line in lines]
    assert severities == ["  error"] * 4 + ["  warning"] + ["  note"]
    groups = [line for line in shown.output.splitlines() if line.endswith("):")]
    place = str(mixed.folder / "paint_broken" / "backend.toml")
    assert groups == [
        f"broken (paint-broken 1.0, {place}):",
        "chalk (paint-lib 2.5, paintlib = paintlib._dispatch:system):",
        "default (paint-lib 2.5, paintlib = paintlib._dispatch:system):",
        "exiting (paint-exiting 1.0, exiting = paint_exiting:backend):",
        f"faulty (paint-faulty 1.0, {file}):",
        f"gold (paint-gold 1.0, {mixed.folder / 'paint_gold' / 'backend.toml'}):",
        "raising (paint-raising 1.0, raising = paint_raising:backend):",
    ]


def test_the_librarys_own_types_are_examined_too(library: dict[str, Any]) -> None:
    """These are the types of descriptions in its code and of its default implementations."""
    for backend in ("chalk", "default"):
        (finding,) = findings(library, backend)
        assert (finding["keys"], finding["distribution"]) == (["primary_types[0]"], "paint-lib")


def test_what_does_not_skip_a_backend_is_a_warning(library: dict[str, Any]) -> None:
    """D5, P7: an unknown key, and a name of two distributions; one finding about the used one."""
    key, name = findings(library, "gold")
    assert (key["severity"], key["keys"]) == ("warning", ["opt_in"])
    assert key["remedy"] == "Did you mean 'requires_opt_in'?"
    assert (name["severity"], name["distribution"]) == ("warning", "paint-gold")
    assert "and by paint-gold-too in " in name["message"]
    assert name["message"].endswith("the backend of paint-gold is used")


def test_faults_of_descriptions_are_among_the_findings(library: dict[str, Any]) -> None:
    """All faults that discovery skips are findings."""
    assert [(each["severity"], each["keys"]) for each in findings(library, "broken")] == [
        ("error", ["primary_types[0]"]),
        ("error", ["requires_opt_in"]),
    ]


def test_a_description_that_is_an_object_may_end_the_interpreter(library: dict[str, Any]) -> None:
    """The finding names its backend; the other backends are discovered."""
    (finding,) = findings(library, "exiting")
    assert finding["message"] == (
        "reading the description of 'exiting' ended the interpreter with exit code 3"
    )
    assert finding["distribution"] == "paint-exiting"
    (finding,) = findings(library, "raising")
    assert finding["message"] == "importing it failed with SystemExit: 3"
    assert findings(library, None) == []


def test_what_is_printed_while_examining_does_not_spoil_the_json(library: dict[str, Any]) -> None:
    """The output of libraries goes to stderr, including that of C libraries."""
    assert "loud" in library["errors"]
    assert "raw" in library["errors"]


# --- functions -------------------------------------------------------------------------


NEEDED = "which {m} imports ({place}), is not installed, so calls fail"
IMPORTS = [
    ("{m}:blurr", "def blur(x): ...", "error", "'{m}' has no 'blurr'. Did you mean 'blur'?"),
    (
        "paint_watr:blur", "", "error",
        "there is no module 'paint_watr'. Did you mean 'paint_water' or 'paint_wax'?",
    ),
    (
        "paint_water.qqq:blur", "", "error",
        "there is no module 'paint_water.qqq'. Correct the name, or ship",
    ),
    (
        "{m}:blur", "import clickk", "error",
        "there is no module 'clickk', which {m} imports ({place}). Did you mean 'click'?",
    ),
    (
        "{m}:blur", "import demanded", "warning",
        f"the package 'demanded', {NEEDED}. Install it; a backend has what it imports among its",
    ),
    (
        "{m}:blur", "raise ImportError('needs a GPU')", "warning",
        "importing {m} failed with ImportError: needs a GPU ({place}), so calls fail. Follow",
    ),
    (
        "nowhere_at_all:blur", "", "warning",
        "the package 'nowhere_at_all' is not installed, so calls fail. Install it",
    ),
    (
        "{m}:blur", "\n1 / 0", "error",
        "importing {m} failed with ZeroDivisionError: division by zero ({file}:2). Correct {m}",
    ),
    ("{m}:blur", "raise SystemExit(3)", "error", "importing {m} failed with SystemExit: 3"),
    (
        "{m}:blur", "def __getattr__(name): raise OSError('no disk')", "error",
        "'{m}' has no 'blur' (no disk). Correct the name",
    ),
    ("{m}:blur", "blur = 1", "error", "'{m}:blur' is not a function but of type 'int'. Name"),
    # One without a signature, as some that are written in C.
    ("{m}:blur", "class Odd:\n __signature__ = 1\n def __call__(self): ...\nblur = Odd()", "", ""),
]  # fmt: skip
OTHER = "so a call without these arguments means something else: "
MISMATCHES = [
    ("x, n=1", "x, n=2", f"{OTHER}n=2 instead of n=1. Take the library's default values"),
    (
        "x, *, n=1, a='x'",
        "x, a='y', n=2.5",
        f"{OTHER}a='y' instead of a='x', n=2.5 instead of n=1.",
    ),
    # None and objects may stand for a value that the implementation computes.
    *(("x, n=1", given, "") for given in ("x, n=1.0", "x, n=None", "x, n=len", "*args, **kwargs")),
    ("x, n=None", "x", "called as (x, n): too many positional arguments"),
    ("x, n=None", "x, m=None", "called as (x, n=n): got an unexpected keyword argument 'n'"),
    ("x, n=None", "x, n", "called as (x): missing a required argument: 'n'. Take what the library"),
    ("x, n=None", "x, *, n=None", "called as (x, n): too many positional arguments"),
    ("x, y", "y, x", "called as (x, y): its 'y' gets the argument 'x'"),
    ("x", "image, **kwargs", "called as (x=x): missing a required argument: 'image'"),
]


TAKES_NO_CONTEXT = "takes no DispatchContext"
CONTEXTS = [
    ("function", "true", "context, x", ""),
    ("function", "true", "", "called as (x): too many positional arguments"),
    (
        "function", "true", "x",
        f"{TAKES_NO_CONTEXT}, but the description says uses_context = true. Take it as the first",
    ),
    (
        "function", "false", "context, x",
        "takes a DispatchContext first, which it does not get without uses_context = true. Write",
    ),
    ("should_run", "false", "context, x", ""),
    ("should_run", "false", "", "called as (x): too many positional arguments"),
    (
        "should_run", "false", "x",
        f"{TAKES_NO_CONTEXT}, which every should_run gets first. Take it as the first argument",
    ),
]  # fmt: skip
NAMES = [
    (
        "paintlib.filters:blurr", "error",
        "the library has no function 'paintlib.filters:blurr'. Did you mean 'paintlib.filters:blur",
    ),
    (
        "paintlib:smooth", "error",
        "the library has no function 'paintlib:smooth'. Did you mean 'paintlib.filters:blur'?",
    ),
    # Nothing in common but the module: another version may have it.
    (
        "paintlib.filters:equalize", "warning",
        "the library has no function 'paintlib.filters:equalize'. Remove it, or say which",
    ),
    (
        "elsewhere.qqq:zzz", "warning",
        "the library has no function 'elsewhere.qqq:zzz'. Remove it, or say which versions",
    ),
    # The function that the library wraps: only one of the library has the same name.
    ("json:blur", "error", "the library has no function 'json:blur'. Did you mean 'paintlib."),
    ("paintlib.later:wash", "", ""),
    (
        "paintlib.optional:wash", "note",
        "the package 'nowhere_at_all', which paintlib.optional imports (",
    ),
    (
        "paintlib.raising:wash", "note",
        "importing paintlib.raising failed with ZeroDivisionError",
    ),
]  # fmt: skip


ATTRIBUTES = [
    ("paintlib.constants:pi", "f", "", ""),
    ("paintlib.constants:e", "ff", "error", "'paint_water' has no 'ff'. Did you mean 'f'?"),
    ("paintlib:pi", "f", "warning", "attributes of module 'paintlib' follow no backend. Remove it"),
    ("paintlb:pi", "f", "error", "the library has no module 'paintlb'. Did you mean 'paintlib'"),
]
"""W4: the attribute, the backend's value, and what is said of both."""


CONVERTING = """
    primary_types = ["fractions:Fraction"]
    to_default = "paint_chalk:there"
    from_default = "paint_chalk:bakc"
    copy_into = "paint_chalk:copy"
    [functions."*"]
    function = "paint_chalk:every"
    """
CONVERSIONS = """
    def there(x, device): ...
    def back(x): ...
    async def copy(original, converted): ...
    def every(): ...
    """
CONVERTED = {
    "to_default": "paint_chalk:there(x, device) cannot be called as to_default(x): missing a "
    "required argument: 'device'. Take x by position",
    "from_default": "'paint_chalk' has no 'bakc'. Did you mean 'back'?",
    "copy_into": "'paint_chalk:copy' is a coroutine or generator function, and copy_into(original, "
    "converted) must return the converted object. Write a plain function",
    'functions."*".function': "paint_chalk:every() takes no DispatchContext, which names the "
    "called function. Take it as the first argument, and then *args and **kwargs",
}
UNNEEDED = [
    ("import nowhere_at_all", "note", "is not installed here"),
    (
        "try: import nowhere_at_all\nexcept ImportError: raise ImportError('pip install it')",
        "note", "is not installed here (pip install it), so",
    ),
    ("raise RuntimeError('no device')", "note", "RuntimeError: no device"),
    ("import ctypes\nctypes.CDLL('libnowhere.so')", "note", "OSError: libnowhere.so"),
    ("from json import qqq", "error", "ImportError: cannot import name 'qqq'"),
]  # fmt: skip
"""Modules of a backend for a GPU's arrays, on a machine without any."""
NATURES = [
    (
        "async def {}(x): ...", "def {}(x): ...", "warning",
        "function is a coroutine function: calls fail, unless they return an awaitable. Write asy",
    ),
    (
        "async def {}(x): yield", "def {}(x): yield", "error",
        "function is an asynchronous generator function. Write async def, and yield",
    ),
    ("def {}(x): yield", "async def {}(x): ...", "error", "a coroutine function, and the library"),
    ("def {}(x): yield", "def {}(x): ...", "", ""),
    # It may return whatever the library's returns.
    ("def {}(x): ...", "async def {}(x): ...", "", ""),
]  # fmt: skip
"""The library's function, the backend's, and what is said of it."""
DEFERRED = {
    "coroutine": "async def coroutine(context, x): return True\n",
    "generator": "def generator(context, x): yield True\n",
}


@pytest.fixture(scope="module")
def examined(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    """Backends with all faults of this module; findings by backend and key."""
    site = Site(tmp_path_factory.mktemp("examined"))
    pairs = [(default, given) for default, given, *_ in MISMATCHES]
    dispatchable = "@system.dispatchable({})\ndef {}({}): ...\n"
    defined = [dispatchable.format("'x'", name, "x") for name in ("blur", "i", "c", *DEFERRED)]
    defined += [dispatchable.format("None", f"f{n}", pair[0]) for n, pair in enumerate(pairs)]
    defined += [dispatchable.format("'x'", f"i{n}", "x") for n in range(len(IMPORTS))]
    defined += [dispatchable.format("'x'", f"g{n}", "x") for n in range(len(UNNEEDED))]
    defined += [dispatchable.format("'x'", f"c{n}", "x") for n in range(len(CONTEXTS))]
    for n, (code, *_) in enumerate(NATURES):
        defined.append("@system.dispatchable('x')\n" + code.format(f"n{n}") + "\n")
    site.install_library(
        {
            "paintlib/__init__.py": "from .filters import blur as smooth",
            # Without any types of its own.
            "paintlib/_dispatch.py": "from spatch_core import BackendSystem\n"
            "system = BackendSystem('paintlib.backends', 'PAINTLIB')\n",
            "paintlib/filters.py": f"from ._dispatch import system\n{''.join(defined)}",
            "paintlib/constants.py": "from spatch_core.switching import attributes\n"
            "from ._dispatch import system\n"
            "__getattr__, __dir__ = attributes(system, __name__, {'pi': 3})\n",
            "paintlib/later.py": "from ._dispatch import system\n"
            + dispatchable.format("'x'", "wash", "x"),
            "paintlib/optional.py": "import nowhere_at_all",
            "paintlib/raising.py": "1 / 0",
        }
    )
    table = "[functions.'paintlib.filters:{0}']\nfunction = '{1}:{2}'\n"
    toml = [types("builtins:int"), "[attributes]\n"]
    toml += [f"'{name}' = 'paint_water:{value}'\n" for name, value, *_ in ATTRIBUTES]
    toml += [table.format(f"f{n}", "paint_water.pairs", f"f{n}") for n in range(len(pairs))]
    for n, (function, *_) in enumerate(IMPORTS):
        module, _, name = function.format(m=f"paint_water.m{n}").partition(":")
        toml.append(table.format(f"i{n}", module, name))
    for n, (part, uses_context, *_) in enumerate(CONTEXTS):
        name = "right" if part == "should_run" else f"c{n}"
        toml.append(table.format(f"c{n}", "paint_water.contexts", name))
        toml.append(f"uses_context = {uses_context}\n")
        if part == "should_run":
            toml.append(f"should_run = 'paint_water.contexts:c{n}'\n")
    toml += [table.format(f"n{n}", "paint_water.natures", f"n{n}") for n in range(len(NATURES))]
    for name in DEFERRED:
        toml.append(table.format(name, "paint_water.contexts", "right"))
        toml.append(f"should_run = 'paint_water.contexts:{name}'\n")
    toml += [f"[functions.'{name}']\nfunction = 'paint_water:f'\n" for name, *_ in NAMES]
    site.install_backend("water", "".join(toml), "def f(x): ...\n")
    contexts = "".join(f"def c{n}({each[2]}): ...\n" for n, each in enumerate(CONTEXTS))
    write_modules(
        site,
        "paint_water",
        {
            "pairs": "".join(f"def f{n}({pair[1]}) -> int: ...\n" for n, pair in enumerate(pairs)),
            "contexts": f"def right(x): ...\n{contexts}{''.join(DEFERRED.values())}",
            "natures": "\n".join(each[1].format(f"n{n}") for n, each in enumerate(NATURES)),
            **{f"m{n}": code for n, (_, code, *_) in enumerate(IMPORTS)},
        },
    )
    # The types: primary for one, secondary for another.
    patterns = [pattern for pattern, *_ in PATTERNS]
    site.install_backend("wax", f"primary_types = {patterns}\n", dedent(CODE))
    site.install_backend("ink", types() + f"secondary_types = {patterns}\n")
    write_modules(site, "paint_wax", {"broken": "1 / 0"})
    site.install_backend("chalk", CONVERTING, dedent(CONVERSIONS))
    gpu = [table.format(f"g{n}", f"paint_gpu.m{n}", "f") for n in range(len(UNNEEDED))]
    site.install_backend("gpu", f"primary_types = ['nowhere_at_all:T']\n{''.join(gpu)}")
    write_modules(site, "paint_gpu", {f"m{n}": each[0] for n, each in enumerate(UNNEEDED)})
    write_distribution(
        site.folder,
        "paint-tempting",
        files={"tempting/__init__.py": f"{TOUCH}\nclass Thing: ...\n"},
    )
    found = examine(site, "--timeout", "300")
    # Modules that no description names are not imported, but their text is read.
    assert not (site.folder / "touched").exists()
    return {(each["backend"], key): each for each in found["findings"] for key in each["keys"]}


# --- types -----------------------------------------------------------------------------


TOUCH = "open('touched', 'w').close()"
CODE = """
    import abc
    from types import FunctionType

    def function(): ...
    class Plain: ...
    class Abstract(abc.ABC):
        @abc.abstractmethod
        def method(self): ...
    class Base(abc.ABC): ...
"""


TEMPTIN = "the package 'temptin' is not installed here, so this is not checked"
PATTERNS = [
    ("paint_wax:Plain", "", ""),
    ("@paint_wax:Abstract", "", ""),
    ("@paint_wax:Base", "", ""),
    ("paint_wax:Base", "", ""),
    (
        "nowhere_at_all:Type", "note",
        "the package 'nowhere_at_all' is not installed here, so"
    ),
    (
        "fractionss:Fraction", "error",
        "there is no module 'fractionss', so 'fractionss:Fraction' can never match. Did you",
    ),
    (
        "temptin:Thing", "error",
        "there is no module 'temptin', so 'temptin:Thing' can never match. Did you mean 'tempt"
    ),
    ("temptin:Other", "note", "the package 'temptin' is not installed here"),
    (
        "nunpy:ndarray", "error",
        "there is no module 'nunpy', so 'nunpy:ndarray' can never match. Did you mean 'numpy:"
    ),
    (
        "json.encodr:JSONEncoder", "error",
        "there is no module 'json.encodr'. Did you mean 'json.encoder'"
    ),
    (
        "paint_wax.broken:Type", "error",
        "importing paint_wax.broken failed with ZeroDivisionError"
    ),
    (
        "~fractions:Fracton", "error",
        "'fractions' has no 'Fracton', so '~fractions:Fracton' can never match. Did you mean",
    ),
    (
        "paint_wax:function", "error",
        "'paint_wax:function' is not a class but of type 'function', so it can never match"
    ),
    (
        "paint_wax:Abstract", "error",
        "'paint_wax:Abstract' is abstract: no object has exactly this type, so it can",
    ),
]  # fmt: skip


def cases() -> Iterator[tuple[str, str, str, str, str]]:
    """Yield backend, key and severity, and the start and a part of the text, for each table."""
    for n, (_, _, severity, text) in enumerate(IMPORTS):
        start = text.replace("{m}", f"paint_water.m{n}").replace("{place}", "{file}:1")
        start = start.replace("{file}", f"{{folder}}/paint_water/m{n}.py")
        yield "water", f'functions."paintlib.filters:i{n}".function', severity, start, ""
    for n, (default, given, text) in enumerate(MISMATCHES):
        is_other = text.startswith(OTHER)
        what = f"cannot take all calls of the library's function ({default}): "
        start = f"paint_water.pairs:f{n}({given}) {'has other default' if is_other else what}"
        key = f'functions."paintlib.filters:f{n}".function'
        severity = "warning" if is_other else "error" if text else ""
        yield "water", key, severity, start, text
    for n, (part, _, parameters, text) in enumerate(CONTEXTS):
        start = f"paint_water.contexts:c{n}({parameters}) " + text * text.startswith("takes")
        key = f'functions."paintlib.filters:c{n}".{part}'
        yield "water", key, "error" if text else "", start, text
    for n, (_, _, severity, text) in enumerate(NATURES):
        yield "water", f'functions."paintlib.filters:n{n}".function', severity, "", text
    for name in DEFERRED:
        start = f"'paint_water.contexts:{name}' is a coroutine or generator function: a call never "
        text = "returns True, so it always defers. Write a plain function that returns True"
        yield "water", f'functions."paintlib.filters:{name}".should_run', "error", start, text
    for name, _, severity, text in ATTRIBUTES:
        yield "water", f'attributes."{name}"', severity, text, ""
    for key, text in CONVERTED.items():
        yield "chalk", key, "error", text, ""
    for n, (_, severity, part) in enumerate(UNNEEDED):
        yield "gpu", f'functions."paintlib.filters:g{n}".function', severity, "", part
    for name, severity, text in NAMES:
        yield "water", f'functions."{name}"', severity, text, ""
    for n, (_, severity, text) in enumerate(PATTERNS):
        yield "wax", f"primary_types[{n}]", severity, text, ""
        yield "ink", f"secondary_types[{n}]", severity, text, ""


@pytest.mark.parametrize("case", [*cases()], ids=lambda each: f"{each[0]} {each[1]}")
def test_what_is_said_of_a_name(
    examined: dict[tuple[str, str], dict[str, Any]], case: tuple[str, str, str, str, str]
) -> None:
    """A missing dependency is no misspelling, nor a type that is not installed here a fault.

    Every way of calling the library's function must be possible, and a context comes first.
    """
    backend, key, severity, start, part = case
    finding = examined.get((backend, key))
    if finding is None:
        assert not severity
        return
    assert finding["severity"] == severity
    assert said(finding).startswith(
        start.replace("{folder}", str(Path(finding["file"]).parents[1]))
    )
    assert part in said(finding)


LATE = 'lower_priority_than = ["default"]'
REACHES = [
    ('["builtins:bool"]', "", True),
    ('["~builtins:int"]', LATE, True),
    ('["~builtins:bool", "builtins:bytes"]', LATE, False),
    ('["nowhere_at_all:T"]', LATE, False),
    ('["fractions:Fraction"]', "", True),
    ('["builtins:dict", "@collections.abc:Mapping"]', LATE, True),
    ('["~builtins:dict"]', LATE, True),
    ('["builtins:str"]', LATE, True),
    ('["builtins:str"]', "", True),
    ('["builtins:str"]', f"{LATE}\nrequires_opt_in = true", False),
    ('["builtins:str"]', f'{LATE}\nsecondary_types = ["builtins:bytes"]', False),
]


def test_a_backend_that_never_goes_first_is_told_to_require_opt_in(site: Site) -> None:
    """It is no fault: by the golden rule, the library goes first for its own types."""
    own = ["~builtins:int", "builtins:str", "~numbers:Number", "@collections.abc:Mapping"]
    site.install_library(
        {
            "paintlib/_dispatch.py": f"""
                import collections.abc, fractions
                from spatch_core import BackendSystem

                system = BackendSystem("paintlib.backends", "PAINTLIB", {own!r})
                """
        }
    )
    for number, (primary, more, _) in enumerate(REACHES):
        site.install_backend(f"b{number}", f"primary_types = {primary}\n{more}\n")
    found = [each for each in examine(site)["findings"] if each["keys"] == ["requires_opt_in"]]
    expected = [f"b{number}" for number, (*_, is_told) in enumerate(REACHES) if is_told]
    assert [each["backend"] for each in found] == expected
    assert {each["severity"] for each in found} == {"note"}
    assert found[0]["remedy"].startswith("Write requires_opt_in = true, which says so")


# --- whatever an import does -----------------------------------------------------------


ENDS = {
    "exit": ("import os; os._exit(0)", "ended the interpreter with exit code 0"),
    "crash": ("import os; os.kill(os.getpid(), 11)", "crashed the interpreter (SIGSEGV)"),
    "signal": ("import os; os.kill(os.getpid(), 40)", "crashed the interpreter (40)"),
}


def test_whatever_an_import_does_the_rest_is_examined(site: Site) -> None:
    """The finding names the import; other modules and other backends are examined."""
    site.install_library()
    site.install_backend("oil", types("fractions:Fracton"))
    functions = [
        f"[functions.'paintlib.filters:blur']\nfunction = 'paint_water.{name}:blur'\n"
        f"should_run = 'paint_water.{name}:ask'\n".replace("filters:blur", f"filters:{name}")
        for name in ENDS
    ]
    last = "[functions.'paintlib.filters:blend']\nfunction = 'paint_water:blend'\n"
    site.install_backend("water", types() + "".join(functions) + last, "def blend(x): ...\n")
    write_modules(site, "paint_water", {name: code for name, (code, _) in ENDS.items()})
    library = examine(site)
    assert [each["keys"] for each in findings(library, "oil")] == [["primary_types[1]"]]
    found = {tuple(each["keys"]): each for each in findings(library, "water")}
    for name, (_, how) in ENDS.items():
        key = f'functions."paintlib.filters:{name}"'
        finding = found[f"{key}.function", f"{key}.should_run"]
        assert finding["message"] == f"using paint_water.{name}:blur {how}"
        assert finding["file"] == str(site.folder / "paint_water" / "backend.toml")
    assert ('functions."paintlib.filters:blend".function',) in found


# --- the environment and the libraries -------------------------------------------------


def test_variables_that_name_nothing(paint: Site) -> None:
    """Names in variables are checked, and names of variables that are nearly right."""
    paint.install_backend("oil", types())
    expected = {
        "PAINTLIB_PRIORITIZE": ("oyl", "no backend is named 'oyl'; the name is ignored. Did you"),
        "PAINTLIB_BLOCK": ("qqq", "no backend is named 'qqq'; the name is ignored. Remove it"),
        "PAINTLIB_SET_ORDER": ("zzz>oil", "no backend is named 'zzz'; the name is ignored. Remo"),
        "PAINTLIB_PRIORITISE": (
            "oil",
            "the library reads no variable with this name. Did you mean PAINTLIB_PRIORITIZE?",
        ),
    }
    variables = {variable: value for variable, (value, _) in expected.items()}
    found = examine(paint, **variables)["findings"]
    assert {each["keys"][0] for each in found} == expected.keys()
    for each in found:
        assert (each["severity"], each["backend"]) == ("warning", None)
        assert said(each).startswith(expected[each["keys"][0]][1])
    output = paint.run("doctor", "paintlib", PAINTLIB_SET_ORDER="nonsense").output
    start = "environment:\n  warning: PAINTLIB_SET_ORDER: the value 'nonsense' is ignored"
    assert start in output


@pytest.mark.parametrize("value", ["water", "*", "*,!oil"])
def test_nothing_that_is_blocked_is_touched(paint: Site, value: str) -> None:
    """A blocked backend is neither read nor imported."""
    paint.install_backend("oil", types("paint_watr:Type"))
    paint.install_backend("water", "no TOML", f"class Type: ...\n{TOUCH}\n")
    library = examine(paint, PAINTLIB_BLOCK=value)
    expected = [] if value == "*" else [("error", ["primary_types[1]"])]
    assert [(each["severity"], each["keys"]) for each in library["findings"]] == expected
    (water,) = (each for each in library["backends"] if each["name"] == "water")
    counts = (water["errors"], water["warnings"], water["notes"])
    assert (water["state"], counts) == ("blocked", (0, 0, 0))
    shown = paint.run("doctor", "paintlib", PAINTLIB_BLOCK=value)
    assert shown.row("water")[1:3] == ["blocked", "not examined"]
    assert not (paint.folder / "touched").exists()


def test_libraries_that_cannot_be_used_are_reported(bare: Site, link_packages: Any) -> None:
    """The others are examined. Of two with one name, the first by distribution is used."""
    link_packages(bare, *DEPENDENCIES)
    bare.install_library()
    expected = {
        "absent": ("import not_there", "loading 'absent:system' failed with ModuleNotFoundError"),
        "ending": (
            "import os; os._exit(4)",
            "importing the library ending ended the interpreter with exit code 4",
        ),
        "misspelled": (
            "sistem = 1",
            (
                "loading 'misspelled:system' failed with ImportError: 'misspelled:system' does not "
                "exist: module 'misspelled' has no attribute 'system'; did you mean 'sistem'? Rep"
            ),
        ),
        "options": (
            "import spatch_core\nsystem = spatch_core.BackendSystem(None, 'OPTIONS').backend_opts",
            "'options:system' is not a BackendSystem but of type 'Kind'",
        ),
    }
    for name, (code, _) in expected.items():
        write_distribution(
            bare.folder,
            f"{name}-lib",
            entry_points={"spatch_core.libraries": {name: f"{name}:system"}},
            files={f"{name}.py": code},
        )
    write_distribution(
        bare.folder,
        "zz-paint",
        entry_points={"spatch_core.libraries": {"paintlib": "zz:system"}},
    )
    answer = bare.run("doctor")
    for name, (_, text) in expected.items():
        place = f"{name}-lib 0.1.0, {name} = {name}:system"
        assert f"\nlibrary {name} ({place}):\n  error: {text}" in answer.output
    assert "distribution paint-lib registers a library of the same name" in answer.output
    assert answer.row("default")[1] == "active"
    assert answer.code == 1


def test_backends_without_faults_are_fine(paint: Site) -> None:
    """The exit code is 0."""
    (paint.folder / "paint_oil" / "__init__.py").write_text("def blur(x): return x\n")
    answer = paint.run("doctor", "paintlib")
    assert answer.row("oil")[1:] == ["active", "no findings", "paint-oil 1.0"]
    assert answer.output.endswith("paint-oil 1.0\n\n2 backends: no findings\n")
    assert len(answer.output.splitlines()) == 6
    assert (answer.code, answer.errors) == (0, "")


def test_a_file_and_a_folder_are_verified(paint: Site) -> None:
    """Nothing has to be installed; a library's name goes first."""
    site = paint
    package = site.folder / "project" / "src" / "paint_ink"
    package.mkdir(parents=True)
    description = 'name = "ink"\nprimary_types = ["fractions:Fracton"]\n'
    (package / "backend.toml").write_text(description)
    (package / "second.toml").write_text(description.replace("Fracton", "Fraction"))
    (site.folder / "project" / "pyproject.toml").write_text("[tool.other]\n")
    (package / ".hidden").mkdir()
    (package / ".hidden" / "backend.toml").write_text("no TOML")
    for subject in ("project", "project/src/paint_ink/backend.toml"):
        answer = site.run("doctor", subject)
        assert "backend.toml:2: error: primary_types[0]: 'fractions' has no 'Fracton'" in (
            answer.output
        )
        assert answer.code == 1
    record = site.run("doctor", "project", "--json").json
    assert [Path(each["file"]).name for each in record["files"]] == ["backend.toml", "second.toml"]
    verified = site.run("verify", "project/src/paint_ink/backend.toml", "--json").json["files"]
    assert verified == record["files"][:1]
    for subject, message in {
        "project/absent.toml": "there is no file or folder project/absent.toml",
        "absent": "no library is named 'absent'",
        "oil": "no library is named 'oil'; it is a backend of the library paintlib: name the",
        "project/src/paint_ink/.hidden/..": "",
    }.items():
        answer = site.run("doctor", subject)
        assert message in " ".join(answer.errors.split())
        assert answer.code == (2 if message else 1)
    (site.folder / "empty").mkdir()
    (site.folder / "empty" / "other.toml").write_text("[tool]\nprimary = 1\n")
    assert "no file in empty describes a backend" in site.run("doctor", "empty").errors
    (site.folder / "empty" / "ink.toml").write_text("name = ink\nprimary_types = []\n")
    assert "ink.toml:1: error: it is not valid TOML" in site.run("doctor", "empty").output


def test_a_wheel_is_to_be_unpacked(site: Site) -> None:
    """One that is unpacked, and lacks the file: its entry point says which."""
    (site.folder / "ink.whl").write_bytes(b"PK\x03\x04\xff")
    for command in ("doctor", "verify", "update"):
        answer = site.run(command, "ink.whl")
        assert "error: it is a wheel, and no TOML file" in answer.output
        assert "Unpack it: `python -m zipfile -e ink.whl unpacked`" in answer.output
    point = {"paintlib.backends": {"ink": "paint_ink:backend.toml"}}
    write_distribution(site.folder / "unpacked", "paint-ink", entry_points=point)
    answer = site.run("doctor", "unpacked")
    assert "an entry point names 'paint_ink:backend.toml'" in " ".join(answer.errors.split())
    assert answer.code == 2
