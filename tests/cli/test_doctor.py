"""``spatch-core doctor``: real broken packages, and what is said of each."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest

from spatch_core.testing import write_distribution
from tests.cli.conftest import Site

GOOD = """
    primary_types = ["fractions:Fraction"]
    [functions."paintlib.filters:blur"]
    function = "paint_water:blur"
"""


def examine(site: Site, **variables: str) -> list[dict[str, Any]]:
    """Return the findings about the library's backends; the exit code must fit them."""
    answer = site.run("doctor", "paintlib", "--json", "--timeout", "20", **variables)
    (library,) = answer.json["libraries"]
    found: list[dict[str, Any]] = library["findings"]
    assert answer.code == any(each["severity"] != "note" for each in found)
    return found


def only(found: list[dict[str, Any]]) -> tuple[str, list[str], str]:
    """Return severity, keys, message and remedy of the only finding."""
    (finding,) = found
    return finding["severity"], finding["keys"], f"{finding['message']}. {finding['remedy']}"


def types(*patterns: str) -> str:
    """Return a description with these primary types, and one that is sound."""
    return f"primary_types = {['fractions:Fraction', *patterns]}\n"


def test_backends_without_faults_are_fine(paint: Site) -> None:
    """A table of what was examined, and exit code 0."""
    paint.install_backend("water", GOOD, "def blur(x): return x\n")
    paint.install_backend("oil", GOOD.replace("water", "oil"), "def blur(x): return x\n")
    answer = paint.run("doctor", "paintlib")
    assert answer.output.splitlines()[0] == "paintlib  paint-lib 2.5"
    assert answer.row("water")[1:] == ["active", "0", "0", "0", "paint-water 1.0"]
    assert answer.row("default")[1:] == ["active", "0", "0", "0", "paint-lib 2.5"]
    assert (answer.code, answer.errors) == (0, "")


def test_all_faults_are_reported_at_once(paint: Site) -> None:
    """Each with backend, distribution, file, key, what is wrong and what to do."""
    paint.install_backend("oil", GOOD.replace("water", "oil"), "def blur(x): return x\n")
    paint.install_backend(
        "water",
        """
        primary_types = ["fractions:Fracton", "nowhere_at_all:Type"]
        [functions."paintlib.filters:blur"]
        function = "paint_water:blurr"
        should_run = "paint_water.checks:ask"
        [functions."paintlib.filters:blend"]
        function = "paint_water:blend"
        [functions."paintlib.filters:blurt"]
        function = "paint_water:blur"
        """,
        "def blur(x): ...\ndef blend(x): ...\n",
    )
    found = examine(paint)
    assert [(each["severity"], each["keys"]) for each in found] == [
        ("error", ["primary_types[0]"]),
        ("error", ['functions."paintlib.filters:blur".function']),
        ("error", ['functions."paintlib.filters:blur".should_run']),
        ("error", ['functions."paintlib.filters:blend".function']),
        ("error", ['functions."paintlib.filters:blurt"']),
        ("note", ["primary_types[1]"]),
    ]
    for each in found:
        assert each["backend"] == "water"
        assert each["distribution"] == "paint-water"
        assert each["version"] == "1.0"
        assert each["file"] == str(paint.folder / "paint_water" / "backend.toml")
    answer = paint.run("doctor", "paintlib")
    assert answer.row("water")[1:] == ["active", "5", "0", "1", "paint-water 1.0"]
    assert answer.row("oil")[1:5] == ["active", "0", "0", "0"]
    assert (
        "  backend 'water' (distribution paint-water 1.0, entry point "
        f"'water = paint_water:backend.toml', file {found[0]['file']}), key "
        'functions."paintlib.filters:blur".function: ' in answer.output
    )
    assert answer.output.index("Errors:") < answer.output.index("Notes:")


