"""Methods: Python tells neither `explain` nor `invoke` the instance."""

from __future__ import annotations

from typing import Any

import pytest

from tests.function.conftest import Foreign, describe, make_system

HERE = __name__


def never(context: Any, *args: Any, **kwargs: Any) -> bool:
    return False


NAMES = ["apply", "merge", "make", "of_class", "size", "find", "own"]
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


class Image(Foreign):
    """A class that the backend knows."""

    @system.dispatchable("self", identifier=f"{HERE}:Pipeline.own")
    def own(self, n: int = 1) -> Any:
        return "default", self, n


class Asking:
    @asking.dispatchable("x")
    def apply(self, x: Any) -> Any:
        return "default"


class Sub(Pipeline):
    """Inherits everything."""


@pytest.mark.parametrize("cls", [Pipeline, Sub])
def test_on_an_instance_it_takes_what_the_call_takes(cls: type) -> None:
    """F7: whatever fits otherwise."""
    instance: Any = cls(3)
    for x, selected in [(Foreign(), "first"), (3, "default")]:
        assert instance.apply(x)[0] == selected
        assert instance.apply.explain(x).selected == selected
        assert instance.apply.explain(x, 2).selected == selected
        assert instance.apply.explain(x, n=2).selected == selected
        assert instance.apply.explain(x=x).selected == selected
        assert instance.apply.explain(x).types == (type(x),)


@pytest.mark.parametrize("cls", [Pipeline, Sub])
def test_the_instance_may_be_given(cls: Any) -> None:
    """F7: of the class's own attribute; then `should_run` is asked."""
    instance, x = cls(3), Foreign()
    assert cls.apply.explain(instance, x).selected == "first"
    assert cls.apply.explain(instance, x, 2).selected == "first"
    assert cls.apply.explain(instance, 3).selected == "default"
    assert cls.apply.explain(self=instance, x=x).selected == "first"
    assert Asking.apply.explain(Asking(), x).selected == "default"


def test_a_should_run_is_not_asked_without_the_instance() -> None:
    """F7: it gets all arguments of the call."""
    asking: Any = Asking()
    explanation = asking.apply.explain(Foreign())
    assert explanation.selected is None
    assert "never decides" in str(explanation)


def test_static_and_class_methods_and_properties() -> None:
    """F7: through the class as well as through an instance."""
    x = Foreign()
    for holder in (Pipeline, Pipeline()):
        found: Any = holder
        assert found.make.explain(x).selected == "first"
        assert found.make.explain(3, 2).selected == "default"
        assert found.of_class.explain(x).selected == "first"
        assert found.of_class.explain(x, 2).selected == "first"
        assert found.of_class.explain(Pipeline, x).selected == "first"
        assert found.of_class.explain(Sub, 3).selected == "default"
    size: Any = vars(Pipeline)["size"]
    assert size.fget.explain(Pipeline()).selected == "default"


def test_a_method_that_dispatches_on_its_instance() -> None:
    """F7: the class of the method counts for it."""
    own: Any = Image().own
    assert own(2)[0] == own(2)[0]
    assert own.explain().types == own.explain(2).types == (Image,)
    assert Image.own.explain(Image()).types == (Image,)


def test_a_finder_needs_the_instance() -> None:
    """F7: it is called like the function."""
    assert Pipeline.find.explain(Pipeline(), Foreign()).selected == "first"
    find: Any = Pipeline().find
    with pytest.raises(TypeError, match="needs the instance"):
        find.explain(Foreign())


@pytest.mark.parametrize("args", [(), (1, 2, 3, 4)], ids=["missing", "too many"])
def test_wrong_arguments_are_those_of_the_call(args: Any) -> None:
    """F7: the error is that of what was given."""
    apply: Any = Pipeline().apply
    with pytest.raises(TypeError, match="argument"):
        apply.explain(*args)


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
