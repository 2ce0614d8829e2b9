"""The page: one HTML file with styles, script and data, which needs no network."""

from __future__ import annotations

import base64
import hashlib
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from .. import __version__
from .._patterns import shown
from ..examination.edges import BASE_ORDER
from .order_picture import Picture, draw
from .timeline import Timeline, lay_out, seconds, span

if TYPE_CHECKING:
    from importlib.abc import Traversable

    from ..examination.replay import Recorded

EDGES = 300
"""The largest number of edges of an order; ``spatch-core order --edges`` shows all."""
CALLS = 1000
"""The largest number of choices of a record."""
_SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True)
class ReportedLibrary:
    """The JSON objects that commands print about a library.

    Parameters
    ----------
    listed : dict
        The object of ``list``.
    default_name : str
        The name of the library itself as people see it.
    order, functions : dict or None
        The objects of ``order`` and ``functions``; None for a library that cannot be used.
    examined : dict or None
        The object of ``doctor``; None without an examination.
    what_runs : dict or None
        The fields of `WhatRuns`; None for a library that cannot be used.
    """

    listed: dict[str, Any]
    default_name: str
    order: dict[str, Any] | None = None
    functions: dict[str, Any] | None = None
    examined: dict[str, Any] | None = None
    what_runs: dict[str, Any] | None = None

    def shown(self, backend: str) -> str:
        """Return the name of a backend as people see it."""
        return shown(backend, self.default_name)

    @cached_property
    def picture(self) -> Picture | None:
        """The picture of the priority order."""
        if self.order is None:
            return None
        return draw(self.order["order"], self.order["edges"], shown=self.shown)

    @cached_property
    def edges(self) -> list[dict[str, Any]]:
        """The edges of the priority order: the drawn ones with their numbers, then others."""
        if self.picture is None or self.order is None:
            return []
        drawn = [{**each.edge, "number": each.number} for each in self.picture.arrows]
        numbered = {id(each.edge) for each in self.picture.arrows}
        rest = ({**e, "number": 0} for e in self.order["edges"] if id(e) not in numbered)
        room = range(max(0, EDGES - len(drawn)))
        return [*drawn, *(edge for _, edge in zip(room, rest, strict=False))]

    @cached_property
    def findings(self) -> list[dict[str, Any]]:
        """The findings of ``doctor``, or the problems of ``list``."""
        if self.examined is not None:
            found: list[dict[str, Any]] = self.examined["findings"]
            return found
        return [
            {**each, "severity": "problem", "keys": [each["key"]] if each["key"] else []}
            for each in self.listed["problems"]
        ]

    @cached_property
    def severities(self) -> dict[str, int]:
        """The number of findings of each severity."""
        found = Counter(each["severity"] for each in self.findings)
        return {each: found[each] for each in (*_SEVERITIES, "problem") if found[each]}

    @cached_property
    def states(self) -> dict[str, int]:
        """The number of backends in each state."""
        return Counter(each["state"] for each in self.listed["backends"])

    @property
    def data(self) -> dict[str, Any]:
        """The data of the page's script: the matrix, and the answers about what would run."""
        return {
            "library": self.listed["name"],
            "default": self.default_name,
            "matrix": self.functions and _matrix(self.functions),
            "what": self.what_runs,
        }


@dataclass(frozen=True)
class ReportedRun:
    """A record of a program."""

    name: str
    recorded: Sequence[Recorded]

    @cached_property
    def calls(self) -> list[Recorded]:
        """The choices, sorted by their first calls if the record has times."""
        return sorted(self.recorded, key=lambda each: each.first or 0.0)

    @cached_property
    def timeline(self) -> Timeline | None:
        """The timeline; None for a record without times."""
        return lay_out(self.recorded)


def _matrix(functions: Mapping[str, Any]) -> dict[str, Any]:
    """Return a letter for each function and backend: implements it, asks first, or neither."""
    backends = functions["backends"]
    rows = []
    for each in functions["functions"]:
        implementing, asking = {*each["backends"]}, {*each["asks"]}
        letters = ("a" if n in asking else "y" if n in implementing else "-" for n in backends)
        rows.append([each["function"], "".join(letters), each["is_dispatchable"]])
    return {"backends": backends, "rows": rows}


def render(libraries: Sequence[ReportedLibrary], runs: Sequence[ReportedRun], made: str) -> str:
    """Return the page, with the time at which it was made.

    Text from descriptions is escaped, and a content security policy forbids all scripts but the
    page's own.

    Raises
    ------
    ModuleNotFoundError
        If jinja2 is not installed.
    """
    from jinja2 import DictLoader, Environment, StrictUndefined

    texts = {each.name: each.read_text("utf-8") for each in _folder().iterdir() if "." in each.name}
    environment = Environment(
        loader=DictLoader(texts),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(seconds=seconds)
    style, script = texts["report.css"], texts["report.js"]
    return environment.get_template("page.html").render(
        libraries=libraries,
        runs=runs,
        made=made,
        version=__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        span=span,
        base_order=BASE_ORDER,
        most_calls=CALLS,
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
    )


def _hash(text: str) -> str:
    """Return the hash of a text for a content security policy."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _folder() -> Traversable:
    return files(__name__.rpartition(".")[0]) / "templates"
