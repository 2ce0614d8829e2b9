"""D1, D5: the fields of a description, and how faults in them are shown."""

from __future__ import annotations

import sys
import warnings
from typing import Any, ClassVar

import pytest

from spatch_core import BackendSkippedWarning, BackendSystem, UnknownBackendError
from spatch_core.types import Description, Finding
from tests.installed import installed

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MINIMAL: dict[Any, Any] = {"name": "gpu", "primary_types": ["cupy:ndarray"]}
GROUP = "testdescription.backends"


def load(fields: Any, entry_point: str | None) -> BackendSystem:
    """Return a library with this description, in code or by an entry point."""
    in_code = [] if entry_point else [fields]
    system = BackendSystem(GROUP, "TEST_DESCRIPTION", backends=in_code)
    with installed(GROUP, {entry_point: fields} if entry_point else {}):
        list(system.backends)
    return system


def notices(fields: Any) -> tuple[Finding, ...]:
    """Return what is said of a backend that works."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BackendSkippedWarning)
        system = load(fields, None)
    assert len(system.backends) == 2
    return system.problems


def parse(fields: Any, entry_point: str | None = None) -> Description:
    """Return the description of the backend, which may have no fault."""
    system = load(fields, entry_point)
    assert system.problems == ()
    (name,) = set(system.backends) - {"default"}
    return system.backends[name]


def faults(fields: Any, entry_point: str | None = None) -> dict[str | None, Finding]:
    """Return the faults by key; no key may be reported twice."""
    with pytest.warns(BackendSkippedWarning):
        system = load(fields, entry_point)
    assert list(system.backends) == ["default"]
    keys = [problem.key for problem in system.problems]
    assert len(set(keys)) == len(keys), keys
    return {problem.key: problem for problem in system.problems}


def plain(description: Description) -> dict[str, Any]:
    """Return what a description says, without where it comes from."""
    generation = description.auto_generation
    return {
        "name": description.name,
        "primary_types": [*map(str, description.primary_types)],
        "secondary_types": [*map(str, description.secondary_types)],
        "requires_opt_in": description.requires_opt_in,
        "higher_priority_than": [*description.higher_priority_than],
        "lower_priority_than": [*description.lower_priority_than],
        "url": description.url,
        "functions": {
            name: (each.function, each.should_run, each.uses_context, each.additional_docs)
            for name, each in description.functions.items()
        },
        "auto-generation": generation and (generation.backend, generation.modules),
    }


def with_function(**fields: Any) -> dict[str, Any]:
    return {**MINIMAL, "functions": {"lib:blur": fields}}


# --- valid fields ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    ["", "http://a", "https://gpu.example:80/a_(b)/~c?d=1&e='f'#g-%C3%BC", "https://1.2/$@!*+,;"],
)
def test_a_web_address(url: str) -> None:
    """D3: empty, or with only the characters of RFC 3986."""
    assert parse({**MINIMAL, "url": url}).url == url


@pytest.mark.parametrize(
    "url",
    [
        *("javascript:alert(1)", "ftp://a", "HTTPS://a", "gpu.example", "https://", "https:///a"),
        *('https://a"b', "https://a<b>", "https://a b", "https://a`b", "https://ü", "https://a\n"),
        *(" https://a", "https://a\\b", "https://a{b}", 1, ["https://a"]),
    ],
)
def test_what_is_no_web_address(url: object) -> None:
    """D3: it would lead elsewhere, or end the link that it stands in."""
    assert faults({**MINIMAL, "url": url}).keys() == {"url"}


class Table:
    """A table that can be asked for a function, and cannot list its functions."""

    def get(self, name: str) -> object:
        _, qualname = name.split(":")
        return {"function": f"{__name__}:blurred"} if qualname == "blur" else None


def blurred(x: object) -> str:
    return "blurred"


def test_a_table_of_functions_that_can_only_be_asked() -> None:
    """D3: it is asked for each function of the library, and for nothing else."""
    fields = {"name": "gpu", "primary_types": ["builtins:str"], "functions": Table()}
    system = BackendSystem(None, "TEST_DESCRIPTION", backends=[fields])
    for module in ("lib", "lib.added_when_backends_are_loaded"):
        blur: Any = system.dispatchable("x", module=module, qualname="blur")(lambda x: "default")
        assert blur("text") == "blurred"
        assert list(system.backends) == ["default", "gpu"]


# Every table that the 0.x releases of the `spatch` package know, as a backend author writes it.
PUBLIC_SPATCH = '''
name = "parallel"
primary_types = ["numpy:ndarray"]
secondary_types = ["~builtins:float"]
higher_priority_than = ["default"]
lower_priority_than = ["distributed"]
requires_opt_in = true

[functions.auto-generation]
backend = "parallel_images.registry:backend"
modules = ["parallel_images.filters", "parallel_images.measure"]

[functions.defaults]
uses_context = true
should_run = "parallel_images.registry:is_large"

[functions."images.filters:blur"]
function = "parallel_images.filters:blur"
additional_docs = """
Splits the image into one strip for each core.
"""

[functions."images.measure:histogram"]
function = "parallel_images.measure:histogram"
should_run = "parallel_images.measure:histogram._should_run"
uses_context = false
'''


def test_a_description_for_the_public_spatch_package_loads_unchanged() -> None:
    """D3: its descriptions are valid here."""
    description = parse(tomllib.loads(PUBLIC_SPATCH), "parallel")
    assert plain(description) == {
        "name": "parallel",
        "primary_types": ["numpy:ndarray"],
        "secondary_types": ["~builtins:float"],
        "requires_opt_in": True,
        "higher_priority_than": ["default"],
        "lower_priority_than": ["distributed"],
        "url": "",
        "functions": {
            "images.filters:blur": (
                *("parallel_images.filters:blur", "parallel_images.registry:is_large", True),
                "Splits the image into one strip for each core.\n",
            ),
            "images.measure:histogram": (
                *("parallel_images.measure:histogram",),
                *("parallel_images.measure:histogram._should_run", False, ""),
            ),
        },
        "auto-generation": (
            "parallel_images.registry:backend",
            ("parallel_images.filters", "parallel_images.measure"),
        ),
    }


class ForThePublicSpatch:
    """An object as the 0.x releases of the `spatch` package accept it."""

    name = "loose"
    primary_types = ("builtins:str",)
    higher_priority_than = "default"
    lower_priority_than = "distributed"
    to_default = from_default = copy_into = None
    functions: ClassVar = {
        "lib:blur": {"function": f"{__name__}:blurred", "should_run": None, "uses_context": 0},
        "lib:mix": {"function": f"{__name__}:mixed", "uses_context": 1},
        "auto-generation": {"backend": "pkg:backend", "modules": "pkg"},
    }


def mixed(context: Any, x: object) -> str:
    return f"mixed for {context.function}"


@pytest.mark.parametrize("entry_point", [None, "loose"], ids=["in code", "installed"])
def test_an_object_for_the_public_spatch_package_is_read_as_generously(
    entry_point: str | None,
) -> None:
    """D3: None, numbers and a single name stand for what they mean."""
    description = parse(ForThePublicSpatch, entry_point)
    assert description.higher_priority_than == ("default",)
    assert description.lower_priority_than == ("distributed",)
    assert description.conversions is None
    assert description.functions["lib:blur"].should_run is None
    assert description.auto_generation is not None
    assert description.auto_generation.modules == ("pkg",)
    system = BackendSystem(None, "TEST_DESCRIPTION", ["builtins:str"], [ForThePublicSpatch])

    @system.dispatchable("x", module="lib", qualname="blur")
    def blur(x: object) -> str:
        return "default"

    @system.dispatchable("x", module="lib", qualname="mix")
    def mix(x: object) -> str:
        return "default"

    assert (blur("text"), mix("text")) == ("blurred", "mixed for lib:mix")


def test_none_in_the_table_of_a_function_overrides_the_default() -> None:
    """D4, D3: the function needs no `should_run`, whatever the others have."""
    defaults = {"should_run": "pkg:ask", "uses_context": 0}
    entry = {"function": "pkg:a", "should_run": None}
    functions = parse({**MINIMAL, "functions": {"lib:a": entry, "defaults": defaults}}).functions
    assert functions["lib:a"].should_run is None
    assert functions["lib:a"].uses_context is False


# --- faults --------------------------------------------------------------------------

FAULTS: list[tuple[dict[str, Any], str, str]] = [
    ({"name": None}, "name", "missing"),
    *(({"name": name}, "name", repr(name)) for name in ("", "a b", "a>b", "default", 3, ["gpu"])),
    *(
        ({field: value}, field, "list")
        for field in ("primary_types", "secondary_types", "higher_priority_than")
        for value in (0, None)
    ),
    ({"primary_types": "cupy:ndarray"}, "primary_types", "list"),
    ({"primary_types": []}, "primary_types", "empty"),
    ({"primary_types": {"cupy:ndarray": 1}}, "primary_types", "list"),
    ({"primary_types": ["cupy.ndarray"]}, "primary_types[0]", "'cupy.ndarray'"),
    ({"primary_types": ["a:b", "~~a:b"]}, "primary_types[1]", "'~~a:b'"),
    ({"secondary_types": ["a:b", None]}, "secondary_types[1]", "None"),
    *(({"requires_opt_in": value}, "requires_opt_in", repr(value)) for value in ("yes", 1, None)),
    ({"attributes": ["lib:pi"]}, "attributes", "table"),
    ({"attributes": {"lib.pi": "m:pi"}}, 'attributes."lib.pi"', "identifier"),
    ({"attributes": {"lib:pi": 3}}, 'attributes."lib:pi"', "identifier"),
    ({"higher_priority_than": ["a b"]}, "higher_priority_than[0]", "'a b'"),
    ({"lower_priority_than": ["gpu"]}, "lower_priority_than[0]", "itself"),
    (
        {"higher_priority_than": ["a"], "lower_priority_than": ["b", "a"]},
        "lower_priority_than",
        "'a' is in higher_priority_than too",
    ),
    ({"functions": []}, "functions", "table"),
    *(({"functions": value}, "functions", "table") for value in ("pkg", None)),
    ({"functions": {"lib.blur": {}}}, 'functions."lib.blur"', "identifier"),
    ({"functions": {"lib:blur": "pkg:blur"}}, 'functions."lib:blur"', "table"),
    ({"functions": {"lib:blur": {}}}, 'functions."lib:blur".function', "missing"),
    *(
        (with_function(**{"function": "p:f", field: value}), f'functions."lib:blur".{field}', text)
        for field, value, text in (
            ("function", "pkg.blur", "'pkg.blur'"),
            ("function", 7, "7"),
            ("should_run", "ask", "'ask'"),
            ("should_run", True, "True"),
            ("uses_context", "no", "'no'"),
            ("additional_docs", ["x"], "['x']"),
        )
    ),
    ({"functions": {"defaults": 1}}, "functions.defaults", "1"),
    *(
        ({"functions": {"defaults": {field: value}}}, f"functions.defaults.{field}", repr(value))
        for field, value in (
            *(("should_run", "x"), ("uses_context", 2), ("additional_docs", 1)),
            ("function", "f"),
        )
    ),
    ({"functions": {"auto-generation": []}}, "functions.auto-generation", "table"),
    (
        {"functions": {"auto-generation": {"modules": ["a"]}}},
        "functions.auto-generation.backend",
        "missing",
    ),
    (
        {"functions": {"auto-generation": {"backend": "p:b", "modules": ["p", 1]}}},
        "functions.auto-generation.modules[1]",
        "1",
    ),
]


@pytest.mark.parametrize(
    ("change", "key", "message"), FAULTS, ids=[f"{key}-{i}" for i, (_, key, _) in enumerate(FAULTS)]
)
def test_a_fault_is_shown_with_its_key_and_a_remedy(
    change: dict[str, Any], key: str, message: str
) -> None:
    """D5, E1: an error that names the line to fix."""
    found = faults({**MINIMAL, **change})
    assert list(found) == [key]
    assert message in found[key].message
    assert found[key].remedy
    assert key in str(found[key])
    assert found[key].remedy in str(found[key])


@pytest.mark.parametrize(
    ("key", "given", "advised"),
    [
        ("primary_types", "fractions.Fraction", "['fractions:Fraction']"),
        ("secondary_types", "~fractions:Fraction.Inner", "['~fractions:Fraction.Inner']"),
        ("requires", "zope.interface", "['zope.interface']"),
    ],
)
def test_the_advice_for_a_text_in_place_of_a_list_is_no_other_fault(
    key: str, given: str, advised: str
) -> None:
    """D3: the type has the colon that a pattern needs."""
    assert faults({**MINIMAL, key: given})[key].remedy == f"Write it as {advised}"


def test_the_name_equals_that_of_the_entry_point() -> None:
    """D3: the two names must be the same."""
    assert parse(MINIMAL, "gpu").name == "gpu"
    found = faults(MINIMAL, "cpu")
    assert list(found) == ["name"]
    assert "'gpu'" in found["name"].message
    assert "'cpu'" in found["name"].message
    assert found["name"].backend == "cpu"


@pytest.mark.parametrize(
    ("fields", "key", "meant"),
    [
        ({**MINIMAL, "secundary_types": []}, "secundary_types", "secondary_types"),
        ({**MINIMAL, "requires_optin": True}, "requires_optin", "requires_opt_in"),
        ({**MINIMAL, "higher_priority": []}, "higher_priority", "higher_priority_than"),
        ({**MINIMAL, "function": {}}, "function", "functions"),
        ({**MINIMAL, "opt_in": True}, "opt_in", "requires_opt_in"),
        (
            with_function(function="p:f", shouldrun="p:s"),
            'functions."lib:blur".shouldrun',
            "should_run",
        ),
        (
            with_function(function="p:f", use_context=True),
            'functions."lib:blur".use_context',
            "uses_context",
        ),
        (
            {**MINIMAL, "functions": {"defaults": {"additional_doc": ""}}},
            "functions.defaults.additional_doc",
            "additional_docs",
        ),
    ],
)
def test_a_misspelled_key_is_a_problem_with_the_nearest(
    fields: dict[str, Any], key: str, meant: str
) -> None:
    """D5: a misspelled key must not be ignored in silence."""
    (problem,) = notices(fields)
    assert (problem.key, problem.backend) == (key, "gpu")
    assert repr(meant) in problem.remedy
    assert (problem.skips, problem.warns) == (False, True)
    assert "is skipped" not in str(problem)


@pytest.mark.parametrize(
    "fields",
    [
        {**MINIMAL, "homepage": "example.org", "x": 1},
        with_function(function="p:f", license="BSD"),
        {**MINIMAL, "functions": {"defaults": {"colour": "red"}}},
        {**MINIMAL, "functions": {"auto-generation": {"backend": "p:b", "since": 1}}},
        {7: "not even a string", **MINIMAL},
    ],
    ids=["description", "function", "defaults", "auto-generation", "no string"],
)
def test_a_key_unlike_any_field_is_ignored(fields: dict[Any, Any]) -> None:
    """D5: it may belong to a later version, or to another tool; there is no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system = load(fields, None)
    assert list(system.backends) == ["default", "gpu"]
    assert system.problems
    assert not any(problem.skips or problem.warns for problem in system.problems)


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({"lib:blend": {"function": "p:f"}}, "lib:blend"),
        ({"lib.blend": {"function": "p:f"}}, "lib.blend"),
        ({"functions": {"lib": {"blend": {"function": "p:f"}}}}, 'functions."lib"'),
        ({"lib:blend": "p:f"}, "lib:blend"),
    ],
    ids=str,
)
def test_the_table_of_a_function_is_shown_its_place(fields: dict[str, Any], key: str) -> None:
    """D5: the backend works without the function, which its author wants to know."""
    (problem,) = notices({**MINIMAL, **fields})
    assert problem.key == key
    assert '[functions."module:qualname"], with quotes' in problem.remedy
    assert (problem.skips, problem.warns) == (False, True)