@pytest.mark.parametrize(
    ("function", "code", "severity", "text"),
    [
        pytest.param(
            "paint_water:blurr", "def blur(x): ...", "error",
            "'paint_water' has no 'blurr'. Did you mean 'blur'?", id="function",
        ),
        pytest.param(
            "paint_water:qqq", "", "error", "'paint_water' has no 'qqq'. Correct the name",
            id="function-like-no-other",
        ),
        pytest.param(
            "paint_watr:blur", "", "error",
            "there is no module 'paint_watr'. Did you mean 'paint_water'?", id="package",
        ),
        pytest.param(
            "json.decoderr:blur", "", "error",
            "there is no module 'json.decoderr'. Did you mean 'json.decoder'", id="module",
        ),
        pytest.param(
            "paint_water.qqq:blur", "", "error",
            "there is no module 'paint_water.qqq'. Correct the name, or ship", id="own-module",
        ),
        pytest.param(
            "paint_water:blur", "import json.decoderr", "error",
            "there is no module 'json.decoderr', which paint_water imports ({place}). Did",
            id="module-that-it-imports",
        ),
        pytest.param(
            "paint_water:blur", "import clickk", "error",
            "there is no module 'clickk', which paint_water imports ({place}). Did you mean",
            id="package-that-it-imports",
        ),
        pytest.param(
            "paint_water:blur", "import nowhere_at_all.deep", "warning",
            "the package 'nowhere_at_all', which paint_water imports ({place}), is not installed,",
            id="missing-dependency",
        ),
        pytest.param(
            "nowhere_at_all:blur", "", "warning",
            "the package 'nowhere_at_all' is not installed, so that calls fail. Install it",
            id="implementation-in-a-missing-package",
        ),
        pytest.param(
            "paint_water:blur", "1 / 0", "error",
            "importing paint_water failed with ZeroDivisionError: division by zero", id="raises",
        ),
        pytest.param(
            "paint_water:blur", "raise SystemExit(3)", "error",
            "importing paint_water failed with SystemExit: 3", id="exits",
        ),
        pytest.param(
            "paint_water:blur", "class Odd(BaseException): ...\nraise Odd('so')", "error",
            "importing paint_water failed with Odd: so", id="base-exception",
        ),
        pytest.param(
            "paint_water:blur", "def __getattr__(name): raise OSError('no disk')", "error",
            "'paint_water' has no 'blur' (no disk). Correct the name", id="attribute-hook",
        ),
        pytest.param(
            "paint_water:blur", "blur = 1", "error",
            "'paint_water:blur' is no function but of type 'int'. Name a function", id="type",
        ),
    ],
)  # fmt: skip
def test_implementations_that_cannot_be_imported(
    paint: Site, function: str, code: str, severity: str, text: str
) -> None:
    """A missing dependency is told apart from a misspelling."""
    paint.install_backend("oil", types())
    paint.install_backend(
        "water", types() + f"[functions.'paintlib.filters:blur']\nfunction = '{function}'\n", code
    )
    found, keys, said = only(examine(paint))
    assert (found, keys) == (severity, ['functions."paintlib.filters:blur".function'])
    assert said.startswith(text.replace("{place}", f"{paint.folder}/paint_water/__init__.py:1"))


def test_a_dependency_is_not_missed_where_the_types_are_not_either(paint: Site) -> None:
    """A backend for a GPU's arrays, on a machine without any."""
    paint.install_backend("oil", types())
    paint.install_backend(
        "water",
        """
        primary_types = ["nowhere_at_all:Type"]
        [functions."paintlib.filters:blur"]
        function = "paint_water:blur"
        """,
        "import nowhere_at_all",
    )
    found = examine(paint)
    assert [each["severity"] for each in found] == ["note", "note"]
    assert all("is not installed here" in each["message"] for each in found)


def test_what_the_distribution_requires_is_no_misspelling(paint: Site) -> None:
    """However near to something else its name is."""
    paint.install_backend("oil", types())
    paint.install_backend("water", GOOD, "import clickk")
    metadata = paint.folder / "paint_water-1.0.dist-info" / "METADATA"
    metadata.write_text(metadata.read_text() + "Requires-Dist: Clickk>=2 ; extra == 'fast'\n")
    severity, _, text = only(examine(paint))
    assert severity == "warning"
    assert text.startswith("the package 'clickk', which paint_water imports (")
    assert "is not installed, so that calls fail" in text


def test_the_same_fault_in_many_places_is_reported_once(paint: Site) -> None:
    """With all keys for programs, and their number for people."""
    paint.install_backend("oil", types())
    paint.install_backend(
        "water",
        GOOD + "[functions.'paintlib.filters:blend']\nfunction = 'paint_water:blend'\n",
        "import nowhere_at_all",
    )
    _, keys, _ = only(examine(paint))
    assert keys == [f'functions."paintlib.filters:{name}".function' for name in ("blur", "blend")]
    assert f"key {keys[0]} and 1 more: " in paint.run("doctor", "paintlib").output


