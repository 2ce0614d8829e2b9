"""Without a GPU: the map beside the installed CuPy, and the decision on calls.

CuPy's sources are parsed, because importing `cupyx.scipy.signal` requires CUDA's libraries. CuPy's
arrays are real, but own no memory: only what is known of them before a call is computed is used.
"""

from __future__ import annotations

import ast
import inspect
import math
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tolerances import TOLERANCES

from scipy_dispatch import backend_opts, ndimage
from scipy_dispatch.testing import scipy_function, why_deferred
from scipy_dispatch_cupy._map import NO_EFFECT, OTHER_MEANING, TABLES, functions
from spatch_core import NoImplementationError

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
FUNCTIONS = {module: functions(module) for module in TABLES}
SERVED = [f"{module}.{name}" for module, names in FUNCTIONS.items() for name in names]

_MEANS_TWO = "None means 2 in SciPy"
_PERIODIC = "the plain name of a window means its periodic form"
SAME_MEANING = {
    **{f"signal.{name}.fs": _MEANS_TWO for name in ("firls", "firwin", "firwin2")},
    **{f"signal.{name}.window": _PERIODIC for name in ("coherence", "csd", "istft", "stft")},
    **{f"signal.{name}.window": _PERIODIC for name in ("spectrogram", "welch")},
    "signal.lombscargle.precenter": "SciPy's default says that it was not given",
}
"""Parameters whose defaults differ from SciPy's in form, but not in meaning."""
NOT_TAKEN = {
    "ndimage.gaussian_filter1d": {"radius"},
    "ndimage.generic_filter": {"extra_arguments", "extra_keywords"},
    "ndimage.generic_filter1d": {"extra_arguments", "extra_keywords"},
    "signal.chirp": {"complex"},
    "signal.lombscargle": {"weights", "floating_mean"},
    **{f"fft.{name}": {"orthogonalize"} for name in FUNCTIONS["fft"] if re.match("i?d[cs]t", name)},
}
"""Parameters of SciPy 1.18 that CuPy 14 lacks."""


@cache
def signatures(module: str) -> dict[str, inspect.Signature]:
    """Return the signatures of the functions that CuPy's sources define, by name."""
    spec = find_spec("cupyx")
    if spec is None or spec.origin is None:
        pytest.skip("CuPy is not installed (no GPU is needed)")
    root = Path(spec.origin).parents[1]
    # Two functions come from NumPy's part of CuPy.
    files = [root / "cupy" / "fft" / "_fft.py", *root.glob(f"cupyx/scipy/{module}/*.py")]
    found = {}
    values = {"cupy": np, "pi": math.pi}
    for file in files:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name in TABLES[module].dispatched:
                # The defaults of public functions are numbers, texts and data types.
                source = f"lambda {ast.unparse(_plain(node.args))}: None"
                function = eval(source, dict(values))  # noqa: S307 - of the installed CuPy
                found[node.name] = inspect.signature(function)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                for target in node.targets:  # a second name
                    if isinstance(target, ast.Name) and node.value.id in found:
                        found[target.id] = found[node.value.id]
    return found


def _plain(arguments: ast.arguments) -> ast.arguments:
    """Return the parameters without annotations."""
    for each in ast.walk(arguments):
        if isinstance(each, ast.arg):
            each.annotation = None
    return arguments


@pytest.mark.parametrize("module", FUNCTIONS)
def test_the_map_has_the_functions_of_cupy(module: str) -> None:
    """All under SciPy's names, but those that the README says are left out."""
    section = README.partition("### Left out")[2].partition("\n## ")[0]
    left_out = set(re.findall(rf"`{module}\.(\w+)`", section))
    found = {name for name in signatures(module) if hasattr(_scipy(module), name)}
    assert found - left_out == {*FUNCTIONS[module]}


def _scipy(module: str) -> Any:
    import scipy

    return getattr(scipy, module)


