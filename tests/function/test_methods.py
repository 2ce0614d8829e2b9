"""Methods: Python tells neither `explain` nor `invoke` the instance."""

from __future__ import annotations

from typing import Any

import pytest

from tests.function.conftest import Foreign, describe, make_system

HERE = __name__


def never(context: Any, *args: Any, **kwargs: Any) -> bool:
    return False


NAMES = ["apply", "merge", "make", "of_class", "size", "find"]
system = make_system(describe(functions=[f"{HERE}:Pipeline.{name}" for name in NAMES]))
asking = make_system(
    describe(functions=[f"{HERE}:Asking.apply"], entry={"should_run": f"{HERE}:never"})
)


class Pipeline:
    """A class of the library, which no backend knows."""

    def __init__(self, n: int = 0) -> None:
        self.n = n

    @system.dispatchable("x")
    def apply(self, x: Any, n: int = 1) -> Any:
        return "default", self, x, n

    @system.dispatchable("other")
    def merge(self, other: Any = None, x: Any = None) -> Any:
        return "default", self, other, x

    @staticmethod
    @system.dispatchable("x")
    def make(x: Any, n: int = 1) -> Any:
        return "default", x, n

    @classmethod
    @system.dispatchable("x")
    def of_class(cls, x: Any, n: int = 1) -> Any:
        return "default", cls, x, n

    @property
    @system.dispatchable("self")
    def size(self) -> Any:
        return "default"

    @system.dispatchable(lambda self, x: [x])
    def find(self, x: Any) -> Any:
        return "default"


class Asking:
    @asking.dispatchable("x")
    def apply(self, x: Any) -> Any:
        return "default"


class Sub(Pipeline):
    """Inherits everything."""


@pytest.mark.parametrize("cls", [Pipeline, Sub])
def test_explain_takes_the_instance(cls: Any) -> None:
    """F7: as the class's own attribute takes it in a call."""
    instance, x = cls(3), Foreign()
    assert cls.apply.explain(instance, x).selected == "first"
    assert cls.apply.explain(instance, x, 2).selected == "first"
    assert cls.apply.explain(instance, 3).selected == "default"
    assert cls.apply.explain(self=instance, x=x).selected == "first"
    assert cls.apply.explain(instance, x).types == (Foreign,)
    assert Asking.apply.explain(Asking(), x).selected == "default"
    assert Pipeline.find.explain(Pipeline(), x).selected == "first"


def test_without_the_instance_the_error_says_what_to_write() -> None:
    """F7: another argument would be taken for it."""
    apply: Any = Pipeline().apply
    for args in [(Foreign(),), (3, 2), (1, 2, 3, 4)]:
        with pytest.raises(TypeError, match=r"as in Pipeline\.apply\.explain\(instance, "):
            apply.explain(*args)
    with pytest.raises(TypeError, match="argument"):
        apply.explain()


def test_static_and_class_methods_and_properties() -> None:
    """F7: through the class as well as through an instance."""
    x = Foreign()
    for holder in (Pipeline, Pipeline()):
        found: Any = holder
        assert found.make.explain(x).selected == "first"
        assert found.make.explain(3, 2).selected == "default"
        assert found.of_class.explain(Pipeline, x).selected == "first"
        assert found.of_class.explain(Sub, 3).selected == "default"
        with pytest.raises(TypeError, match=r"as in Pipeline\.of_class\.explain\(cls, "):
            found.of_class.explain(x)
    size: Any = vars(Pipeline)["size"]
    assert size.fget.explain(Pipeline()).selected == "default"


def test_a_class_may_borrow_a_method() -> None:
    """F7: its instances are instances, too."""

    class Borrows:
        apply = Pipeline.apply

    borrowing: Any = Borrows()
    assert Pipeline.apply.explain(borrowing, Foreign()).selected == "first"


# --- invoke --------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"backend": "first"}, {"type": Foreign}], ids=[*"bt"])
def test_invoke_takes_the_instance(options: dict[str, Any]) -> None:
    """F8: another argument would be taken for it, and the result be wrong without an error."""
    instance, x = Pipeline(), Foreign()
    assert Pipeline.merge.invoke(**options)(instance, x)[1] == (instance, x)
    assert Pipeline.merge.invoke(**options)(Sub(), x)[0] == "first"
    assert Pipeline.merge.invoke(**options)(self=instance, other=x)[0] == "first"
    merge: Any = instance.merge
    with pytest.raises(TypeError, match=r"Pipeline\.merge\.invoke\(\.\.\.\)\(instance, "):
        merge.invoke(**options)(x)
    of_class: Any = instance.of_class
    assert of_class.invoke(**options)(Sub, x)[0] == "first"
    with pytest.raises(TypeError, match=r"Pipeline\.of_class\.invoke\(\.\.\.\)\(cls, "):
        of_class.invoke(**options)(x)
    make: Any = instance.make
    assert make.invoke(**options)(x)[0] == "first"
