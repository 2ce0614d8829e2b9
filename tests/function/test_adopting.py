"""Functions that the library does not own: they get identities, and are looked up by types."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.exceptions import IdentifierError, NoImplementationError, UnknownFunctionError

from .conftest import HERE, Foreign, Own, describe, make_system, record


def foreign_function(*args: Any, **kwargs: Any) -> Any:
    """Stand for a function of another library."""
    raise AssertionError("the function itself never runs")


def adopting(*backends: Any, **options: Any) -> BackendSystem:
    """Make a system that has adopted a function."""
    system = BackendSystem(None, "MYLIB", [f"{HERE}:Own"], backends or [describe()], **options)
    system.adopt(foreign_function, "lib:f")
    return system


def declines(*args: Any, **kwargs: Any) -> Any:
    """Defer."""
    return NotImplemented


def says(name: str) -> Any:
    """Return a function that returns a name."""
    return lambda *args, **kwargs: name


def backend(name: str, function: Any, **fields: Any) -> Any:
    """Describe a backend for `Foreign` with one function."""
    types = [f"{HERE}:Foreign"]
    return {"name": name, "primary_types": types, "functions": {"lib:f": function}, **fields}


def test_the_implementation_is_found_for_types() -> None:
    """T2: the implementation itself, where nothing is asked; the same from the table."""
    system = adopting()
    assert system.lookup("lib:f", (Foreign,)) is record
    assert system.lookup("lib:f", (Foreign,)) is record
    assert system.lookup("lib:f", (int, Foreign, Foreign)) is record
    assert system.lookup("lib:f", (type(None), Foreign)) is record


def test_the_state_in_force_decides() -> None:
    """T2: as in a call of the library's functions."""
    system = adopting(
        backend("one", {"function": says("one")}), backend("two", {"function": says("two")})
    )
    given: tuple[type, ...] = (Foreign,)

    def found() -> Any:
        target = system.lookup("lib:f", given)
        return target and target()

    assert found() == "one"
    with system.backend_opts(prioritize="two"):
        assert found() == "two"
    with system.backend_opts(disable=["one", "two"]):
        assert found() is None
    assert found() == "one"
    with system.backend_opts(type=Foreign):
        given = ()
        assert found() == "one"
    assert found() is None


def test_several_candidates_are_tried_in_turn() -> None:
    """T2: what is found goes on after NotImplemented, and says why at the end."""
    system = adopting(
        backend("one", {"function": declines}), backend("two", {"function": says("two")})
    )
    found = system.lookup("lib:f", (Foreign,))
    assert found is not None
    assert found(1) == "two"
    system = adopting(
        backend("one", {"function": declines}), backend("two", {"function": declines})
    )
    found = system.lookup("lib:f", (Foreign,))
    assert found is not None
    with pytest.raises(NoImplementationError, match="lib:f cannot be called") as caught:
        found()
    assert [each.backend for each in caught.value.backends] == ["one", "two"]
    assert "returned NotImplemented" in str(caught.value)
    assert "fallback='default'" not in str(caught.value)


def test_a_backend_is_asked() -> None:
    """T2: by its should_run, in every call."""
    asked = []

    def should_run(context: Any, x: Any) -> Any:
        asked.append((x, context.types, context.function, context.dispatch_args))
        return x > 0 or "too small"

    system = adopting(backend("one", {"function": says("one"), "should_run": should_run}))
    found = system.lookup("lib:f", (Foreign, int))
    assert found is not None
    assert found(1) == "one"
    with pytest.raises(NoImplementationError, match="too small"):
        found(0)
    assert asked == [(x, (Foreign, int), "lib:f", ()) for x in (1, 0)]


def test_a_context_goes_on_with_the_types_that_were_given() -> None:
    """T2: they are never extracted from the arguments."""

    def first(context: Any, x: Any) -> Any:
        return context.call_next(x + 1), context.types

    def second(context: Any, x: Any) -> Any:
        return x, context.types, context.function, context.dispatch_args

    system = adopting(
        backend("one", {"function": first, "uses_context": True}),
        backend("two", {"function": second, "uses_context": True}),
    )
    found = system.lookup("lib:f", (Foreign,))
    assert found is not None
    assert found(1) == ((2, (Foreign,), "lib:f", ()), (Foreign,))


