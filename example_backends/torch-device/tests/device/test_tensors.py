"""Tensors: constructors, copies, views, writes, pickles."""

import copy
import io
import pickle

import pytest
import torch


@pytest.fixture
def x(environment, device):
    return torch.arange(12.0).reshape(3, 4).to(device)


def test_constructors(environment, device):
    """Constructors make tensors on the device, of PyTorch's dtypes."""
    made = [
        torch.zeros(2, device=device),
        torch.ones(2, 3, dtype=torch.int32, device=device),
        torch.full((2,), 3, device=device),
        torch.arange(3, device=device),
        torch.tensor([1.0, 2.0], device=device),
        torch.eye(2, device=device),
        torch.linspace(0, 1, 3, device=device),
        torch.empty(0, 4, device=device),
    ]
    assert all(each.device.type == device for each in made)
    assert [each.dtype for each in made[:4]] == [
        torch.float32,
        torch.int32,
        torch.int64,
        torch.int64,
    ]
    assert torch.zeros_like(made[1]).cpu().tolist() == [[0, 0, 0], [0, 0, 0]]


def test_an_error_of_a_constructor_says_what_is_wrong(device):
    """PyTorch's functions for tensors without data cannot explain it: there are no tensors."""
    with pytest.raises((RuntimeError, ValueError), match="negative"):
        torch.full((-1,), 1.0, device=device)


def test_printing(x, device):
    """A tensor prints its values and its device."""
    assert f"device='{device}:0'" in repr(x)
    assert "11." in repr(x)


def test_views_share_storage(agree, x):
    """A write through a view is seen by all tensors of the storage."""

    def compute(place):
        y = x.to(place, copy=True)
        y[1:, 2] = 7
        y.T[0] += 100
        y.view(-1)[::5].mul_(2)
        y.transpose(0, 1).unfold(1, 2, 1)[3].zero_()
        return x, y

    agree(compute)


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8])
def test_views_of_another_dtype(x, dtype):
    """`view(dtype)` shows the bytes."""
    assert torch.equal(x.view(dtype).cpu(), x.cpu().view(dtype))


def test_complex_views(device):
    """Conjugates and parts of complex numbers are views."""
    x = torch.tensor([1 + 2j, 3 - 4j])
    y = x.to(device)
    assert torch.equal(y.conj().cpu(), x.conj())
    assert torch.equal((y.conj().imag + 1).cpu(), x.conj().imag + 1)
    y.imag.add_(1)
    assert y.cpu().tolist() == [1 + 3j, 3 - 3j]


def test_indexing(x):
    """Advanced indices read and write."""
    rows = torch.tensor([0, 2], device=x.device)
    assert x[rows, 1:3].cpu().tolist() == [[1, 2], [9, 10]]
    y = x.clone()
    y[rows, 0] = -1.0
    y[y > 9] = 0.0
    assert y.cpu().tolist() == [[-1, 1, 2, 3], [4, 5, 6, 7], [-1, 9, 0, 0]]


def test_resize_and_set(x, device):
    """`resize_`, `set_` and `squeeze_` change a tensor itself."""
    y = x.clone().resize_(2, 2)
    assert y.cpu().tolist() == [[0, 1], [2, 3]]
    y.resize_(3, 3)
    assert y.shape == (3, 3)
    assert y.cpu()[0].tolist() == [0, 1, 2]
    y.set_(x)
    assert torch.equal(y.cpu(), x.cpu())
    y = x[:1].clone()
    assert y.squeeze_(0).shape == (4,)


def test_copies(x, device):
    """Modules and tensors are copied with what they share, and nothing else."""
    shared = {"a": x, "b": x[1]}
    made = copy.deepcopy(shared)
    made["b"].zero_()
    assert made["a"].cpu()[1].tolist() == [0] * 4
    assert x.cpu()[1].tolist() == [4, 5, 6, 7]
    module = torch.nn.Linear(3, 2).to(device)
    again = copy.deepcopy(module)
    with torch.no_grad():
        again.weight.zero_()
    assert module.weight.cpu().abs().sum() > 0


