"""`torch.compile` of code that calls the functions of a library."""

from __future__ import annotations

import importlib.util

import pytest

from spatch_core.testing import run_python

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
