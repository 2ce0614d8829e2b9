"""Steps that JAX compiles."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn.functional import dropout
from torch.utils.checkpoint import checkpoint

from torch_device_jit import HostReadError, jax_jit


@pytest.fixture
def device():
    return "jax"


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
def test_a_compiled_step_trains_as_the_step_itself(device, optimizer):
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
    found, net = train(device, jax_jit, optimizer, shapes)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
    for a, b in zip(net.state_dict().values(), cpu.state_dict().values(), strict=True):
        torch.testing.assert_close(a.cpu(), b, rtol=1e-3, atol=1e-5)
    for a, b in zip(net.parameters(), cpu.parameters(), strict=True):
        torch.testing.assert_close(a.grad.cpu(), b.grad, rtol=1e-3, atol=1e-5)


def test_other_arguments_are_constants_of_the_program(device):
    """A step is compiled for each value of an argument that is no tensor."""
    calls = []

    @jax_jit
    def step(x, factor, *, shift=0):
        calls.append(factor)
        return {"y": x * factor + shift, "factor": factor}

    x = torch.ones(2, device=device)
    for factor in (1, 2, 2, 3, 2, 2.0):
        assert step(x, factor)["y"].cpu().tolist() == [factor] * 2
    assert step(x, 2, shift=5)["y"].cpu().tolist() == [7, 7]
    assert len(calls) < 2 * 7


def test_an_argument_may_be_changed(device):
    """What a step writes into its arguments, also into views, is there after it."""

    @jax_jit
    def step(x, y):
        x.add_(1)
        y[0] = 5
        return x.sum()

    for _ in range(3):
        x, base = torch.zeros(2, device=device), torch.zeros(3, 2, device=device)
        assert step(x, base[1:]).cpu() == 2
        assert x.cpu().tolist() == [1, 1]
        assert base.cpu().tolist() == [[0, 0], [5, 5], [0, 0]]


def test_an_argument_that_the_step_changes_otherwise_is_refused(device):
    """Two names of one storage would have two values in the program."""
    state = torch.zeros(2, device=device)

    @jax_jit
    def step(x):
        state.add_(1)
        return x + state

    x = torch.ones(2, device=device)
    assert [step(x).cpu().tolist()[0] for _ in range(3)] == [2, 3, 4]
    with pytest.raises(RuntimeError, match="an argument shares its storage"):
        step(state)


def test_a_gradient_left_in_an_argument_is_refused(device):
    """It would be lost, and is returned otherwise."""

    @jax_jit
    def left(x):
        x.square().sum().backward()
        return x.detach() + 1

    @jax_jit
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
def test_host_reads_name_operator_and_line(device, environment, read, operator):
    """A step that reads values on the host is an error, after which everything goes on."""
    environment.conversions = True
    x = torch.tensor([1.0, -2.0], device=device)
    step = jax_jit(read)
    step(x)
    for _ in range(2):
        with pytest.raises(
            HostReadError,
            match=rf"^{operator}.*, line \d+ of .*test_jax_jit\.py: .*(lambda|step\(x\))",
        ):
            step(x)
    assert (x + 1).cpu().tolist() == [2, -1]


def test_a_host_read_of_the_backward_pass_is_found(device):
    """Autograd's part of a step runs in its thread, and has its line."""

    class Reads(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * g.sum().item()

    @jax_jit
    def step(x):
        return torch.autograd.grad(Reads.apply(x).sum(), x)[0]

    x = torch.ones(2, device=device, requires_grad=True)
    step(x)
    with pytest.raises(HostReadError, match=r"aten:item reads .*line \d+ of .*: return g \* g"):
        step(x)


def test_a_change_of_the_cpu_is_refused(device):
    """The program would not do it again; the message says what optimizers need."""
    counter = torch.zeros(())

    @jax_jit
    def counts(x):
        counter.add_(1)
        return x + 1

    counts(torch.ones(2, device=device))
    with pytest.raises(HostReadError, match="changes a tensor of the CPU"):
        counts(torch.ones(2, device=device))
    with pytest.raises(HostReadError, match="capturable=True"):
        train(device, jax_jit, torch.optim.Adam)


def test_gradients_that_nothing_clears_are_an_error(device):
    """The message says to clear them in the step."""
    net = nn.Linear(2, 1).to(device)
    step = jax_jit(lambda x: net(x).sum().backward())
    net(torch.ones(1, 2, device=device))
    x = torch.ones(1, 2, device=device)
    step(x)
    net.zero_grad()
    with pytest.raises(RuntimeError, match="zero_grad"):
        step(x)


def test_random_numbers_of_a_compiled_step(device):
    """They differ from run to run, and the state of the device's generator repeats them."""
    dropout = nn.Dropout(0.5)
    step = jax_jit(lambda x: dropout(x) + torch.rand_like(x))
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


def test_a_compiled_step_keeps_the_name_of_the_step(device):
    """As decorators do."""

    @jax_jit
    def step(x):
        """Say it."""

    assert (step.__name__, step.__doc__) == ("step", "Say it.")
    with pytest.raises(TypeError, match="at least one tensor of the device"):
        step.__class__(lambda: None)() or step.__class__._compile(step, (), {}, ())


@pytest.mark.parametrize("reentrant", [False, True], ids=["saved-by-hooks", "reentrant"])
def test_checkpoints(device, reentrant):
    """A compiled step has the same mask in both passes, and another one in each run."""

    @jax_jit
    def step(x):
        leaf = x.detach().requires_grad_()
        y = checkpoint(lambda x: dropout(x, 0.5), leaf, use_reentrant=reentrant)
        y.sum().backward()
        return y.detach(), leaf.grad, dropout(x, 0.5)

    x = torch.ones(100, device=device)
    found = [[each.cpu() for each in step(x)] for _ in range(4)]
    for y, gradient, after in found:
        assert torch.equal(gradient, y)
        assert not torch.equal(after, y)
    assert not torch.equal(found[2][0], found[3][0])


def losses(place, compile, schedule=None, moves_late=False):
    """Return the losses of some steps, the step, and the network."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    if not moves_late:
        net.to(place)
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    net.to(place)
    rates = schedule and schedule(optimizer)

    @compile
    def step(x):
        optimizer.zero_grad()
        loss = (net(x) - 1).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    found = []
    for _ in range(7):
        found.append(step(torch.ones(2, 3, device=place)).cpu())
        if rates:
            rates.step()
    return torch.stack(found), step, net


def test_a_module_that_moves(device):
    """A step trains parameters whose optimizer is older than their move; after it, one raises."""
    found, run, net = losses(device, jax_jit, moves_late=True)
    torch.testing.assert_close(found, losses("cpu", lambda step: step)[0])
    for move in (net.double, net.float, net.cpu, lambda: net.to(device)):
        move()
        with pytest.raises(RuntimeError, match="has moved since the step was compiled"):
            run(torch.ones(2, 3, device=device))


def test_a_schedule_of_the_learning_rate(device):
    """A step whose optimizer has a schedule trains as on the CPU: numbers are no constants."""
    schedule = partial(torch.optim.lr_scheduler.StepLR, step_size=2, gamma=0.1)
    found = losses(device, jax_jit, schedule)[0]
    torch.testing.assert_close(found, losses("cpu", lambda step: step, schedule)[0])


def test_modes_of_modules(device):
    """`train` and `eval` of a module, also of one in another, decide which program runs."""
    net = nn.Sequential(nn.Linear(3, 8), nn.Sequential(nn.Dropout(0.5), nn.BatchNorm1d(8)))
    net.to(device)
    run = jax_jit(lambda x: net(x).detach())
    x = torch.randn(4, 3, device=device)
    for _ in range(3):
        run(x)
    net.eval()
    torch.testing.assert_close(run(x).cpu(), net(x).detach().cpu())
    net[1][0].train()
    assert not torch.equal(run(x).cpu(), run(x).cpu())
    net.eval()
    torch.testing.assert_close(run(x).cpu(), net(x).detach().cpu())


SCALE = 1


def test_numbers_that_the_code_of_a_step_names(device, monkeypatch):
    """Variables of a closure and global numbers are not frozen."""
    factor = 2
    run = jax_jit(lambda x: x * factor + SCALE)
    x = torch.ones(2, device=device)
    assert [run(x).cpu()[0].item() for _ in range(3)] == [3] * 3
    factor = 5
    assert run(x).cpu().tolist() == [6, 6]
    monkeypatch.setitem(globals(), "SCALE", 1.5)
    assert run(x).cpu().tolist() == [6.5, 6.5]


def test_what_may_change_unseen_is_listed(device, environment):
    """Other objects that the code names are constants, which the report says."""
    options = {"factor": 2}
    run = jax_jit(lambda x: x * options["factor"])
    x = torch.ones(2, device=device)
    run(x), run(x)
    assert any("options (dict)" in each for each in environment.report().constants)
    assert "options (dict)" in str(environment.report())


def test_a_step_that_changes_its_own_numbers_is_refused(device):
    """A compiled step would not do it again."""
    net = nn.Linear(3, 1).to(device)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)

    @jax_jit
    def step(x):
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
        schedule.step()

    x = torch.ones(2, 3, device=device)
    step(x)
    with pytest.raises(RuntimeError, match=r"the step changes 'lr'.* outside of the step"):
        step(x)
