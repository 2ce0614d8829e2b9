"""The comparison finds what differs from SciPy, and nothing else."""

from __future__ import annotations

import doctest
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from scipy_dispatch import ndimage, system, testing
from scipy_dispatch.testing import (
    EXACT,
    SAMPLES,
    Comparison,
    Tolerance,
    _comparison,
    _difference,
    allowed_for,
    assert_identical,
    call,
    difference,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

IMAGE = np.random.default_rng(0).random((5, 6))
TENTH = {"ndimage.sobel": {"double": Tolerance(0.1, 0, "a test"), "single": EXACT}}


@pytest.fixture
def backend() -> Iterator[Callable[..., Comparison]]:
    """Return a function that makes a backend of `sobel`, and a comparison with it."""

    def make(function: Callable[..., Any], **options: Any) -> Comparison:
        functions = {"scipy_dispatch.ndimage:sobel": {"function": function, **options}}
        description = {"name": "tried", "primary_types": ["numpy:ndarray"], "functions": functions}
        system.register({**description, "requires_opt_in": True})
        return Comparison("tried", TENTH, prioritize=True)

    yield make
    system.unregister("tried")


WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "values": (lambda right: right * 1.2, "of the largest"),
    "shape": (lambda right: right[1:], "the shape"),
    "type": (lambda right: right.astype("f4"), "float32 for float64"),
    "list": (lambda right: right.tolist(), "list"),
    "NaN": (lambda right: np.where(right == right.max(), np.nan, right), "nan"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_result_is_found(name: str, backend: Any) -> None:
    change, message = WRONG[name]
    tried = backend(lambda *args: change(ndimage.sobel.invoke(backend="default")(*args)))
    with pytest.raises(AssertionError, match=message):
        tried.check("ndimage.sobel", call(IMAGE))


def test_a_result_within_the_tolerance_passes(backend: Any) -> None:
    tried = backend(lambda *args: 1.01 * ndimage.sobel.invoke(backend="default")(*args))
    assert tried.functions == ["ndimage.sobel"]
    assert tried.check("ndimage.sobel", call(IMAGE)) is None
    with pytest.raises(AssertionError, match=r"1\.\de-02 of the largest"):
        tried.check("ndimage.sobel", call(IMAGE.astype("f4")))


def test_a_backend_that_defers(backend: Any) -> None:
    tried = backend(ndimage.laplace, should_run=lambda *args, **kwargs: "never")
    assert tried.check("ndimage.sobel", call(IMAGE), may_defer=True) == "never"
    with pytest.raises(AssertionError, match="never"):
        tried.check("ndimage.sobel", call(IMAGE))
    assert tried.why_deferred("ndimage.laplace", call(IMAGE)) == (
        "tried does not implement ndimage.laplace"
    )


def test_arguments_that_are_overwritten_are_found(backend: Any) -> None:
    def sobel(image: Any) -> Any:
        result = ndimage.sobel.invoke(backend="default")(image)
        image[0] = 0
        return result

    with pytest.raises(AssertionError, match="writes into its arguments"):
        backend(sobel).check("ndimage.sobel", call(IMAGE.copy()))


def test_an_error_of_scipy_must_be_an_error_of_the_backend(backend: Any) -> None:
    tried = backend(lambda image, axis: image)
    with pytest.raises(AssertionError, match="no error, where SciPy raises"):
        tried.check("ndimage.sobel", call(IMAGE, 7))


def test_identical_means_the_same_bits() -> None:
    assert_identical((np.array([np.nan, 1.0]), "a"), (np.array([np.nan, 1.0]), "a"))
    for pair in (
        (np.array([0.0]), np.array([-0.0])),
        (np.float64(1), np.array(1.0)),
        ([1], (1,)),
    ):
        with pytest.raises(AssertionError):
            assert_identical(*pair)
        assert difference("", *pair, EXACT) is None


def test_roots_come_in_any_order() -> None:
    one, other = np.array([1j, -1j]), np.array([-1j, 1j])
    assert difference("signal.tf2zpk", one, other, EXACT) is None
    assert difference("signal.lfilter", one, other, EXACT) is not None


def test_tolerances_are_those_of_the_least_precise_array() -> None:
    kinds = {"int": Tolerance(0, 1, ""), "float32": Tolerance(0.1, 0, ""), "float64": EXACT}
    both = allowed_for(kinds, [np.zeros(1, "f4"), np.zeros(1)])
    assert both == Tolerance(0.1, 0, EXACT.reason, 1)
    assert allowed_for(kinds, [np.zeros(1)]) == EXACT._replace(counts=1)
    assert allowed_for({"all": EXACT}, [np.zeros(1)]) == EXACT._replace(counts=0)


def test_there_is_a_sample_of_every_function() -> None:
    """Those of other releases of SciPy are there too."""
    functions = {
        each.removeprefix("scipy_dispatch.").replace(":", ".") for each in system.functions
    }
    assert functions <= SAMPLES.keys()


@pytest.mark.parametrize("module", [testing, _comparison, _difference])
def test_examples(module: Any) -> None:
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed
