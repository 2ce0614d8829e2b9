"""PyTorch's functions, methods and properties reach the backends of a library."""

from __future__ import annotations

import asyncio
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.exceptions import NoImplementationError
from spatch_core.protocols import numpy_functions, torch_functions
from spatch_core.testing import run_python

HERE = "tests.protocols.test_torch_function"

torch: Any = pytest.importorskip("torch")


def system_of_ducks(functions: Any, **options: Any) -> Any:
    """Make a class that a system serves, with one backend."""
    system = BackendSystem(None, "DUCKS", ["torch:Tensor"], **options)

    class Duck(torch_functions(system)):  # type: ignore[misc]
        """Holds a tensor."""

        def __init__(self, value: Any) -> None:
            self.value = torch.as_tensor(value)

    Duck.__module__, Duck.__qualname__, Duck.system = HERE, "Duck", system
    system.register(
        {
            "name": "ducks",
            "primary_types": [f"~{HERE}:Duck"],
            "secondary_types": ["torch:Tensor"],
            "functions": {name: {"function": each} for name, each in functions.items()},
        }
    )
    return Duck


class Other:
    """Another class with the protocol."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return "other"


def named(context: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the function's identity."""
    return context.function


@pytest.fixture
def duck_class() -> Any:
    """A class, for which one backend tells the names of the functions."""
    return system_of_ducks({"*": named})


def test_one_class_for_each_system() -> None:
    """T12, T4: with PyTorch's method alone."""
    system = BackendSystem(None, "ONE")
    made = torch_functions(system)
    assert torch_functions(system) is made
    assert "__torch_function__" in vars(made)


def test_identities_are_modules_and_names(duck_class: Any) -> None:
    """T12: functions by the modules that have them."""
    duck = duck_class([1.0, 2.0])
    assert torch.mean(duck) == "torch:mean"
    assert torch.nn.functional.relu(duck) == "torch.nn.functional:relu"
    assert torch.linalg.norm(duck) == "torch.linalg:norm"
    assert torch.fft.fft(duck) == "torch.fft:fft"
    assert torch.cat([duck, torch.ones(1)]) == "torch:cat"
    assert torch.add(1, duck, out=torch.ones(1)) == "torch:add"
    records = duck_class.system._dispatcher.records
    assert len(records) == 6


def test_every_function_can_be_looked_up(duck_class: Any) -> None:
    """T12: about two thousand; by identity, and by what PyTorch passes."""
    overrides = torch.overrides
    lookup, adoption = duck_class.system.lookup, duck_class.system._dispatcher.adoptions[0]
    count = 0
    for functions in overrides.get_overridable_functions().values():
        for function in functions:
            record = adoption.find(function)
            assert record is not None, function
            assert lookup(record.identifier, (duck_class,))() == record.identifier
            count += 1
    assert count > 1000


def test_mistakes_are_named(duck_class: Any) -> None:
    """T12, T2: functions that PyTorch does not have."""
    for identity in ("torch:men", "torch:Tensor", "numpy:mean"):
        with pytest.raises(KeyError):
            duck_class.system.lookup(identity, (duck_class,))
    with pytest.raises(TypeError, match="has no identity"):
        duck_class.__torch_function__(lambda: None, (duck_class,))


def test_a_lookup_imports_pytorch() -> None:
    """T12: that of an identity in it, which a library may ask for before anything is passed."""
    done = run_python(
        """
        import sys
        from spatch_core import BackendSystem
        from spatch_core.protocols import torch_functions

        system = BackendSystem(None, "DUCKS")
        torch_functions(system)
        print("torch" in sys.modules, system.lookup("torch:mean", (int,)), "torch" in sys.modules)
        """
    )
    assert done.stdout.split() == ["False", "None", "True"]


def test_methods_and_properties_of_subclasses_of_tensors() -> None:
    """T12: they reach the backends; others are the tensor's own, and the subclass stays."""
    system = BackendSystem(None, "SUBS")

    class Sub(torch_functions(system), torch.Tensor):  # type: ignore[misc]
        pass

    Sub.__module__, Sub.__qualname__ = HERE, "Sub"
    functions = {
        "torch:Tensor.sum": lambda x: "sum",
        "torch:Tensor.shape.__get__": lambda x: "shape",
        "torch:Tensor.add": lambda x, y: "add",
        "torch:Tensor.__getitem__": lambda x, index: ("item", index),
        "torch:Tensor.mul": lambda x, y: NotImplemented,
    }
    system.register(
        {
            "name": "subs",
            "primary_types": [f"{HERE}:Sub"],
            "functions": {name: {"function": each} for name, each in functions.items()},
        }
    )
    sub = torch.ones(2).as_subclass(Sub)
    assert (sub.sum(), sub.shape, sub + 1, 1 + sub, sub[0]) == (
        *("sum", "shape", "add", "add"),
        ("item", 0),
    )
    for result in (sub * 2, sub.exp(), torch.exp(sub), sub - torch.ones(2)):
        assert type(result) is Sub
    assert sub.ndim == 1


