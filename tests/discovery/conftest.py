"""A description, and backends that a fresh interpreter finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import spatch_core
from spatch_core.testing import run_python

CORE = Path(spatch_core.__file__).parents[1]

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