def test_pickles_and_files(x, device):
    """Pickles and files bring tensors back to the device, also views."""
    assert torch.equal(pickle.loads(pickle.dumps(x.T)).cpu(), x.T.cpu())
    file = io.BytesIO()
    torch.save({"x": x, "part": x[1:]}, file)
    file.seek(0)
    found = torch.load(file)
    assert found["x"].device.type == device
    found["part"].zero_()
    assert found["x"].cpu().tolist() == [[0, 1, 2, 3], [0] * 4, [0] * 4]
    file.seek(0)
    assert torch.load(file, map_location="cpu")["x"].device.type == "cpu"


def test_errors_are_those_of_pytorch(x, device):
    """Mistakes of users raise PyTorch's own errors; nothing ends the process."""
    with pytest.raises(RuntimeError, match="same device"):
        x + torch.ones(3, 4)
    with pytest.raises(RuntimeError, match="broadcast"):
        x + torch.ones(5, device=device)
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.ones(2, dtype=torch.int64, device=device).add_(1.5)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        torch.ones(2, device=device).add_(x[:, :2])
    with pytest.raises(RuntimeError, match="index 0"):
        torch.zeros(2, device=f"{device}:1")
    with pytest.raises((RuntimeError, TypeError)):
        x.numpy()
    with pytest.raises(NotImplementedError):
        x.to_sparse()
    with pytest.raises(NotImplementedError):
        torch.zeros(2, dtype=torch.complex32, device=device)
    assert x.data_ptr() == 0
    assert (x + torch.tensor(2.0)).cpu()[0, 0] == 2


def test_no_view_reaches_beyond_its_storage(device):
    """Not even that of an empty storage, of which NumPy checks no bounds."""
    with pytest.raises(RuntimeError, match="out of bounds of the storage"):
        torch.empty(0, device=device).as_strided((3, 4), (4, 1))


def test_conversions_follow_the_policy(x, environment):
    """An operator without an implementation is refused with reasons, or converted and counted."""
    h = torch.ones(2, 2, device=x.device)
    with pytest.raises(NotImplementedError, match="aten:geqrf does not run on the device"):
        torch.geqrf(h)
    environment.conversions = True
    torch.geqrf(h)
    assert environment.report().conversions == {"aten:geqrf": 1}


def test_random_numbers(device):
    """The generator's state can be seeded, saved and restored."""
    module = getattr(torch, device)
    torch.manual_seed(3)
    state = module.get_rng_state()
    first = torch.rand(4, device=device).cpu(), torch.randn(2, device=device).cpu()
    module.set_rng_state(state)
    assert torch.equal(torch.rand(4, device=device).cpu(), first[0])
    torch.manual_seed(3)
    assert torch.equal(torch.rand(4, device=device).cpu(), first[0])
    assert sorted(torch.randperm(5, device=device).cpu().tolist()) == [0, 1, 2, 3, 4]


def test_lists_of_tensors(x):
    """Operators of lists, as optimizers use them."""
    xs = [x.clone(), x[:1].clone()]
    torch._foreach_add_(xs, 1)
    assert xs[1].cpu().tolist() == [[1, 2, 3, 4]]
    assert torch.cat(xs).shape == (4, 4)
    assert [tuple(each.shape) for each in torch.split(x, 2)] == [(2, 4), (1, 4)]


def test_registered_operators_dispatch(environment, device):
    """The class of the data selects the implementation, by the operator's identity."""
    system = environment.system
    assert system.lookup("aten:add.Tensor", (environment.data_type,)) is not None
    assert system.lookup("aten:add.Tensor", (str,)) is None


def test_conjugates_that_are_not_computed_yet(device):
    """Operators that get the views themselves read conjugates and negatives, of numbers too."""
    for x in (torch.tensor(1 + 2j), torch.tensor([1 + 2j, 3 - 4j])):
        y = x.to(device)
        assert torch.equal(y.conj().clone().cpu(), x.conj())
        assert torch.equal(y.conj().imag.clone().cpu(), x.conj().imag)
        assert torch.equal(torch._neg_view(y.real.clone()).clone().cpu(), -x.real)
        assert torch.equal((y.conj() * 2).cpu(), x.conj() * 2)
    assert torch.equal(torch.dot(y.conj(), y).cpu(), torch.dot(x.conj(), x))


