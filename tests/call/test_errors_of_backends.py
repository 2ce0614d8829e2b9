"""Errors of backends: what the user learns from them."""

from __future__ import annotations

import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

import pytest

from spatch_core import IF_NEEDED, BackendSystem, ImplementationImportError, SpatchCoreWarning
from spatch_core.types import Verdict

HERE = __name__


class Foreign:
    """The backend's type."""


def fails(*args: Any) -> Any:
    raise LookupError("no such table")


def narrow(x: Any) -> str:
    return "narrow"


def accepts(context: Any, *args: Any, **kwargs: Any) -> bool:
    return True


def library(function: Any = None, **entry: Any) -> Any:
    """Return a library's function that a backend implements for `Foreign`."""
    entry = {"function": function, **entry}
    fields = {"name": "gpu", "primary_types": [f"{HERE}:Foreign"], "functions": {"lib:f": entry}}
    system = BackendSystem(None, "ERRORS", ["builtins:int"], [fields])

    @system.dispatchable("x", module="lib", qualname="f")
    def f(x: Any, y: int = 0) -> Any:
        if y < 0:
            raise LookupError("of the library")
        return "default"

    return system, f


def narrow_too(context: Any, x: Any) -> bool:
    return True


WAYS = {
    "plain": {},
    "asks": {"should_run": f"{HERE}:accepts"},
    "takes a context": {"uses_context": True},
    "asks what fails": {"should_run": f"{HERE}:fails"},
}
OPTIONS: dict[str, Any] = {
    "without options": {},
    "traced": {"trace": True},
    "hooked": {"hook": lambda call: call.next(*call.args, **call.kwargs)},
}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have notes from Python 3.11 on")
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_an_exception_names_the_backend_that_raised_it(way: Any, options: Any) -> None:
    """C7: with the function, and how to leave the backend out; its own traceback stays."""
    system, f = library(fails, **way)
    for _ in range(2):
        with system.backend_opts(**options), pytest.raises(LookupError, match="table") as caught:
            f(Foreign())
        notes: Any = getattr(caught.value, "__notes__", ())
        (note,) = notes
        assert all(each in note for each in ("'gpu'", "lib:f", "disable='gpu'"))
        assert traceback.extract_tb(caught.tb)[-1].name == "fails"
    with pytest.raises(LookupError, match="of the library") as caught:
        f(1, y=-1)
    assert not hasattr(caught.value, "__notes__")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have notes from Python 3.11 on")
def test_an_exception_of_the_next_one_is_not_blamed_on_the_backend() -> None:
    """C7: the note says which backend ran, not that the exception is its own."""
    _, f = library(lambda context, x, y: context.call_next(x, y), uses_context=True)
    with pytest.raises(LookupError, match="of the library") as caught:
        f(Foreign(), -1)
    notes: Any = getattr(caught.value, "__notes__", ())
    assert notes[-1].startswith("Raised while the backend 'gpu' ran lib:f; ")


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize(
    "way",
    [WAYS["plain"], WAYS["asks"], {"should_run": f"{HERE}:narrow_too"}],
    ids=["plain", "asks", "asks with its own signature"],
)
def test_arguments_that_do_not_fit_give_the_librarys_own_error(way: Any, options: Any) -> None:
    """C7: whatever the signature of the implementation."""
    system, f = library(narrow, **way)
    with system.backend_opts(**options):
        assert f(Foreign()) == "narrow"
        with pytest.raises(TypeError, match=r"\bf\(\) got an unexpected .* argument 'z'"):
            f(Foreign(), z=1)
        with pytest.raises(TypeError, match=r"narrow\w*\(\)"):
            f(Foreign(), 1)  # it fits the library's signature: the backend's own mistake


def test_the_cause_of_a_failed_import_begins_in_the_backend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E3: without the frames of the import system."""
    (tmp_path / "broken_gpu.py").write_text("import no_such_module\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    _, f = library("broken_gpu:f")
    with pytest.raises(ImplementationImportError) as caught:
        f(Foreign())
    cause = caught.value.__cause__
    assert isinstance(cause, ModuleNotFoundError)
    assert Path(traceback.extract_tb(cause.__traceback__)[0].filename).name == "broken_gpu.py"


@pytest.mark.parametrize(
    "entry",
    [
        {"function": "no_such_module:f"},
        {"function": "no_such_module:f", "should_run": lambda context, x: IF_NEEDED},
        {"function": narrow, "should_run": "no_such_module:asks"},
        {"function": narrow, "should_run": f"{HERE}:fails"},
    ],
    ids=["implementation", "implementation if needed", "should_run", "should_run raises"],
)
def test_explain_says_that_a_call_would_raise(entry: dict[str, Any]) -> None:
    """F7: it never raises what the call would."""
    _, f = library(**entry)
    explanation = f.explain(Foreign())
    line = explanation.backends[0]
    assert line.verdict is Verdict.RAISES
    assert "no_such_module" in line.reason or "no such table" in line.reason
    assert explanation.selected is None
    with pytest.raises((ImportError, LookupError)):
        f(Foreign())


@pytest.mark.parametrize("answer", [1, "", [], NotImplemented], ids=repr)
def test_an_odd_answer_defers_and_warns_once(answer: Any) -> None:
    """C3: only True runs the backend; a string, even an empty one, is a reason."""
    _, f = library(narrow, should_run=lambda context, *args: answer)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert [f(Foreign()) for _ in range(3)] == ["default"] * 3
    assert len(caught) == (0 if answer == "" else 1)
    for each in caught:
        assert each.category is SpatchCoreWarning
        assert "'gpu'" in str(each.message)
        assert each.filename == __file__
