"""Run a photograph through scipy_dispatch by several routes, and show which backend ran.

`python3 tools/demo.py` makes an environment for it and runs it.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
import scipy
import skimage.data
import skimage.io
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import scipy_dispatch.fft
import scipy_dispatch.ndimage
import scipy_dispatch.signal
from scipy_dispatch import backend_opts, system

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    Picture = NDArray[np.float32]


@dataclass(frozen=True)
class Effect:
    """An operation on a picture, written once for all libraries and array types."""

    title: str
    text: str
    apply: Callable[[Any, Any], Any]  # (scipy or scipy_dispatch, picture) -> picture
    before: Callable[[Picture], Picture] = lambda photograph: photograph
    module: str = "ndimage"

    @property
    def backends(self) -> Sequence[str]:
        """The backends that have the function."""
        names: Sequence[str] = getattr(getattr(scipy_dispatch, self.module), self.title).backends
        return names


def find_edges(library: Any, picture: Any) -> Any:
    vertical = library.ndimage.sobel(picture, axis=0)
    horizontal = library.ndimage.sobel(picture, axis=1)
    return (vertical**2 + horizontal**2) ** 0.5


def blur(library: Any, picture: Any) -> Any:
    rows, columns = np.mgrid[-15:16, -15:16]
    disk = (np.hypot(rows, columns) < 15.3).astype(np.float32)[..., None]
    return library.signal.fftconvolve(picture, disk / disk.sum(), mode="same", axes=(0, 1))


def speckle(photograph: Picture) -> Picture:
    """Add black and white specks of three by three pixels."""
    height, width = photograph.shape[:2]
    random = np.random.default_rng(0)
    dice = random.random((height // 3 + 1, width // 3 + 1), dtype=np.float32)
    dice = dice.repeat(3, axis=0).repeat(3, axis=1)[:height, :width, None]
    speckled = np.where(dice < 0.01, 0, np.where(dice < 0.02, 1, photograph))
    return speckled.astype(np.float32)


EFFECTS = (
    Effect("gaussian_filter", "smooths", lambda lib, x: lib.ndimage.gaussian_filter(x, (8, 8, 0))),
    Effect(
        "median_filter",
        "removes specks",
        lambda lib, x: lib.ndimage.median_filter(x, size=(5, 5, 1)),
        before=speckle,
    ),
    Effect(
        "grey_opening",
        "removes highlights",
        lambda lib, x: lib.ndimage.grey_opening(x, size=(21, 21, 1)),
    ),
    Effect("sobel", "finds edges", find_edges),
    Effect("fftconvolve", "puts out of focus", blur, module="signal"),
)
"""Functions for which threads, Dask or JAX are faster than SciPy on two cores."""


@dataclass(frozen=True)
class Route:
    """A way to make a call: a kind of array, with the options in force."""

    title: str
    backend: str = ""
    convert: Callable[[Picture], Any] = lambda picture: picture
    prioritize: str = ""
    compile: Callable[[Any], Any] = lambda function: function
    fetch: Callable[[Any], Picture] = np.asarray  # waits for the result

    def options(self) -> AbstractContextManager[Any]:
        return backend_opts(prioritize=self.prioritize) if self.prioritize else nullcontext()


def as_tiles(picture: Picture) -> Any:
    """Return a Dask array with about two blocks for each core."""
    height, width, colors = picture.shape
    rows = max(2, os.cpu_count() or 1)
    chunks: Any = (-(-height // rows), -(-width // 2), colors)
    return da.from_array(picture, chunks=chunks)


def has_gpu() -> bool:
    """Return whether CuPy is installed, which its backend does not do, and finds a device."""
    if importlib.util.find_spec("cupy") is None:
        return False
    import cupy

    try:
        return bool(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


def routes() -> Iterator[Route]:
    """Yield the routes that this environment supports: faster ones, or other types of arrays."""
    yield Route("NumPy, threads", "threads", prioritize="threads")
    yield Route("Dask", "dask", convert=as_tiles)
    if "jax" in system.backends:
        import jax

        yield Route("JAX, jitted", "jax", convert=jax.numpy.asarray, compile=jax.jit)
    if "cupy" in system.backends and has_gpu():
        import cupy

        yield Route("CuPy", "cupy", convert=cupy.asarray, fetch=cupy.asnumpy)


@dataclass(frozen=True)
class Measurement:
    """The result of an effect by a route, with its time and trace."""

    title: str
    picture: Picture
    seconds: float
    returned: type
    events: tuple[Any, ...]

    @property
    def ran(self) -> str:
        """The backends that were called, and those that deferred with their reasons."""
        lines = []
        for event in self.events:
            called = event.outcome.value == "called"
            lines.append(event.backend if called else f"{event.backend} deferred: {event.reason}")
        return "\n".join(dict.fromkeys(lines)) or "SciPy itself"


def measure(route: Route, effect: Effect, library: Any, picture: Any) -> Measurement:
    """Apply `effect` twice, wait for the result, and keep the second, faster run."""
    function = route.compile(lambda given: effect.apply(library, given))

    def run() -> Measurement:
        with backend_opts(trace=True) as trace:
            start = time.perf_counter()
            result = function(picture)
            values = route.fetch(result)
            seconds = time.perf_counter() - start
        return Measurement(route.title, values, seconds, type(result), tuple(trace))

    # The first run includes loading, compiling and allocating.
    first, second = run(), run()
    # A compiled function calls no backend again.
    return replace(second, events=first.events or second.events)


def try_effect(effect: Effect, photograph: Picture) -> Iterator[Measurement]:
    """Apply `effect` with SciPy itself, and then by every route that has the function."""
    picture = effect.before(photograph)
    yield measure(Route("SciPy"), effect, scipy, picture)
    for route in routes():
        if route.backend in effect.backends:
            given = route.convert(picture)
            with route.options():
                yield measure(route, effect, scipy_dispatch, given)


def backends_table() -> Table:
    table = Table(box=SIMPLE_HEAD, title="Backends of scipy_dispatch, by priority", **_LEFT)
    for heading in ("backend", "types", "functions", "from", "state"):
        table.add_column(heading, overflow="fold")
    for name, description in system.backends.items():
        is_default = name == "default"
        functions = system.functions if is_default else description.functions
        source = "the library" if is_default else str(description.source.distribution)
        state = "active" if name in backend_opts().backends else "needs opt-in"
        types = "\n".join(map(str, description.primary_types))
        table.add_row(name, types, str(len(functions)), source, state)
    return table


def effect_table(effect: Effect, measurements: list[Measurement]) -> Table:
    title = f"{effect.title} [dim]{effect.text}[/]"
    table = Table(box=SIMPLE_HEAD, title=title, **_LEFT)
    for heading, width in (("given", 14), ("what ran", 17), ("came back", 13)):
        table.add_column(heading, width=width)
    for heading, width in (("off by", 9), ("time", 7), ("speed", 7)):
        table.add_column(heading, width=width, justify="right")
    baseline = measurements[0]
    for each in measurements:
        difference = float(np.max(np.abs(each.picture - baseline.picture)))
        table.add_row(
            each.title,
            each.ran,
            f"{each.returned.__module__.partition('.')[0]}.{each.returned.__name__}",
            f"{difference:.1e}" if difference else "nothing",
            f"{each.seconds:.2f} s",
            f"{baseline.seconds / each.seconds:.2f} x",
            style="dim" if each is baseline else "",
        )
    return table


_LEFT: Any = {"title_justify": "left", "title_style": "bold", "padding": (0, 1, 0, 0)}


def strips(before: Picture, measurements: Sequence[Measurement]) -> Picture:
    """Return strips of the input and of each result; without seams where the backends agree."""
    brightest = max(1.0, float(np.percentile(measurements[0].picture, 99.5)))
    pictures = [before, *(each.picture / brightest for each in measurements[1:])]
    edges = np.linspace(0, before.shape[1], len(pictures) + 1).astype(int)
    places = zip(pictures, edges, edges[1:], strict=False)
    return np.concatenate([picture[:, start:end] for picture, start, end in places], axis=1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--enlarge", type=float, default=4, help="times the photograph's size")
    parser.add_argument("--picture", type=Path, default=Path("demonstration.png"))
    arguments = parser.parse_args()
    console = Console(highlight=False)
    console.print(backends_table())

    original = skimage.data.coffee().astype(np.float32) / 255
    factor = arguments.enlarge
    photograph = np.clip(scipy.ndimage.zoom(original, (factor, factor, 1), order=3), 0, 1)
    console.print(
        "\nThe photograph: a cup of coffee by Rachel Michetti (CC0), from scikit-image, here "
        f"{photograph.shape[1]} by {photograph.shape[0]} pixels in three colors from 0 to 1. "
        '"off by" is the largest difference from what SciPy itself returns, '
        """and "speed" is SciPy's time by the row's.\n"""
    )
    rows = []
    for effect in EFFECTS:
        with console.status(f"{effect.title}: SciPy, and every route that has it"):
            measurements = [*try_effect(effect, photograph)]
        console.print(effect_table(effect, measurements))
        rows.append(strips(effect.before(photograph), measurements)[::2, ::2])

    thumbnail = original[::8, ::8]
    size = f"{thumbnail.shape[1]} by {thumbnail.shape[0]} pixels"
    console.print(f'What would run for {size}, with prioritize="threads"?\n')
    with backend_opts(prioritize="threads"):
        explanation = scipy_dispatch.ndimage.gaussian_filter.explain(thumbnail, (8, 8, 0))
    console.print(str(explanation), markup=False, soft_wrap=True)

    sheet = (255 * np.clip(np.concatenate(rows), 0, 1)).astype(np.uint8)
    skimage.io.imsave(arguments.picture, sheet, check_contrast=False)
    console.print(
        "\nThe results, one below the other, each in strips: the input, and what each route made "
        "of it. Where they agree, there is no seam: ",
        end="",
    )
    console.print(str(arguments.picture.resolve()), soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
