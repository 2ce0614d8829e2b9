"""The generated function: its source, its code, and its lines in tracebacks and debuggers."""

from __future__ import annotations

import dis
import inspect
import linecache
import sys
import textwrap
import traceback
import types
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core._dispatch_arguments import missing
from spatch_core._function import wrapper
from spatch_core._function.dispatchable import Dispatchable
from spatch_core.testing import run_python
from tests.python_path import python_only

SNAPSHOT = """\
def f(*args, **keywords):
    match args:
        case (a0, a1):
            try:
                call = tables()[2][type(a0)][type(a1)]
            except Exception:
                call = None
            # Outside the handler, so that an error of `fill` has no KeyError as its context.
            if call is None:
                call = dispatcher.fill(2, (a0, a1))
            try:
                if keywords:
                    result = call(*args, **keywords)
                else:
                    result = call(a0, a1)
            except Exception as error:
                deferred = dispatcher.failed(2, call, args, keywords, error)
                if deferred is None:
                    raise
                call, result = deferred, NotImplemented
            if result is NotImplemented:
                return dispatcher.deferred(2, call, args, keywords)
            return result
        case (a0, a1, *_):
            pass
        case (a0, *_):
            a1 = keywords.get('y', missing) if keywords else missing
        case _:
            a0 = keywords.get('x', missing) if keywords else missing
            a1 = keywords.get('y', missing) if keywords else missing
    try:
        call = tables()[2][type(a0)][type(a1)]
    except Exception:
        call = None
    # Outside the handler, so that an error of `fill` has no KeyError as its context.
    if call is None:
        call = dispatcher.fill(2, (a0, a1))
    try:
        result = call(*args, **keywords)
    except Exception as error:
        deferred = dispatcher.failed(2, call, args, keywords, error)
        if deferred is None:
            raise
        call, result = deferred, NotImplemented
    if result is NotImplemented:
        return dispatcher.deferred(2, call, args, keywords)
    return result
"""

SNAPSHOT_OF_A_FINDER = """\
def f(*args, **keywords):
    values = dispatcher.extract(2, args, keywords)
    try:
        call = tables()[2][tuple(map(type, values))]
    except Exception:
        call = None
    # Outside the handler, so that an error of `fill` has no KeyError as its context.
    if call is None:
        call = dispatcher.fill(2, values)
    try:
        if isinstance(call, TakesFound):
            result = call.call_found(values, *args, **keywords)
        else:
            result = call(*args, **keywords)
    except Exception as error:
        deferred = dispatcher.failed(2, call, args, keywords, error, values)
        if deferred is None:
            raise
        call, result = deferred, NotImplemented
    if result is NotImplemented:
        return dispatcher.deferred(2, call, args, keywords, values)
    return result
"""


def make(dispatch_args: Any, default: Any = None, qualname: str = "f") -> Any:
    """Make the second function of a library; returns its record and the function.

    Its wrapper looks at exceptions also before Python 3.11.
    """
    system = BackendSystem(None, "MYLIB", defer_on=[ZeroDivisionError])
    system.dispatchable([])(lambda: None)

    def f(x: Any, y: Any = None, n: Any = None, *, key: Any = None, **options: Any) -> Any:
        return x, y

    decorate = system.dispatchable(dispatch_args, module="lib", qualname=qualname)
    function: Any = decorate(default or f)
    record = system._dispatcher.records[-1]
    assert isinstance(record, Dispatchable)
    assert record.wrapper is function
    return record, function


def test_source_for_two_arguments() -> None:
    """A branch for the usual call, which gives both by position and no others, and another."""
    record, _ = make(("x", "y"))
    assert record.generated.source() == SNAPSHOT
    assert textwrap.indent(SNAPSHOT, "    ") in (wrapper.__doc__ or "")


@pytest.mark.parametrize("dispatch_args", [None, lambda *args, **kwargs: args])
def test_source_for_a_finder(dispatch_args: Any) -> None:
    """One key of the table for all dispatch arguments."""
    assert make(dispatch_args)[0].generated.source() == SNAPSHOT_OF_A_FINDER


def test_source_for_arguments_that_stand_apart() -> None:
    """Parameters that are no dispatch arguments are only passed on."""
    source = make(("n", "key"))[0].generated.source()
    assert source.count("case (a0, a1, a2):\n") == source.count("case (_, _, a2, *_):\n") == 1
    assert source.count("tables()[2][type(a2)][type(d1)]") == 2
    assert source.count("a2 = keywords.get('n', missing) if keywords else missing\n") == 1
    assert "a0 = " not in source
    assert "a1 = " not in source
    assert source.count("d1 = keywords.get('key', missing) if keywords else missing\n") == 3


