"""Backends in a few words, and the order that a library shows."""

from __future__ import annotations

import re
import warnings
from typing import Any, NamedTuple
from unittest.mock import patch

from spatch_core import BackendSystem, SpatchCoreWarning
from tests.installed import installed

GROUP = "testorder.backends"
Fields = dict[str, Any]


class Cycle(NamedTuple):
    """A cycle of declared edges as a library reports it."""

    path: tuple[str, ...]
    members: tuple[str, ...]
    set_order: str


class Order(NamedTuple):
    """What a library says about the order of its backends."""

    names: tuple[str, ...]
    cycles: tuple[Cycle, ...]


def backend(
    name: str,
    primary: str = "m:A",
    secondary: str = "",
    higher: str = "",
    lower: str = "",
    in_code: bool = False,
) -> Fields:
    """Describe a backend; several types or names are separated by spaces."""
    return {
        "name": name,
        "primary_types": primary.split(),
        "secondary_types": secondary.split(),
        "higher_priority_than": higher.split(),
        "lower_priority_than": lower.split(),
        "in_code": in_code,
    }


def ring(*members: str) -> list[Fields]:
    """Backends that each declare to go before the next one, and the last before the first."""
    following = dict(zip(members, (*members[1:], members[0]), strict=True))
    return [backend(name, f"m:{name.upper()}", higher=after) for name, after in following.items()]


def order(backends: list[Fields], set_order: str = "", default: str = "numpy:ndarray") -> Order:
    """Return the order that `BackendSystem.backends` has, for backends found in this order."""
    variables = {"TESTORDER_SET_ORDER": set_order} if set_order else {}
    fields = [{key: each[key] for key in each if key != "in_code"} for each in backends]
    in_code = [each for each, of in zip(fields, backends, strict=True) if of["in_code"]]
    system = BackendSystem(GROUP, "TESTORDER", default.split(), backends=in_code)
    with (
        patch.dict("os.environ", variables),
        installed(GROUP, {each["name"]: each for each in fields if each not in in_code}),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", SpatchCoreWarning)
        names = tuple(system.backends)
        problems = system.problems
    cycles = []
    for each in problems:
        shown = re.search(r"form a cycle: (\w+(?: before \w+)+)", str(each))
        value = re.search(r"TESTORDER_SET_ORDER='([^']+)'", str(each))
        if shown is None or value is None:
            continue  # a name in the variable that is not installed
        path = tuple(shown[1].split(" before "))
        members = tuple(str(of.backend) for of in problems if value[0] in str(of))
        cycle = Cycle(path, members, value[1])
        if cycle not in cycles:
            cycles.append(cycle)
    return Order(names, tuple(cycles))
