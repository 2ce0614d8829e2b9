"""The map names functions of CuPy, and each of SciPy's parameters is supported or rejected."""

from __future__ import annotations

import ast
import inspect
import json
import os
from pathlib import Path

import pytest
from calls import SERVED
from read_cupyx import MODULES, Sources, signature
from tolerances import KINDS, TOLERANCES

from scipy_dispatch.testing import scipy_function
from scipy_dispatch_cupy._call import _SAME_MEANING, TABLES
from scipy_dispatch_cupy._limits import LEFT_OUT, RULES
from scipy_dispatch_cupy._map import FUNCTIONS

FILE = Path(__file__).with_name("signatures.json")
CUPY_VERSION, SIGNATURES = json.loads(FILE.read_text(encoding="utf-8")).values()

_TRANSFORMS = [name for name in FUNCTIONS["fft"] if "shift" not in name and "fht" not in name]

REFUSED = {
    **{f"fft.{name}": {"workers", "orthogonalize"} for name in _TRANSFORMS},
    "ndimage.gaussian_filter1d": {"radius"},
    "ndimage.generic_filter": {"extra_arguments", "extra_keywords"},
    "ndimage.generic_filter1d": {"extra_arguments", "extra_keywords"},
    "signal.chirp": {"complex"},
    "signal.lombscargle": {"weights", "floating_mean"},
}
"""Parameters of SciPy 1.18 that CuPy 14 lacks: values other than the default are left to SciPy."""


def sources() -> Sources:
    """Return the sources that the environment variable names, or those of the installed CuPy."""
    named = os.environ.get("SCIPY_DISPATCH_CUPY_SOURCES")
    found = Sources(Path(named)) if named else Sources.installed()
    if found is None:
        pytest.skip(
            "no sources of CuPy: install it (no GPU is needed), or name a wheel in "
            "SCIPY_DISPATCH_CUPY_SOURCES"
        )
    return found


def parameters(text: str) -> list[str]:
    """Return the parameters of a signature from the map."""
    function = ast.parse(f"def f{text}: ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.kwarg]
    return [each.arg for each in named if each is not None]


@pytest.mark.parametrize("module", FUNCTIONS)
def test_the_names_and_signatures_are_cupy_s(module: str) -> None:
    """Of the version in the file: a new one is written into it. Of others, compare the names."""
    cupy = sources()
    found = cupy.functions(MODULES[module], TABLES[module].dispatched)
    assert cupy.version != CUPY_VERSION or set(found) == set(FUNCTIONS[module])
    for name, each in found.items():
        assert cupy.version != CUPY_VERSION or signature(each) == SIGNATURES[f"{module}.{name}"]
    missing = set(FUNCTIONS[module]) - set(found)
    assert len(missing) <= len(FUNCTIONS[module]) // 10, missing


@pytest.mark.parametrize("module", ["ndimage", "fft"])
def test_the_functions_are_there_where_cupy_can_be_imported(module: str) -> None:
    """Importing these two modules does not require CUDA; `signal` requires its libraries."""
    import importlib

    sources()
    try:
        real = importlib.import_module(MODULES[module])
    except ImportError as error:
        pytest.skip(f"cannot be imported here: {error}")
    import cupy

    if cupy.__version__ != CUPY_VERSION:
        pytest.skip(f"the map is of CuPy {CUPY_VERSION}, this is {cupy.__version__}")
    for name in FUNCTIONS[module]:
        known = parameters(SIGNATURES[f"{module}.{name}"])
        assert list(inspect.signature(getattr(real, name)).parameters) == known


@pytest.mark.parametrize("name", SERVED)
def test_every_parameter_of_scipy_s_is_served_or_refused(name: str) -> None:
    ours = parameters(SIGNATURES[name])
    try:
        theirs = inspect.signature(scipy_function(name)).parameters
    except ValueError:
        pytest.skip("a function in C, which hides its signature")
    kinds = {each.kind for each in theirs.values()}
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        pytest.skip("SciPy hides its signature")
    _, *rest = theirs
    unknown = {each for each in rest if each not in ours}
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        assert unknown <= REFUSED.get(name, set())


def test_rules_and_tables_name_functions_of_the_map() -> None:
    known = {(module, name) for module, functions in FUNCTIONS.items() for name in functions}
    assert set(RULES) <= known
    assert {key[:2] for key in _SAME_MEANING} <= known
    left_out = {(module, name) for module, names in LEFT_OUT.items() for name in names}
    assert left_out <= known


def test_every_function_has_tolerances_with_reasons() -> None:
    left_out = {f"{module}.{name}" for module, names in LEFT_OUT.items() for name in names}
    assert set(TOLERANCES) == set(SIGNATURES) - left_out
    for family in TOLERANCES.values():
        assert set(family) == set(KINDS)
        assert all(each.reason for each in family.values())
