from __future__ import annotations

from typing import Any

import pytest
from recorder import Marker, Record, description
from scipy_functions import FUNCTIONS, TABLES, Function, by_position

from scipy_dispatch.testing import Call
from spatch_core import BackendSystem


def open_to(recorded: list[str], *more_types: str) -> BackendSystem:
    """Return a system with the recorder as its only backend."""
    return BackendSystem(
        None,
        "SCIPY_DISPATCH_TEST",
        default_primary_types=["numpy:ndarray"],
        backends=[description(recorded, *more_types)],
    )


@pytest.fixture(scope="module")
def open_modules() -> dict[str, dict[str, Any]]:
    """Return all modules of the library, with a system whose only backend is the recorder."""
    system = open_to([function.identifier for function in FUNCTIONS])
    namespaces: dict[str, dict[str, Any]] = {
        name: {"__name__": f"scipy_dispatch.{name}"} for name in TABLES
    }
    for name, table in TABLES.items():
        table.expose(system, namespaces[name])
    return namespaces


@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
def test_each_parameter_of_the_table_alone_decides(
    function: Function, open_modules: dict[str, dict[str, Any]]
) -> None:
    """An array of the backend's type in any single parameter reaches the backend, in every form."""
    dispatchable = open_modules[function.module][function.name]
    calls = list(marked_calls(function))
    assert calls
    for marker, (args, kwargs) in calls:
        answer = dispatchable(*args, **kwargs)
        assert isinstance(answer, Record)
        assert answer.function == function.identifier
        assert sum(each is marker for each in answer.dispatch_args) == 1
        assert same_objects(answer.args, args)
        assert list(answer.kwargs) == list(kwargs)
        assert same_objects(answer.kwargs.values(), kwargs.values())


@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
def test_the_default_implementation_takes_numpy_arrays(
    function: Function, open_modules: dict[str, dict[str, Any]]
) -> None:
    """Calls with NumPy arrays only run the default implementation."""
    args, kwargs = function.call
    explanation = open_modules[function.module][function.name].explain(*args, **kwargs)
    assert explanation.selected == "default"


def test_a_backend_can_take_the_objects_of_scipy_signal() -> None:
    """A system object dispatches on its own type, under SciPy's public name."""
    from scipy import signal

    system = open_to(["lib:step"], "~scipy.signal:lti")
    namespace: dict[str, Any] = {"__name__": "lib"}
    TABLES["signal"].expose(system, namespace)
    oscillator = signal.lti([1.0], [1.0, 0.5])
    assert namespace["step"](oscillator).dispatch_args == (oscillator,)
    assert not isinstance(namespace["step"](([1.0], [1.0, 0.5])), Record)


def marked_calls(function: Function) -> Any:
    """Yield the function's call with a marker in place of each dispatch argument, in turn."""
    call = function.call
    signature = function.signature
    if signature is None:
        for position in TABLES[function.module].positions[function.name].values():
            marker = Marker()
            args = list(call.args)
            args[position] = marker
            yield marker, Call(tuple(args), call.kwargs)
        return
    arguments = signature.bind(*call.args, **call.kwargs).arguments
    arguments = {**arguments, **arguments.pop("kwargs", {})}
    for starred in function.parameters:
        name = starred.lstrip("*")
        if name not in signature.parameters:
            continue
        for marker, value in marked_values(arguments.get(name), starred.startswith("*")):
            by_keyword = Call((), {**arguments, name: value})
            yield marker, by_keyword
            yield marker, by_position(by_keyword, signature)


def marked_values(value: Any, is_unpacked: bool) -> Any:
    """Yield a marker and the value that contains it: the marker itself, or a tuple with it."""
    marker = Marker()
    yield marker, marker
    if is_unpacked:
        for position in range(len(value)):
            marker = Marker()
            yield marker, (*value[:position], marker, *value[position + 1 :])


def same_objects(first: Any, second: Any) -> bool:
    return all(one is other for one, other in zip(first, second, strict=True))