@pytest.mark.parametrize(
    ("code", "text"),
    [
        pytest.param("import os; os._exit(0)", "ended the interpreter with exit code 0", id="exit"),
        pytest.param(
            "import os; os.kill(os.getpid(), 11)", "crashed the interpreter (SIGSEGV)", id="crash"
        ),
        pytest.param(
            "import os; os.kill(os.getpid(), 40)", "crashed the interpreter (40)", id="signal"
        ),
        pytest.param(
            "import time; time.sleep(600)", "took longer than 3 s and was ended", id="hang"
        ),
    ],
)
def test_whatever_an_import_does_the_rest_is_examined(paint: Site, code: str, text: str) -> None:
    """It is attributed, and stops neither the backend's other modules nor other backends."""
    paint.install_backend("oil", types("fractions:Fracton"))
    paint.install_backend(
        "water",
        types()
        + """
[functions.'paintlib.filters:blur']
function = 'paint_water.bad:blur'
[functions.'paintlib.filters:blend']
function = 'paint_water:blend'
""",
        "def blend(x): ...",
    )
    (paint.folder / "paint_water" / "bad.py").write_text(code)
    answer = paint.run("doctor", "paintlib", "--json", "--timeout", "3")
    (library,) = answer.json["libraries"]
    found = {tuple(each["keys"]): each["message"] for each in library["findings"]}
    assert [*found] == [
        ("primary_types[1]",),
        ('functions."paintlib.filters:blur".function',),
        ('functions."paintlib.filters:blend".function',),
    ]
    assert [*found.values()][1] == f"using paint_water.bad:blur {text}"
    assert answer.code == 1


def test_a_backend_whose_every_module_ends_the_interpreter_is_given_up(paint: Site) -> None:
    """After some of them."""
    paint.install_backend("oil", types())
    functions = "".join(
        f"[functions.'paintlib.filters:f{n}']\nfunction = 'paint_water.bad{n}:f'\n"
        for n in range(9)
    )
    paint.install_backend("water", types() + functions)
    for number in range(9):
        file = paint.folder / "paint_water" / f"bad{number}.py"
        file.write_text("import os; os._exit(3)")
    ended = [each for each in examine(paint) if "exit code 3" in each["message"]]
    assert len(ended) == 6


@pytest.mark.parametrize("code", ["import os; os._exit(3)", "raise SystemExit(3)"])
def test_a_description_that_is_an_object_may_end_the_interpreter(paint: Site, code: str) -> None:
    """Importing it is discovery; the others are discovered all the same."""
    paint.install_backend("oil", types("fractions:Fracton"))
    write_distribution(
        paint.folder,
        "paint-water",
        "1.0",
        entry_points={"paintlib.backends": {"water": "paint_water:backend"}},
        files={"paint_water.py": code},
    )
    found = examine(paint)
    assert [(each["backend"], each["severity"]) for each in found] == [
        ("oil", "error"),
        ("water", "error"),
    ]
    assert found[1]["distribution"] == "paint-water"
    assert paint.run("doctor", "paintlib").row("oil")[1] == "active"