def test_source_for_a_positional_only_argument() -> None:
    """A keyword of the same name belongs to ``**options``."""

    def f(x: Any, /, **options: Any) -> Any:
        return x, options

    record, function = make("x", f)
    assert "keywords.get" not in record.generated.source()
    assert function(1, x=2) == (1, {"x": 2})


SHAPES: list[Any] = [
    None,
    [],
    "x",
    "key",
    ("x", "y"),
    ("y", "x", "key"),
    ("n", "x"),
    {"x": 0, "y": 7},
    {"key": None},
    pytest.param(lambda *args, **kwargs: args, id="callable"),
]


@pytest.mark.parametrize("dispatch_args", SHAPES, ids=repr)
def test_source_is_what_runs(dispatch_args: Any) -> None:
    """The instructions of each line are those of the line that tracebacks show."""
    record, function = make(dispatch_args)
    scope: dict[str, Any] = {"missing": missing}
    exec(compile(record.generated.source(), record.filename, "exec"), scope)  # noqa: S102  # our own text
    expected, code = scope["f"].__code__, function.__code__

    def lines(code: types.CodeType) -> dict[int | None, list[str]]:
        """Return the names that each line uses; in the wrapper many are free variables."""
        found: dict[int | None, list[str]] = {}
        line = None
        for each in dis.get_instructions(code):
            line = each.starts_line if type(each.starts_line) is int else _line(each) or line
            found.setdefault(line, []).append(_name(each))
        named = {line: [name for name in names if name] for line, names in found.items()}
        return {line: names for line, names in named.items() if names}

    assert lines(code) == lines(expected)


def _line(instruction: dis.Instruction) -> Any:
    return getattr(instruction, "line_number", None)


