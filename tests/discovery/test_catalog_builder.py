"""One backend a name: from entry points and descriptions in code to the catalog."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from spatch_core.testing import write_distribution
from tests.discovery.conftest import TOML, backend, catalog, entry_point


class TestNames:
    """One backend a name, independent of the order in which entry points were found."""

    def test_the_order_of_entry_points_does_not_matter(self, tmp_path: Path) -> None:
        """P1: the order of finding is not the order of priority."""
        names = [f"b{number}" for number in range(6)]
        points = [entry_point(name, f"no_such_{name}:backend.toml") for name in names]

        one, other = catalog(*points), catalog(*points[::-1])

        assert one.problems == other.problems
        assert [each.backend for each in one.problems] == names

    def test_a_description_in_code_goes_before_an_installed_one_of_its_name(self) -> None:
        """P10: the library's own choice counts."""
        found = catalog(entry_point("twin", "no:twin.toml"), in_code=[backend("twin")])

        assert found.descriptions["twin"].in_code
        (problem,) = found.problems
        assert "the backend of the library itself is used" in problem.message

    def test_a_name_in_code_that_occurs_twice_is_reported(self) -> None:
        """P10: the first counts."""
        found = catalog(in_code=[backend("twin"), backend("twin", requires_opt_in=True)])

        assert not found.descriptions["twin"].requires_opt_in
        assert [each.backend for each in found.problems] == ["twin"]

    def test_metadata_is_read_only_when_it_is_asked_for(self, tmp_path: Path) -> None:
        """Parsing it takes about as long as parsing the description."""

        class Counting:
            reads = 0

            @property
            def metadata(self) -> dict[str, str]:
                self.reads += 1
                return {"Name": "loud-dist"}

            def locate_file(self, path: str) -> Path:
                return tmp_path / path

        write_distribution(tmp_path, "loud-dist", files={"loud/backend.toml": TOML})
        distribution = Counting()
        point = SimpleNamespace(name="loud", value="loud:backend.toml", dist=distribution)

        description = catalog(point).descriptions["loud"]

        assert distribution.reads == 0
        assert description.source.distribution == "loud-dist"
        assert distribution.reads == 1

    def test_the_metadata_of_a_broken_backend_is_read_for_the_text_of_its_warning(self) -> None:
        """Once for the order of the warnings, and once for each time that one is shown."""

        class Counting:
            reads = 0

            @property
            def metadata(self) -> dict[str, str]:
                self.reads += 1
                return {"Name": "loud-dist", "Version": "1.0"}

        distribution = Counting()
        found = catalog(SimpleNamespace(name="loud", value="no_such:b.toml", dist=distribution))

        (warning,) = found.warnings()

        assert distribution.reads == 1
        assert "distribution loud-dist 1.0" in str(warning)
        assert distribution.reads == 2

    def test_many_backends(self) -> None:
        """1,000 of them, half of them broken: no recursion, no warning left out."""
        found = catalog(
            *(entry_point(f"installed{n}", f"no_such_package{n}:b.toml") for n in range(500)),
            in_code=[backend(f"own{number}") for number in range(500)],
        )

        assert len(found.descriptions) == 501
        assert len(found.problems) == len(list(found.warnings())) == 500


class TestNearMisses:
    """A name in a variable that resembles an installed backend is reported as a mistake."""

    @pytest.mark.parametrize("variable", ["PRIORITIZE", "BLOCK", "SET_ORDER"])
    def test_reported(self, variable: str) -> None:
        value = "thread>gpu" if variable == "SET_ORDER" else "thread"

        (problem,) = catalog(
            in_code=[backend("threads"), backend("gpu")], **{variable: value}
        ).problems

        assert problem.key == f"PHOTOLIB_{variable}"
        assert problem.remedy == "Did you mean 'threads'?"

    def test_of_a_broken_or_blocked_backend_too(self) -> None:
        found = catalog(entry_point("threads", "no:b.toml"), PRIORITIZE="thread", BLOCK="threads")

        assert [each.remedy for each in found.problems] == ["Did you mean 'threads'?"]

    def test_the_exact_name_of_a_broken_backend_is_none(self) -> None:
        found = catalog(entry_point("threads", "no:b.toml"), PRIORITIZE="threads")

        assert [each.backend for each in found.problems] == ["threads"]
