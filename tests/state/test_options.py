"""``backend_opts`` as a block, globally and as a query: rules S and H."""

from __future__ import annotations

import copy
import pickle
import pydoc
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from spatch_core import BackendSystem, IdentifierError, UnknownBackendError, UnknownTypeError
from tests.state.small_library import Converted, Foreign, Library, Own, Unknown

HERE = Library.__module__


@pytest.fixture
def library() -> Library:
    return Library()


# ---------------------------------------------------------------------------------------
# Blocks and nesting


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "first"),
        ({"prioritize": "second"}, "second"),
        ({"prioritize": ["third", "second"]}, "third"),
        ({"prioritize": ("second", "third")}, "second"),
        pytest.param({"prioritize": iter(["second"])}, "second", id="iterator"),
        ({"disable": "first"}, "second"),
        pytest.param({"disable": {"first", "second"}}, "default", id="set"),
        ({"prioritize": "third", "disable": "third"}, "first"),
        ({"prioritize": "default"}, "first"),
    ],
    ids=repr,
)
def test_block_holds_inside_and_ends(library: Library, options: Any, expected: str) -> None:
    """S3: a context manager, which restores the state from before."""
    with library.options(**options):
        assert library.ran() == expected
    assert library.ran() == "first"


def test_a_type_may_be_given_by_its_identifier(library: Library) -> None:
    """S4: it is imported, and is the same as the class."""
    name = f"{HERE}:Foreign"
    with library.options(type=name):
        assert library.options().type is Foreign
        assert library.f(Own()) == "first"
    assert library.options(type=name).freeze(library.f)(Own()) == "first"
    assert library.f.invoke(type=name)(Own()) == "first"


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        (f"{HERE}.Foreign", IdentifierError, "of the form 'module:qualname'"),
        ("no_such_module:Type", ModuleNotFoundError, "no_such_module"),
        (f"{HERE}:Foregin", ImportError, "did you mean 'Foreign'?"),
        (f"{HERE}:first", TypeError, "type= takes a class"),
        ("fractions:Fraction", UnknownTypeError, "is not a primary type of any backend"),
    ],
)
def test_an_identifier_that_leads_to_no_type(
    library: Library, name: str, error: type[Exception], text: str
) -> None:
    """S4: the error comes from the import, or names the object that is not a class."""
    with pytest.raises(error) as caught:
        library.options(type=name)
    assert text in str(caught.value)


# ---------------------------------------------------------------------------------------
# type=


def test_type_counts_as_if_it_had_been_passed(library: Library) -> None:
    """M1, S4: also without dispatch arguments, and together with other types."""
    with library.options(type=Foreign):
        assert library.f() == library.f(None) == library.f(3) == "first"
        assert library.f(Converted()) == "first"
    assert library.f(Converted()) == "default"


@pytest.mark.parametrize("cls", [Converted, Unknown, int, object])
def test_type_that_is_primary_for_no_backend(library: Library, cls: type) -> None:
    """S4: it raises `ValueError`; the error says which types there are."""
    with pytest.raises(ValueError, match="not a primary type of any backend") as caught:
        library.options(type=cls)
    assert isinstance(caught.value, UnknownTypeError)
    assert caught.value.type is cls
    assert caught.value.known == (f"{HERE}:Own", f"{HERE}:Foreign")


# ---------------------------------------------------------------------------------------
# Names


@pytest.mark.parametrize("option", ["prioritize", "disable"])
@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("secnd", "did you mean 'second'"),
        ("zzz", "installed: .*first.*second.*third"),
        ("", "installed"),
        (["first", "thrid"], "did you mean 'third'"),
        ("FIRST", "did you mean 'first'"),
    ],
    ids=["near miss", "no such name", "empty", "in a list", "case"],
)
def test_unknown_name_raises(library: Library, option: str, name: Any, match: str) -> None:
    """S4: an unknown backend name raises `ValueError` with the nearest names."""
    with pytest.raises(ValueError, match=match) as caught:
        library.options(**{option: name})
    assert isinstance(caught.value, UnknownBackendError)
    assert library.ran() == "first"


@pytest.mark.parametrize("value", [3, b"first", [["first"]], ["first", 3]], ids=repr)
def test_names_must_be_names(library: Library, value: Any) -> None:
    """S4: a value that is not a name is refused at once; the error says what to write."""
    for option in ("prioritize", "disable"):
        with pytest.raises(TypeError, match=rf"{option}= takes the name of a backend, or several"):
            library.options(**{option: value})


# ---------------------------------------------------------------------------------------
# Queries


