"""Models: gradients, function transforms, compilation, training."""

import pytest
import torch
from torch import nn


def test_gradients(device):
    """Gradients are those of the CPU."""
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.GELU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(64, 8), nn.LayerNorm(8), nn.Softmax(-1),
    )  # fmt: skip
    x = torch.randn(2, 1, 8, 8)
    net(x).square().sum().backward()
    expected = [each.grad.clone() for each in net.parameters()]
    net.zero_grad()
    net.to(device)
    net(x.to(device)).square().sum().backward()
    for each, wanted in zip(net.parameters(), expected, strict=True):
        torch.testing.assert_close(each.grad.cpu(), wanted, rtol=1e-3, atol=1e-5)


def test_function_transforms(device):
    """`torch.func` transforms functions on the device."""
    x = torch.randn(3, 4)

    def f(x):
        return (x.sin() * x).sum()

    for transform in (torch.func.grad, torch.func.jacrev, torch.func.vmap):
        torch.testing.assert_close(transform(f)(x.to(device)).cpu(), transform(f)(x))
    found = torch.func.jvp(f, (x.to(device),), (torch.ones(3, 4, device=device),))
    wanted = torch.func.jvp(f, (x,), (torch.ones(3, 4),))
    for a, b in zip(found, wanted, strict=True):
        torch.testing.assert_close(a.cpu(), b)


@pytest.mark.parametrize("make", [
    lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
    lambda p: torch.optim.AdamW(p, 0.01),
], ids=["sgd", "adamw"])  # fmt: skip
def test_training_on_digits(device, environment, make):
    """A network learns digits with the CPU's loss curve, without conversions."""
    from sklearn.datasets import load_digits

    data = load_digits()
    x = torch.tensor(data.data[:512], dtype=torch.float32) / 16
    y = torch.tensor(data.target[:512])
    curves = []
    for place in ("cpu", device):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).to(place)
        optimizer = make(net.parameters())
        losses = []
        for _ in range(3):
            for a, b in zip(x.split(64), y.split(64), strict=True):
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(net(a.to(place)), b.to(place))
                loss.backward()
                optimizer.step()
                losses.append(loss.detach())
        curves.append(torch.stack(losses).cpu())
    torch.testing.assert_close(curves[1], curves[0], rtol=1e-4, atol=1e-5)
    assert not environment.report().conversions
    assert not environment.report().host_reads


def test_jax_jit(device):
    """A compiled step trains as the step itself does, also what the optimizer remembers."""
    if device != "jax":
        pytest.skip("JAX compiles steps of its own device")
    from torch_device import HostReadError, jax_jit

    def make(place, compile):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3)).to(place)
        optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)

        def step(x, y):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            return loss.detach()

        return net, compile(step)

    x, y = torch.randn(5, 8), torch.tensor([0, 1, 2, 0, 1])
    cpu, step = make("cpu", lambda step: step)
    net, compiled = make(device, jax_jit)
    for _ in range(5):
        torch.testing.assert_close(compiled(x.to(device), y.to(device)).cpu(), step(x, y))
    for a, b in zip(net.parameters(), cpu.parameters(), strict=True):
        torch.testing.assert_close(a.cpu(), b)
        torch.testing.assert_close(a.grad.cpu(), b.grad)

    @jax_jit
    def reads(x):
        return x * x.sum().item()

    reads(x.to(device))
    with pytest.raises(HostReadError, match=r"aten:item reads values, line \d+ of .*test_models"):
        reads(x.to(device))
    assert (x.to(device) + 1).cpu().shape == (5, 8)

    counter = torch.zeros(())

    @jax_jit
    def counts(x):
        counter.add_(1)
        return x + 1

    counts(x.to(device))
    with pytest.raises(HostReadError, match="changes a tensor of the CPU"):
        counts(x.to(device))


@pytest.mark.parametrize(
    ("f", "layout"),
    [
        (torch.linalg.det, "contiguous"),
        (torch.linalg.det, "transposed"),
        (torch.linalg.det, "expanded"),
        (lambda x: torch.linalg.slogdet(x)[1], "contiguous"),
        (lambda x: torch.linalg.slogdet(x)[1], "transposed"),
        (lambda x: torch.linalg.det(torch.complex(x, 2 * x)).abs(), "transposed"),
        (lambda x: torch.linalg.eigvals(x).abs(), "contiguous"),
        (lambda x: torch.kron(x, x), "contiguous"),
        (lambda x: torch.fft.ihfft2(x).abs(), "contiguous"),
        (lambda x: torch.conj_physical(torch.complex(x, 2 * x)).abs(), "contiguous"),
    ],
    ids=["det", "det-T", "det-expanded", "slogdet", "slogdet-T", "complex", "eigvals", "kron",
         "ihfft2", "conj_physical"],
)  # fmt: skip
def test_gradients_of_matrices(device, environment, f, layout):
    """They are those of the CPU, also where PyTorch's gradient depends on the layout."""
    environment.conversions = True
    x = torch.randn(4, 4)
    found = []
    for where in ("cpu", device):
        leaf = x.clone().to(where).requires_grad_()
        given = {"contiguous": leaf, "transposed": leaf.mT, "expanded": leaf.expand(2, 4, 4)}
        (gradient,) = torch.autograd.grad(f(given[layout]).sum(), leaf)
        found.append(gradient.cpu())
    torch.testing.assert_close(*found, rtol=1e-3, atol=1e-4)


def test_an_implementation_that_would_have_no_gradient_is_refused(environment):
    """Autograd differentiates what such an operator is written in."""
    with pytest.raises(ValueError, match=r"aten::kron would lose its gradient"):
        environment.register_op(torch.ops.aten.kron.default)(lambda x, y: x)
    with pytest.raises(ValueError, match="takes no tensors"):
        environment.register_op(torch.ops.aten.copysign.default)(lambda x, y: x)
