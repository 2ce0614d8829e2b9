"""Finding classes and systems."""

from __future__ import annotations

from spatch_core import BackendSystem
from spatch_core.examination.live import every_class, live_systems


def test_every_class_is_found_once() -> None:
    """Metaclasses do not matter."""

    class Meta(type):
        def __subclasses__(cls) -> list[type]:
            raise RuntimeError

        def __hash__(cls) -> int:
            raise RuntimeError

    class Base(metaclass=Meta):
        pass

    class Derived(Base):
        pass

    found = [each for each in every_class() if each is Base or each is Derived]
    assert len(found) == 2


def test_a_system_is_found_wherever_it_is_kept() -> None:
    """The class of a vendored copy has the same name."""
    kept = {"somewhere": BackendSystem(None, "LIVE")}
    assert any(each is kept["somewhere"] for each in live_systems())
