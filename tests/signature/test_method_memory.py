"""What an instance remembers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from spatch_core._signature.method_memory import Memory, make_memory


def fit(model: Any, x: Any) -> None: ...


def test_the_instance_is_the_first_argument() -> None:
    """K14: by position or by its name."""
    memory = make_memory(fit, "lib:f", decides=True, follows=None)
    assert (memory.method, memory.attribute, memory.parameter) == ("fit", "_fit_backend", "model")
    assert (memory.decides, memory.follows) == (True, False)
    model = SimpleNamespace()
    memory.keep((model, 3), {}, "gpu")
    assert memory.recall((), {"x": 3, "model": model}) == "gpu"
    assert memory.recall((), {}) is None


def test_methods_of_one_name_share_it() -> None:
    """K12: by the name that the library gives."""
    follows = make_memory(fit, "lib:f", decides=False, follows="train")
    decides = make_memory(fit, "lib:f", decides="train", follows=None)
    assert follows.attribute == decides.attribute == "_train_backend"
    both = make_memory(fit, "lib:f", decides=True, follows="fit")
    assert isinstance(both, Memory)
    assert (both.decides, both.follows) == (True, True)
