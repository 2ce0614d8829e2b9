"""Methods that decide for others of their instance, and methods that follow."""

from __future__ import annotations

import asyncio
import copy
import pickle
import re
from typing import Any

import pytest

from spatch_core import (
    BackendDeferredError,
    BackendSystem,
    NoImplementationError,
    UnknownBackendError,
)
from spatch_core.testing import isolated
from tests.library import Foreign, Other, Own, answering, describe, pattern

HERE = __name__


Gpu, Tpu = Foreign, Other  # each the type of a backend


def gpu_fit(model: Any, x: Any) -> Any:
    if x is FAILS:
        raise ValueError("it fails")
    model.ran = "gpu"
    return model


def gpu_predict(self: Any, x: Any) -> Any:
    return NotImplemented if x is DEFERS else "gpu"


def faster_fit(context: Any, model: Any, x: Any) -> Any:
    context.call_next(model, x)
    model.ran = "faster"
    return model


async def load(model: Any, x: Any) -> Any:
    return model


def functions(**implementations: Any) -> dict[str, Any]:
    return {
        f"{HERE}:Model.{name}": each if isinstance(each, dict) else {"function": each}
        for name, each in implementations.items()
    }


FAILS, DEFERS = Gpu(), Gpu()
gpu = describe(
    "gpu",
    types="~Foreign",
    functions=functions(
        fit=gpu_fit,
        predict=gpu_predict,
        fit_predict=answering("gpu"),
        load=gpu_fit,
        **{"summary.fget": answering("gpu")},
    ),
)
tpu = describe(
    "tpu",
    types="Other",
    functions=functions(predict=answering("tpu")),
    to_default=lambda x: Own(),
    from_default=lambda x: x,
)
faster = describe(
    "faster",
    types="Own",
    requires_opt_in=True,
    functions=functions(fit={"function": faster_fit, "uses_context": True}, load=load),
)
asked = describe(
    "asked",
    types="Own",
    requires_opt_in=True,
    functions=functions(
        fit=lambda model, x: model,
        predict={"function": answering("asked"), "should_run": answering("it is off")},
    ),
)
system = BackendSystem(
    None,
    "MODELLIB",
    [pattern("Own")],
    [gpu, tpu, faster, asked],
    default_secondary_types=["builtins:list"],
)
backend_opts = system.backend_opts


class Model:
    """An estimator."""

    ran = ""

    @system.dispatchable("x", decides=True)
    def fit(self, x: Any) -> Any:
        if x is None:
            raise ValueError("it fails")
        self.ran = "default"
        return self

    @system.dispatchable("x", follows="fit")
    def predict(self, x: Any) -> Any:
        return "default"

    @system.dispatchable("x", decides="fit")
    def fit_predict(self, x: Any) -> Any:
        return "default"

    @system.dispatchable("x", decides="fit", follows="fit")
    def partial_fit(self, x: Any) -> Any:
        return self

    @system.dispatchable("x", decides="fit")
    def fit_twice(self, x: Any) -> Any:
        self.fit(x)
        if x is FAILS or x is None:
            raise ValueError("it fails")
        return self.predict(x)

    @system.dispatchable("x", decides="fit")
    async def load(self, x: Any) -> Any:
        await asyncio.sleep(0)
        return self

    @property
    @system.dispatchable("self", follows="fit", qualname="Model.summary.fget")
    def summary(self) -> Any:
        return "default"

    @system.dispatchable("x", follows="fit")
    async def read(self, x: Any) -> Any:
        return "default"

    @system.dispatchable("x", decides="fit")
    async def reload(self, x: Any) -> Any:
        await asyncio.sleep(0)
        return self.fit(x)


class Derived(Model):
    """An estimator whose `fit` calls that of its base."""

    @system.dispatchable("x", decides=True)
    def fit(self, x: Any) -> Any:
        return super().fit(x)


def remembered(model: Any) -> Any:
    return model.__dict__.get("_fit_backend")


# ---------------------------------------------------------------------------------------
# What decides


def test_the_instance_remembers_the_backend() -> None:
    """K7: by its name; what follows is run by that backend."""
    model, other = Model(), Model()
    assert model.fit(Gpu()) is model
    assert other.fit(Own()) is other
    assert (remembered(model), remembered(other)) == ("gpu", "default")
    assert model.predict(Gpu()) == "gpu"
    assert other.predict(Own()) == "default"
    assert Model.predict(self=model, x=Gpu()) == "gpu"


