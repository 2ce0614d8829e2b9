"""Everything importable that a description names."""

from __future__ import annotations

import pytest

from spatch_core.examination.mentions import Role, find_mentions

FIELDS = {
    "name": "oil",
    "primary_types": ["~a.b:A", "no identifier", 3],
    "secondary_types": "b:B",
    "functions": {
        "defaults": {"should_run": "m:ask"},
        "auto-generation": {"backend": "m:backend", "modules": ["m.tools"]},
        "l:f": {"function": "m:f", "uses_context": True},
        "l:g": 3,
    },
}


def test_what_is_well_formed_is_mentioned() -> None:
    """With its key and its role."""
    found = {(each.key, each.role, each.text, each.module) for each in find_mentions(FIELDS)}
    assert found == {
        ("primary_types[0]", Role.TYPE, "~a.b:A", "a.b"),
        ("functions.defaults.should_run", Role.SHOULD_RUN, "m:ask", "m"),
        ("functions.auto-generation.modules[0]", Role.MODULE, "m.tools", "m.tools"),
        ("functions.auto-generation.backend", Role.BACKEND, "m:backend", "m"),
        ('functions."l:f"', Role.LIBRARY_FUNCTION, "l:f", "l"),
        ('functions."l:f".function', Role.FUNCTION, "m:f", "m"),
        ('functions."l:g"', Role.LIBRARY_FUNCTION, "l:g", "l"),
    }


def test_a_should_run_always_gets_the_context() -> None:
    """An implementation gets it only with uses_context."""
    contexts = {(each.role, each.takes_context) for each in find_mentions(FIELDS)}
    assert (Role.SHOULD_RUN, True) in contexts
    assert (Role.FUNCTION, True) in contexts
    plain = {"functions": {"l:f": {"function": "m:f"}}}
    (function,) = (each for each in find_mentions(plain) if each.role is Role.FUNCTION)
    assert (function.takes_context, function.library_function) == (False, "l:f")


def test_conversions_are_mentioned_by_their_fields() -> None:
    fields = {"to_default": "m:there", "from_default": 3, "copy_into": "m:copy"}
    found = [(each.key, each.role, each.text) for each in find_mentions(fields)]
    assert found == [
        ("to_default", Role.CONVERSION, "m:there"),
        ("copy_into", Role.CONVERSION, "m:copy"),
    ]


def test_the_implementation_of_every_function_gets_the_context() -> None:
    """The star is not a function of the library."""
    fields = {"functions": {"defaults": {"should_run": "m:ask"}, "*": {"function": "m:every"}}}
    found = {
        (each.key, each.role, each.library_function, each.takes_context)
        for each in find_mentions(fields)
    }
    assert found == {
        ("functions.defaults.should_run", Role.SHOULD_RUN, None, True),
        ("functions.defaults.should_run", Role.SHOULD_RUN, "*", True),
        ('functions."*".function', Role.FUNCTION, "*", True),
    }


@pytest.mark.parametrize("fields", [{}, {"functions": 3}, {"functions": {"defaults": []}}])
def test_faulty_fields_name_nothing(fields: dict[str, object]) -> None:
    assert list(find_mentions(fields)) == []
