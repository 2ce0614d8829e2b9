"""Modules that move: their parameters stay the same objects, as between the CPU and CUDA."""

import copy
import weakref

import pytest
import torch
from torch import nn


class Tied(nn.Module):
    """A language model whose first and last layer have one weight."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(7, 4)
        self.norm = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, x):
        return self.head(self.norm(self.embedding(x)))


def train(net, optimizer, steps=3):
    """Return the losses of some steps."""
    weight = next(net.parameters())
    x = torch.tensor([1, 2, 3, 4, 4], device=weight.device)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), x).double()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


WAYS = {
    "to": lambda net, device: net.to(device),
    "back": lambda net, device: net.to(device).cpu().to(device),
    "method": lambda net, device: getattr(net, device)(),
    "half": lambda net, device: net.to(device).half().float(),
    "double": lambda net, device: net.double().to(device).float(),
    "both": lambda net, device: net.double().to(device, torch.float32),
}


@pytest.mark.parametrize("move", WAYS.values(), ids=WAYS)
def test_parameters_stay_the_same_objects(agree, move):
    """Tied weights stay tied, and an optimizer that was made before trains as on the CPU."""

    def compute(place):
        net = Tied()
        before = dict(net.named_parameters())
        optimizer = torch.optim.SGD(net.parameters(), 0.5)
        move(net, place)
        assert all(each is before[name] for name, each in net.named_parameters())
        assert net.head.weight is net.embedding.weight
        assert {each.device.type for each in (*net.parameters(), *net.buffers())} == {place}
        assert all(type(each) is nn.Parameter and each.is_leaf for each in net.parameters())
        return train(net, optimizer)

    agree(compute, rtol=1e-3, atol=1e-4)


def test_back_on_the_cpu(agree):
    """A module that comes back has what it has learnt, in the parameters of the optimizer."""

    def compute(place):
        net = Tied()
        optimizer = torch.optim.SGD(net.parameters(), 0.5)
        train(net.to(place), optimizer)
        return train(net.cpu(), optimizer)

    agree(compute, rtol=1e-3, atol=1e-4)


def test_state_of_an_optimizer(device):
    """State of another device is an error; the optimizer's own state dict moves it."""
    found = []
    for place in ("cpu", device):
        torch.manual_seed(0)
        net = Tied()
        optimizer = torch.optim.Adam(net.parameters(), 0.1)
        train(net, optimizer)
        net.to(place)
        if place != "cpu":
            with pytest.raises(RuntimeError, match="same device"):
                train(net, optimizer)
            optimizer.load_state_dict(optimizer.state_dict())
        found.append(train(net, optimizer))
    assert found[1][-1] < found[0][0]


def test_gradients_move(device):
    """They stay the same objects too, and those of frozen parameters stay absent."""
    net = nn.Linear(3, 2)
    net.bias.requires_grad_(False)
    net(torch.ones(1, 3)).sum().backward()
    gradient, expected = net.weight.grad, net.weight.grad.clone()
    for place in (device, "cpu", device):
        net.to(place)
        assert net.weight.grad is gradient
        assert gradient.device.type == place
        assert torch.equal(gradient.cpu(), expected)
        assert not net.bias.requires_grad
        assert net.bias.grad is None
    net(torch.ones(1, 3, device=device)).sum().backward()
    assert torch.equal(gradient.cpu(), 2 * expected)


def test_hooks_and_attributes_of_parameters(device):
    """What a program has put on a parameter stays there."""
    net, called = nn.Linear(3, 2), []
    net.weight.tag = "mine"
    net.weight.register_hook(lambda gradient: called.append("hook"))
    handle = net.weight.register_post_accumulate_grad_hook(called.append)
    reference = weakref.ref(net.weight)
    net.to(device)
    assert net.weight.tag == "mine"
    assert reference() is net.weight
    net(torch.ones(1, 3, device=device)).sum().backward()
    assert called[0] == "hook"
    assert called[1] is net.weight
    handle.remove()
    net.cpu()(torch.ones(1, 3)).sum().backward()
    assert called[2:] == ["hook"]