def test_without_memory_the_types_decide() -> None:
    """K7: a method that follows dispatches like others before."""
    assert Model().predict(Gpu()) == "gpu"
    assert Model().predict(Own()) == "default"
    assert Model().predict(Tpu()) == "tpu"


def test_a_failure_is_not_remembered() -> None:
    """K7: what was remembered before stays."""
    model = Model()
    with pytest.raises(ValueError, match="it fails"):
        model.fit(FAILS)
    with pytest.raises(ValueError, match="it fails"):
        model.fit(None)
    assert remembered(model) is None
    model.fit(Own())
    with pytest.raises(ValueError, match="it fails"):
        model.fit(FAILS)
    assert remembered(model) == "default"


def test_several_methods_may_decide_for_the_same() -> None:
    """K7: by the name of the method that others follow."""
    model = Model()
    assert model.fit_predict(Gpu()) == "gpu"
    assert model.predict(Gpu()) == "gpu"
    fresh = Model()
    fresh.partial_fit(Own())
    assert remembered(fresh) == "default"
    with pytest.raises(NoImplementationError):
        fresh.predict(Gpu())


def test_what_has_decided_before_does_not_decide_again() -> None:
    """K7: also if an overriding type has answered, after which nothing is remembered."""

    class Overrides:
        @classmethod
        def __refitlib_function__(cls, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return args[0]

    refitted = BackendSystem(
        *(None, "REFITLIB", [pattern("Own")]),
        [describe("gpu", functions={"lib:M.predict": {"function": answering("gpu")}})],
        protocol="__refitlib_function__",
    )

    class M:
        @refitted.dispatchable("x", identifier="lib:M.fit", decides=True)
        def fit(self, x: Any) -> Any:
            return self

        @refitted.dispatchable("x", identifier="lib:M.predict", follows="fit")
        def predict(self, x: Any) -> Any:
            return "default"

    model = M().fit(Overrides())
    assert model.predict(Gpu()) == "gpu"
    model.fit(Own())
    with pytest.raises(NoImplementationError, match="default has run fit"):
        model.predict(Gpu())


def test_the_one_that_answers_is_remembered() -> None:
    """K7: which may have called the others by `call_next`."""
    model = Model()
    with backend_opts(prioritize="faster"):
        model.fit(Own())
    assert (model.ran, remembered(model)) == ("faster", "faster")
    assert model.predict(Own()) == "default"  # it implements no predict


@pytest.mark.parametrize("before", [None, Own, Gpu], ids=["new", "default", "gpu"])
@pytest.mark.parametrize("method", ["fit_twice", "reload", "fit_twice by name", "fit of base"])
def test_a_default_may_call_another_that_decides(before: Any, method: str) -> None:
    """K7: it has not fitted the instance itself, so that the inner one decides."""
    model = Derived() if method == "fit of base" else Model()
    if before is not None:
        model.fit(before())
    x = Gpu()
    if method == "fit of base":
        model.fit(x)
    elif method == "reload":
        assert asyncio.run(model.reload(x)) is model
    else:
        call: Any = Model.fit_twice
        call = call.invoke(backend="default") if "name" in method else call
        assert call(model, x) == "gpu"
    assert remembered(model) == "gpu"
    assert model.predict(x) == "gpu"
    assert model.fit_twice(Own()) == "default"
    assert remembered(model) == "default"


def test_the_default_is_remembered_if_a_backend_has_converted() -> None:
    """K7: the next call is converted as well, or it is an error."""
    model = Model()
    with backend_opts(fallback="convert"):
        model.fit(Tpu())
        assert (model.ran, remembered(model)) == ("default", "default")
        assert model.predict(Own()) == "default"
    with pytest.raises(NoImplementationError, match="default has run fit"):
        model.predict(Tpu())


def test_invoke_decides_and_follows_no_memory() -> None:
    """K7: the backend that it names runs."""
    model = Model()
    Model.fit.invoke(backend="gpu")(model, Own())
    assert remembered(model) == "gpu"
    assert Model.predict.invoke(backend="default")(model, Gpu()) == "default"
    Model.fit.invoke(type=Gpu)(model, [1])
    assert remembered(model) == "gpu"


def test_options_are_those_of_the_fit() -> None:
    """K7: what was prioritized, enabled or disabled there need not be here."""
    model = Model()
    with backend_opts(prioritize="asked"):
        model.fit(Own())
    with pytest.raises(BackendDeferredError, match=r"'asked' did not run .*predict: it is off"):
        model.predict(Own())
    model.fit(Gpu())
    with backend_opts(disable="gpu"):
        assert model.predict(Gpu()) == "gpu"
    with backend_opts(prioritize="default"):
        assert model.predict(Gpu()) == "gpu"
    with pytest.raises(BackendDeferredError, match="NotImplemented"):
        model.predict(DEFERS)


def wrap(context: Any, model: Any, *args: Any) -> Any:
    return ("wrapped", context.call_next(model, *args))


def test_what_follows_may_call_the_next() -> None:
    """K7, C5: what would run without memory, and never the backend itself again."""
    entry = {"function": wrap, "uses_context": True}
    functions = {f"lib:Wrapped.{name}": entry for name in ("fit", "predict")}
    backend = describe("wraps", types="Own", functions=functions)
    own = BackendSystem(None, "WRAPLIB", [pattern("Own")], [backend])

    class Wrapped:
        @own.dispatchable("x", decides=True, identifier="lib:Wrapped.fit")
        def fit(self, x: Any) -> Any:
            return "default"

        @own.dispatchable("x", follows="fit", identifier="lib:Wrapped.predict")
        def predict(self, x: Any) -> Any:
            return "default"

    model = Wrapped()
    with own.backend_opts(prioritize="wraps"):
        assert model.predict(Own()) == model.fit(Own()) == ("wrapped", "default")
    assert remembered(model) == "wraps"
    assert model.predict(Own()) == model.predict(Own()) == ("wrapped", "default")


# ---------------------------------------------------------------------------------------
# Other types


@pytest.mark.parametrize(
    ("fitted", "types", "why"),
    [
        (Gpu(), Own(), f"gpu has run fit.* {pattern('Own')}"),
        (Gpu(), Tpu(), f"gpu has run fit.* {pattern('Other')}"),
        (Gpu(), [1], "gpu has run fit"),
        (Own(), Gpu(), f"default has run fit.* {pattern('Foreign')}"),
    ],
    ids=["library", "other backend", "list", "default"],
)
def test_other_types_are_an_error(fitted: Any, types: Any, why: str) -> None:
    """K7: which says what has run, and to fit again."""
    model = Model().fit(fitted)
    for policy in ("default", "warn", "raise"):
        with backend_opts(fallback=policy), pytest.raises(TypeError) as caught:
            model.predict(types)
        assert isinstance(caught.value, NoImplementationError)
        assert re.search(why, str(caught.value))
        assert "call fit again" in str(caught.value)
        explained = Model.predict.explain(model, types).backends
        others = [each for each in explained if each.backend != "default"]
        assert [*caught.value.backends] == others
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    model.fit(types)
    model.predict(types)


def test_the_type_of_the_instance_is_no_other_type() -> None:
    """K7, V4: a method that has the instance alone among its dispatch arguments."""
    model, other = Model().fit(Gpu()), Model().fit(Own())
    for _ in range(2):
        assert (model.summary, other.summary, Model().summary) == ("gpu", "default", "default")
    summary: Any = Model.__dict__["summary"].fget
    assert summary.explain(model).selected == "gpu"
    assert summary.explain(other).selected == "default"


def test_types_with_which_the_default_has_run() -> None:
    """K7: it goes on with these, though another backend implements what follows."""
    model = Model().fit(Tpu())
    assert (model.ran, remembered(model)) == ("default", f"default {pattern('Other')}")
    assert model.predict(Tpu()) == model.predict(Own()) == "default"
    assert Model.predict.explain(model, Tpu()).selected == "default"
    with pytest.raises(NoImplementationError, match=r"do not include .*:Foreign"):
        model.predict(Gpu())


def test_a_backend_that_is_not_there_any_more() -> None:
    """K7: an error with its name."""
    model = Model().fit(Gpu())
    with isolated(system, environment={"MODELLIB_BLOCK": "gpu"}):
        with pytest.raises(UnknownBackendError, match="MODELLIB_BLOCK"):
            model.predict(Gpu())
        assert model.fit(Own()).predict(Own()) == "default"


# ---------------------------------------------------------------------------------------
# Instances


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_copies_remember(copied: Any) -> None:
    """K8: it is an attribute of the instance, and a plain string."""
    model = Model().fit(Gpu())
    twin = copied(model)
    assert twin.predict(Gpu()) == "gpu"
    twin.fit(Own())
    assert (remembered(twin), remembered(model)) == ("default", "gpu")


def test_slots_and_attributes_that_cannot_be_set() -> None:
    """K8: the error names the attribute."""

    class Slotted:
        __slots__ = ("ran",)

    with pytest.raises(TypeError, match=r"Slotted cannot remember .* '_fit_backend', .* __slots__"):
        Model.fit(Slotted(), Gpu())  # type: ignore[arg-type]  # what is tested

    class Kept:
        __slots__ = ("_fit_backend", "ran")

    kept: Any = Kept()
    Model.fit(kept, Gpu())
    assert Model.predict(kept, Gpu()) == "gpu"


# ---------------------------------------------------------------------------------------
# Explanations, hooks, tasks and threads


def test_explanations_say_what_is_remembered() -> None:
    """K7, V4: and what is refused."""
    model = Model().fit(Gpu())
    found = Model.predict.explain(model, Gpu())
    assert found.selected == "gpu"
    assert "gpu has run fit" in str(found)
    refused = Model.predict.explain(model, Own())
    assert refused.selected is None
    assert f"it does not know {pattern('Own')}" in str(refused)
    assert Model.predict.explain(Model(), Own()).selected == "default"
    assert Model.predict.explain(Model().fit(Own()), Own()).selected == "default"
    with backend_opts(prioritize="asked"):
        asked_model = Model().fit(Own())
    assert Model.predict.explain(asked_model, Own()).selected is None


def test_hooks_and_traces() -> None:
    """K7, H2: they see what ran."""
    seen = []

    def hook(call: Any) -> Any:
        result = call.next(*call.args, **call.kwargs)
        seen.append((call.function.rpartition(".")[2], call.backend))
        return result

    with backend_opts(hook=hook):
        model = Model().fit(Gpu())
        model.predict(Gpu())
    assert seen == [("fit", "gpu"), ("predict", "gpu")]
    with backend_opts(trace=True) as trace:
        model.fit(Gpu()).predict(Gpu())
        model.fit(Own()).predict(Own())
    assert [each.backend for each in trace] == ["gpu", "gpu", "default", "default"]
    assert [each.reason for each in trace] == ["", "gpu has run fit", "", ""]


def test_coroutine_functions() -> None:
    """K7: once they have returned."""

    async def work(x: Any, name: str) -> None:
        model = Model()
        waiting = model.load(x)
        assert remembered(model) is None
        await waiting
        assert remembered(model) == name
        assert await model.read(x) == "default"  # no backend implements it

    async def main() -> None:
        await asyncio.gather(*(work(Own(), "default") for _ in range(10)))
        model = Model()
        with pytest.raises(TypeError, match="await"):
            await model.load(Gpu())  # the backend returns no awaitable
        assert remembered(model) is None

    asyncio.run(main())


# ---------------------------------------------------------------------------------------
# Misuse


def test_generator_functions_do_not_decide_and_follow() -> None:
    """K7: nothing tells when they have ended."""
    for options in ({"decides": True}, {"follows": "fit"}):
        some: Any = options

        def steps(self: Any, x: Any) -> Any:
            yield

        with pytest.raises(TypeError, match="generator function"):
            system.dispatchable("x", identifier="lib:A.f", **some)(steps)


@pytest.mark.parametrize("options", [{"decides": True}, {"follows": "fit"}], ids=str)
def test_functions_do_not_decide_and_follow(options: Any) -> None:
    """K7: they have no instance; the name of one would be set on the user's data."""

    def fit(x: Any) -> Any: ...

    with pytest.raises(TypeError, match=r"^lib:fit has no class in its name, so it is no method"):
        system.dispatchable("x", identifier="lib:fit", **options)(fit)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"follows": True}, "takes the name of a method"),
        ({"decides": "not a name"}, "takes the name of a method"),
        ({"decides": True, "follows": "fit"}, "follows 'fit' and decides for 'other'"),
    ],
    ids=["follows no name", "decides for no name", "follows another"],
)
def test_names_that_are_no_methods(options: Any, match: str) -> None:
    """K7: and a method that follows another one than it decides for."""

    def other(self: Any, x: Any) -> Any: ...

    with pytest.raises(ValueError, match=match):
        system.dispatchable("x", identifier="lib:f", **options)(other)
