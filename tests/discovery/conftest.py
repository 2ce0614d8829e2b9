"""Catalogs of backends in memory, and backends that a fresh interpreter finds."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import spatch_core
from spatch_core._discovery import Catalog, build_catalog
from spatch_core._environment import read_environment
from spatch_core._patterns import TypePattern
from spatch_core.testing import run_python

CORE = Path(spatch_core.__file__).parents[1]

FIELDS: dict[str, Any] = {
    "name": "loud",
    "primary_types": ["builtins:str", "~builtins:bytes"],
    "secondary_types": ["builtins:int"],
    "requires_opt_in": True,
    "higher_priority_than": ["other"],
    "lower_priority_than": ["default"],
    "functions": {
        "defaults": {"uses_context": True},
        "auto-generation": {"backend": "loud:backend", "modules": ["loud.code"]},
        "photolib:double": {
            "function": "loud.code:double",
            "should_run": "loud.code:ask",
            "additional_docs": "Louder.",
        },
        "photolib:halve": {"function": "loud.code:halve", "uses_context": False},
    },
}
TOML = """
    name = "loud"
    primary_types = ["builtins:str", "~builtins:bytes"]
    secondary_types = ["builtins:int"]
    requires_opt_in = true
    higher_priority_than = ["other"]
    lower_priority_than = ["default"]

    [functions.defaults]
    uses_context = true

    [functions.auto-generation]
    backend = "loud:backend"
    modules = ["loud.code"]

    [functions."photolib:double"]
    function = "loud.code:double"
    should_run = "loud.code:ask"
    additional_docs = "Louder."

    [functions."photolib:halve"]
    function = "loud.code:halve"
    uses_context = false
"""


def catalog(*entry_points: Any, in_code: Any = (), **variables: str) -> Catalog:
    """Build the catalog of a library whose variables start with PHOTOLIB."""
    environment = read_environment(
        "PHOTOLIB", {f"PHOTOLIB_{name}": value for name, value in variables.items()}
    )
    return build_catalog(entry_points, in_code, [TypePattern("builtins:float")], environment)


def entry_point(name: str, value: str) -> EntryPoint:
    """An entry point that belongs to no distribution, as a test or a plugin may make one."""
    return EntryPoint(name, value, "photolib.backends")


def backend(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "primary_types": ["builtins:str"], **fields}


# Prints the backend that a fresh interpreter finds, and the modules of it that are imported.
FIND = """
    import json, sys
    {before}
    from spatch_core import BackendSystem

    system = BackendSystem("photolib.backends", "PHOTOLIB")
    description = system.backends.get("loud")
    print(json.dumps({{
        "found": description is not None,
        "file": description and description.source.file,
        "distribution": description and description.source.distribution,
        **({{"unmet": description.unmet}} if description and description.unmet else {{}}),
        "imported": sorted(name for name in sys.modules if name.startswith("loud")),
        "problems": [str(each) for each in system.problems],
    }}))
"""


def find(
    *path: Path, before: str = "", options: tuple[str, ...] = ("-W", "ignore")
) -> dict[str, Any]:
    """Discover backends in a fresh interpreter."""
    done = run_python(FIND.format(before=before), path=[*path, CORE], options=options)
    report: dict[str, Any] = json.loads(done.stdout)
    return report
