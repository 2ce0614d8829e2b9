"""PyTorch's functions, methods and properties reach the backends of a library."""

from __future__ import annotations

import importlib.util
import operator
import pickle
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.protocols import torch_functions
from spatch_core.testing import run_python

HERE = "tests.protocols.test_torch_function"

torch: Any = pytest.importorskip("torch")


def system_of_ducks(functions: Any, **options: Any) -> Any:
    """Make a class that a system serves, with one backend, which also converts."""
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
            "to_default": lambda duck: duck.value.clone(),
            "from_default": Duck,
            "copy_into": lambda duck, tensor: duck.value.copy_(tensor),
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
    """T5, T3: with PyTorch's method alone."""
    system = BackendSystem(None, "ONE")
    made = torch_functions(system)
    assert torch_functions(system) is made
    assert "__torch_function__" in vars(made)


def test_mistakes_are_named(duck_class: Any) -> None:
    """T5, T2: functions that PyTorch does not have."""
    for identity in ("torch:men", "torch:Tensor", "numpy:mean"):
        with pytest.raises(KeyError):
            duck_class.system.lookup(identity, (duck_class,))
    with pytest.raises(TypeError, match="has no identity"):
        duck_class.__torch_function__(lambda: None, (duck_class,))


@pytest.mark.parametrize("first", [torch.Tensor, torch.nn.Parameter], ids=repr)
def test_the_class_goes_before_pytorchs_own(first: type) -> None:
    """T5: else the method of the tensor would answer, and no backend be asked."""
    served = torch_functions(BackendSystem(None, "LATE"))
    with pytest.raises(TypeError, match=r"Late has the __torch_function__ of torch.* write torch_"):
        type("Late", (first, served), {})
    type("Early", (served, first), {})


def test_a_lookup_imports_pytorch() -> None:
    """T5: that of an identity in it, which a library may ask for before anything is passed."""
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
    """T5: they reach the backends; others are the tensor's own, and the subclass stays."""
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


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x * 2,
        lambda x: 2**x,
        lambda x: x.__iadd__(1),
        lambda x: torch.ones(2) * x,
        lambda x: x[0],
        lambda x: operator.setitem(x, 0, 3.0),
        lambda x: [*x],
        lambda x: (x.real, x.unsqueeze(0).T, x.unsqueeze(0).mT),
        lambda x: x.grad,
        lambda x: setattr(x, "data", torch.zeros(2)),
        lambda x: x.shape,
        lambda x: x.split(1),
        lambda x: x.numpy().tolist(),
        lambda x: torch.cat([x, torch.ones(1)]),
        lambda x: torch.nn.functional.pad(x, (1, 1)),
        torch.nn.Parameter,
        lambda x: torch.autograd.grad((x.requires_grad_() * 2).sum(), x),
        lambda x: pickle.loads(pickle.dumps(x)),
        lambda x: (repr(x), len(x), bool(x.sum() > 0), 1.0 in x),
    ],
)
def test_a_subclass_without_backends_is_as_any_other(call: Any) -> None:
    """T5: methods, properties, operators and indices give what they give without the protocol."""

    def kinds(value: Any) -> Any:
        return list(map(kinds, value)) if type(value) in (list, tuple) else type(value).__name__

    found = []
    for bases in ((torch_functions(BackendSystem(None, "SUBS")),), ()):
        cls: Any = type("Sub", (*bases, torch.Tensor), {"__module__": HERE})
        globals()["Sub"] = cls  # for pickles
        tensor = torch.ones(2).as_subclass(cls)
        found.append((kinds(call(tensor)), tensor.tolist()))
    del globals()["Sub"]
    assert found[0] == found[1]


def test_tensors_meet_duck_arrays_in_operators(duck_class: Any) -> None:
    """T5: those of the tensor, forward, reflected and in place; in indices and as values."""
    duck, tensor = duck_class([1.0]), torch.ones(2)
    for function, name in (
        (operator.add, "add"),
        (operator.sub, "sub"),
        (operator.matmul, "matmul"),
        (operator.pow, "__pow__"),
        (operator.gt, "gt"),
        (operator.iadd, "add_"),
        (operator.getitem, "__getitem__"),
    ):
        assert function(torch.ones(2), duck) == f"torch:Tensor.{name}"
    with duck_class.system.backend_opts(trace=True) as trace:
        tensor[duck] = 1.0
        tensor[0] = duck
        torch.nn.Linear(2, 2)(duck)
    assert [each.function for each in trace] == [
        *(["torch:Tensor.__setitem__"] * 2),
        "torch.nn.functional:linear",
    ]


