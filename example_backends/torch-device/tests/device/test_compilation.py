"""`torch.compile`, `torch.export` and `torch.func` on the device."""

import pytest
import torch
from torch import nn


@pytest.fixture
def net(device):
    torch.manual_seed(0)
    made = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 3))
    return made, made.to(device)


@pytest.fixture(autouse=True)
def _fresh():
    torch._dynamo.reset()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compilation(agree, environment, backend):
    """A compiled module has the results and the gradients of the CPU, without conversions."""

    def compute(place):
        layers = nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3)
        net, x = nn.Sequential(*layers).to(place), torch.randn(2, 1, 4, 4).to(place)
        run = net if place == "cpu" else torch.compile(net, backend=backend, fullgraph=True)
        for _ in range(2):
            net.zero_grad()
            run(x).square().sum().backward()
        return [each.grad for each in net.parameters()]

    agree(compute, rtol=1e-3, atol=1e-5)
    assert not environment.report().conversions


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_compiled_function_writes_through_views(agree, backend):
    """In-place operators of a compiled function are seen outside of it."""

    def f(x):
        x[1:].mul_(2)
        x.T[0] += 1
        return x.sum()

    def compute(place):
        x = torch.arange(6.0).reshape(3, 2).to(place)
        run = f if place == "cpu" else torch.compile(f, backend=backend)
        return run(x), x

    agree(compute)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_export(device, net):
    """An exported program runs on the device, also in terms of the core operators."""
    net = net[1]
    x = torch.randn(2, 4, device=device)
    program = torch.export.export(net, (x,))
    assert any("linear" in str(each.target) for each in program.graph.nodes)
    torch.testing.assert_close(program.module()(x).cpu(), net(x).detach().cpu())
    core = program.run_decompositions()
    torch.testing.assert_close(core.module()(x).cpu(), net(x).detach().cpu())


def test_export_with_dynamic_shapes(device, net):
    """A program of which one size is open runs for other sizes."""
    net = net[1]
    batch = torch.export.Dim("batch", min=2)
    x = torch.randn(2, 4, device=device)
    program = torch.export.export(net, (x,), dynamic_shapes=({0: batch},))
    y = torch.randn(5, 4, device=device)
    torch.testing.assert_close(program.module()(y).cpu(), net(y).detach().cpu())


def f(x):
    return (x.sin() * x.cumsum(-1)).sum(-1)


# PyTorch's own warning, of `linearize`.
@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node")
@pytest.mark.parametrize(
    "transform",
    [
        torch.func.grad(lambda y: f(y).sum()),
        torch.func.vmap(f),
        torch.func.vmap(torch.func.grad(f)),
        lambda x: torch.func.jvp(f, (x,), (torch.ones_like(x),)),
        lambda x: torch.func.vjp(f, x)[1](torch.ones_like(x[:, 0])),
        torch.func.jacrev(f),
        torch.func.jacfwd(f),
        torch.func.hessian(lambda y: f(y).sum()),
        torch.func.functionalize(lambda y: y.clone().add_(1)),
        lambda x: torch.func.vmap(lambda a, b: a @ b, in_dims=(0, None))(x[:, None], x.T),
        lambda x: torch.func.linearize(f, x)[1](torch.ones_like(x)),
        lambda x: torch.func.jvp(f, (x.T,), (torch.ones(4, 3).to(x.device),)),
    ],
    ids=["grad", "vmap", "vmap-grad", "jvp", "vjp", "jacrev", "jacfwd", "hessian", "functionalize",
         "vmap-matmul", "linearize", "jvp-view"],
)  # fmt: skip
def test_function_transforms(agree, environment, transform):
    """Transforms of functions have the CPU's results, and convert nothing."""
    agree(lambda place: transform(torch.randn(3, 4).to(place)))
    assert not environment.report().conversions


def test_models_of_an_ensemble(device):
    """`functional_call` and `vmap` run several networks at once."""
    nets = [nn.Linear(4, 2).to(device) for _ in range(3)]
    parameters, buffers = torch.func.stack_module_state(nets)
    x = torch.randn(5, 4, device=device)

    def run(parameters, buffers):
        return torch.func.functional_call(nets[0], (parameters, buffers), (x,))

    found = torch.func.vmap(run)(parameters, buffers)
    wanted = torch.stack([each(x) for each in nets])
    torch.testing.assert_close(found.detach().cpu(), wanted.detach().cpu())


def test_inductor_is_refused(device):
    """The message names the device and the backends that work."""
    compiled = torch.compile(lambda x: x.sin() + 1)
    with pytest.raises(Exception, match=rf"{device}.*aot_eager"):
        compiled(torch.ones(2, device=device))
