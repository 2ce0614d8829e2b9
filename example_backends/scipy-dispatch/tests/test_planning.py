"""`scipy_dispatch.planning`: a plan decides and prepares; the callable it returns computes."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from scipy_dispatch.calls import Deferred
from scipy_dispatch.planning import Planned, PlannedBackend, Prepared
from spatch_core import BackendDeferredError, BackendSystem, DispatchContext
from spatch_core.backend_utils import RegisteredFunction

HERE = __name__
READ: list[Any] = []
"""The arguments that plans have read."""


class Image:
    """The backend's type."""

    def __init__(self, size: int = 9) -> None:
        self.size = size


backend = PlannedBackend("cards")


@backend.plans("photolib:blur")
def blur(image: Image, sigma: float = 1.0, *, mode: str = "reflect") -> Prepared:
    """Blurs on a card.

    More about it.
    """
    READ.append((image, sigma, mode))
    if image.size < 0:
        raise Deferred("the image has no size")
    if image.size < 5:
        return "the image is too small"
    return lambda: f"blurred {image.size} by {sigma}, {mode}"


def system_with(**options: Any) -> tuple[BackendSystem, Any]:
    """Return a library with the backend, and its function `blur`."""
    entry: RegisteredFunction = backend.functions["photolib:blur"]
    described = {
        "name": backend.name,
        "primary_types": [f"{HERE}:Image"],
        "functions": {
            "photolib:blur": {
                "function": entry.identifier,
                "should_run": entry.should_run,
                "uses_context": entry.uses_context,
            }
        },
    }
    library = BackendSystem(None, "TEST_PLANNED", backends=[described], **options)

    @library.dispatchable("image", module="photolib", qualname="blur")
    def blur(image: Any, sigma: float = 1.0, *, mode: str = "reflect") -> str:
        return "default"

    return library, blur


@pytest.fixture
def library_blur() -> Any:
    library, function = system_with()
    assert library.problems == ()
    READ.clear()
    return function


def test_it_is_registered_by_identifiers() -> None:
    """Both are attributes of the function; the implementation takes a context."""
    entry = backend.functions["photolib:blur"]
    assert (entry.identifier, entry.uses_context) == (f"{HERE}:blur.run", True)
    assert entry.should_run == f"{HERE}:blur.should_run"


def test_it_is_called_like_the_librarys_function() -> None:
    """Without the library, too."""
    assert blur(Image(), mode="wrap") == "blurred 9 by 1.0, wrap"
    with pytest.raises(BackendDeferredError, match="'cards' did not run photolib:blur: the image"):
        blur(Image(3))


def test_a_call_reads_its_arguments_once(library_blur: Any) -> None:
    """Should_run makes the plan that the implementation runs."""
    image = Image()
    assert library_blur(image, mode="wrap") == "blurred 9 by 1.0, wrap"
    assert READ[0] == (image, 1.0, "wrap")
    assert len(READ) == 1


def test_a_reason_defers(library_blur: Any) -> None:
    """It stands in the explanation, for which nothing is computed."""
    assert library_blur(Image(3)) == "default"
    assert "the image is too small" in str(library_blur.explain(Image(3)))
    assert "the image has no size" in str(library_blur.explain(Image(-1)))
    assert library_blur.explain(Image()).selected == "cards"


def test_a_forced_call_raises_where_the_plan_defers(library_blur: Any) -> None:
    """Force does not ask, and the implementation still computes nothing wrong."""
    forced = library_blur.invoke(backend="cards", force=True)
    assert forced(Image(), 2) == "blurred 9 by 2, reflect"
    with pytest.raises(
        BackendDeferredError, match=r"'cards' did not run .*:blur: the image is too"
    ):
        forced(Image(3))


def test_call_next_passes_a_plan_by() -> None:
    """Another backend's `call_next` asks and runs it with other arguments."""

    def first(context: DispatchContext, image: Image, *args: Any, **kwargs: Any) -> Any:
        return context.call_next(Image(image.size + 1), *args, **kwargs)

    library, function = system_with()
    every = {"photolib:blur": {"function": first, "uses_context": True}}
    library.register({"name": "grow", "primary_types": [f"{HERE}:Image"], "functions": every})
    with library.backend_opts(prioritize="grow"):
        assert function(Image(4), 0.5) == "blurred 5 by 0.5, reflect"
        assert function(Image(2)) == "default"


def test_arguments_that_do_not_fit_are_reported_by_the_library(library_blur: Any) -> None:
    """The message has the name of the function that was called."""
    with pytest.raises(TypeError, match=r"blur\(\) got an unexpected keyword argument 'wrong'"):
        library_blur(Image(), wrong=1)
    with pytest.raises(BackendDeferredError, match=r"the arguments do not fit: blur\(\) got"):
        library_blur.invoke(backend="cards")(Image(), wrong=1)


def test_its_signature_is_the_plans() -> None:
    """`verify` compares the implementation's signature, after the context, with the library's."""
    names = [*inspect.signature(blur).parameters]
    assert names == ["image", "sigma", "mode"]
    assert [*inspect.signature(blur.run).parameters] == ["_context", *names]
    assert (blur.__name__, blur.__module__) == ("blur", HERE)
    assert str(blur.__doc__).startswith("Blurs on a card.")
    assert repr(blur) == f"<planned {HERE}:blur>"


def test_a_plan_may_take_the_context() -> None:
    """It is None in a direct call."""
    contexts: list[Any] = []

    def plan(context: Any, image: Any) -> Prepared:
        contexts.append(context)
        return lambda: image

    planned = Planned(plan, "cards", "photolib:blur", uses_context=True)
    context = DispatchContext((int,), (3,), "cards", False, "photolib:blur")
    assert planned.should_run(context, 3) is True
    assert planned.run(context, 3) == planned(3) == 3
    assert contexts == [context, None]
    assert [*inspect.signature(planned).parameters] == ["image"]
    assert [*inspect.signature(planned.run).parameters] == ["_context", "image"]
