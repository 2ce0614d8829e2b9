"""The tables in force, as the code of a script's functions refers to them."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core._function.picklable_tables import PicklableTables


def test_it_returns_the_tables_in_force() -> None:
    """Here, and inside of a block."""
    system = BackendSystem(None, "LIB", ["builtins:int"], [{"name": "b", "primary_types": ["m:T"]}])
    get = system._dispatcher.tables
    tables = PicklableTables(get)
    assert tables() is get()
    with system.backend_opts(disable="b"):
        assert tables() is get()
        assert tables()[0].state.disabled == {"b"}


def test_it_can_be_pickled_unlike_the_method_of_the_variable() -> None:
    """Restored functions get code of their own, so a number will do."""
    get = BackendSystem(None, "LIB")._dispatcher.tables
    with pytest.raises(TypeError):
        pickle.dumps(get)
    assert pickle.loads(pickle.dumps(PicklableTables(get))) == 0


def test_only_functions_of_scripts_refer_to_it() -> None:
    """A call of the method itself is faster."""
    system = BackendSystem(None, "LIB")
    for module, kind in (("__main__", PicklableTables), ("lib", type(system._dispatcher.tables))):
        f: Any = system.dispatchable("x", module=module, qualname="f")(lambda x: x)
        record = f.backends._record
        assert any(type(each) is kind for each in record.generated.code().co_consts)
