"""What a library's users may write; every type is what both checkers must find."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from spatch_core import BackendImplementation, BackendSystem, DispatchContext, hooks
from spatch_core.protocols import library_functions
from spatch_core.switching import Switch, attributes, namespace

if TYPE_CHECKING:
    from typing_extensions import assert_type

    from spatch_core._explain import Explanation, Trace, TraceEvent
    from spatch_core._options import BackendOptions
    from spatch_core.hooks import Call
    from spatch_core.types import DispatchableFunction

    T = TypeVar("T")

    system = BackendSystem(
        "mylib.backends",
        "MYLIB",
        default_primary_types=["numpy:ndarray"],
        backends=[{"name": "gpu", "primary_types": ["cupy:ndarray"]}],
    )
    backend_opts = system.backend_opts

    # --- The decorator keeps the signature, with every form of dispatch arguments.

    @system.dispatchable("x")
    def blur(x: int, sigma: float = 1.0, *, mode: str = "reflect") -> list[float]:
        """Blur."""
        return [x * sigma]

    assert_type(blur(1), list[float])
    assert_type(blur(1, 2.0, mode="wrap"), list[float])
    assert_type(blur(x=1, sigma=2), list[float])

    @system.dispatchable(("x", "y"), module="mylib", qualname="mix")
    def mix(x: int, y: str | None = None, /, *rest: bytes, **options: bool) -> int:
        return x

    assert_type(mix(1), int)
    assert_type(mix(1, None, b"", b"", fast=True), int)

    @system.dispatchable(["x"])
    def generic(x: T, default: T | None = None) -> dict[str, T]:
        return {"x": x}

    assert_type(generic(1), dict[str, int])
    assert_type(generic("a"), dict[str, str])

    @system.dispatchable()
    async def wait(x: int) -> str:
        return str(x)

    async def waiting() -> None:
        assert_type(await wait(1), str)
        assert_type(await work_later(1), float)

    @system.dispatchable({"x": 0, "out": None})
    def with_out(x: int, *, out: list[int] | None = None) -> list[int]:
        return out or [x]

    @system.dispatchable(lambda arrays: arrays)
    def stack(arrays: Sequence[int]) -> list[int]:
        return list(arrays)

    @system.dispatchable([])
    def make(n: int) -> list[int]:
        return [n]

    assert_type(with_out(1, out=[]), list[int])
    assert_type(stack([1]), list[int])
    assert_type(make(3), list[int])
    assert_type(system.dispatchable("obj", module="mylib")(len)([]), int)

    # --- A dispatchable goes wherever a function of its signature goes.

    def apply(function: Callable[[int], list[float]]) -> None: ...

    apply(blur)
    apply(blur.invoke(backend="gpu"))
    assert_type(list(map(blur, [1, 2])), list[list[float]])
    assert_type(sorted([1, 2], key=make), list[int])

    # --- Its attributes.

    assert_type(blur.explain(1, mode="wrap"), Explanation)
    assert_type(blur.explain(1).selected, str | None)
    assert_type(blur.explain(1).types, tuple[type, ...])
    assert_type(blur.invoke(backend="gpu")(1, sigma=2.0), list[float])
    assert_type(blur.invoke(type=int)(1), list[float])
    assert_type(blur.invoke(type="builtins:int")(1), list[float])
    assert_type(blur.invoke(backend="gpu", type=int, force=True)(1), list[float])
    assert_type(generic.invoke(backend="gpu")(1), dict[str, int])
    assert_type(blur.backends, Sequence[str])
    assert_type(blur.backends[0], str)
    assert_type(blur.__name__, str)
    assert_type(blur.__qualname__, str)
    assert_type(blur.__module__, str)
    assert_type(blur.__doc__, str | None)

    # --- Methods bind.

    @system.dispatchable("x")
    def count(x: str, start: int = 0) -> int:
        return start

    @system.dispatchable("text", qualname="Image.parse")
    def parse(cls: type[Image], text: str) -> Image:
        return cls()

    class Image:
        @system.dispatchable("other")
        def blend(self, other: Image, weight: float = 0.5) -> str:
            return ""

        @system.dispatchable("x")
        def convert(self, x: T) -> list[T]:
            return [x]

        @property
        @system.dispatchable("self")
        def size(self) -> int:
            return 0

        # Both checkers handle these two decorators on plain functions alone (mypy 1.18,
        # pyright 1.1.407), so the arguments of their calls cannot be checked; at run time
        # all is well.
        @staticmethod
        @system.dispatchable("x")
        def read(x: str) -> Image:
            return Image()

        count = staticmethod(count)
        parse = classmethod(parse)

    class Photo(Image):
        # Pyright takes any decorated method for an attribute.
        def blend(self, other: Image, weight: float = 0.5) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
            return super().blend(other, weight)

        @staticmethod
        def count(x: str, start: int = 0) -> int:
            return start

    image = Image()
    assert_type(image.blend(image), str)
    assert_type(image.blend(other=image, weight=1), str)
    assert_type(Image.blend(image, image), str)
    assert_type(Image.blend.explain(image, image), Explanation)
    assert_type(Image.blend.invoke(backend="gpu")(image, image, weight=1), str)
    assert_type(image.convert(1), list[int])
    assert_type(image.size, int)
    assert_type(Image.read("x"), Image)
    assert_type(Image.count("x", start=1), int)
    assert_type(image.count("x", start=1), int)
    assert_type(Photo().count("x"), int)
    assert_type(Photo.parse("x"), Image)
    assert_type(image.parse(text="x"), Image)

    class Model:
        @system.dispatchable("x", decides=True)
        def fit(self, x: list[float]) -> Model:
            return self

        @system.dispatchable("x", decides="fit", follows="fit")
        def partial_fit(self, x: list[float]) -> Model:
            return self

        @system.dispatchable("x", follows="fit")
        def predict(self, x: list[float]) -> float:
            return 0.0

    assert_type(Model().fit([1.0]).predict([1.0]), float)
    assert_type(Model().partial_fit([1.0]), Model)
    assert_type(library_functions(system), type[Any])

    # --- Options.

    assert_type(backend_opts, type[BackendOptions])
    backend_opts(prioritize=None, disable=None, type="builtins:int")
    options = backend_opts(prioritize=["gpu"], disable="cpu", type=int)
    assert_type(options.backends, tuple[str, ...])
    assert_type(options.prioritized, tuple[str, ...])
    assert_type(options.disabled, tuple[str, ...])
    assert_type(options.type, type | None)
    assert_type(options.trace, Trace | None)
    # What `with` gives depends on how the object was made.
    with backend_opts(trace=True) as trace, options as unknown:
        assert_type(unknown, Any)
        events: Trace = trace
        assert_type(events[0], TraceEvent)
        assert_type(events[0].backend, str)
        assert_type([event.reason for event in events], list[str])
    several: list[BackendOptions] = [options, backend_opts()]
    assert_type(several[0].fallback, str | None)
    some_class: type[BackendOptions] = backend_opts
    backend_opts("gpu", ("cpu",)).enable_globally()

    @backend_opts(prioritize="gpu")
    def work(x: int, *, key: str = "") -> float:
        return blur(x)[0]

    @backend_opts(prioritize="gpu")
    async def work_later(x: int) -> float:
        return blur(x)[0]

    class Worker:
        @backend_opts(prioritize="gpu")
        def work(self, x: int) -> float:
            return 1.0

    assert_type(backend_opts("gpu").freeze(work)(1), float)

    @backend_opts(trace=True)
    def work_traced(x: int) -> float:
        return blur(x)[0]

    assert_type(work(1, key="x"), float)
    assert_type(work_traced(1), float)
    assert_type(Worker().work(1), float)
    assert_type(backend_opts()(blur)(1), list[float])

    # --- The system.

    assert_type(list(system.backends), list[str])
    assert_type(system.functions, Mapping[str, "DispatchableFunction[..., Any]"])
    assert_type(system.functions["mylib:mix"].explain(1, key=2), Explanation)
    assert_type(system.explain_types("mylib:mix", [int]).selected, str | None)
    assert_type(system.problems[0].message, str)
    assert_type(system.backends["gpu"].name, str)
    system.reload()

    # --- Switching: names, and options.

    switch = Switch(system)
    assert_type(switch.get_backend(), str)
    assert_type(switch.previous_backend(), str)
    assert_type(list(switch), list[str])
    with switch.backend_context("gpu"):
        switch.set_backend("gpu", globally=True)
    backend_opts(backend="gpu", prioritize="gpu")
    assert_type(backend_opts().backend, str | None)
    assert_type(attributes(system, "mylib")[1](), list[str])
    namespace(math, backend="gpu").sqrt(2)

    # --- Hooks get a call, and may return anything.

    def watch(call: Call) -> object:
        assert_type(call.function, str)
        assert_type(call.types, tuple[type, ...])
        assert_type(call.args, tuple[Any, ...])
        assert_type(call.kwargs, dict[str, Any])
        assert_type(call.backend, str | None)
        return call.next(*call.args, **call.kwargs)

    assert_type(backend_opts(hook=watch).hooks, tuple[Callable[[Call], Any], ...])
    backend_opts(hook=hooks.spans(object())).enable_globally()

    # --- A backend's side: decorated functions stay what they are.

    backend = BackendImplementation("gpu")

    @backend.implements(blur, should_run="mygpu:should_run")
    def gpu_blur(x: int, sigma: float = 1.0, *, mode: str = "reflect") -> list[float]:
        return []

    @backend.implements("mylib:mix", uses_context=True)
    def gpu_mix(context: DispatchContext, x: int) -> int:
        assert_type(context.types, tuple[type, ...])
        assert_type(context.dispatch_args, tuple[Any, ...])
        assert_type(context.name, str)
        assert_type(context.prioritized, bool)
        assert_type(context.function, str)
        return x

    @backend.set_should_run(gpu_blur)
    def should_blur(context: DispatchContext, x: int) -> bool | str:
        return x > 3 or "too small"

    assert_type(gpu_blur(1), list[float])
