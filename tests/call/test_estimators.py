"""Whether the backend that an instance remembers fits the types of a call."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem, NoImplementationError, UnknownBackendError
from spatch_core._call.estimators import explain_followed, memory_of, why_not
from spatch_core._state.state import DispatchState

HERE = __name__


class Own:
    """The library's type."""


class Gpu:
    """The type of a backend."""


def describe(name: str, *methods: str) -> dict[str, Any]:
    functions = {f"lib:Model.{each}": {"function": lambda self, x: name} for each in methods}
    return {"name": name, "primary_types": [f"{HERE}:Gpu"], "functions": functions}


backends = [describe("gpu", "fit", "predict"), describe("fits", "fit")]
system = BackendSystem(None, "FOLLOWLIB", [f"{HERE}:Own"], backends)


class Model:
    @system.dispatchable("x", decides=True, module="lib", qualname="Model.fit")
    def fit(self, x: Any) -> Any:
        return self

    @system.dispatchable("x", follows="fit", module="lib", qualname="Model.predict")
    def predict(self, x: Any) -> Any:
        return "default"


@pytest.fixture
def parts() -> tuple[Any, Any]:
    """Return the resolver of the library, and the function that follows."""
    record: Any = Model.predict.explain.__self__  # type: ignore[attr-defined]
    return record.dispatcher.ensure_loaded().resolver, record.function


@pytest.mark.parametrize(
    ("kept", "types", "expected"),
    [
        ("gpu", (Gpu,), ""),
        ("gpu", (), ""),
        ("gpu", (Own,), f"it does not know {HERE}:Own"),
        ("gpu", (int,), "no active backend that implements it knows any of the types"),
        ("fits", (Own,), None),
        ("default", (Own,), ""),
        ("default", (int,), ""),
        ("default", (Gpu,), f"the library's own types do not include {HERE}:Gpu"),
        (f"default {HERE}:Gpu", (Gpu,), ""),
    ],
    ids=["its", "none", "other", "Python's", "lacks it", "own", "plain", "foreign", "known"],
)
@pytest.mark.parametrize("disabled", [(), ("gpu",)], ids=["enabled", "disabled"])
def test_the_types_are_those_of_the_backend(
    parts: Any, kept: str, types: Any, expected: str | None, disabled: Any
) -> None:
    """K13: whatever is disabled; None where it does not implement what follows."""
    if disabled and kept.startswith("default"):
        return  # then nothing else takes the type
    state = DispatchState(disabled=frozenset(disabled))
    resolver, function = parts
    assert why_not(resolver, function, state, types, kept) == expected


def test_a_backend_that_is_not_there(parts: Any) -> None:
    """K14, S5: the error names those that are."""
    resolver, function = parts
    with pytest.raises(UnknownBackendError, match="gpu"):
        why_not(resolver, function, DispatchState(), (Gpu,), "gpus")


def test_explanations_are_those_of_the_call(parts: Any) -> None:
    """K12, V8: asked about in the state with the backend first."""
    states = []

    def explain(state: DispatchState) -> Any:
        states.append(state)
        return system.explain_types("lib:Model.predict", [Gpu])

    model: Any = Model()
    model.fit(Gpu())
    assert model._fit_backend == "gpu"
    call: Any = (model, Gpu()), {}
    state = DispatchState(prioritized=("fits",), disabled=frozenset({"gpu"}))
    resolver, function = parts
    found = explain_followed(resolver, function, state, (Gpu,), call, explain)
    assert (states[0].prioritized, states[0].disabled) == (("gpu", "fits"), frozenset())
    assert found.selected == "gpu"
    assert memory_of(function).method == "fit"
    refused = explain_followed(resolver, function, state, (Own,), call, explain)
    assert refused.selected is None
    assert {str(each.verdict) for each in refused.backends} == {
        *("does not match", "would refuse", "comes later"),
    }


@pytest.mark.parametrize("policy", ["default", "raise", "convert"])
@pytest.mark.parametrize("native", [False, True], ids=["converts", "implements too"])
def test_explanations_know_the_conversions_of_what_follows(policy: str, native: bool) -> None:
    """K12, V8: the default has run `fit` with what a backend has converted."""
    methods = {"lib:Fitted.predict": {"function": lambda self, x: "gpu"}} if native else {}
    conversions: dict[str, Any] = {
        "to_default": lambda x: Own(),
        "from_default": lambda x: Gpu(),
        "functions": methods,
    }
    described = {"name": "gpu", "primary_types": [f"{HERE}:Gpu"], **conversions}
    system = BackendSystem(None, "FITLIB", [f"{HERE}:Own"], [described], fallback="convert")

    class Fitted:
        @system.dispatchable("x", decides=True, identifier="lib:Fitted.fit")
        def fit(self, x: Any) -> Any:
            return self

        @system.dispatchable("x", follows="fit", identifier="lib:Fitted.predict")
        def predict(self, x: Any) -> Any:
            return type(x).__name__

    predict: Any = Fitted.predict
    for fitted_with, given in [(Own(), Own()), (Gpu(), Gpu()), (Own(), Gpu()), (Gpu(), Own())]:
        model = Fitted().fit(fitted_with)
        with system.backend_opts(fallback=policy, trace=True) as trace:
            try:
                predict(model, given)
            except NoImplementationError:
                ran = None
            else:
                called = [each.backend for each in trace if str(each.outcome) == "called"]
                ran = (
                    "gpu" if any(str(each.outcome) == "converted" for each in trace) else called[0]
                )
            assert predict.explain(model, given).selected == ran