def test_an_array_of_tables_is_shown_the_table() -> None:
    """D4: TOML has it for two pairs of brackets."""
    (problem,) = faults({**MINIMAL, "functions": {"lib:blur": [{"function": "p:f"}]}}).values()
    assert '[functions."lib:blur"]' in problem.remedy


@pytest.mark.parametrize(
    ("fields", "key", "place"),
    [
        (
            {**MINIMAL, "attributes": {"requires_opt_in": True}},
            'attributes."requires_opt_in"',
            "above the first table",
        ),
        (
            {**MINIMAL, "functions": {"requires_opt_in": True}},
            'functions."requires_opt_in"',
            "above the first table",
        ),
        ({**MINIMAL, "should_run": "p:s"}, "should_run", "in the table of a function, or in ["),
        ({**MINIMAL, "modules": ["p"]}, "modules", "in [functions.auto-generation]"),
        ({**MINIMAL, "defaults": {"should_run": "p:s"}}, "defaults", "below functions"),
    ],
)
def test_a_field_in_the_wrong_table_is_a_fault(
    fields: dict[str, Any], key: str, place: str
) -> None:
    """D5: otherwise the backend would run without that field."""
    problem = {each: found for each, found in faults(fields).items() if found.skips}[key]
    assert place in problem.remedy


# --- through a library ---------------------------------------------------------------


def test_a_library_skips_a_faulty_backend_and_keeps_all_its_problems() -> None:
    """E1: the library works, and `system.problems` has every fault."""
    system = BackendSystem(
        None,
        "TEST_DESCRIPTION",
        ["builtins:int"],
        backends=[
            {"name": "broken", "primary_types": ["x"], "requires_opt_in": 1},
            {"name": "fine", "primary_types": ["builtins:str"]},
        ],
    )
    with pytest.warns(BackendSkippedWarning, match=r"'broken'.*primary_types\[0\].*1 more fault"):
        assert list(system.backends) == ["default", "fine"]
    assert [problem.key for problem in system.problems] == ["primary_types[0]", "requires_opt_in"]
    assert {problem.backend for problem in system.problems} == {"broken"}
    assert "a description in the library's code" in str(system.problems[0])
    with pytest.raises(UnknownBackendError, match=r"cannot be used: .*primary_types"):
        system.backend_opts(prioritize="broken")
