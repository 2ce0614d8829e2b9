"""Steps that JAX compiles."""

import copy

import pytest
import torch
from torch import nn


@pytest.fixture(autouse=True)
def _jax_alone(device):
    if device != "jax":
        pytest.skip("JAX compiles steps of its own device")


@pytest.fixture
def jit(device):
    from torch_device import jax_jit

    return jax_jit


@pytest.fixture
def refused(device):
    from torch_device import HostReadError

    return HostReadError


def train(place, compile, optimizer, shapes=(5,) * 5):
    """Return the losses of steps, and the network."""
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Linear(8, 16, bias=False), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, 3)
    ).to(place)
    made = optimizer(net.parameters())

    def step(x, y):
        made.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        made.step()
        return loss.detach()

    step = compile(step)
    random = torch.Generator().manual_seed(0)
    losses = []
    for count in shapes:
        x = torch.randn(count, 8, generator=random).to(place)
        y = torch.randint(3, (count,), generator=random).to(place)
        losses.append(step(x, y).cpu())
    return torch.stack(losses), net


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda p: torch.optim.SGD(p, 0.1),
        lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
        lambda p: torch.optim.AdamW(p, 0.01, capturable=True),
        lambda p: torch.optim.RMSprop(p, 0.01, capturable=True),
    ],
    ids=["sgd", "momentum", "adamw", "rmsprop"],
)
def test_a_compiled_step_trains_as_the_step_itself(device, jit, optimizer):
    """Losses, parameters, buffers and gradients are those of the CPU, for each shape of arguments.

    Also the gradients of a shape that was compiled before another one.
    """
    shapes = (5, 5, 5, 7, 5, 7, 7, 5)

    def for_cpu(parameters):
        made = optimizer(parameters)
        for each in made.param_groups:
            each.pop("capturable", None)
        made.defaults.pop("capturable", None)
        for each in made.param_groups:
            each["capturable"] = False
        return made

    wanted, cpu = train("cpu", lambda step: step, for_cpu, shapes)
    found, net = train(device, jit, optimizer, shapes)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
    for a, b in zip(net.state_dict().values(), cpu.state_dict().values(), strict=True):
        torch.testing.assert_close(a.cpu(), b, rtol=1e-3, atol=1e-5)
    for a, b in zip(net.parameters(), cpu.parameters(), strict=True):
        torch.testing.assert_close(a.grad.cpu(), b.grad, rtol=1e-3, atol=1e-5)


def test_other_arguments_are_constants_of_the_program(device, jit):
    """A step is compiled for each value of an argument that is no tensor."""
    calls = []

    @jit
    def step(x, factor, *, shift=0):
        calls.append(factor)
        return {"y": x * factor + shift, "factor": factor}

    x = torch.ones(2, device=device)
    for factor in (1, 2, 2, 3, 2, 2.0):
        assert step(x, factor)["y"].cpu().tolist() == [factor] * 2
    assert step(x, 2, shift=5)["y"].cpu().tolist() == [7, 7]
    assert len(calls) < 2 * 7


def test_an_argument_may_be_changed(device, jit):
    """What a step writes into its arguments, also into views, is there after it."""

    @jit
    def step(x, y):
        x.add_(1)
        y[0] = 5
        return x.sum()

    for _ in range(3):
        x, base = torch.zeros(2, device=device), torch.zeros(3, 2, device=device)
        assert step(x, base[1:]).cpu() == 2
        assert x.cpu().tolist() == [1, 1]
        assert base.cpu().tolist() == [[0, 0], [5, 5], [0, 0]]


def test_an_argument_that_the_step_changes_otherwise_is_refused(device, jit):
    """Two names of one storage would have two values in the program."""
    state = torch.zeros(2, device=device)

    @jit
    def step(x):
        state.add_(1)
        return x + state

    x = torch.ones(2, device=device)
    assert [step(x).cpu().tolist()[0] for _ in range(3)] == [2, 3, 4]
    with pytest.raises(RuntimeError, match="an argument shares its storage"):
        step(state)


def test_a_gradient_left_in_an_argument_is_refused(device, jit):
    """It would be lost, and is returned otherwise."""

    @jit
    def left(x):
        x.square().sum().backward()
        return x.detach() + 1

    @jit
    def returned(x):
        return torch.autograd.grad(x.square().sum(), x)[0]

    x = torch.ones(2, device=device, requires_grad=True)
    left(x)
    with pytest.raises(RuntimeError, match=r"return it, or take it with torch\.autograd\.grad"):
        left(x)
    assert [returned(x).cpu().tolist() for _ in range(3)] == [[2, 2]] * 3


