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
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
import scipy
import skimage.data
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table

import scipy_dispatch.fft
import scipy_dispatch.ndimage
import scipy_dispatch.signal
from _sheet import draw_sheet
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


def smooth(library: Any, picture: Any) -> Any:
    return library.ndimage.gaussian_filter(picture, (8, 8, 0))


def repair(library: Any, picture: Any) -> Any:
    return library.ndimage.median_filter(picture, size=(5, 5, 1))


def remove_highlights(library: Any, picture: Any) -> Any:
    return library.ndimage.grey_opening(picture, size=(21, 21, 1))


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
    Effect("gaussian_filter", "smooths", smooth),
    Effect("median_filter", "removes specks", repair, before=speckle),
    Effect("grey_opening", "removes highlights", remove_highlights),
    Effect("sobel", "finds edges", find_edges),
    Effect("fftconvolve", "puts out of focus", blur, module="signal"),
)
"""Functions for which threads, Dask or JAX are faster than SciPy on two cores."""


@dataclass(frozen=True)
class Route:
    """A way to make a call: a kind of array, with the options in force."""

    title: str
    backend: str
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
    """Return whether CuPy is installed and finds a usable device."""
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
    events: tuple[Any, ...] = ()

    @property
    def ran(self) -> str:
        """The backends that were called, and those that deferred with their reasons."""
        lines = []
        for event in self.events:
            called = event.outcome.value == "called"
            lines.append(event.backend if called else f"{event.backend} deferred: {event.reason}")
        return "\n".join(dict.fromkeys(lines))


def measure(route: Route, effect: Effect, library: Any, picture: Any) -> Measurement:
    """Apply `effect` several times, wait for the result, and keep the fastest run."""
    best = None
    events: tuple[Any, ...] = ()
    total = 0.0
    function = route.compile(lambda given: effect.apply(library, given))
    # Repeat, because the first run includes loading, compiling and allocating.
    for turn in range(3):
        with backend_opts(trace=True) as trace:
            start = time.perf_counter()
            result = function(picture)
            values = route.fetch(result)
            seconds = time.perf_counter() - start
        events = events or tuple(trace)  # a compiled function calls no backend again
        if best is None or seconds < best.seconds:
            best = Measurement(route.title, values, seconds, type(result), events)
        total += seconds
        if turn and total > 1:
            break
    assert best is not None
    return best


def try_effect(
    effect: Effect, ways: Sequence[Route], photograph: Picture, tick: Callable[[str], None]
) -> list[Measurement]:
    """Apply `effect` with SciPy itself, and then by every route that has the function."""
    picture = effect.before(photograph)
    tick(f"{effect.title}: SciPy")
    measurements = [measure(Route("SciPy", ""), effect, scipy, picture)]
    for route in ways:
        tick(f"{effect.title}: {route.title}")
        if route.backend in effect.backends:
            given = route.convert(picture)
            with route.options():
                measurements.append(measure(route, effect, scipy_dispatch, given))
    return measurements


def verdict(
    effect: Effect, ways: Sequence[Route], measurements: Sequence[Measurement]
) -> Iterator[str]:
    """Yield a sentence for each route that is not faster than SciPy, and for each left out."""
    base, *others = measurements
    for each in others:
        if each.seconds > 0.95 * base.seconds:
            yield f"{each.title} is not faster than SciPy here."
    for route in ways:
        if route.backend not in effect.backends:
            yield f"{route.title} was not called: {route.backend} does not have {effect.title}."


def state_of(name: str) -> str:
    """Return whether a backend takes calls by default."""
    if name in backend_opts().backends:
        return "active"
    if system.backends[name].requires_opt_in:
        return "needs opt-in"
    return "disabled"


