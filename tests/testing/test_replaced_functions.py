"""A library that wraps a package takes the place of the package's functions."""

from __future__ import annotations

from spatch_core.testing import write_distribution
from tests.testing.pytest_runs import Kit


def test_functions_of_another_package_are_replaced(kit: Kit) -> None:
    """X6: A library that wraps a package answers in the place of the package's functions."""
    kit.write("wrapped.py", "def double(n):\n    return 2 * n\n\nTABLE = {double: 'known'}\n")
    write_distribution(
        kit.folder,
        "wrapping",
        entry_points={
            "spatch_core.libraries": {"wrapping": "wrapping:system"},
            "wrapping.backends": {"ten": "wrapping_ten:ten.toml"},
        },
        files={
            "wrapping.py": """
                import wrapped
                from spatch_core import BackendSystem

                system = BackendSystem("wrapping.backends", "WRAPPING", ["builtins:int"])
                double = system.dispatchable("n", module="wrapping")(wrapped.double)
            """,
            "wrapping_ten/__init__.py": "def double(n):\n    return 20 * n\n",
            "wrapping_ten/ten.toml": """
                name = "ten"
                primary_types = ["builtins:int"]
                requires_opt_in = true
                [functions."wrapping:double"]
                function = "wrapping_ten:double"
            """,
        },
    )
    kit.write(
        "test_kit.py",
        """
        from wrapped import TABLE, double

        def test_it():
            assert double(2) == 40
            assert TABLE[double] == "known"
        """,
    )
    run = kit.run("--spatch-backend=ten", "--spatch-require", library="wrapping")
    assert run.code == 0, run.output


def test_functions_that_a_package_gives_lazily_are_replaced(kit: Kit) -> None:
    """X6: The same where a package looks them up in private modules when asked."""
    write_distribution(
        kit.folder,
        "wrapping",
        entry_points={
            "spatch_core.libraries": {"wrapping": "wrapping:system"},
            "wrapping.backends": {"ten": "wrapping_ten:ten.toml"},
        },
        files={
            "wrapping.py": """
                import lazy
                from spatch_core import BackendSystem

                system = BackendSystem("wrapping.backends", "WRAPPING", ["builtins:int"])
                halve = system.dispatchable("n", module="wrapping")(lazy.halve)
            """,
            "lazy/_halves.py": "def halve(n):\n    return n // 2\n",
            "lazy/__init__.py": """
                def __getattr__(name):
                    if name == "halve":
                        from ._halves import halve
                        return halve
                    raise AttributeError(name)
            """,
            "wrapping_ten/__init__.py": "def halve(n):\n    return 5 * n\n",
            "wrapping_ten/ten.toml": """
                name = "ten"
                primary_types = ["builtins:int"]
                requires_opt_in = true
                [functions."wrapping:halve"]
                function = "wrapping_ten:halve"
            """,
        },
    )
    kit.write(
        "test_kit.py",
        """
        import lazy
        from lazy import halve

        def test_it():
            assert halve(2) == lazy.halve(2) == 10
            assert not hasattr(lazy, "absent")
        """,
    )
    run = kit.run("--spatch-backend=ten", "--spatch-require", library="wrapping")
    assert run.code == 0, run.output
