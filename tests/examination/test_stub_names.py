"""What a stub imports, and the names that it has for that."""

from __future__ import annotations

from spatch_core.examination.stub_names import StubNames


def test_names_do_not_meet() -> None:
    names = StubNames()
    assert names.of("a.b_c", "D") == "_a_b_c.D"
    assert names.of("a_b.c", "D") == "_a_b_c_2.D"
    assert names.of("overload", "D") == "_overload_2.D"
    assert names.of("a.class", "D") is None
    assert names.of("a", "f.<locals>.D") is None
    assert names.imports() == [
        "import a.b_c as _a_b_c",
        "import a_b.c as _a_b_c_2",
        "import overload as _overload_2",
    ]
