"""What programs use beside layers and losses: it works as on other devices, or is refused."""

import pytest
import torch
from torch import nn


@pytest.fixture
def x(device):
    return torch.arange(6.0, device=device).reshape(2, 3)


LAZY = {
    "linear": (nn.LazyLinear, (2,), (4, 3)),
    "convolution": (nn.LazyConv2d, (2, 3), (1, 2, 5, 5)),
    "normalization": (nn.LazyBatchNorm1d, (), (4, 3)),
}


@pytest.mark.parametrize(("kind", "options", "shape"), LAZY.values(), ids=LAZY)
@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")
def test_a_lazy_module(device, kind, options, shape):
    """It moves while it is lazy; its first call gives the parameters their shapes."""
    net = kind(*options)
    weight = net.weight
    net.to(device)
    net(torch.ones(shape, device=device)).sum().backward()
    assert net.weight is weight
    assert weight.grad.device.type == device


def assigned(x, index):
    x[index] = 7.0
    return x


INDICES = {
    "rows": lambda x, index: x[index],
    "columns": lambda x, index: x[:, index],
    "mask": lambda x, index: x[torch.tensor([True, False])],
    "write": lambda x, index: x.index_put_((index,), torch.ones((), device=x.device)),
    "mask-write": lambda x, index: x.masked_fill(x > 1, 0)[torch.tensor([False, True])],
    "assignment": assigned,
}


@pytest.mark.parametrize("use", INDICES.values(), ids=INDICES)
def test_indices_and_masks_of_the_cpu(x, use):
    """They index tensors of the device, as those of CUDA."""
    index = torch.tensor([0, 1])
    wanted = use(x.cpu(), index)
    found = use(x.clone(), index)
    assert found.device == x.device
    assert torch.equal(found.cpu(), wanted)


def test_sparse_initialization(device):
    """`nn.init.sparse_` indexes with random numbers of the CPU."""
    weight = torch.empty(8, 4, device=device)
    nn.init.sparse_(weight, 0.5)
    assert (weight.cpu() == 0).sum().item() == 16


def test_scaled_gradients(device, environment):
    """`GradScaler` scales the loss, and skips a step with an infinite gradient."""
    environment.conversions = True
    net = nn.Linear(2, 1).to(device)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    scaler = torch.amp.GradScaler(device, init_scale=4.0)
    before = net.weight.detach().cpu()
    for factor in (float("inf"), 1.0):
        optimizer.zero_grad()
        scaler.scale((net(torch.ones(1, 2, device=device)) * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        assert torch.equal(net.weight.detach().cpu(), before) == (factor != 1)
    torch.testing.assert_close(net.weight.detach().cpu(), before - 0.1)


FACTORS = {
    "cholesky": torch.linalg.cholesky,
    "inv": torch.linalg.inv,
    "solve": lambda x: torch.linalg.solve(x, x),
}


@pytest.mark.parametrize("factor", FACTORS.values(), ids=FACTORS)
def test_matrices_without_factors(device, factor):
    """NumPy's device has PyTorch's error, which programs catch; JAX gives no error, but NaN."""
    x = torch.zeros(2, 2, device=device)
    if device == "jax":
        assert not factor(x).isfinite().all()
    else:
        with pytest.raises(torch.linalg.LinAlgError):
            factor(x)


def test_the_accelerator(device):
    """PyTorch's interface for any accelerator has the device, which is always synchronous."""
    assert torch.accelerator.is_available()
    assert torch.accelerator.current_accelerator().type == device
    assert torch.accelerator.device_count() == 1
    assert torch.accelerator.current_device_index() == 0
    torch.accelerator.synchronize()
    torch.accelerator.empty_cache()
    torch.accelerator.memory.empty_host_cache()


STATISTICS = ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved",
              "memory_stats", "get_memory_info", "reset_peak_memory_stats",
              "reset_accumulated_memory_stats")  # fmt: skip


@pytest.mark.parametrize("name", STATISTICS)
def test_the_memory_of_the_accelerator(device, name):
    """Nothing counts it, and a zero would be wrong: the error says so."""
    with pytest.raises(NotImplementedError, match=f"'{device}' has no memory of its own"):
        getattr(torch.accelerator, name)()


def test_pinned_batches(device):
    """Data are loaded as without pinned memory, as on each machine without an accelerator."""
    loader = torch.utils.data.DataLoader(torch.arange(4.0), batch_size=2, pin_memory=True)
    batches = [each.to(device, non_blocking=True).cpu().tolist() for each in loader]
    assert batches == [[0, 1], [2, 3]]


def test_jagged_tensors(agree):
    """Rows of several lengths run through layers, as PyTorch writes such tensors in Python."""
    rows = [torch.ones(2, 3), torch.arange(9.0).reshape(3, 3)]

    def compute(place):
        net = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.LayerNorm(4))
        leaves = [each.clone().to(place).requires_grad_() for each in rows]
        x = torch.nested.as_nested_tensor(leaves, layout=torch.jagged)
        y = net.to(place)(x)
        y.values().square().sum().backward()
        return *y.unbind(), *(each.grad for each in leaves)

    agree(compute, rtol=1e-4, atol=1e-4)