def backends_table() -> Table:
    table = Table(box=SIMPLE_HEAD, title="Backends of scipy_dispatch, by priority", **_LEFT)
    table.add_column("backend")
    table.add_column("types", overflow="fold")
    table.add_column("functions", justify="right")
    table.add_column("from", no_wrap=True)
    table.add_column("state", no_wrap=True)
    for name, description in system.backends.items():
        source = description.source
        is_default = name == "default"
        secondary = [f"[dim]also {pattern}[/]" for pattern in description.secondary_types]
        table.add_row(
            name,
            "\n".join([*map(str, description.primary_types), *secondary]),
            str(len(system.functions if is_default else description.functions)),
            "the library" if is_default else str(source.distribution),
            state_of(name),
        )
    return table


def effect_table(effect: Effect, measurements: list[Measurement]) -> Table:
    title = f"{effect.title} [dim]{effect.text}[/]"
    table = Table(box=SIMPLE_HEAD, title=title, **_LEFT)
    table.add_column("given", width=14)
    table.add_column("what ran", width=17)
    table.add_column("came back", width=13)
    table.add_column("off by", width=9, justify="right")
    table.add_column("time", width=7, justify="right")
    table.add_column("speed", width=7, justify="right")
    baseline = measurements[0]
    for each in measurements:
        is_baseline = each is baseline
        difference = float(np.max(np.abs(each.picture - baseline.picture)))
        table.add_row(
            each.title,
            "SciPy itself" if is_baseline else each.ran,
            f"{each.returned.__module__.partition('.')[0]}.{each.returned.__name__}",
            "" if is_baseline else f"{difference:.1e}" if difference else "nothing",
            f"{each.seconds:.2f} s",
            f"{baseline.seconds / each.seconds:.2f} x",
            style="dim" if is_baseline else "",
        )
    return table


_LEFT: Any = {"title_justify": "left", "title_style": "bold", "padding": (0, 1, 0, 0)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--enlarge", type=float, default=4, help="times the photograph's size")
    parser.add_argument("--picture", type=Path, default=Path("demonstration.png"))
    arguments = parser.parse_args()
    console = Console(highlight=False)

    console.print(backends_table())
    original = skimage.data.coffee().astype(np.float32) / 255
    factor = arguments.enlarge
    enlarged = scipy.ndimage.zoom(original, (factor, factor, 1), order=3)
    photograph = np.clip(enlarged, 0, 1)
    given, shown = ("{1} by {0} pixels".format(*each.shape) for each in (original, photograph))
    console.print(
        "\nThe photograph: a cup of coffee by Rachel Michetti, shipped with scikit-image, "
        f"{given}, here enlarged to {shown} in three colors from 0 to 1. "
        '"off by" is the largest difference from what SciPy itself returns, '
        """and "speed" is SciPy's time by the row's.\n"""
    )

    results: list[tuple[Effect, list[Measurement]]] = []
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        ways = list(routes())
        steps = len(EFFECTS) * (len(ways) + 1)
        task = progress.add_task("", total=steps)
        done = iter(range(steps))
        for effect in EFFECTS:
            measurements = try_effect(
                effect,
                ways,
                photograph,
                lambda text: progress.update(task, description=text, completed=next(done)),
            )
            console.print(effect_table(effect, measurements))
            console.print(*verdict(effect, ways, measurements), "", sep="\n")
            results.append((effect, measurements))

    thumbnail = original[::8, ::8]
    size = f"{thumbnail.shape[1]} by {thumbnail.shape[0]} pixels"
    console.print(f'What would run for {size}, with prioritize="threads"?\n')
    with backend_opts(prioritize="threads"):
        explanation = scipy_dispatch.ndimage.gaussian_filter.explain(thumbnail, (8, 8, 0))
    console.print(str(explanation), markup=False, soft_wrap=True)

    rows = [
        (effect.title, effect.text, effect.before(photograph), measurements)
        for effect, measurements in results
    ]
    draw_sheet(arguments.picture, rows)
    console.print("\nThe pictures: ", end="")
    console.print(str(arguments.picture.resolve()), soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