def test_query_says_what_is_in_force(library: Library) -> None:
    """S1: `backends` (active names by priority), `prioritized`, `type`, `trace`."""
    query = library.options()
    assert query.backends == ("default", "first", "second")
    assert query.prioritized == ()
    assert query.disabled == ()
    assert query.type is None
    assert query.trace is None
    with library.options(prioritize="third", disable="first", type=Foreign, trace=True) as trace:
        query = library.options()
        assert query.backends == ("third", "default", "second")
        assert query.prioritized == ("third",)
        assert query.disabled == ("first",)
        assert query.type is Foreign
        assert query.trace is trace


def test_query_before_inside_and_after_its_own_block(library: Library) -> None:
    """S1: before the block, the state that would be in force in it; inside, the state in force."""
    options = library.options(prioritize="third")
    found = [(options.prioritized, options.backends)]
    with library.options(prioritize="second"):
        found.append((options.prioritized, options.backends))
        with options:
            found.append((options.prioritized, options.backends))
            assert found[-1] == (library.options().prioritized, library.options().backends)
        found.append((options.prioritized, options.backends))
    found.append((options.prioritized, options.backends))
    alone = ("third",), ("third", "default", "first", "second")
    inside = ("third", "second"), ("third", "second", "default", "first")
    assert found == [alone, inside, inside, inside, alone]


# ---------------------------------------------------------------------------------------
# Help


def test_options_show_where_they_are_published(library: Library) -> None:
    """Each library has its own class, which help() and pickle find in its module."""
    assert library.options.__name__ == "backend_opts"
    assert library.options.__module__ == HERE
    text = pydoc.plain(pydoc.render_doc(library.options))
    for line in (
        "Choose and trace backends: in a block, in a function, or in the whole process.",
        "prioritize : str or iterable of str, optional",
        'with backend_opts(prioritize="gpu"):',
        "backend_opts().backends",
        "variables MYLIB_PRIORITIZE, MYLIB_BLOCK,",
        "MYLIB_SET_ORDER and MYLIB_BACKEND",
    ):
        assert line in text
    # In the notes, and not in the code of an example, whatever Python does with docstrings.
    assert " |  Before a program starts, the environment variables MYLIB_" in text


# ---------------------------------------------------------------------------------------
# trace


def traced(trace: Any) -> list[str]:
    return [event.backend for event in trace]


def test_block_with_a_trace_gives_the_trace(library: Library) -> None:
    """S6: a list of the events of its block, which prints a line for each, and stays readable."""
    options = library.options(prioritize="third", trace=True)
    with options as trace:
        assert trace == []
        with options as again:
            library.ran()
        library.f(Own())
    library.ran()
    assert trace is again is options.trace
    assert isinstance(trace, list)
    assert str(trace) == "lib:f -> third called\nlib:f -> default called"
    assert traced(trace[1:]) == ["default"]
    with options:
        library.ran()
    assert len(trace) == 3
    with library.options(trace=False) as other, other as nested:
        assert nested is other


def test_inner_trace_pauses_the_outer_one(library: Library) -> None:
    """S6: every call is recorded once, by the innermost trace."""
    with library.options(trace=True) as outer:
        library.ran()
        with library.options(trace=True, prioritize="third") as inner:
            library.ran()
        library.f(Own())
    assert traced(outer) == ["first", "default"]
    assert traced(inner) == ["third"]


# ---------------------------------------------------------------------------------------
# One object in several places at once


def test_leaving_where_it_was_not_entered(library: Library) -> None:
    """S3: a block is left in the context in which it was entered, or the mistake is named."""
    options = library.options(prioritize="third")
    with pytest.raises(RuntimeError, match="not entered in this context"):
        options.__exit__(None, None, None)
    options.__enter__()
    with ThreadPoolExecutor(1) as pool:
        error = pool.submit(options.__exit__, None, None, None).exception()
    assert isinstance(error, RuntimeError)
    assert library.ran() == "third"
    options.__exit__(None, None, None)
    assert library.ran() == "first"
    with pytest.raises(RuntimeError, match="not entered in this context"):
        options.__exit__(None, None, None)


def test_options_travel(library: Library) -> None:
    """Options can be pickled, also while they are in force; each process has its own trace."""
    options = library.options(["third"], disable="first", type=Foreign, trace=True)
    with options:
        library.ran()
        again = pickle.loads(pickle.dumps(options))
    assert (again.prioritized, again.disabled, again.type) == (("third",), ("first",), Foreign)
    assert again.trace == []
    with again:
        assert library.f(None) == "third"
    assert (len(again.trace), len(options.trace or ())) == (1, 1)
    assert pickle.loads(pickle.dumps(library.options())).trace is None


@pytest.mark.parametrize("names", ["default", ["first", "default"]], ids=repr)
def test_the_library_itself_can_be_disabled(library: Library, names: Any) -> None:
    """S4: then it is not among the active backends."""
    options = library.options(disable=names)
    assert "default" in options.disabled
    assert "default" not in options.backends
    assert "default" in library.options().backends
    with library.options(prioritize="default", disable="default") as inner:
        assert inner.prioritized == ()