@pytest.mark.parametrize("name", SERVED)
def test_the_signature_is_scipy_s(name: str) -> None:
    """Parameters go by name, so CuPy's names and defaults must mean what SciPy's mean."""
    module, _, function = name.partition(".")
    theirs = signatures(module)[function].parameters
    try:
        first, *ours = inspect.signature(scipy_function(name)).parameters.values()
    except (AttributeError, ValueError) as error:  # another SciPy
        pytest.skip(str(error))
    if first.kind is inspect.Parameter.VAR_POSITIONAL:
        pytest.skip("SciPy hides its signature")
    assert next(iter(theirs)) not in {each.name for each in ours}
    lacks = {each.name for each in ours if each.name not in theirs} - NO_EFFECT
    assert lacks <= NOT_TAKEN.get(name, set())
    for each in ours:
        same = each.name not in theirs or each.default == theirs[each.name].default
        assert same or f"{name}.{each.name}" in SAME_MEANING


def test_tables_name_functions_of_the_map() -> None:
    for module, function, parameter in OTHER_MEANING:
        assert parameter in signatures(module)[function].parameters
    assert set(TOLERANCES) == set(SERVED)
    numbers = [len(names) for names in FUNCTIONS.values()]
    assert f"{sum(numbers)} of the 236" in README
    for module, number in zip(FUNCTIONS, numbers, strict=True):
        assert f"{number} of `{module}`" in README


def unowned(shape: tuple[int, ...] = (6, 7), dtype: str = "f8") -> Any:
    """Return an array of CuPy without memory, which needs no GPU."""
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed (no GPU is needed)")
    size = math.prod(shape) * np.dtype(dtype).itemsize
    memory = cupy.cuda.UnownedMemory(1 << 12, size, None, device_id=0)
    return cupy.ndarray(shape, dtype, memptr=cupy.cuda.MemoryPointer(memory, 0))


def why(name: str, *args: Any, **kwargs: Any) -> str | None:
    """Return why CuPy leaves a call to SciPy; None if it does not."""
    return why_deferred("cupy", name, *args, **kwargs)


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("ndimage.gaussian_filter", (2,), {}),
        ("ndimage.gaussian_filter1d", (2,), {"radius": None}),
        ("ndimage.correlate", (np.ones((3, 3)), None, "wrap"), {}),
        ("ndimage.gaussian_laplace", (2,), {"truncate": 3.0}),
        ("ndimage.find_objects", (), {"max_label": 0}),
        ("ndimage.generic_filter", (np.max, 3), {"extra_arguments": ()}),
        ("fft.fft", (), {"workers": 2}),
        ("fft.dct", (2,), {"orthogonalize": None}),
    ],
)
def test_cupy_takes_what_its_signature_has(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """And SciPy's own defaults, and the number of the processor's cores."""
    assert why(name, unowned(), *args, **kwargs) is None


@pytest.mark.parametrize(
    ("name", "kwargs", "reason"),
    [
        (
            "ndimage.gaussian_filter1d",
            {"sigma": 1, "radius": 3},
            "gaussian_filter1d takes no radius=",
        ),
        (
            "ndimage.generic_filter",
            {"function": np.max, "extra_arguments": (1,)},
            "extra_arguments=",
        ),
        ("ndimage.find_objects", {"max_label": 3}, "CuPy writes beyond its array"),
        (
            "ndimage.sobel",
            {"output": np.zeros((6, 7))},
            "an array of NumPy, which CuPy cannot fill",
        ),
        ("fft.dct", {"orthogonalize": True}, "CuPy's dct takes no orthogonalize="),
    ],
)
def test_the_rest_is_left_to_scipy(name: str, kwargs: dict[str, Any], reason: str) -> None:
    assert reason in str(why(name, unowned(), **kwargs))


def test_without_cudas_libraries_signals_are_left_to_scipy() -> None:
    try:
        import cupyx.scipy.signal  # noqa: F401
    except ImportError:
        assert str(why("signal.detrend", unowned())).startswith("CuPy cannot run this here: ")
    else:
        assert "cupy#8677" in str(why("signal.lfilter", [1.0], [1.0], unowned(), zi=unowned()))


def test_a_refusal_says_what_a_conversion_would_copy() -> None:
    with backend_opts(fallback="raise"), pytest.raises(NoImplementationError) as caught:
        ndimage.gaussian_filter1d(unowned(), 1, radius=3)
    assert "cupy defers: CuPy's gaussian_filter1d takes no radius=" in str(caught.value)
    assert "with backend_opts(fallback='convert'), cupy converts 1 argument" in str(caught.value)
    assert "(336 bytes)" in str(caught.value)