MISMATCHES = [
    ("x, n=None", "x", "it does not take 'n'. Take what the library's function takes"),
    ("x, n=None", "x, m=None", "'n' may be given by keyword, but there it is called 'm'"),
    ("x, n=None", "x, n", "it requires 'n', which callers may leave out"),
    ("x, n=None", "x, *, n=None", "'n' may be given by position, but it takes it by keyword"),
    ("x, n=None", "x, n=None, /", "'x' may be given by keyword, but it takes it by position"),
    ("x, y", "y, x", "the parameter at position 1 is 'x', but there 'y'"),
    ("x, *, n=None", "x", "it does not take 'n'"),
    ("x, *, n=None", "x, *, n", "it requires 'n' by keyword, which callers may leave out"),
    ("x", "x, extra", "it requires 'extra', which is not given"),
    ("x", "x, *, extra", "it requires 'extra' by keyword, which is not given"),
    ("x, n=None", "x, **kwargs", "it does not take 'n' by position"),
    ("x, *args", "x", "it does not take further arguments by position (*args)"),
    ("x, **kwargs", "x", "it does not take further arguments by keyword (**kwargs)"),
    ("x, *args, n=None", "x, n=None, *args", "'n' is given by keyword, but it takes it at pos"),
    ("x", "image, **kwargs", "'x' may be given by keyword, but there it is called 'image'"),
    ("x", "context, x", "Write uses_context = true"),
]
MATCHES = [
    ("x, n=None", "x, n=3"),
    ("x, n=None", "*args, **kwargs"),
    ("x, n=None", "x, *args, **kwargs"),
    ("x, n=None", "x, n=None, extra=1, *, more=2"),
    ("x, /, n=None", "image, n=None"),
    ("x, *args, n=None, **kwargs", "x, *args, **kwargs"),
]


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """One backend with all these implementations; findings by key."""
    site = Site(tmp_path_factory.mktemp("compared"))
    pairs = [(default, given) for default, given, *_ in (*MISMATCHES, *MATCHES)]
    dispatchable = "@system.dispatchable(None)\ndef f{}({}): ...\n"
    library = "".join(dispatchable.format(n, pair[0]) for n, pair in enumerate(pairs))
    site.install_library({"paintlib/filters.py": f"from ._dispatch import system\n{library}"})
    table = "[functions.'paintlib.filters:f{0}']\nfunction = 'paint_water:f{0}'\n"
    site.install_backend(
        "water",
        types() + "".join(table.format(n) for n in range(len(pairs))),
        "".join(f"def f{n}({pair[1]}) -> int: ...\n" for n, pair in enumerate(pairs)),
    )
    return {key: each for each in examine(site) for key in each["keys"]}


@pytest.mark.parametrize("number", range(len(MISMATCHES)), ids=[str(m[:2]) for m in MISMATCHES])
def test_implementations_that_cannot_take_the_librarys_calls(
    compared: dict[str, dict[str, Any]], number: int
) -> None:
    """Every way of calling the library's function must be possible."""
    default, implementation, text = MISMATCHES[number]
    finding = compared[f'functions."paintlib.filters:f{number}".function']
    assert finding["severity"] == "error"
    start = f"paint_water:f{number}({implementation}) cannot take all calls of the library's "
    said = f"{finding['message']}. {finding['remedy']}"
    assert said.startswith(f"{start}function ({default}): ")
    assert text in said


def test_implementations_that_can_take_them(compared: dict[str, dict[str, Any]]) -> None:
    """They may take more, and types do not matter."""
    assert len(compared) == len(MISMATCHES)


def test_functions_without_a_signature_are_not_compared(paint: Site) -> None:
    """Those written in C, for example."""
    paint.install_backend("oil", types())
    paint.install_backend("water", GOOD, "class Odd:\n  __signature__ = 1\n"
                          "  def __call__(self): ...\nblur = Odd()")  # fmt: skip
    assert examine(paint) == []


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ("context, x", ""),
        ("*args", "'x' may be given by keyword"),
        ("context, *args, **kwargs", ""),
        ("x", "it does not take 'x'. Take the context, and then what the library's function"),
        ("", "it does not take the context as its first argument"),
        ("x, *args, **kwargs", "'x' may be given by keyword, but there the context has this"),
    ],
)
@pytest.mark.parametrize("part", ["should_run", "function"])
def test_what_takes_a_context_takes_it_first(
    paint: Site, part: str, parameters: str, text: str
) -> None:
    """A should_run always does, an implementation with uses_context."""
    paint.install_backend("oil", types())
    more = "uses_context = true"
    if part == "should_run":
        more = "should_run = 'paint_water:ask'"
    code = f"def blur(x): ...\ndef ask({parameters}): ...\n"
    if part == "function":
        code = f"def blur({parameters}): ..."
    paint.install_backend("water", GOOD + more, code)
    found = examine(paint)
    if not text:
        assert found == []
        return
    severity, keys, said = only(found)
    assert (severity, keys) == ("error", [f'functions."paintlib.filters:blur".{part}'])
    if part == "should_run" or parameters != "x":
        assert text in said
    else:
        assert said.endswith("Write uses_context = false")