def test_hooks_see_the_calls() -> None:
    """T2: with the types that were given; also of calls that no backend takes."""
    system = adopting()
    seen = []

    def hook(call: Any) -> Any:
        seen.append((call.function, call.callable, call.types, call.args))
        return call.next(*call.args, 2)

    with system.backend_opts(hook=hook):
        found = system.lookup("lib:f", (Foreign,))
        assert found is not None
        assert found(1) == ("first", (1, 2), {})
        found = system.lookup("lib:f", (Own,))
        assert found is not None
        with pytest.raises(NoImplementationError):
            found(3)
    assert seen == [
        ("lib:f", foreign_function, (Foreign,), (1,)),
        ("lib:f", foreign_function, (Own,), (3,)),
    ]
    assert system.lookup("lib:f", (Foreign,)) is record


def test_calls_are_traced_and_explained() -> None:
    """T2: as those of the library's functions."""
    system = adopting()
    with system.backend_opts(trace=True) as trace:
        found = system.lookup("lib:f", (Foreign,))
        assert found is not None
        found()
    assert [(each.function, each.backend, each.types) for each in trace] == [
        ("lib:f", "first", (Foreign,))
    ]
    explained = system.explain_types("lib:f", [Foreign])
    assert explained.selected == "first"
    explained = system.explain_types("lib:f", [Own])
    assert explained.selected is None
    assert "the library does not own the function" in str(explained)


def test_another_librarys_function_is_never_disabled() -> None:
    """T2: ``disable="default"`` means the library's own implementations."""
    system = adopting()
    with system.backend_opts(disable="default"):
        text = str(system.explain_types("lib:f", [Foreign]))
        assert system.lookup("lib:f", (Foreign,)) is record
    assert text.splitlines()[1:] == ["> first    runs", "  default  comes later"]


def test_mistakes_of_looking_up_are_named() -> None:
    """T2: an identity that was not adopted, and types that are none."""
    system = adopting()
    with pytest.raises(UnknownFunctionError, match="'lib:f'"):
        system.lookup("lib:ff", (Foreign,))
    with pytest.raises(KeyError):
        system.lookup("other", ())
    wrong: Any
    for wrong in (Foreign, (Foreign(),), [3], None):
        with pytest.raises(TypeError, match="classes of the call in a tuple"):
            system.lookup("lib:f", wrong)
    with pytest.raises(TypeError):
        system.lookup("lib:f")  # type: ignore[call-arg]
    assert system.lookup("lib:f", [Foreign]) is record  # type: ignore[arg-type]


def test_nothing_is_done_to_the_function() -> None:
    """T1: it is the same function, and no dispatchable of the library."""
    before = dict(vars(foreign_function)), foreign_function.__code__
    system = adopting()
    assert (dict(vars(foreign_function)), foreign_function.__code__) == before
    assert dict(system.functions) == {}


def test_a_function_has_one_identity_and_an_identity_one_function() -> None:
    """T1: adopting it again as the same changes nothing."""
    system = adopting()
    system.adopt(foreign_function, "lib:f")
    with pytest.raises(ValueError, match="is known as 'lib:f' already"):
        system.adopt(foreign_function, "lib:g")
    with pytest.raises(ValueError, match="'lib:f' is the identity of another function"):
        system.adopt(len, "lib:f")

    @system.dispatchable("x", identifier="lib:own")
    def own(x: Any) -> Any:
        return x

    with pytest.raises(ValueError, match="'lib:own' is the identity of another function"):
        system.adopt(len, "lib:own")


def test_mistakes_of_adopting_are_named() -> None:
    """T1: an identity that is none, and what is no function."""
    system = make_system()
    with pytest.raises(IdentifierError, match="module:qualname"):
        system.adopt(len, "mean")
    with pytest.raises(TypeError, match="takes a function, not 3"):
        system.adopt(3, "lib:f")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unhashable"):
        system.adopt(type("F", (), {"__call__": len, "__hash__": None})(), "lib:f")
