"""Libraries and runs for reports: ordinary ones, and some with names that try to be markup."""

from __future__ import annotations

from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest

from spatch_core.report.page import ReportedLibrary, ReportedRun, render

MARKUP = "</script><script>window.caught=1</script><img src=x onerror=window.caught=1>\"'&{{7*7}}"
"""In place of every text that a description or a file may hold."""


def edge(before: str, after: str, origin: str = "declared", **more: Any) -> dict[str, Any]:
    """An edge, as ``show --json`` has it."""
    reason = more.pop("reason", f"{before} declares it")
    return {
        "before": before,
        "after": after,
        "origin": origin,
        "declared_by": before,
        "reason": reason,
        "void": "",
        **more,
    }


def library(text: str = "", size: int = 3) -> ReportedLibrary:
    """A library with a finding; every text ends with the given suffix."""
    names = ["default", *(f"oil{number}{text}" for number in range(size))]
    place = {
        "entry_point": f"oil = oil:a{text}",
        "file": f"/oil.toml{text}",
        "distribution": f"paint-oil{text}",
        "version": f"1.0{text}",
    }
    backends = [
        {
            "name": name,
            "state": "active",
            "reason": f"because{text}",
            "functions": 1,
            "primary_types": [f"m:T{text}"],
            "secondary_types": [],
            "prioritized": False,
            "requires_opt_in": False,
            **place,
        }
        for name in names
    ]
    reason = f"the order{text}"
    edges = [edge(a, b, reason=reason) for a, b in pairwise(names)]
    functions = [
        {"function": f"lib:f{text}", "backends": names[:2], "asks": names[1:2]},
        {"function": f"lib:g{text}", "backends": names[:1], "asks": []},
    ]

    def call(selected: str | None, type: str = f"m:T{text}", note: str = "") -> dict[str, Any]:
        outcome = {"selected": selected, "refused": selected is None, "reason": f"why{text}"}
        return {"type": type, **outcome, "note": note}

    finding = {"backend": names[1], "message": f"wrong{text}", "remedy": f"mend{text}", **place}
    return ReportedLibrary(
        {
            "name": f"paintlib{text}",
            "group": f"lib.backends{text}",
            "problems": [],
            "environ_prefix": f"LIB{text}",
            "functions": 2,
            "backend": names[1],
            "backends": backends,
            **place,
        },
        f"own{text}",
        {
            "order": names,
            "edges": edges,
            "prioritized": names[1:2],
            "set_order": None,
            "cycles": [{"path": names[:2], "members": names[:2], "set_order": f"a>b{text}"}],
            "functions": [{**each, "is_dispatchable": True} for each in functions],
        },
        {"findings": [{"severity": "error", "keys": [f"key{text}", "other"], **finding}]},
        {
            "calls": {
                f"lib:f{text}": [call(names[1], note=f"a stand-in{text}"), call(None, type="m:U")],
                f"lib:g{text}": [call(names[0])],
            },
            "fault": "",
        },
    )


def recorded(text: str = "", first: float | None = 0.0, last: float | None = 1.0) -> dict[str, Any]:
    """A choice of a record, as `read_record` returns it."""
    return {
        "function": f"lib:f{text}",
        "types": [f"m:T{text}"],
        "backend": f"oil{text}",
        "distribution": f"paint-oil{text}",
        "version": f"1{text}",
        "count": 3,
        "first": first,
        "last": last,
        "seconds": 0.5,
    }


@pytest.fixture(scope="session")
def hostile() -> str:
    """A page in which every text tries to be markup."""
    return render([library(MARKUP)], [ReportedRun(f"run{MARKUP}", [recorded(MARKUP)])], "today")


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.texts: dict[str, list[str]] = {}
        self._within = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))
        self._within = tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self._within, []).append(data)

    def named(self, tag: str) -> list[dict[str, str]]:
        """Return the attributes of all elements with a name."""
        return [attributes for name, attributes in self.found if name == tag]
