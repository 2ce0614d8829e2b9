"""`BackendImplementation`: implementations are registered next to their code."""

from __future__ import annotations

import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spatch_core import (
    BackendImplementation,
    BackendSystem,
    DispatchContext,
    IdentifierError,
)
from spatch_core.testing import run_python

system = BackendSystem(None, "TEST_BACKEND_UTILS", ["builtins:int"])


@system.dispatchable("image", module="photolib", qualname="filters.blur")
def blur(image: object, sigma: float = 1.0) -> str:
    return "default"


backend = BackendImplementation("gpu")


@backend.implements("photolib:sharpen")
def sharpen(image: object) -> str:
    return "gpu"


@backend.implements(blur, uses_context=True, should_run=lambda context, image: image > 1)
def blur_on_gpu(context: DispatchContext, image: object) -> str:
    return f"{context.name} {image}"


@backend.implements("photolib:double")
@backend.implements("photolib:triple")
def multiply(image: object) -> str:
    return "gpu"


@backend.set_should_run(multiply)
def is_large(context: DispatchContext, image: Any) -> bool | str:
    return image > 100 or "too small to be worth it"


class Kernels:
    @staticmethod
    def invert(image: object) -> str:
        return "gpu"


backend.implements("photolib:invert", should_run=is_large)(Kernels.invert)


def fresh() -> BackendImplementation:
    return BackendImplementation("fresh")


# --- registering ---------------------------------------------------------------------


def test_a_registered_function_stays_the_function_it_is() -> None:
    """F10: it can be called, tested and pickled as before; a dispatchable stands for its name."""
    assert type(sharpen) is types.FunctionType
    assert sharpen(1) == "gpu"
    assert not vars(sharpen)
    registered = backend.functions["photolib:sharpen"]
    assert registered.function is sharpen
    assert registered.identifier == f"{__name__}:sharpen"
    assert (registered.uses_context, registered.should_run) == (False, None)
    registered = backend.functions["photolib:filters.blur"]
    assert registered.function is blur_on_gpu
    assert registered.uses_context is True


def test_a_function_cannot_be_implemented_twice() -> None:
    implementation = fresh()
    implementation.implements("photolib:blur")(sharpen)
    with pytest.raises(ValueError, match="implements photolib:blur already") as caught:
        implementation.implements("photolib:blur")(multiply)
    line = sharpen.__code__.co_firstlineno
    assert f"{__name__}:sharpen ({__file__}:{line})" in str(caught.value)
    assert "'fresh'" in str(caught.value)
    implementation.implements("photolib:size")(len)
    with pytest.raises(ValueError, match=r"already, with builtins:len$"):
        implementation.implements("photolib:size")(multiply)
    assert implementation.functions["photolib:blur"].function is sharpen


def test_the_same_function_may_be_registered_again() -> None:
    """A notebook cell may run twice, and a module be loaded again."""

    def load() -> Callable[..., object]:
        @implementation.implements("photolib:blur", uses_context=True)
        def again(context: object, image: object) -> object:
            return image

        return again

    implementation = fresh()
    load()
    second = load()
    assert implementation.functions["photolib:blur"].function is second
    implementation.implements("photolib:blur")(second)
    assert implementation.functions["photolib:blur"].uses_context is False


class CallableObject:
    def __call__(self, *args: object) -> bool:
        return True


def implement(identity: Any = "photolib:blur", function: Any = sharpen, **options: Any) -> Any:
    return lambda fresh: fresh.implements(identity, **options)(function)


