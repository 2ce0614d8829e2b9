from __future__ import annotations

import importlib
import inspect
import itertools
import re

import pytest
from scipy_functions import FUNCTIONS, TABLES, Function

# Parameters that SciPy documents as array_like although they are settings, one for each axis.
SETTINGS = {"axes", "s", "kernel_size", "mysize"}

# Parameters added in a later release than the function.
LATER = {("lombscargle", "weights")}


@pytest.mark.parametrize("module", TABLES)
def test_every_public_name_of_scipy_is_placed(module: str) -> None:
    """The test fails for new public names of a SciPy release; add them to the table."""
    table = TABLES[module]
    public = set(importlib.import_module(f"scipy.{module}").__all__)
    assert public - table.dispatched.keys() - table.unchanged == set()


@pytest.mark.parametrize("module", TABLES)
def test_no_name_is_placed_twice(module: str) -> None:
    table = TABLES[module]
    assert table.dispatched.keys() & table.unchanged == set()


@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
def test_parameters_are_those_of_the_signature(function: Function) -> None:
    signature = function.signature
    if signature is None:
        # Without SciPy's signature, only an entry with positions works.
        assert isinstance(function.parameters, dict)
        return
    own = list(signature.parameters)
    wanted = [name.lstrip("*") for name in function.parameters]
    missing = {(function.name, name) for name in wanted if name not in own}
    assert missing <= LATER
    assert [name for name in own if name in wanted] == [name for name in wanted if name in own]
    if isinstance(function.parameters, dict):
        assert function.parameters == {name: own.index(name) for name in wanted}


@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
def test_every_documented_array_is_dispatched_on(function: Function) -> None:
    if isinstance(function.parameters, dict):
        return  # a C function, whose docstring uses other names
    dispatched = {name.lstrip("*") for name in function.parameters}
    documented = documented_types(function.default.__doc__)
    arrays = {name for name, kind in documented.items() if "array" in kind}
    assert arrays - dispatched <= SETTINGS


@pytest.mark.parametrize("module", TABLES)
def test_unchanged_functions_document_no_array(module: str) -> None:
    scipy_module = importlib.import_module(f"scipy.{module}")
    for name in TABLES[module].unchanged & set(scipy_module.__all__):
        function = getattr(scipy_module, name)
        if inspect.isroutine(function):
            kinds = documented_types(function.__doc__).values()
            arrays = [kind for kind in kinds if "array" in kind and "namespace" not in kind]
            assert (name, arrays) == (name, [])


def documented_types(doc: str | None) -> dict[str, str]:
    """Return the types of the parameters in a numpydoc docstring."""
    found = {}
    section = ""
    lines = [*inspect.cleandoc(doc or "").splitlines(), ""]
    for line, below in itertools.pairwise(lines):
        if re.fullmatch("-{3,}", below):
            section = line
        names, colon, kind = line.partition(" : ")
        if section in {"Parameters", "Other Parameters"} and colon and not line[0].isspace():
            found.update(dict.fromkeys(names.split(", "), kind))
    return found


def test_documented_types_are_read() -> None:
    """Check the helper of the tests above, which would pass if it found nothing."""
    doc = """Do.

    Parameters
    ----------
    x, y : array_like
        Text : no.
    n : int

    Notes
    -----
    z : array
    """
    assert documented_types(doc) == {"x": "array_like", "y": "array_like", "n": "int"}