def _name(instruction: dis.Instruction) -> str:
    """Return the name that an instruction uses; empty if it uses none, or a constant."""
    value, kind = str(instruction.argval), instruction.opname
    if kind.startswith(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF")):
        # The index, and the names of arguments, are constants in the source.
        return "" if value == "index" or value.startswith("name") else value
    is_local = kind.startswith(("LOAD_FAST", "STORE_FAST", "LOAD_ATTR", "LOAD_METH"))
    return value if is_local else ""


@pytest.mark.parametrize(
    "name",
    [
        *(
            "d0",
            "call",
            "result",
            "tables",
            "dispatch argument 0",
            "'",
            'a"b',
            "\\",
            "missing",
            "été",
        ),
        *("\0index\0", "name0"),
    ],
    ids=ascii,
)
def test_argument_names_cannot_break_the_source(name: str) -> None:
    """Names are constants, never code."""
    record, _ = make({name: None})
    compile(record.generated.source(), "source", "exec")
    assert repr(name) in record.generated.source()
    _, function = make({name: None}, lambda **options: options)
    assert function(**{name: 1}) == {name: 1}


def test_functions_of_one_shape_share_their_compiled_code() -> None:
    """Only constants and names differ: a library with hundreds of functions compiles few."""
    _, first = make(("x", "y"))
    _, second = make(("n", "y"), lambda n, y, other: None, qualname="Class.second")
    assert first.__code__.co_code == second.__code__.co_code
    assert first.__code__.co_linetable == second.__code__.co_linetable
    assert first.__code__.co_filename != second.__code__.co_filename
    assert (first(1, 2), second(1, 2, 3)) == ((1, 2), None)


def test_code_has_the_name_of_the_function() -> None:
    """Profilers and tracebacks show the name of the function."""
    _, function = make("x", qualname="Class.method")
    assert function.__name__ == function.__code__.co_name == "method"
    assert function.__qualname__ == "Class.method"
    if sys.version_info >= (3, 11):
        assert function.__code__.co_qualname == "Class.method"
    assert function.__code__.co_filename == "<dispatch of lib:Class.method>"


def test_arguments_of_one_position_are_told_apart_by_name() -> None:
    """A library may rename a parameter and accept the old name too."""
    system = BackendSystem(
        None,
        "MYLIB",
        backends=[
            {
                "name": "first",
                "primary_types": [f"{__name__}:Foreign"],
                "functions": {"lib:f": {"function": f"{__name__}:implement"}},
            }
        ],
    )
    function: Any = system.dispatchable({"x": 0, "old_x": 0}, module="lib", qualname="f")(
        lambda *args, **kwargs: "default"
    )
    for args, kwargs in (((Foreign(),), {}), ((), {"x": Foreign()}), ((), {"old_x": Foreign()})):
        assert function(*args, **kwargs) == "first"
    assert function(1) == function(x=1, old_x=2) == "default"
    assert function(x=1, old_x=Foreign()) == "first"


class Foreign:
    """A backend's type."""


def implement(*args: Any, **kwargs: Any) -> Any:
    return "first"


def defer(*args: Any, **kwargs: Any) -> Any:
    return NotImplemented


@pytest.mark.parametrize("functions", ["defer", "implement"])
def test_a_finder_runs_once_in_a_call(functions: str) -> None:
    """Also where the first implementation returns ``NotImplemented``."""
    found: list[Any] = []

    def find(x: Any, y: Any = None) -> Any:
        found.append(x)
        return [x, None, y]

    description = {
        "name": "first",
        "primary_types": [f"{__name__}:Foreign"],
        "functions": {"lib:f": {"function": f"{__name__}:{functions}"}},
    }
    system = BackendSystem(None, "MYLIB", backends=[description])
    function: Any = system.dispatchable(find, module="lib", qualname="f")(lambda x: "default")
    expected = "default" if functions == "defer" else "first"
    for number in range(1, 4):
        assert function(Foreign()) == expected
        assert len(found) == number


def test_placeholder_differs_from_every_argument() -> None:
    """`missing` is not None, and its repr is its name."""
    assert repr(missing) == "missing"
    _, function = make("x", lambda x=5: x)
    assert function() == 5
    assert function(None) is None
    assert inspect.signature(function).parameters["x"].default == 5


def test_traceback_shows_the_generated_source() -> None:
    """Once backends are loaded, a traceback has the source line of the wrapper."""

    def f(x: Any) -> Any:
        raise LookupError(x)

    _, function = make("x", f)
    with pytest.raises(LookupError) as caught:
        python_only(function)(1)
    frames = traceback.extract_tb(caught.tb)
    assert [frame.name for frame in frames[1:]] == ["f", "f"]
    assert frames[1].filename == "<dispatch of lib:f>"
    assert frames[1].line == "result = call(a0)"
    text = "".join(traceback.format_exception(caught.value))
    assert 'File "<dispatch of lib:f>", line ' in text
    assert "result = call(a0)" in text


def test_debuggers_find_the_generated_source() -> None:
    """`inspect` and pdb read it from `linecache`, also after `checkcache`."""
    record, function = make("x")
    function(1)
    linecache.checkcache()
    lines = linecache.getlines(record.filename)
    assert "".join(lines) == record.generated.source()


def test_wrapper_reads_no_globals() -> None:
    """Its globals are those of the library, whose names may mean anything."""
    hostile = {"__name__": "lib", "type": None, "NotImplemented": None, "Exception": None}
    hostile |= {"missing": None, "tables": None, "dispatcher": None, "tuple": None, "map": None}
    exec("def f(x=1, y=2, *, key=3):\n    return x, y, key", hostile)  # noqa: S102  # how else
    for dispatch_args in (None, ("x", "y"), "key"):
        _, function = make(dispatch_args, hostile["f"])
        assert function.__globals__ is hostile
        names = {
            each.argval
            for each in dis.get_instructions(function.__code__)
            if each.opname.startswith(("LOAD_GLOBAL", "LOAD_NAME"))
        }
        assert not names
        assert function(5, key=6) == (5, 2, 6)


def test_wrong_calls_leave_no_trace_of_the_wrapper() -> None:
    """A wrong call reports the function's own parameters."""
    _, function = make("x")
    with pytest.raises(TypeError, match=r"f\(\) .*missing 1 required positional argument: 'x'"):
        function()
    with pytest.raises(TypeError, match="takes from 1 to 3 positional arguments but 4 were given"):
        function(1, 2, 3, 4)


def test_compiling_a_shape_warns_of_nothing() -> None:
    """With warnings as errors, and without a change to the filters."""
    done = run_python(
        """
        import warnings
        warnings.simplefilter("error")
        before = list(warnings.filters)
        from spatch_core import BackendSystem
        system = BackendSystem(None, "MYLIB")
        for names in ([], ["x"], ["y", "key"], None):
            name = f"f{len(system.functions)}"
            system.dispatchable(names, module="lib", qualname=name)(lambda x=1, y=2, *, key=3: x)()
        print(warnings.filters == before)
        """,
        options=["-W", "error"],
    )
    assert done.stdout.split() == ["True"]
