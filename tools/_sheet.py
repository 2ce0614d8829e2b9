"""Draw the pictures of the demonstration on one sheet.

Each picture is composed of strips: the input, and the result of each backend. If the backends
agree, no seams are visible between their strips.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

PAPER = "#fbf9f6"
INK = "#2b211c"
FAINT = "#8d8178"
# one color for SciPy and one for each route
COLORS = ("#b9afa6", "#7a5c48", "#b5472f", "#3f6f8f", "#c08a2d", "#5f7a3a", "#86508a")
# The longest bar, relative to SciPy's, so that one slow route does not shrink the others.
LONGEST = 3.0
FONT: Any = {"font.family": "DejaVu Sans", "text.color": INK, "axes.labelcolor": INK}


def draw_sheet(path: Path, rows: Sequence[tuple[str, str, Any, Sequence[Any]]]) -> None:
    """Draw one picture for each effect and a chart of the times.

    Parameters
    ----------
    path : Path
        The PNG file to write.
    rows : sequence of (title, text, picture before, measurements)
        The first measurement of each row is SciPy's.
    """
    with mpl.rc_context(FONT):
        figure = Figure(figsize=(16, 9.25), facecolor=PAPER)
        axes = figure.subplots(
            2,
            3,
            gridspec_kw={
                "left": 0.025,
                "right": 0.975,
                "top": 0.845,
                "bottom": 0.05,
                "wspace": 0.05,
                "hspace": 0.2,
            },
        ).flatten()
        figure.text(0.025, 0.945, "One call, many backends", fontsize=24, weight="bold")
        figure.text(
            0.025,
            0.908,
            "Each picture is composed of strips: the input, and the result of each backend. "
            "If the backends agree, there is no seam.",
            fontsize=12.5,
            color=FAINT,
        )
        for axis, (title, text, before, measurements) in zip(axes, rows, strict=False):
            _draw_strips(axis, title, text, before, measurements)
        _draw_times(axes[-1], rows)
        figure.text(
            0.975,
            0.018,
            "Photograph: Rachel Michetti, CC0, shipped with scikit-image",
            ha="right",
            fontsize=9,
            color=FAINT,
        )
        figure.savefig(path, dpi=150)


def _draw_strips(
    axis: Axes, title: str, text: str, before: Any, measurements: Sequence[Any]
) -> None:
    strips = [("input", before)]
    for each in measurements[1:]:
        ran = each.ran.rpartition("\n")[2]  # after those that deferred
        strips.append((f"{each.title.partition(',')[0]}:\n{ran}", each.picture))
    height, width = before.shape[:2]
    edges = np.linspace(0, width, len(strips) + 1).astype(int)
    brightest = max(1.0, float(np.percentile(measurements[0].picture, 99.5)))
    pieces = []
    for index, (_, picture) in enumerate(strips):
        scale = 1.0 if index == 0 else brightest
        pieces.append(picture[:, edges[index] : edges[index + 1]] / scale)
    axis.imshow(np.clip(np.concatenate(pieces, axis=1), 0, 1), interpolation="lanczos")
    for edge in edges[1:-1]:
        axis.axvline(edge, color="white", linewidth=0.8, alpha=0.75)
    for (name, _), left in zip(strips, edges, strict=False):
        axis.text(
            left + 0.012 * width,
            0.965 * height,
            name,
            color="white",
            fontsize=9,
            va="bottom",
            bbox={"facecolor": "black", "alpha": 0.55, "linewidth": 0, "pad": 3},
        )
    axis.set_title(f"{title}", loc="left", fontsize=14, weight="bold", pad=7)
    axis.set_title(text, loc="right", fontsize=12, color=FAINT, pad=7)
    axis.set_axis_off()


def _draw_times(axis: Axes, rows: Sequence[tuple[str, str, Any, Sequence[Any]]]) -> None:
    routes = list(dict.fromkeys(each.title for *_, measured in rows for each in measured))
    colors = dict(zip(routes, COLORS, strict=False))
    group = len(routes) + 2.6  # the bars, the function's name above them, and a gap
    longest = 1.0
    for number, (title, _, _, measurements) in enumerate(rows):
        top = number * group
        axis.text(0, top + 0.2, title, fontsize=10.5, va="center")
        for index, each in enumerate(measurements):
            relative = each.seconds / measurements[0].seconds
            shown = min(relative, LONGEST)
            longest = max(longest, shown)
            position = top + 1.6 + index
            axis.barh(position, shown, 0.86, color=colors[each.title])
            label = f"{each.seconds:.2f} s" + (" (bar cut off)" if relative > LONGEST else "")
            axis.text(shown + 0.012, position, label, va="center", fontsize=7.5, color=FAINT)
    axis.set_xlim(0, 1.2 * longest)
    axis.set_ylim(len(rows) * group - 0.8, -0.9)
    axis.set_axis_off()
    axis.set_title("time", loc="left", fontsize=14, weight="bold", pad=7)
    handles = [Patch(color=color) for color in colors.values()]
    axis.legend(
        handles,
        routes,
        frameon=False,
        ncols=len(routes),
        loc="lower right",
        bbox_to_anchor=(1.02, 0.985),
        fontsize=10,
        labelcolor=FAINT,
        handlelength=0.9,
        handletextpad=0.5,
        columnspacing=1.1,
    )
