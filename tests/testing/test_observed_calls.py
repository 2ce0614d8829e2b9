"""What a call tells a hook."""

from __future__ import annotations

from typing import Any

from spatch_core import BackendSystem


def test_a_call_tells_who_has_deferred() -> None:
    """H2: with the reasons, after `next`."""
    seen = []

    def hook(call: Any) -> Any:
        seen.append(call.deferred)
        result = call.next(*call.args, **call.kwargs)
        seen.append(call.deferred)
        return result

    fields = {"function": lambda x: NotImplemented}
    backend = {
        "name": "some",
        "primary_types": ["builtins:float"],
        "functions": {"notes:twice": fields},
    }
    system = BackendSystem(None, "NOTES", ["builtins:int"], backends=[backend])
    twice = system.dispatchable("x", module="notes", qualname="twice")(lambda x: 2 * x)
    with system.backend_opts(hook=hook):
        assert twice(1.0) == 2.0
        assert twice(1) == 2
    assert seen == [{}, {"some": "it returned NotImplemented"}, {}, {}]
