"""The order of overriding types, for classes that are derived from each other in any way."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from spatch_core import BackendSystem, NoImplementationError

METHOD = "__lib_function__"
ASKED: list[type] = []


def decline(cls: type, *call: object) -> object:
    ASKED.append(cls)
    return NotImplemented


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
            namespace[METHOD] = draw(st.sampled_from([classmethod(decline), None]))
        try:
            made.append(type(f"C{number}", bases, namespace))
        except TypeError:  # these bases have no common order
            continue
    return draw(st.permutations(made))


@given(classes())
def test_subclasses_come_first_and_the_rest_from_left_to_right(types: list[type]) -> None:
    """K4: no class is asked before one that is derived from it; each is asked once."""
    system = BackendSystem(None, "OVERRIDING", protocol=METHOD)
    f: Any = system.dispatchable(None, identifier="lib:f")(lambda *args: "default")
    overriding = {cls for cls in types if getattr(cls, METHOD, None) is not None}
    ASKED.clear()
    try:
        assert f(*(cls() for cls in types)) == "default"
    except NoImplementationError:
        assert overriding
    found = [*ASKED]
    assert set(found) == overriding
    assert len(found) == len(set(found))
    for place, cls in enumerate(found):
        assert not any(issubclass(later, cls) for later in found[place + 1 :])
    related = {cls for cls in found if any(cls in each.__mro__[1:] for each in found)}
    alone = [cls for cls in found if cls not in related and not related.intersection(cls.__mro__)]
    assert alone == [cls for cls in types if cls in alone]
