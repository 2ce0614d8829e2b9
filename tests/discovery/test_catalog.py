"""A catalog says why backends cannot be used, and warns about problems."""

from __future__ import annotations

import pytest

from spatch_core import (
    BackendSkippedWarning,
    EnvironmentVariableWarning,
    UnknownBackendError,
)
from tests.discovery.conftest import backend, catalog, entry_point


class TestBlocked:
    """Of blocked backends only the names are read."""

    def test_they_are_listed_but_not_read(self) -> None:
        """S13: `list` can show them."""
        found = catalog(entry_point("one", "no:1.toml"), in_code=[backend("two")], BLOCK="one,two")

        assert set(found.blocked) == {"one", "two"}
        assert list(found.descriptions) == ["default"]
        assert found.problems == ()
        assert found.blocked["one"].entry_point == "one = no:1.toml"

    def test_asking_for_one_says_why(self) -> None:
        """S13, S5: the error names the variable."""
        found = catalog(entry_point("one", "no:1.toml"), BLOCK="*")

        with pytest.raises(UnknownBackendError, match=r"blocked by .* PHOTOLIB_BLOCK") as caught:
            found.check_backend("one")

        assert caught.value.name == "one"
        assert caught.value.reason


class TestUnusableNames:
    """Asking for a backend that cannot be used is an error with the reason."""

    def test_a_broken_one_says_why(self) -> None:
        """S5: the error has the first fault."""
        with pytest.raises(UnknownBackendError, match=r"cannot be used: .*no file 'b.toml'"):
            catalog(entry_point("broken", "no:b.toml")).check_backend("broken")

    def test_a_misspelled_one_shows_the_nearest(self) -> None:
        """S5: the names are compared."""
        found = catalog(in_code=[backend("threads"), backend("gpu")])

        with pytest.raises(UnknownBackendError, match="did you mean 'threads'") as caught:
            found.check_backend("thread")

        assert caught.value.nearest == ("threads",)

    def test_any_other_shows_what_is_installed(self) -> None:
        """S5: the name resembles no other name."""
        with pytest.raises(UnknownBackendError, match="installed: default, gpu"):
            catalog(in_code=[backend("gpu")]).check_backend("xyz")

    @pytest.mark.parametrize("name", [3, None, ("gpu",)])
    def test_a_value_that_is_no_name(self, name: object) -> None:
        with pytest.raises(UnknownBackendError, match="no backend is named"):
            catalog(in_code=[backend("gpu")]).check_backend(name)


class TestWarnings:
    """One warning for each backend or variable that has problems."""

    def test_a_backend_with_several_faults_has_one(self) -> None:
        (warning,) = catalog(in_code=[{"name": "b", "requires_opt_in": 1}]).warnings()

        assert isinstance(warning, BackendSkippedWarning)
        assert [each.key for each in warning.problems] == ["primary_types", "requires_opt_in"]
        assert "(1 more fault: see the library's system.problems)" in str(warning)

    def test_backends_on_one_cycle_share_one(self) -> None:
        found = catalog(
            in_code=[
                backend("a", higher_priority_than=["b"]),
                backend("b", higher_priority_than=["a"]),
                backend("c", higher_priority_than=["d"]),
                backend("d", higher_priority_than=["c"]),
            ]
        )

        texts = [str(each) for each in found.warnings()]

        assert len(found.problems) == 4
        assert len(texts) == 2
        assert "a before b before a" in texts[0]
        assert "c before d before c" in texts[1]

    def test_a_variable_has_its_own(self) -> None:
        found = catalog(in_code=[backend("gpu")], PRIORITIZE="gpus,,", BLOCK="gqu")

        warnings = list(found.warnings())

        assert [type(each) for each in warnings] == [EnvironmentVariableWarning] * 2
        assert [each.problem.key for each in warnings] == [  # type: ignore[attr-defined]  # of this class
            "PHOTOLIB_PRIORITIZE",
            "PHOTOLIB_BLOCK",
        ]

    def test_nothing_wrong_nothing_warned(self) -> None:
        assert list(catalog(in_code=[backend("gpu")]).warnings()) == []
