"""Whether the backend that an instance remembers fits the types of a call."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem, NoImplementationError

HERE = __name__


class Own:
    """The library's type."""


class Gpu:
    """The type of a backend."""


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