def test_views_beyond_a_storage_are_refused(x):
    """As by PyTorch, also where a storage has the right number of elements elsewhere."""
    with pytest.raises(RuntimeError, match="out of bounds"):
        x.as_strided((12,), (1,), 1)
    with pytest.raises(RuntimeError, match="negative sizes"):
        x.clone().resize_(-1)


def test_zero_dimensions_count_less_for_the_dtype(device):
    """The dtype of a result depends on which argument is a number without dimensions."""
    for a in (torch.ones(2, dtype=torch.float32), torch.tensor(1.0), torch.ones(2).long()):
        for b in (torch.tensor(2.0, dtype=torch.float64), torch.ones(2, dtype=torch.float64)):
            assert (a.to(device) + b.to(device)).dtype == (a + b).dtype
            assert (a.to(device) * 2.5).dtype == (a * 2.5).dtype
            assert torch.add(a.to(device), b.to(device)).dtype == (a + b).dtype


def test_kernels_run_in_threads(x):
    """Each call runs in a context of its own: results are those of one thread."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: ((x * n) / 0).sum().isnan().item(), range(200)))
    assert found == [True] * 200


def test_what_is_like_a_tensor_may_be_elsewhere(device):
    """`device=` decides where it is made; an index that there is not is refused."""
    x = torch.ones(2, 3).to(device)
    assert torch.zeros_like(x, device="cpu").device.type == "cpu"
    assert torch.full_like(x, 3, device="meta").device.type == "meta"
    assert torch.rand_like(x, device="cpu").device.type == "cpu"
    assert torch.zeros_like(torch.ones(2), device=device).device.type == device
    with pytest.raises(RuntimeError, match="has the index 0 alone"):
        torch.ones_like(x, device=f"{device}:1")


def test_lists_of_other_tensors(agree):
    """Operators of lists, also in place and of several dtypes and views, are those of the CPU."""

    def compute(place):
        x = torch.arange(6.0).reshape(2, 3).to(place)
        whole = torch.ones(2, dtype=torch.int64).to(place)
        added = torch._foreach_add([x, whole], [x * 2, whole], alpha=2)
        torch._foreach_add_([x[0], x[:, 0]], [x[1].clone(), x[:, 1].clone()], alpha=0.5)
        torch._foreach_mul_([x, whole], 3)
        torch._foreach_addcdiv_([x], [x + 1], [x + 2], [0.5])
        with pytest.raises(RuntimeError, match="can't be cast to the desired output type"):
            torch._foreach_mul_([whole], 0.5)
        return *added, x, whole

    agree(compute)


def test_a_state_of_other_random_numbers_is_refused(device):
    with pytest.raises(RuntimeError, match="state size to be 3"):
        torch.get_device_module(device).set_rng_state(torch.zeros(3, dtype=torch.uint8))


def test_a_storage_of_the_cpu_stays_as_it_is(device):
    """What the device has to do for its storages leaves those of the CPU alone."""
    storage = torch.UntypedStorage(8)
    storage.fill_(1)
    assert (
        storage.tolist() == storage.clone().tolist() == copy.deepcopy(storage).tolist() == [1] * 8
    )
    assert len(storage) == storage.nbytes() == 8
    storage[0] = 2
    assert storage[0] == 2
    moved = torch.ones(2, 3).to(device).untyped_storage()
    assert type(moved) is torch.UntypedStorage
    assert (len(moved), moved.nbytes(), moved.device.type) == (24, 24, device)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: torch.ops.aten._unsafe_view(x, [3, 2]).add_(1),
        lambda x: x.t_().add_(torch.arange(3.0, device=x.device)[:, None]),
        lambda x: x.unsqueeze_(0).squeeze_().add_(1),
        lambda x: x.view(torch.int32).bitwise_and_(0x7F800000),
        lambda x: x.unfold(1, 2, 2).mul_(2),
        lambda x: x.detach()[1:].zero_(),
    ],
    ids=["unsafe_view", "t_", "squeeze_", "bits", "unfold", "detach"],
)
def test_each_view_is_noticed(agree, environment, change):
    """A storage whose tensors have another layout than it is read by their layout."""
    environment.conversions = True

    def compute(place):
        x = torch.arange(6.0).reshape(2, 3).clone().to(place)
        return x, x.detach(), change(x), x + 1, x @ x.mT

    agree(compute)
