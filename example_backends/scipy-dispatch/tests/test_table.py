from __future__ import annotations

import importlib
import inspect
import itertools
import re

import pytest
from scipy_functions import FUNCTIONS, TABLES, Function

# Parameters that SciPy documents as array_like although they are settings, one for each axis.
SETTINGS = {"axes", "s", "kernel_size", "mysize"}


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
    for name in set(scipy_module.__all__) - TABLES[module].dispatched.keys():
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
