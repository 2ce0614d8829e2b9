"""What is refused, and says so: mixtures of devices, and kinds of tensors that there are not."""

import pickle
import re
import subprocess
import sys

import pytest
import torch
from torch import nn


@pytest.fixture
def x(device):
    return torch.arange(6.0, device=device).reshape(2, 3)


CPU = torch.ones(2, 3)
MIXTURES = {
    "add": lambda x: x + CPU,
    "radd": lambda x: CPU + x,
    "mm": lambda x: x @ CPU.T,
    "in-place": lambda x: x.clone().add_(CPU),
    "in-place-cpu": lambda x: CPU.clone().add_(x),
    "where": lambda x: torch.where(x > 1, x, CPU),
    "cat": lambda x: torch.cat([x, CPU]),
    "stack": lambda x: torch.stack([CPU, x]),
    "linear": nn.Linear(3, 2),
    "index_select": lambda x: torch.index_select(x, 0, torch.tensor([0])),
    "gather": lambda x: torch.gather(x, 1, torch.zeros(2, 1, dtype=torch.int64)),
    "out": lambda x: torch.add(x, x, out=CPU.clone()),
    "cross_entropy": lambda x: nn.functional.cross_entropy(x, torch.tensor([0, 1])),
    "conv": lambda x: nn.functional.conv1d(x[None], torch.ones(1, 2, 1)),
    "embedding": lambda x: nn.functional.embedding(torch.tensor([0]), x),
    "lerp": lambda x: torch.lerp(x, CPU, 0.5),
    "addmm": lambda x: torch.addmm(CPU, x, x.T),
    "foreach": lambda x: torch._foreach_add([x, x], [CPU, CPU]),
}


@pytest.mark.parametrize("mix", list(MIXTURES.values()), ids=list(MIXTURES))
def test_mixtures_of_devices(x, environment, mix):
    """Tensors of the CPU and of the device raise PyTorch's own error; none is moved silently."""
    environment.conversions = True
    environment.report().reset()
    with pytest.raises(RuntimeError, match="device"):
        mix(x)
    assert not environment.report().conversions
    assert not environment.report().copies


NUMBERS = {
    "add": lambda x, two: x + two,
    "radd": lambda x, two: two + x,
    "in-place": lambda x, two: x.clone().mul_(two),
    "where": lambda x, two: torch.where(x > 1, x, two),
    "comparison": lambda x, two: x > two,
    "pow": lambda x, two: x**two,
    "fill": lambda x, two: x.clone().fill_(two),
    "assignment": lambda x, two: set_first(x.clone(), two),
    "clamp": lambda x, two: x.clamp(max=two),
}


def set_first(x, value):
    x[0] = value
    return x


@pytest.mark.parametrize("compute", list(NUMBERS.values()), ids=list(NUMBERS))
def test_numbers_of_the_cpu(x, compute):
    """A tensor of the CPU without dimensions counts as a number."""
    two = torch.tensor(2.0)
    found = compute(x, two)
    assert found.device == x.device
    torch.testing.assert_close(found.cpu(), compute(x.cpu(), two))


REFUSED = {
    "pin_memory": (lambda d: torch.zeros(2, device=d).pin_memory(), "pin"),
    "pinned-empty": (lambda d: torch.empty(2, device=d, pin_memory=True), "pin"),
    "to_sparse": (lambda d: torch.eye(2, device=d).to_sparse(), "sparse"),
    "to_sparse_csr": (lambda d: torch.eye(2, device=d).to_sparse_csr(), "sparse"),
    "sparse_coo": (
        lambda d: torch.sparse_coo_tensor([[0], [1]], [1.0], (2, 2), device=d),
        "sparse",
    ),
    "sparse-gradient": (
        lambda d: (
            torch.nn.functional.embedding(
                torch.tensor([1], device=d),
                torch.ones(3, 2, device=d, requires_grad=True),
                sparse=True,
            )
            .sum()
            .backward()
        ),
        "sparse",
    ),
    "sparse-to": (lambda d: torch.eye(2).to_sparse().to(d), "sparse"),
    "quantize": (
        lambda d: torch.quantize_per_tensor(torch.ones(2, device=d), 0.1, 0, torch.qint8),
        "quantiz",
    ),
    "quantized-empty": (lambda d: torch.zeros(2, dtype=torch.qint8, device=d), "quantiz"),
    "complex32": (lambda d: torch.zeros(2, dtype=torch.complex32, device=d), "complex32"),
    "complex32-view": (
        lambda d: torch.view_as_complex(torch.ones(2, 2, dtype=torch.float16, device=d)) + 1,
        "complex32",
    ),
    "nested": (lambda d: torch.nested.nested_tensor([torch.ones(2, device=d)]), "nested"),
    "nested-to": (lambda d: torch.nested.nested_tensor([torch.ones(2)]).to(d), "nested"),
    "generator": (lambda d: torch.Generator(device=d), "Generator"),
    "mkldnn": (lambda d: torch.ones(2, device=d).to_mkldnn(), "mkldnn"),
    "index": (lambda d: torch.zeros(2, device=f"{d}:1"), "index"),
    "numpy": (lambda d: torch.zeros(2, device=d).numpy(), "CPU|cpu"),
    "share_memory": (lambda d: torch.zeros(2, device=d).share_memory_(), "."),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("make", "text"), list(REFUSED.values()), ids=list(REFUSED))