def test_an_unknown_option_names_the_nearest(library: Library) -> None:
    """S1: a misspelt option has no effect, so it is an error."""
    options: Any = library.options
    with pytest.raises(TypeError, match=r"no option 'prioritise'; did you mean 'prioritize'\?"):
        options(prioritise="first")
    with pytest.raises(TypeError, match=r"no option 'Fallback'; did you mean 'fallback'\?"):
        options("first", backend="first", Fallback="warn")
    with pytest.raises(TypeError, match=r"its options are prioritize, disable, type, trace, fall"):
        options(zzz=1)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("prioritize", "backend_opts(prioritize='first')"),
        ("prioritized", "backend_opts(prioritize='first')"),
        ("disable", "backend_opts(disable='first')"),
        ("backend", "backend_opts(backend='first')"),
        ("hooks", "backend_opts(hook='first')"),
    ],
)
def test_options_are_not_set_as_attributes(library: Library, name: str, written: str) -> None:
    """S1: neither of an object nor of the class; the error says what to write."""
    for options in (library.options(), library.options):
        with pytest.raises(AttributeError) as caught:
            setattr(options, name, "first")
        assert f"`with {written}:`, or `{written}.enable_globally()`" in str(caught.value)
    assert library.options().prioritized == ()


def test_the_class_is_not_a_block(library: Library) -> None:
    """S1: the call was forgotten."""
    options: Any = library.options
    with pytest.raises(TypeError, match=r"write `with backend_opts\(prioritize=...\):`"), options:
        pass
    with pytest.raises(TypeError, match=r"write `with backend_opts\(prioritize=...\):`"):
        ExitStack().enter_context(options)


def test_a_decorator_and_a_global_block_need_options(library: Library) -> None:
    """S3: without parentheses, the error says what to write."""
    options: Any = library.options
    with pytest.raises(TypeError, match=r"write `@backend_opts\(prioritize=\.\.\.\)`"):
        options(library.f)
    with pytest.raises(TypeError, match=r"write `backend_opts\(prioritize=\.\.\.\)\.enable_gl"):
        options.enable_globally()


def test_options_that_are_not_in_force_say_so(library: Library) -> None:
    """S1: a program that makes options and forgets the block sees it."""
    options = library.options(prioritize="third")
    hint = "not in force; use `with`, or `.enable_globally()`"

    def shown() -> list[bool]:
        return [hint in text for text in (repr(options), options._repr_html_())]

    assert shown() == [True, True]
    assert "prioritized=('third',)" in repr(options)
    with options:
        assert shown() == [False, False]
        with library.options(prioritize="second"):
            assert shown() == [False, False]
    assert shown() == [True, True]
    options.enable_globally()
    assert shown() == [False, False]
    library.options.reset_globally()
    assert shown() == [True, True]


def test_what_another_thread_has_entered_is_not_in_force_here(library: Library) -> None:
    """S3: one object of options may be entered in several threads."""
    options = library.options(prioritize="third")
    with options, ThreadPoolExecutor(1) as pool:
        assert "not in force" in pool.submit(repr, options).result()
        assert "not in force" not in repr(options)


@pytest.mark.parametrize("given", [None, 0, [], "first"], ids=repr)
def test_trace_is_true_or_false(library: Library, given: Any) -> None:
    """S1: a list for the events, for example, would stay empty."""
    with pytest.raises(TypeError, match=r"trace= takes True or False, not .*as trace:"):
        library.options(trace=given)


def test_options_do_not_decorate_a_class(library: Library) -> None:
    """S5: a function would take its place."""
    with pytest.raises(TypeError, match=r"class Foreign.*decorate its methods"):
        library.options(prioritize="third")(Foreign)


system = BackendSystem(None, "HOOKSTATE")


def plain(call: Any) -> Any:
    return call.next(*call.args)


def query() -> Any:
    return system.backend_opts().hooks


def test_options_without_a_hook() -> None:
    """H1: None means no hook."""
    assert system.backend_opts(hook=None).hooks == ()
    assert system.backend_opts(hook=plain).hooks == (plain,)
    assert f"hooks=({plain!r},)" in repr(system.backend_opts(hook=plain))
    with system.backend_opts(hook=plain) as options:
        assert options.hooks == (plain,)


def test_options_with_a_hook_are_not_pickled() -> None:
    """H4: rather than without the hook."""
    options = system.backend_opts(hook=plain)
    for act in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match=rf"cannot be pickled or copied, .*{__name__}:plain"):
            act(options)


def test_frozen_functions_travel_without_hooks() -> None:
    """H4, S5: as they do without a trace."""
    frozen = system.backend_opts(hook=plain)(query)
    assert frozen() == (plain,)
    assert pickle.loads(pickle.dumps(frozen))() == ()