def test_a_graph_that_is_alive(device):
    """Its backward pass is an error after a move: the gradients would go to no parameter."""
    net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 2))
    for place, other in (("cpu", device), (device, "cpu")):
        net.zero_grad()
        y = net(torch.ones(1, 3, device=place))
        net.to(other)
        with pytest.raises(RuntimeError, match=f"has moved from '{place}.*' to '{other}.*' after"):
            y.sum().backward()
        assert all(each.grad is None for each in net.parameters())
        assert {each.device.type for each in net.parameters()} == {other}
        net(torch.ones(1, 3, device=other)).sum().backward()
        assert all(each.grad is not None for each in net.parameters())


NETS = {
    "parametrized": lambda: nn.utils.parametrizations.weight_norm(nn.Linear(3, 3)),
    "orthogonal": lambda: nn.utils.parametrizations.orthogonal(
        nn.Linear(3, 3), orthogonal_map="cayley"
    ),
    "weight_norm": lambda: nn.utils.weight_norm(nn.Linear(3, 3)),
    "spectral_norm": lambda: nn.utils.spectral_norm(nn.Linear(3, 3)),
    "lstm": lambda: nn.LSTM(3, 3, num_layers=2),
    "encoder": lambda: nn.TransformerEncoderLayer(3, 1, 5, dropout=0.0),
    "lists": lambda: nn.Sequential(nn.Linear(3, 3), nn.PReLU(), nn.Bilinear(3, 3, 3))[:2],
}


@pytest.mark.filterwarnings("ignore:.*weight_norm.* is deprecated")
@pytest.mark.parametrize("make", NETS.values(), ids=NETS)
def test_modules_of_pytorch(agree, environment, make):
    """Also those that hold their parameters in other places; they have run before they move."""
    environment.conversions = True

    def compute(place):
        net = make()
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        net(torch.ones(2, 3))
        net.to(place)
        x = torch.ones(2, 3, device=place)
        for _ in range(3):
            optimizer.zero_grad()
            y = net(x)
            (y[0] if isinstance(y, tuple) else y).square().sum().backward()
            optimizer.step()
        return [*net.parameters()]

    agree(compute, rtol=1e-3, atol=1e-4)


def test_copies_and_state_dicts(device):
    """Copies of a tied model are tied; its state comes from the CPU and goes there."""
    net = Tied().to(device)
    copied = copy.deepcopy(net)
    assert copied.head.weight is copied.embedding.weight
    assert copied.head.weight is not net.head.weight
    other, before = Tied(), net.head.weight
    net.load_state_dict(other.state_dict())
    assert net.head.weight is net.embedding.weight is before
    assert torch.equal(net.head.weight.cpu(), other.head.weight)
    other.load_state_dict(copied.state_dict())
    assert torch.equal(copied.head.weight.cpu(), other.head.weight)


def test_a_parameter_that_cannot_move(device):
    """The module then is in part on the device, as on others; it has no other parameters."""
    net = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2))
    optimizer = torch.optim.SGD(net.parameters(), 0.5)
    net[1].bias = nn.Parameter(torch.ones(2).to_sparse())
    before = dict(net.named_parameters())
    with pytest.raises(NotImplementedError, match="sparse"):
        net.to(device)
    assert all(each is before[name] for name, each in net.named_parameters())
    assert [each.device.type for each in net.parameters()] == [*[device] * 3, "cpu"]
    net.cpu()[0](torch.ones(1, 3)).sum().backward()
    weight = net[0].weight.detach().clone()
    optimizer.step()
    assert not torch.equal(net[0].weight, weight)


def test_a_module_without_data(device):
    """`to_empty` makes tied weights that are tied."""
    with torch.device("meta"):
        net = Tied()
    before = net.head.weight
    net.to_empty(device=device)
    assert net.head.weight is net.embedding.weight is before
    assert before.device.type == device


def test_other_modules_of_the_process(device):
    """No switch of PyTorch is on, and the switch for new parameters makes new ones."""
    assert not torch.__future__.get_swap_module_params_on_conversion()
    net = nn.Linear(3, 2)
    weight = net.weight
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    try:
        assert net.double().weight is not weight
        weight = net.weight
        assert net.to(device).weight is not weight
        assert weight.device.type == "cpu"
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(False)


def test_moves_in_inference_mode(device):
    """No graph holds a parameter there, nor one that was made there."""
    net = nn.Linear(3, 2)
    weight, expected = net.weight, net.weight.tolist()
    with torch.inference_mode():
        net.to(device)
        made = nn.Linear(3, 2)
    assert net.weight is weight
    assert net.weight.tolist() == expected
    made.to(device)
    assert made.weight.device.type == device
