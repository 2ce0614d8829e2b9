"""A device whose operators a compiler of graphs runs."""

import os
import shutil
import subprocess
import sys

import pytest

CODE = '''
import numpy as np, torch
from torch import nn
from torch_device import BackendEnvironment, register_compiler

aten = torch.ops.aten
TEXTS = {  # all that the compiler knows, as NumPy would have it
    aten.add.Tensor: "{0} + {1}", aten.sub.Tensor: "{0} - {1}", aten.mul.Tensor: "{0} * {1}",
    aten.div.Tensor: "{0} / {1}", aten.neg.default: "-{0}", aten.exp.default: "np.exp({0})",
    aten.log.default: "np.log({0})", aten.mm.default: "{0} @ {1}",
    aten.gt.Scalar: "{0} > {1}", aten.relu.default: "np.maximum({0}, 0)",
    aten.where.self: "np.where({0}, {1}, {2})", aten.clone.default: "{0}",
    aten.sum.dim_IntList: "np.sum({0}, tuple({1}) or None, keepdims={2})",
    aten.sum.default: "np.sum({0})", aten.as_strided.default: "strided({0}, {1}, {2})",
    aten.cosh.default: None,
}
compiled = []

def compile(graph, examples):
    """Return a function of arrays for a graph of any size."""
    names, lines, result = [], [], None
    for node in graph.graph.nodes:
        if node.op == "placeholder":
            names.append(node.name)
        elif node.op == "call_function":
            text = TEXTS.get(node.target)
            if text is None:
                raise NotImplementedError(node.target)
            values = [each.name if isinstance(each, torch.fx.Node) else each for each in node.args]
            values += [False] * 2
            lines.append(f"    {node.name} = " + text.format(*values))
        else:
            result = node.args[0]
            if isinstance(result, tuple):
                result = "".join(f"{each}, " for each in result)
    assert all(each.device.type == "meta" for each in examples) and len(examples) == len(names)
    source = "\\n".join([f"def run({', '.join(names)}):", *lines, f"    return {result}"])
    compiled.append(source)
    known = {"np": np, "strided": strided}
    exec(source, known)
    return known["run"]

def strided(x, size, stride):
    x = np.ascontiguousarray(x)
    return np.ndarray(size, x.dtype, x, 0, [each * x.itemsize for each in stride])

environment = BackendEnvironment(
    "toy", np.ndarray, lambda t: t.detach().numpy().copy(), lambda a: torch.tensor(a),
    settle=np.asarray,
)
register_compiler(environment, compile, TEXTS)
environment.register_default_decompositions()

x = torch.arange(6.0).reshape(2, 3).to("toy")
compiled.clear()
y = (x + x) * 2
assert y.cpu().tolist() == [[0, 4, 8], [12, 16, 20]]
assert len(compiled) == 2, compiled
assert compiled[0].splitlines()[1] == "    add_tensor = x0 + x1", compiled
y.mul_(2)  # the same graph as before, for the same shapes
assert len(compiled) == 2, compiled
assert (x[:1] * 2).shape == (1, 3) and len(compiled) == 4  # another shape, and a view that is read
assert (x * 3).cpu()[1, 2] == 15 and len(compiled) == 5  # another number

losses = []
for place in ("cpu", "toy"):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    net = net.to(place)
    a, b = torch.ones(2, 3).to(place), torch.zeros(2, 1).to(place)
    curve = []
    for _ in range(5):
        loss = ((net(a) - b) * (net(a) - b)).sum()
        net.zero_grad()
        loss.backward()
        with torch.no_grad():
            for each in net.parameters():
                each.sub_(each.grad * 0.05)
        curve.append(loss.detach().cpu())
    losses.append(torch.stack(curve))
torch.testing.assert_close(losses[1], losses[0])
assert losses[1][-1] < losses[1][0]
known = {str(each).replace(".", ":", 1).removesuffix(".default") for each in TEXTS}
assert "aten:mm" in known and not known & set(environment.report().conversions)
'''


DYNAMO = """
import numpy as np, torch
from torch_device import BackendEnvironment, register_compiler

environment = BackendEnvironment(
    "toy", np.ndarray, torch.Tensor.numpy, torch.from_numpy, settle=np.asarray
)
aten = torch.ops.aten
register_compiler(environment, "aot_eager", [aten.tanh.default, aten.mm.default])
environment.register_default_decompositions()

torch.manual_seed(0)
net, x = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.GELU()), torch.randn(2, 3)
net(x).square().sum().backward()
wanted = [each.grad.clone() for each in net.parameters()]
net.zero_grad()
net.to("toy")
x = x.to("toy")
assert torch.equal(x.tanh().cpu(), x.cpu().tanh())
assert not environment.report().conversions
(torch.compile(lambda: net(x).square().sum(), backend="toy", fullgraph=True)()).backward()
for each, gradient in zip(net.parameters(), wanted, strict=True):
    torch.testing.assert_close(each.grad.cpu(), gradient)
found = set(environment.report().conversions)  # of a whole graph there are none
assert not found & {"aten:addmm", "aten:gelu", "aten:gelu_backward", "aten:mm"}, found
"""


def run(code: str) -> None:
    command = [sys.executable, "-W", "ignore", "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not found.returncode, found.stdout + found.stderr


@pytest.mark.parametrize("code", [CODE, DYNAMO], ids=["of-data", "of-pytorch"])
def test_a_compiler_of_graphs(code: str) -> None:
    """It compiles each eager call as a graph of one node, and whole graphs in `torch.compile`."""
    run(code)


@pytest.mark.skipif(shutil.which("g++") is None, reason="Inductor needs a compiler of C++")
@pytest.mark.skipif(os.environ.get("EVERY") != "1", reason="it compiles C++ for long")
def test_inductor() -> None:
    """PyTorch's own compiler is an existing backend like the others: it compiles for the CPU."""
    run(DYNAMO.replace("aot_eager", "inductor"))