def test_refused(device, environment, make, text):
    """The message says which kind of tensor the device lacks; nothing is made silently."""
    environment.conversions = True
    with pytest.raises((NotImplementedError, RuntimeError, TypeError, BufferError)) as caught:
        make(device)
    assert re.search(text, str(caught.value)), caught.value


def test_a_pickle_needs_its_device(x):
    """A process without the device has an error, not a tensor of another device."""
    code = "import pickle, sys; pickle.loads(bytes.fromhex(sys.argv[1]))"
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, pickle.dumps(x).hex()],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 1
    assert "Error" in found.stderr


DRAWS = {
    "rand": lambda device, generator: torch.rand(3, device=device, generator=generator),
    "randn": lambda device, generator: torch.randn(3, device=device, generator=generator),
    "randint": lambda device, generator: torch.randint(9, (3,), device=device, generator=generator),
    "randperm": lambda device, generator: torch.randperm(3, device=device, generator=generator),
    "bernoulli": lambda device, generator: torch.bernoulli(
        torch.ones(3, device=device), generator=generator
    ),
    "uniform_": lambda device, generator: nn.init.uniform_(
        torch.ones(3, device=device), generator=generator
    ),
}


@pytest.mark.parametrize("draw", list(DRAWS.values()), ids=list(DRAWS))
def test_random_numbers_are_those_of_the_cpu(device, draw):
    """They come from its generator, or from one of the program."""
    results = []
    for place in (device, "cpu"):
        torch.manual_seed(3)
        given = torch.Generator().manual_seed(4)
        results.append([draw(place, each).detach().cpu() for each in (None, given)])
    assert all(map(torch.equal, *results))


def _zeros(device, *shape, dtype=torch.float32):
    return torch.zeros(shape, dtype=dtype, device=device)


FIRST = torch.tensor([0])
OUTPUTS = {
    "add_": lambda d: _zeros(d, 1).expand(5).add_(1),
    "copy_": lambda d: _zeros(d, 1).expand(5).copy_(_zeros(d, 5)),
    "mm-expanded": lambda d: torch.mm(
        _zeros(d, 2, 2), _zeros(d, 2, 2), out=_zeros(d, 1).expand(2, 2)
    ),
    "take-expanded": lambda d: torch.take(_zeros(d, 2), FIRST.to(d), out=_zeros(d, 1).expand(2)),
    "take-itself": lambda d: _into_itself(torch.take, _zeros(d, 1), FIRST.to(d)),
    "gather-itself": lambda d: _into_itself(torch.gather, _zeros(d, 1), 0, FIRST.to(d)),
    "select-itself": lambda d: _into_itself(torch.index_select, _zeros(d, 1), 0, FIRST.to(d)),
    "cat-overlap": lambda d: _cat_into_part(_zeros(d, 4), slice(1, 4)),
    "index_add-broadcast": lambda d: _zeros(d, 3, 2).index_add(
        0, torch.tensor([0, 2]).to(d), _zeros(d, 2)
    ),
    "gather-dtype": lambda d: torch.gather(
        _zeros(d, 1), 0, FIRST.to(d), out=_zeros(d, 1, dtype=torch.float64)
    ),
    "complex-dtype": lambda d: torch.complex(
        _zeros(d, 1), _zeros(d, 1), out=_zeros(d, 1, dtype=torch.complex128)
    ),
}


def _into_itself(operator, x, *arguments):
    return operator(x, *arguments, out=x)


def _cat_into_part(x, part):
    return torch.cat([x[:1], x[:2]], out=x[part])


@pytest.mark.parametrize("write", list(OUTPUTS.values()), ids=list(OUTPUTS))
def test_outputs_that_the_cpu_refuses(device, write):
    """Expanded tensors, the memory of an argument, other dtypes and sizes raise as on the CPU."""
    texts = []
    for place in ("cpu", device):
        with pytest.raises(RuntimeError) as caught:
            write(place)
        texts.append(str(caught.value).split()[0])
    assert texts[0] == texts[1]


def test_outputs_that_the_cpu_takes(device):
    """A value fills an expanded tensor; pointwise operators write into their argument."""
    x = _zeros(device, 1)
    x.expand(5).fill_(3)
    assert x.tolist() == [3]
    x.expand(5).zero_()
    _zeros(device, 1).expand(0, 5).add_(1)
    assert torch.add(x, 1, out=x).tolist() == [1]
    y = torch.arange(4.0, device=device)
    torch.cat([y[:1], y[1:2]], out=y[2:])
    torch.take(y[:2], torch.tensor([1], device=device), out=y[3:])
    assert y.tolist() == [0, 1, 0, 1]
