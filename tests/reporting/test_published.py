"""What users receive is pickled by names that stay."""

from __future__ import annotations

import pickle
import pickletools
from types import MappingProxyType

from spatch_core import types


def strings_in(data: bytes) -> list[str]:
    return [each for _, each, _ in pickletools.genops(data) if isinstance(each, str)]


def test_a_dataclass_is_pickled_by_the_names_of_its_fields() -> None:
    """Later versions may have more fields, in another order."""
    event = types.TraceEvent("lib:f", "gpu", types.Outcome.CALLED, "", (int,))
    words = strings_in(pickle.dumps(event, 4))
    assert words[:3] == ["spatch_core.types", "restore", "TraceEvent"]
    assert {"function", "backend", "outcome", "reason", "types"} <= {*words}


def test_a_mapping_that_cannot_change_is_pickled_as_a_dictionary() -> None:
    """Pickle knows no mapping proxies."""
    functions = {"lib:f": types.Implementation("gpu:f")}
    description = types.Description("gpu", (), functions=MappingProxyType(functions))
    assert pickle.loads(pickle.dumps(description)) == description


def test_objects_that_refer_to_one_another_stay_together() -> None:
    """One object stays one object."""
    source = types.Source(file="backend.toml")
    problems = [types.Problem(text, "r", "gpu", source=source) for text in ("a", "b")]
    first, second = pickle.loads(pickle.dumps(problems))
    assert first.source is second.source
    assert [first, second] == problems
