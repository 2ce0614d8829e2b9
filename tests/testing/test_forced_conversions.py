"""Each call is made with objects of a backend."""

from __future__ import annotations

from tests.testing.pytest_runs import TESTS, Kit


def test_conversions_are_forced_on_every_call(kit: Kit) -> None:
    """X3: Arguments become the backend's, results the library's; the rest follows the policy."""
    kit.write(
        "test_kit.py",
        TESTS
        + """
    def test_awaited():
        assert asyncio.run(kitlib.later(Box(3))) == Box(3)

    def test_identity():
        box = Box(1)
        asyncio.run(kitlib.later(box)) is box

    def test_written():
        box = Box(1)
        kitlib.clear(box)
        assert box == Box(0)

    def test_refused():
        with pytest.raises(TypeError):
            kitlib.double(Box(None))

    @pytest.mark.spatch_default
    def test_own():
        assert kitlib.double(Box(1)) == Box(2)
    """,
    )
    run = kit.run("--spatch-backend=convert:crate")
    assert run.code == 0, run.output
    assert run.report["converts"] is True
    assert run.calls("double", "answered") == 3
    assert "test_kit.py::test_own" in run.report["not_reached"]
    assert "backend crate, converted in all calls" in run.output
    assert run.calls("clear", "unseen")