@pytest.mark.parametrize(
    ("identifier", "severity", "text"),
    [
        pytest.param(
            "paintlib.filters:blurr", "error",
            "the library has no function 'paintlib.filters:blurr'. Did you mean 'paintlib.filters:",
            id="near",
        ),
        pytest.param(
            "paintlib:smooth", "error",
            "the library has no function 'paintlib:smooth'. Did you mean 'paintlib.filters:blur'?",
            id="another-name",
        ),
        pytest.param(
            "elsewhere.qqq:zzz", "warning",
            "the library has no function 'elsewhere.qqq:zzz'. Remove it, or say which versions",
            id="far",
        ),
        pytest.param("paintlib.later:wash", "", "", id="in-a-module-not-imported-yet"),
        pytest.param(
            "paintlib.optional:wash", "note",
            "the package 'nowhere_at_all', which paintlib.optional imports (",
            id="in-a-module-that-needs-something-else",
        ),
    ],
)  # fmt: skip
def test_functions_that_the_library_does_not_have(
    paint: Site, identifier: str, severity: str, text: str
) -> None:
    """With the nearest identifier."""
    paint.install_library(
        {
            "paintlib/__init__.py": "from .filters import blur as smooth",
            "paintlib/later.py": """
                from ._dispatch import system

                @system.dispatchable(["x"])
                def wash(x): ...
                """,
            "paintlib/optional.py": "import nowhere_at_all",
        }
    )
    paint.install_backend("oil", types())
    paint.install_backend(
        "water",
        types() + f"[functions.'{identifier}']\nfunction = 'paint_water:f'",
        "def f(x): ...",
    )
    found = examine(paint)
    if not severity:
        assert found == []
        return
    level, keys, said = only(found)
    assert (level, keys) == (severity, [f'functions."{identifier}"'])
    assert said.startswith(text)


CODE = """
    import abc
    from types import FunctionType
    from typing import Protocol

    def function(): ...
    class Plain: ...
    class Abstract(abc.ABC):
        @abc.abstractmethod
        def method(self): ...
    class Loose(Protocol):
        def method(self): ...
    class Hook(type):
        def __subclasscheck__(cls, other): raise OSError("ask no more")
    class Hooked(metaclass=Hook): ...
    class Base(abc.ABC): ...
"""


