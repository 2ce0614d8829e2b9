"""What leaves the device is counted."""

import pytest
import torch


@pytest.fixture
def x(device):
    return torch.arange(6.0, device=device).reshape(2, 3)


def assert_positive(x):
    assert x.sum() > 0


@pytest.mark.parametrize(
    ("read", "counted"),
    [
        (lambda x: x.sum().item(), {"aten:item": 1}),
        (lambda x: bool(x.sum() > 1), {"aten:item": 1}),
        (lambda x: float(x[0, 1]), {"aten:item": 1}),
        (lambda x: int(x[0, 1]), {"aten:item": 1}),
        (lambda x: list(range(x[0, 1].long())), {"aten:item": 1}),
        (lambda x: [0, 1, 2][x[0, 1].long()], {"aten:item": 1}),
        (lambda x: torch.equal(x, x), {"aten:equal": 1}),
        (lambda x: torch.allclose(x, x), {"aten:item": 1}),
        (lambda x: 1.0 in x, {"aten:item": 1}),
        (assert_positive, {"aten:item": 1}),
    ],
    ids=["item", "bool", "float", "int", "index", "list-index", "equal", "allclose", "in", "if"],
)
def test_reads_of_values(x, environment, read, counted):
    """Each operator that gives the host a value is counted, whatever the program calls."""
    environment.report().reset()
    read(x)
    assert dict(environment.report().host_reads) == counted
    assert not environment.report().conversions


@pytest.mark.parametrize(
    "copy",
    [lambda x: x.cpu(), lambda x: x.to("cpu", torch.float64), lambda x: x.tolist(),
     repr, lambda x: torch.zeros(2, 3).copy_(x)],
    ids=["cpu", "to", "tolist", "repr", "copy_"],
)  # fmt: skip
def test_copies_to_the_cpu(x, environment, copy):
    """What the program asks for is counted apart from conversions."""
    environment.report().reset()
    copy(x)
    assert environment.report().copies["to_cpu"] >= 1
    assert not environment.report().conversions


def test_conversions(x, environment):
    """Each operator that ran on the CPU is counted, also within a decomposition."""
    environment.conversions = True
    environment.report().reset()
    torch.geqrf(x)
    torch.geqrf(x)
    report = environment.report()
    assert dict(report.conversions) == {"aten:geqrf": 2}
    assert "conversions: 2\n       2 aten:geqrf\nhost reads: 0" in str(report)


def test_a_report_begins_anew(x, environment):
    """`reset` sets all counts to zero."""
    x.sum().item()
    environment.report().reset()
    assert str(environment.report()) == (
        "conversions: 0\nhost reads: 0\ncopies: 0\ndecompositions: 0"
    )
