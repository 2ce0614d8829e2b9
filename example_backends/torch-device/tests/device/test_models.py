"""Models: gradients, function transforms, compilation, training."""

import pytest
import torch
from torch import nn


def gradients(net, x):
    """Return the gradients of a network's parameters."""
    net(x).square().sum().backward()
    return [each.grad for each in net.parameters()]


@pytest.mark.parametrize(
    ("f", "layout"),
    [
        (lambda x: torch.linalg.pinv(torch.complex(x, 2 * x), hermitian=True).abs(), "contiguous"),
        (torch.linalg.det, "contiguous"),
        (torch.linalg.det, "transposed"),
        (torch.linalg.det, "expanded"),
        (lambda x: torch.linalg.slogdet(x)[1], "contiguous"),
        (lambda x: torch.linalg.slogdet(x)[1], "transposed"),
        (lambda x: torch.linalg.det(torch.complex(x, 2 * x)).abs(), "transposed"),
        (lambda x: torch.linalg.eigvals(x).abs(), "contiguous"),
        (lambda x: torch.linalg.solve(x, x @ x + 1), "contiguous"),
        (lambda x: torch.linalg.solve(x, x @ x + 1, left=False), "transposed"),
        (lambda x: torch.linalg.lu_solve(*torch.linalg.lu_factor(x), x, adjoint=True), "expanded"),
        (lambda x: torch.kron(x, x), "contiguous"),
        (lambda x: torch.fft.ihfft2(x).abs(), "contiguous"),
        (lambda x: torch.conj_physical(torch.complex(x, 2 * x)).abs(), "contiguous"),
    ],
    ids=["pinv", "det", "det-T", "det-expanded", "slogdet", "slogdet-T", "complex", "eigvals",
         "solve", "solve-right-T", "lu_solve", "kron", "ihfft2", "conj_physical"],
)  # fmt: skip
def test_gradients_of_matrices(agree, environment, f, layout):
    """They are those of the CPU, also where PyTorch's gradient depends on the layout."""
    environment.conversions = True

    def gradient(place):
        leaf = torch.randn(4, 4).to(place).requires_grad_()
        given = {"contiguous": leaf, "transposed": leaf.mT, "expanded": leaf.expand(2, 4, 4)}
        return torch.autograd.grad(f(given[layout]).sum(), leaf)

    agree(gradient, rtol=1e-3, atol=1e-4)


def test_an_implementation_that_would_have_no_gradient_is_refused(environment):
    """Autograd differentiates what such an operator is written in."""
    with pytest.raises(ValueError, match=r"aten::kron would lose its gradient"):
        environment.register_op(torch.ops.aten.kron.default)(lambda x, y: x)
    with pytest.raises(ValueError, match="takes no tensors"):
        environment.register_op(torch.ops.aten.copysign.default)(lambda x, y: x)


def lowest_places(x):
    """Return the places that pooling chooses where all elements are as low as the padding."""
    lowest = torch.full_like(x, -torch.inf)[None]
    return nn.functional.max_pool2d(lowest, 2, padding=1, return_indices=True)[1]