PATTERNS = [
    ("paint_water:Plain", "", ""),
    ("~paint_water:Abstract", "", ""),
    ("@paint_water:Abstract", "", ""),
    ("@paint_water:Base", "", ""),
    ("paint_water:Base", "", ""),
    ("builtins:function", "", ""),
    ("paint_water:f.<locals>.C", "", ""),
    (
        "nowhere_at_all:Type", "note",
        "the package 'nowhere_at_all' is not installed here, so that"
    ),
    (
        "xarray_of_nothing:DataArray", "note", "the package 'xarray_of"
    ),
    (
        "fractionss:Fraction", "error",
        "there is no module 'fractionss', so that 'fractionss:Fraction' can never match. Did you",
    ),
    (
        "fractionss:Array", "note", "the package 'fractionss' is not installed here"
    ),
    (
        "json.encodr:JSONEncoder", "error",
        "there is no module 'json.encodr'. Did you mean 'json.encoder'"
    ),
    (
        "paint_water.broken:Type", "error",
        "importing paint_water.broken failed with ZeroDivisionError"
    ),
    (
        "~fractions:Fracton", "error",
        "'fractions' has no 'Fracton', so that '~fractions:Fracton' can never match. Did you mean",
    ),
    (
        "fractions:Qqq", "error",
        "'fractions' has no 'Qqq', so that 'fractions:Qqq' can never match. Name the class by"
    ),
    (
        "paint_water:function", "error",
        "'paint_water:function' is no class but of type 'function', so that it can never match"
    ),
    (
        "paint_water:Abstract", "error",
        "'paint_water:Abstract' is abstract: no object has exactly this type, so that it can",
    ),
    (
        "paint_water:Loose", "error", "'paint_water:Loose' is abstract"
    ),
    (
        "@paint_water:Loose", "error",
        "issubclass(..., paint_water:Loose) raises TypeError"
    ),
    (
        "@paint_water:Hooked", "error",
        "issubclass(..., paint_water:Hooked) raises OSError (ask no more)"
    ),
    (
        "@paint_water:Plain", "note",
        "'paint_water:Plain' is no abstract base class, and is imported for nothing. Write '~"
    ),
    (
        "types:NoneType", "warning", "None does not count among the dispatch arguments"
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def matched(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    """Two backends with all these types, primary and secondary; findings by backend and key."""
    site = Site(tmp_path_factory.mktemp("matched"))
    site.install_library()
    patterns = [pattern for pattern, *_ in PATTERNS]
    site.install_backend("water", f"primary_types = {patterns}\n", dedent(CODE))
    site.install_backend("wax", types() + f"secondary_types = {patterns}\n")
    (site.folder / "paint_water" / "broken.py").write_text("1 / 0")
    return {(each["backend"], key): each for each in examine(site) for key in each["keys"]}


@pytest.mark.parametrize("place", [("water", "primary_types"), ("wax", "secondary_types")])
@pytest.mark.parametrize("number", range(len(PATTERNS)), ids=[each[0] for each in PATTERNS])
def test_types_that_can_never_match(
    matched: dict[tuple[str, str], dict[str, Any]], place: tuple[str, str], number: int
) -> None:
    """Told apart from those that are not installed here."""
    _, severity, text = PATTERNS[number]
    finding = matched.get((place[0], f"{place[1]}[{number}]"))
    if finding is None:
        assert not severity
        return
    assert finding["severity"] == severity
    assert f"{finding['message']}. {finding['remedy']}".startswith(text)


def test_an_abstract_class_that_is_slow_to_import_is_timed(paint: Site) -> None:
    """Every process pays for it; concrete types are not imported for matching."""
    paint.install_backend("oil", types())
    paint.install_backend("water", types("@paint_water.slow:Base", "paint_water.slower:Type"))
    write_distribution(
        paint.folder,
        "paint-slow",
        files={
            "paint_water/slow.py": "import time\ntime.sleep(0.4)\nfrom abc import ABC as Base",
            "paint_water/slower.py": "import time\ntime.sleep(0.4)\nclass Type: ...",
        },
    )
    severity, keys, said = only(examine(paint))
    assert (severity, keys) == ("warning", ["primary_types[1]"])
    assert "the abstract class is slow to import: paint_water.slow takes 0." in said
    assert " s, which every process pays" in said


def test_an_abstract_class_that_is_slow_only_once_is_fine(paint: Site) -> None:
    """The first import may have compiled it; if it fails the second time, the first counts."""
    paint.install_backend("oil", types())
    paint.install_backend("water", types("@paint_water.slow:Base"))
    slow = """
        import pathlib, time
        mark = pathlib.Path(__file__).with_suffix(".mark")
        if not mark.exists():
            mark.touch()
            time.sleep(0.4)
        {more}
        from abc import ABC as Base
        """
    file = "paint_water/slow.py"
    write_distribution(paint.folder, "paint-slow", files={file: slow.format(more="")})
    assert examine(paint) == []
    write_distribution(paint.folder, "paint-slow", files={file: slow.format(more="else: 1 / 0")})
    (paint.folder / "paint_water" / "slow.mark").unlink()
    severity, _, said = only(examine(paint))
    assert severity == "warning"
    assert "takes 0.4" in said


def test_a_backend_that_never_goes_first_is_told_to_require_opt_in(paint: Site) -> None:
    """No fault: under the golden rule, the library's own types are the library's."""
    paint.install_backend("oil", types())
    paint.install_backend("water", 'primary_types = ["builtins:int"]\n')
    severity, keys, said = only(examine(paint))
    assert (severity, keys) == ("note", ["requires_opt_in"])
    assert said.endswith("Say so with requires_opt_in = true")


@pytest.mark.parametrize(
    ("own", "toml", "noted"),
    [
        (["~builtins:int"], 'primary_types = ["builtins:bool"]\n', True),
        (["~numbers:Number"], 'primary_types = ["fractions:Fraction"]\n', True),
        (["@numbers:Number"], 'primary_types = ["fractions:Fraction"]\n', True),
        (["~builtins:int"], 'primary_types = ["~builtins:bool", "builtins:str"]\n', False),
        (["~builtins:int"], 'primary_types = ["~builtins:int"]\n', True),
        (["@numbers:Number"], 'primary_types = ["@numbers:Number"]\n', True),
        (
            ["~builtins:int"],
            'primary_types = ["nowhere_at_all:T"]\n',
            False,
        ),
        (["builtins:int"], 'primary_types = ["builtins:int"]\nrequires_opt_in = true\n', False),
        (
            ["builtins:int"],
            'primary_types = ["builtins:int"]\nsecondary_types = ["builtins:str"]\n',
            False,
        ),
        (
            ["builtins:int"],
            'primary_types = ["builtins:int"]\nhigher_priority_than = ["default"]\n',
            False,
        ),
        ([], 'primary_types = ["builtins:int"]\n', False),
    ],
)
def test_only_a_backend_that_never_goes_first_is_told_so(
    paint: Site, own: list[str], toml: str, noted: bool
) -> None:
    """One with types of its own, or one that goes before the library, runs."""
    paint.install_library(
        {
            "paintlib/_dispatch.py": f"""
                from spatch_core import BackendSystem

                system = BackendSystem("paintlib.backends", "PAINTLIB", {own!r})
                """
        }
    )
    paint.install_backend("oil", types())
    paint.install_backend("water", toml)
    notes = [each for each in examine(paint) if each["keys"] == ["requires_opt_in"]]
    assert bool([each for each in notes if each["backend"] == "water"]) is noted


def test_the_librarys_own_types_are_examined_too(paint: Site) -> None:
    """The library's author learns of a misspelling."""
    paint.install_library(
        {
            "paintlib/_dispatch.py": """
                from spatch_core import BackendSystem

                chalk = {"name": "chalk", "primary_types": ["fractions:Fracton"]}
                system = BackendSystem("paintlib.backends", "P", ["builtins:itn"], [chalk])
                """
        }
    )
    paint.install_backend("oil", types())
    found = examine(paint)
    assert [(each["backend"], each["keys"]) for each in found] == [
        ("chalk", ["primary_types[0]"]),
        ("default", ["primary_types[0]"]),
    ]
    assert {each["distribution"] for each in found} == {"paint-lib"}


def test_a_shadowed_entry_point_is_reported(paint: Site) -> None:
    """The one that is used and the one that is not both have a row."""
    paint.install_backend("oil", types())
    write_distribution(
        paint.folder,
        "paint-oil-too",
        entry_points={"paintlib.backends": {"oil": "elsewhere:backend.toml"}},
    )
    severity, _, said = only(examine(paint))
    assert severity == "warning"
    assert said.startswith("distribution paint-oil offers a backend of the same name")
    rows = [row for row in paint.run("doctor", "paintlib").rows if row[0] == "oil"]
    assert [row[1:] for row in rows] == [
        ["active", "0", "0", "0", "paint-oil 1.0"],
        ["shadowed", "0", "1", "0", "paint-oil-too 0.1.0"],
    ]


def test_faults_of_descriptions_are_among_the_findings(paint: Site) -> None:
    """All that discovery skipped."""
    paint.install_backend("oil", types())
    paint.install_backend("water", 'primary_types = ["no identifier"]\nrequires_opt_in = 1\n')
    found = examine(paint)
    assert [(each["severity"], each["keys"]) for each in found] == [
        ("error", ["primary_types[0]"]),
        ("error", ["requires_opt_in"]),
    ]
    assert paint.run("doctor", "paintlib").row("water")[1:3] == ["broken", "2"]


@pytest.mark.parametrize(
    ("variable", "value", "text"),
    [
        ("PAINTLIB_PRIORITIZE", "oyl", "no backend is named 'oyl'; the name is ignored. Did you"),
        ("PAINTLIB_PRIORITIZE", "qqq", "no backend is named 'qqq'; the name is ignored. Remove it"),
        ("PAINTLIB_BLOCK", "qqq", "no backend is named 'qqq'; the name is ignored. Remove it"),
        ("PAINTLIB_SET_ORDER", "qqq>oil", "no backend is named 'qqq'; the name is ignored. Remo"),
        ("PAINTLIB_SET_ORDER", "nonsense", "the value 'nonsense' is ignored"),
        (
            "PAINTLIB_PRIORITISE",
            "oil",
            "the library reads no variable of this name. Did you mean PAINTLIB_PRIORITIZE?",
        ),
    ],
)
def test_variables_that_name_nothing(paint: Site, variable: str, value: str, text: str) -> None:
    """Near misses or not, and variables of nearly the right name."""
    paint.install_backend("oil", types())
    (finding,) = examine(paint, **{variable: value})
    assert (finding["severity"], finding["backend"]) == ("warning", None)
    assert finding["keys"] == [variable]
    assert f"{finding['message']}. {finding['remedy']}".startswith(text)
    output = paint.run("doctor", "paintlib", **{variable: value}).output
    assert f"  environment variable {variable}: {text}" in output


@pytest.mark.parametrize("value", ["water", "*"])
def test_nothing_that_is_blocked_is_touched(paint: Site, value: str) -> None:
    """Neither read nor imported, not even as a near miss of something else."""
    paint.install_backend("oil", types("paint_watr:Type"))
    paint.install_backend("water", "no TOML", "open('touched', 'w').close()")
    found = examine(paint, PAINTLIB_BLOCK=value)
    assert [each["keys"] for each in found] == ([] if value == "*" else [["primary_types[1]"]])
    assert [each["severity"] for each in found] == ([] if value == "*" else ["note"])
    answer = paint.run("doctor", "paintlib", PAINTLIB_BLOCK=value)
    assert answer.row("water")[1:5] == ["blocked", "0", "0", "0"]
    assert not (paint.folder / "touched").exists()


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("import not_there", "loading 'inklib:system' failed with ModuleNotFoundError"),
        ("import os; os._exit(4)", "importing the library inklib ended the interpreter with exit"),
        ("sistem = 1", "loading 'inklib:system' failed with ImportError"),
    ],
)
def test_a_library_that_cannot_be_used_is_reported(paint: Site, code: str, text: str) -> None:
    """While the others are examined."""
    paint.install_backend("oil", types())
    write_distribution(
        paint.folder,
        "ink-lib",
        entry_points={"spatch_core.libraries": {"inklib": "inklib:system"}},
        files={"inklib.py": code},
    )
    answer = paint.run("doctor")
    assert (
        "  library (distribution ink-lib 0.1.0, entry point 'inklib = inklib:system'): " + text
        in answer.output
    )
    assert answer.row("oil")[1] == "active"
    assert answer.code == 1


def test_two_libraries_of_one_name_are_reported(paint: Site) -> None:
    """The first by distribution is used and examined."""
    paint.install_backend("oil", types())
    write_distribution(
        paint.folder,
        "zz-paint",
        entry_points={"spatch_core.libraries": {"paintlib": "zz:system"}},
    )
    answer = paint.run("doctor", "paintlib")
    assert "distribution paint-lib registers a library of the same name" in answer.output
    assert answer.row("oil")[1] == "active"
    assert answer.code == 1


def test_an_unknown_library_is_wrong_usage(paint: Site) -> None:
    """The nearest name is offered."""
    answer = paint.run("doctor", "paintlip")
    assert "did you mean paintlib?" in answer.errors
    assert answer.code == 2


def test_without_any_library_there_is_nothing_to_examine(bare: Site, link_packages: Any) -> None:
    """And nothing is wrong."""
    link_packages(bare, "click", "rich", "markdown_it", "mdurl", "pygments", "tomli")
    answer = bare.run("doctor")
    group = "spatch_core.libraries"
    assert answer.output == f"No library is registered in the entry point group {group}.\n"
    assert answer.code == 0


def test_what_is_printed_while_examining_does_not_spoil_the_json(paint: Site) -> None:
    """It goes where messages go, also what C libraries print."""
    paint.install_backend("oil", types())
    code = "import os\nprint('loud')\nos.write(1, b'raw')\ndef blur(x): ..."
    paint.install_backend("water", GOOD, code)
    answer = paint.run("doctor", "paintlib", "--json")
    assert answer.json["libraries"][0]["findings"] == []
    assert "loud" in answer.errors
    assert "raw" in answer.errors


def test_a_terminal_shows_the_same(paint: Site) -> None:
    """The findings stand below the table, wrapped."""
    paint.install_backend("oil", types("fractions:Fracton"))
    answer = paint.run_in_terminal("doctor", "paintlib")
    assert "Errors:" in answer.output
    assert "Fracton" in answer.output
    assert all(len(line) <= 80 for line in answer.output.splitlines() if "\x1b" not in line)
    assert (answer.code, answer.errors) == (1, "")