def test_a_library_may_serve_both_protocols() -> None:
    """T12, T4: of NumPy's rules, none holds for the functions that PyTorch passes."""
    system = BackendSystem(None, "BOTH", ["torch:Tensor", "numpy:ndarray"])
    numpy_functions(system)

    class Sub(torch_functions(system), torch.Tensor):  # type: ignore[misc]
        pass

    class Duck(torch_functions(system)):  # type: ignore[misc]
        pass

    sub = torch.ones(2).as_subclass(Sub)
    for function in (torch.nn.functional.relu, torch.functional.norm, torch.sum, repr):
        assert type(function(sub)) is (str if function is repr else Sub)
    assert torch.nn.functional.bilinear(Duck(), Other(), sub) == "other"
    with pytest.raises(NoImplementationError, match=r"^torch\.nn\.functional:relu cannot"):
        torch.nn.functional.relu(Duck())


def test_it_needs_no_numpy() -> None:
    """T12, T4: also for a library that serves both, where NumPy is not installed."""
    run_python(
        """
        import sys
        sys.modules["numpy"] = None
        import torch
        from spatch_core import BackendSystem
        from spatch_core.protocols import numpy_functions, torch_functions

        system = BackendSystem(None, "BOTH")
        numpy_functions(system)
        class Duck(torch_functions(system)):
            pass
        functions = {"torch:mean": {"function": lambda x: "mean"}}
        system.register(
            {"name": "ducks", "primary_types": ["__main__:Duck"], "functions": functions}
        )
        assert torch.mean(Duck()) == "mean"
        """
    )


def test_unrelated_types_do_not_mix(duck_class: Any) -> None:
    """T12, T7: a class with the protocol that no backend knows."""
    duck = duck_class([1.0])
    assert torch.cat([duck, Other()]) == "other"
    assert torch.cat([Other(), duck]) == "other"
    assert torch.add(duck, torch.ones(1)) == "torch:add"


def test_a_missing_function_raises_with_the_reasons() -> None:
    """T12, T8: a `TypeError` that can be pickled."""
    duck_class = system_of_ducks({"torch:mean": lambda x: NotImplemented})
    with pytest.raises(NoImplementationError, match="returned NotImplemented") as caught:
        torch.mean(duck_class([1.0]))
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), TypeError)
    with pytest.raises(NoImplementationError, match="torch:median cannot be called"):
        torch.median(duck_class([1.0]))


def test_arguments_are_converted_by_policy() -> None:
    """T12, T8: the function of PyTorch runs with tensors."""
    duck_class = system_of_ducks({}, fallback="convert")
    duck_class.system.unregister("ducks")
    duck_class.system.register(
        {
            "name": "ducks",
            "primary_types": [f"{HERE}:Duck"],
            "to_default": lambda duck: duck.value,
            "from_default": duck_class,
        }
    )
    result = torch.cat([duck_class([1.0]), duck_class([2.0])])
    assert type(result) is duck_class
    assert result.value.tolist() == [1.0, 2.0]


def test_options_hold_in_threads_and_tasks(duck_class: Any) -> None:
    """T12, T10: those in force where PyTorch is called."""
    options, duck = duck_class.system.backend_opts, duck_class([1.0])
    with options(disable="ducks"):
        with pytest.raises(NoImplementationError, match="disabled"):
            torch.mean(duck)
        with ThreadPoolExecutor(4) as pool:
            assert [*pool.map(torch.mean, [duck] * 8)] == ["torch:mean"] * 8

    async def task(is_disabled: bool) -> Any:
        with options(disable="ducks" if is_disabled else ()):
            await asyncio.sleep(0)
            try:
                return torch.mean(duck)
            except NoImplementationError:
                return None

    async def main() -> Any:
        return await asyncio.gather(task(False), task(True), task(False))

    assert asyncio.run(main()) == ["torch:mean", None, "torch:mean"]
    seen = []

    def hook(call: Any) -> Any:
        seen.append((call.function, call.types))
        return NotImplemented

    with options(hook=hook):
        assert torch.mean(duck) == "torch:mean"
    assert seen == [("torch:mean", (duck_class,))]