@pytest.mark.parametrize(
    ("read", "operator"),
    [
        (lambda x: x * x.sum().item(), "aten:item"),
        (lambda x: x if x.sum() > 0 else -x, "aten:item"),
        (lambda x: x * float(x[0]), "aten:item"),
        (lambda x: x if torch.equal(x, x) else -x, "aten:equal"),
        (lambda x: x[x > 0], "aten:"),
        (torch.nonzero, "aten:nonzero"),
        (torch.unique, "aten:"),
        (lambda x: x.cpu() + 1, "aten:_to_copy"),
        (lambda x: torch.tensor(x.tolist()), "aten:"),
        (lambda x: torch.geqrf(x[None])[0], "aten:geqrf"),
    ],
    ids=[
        "item",
        "if",
        "float",
        "equal",
        "mask",
        "nonzero",
        "unique",
        "cpu",
        "tolist",
        "conversion",
    ],
)
def test_host_reads_name_operator_and_line(device, environment, jit, refused, read, operator):
    """A step that reads values on the host is an error, after which everything goes on."""
    environment.conversions = True
    x = torch.tensor([1.0, -2.0], device=device)
    step = jit(read)
    step(x)
    for _ in range(2):
        with pytest.raises(
            refused, match=rf"^{operator}.*, line \d+ of .*test_jax_jit\.py: .*(lambda|step\(x\))"
        ):
            step(x)
    assert (x + 1).cpu().tolist() == [2, -1]


def test_a_host_read_of_the_backward_pass_is_found(device, jit, refused):
    """Autograd's part of a step runs in its thread, and has its line."""

    class Reads(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * g.sum().item()

    @jit
    def step(x):
        return torch.autograd.grad(Reads.apply(x).sum(), x)[0]

    x = torch.ones(2, device=device, requires_grad=True)
    step(x)
    with pytest.raises(refused, match=r"aten:item reads values, line \d+ of .*: return g \* g"):
        step(x)


def test_a_change_of_the_cpu_is_refused(device, jit, refused):
    """The program would not do it again; the message says what optimizers need."""
    counter = torch.zeros(())

    @jit
    def counts(x):
        counter.add_(1)
        return x + 1

    counts(torch.ones(2, device=device))
    with pytest.raises(refused, match="changes a tensor of the CPU"):
        counts(torch.ones(2, device=device))
    with pytest.raises(refused, match="capturable=True"):
        train(device, jit, torch.optim.Adam)


def test_gradients_that_nothing_clears_are_an_error(device, jit):
    """The message says to clear them in the step."""
    net = nn.Linear(2, 1).to(device)
    step = jit(lambda x: net(x).sum().backward())
    net(torch.ones(1, 2, device=device))
    x = torch.ones(1, 2, device=device)
    step(x)
    net.zero_grad()
    with pytest.raises(RuntimeError, match="zero_grad"):
        step(x)


def test_random_numbers_of_a_compiled_step(device, jit):
    """They differ from run to run, and the state of the device's generator repeats them."""
    dropout = nn.Dropout(0.5)
    step = jit(lambda x: dropout(x) + torch.rand_like(x))
    x = torch.ones(50, device=device)
    step(x)
    state = getattr(torch, device).get_rng_state()
    found = [step(x).cpu() for _ in range(3)]
    assert not torch.equal(found[0], found[1])
    assert not torch.equal(found[1], found[2])
    assert 5 < (found[0] < 1).sum() < 45
    getattr(torch, device).set_rng_state(state)
    assert torch.equal(step(x).cpu(), found[0])
    torch.manual_seed(3)
    first = step(x).cpu()
    torch.manual_seed(3)
    assert torch.equal(step(x).cpu(), first)


@pytest.mark.long  # `examples/text.py`, which is a test too, trains one without dropout
def test_a_transformer_with_dropout_learns(device, jit):
    """An unmodified module of PyTorch, with masks, dropout and clipped gradients."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).to(device)
    optimizer = torch.optim.AdamW(layer.parameters(), 0.01, capturable=True)
    mask = nn.Transformer.generate_square_subsequent_mask(4).to(device)

    @jit
    def step(x):
        optimizer.zero_grad()
        loss = (layer(x, src_mask=mask) - x.roll(1, -1)).square().mean()
        loss.backward()
        nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        optimizer.step()
        return loss.detach()

    x = torch.randn(4, 4, 8, device=device)
    losses = [step(x).item() for _ in range(60)]
    assert losses[-1] < 0.7 * losses[0]
    copy.deepcopy(layer)


def test_a_compiled_step_keeps_the_name_of_the_step(device, jit):
    """As decorators do."""

    @jit
    def step(x):
        """Say it."""

    assert (step.__name__, step.__doc__) == ("step", "Say it.")
    with pytest.raises(TypeError, match="at least one tensor of the device"):
        step.__class__(lambda: None)() or step.__class__._compile(step, (), {}, ())
