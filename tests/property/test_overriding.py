"""The order of overriding types, for classes that are derived from each other in any way."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from spatch_core._overriding import overriding_types

METHOD = "__lib_function__"


@st.composite
def classes(draw: st.DrawFn) -> list[type]:
    """Return classes, each derived from some of those before it; some have the method."""
    made: list[type] = []
    for number in range(draw(st.integers(1, 8))):
        bases = tuple(
            draw(st.lists(st.sampled_from(made), unique=True, max_size=3)) if made else ()
        )
        namespace: dict[str, Any] = {}
        if draw(st.booleans()):
            namespace[METHOD] = draw(st.sampled_from([classmethod(lambda cls, *call: None), None]))
        try:
            made.append(type(f"C{number}", bases, namespace))
        except TypeError:  # these bases have no common order
            continue
    return draw(st.permutations(made))


@given(classes())
def test_subclasses_come_first_and_the_rest_from_left_to_right(types: list[type]) -> None:
    """K8: no class comes before one that is derived from it; each has the method, and is once."""
    found = overriding_types(types, METHOD)
    assert set(found) == {cls for cls in types if getattr(cls, METHOD, None) is not None}
    assert len(found) == len(set(found))
    for place, cls in enumerate(found):
        assert not any(issubclass(later, cls) for later in found[place + 1 :])
    related = {cls for cls in found if any(cls in each.__mro__[1:] for each in found)}
    alone = [cls for cls in found if cls not in related and not related.intersection(cls.__mro__)]
    assert alone == [cls for cls in types if cls in alone]
