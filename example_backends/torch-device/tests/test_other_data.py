"""Devices in a few lines: networks train on any data as on the CPU."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"

ROWS = '''
import array

class Row(array.array):
    """An array of Python's own, whose shape and dtype are attributes."""

def to_row(tensor):
    made = Row("d", tensor.flatten().double().tolist())
    made.shape, made.dtype = tuple(tensor.shape), tensor.dtype
    return made

def to_torch(row):
    return torch.tensor(row, dtype=row.dtype).reshape(row.shape)

environment = BackendEnvironment("row", Row, to_row, to_torch)

@environment.register_op("aten::tanh")
def tanh(x):
    made = Row("d", map(math.tanh, x))
    made.shape, made.dtype = x.shape, x.dtype
    return made
'''

TUPLES = """
asked = []
environment = BackendEnvironment(
    "pair",
    tuple,
    lambda tensor: (tensor.flatten().tolist(), tuple(tensor.shape), tensor.dtype),
    lambda data: asked.append(data) or torch.tensor(data[0], dtype=data[2]).reshape(data[1]),
    shape_dtype=lambda data: data[1:],
)

@environment.register_op("aten::tanh")
def tanh(x):
    return list(map(math.tanh, x[0])), *x[1:]

y = torch.arange(6.0, device="pair").reshape(2, 3).clone().tanh()
asked.clear()
assert y.tanh().shape == (2, 3) and not asked  # a callable says the shape and the dtype
"""

DASK = """
import dask.array as da, numpy as np

environment = BackendEnvironment(
    "lazy",
    da.Array,
    lambda tensor: da.from_array(tensor.numpy()),
    lambda array: torch.from_numpy(np.array(array.compute())),
)
op = environment.register_op
op("aten::tanh", da.tanh)
op(torch.ops.aten.mm.default, da.matmul)
op(torch.ops.aten.mul.Tensor, da.multiply)
op(torch.ops.aten.add.Tensor, lambda x, y, alpha=1: x + y * alpha)
"""

MLX = """
import mlx_device
environment = mlx_device.make_environment()
"""

TRAIN = """
def losses(place, make, x):
    torch.manual_seed(0)
    net = make().to(place)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    found = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = net(x.to(place)).square().mean()
        loss.backward()
        optimizer.step()
        found.append(loss.detach().cpu())
    return torch.stack(found)

nets = [(lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)), torch.ones(2, 3))]
if environment.name == "mlx":
    layers = nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 1)
    nets.append((lambda: nn.Sequential(*copy.deepcopy(layers)), torch.ones(2, 1, 4, 4)))
    nets.append((lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.0), torch.ones(3, 2, 8)))
environment.register_default_decompositions()
for each in nets:
    torch.testing.assert_close(losses(environment.name, *each), losses("cpu", *each))
assert "aten:tanh" not in environment.report().conversions
"""


@pytest.mark.parametrize(
    ("code", "module"),
    [(ROWS, "array"), (TUPLES, "math"), (DASK, "dask.array"), (MLX, "mlx.core")],
    ids=["array.array", "tuple", "dask", "mlx"],
)
def test_networks_train(code: str, module: str) -> None:
    """Losses are those of the CPU; implementations are used, and the rest is converted."""
    pytest.importorskip(module, reason=f"{module} is not installed")
    start = f"import copy, math, sys, torch\nsys.path.insert(0, {str(EXAMPLES)!r})\n"
    start += "from torch import nn\nfrom torch_device import BackendEnvironment\n"
    command = [sys.executable, "-W", "ignore", "-c", start + code + TRAIN]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not found.returncode, found.stderr
