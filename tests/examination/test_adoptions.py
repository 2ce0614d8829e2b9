"""Functions that a library has adopted."""

from __future__ import annotations

import json

from spatch_core import BackendSystem
from spatch_core.examination.adoptions import adopted_name, is_adopted


def test_a_function_is_adopted_under_the_name_that_the_library_gives_it() -> None:
    """T4: it is not adopted under any other name."""
    system = BackendSystem(None, "ADOPTIONSLIB")
    system.adopt(json.dumps, "json:write")
    assert is_adopted(system, "json:write")
    assert not is_adopted(system, "json:dumps")
    assert adopted_name(system, json.dumps) == "json:write"
    assert adopted_name(system, json.loads) is None
    assert adopted_name(system, "json:write") is None
    assert adopted_name(system, dict) is None