WITH_PARENTHESES = r'identifier, not .*write @backend\.implements\("lib.*with parentheses'
MISTAKES: list[tuple[Callable[[BackendImplementation], object], type[Exception], str]] = [
    *(
        (lambda _, name=name: BackendImplementation(name), IdentifierError, "a backend name")
        for name in ("", "a b", "default", None)
    ),
    (implement("photolib.blur"), IdentifierError, "identifier"),
    (implement(None), TypeError, WITH_PARENTHESES),
    (lambda fresh: fresh.implements(own), TypeError, WITH_PARENTHESES),
    (implement(function="pkg:blur"), TypeError, "only a function can implement photolib:blur"),
    (implement(function=CallableObject()), TypeError, "has no name that an identifier could use"),
    (implement(should_run="is_large"), IdentifierError, "identifier"),
    (implement(should_run=CallableObject()), TypeError, "has no name that an identifier"),
    (implement(should_run=True), TypeError, "should_run takes a function or its identifier"),
    (implement(function=len, should_run=lambda context, x: True), TypeError, "no name; give it"),
    (implement(uses_context="yes"), TypeError, "uses_context takes True or False, not 'yes'"),
    (lambda fresh: fresh.set_should_run(sharpen), ValueError, "sharpen.* not registered with .*'f"),
]


def own(image: object) -> str:
    return "not decorated with parentheses"


@pytest.mark.parametrize(
    ("register", "error", "match"), MISTAKES, ids=[str(n) for n, _ in enumerate(MISTAKES)]
)
def test_a_mistake_is_an_error_at_its_line(
    register: Any, error: type[Exception], match: str
) -> None:
    """F10, D3: not when the file is written; nothing is registered."""
    implementation = fresh()
    with pytest.raises(error, match=match):
        register(implementation)
    assert implementation.functions == {}


# --- should_run ----------------------------------------------------------------------


def test_a_should_run_holds_for_everything_that_a_function_implements() -> None:
    for name in ("invert", "double", "triple"):
        assert backend.functions[f"photolib:{name}"].should_run == f"{__name__}:is_large"


def test_an_implementation_may_be_given_by_its_identifier() -> None:
    implementation = fresh()
    implementation.implements("photolib:blur")(sharpen)
    implementation.set_should_run(f"{__name__}:sharpen")(is_large)
    assert implementation.functions["photolib:blur"].should_run == f"{__name__}:is_large"
    with pytest.raises(ValueError, match="'photolib:no' is not registered with backend 'fresh'"):
        implementation.set_should_run("photolib:no")


def test_parameters_are_named_as_in_the_public_package() -> None:
    """F10: code that gives them by name needs no change."""
    implementation = BackendImplementation(backend_name="gpu")
    implementation.implements(api_identity="photolib:blur")(sharpen)
    implementation.set_should_run(backend_func=sharpen)(is_large)
    assert implementation.functions["photolib:blur"].should_run == f"{__name__}:is_large"


# --- end to end ----------------------------------------------------------------------


def test_a_warning_is_shown_at_the_users_line(tmp_path: Path) -> None:
    """Whatever lies between: the backend, the library, packages that are named, generated code."""
    (tmp_path / "helper.py").write_text("def through(function): return function()")
    (tmp_path / "gpu.py").write_text(
        "import helper\n"
        "from spatch_core.backend_utils import warn_caller\n"
        "def _warn():\n"
        "    warn_caller('size is ignored', RuntimeWarning, 'helper', 'mylib')\n"
        "def blur(x):\n"
        "    helper.through(_warn)\n"
    )
    (tmp_path / "mylib.py").write_text(
        "from spatch_core import BackendSystem\n"
        "system = BackendSystem('mylib.backends', 'MYLIB', backends=[{\n"
        "    'name': 'gpu', 'primary_types': ['builtins:str'],\n"
        "    'functions': {'mylib:_blur': {'function': 'gpu:blur'}},\n"
        "}])\n"
        "@system.dispatchable('x')\n"
        "def _blur(x): return x\n"
        "def blur(x): return _blur(x)\n"
    )
    run_python(
        """
        import warnings
        import mylib
        for call in (mylib._blur, mylib.blur):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                call("x")
            (warning,) = caught
            assert (warning.category, str(warning.message)) == (RuntimeWarning, "size is ignored")
            assert warning.filename == __file__, warning.filename
        """,
        path=[tmp_path],
    )