@pytest.mark.parametrize(
    "f",
    [
        torch.sgn,
        lambda x: nn.functional.conv_transpose2d(
            x[None, None], x[None, :2, None, :2].mT, stride=2, output_padding=1, padding=1
        ),
        lambda x: nn.functional.conv_transpose2d(
            x[None, None], x[None, :1, None, :1], stride=1, output_padding=1, dilation=2
        ),
        lambda x: nn.functional.avg_pool2d(x[None], 3, 2, 1, ceil_mode=True),
        lambda x: nn.functional.avg_pool2d(x[None], 2, count_include_pad=False, padding=1),
        lambda x: nn.functional.max_pool2d(x[None], 3, 2, 1, ceil_mode=True),
        lambda x: x.sum() * lowest_places(x),
        lambda x: nn.functional.adaptive_avg_pool2d(x[None], 3),
        lambda x: nn.functional.adaptive_max_pool2d(x[None], 2),
        lambda x: nn.functional.interpolate(x[None, None], scale_factor=1.7, mode="nearest"),
        lambda x: nn.functional.interpolate(x[None, None], 7, mode="bilinear", align_corners=True),
        lambda x: nn.functional.interpolate(x[None, None], 3, mode="bicubic"),
        lambda x: nn.functional.pad(x[None], (1, 2, 0, -1), mode="replicate"),
        lambda x: torch.cdist(x, x[:2] * 2, p=1.5),
        lambda x: torch.cdist(x, x[:2] * 2, p=0),
        nn.functional.pdist,
        lambda x: torch.polar(x[0, 0].abs(), x[0, 0]).abs(),
    ],
    ids=["sgn", "conv_transpose", "conv_transpose-dilated", "avg_pool-ceil", "avg_pool-count",
         "max_pool-ceil", "max_pool-lowest", "adaptive_avg", "adaptive_max", "nearest", "bilinear",
         "bicubic", "replicate", "cdist", "cdist-count", "pdist", "polar"],
)  # fmt: skip
def test_gradients_of_one_operator(agree, f):
    """Values and gradients are those of the CPU, without conversions."""

    def compute(place):
        leaf = torch.randn(4, 4).to(place).requires_grad_()
        value = f(leaf)
        return value, *torch.autograd.grad((value * value).sum(), leaf)

    agree(compute, rtol=1e-4, atol=1e-4)


def normalized(x):
    """Normalize with statistics that are given."""
    mean, variance = x[0] * 0.1, x[1] ** 2 + 1
    return torch.native_batch_norm(x, None, None, mean, variance, False, 0.1, 1e-5)


@pytest.mark.parametrize(
    "f",
    [
        torch.linalg.eigvalsh,
        lambda x: torch.linalg.eigvalsh(x, UPLO="U"),
        lambda x: torch.linalg.eigvals(x @ x.T).real.sort().values,
        lambda x: torch.linalg.cholesky((x @ x.T + torch.eye(4, device=x.device)).tril()),
        lambda x: torch.linalg.solve_triangular(x.expand(2, 4, 4), x, upper=True),
        lambda x: torch.linalg.solve_triangular(x, x, upper=False, left=False),
        lambda x: torch.linalg.solve_triangular(x, x, upper=False, unitriangular=True),
        torch.linalg.matrix_exp,
        *(lambda x, n=n: torch.polygamma(n, x.sigmoid() - 30 * (x > 0)) for n in range(2)),
        normalized,
        lambda x: torch.addmv(x[0].long(), (x * 9).long(), x[1].long(), alpha=0.6, beta=2.6),
    ],
    ids=["lower", "upper", "eigvals", "cholesky", "triangular", "triangular-right",
         "triangular-unit", "matrix_exp", "polygamma-0", "polygamma-1", "batch_norm", "integers"],
)  # fmt: skip
def test_values_of_one_operator(agree, f):
    """They are those of the CPU without conversions: of halves of matrices, and far from zero."""
    agree(lambda place: f(torch.randn(4, 4).to(place)), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("options", [{}, {"bias": False}, {"num_layers": 2, "bidirectional": True}],
                         ids=["plain", "without-bias", "both-ways"])  # fmt: skip
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_networks(agree, kind, options):
    """Results and gradients are those of the CPU, without conversions."""

    def compute(place):
        net = kind(3, 4, **options).to(place)
        found = net(torch.randn(5, 2, 3).to(place))[0]
        return found, *torch.autograd.grad(found.square().sum(), [*net.parameters()])

    agree(compute, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
def test_statistics_of_batches(agree, training):
    """A normalization changes its running statistics as on the CPU, when it trains."""

    def compute(place):
        net = nn.BatchNorm2d(3).train(training).to(place)
        x = (torch.randn(4, 3, 5, 5) * 2 + 1).to(place).requires_grad_()
        net(x).square().sum().backward()
        return x.grad, net.weight.grad, *net.buffers()

    agree(compute, rtol=1e-3, atol=1e-4)


def test_a_kernel_that_fits_nowhere(device):
    """It is refused, as by the CPU."""
    with pytest.raises(RuntimeError, match="Kernel size can't be greater than actual input size"):
        nn.functional.conv2d(torch.ones(1, 3, 2, 2).to(device), torch.ones(4, 3, 3, 3).to(device))