def test_modes_and_disabling_are_pytorchs(duck_class: Any) -> None:
    """T5: a mode comes first and may go on; where the protocol is disabled, nothing is asked."""
    seen: list[Any] = []

    class Mode(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append((func, types))
            return func(*args, **(kwargs or {}))

    duck = duck_class([1.0])
    with Mode():
        assert torch.mean(duck) == "torch:mean"
    assert seen == [(torch.mean, (duck_class,))]
    with torch._C.DisableTorchFunctionSubclass(), pytest.raises(TypeError, match="must be Tensor"):
        torch.mean(duck)


def test_backends_that_decline_or_fail(duck_class: Any) -> None:
    """T5, T2: the next backend, then other classes; exceptions are the caller's."""

    def fail(x: Any) -> Any:
        raise ZeroDivisionError("own")

    cls = system_of_ducks({"torch:mean": fail, "*": lambda *_, **__: NotImplemented})
    with pytest.raises(ZeroDivisionError, match="own") as caught:
        torch.mean(cls([1.0]))
    assert caught.value.__context__ is None
    assert torch.cat([cls([1.0]), Other()]) == "other"
    cls.system.register(
        {
            "name": "second",
            "primary_types": [f"~{HERE}:Duck"],
            "functions": {"torch:sum": {"function": lambda x: "second"}},
        }
    )
    assert torch.sum(cls([1.0])) == "second"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (torch.relu_, [0.0, 2.0]),
        (lambda x: torch.relu_(input=x), [0.0, 2.0]),
        (lambda x: torch.nn.functional.relu(x, inplace=True), [0.0, 2.0]),
        (lambda x: torch.nn.init.constant_(x, 3.0), [3.0, 3.0]),
        (lambda x: torch.add(x, 1.0, out=x), [0.0, 3.0]),
    ],
)
def test_what_is_written_into_is_copied_back(call: Any, expected: Any) -> None:
    """T5, V8: as the name of the function, ``inplace=`` and ``out=`` say."""
    duck_class = system_of_ducks({}, fallback="convert")
    duck = duck_class([-1.0, 2.0])
    assert call(duck) is duck
    assert duck.value.tolist() == expected


def test_it_needs_no_numpy() -> None:
    """T5, T3: also for a library that serves both, where NumPy is not installed."""
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


pytest.importorskip("torch")

COUNTING = """
import torch

operations = []

def counting(module, inputs):
    operations.extend(each.target.__name__ for each in module.graph.nodes
                      if each.op == "call_function")
    return module.forward
"""


def test_code_that_calls_a_dispatchable_is_compiled() -> None:
    """With all operations of the default implementation, also in the first call of a library."""
    code = """
        from spatch_core import BackendSystem

        class Mine:
            pass

        theirs = {
            "name": "theirs",
            "primary_types": ["__main__:Mine"],
            "functions": {"lib:scaled": {"function": "operator:add"}},
        }
        x = torch.arange(3.0)
        for backends in [], [theirs]:
            system = BackendSystem(None, "LIB", ["torch:Tensor"], backends)

            @system.dispatchable("x", module="lib")
            def scaled(x, y=1):
                return x * 2 + y

            def use(x):
                return scaled(x + 1) - 1

            compiled = torch.compile(use, backend=counting)
            for _ in range(2):
                operations.clear()
                torch._dynamo.reset()
                assert compiled(x).tolist() == [2, 4, 6]
                assert sorted(operations) == ["add", "add", "mul", "sub"], operations
        print("compiled")
    """
    assert run_python(COUNTING + _dedented(code)).stdout.split() == ["compiled"]


@pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("tensorly", "tensorly_dispatch"))),
    reason="it needs TensorLy, and the example backend for it",
)
def test_code_that_calls_tensorly_is_compiled() -> None:
    """Through the dispatching of `tensorly_dispatch`."""
    code = """
        import tensorly
        import tensorly_dispatch

        tensorly.set_backend("pytorch")

        def use(x):
            return tensorly.sum(tensorly.dot(x + 1, x)) - 1

        x = torch.arange(3.0)
        found = torch.compile(use, backend=counting)(x)
        assert found == use(x) == 7, found
        assert {"add", "sub"} <= {*operations}, operations
        print("compiled")
    """
    assert run_python(COUNTING + _dedented(code)).stdout.split() == ["compiled"]


def _dedented(code: str) -> str:
    return "\n".join(line.removeprefix("        ") for line in code.splitlines())
