"""Optimizers and distributions of PyTorch, each compared with the CPU."""

from inspect import signature

import pytest
import torch
from torch import distributions as d
from torch import nn

OPTIMIZERS = {
    "Adadelta": {},
    "Adafactor": {},
    "Adagrad": {},
    "Adam": {"amsgrad": True},
    "AdamW": {},
    "Adamax": {},
    "ASGD": {"t0": 1},
    "LBFGS": {"max_iter": 4, "line_search_fn": "strong_wolfe"},
    "Muon": {},
    "NAdam": {},
    "RAdam": {},
    "RMSprop": {"momentum": 0.9, "centered": True},
    "Rprop": {},
    "SGD": {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
}


@pytest.mark.parametrize("options", [{}, {"foreach": False}, {"fused": True}],
                         ids=["default", "one-by-one", "fused"])  # fmt: skip
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(device, environment, name, options):
    """The parameters after some steps are those of the CPU; only fused steps are converted."""
    kind, options = getattr(torch.optim, name), {**OPTIMIZERS[name], **options}
    if not options.keys() <= signature(kind).parameters.keys():
        pytest.skip("the optimizer has no such way")
    environment.conversions = "fused" in options

    def trained(place):
        weight = nn.Parameter(weights.clone().to(place))
        optimizer = kind([weight], **options)

        def loss():
            optimizer.zero_grad()
            found = (x.to(place) @ weight).tanh().square().sum()
            found.backward()
            return found

        for _ in range(4):
            optimizer.step(loss)
        return weight.detach().cpu()

    x, weights = torch.randn(8, 4).double(), torch.randn(4, 3).double()
    if name == "Muon" and device == "npy":  # it computes in bfloat16
        with pytest.raises(NotImplementedError, match="NumPy has no bfloat16"):
            trained(device)
        return
    rtol = 1e-2 if name == "Muon" else 1e-4  # the last digit of bfloat16
    torch.testing.assert_close(trained(device), trained("cpu"), rtol=rtol, atol=1e-5)


A, B = torch.tensor([0.7, 1.5, 3.0]), torch.tensor([2.0, 1.2, 0.8])
P = torch.tensor([0.2, 0.3, 0.5])
M = torch.tensor([[2.0, 0.3, 0.0], [0.3, 1.0, 0.2], [0.0, 0.2, 1.5]])
DISTRIBUTIONS = {
    "Bernoulli": {"probs": P},
    "Beta": {"concentration1": A, "concentration0": B},
    "Binomial": {"total_count": 5, "probs": P},
    "Categorical": {"probs": P},
    "Cauchy": {"loc": A, "scale": B},
    "Chi2": {"df": A},
    "ContinuousBernoulli": {"probs": P},
    "Dirichlet": {"concentration": A},
    "Exponential": {"rate": A},
    "FisherSnedecor": {"df1": A + 3, "df2": B + 3},
    "Gamma": {"concentration": A, "rate": B},
    "GeneralizedPareto": {"loc": A, "scale": B, "concentration": P},
    "Geometric": {"probs": P},
    "Gumbel": {"loc": A, "scale": B},
    "HalfCauchy": {"scale": A},
    "HalfNormal": {"scale": A},
    "Independent": {"loc": A, "scale": B},
    "InverseGamma": {"concentration": A, "rate": B},
    "Kumaraswamy": {"concentration1": A, "concentration0": B},
    "LKJCholesky": {"dim": 3, "concentration": A},
    "Laplace": {"loc": A, "scale": B},
    "LogNormal": {"loc": A, "scale": B},
    "LogisticNormal": {"loc": A, "scale": B},
    "LowRankMultivariateNormal": {"loc": A, "cov_factor": M[:, :2], "cov_diag": B},
    "MixtureSameFamily": {"probs": P, "loc": A, "scale": B},
    "Multinomial": {"total_count": 5, "probs": P},
    "MultivariateNormal": {"loc": A, "covariance_matrix": M},
    "NegativeBinomial": {"total_count": 5, "probs": P},
    "Normal": {"loc": A, "scale": B},
    "OneHotCategorical": {"probs": P},
    "OneHotCategoricalStraightThrough": {"probs": P},
    "Pareto": {"scale": A, "alpha": B},
    "Poisson": {"rate": A},
    "RelaxedBernoulli": {"temperature": B, "probs": P},
    "RelaxedOneHotCategorical": {"temperature": A[1], "probs": P},
    "StudentT": {"df": A, "loc": B},
    "TransformedDistribution": {"loc": A, "scale": B},
    "Uniform": {"low": A, "high": A + B},
    "VonMises": {"loc": A, "concentration": B},
    "Weibull": {"scale": A, "concentration": B},
    "Wishart": {"df": A + 7, "covariance_matrix": M},
}
COMPOSED = {
    "Independent": lambda **p: d.Independent(d.Normal(**p), 1),
    "MixtureSameFamily": lambda probs, **p: d.MixtureSameFamily(
        d.Categorical(probs), d.Normal(**p)
    ),
    "TransformedDistribution": lambda **p: d.TransformedDistribution(
        d.Normal(**p), [d.TanhTransform(), d.AffineTransform(1.0, 2.0)]
    ),
}


def leaf(value, place):
    """Return a new tensor of a device, whose gradient is taken, or a number as it is."""
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().to(place, copy=True).requires_grad_(value.is_floating_point())


def gradients(value, leaves):
    leaves = [each for each in leaves if isinstance(each, torch.Tensor) and each.requires_grad]
    found = torch.autograd.grad(value.sum(), leaves, retain_graph=True, allow_unused=True)
    return [each if each is None else each.cpu() for each in found]


@pytest.mark.filterwarnings("ignore:Singular sample")  # of Wishart, also on the CPU
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions(device, environment, name):
    """Probabilities of samples, and gradients, are the CPU's; those of samples in the mean."""
    environment.conversions = True
    kind = COMPOSED.get(name) or getattr(d, name)
    places = {place: {key: leaf(value, place) for key, value in DISTRIBUTIONS[name].items()}
              for place in (device, "cpu")}  # fmt: skip
    found, wanted = (kind(**each) for each in places.values())
    samples = found.sample((4,)), wanted.sample((4,))
    assert samples[0].device.type == device
    assert (samples[0].shape, samples[0].dtype) == (samples[1].shape, samples[1].dtype)
    for sample in samples:
        results = []
        for made, (place, parameters) in zip((found, wanted), places.items(), strict=True):
            values = leaf(sample, place)
            logarithm = made.log_prob(values)
            results.append([logarithm.detach().cpu(),
                            *gradients(logarithm, [values, *parameters.values()])])  # fmt: skip
        torch.testing.assert_close(*results, rtol=1e-3, atol=1e-3, equal_nan=True)
    if found.has_rsample and name != "Wishart":  # PyTorch's samples of it have no gradient
        means = [
            gradients(made.rsample((4000,)).tanh() / 4000, parameters.values())
            for made, parameters in zip((found, wanted), places.values(), strict=True)
        ]
        torch.testing.assert_close(*means, rtol=0.1, atol=0.1)
