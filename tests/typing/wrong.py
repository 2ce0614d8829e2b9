"""What a library's users may not write; each line is an error to both checkers.

A comment that suppresses nothing is an error itself, so a mistake that goes unnoticed is
found too.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from typing import TYPE_CHECKING

from spatch_core import BackendImplementation, BackendSystem

if TYPE_CHECKING:
    system = BackendSystem("mylib.backends", "MYLIB")
    backend_opts = system.backend_opts

    @system.dispatchable("x")
    def blur(x: int, sigma: float = 1.0, *, mode: str = "reflect") -> list[float]:
        return [x * sigma]

    # --- Calls.

    blur()  # type: ignore[call-arg]
    blur("x")  # type: ignore[arg-type]
    blur(1, "x")  # type: ignore[arg-type]
    blur(1, mode=3)  # type: ignore[arg-type]
    blur(1, 2, "x")  # type: ignore[call-arg]
    blur(1, wrong=3)  # type: ignore[call-arg]
    number: int = blur(1)  # type: ignore[assignment]

    # --- Attributes.

    blur.explain("x")  # type: ignore[arg-type]
    blur.explain()  # type: ignore[call-arg]
    blur.invoke("gpu")  # type: ignore[call-arg]
    blur.invoke(backend=3)  # type: ignore[arg-type]
    blur.invoke(type=3)  # type: ignore[arg-type]
    blur.invoke(backend="gpu")("x")  # type: ignore[arg-type]
    blur.backends = ()  # type: ignore[misc]
    blur.backends[0] = "x"  # type: ignore[index]
    blur.register  # type: ignore[attr-defined]  # noqa: B018

    # --- Methods.

    class Reader:
        blur = staticmethod(blur)

    Reader().blur("x")  # type: ignore[arg-type]

    class Image:
        @system.dispatchable("other")
        def blend(self, other: Image) -> str:
            return ""

    Image().blend(1)  # type: ignore[arg-type]
    Image().blend()  # type: ignore[call-arg]
    Image.blend(1)  # type: ignore[arg-type, call-arg]
    Image.blend.explain(Image())  # type: ignore[call-arg]
    # The instance is lost to these: write Image.blend.explain(image, image).
    Image().blend.explain(Image())  # type: ignore[attr-defined]
    Image().blend.invoke(type=int)  # type: ignore[attr-defined]

    # --- Decorating.

    system.dispatchable(3)  # type: ignore[arg-type]
    system.dispatchable("x")(3)  # type: ignore[arg-type]
    system.dispatchable("x", "mylib")  # type: ignore[call-arg]

    # --- Options.

    backend_opts(prioritize=3)  # type: ignore[arg-type]
    backend_opts(type=3)  # type: ignore[arg-type]
    backend_opts(trace="x")  # type: ignore[arg-type]
    backend_opts(priority="x")  # type: ignore[arg-type]
    backend_opts().prioritized = ()  # type: ignore[misc]

    @backend_opts(prioritize="gpu")
    def work(x: int) -> float:
        return blur(x)[0]

    work("x")  # type: ignore[arg-type]

    # --- Systems and backends.

    BackendSystem("mylib.backends")  # type: ignore[call-arg]
    BackendSystem(3, "MYLIB")  # type: ignore[arg-type]
    system.backends["gpu"] = 3  # type: ignore[index]
    backend = BackendImplementation("gpu")
    backend.implements(3)  # type: ignore[arg-type]
