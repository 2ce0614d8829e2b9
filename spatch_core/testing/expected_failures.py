"""The file in which a backend's author lists expected failures."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_TABLES = ("functions", "tests")


class ExpectedFailuresError(Exception):
    """The file cannot be read, or has the wrong content."""


@dataclass(frozen=True, slots=True)
class ExpectedFailures:
    """The failures that a backend's author expects, each with its reason.

    Parameters
    ----------
    functions : mapping of str to str
        The reasons by identifier of the function. Tests in which the backend answers the function
        may fail, and at least one of them must.
    tests : mapping of str to str
        The reasons by identifier of the test, or its end, with or without parameters. The test
        must fail.
    """

    functions: Mapping[str, str] = field(default_factory=dict)
    tests: Mapping[str, str] = field(default_factory=dict)

    def of_test(self, identifier: str) -> str:
        """Return the reason why a test must fail; empty if it need not."""
        plain = identifier.partition("[")[0]
        for name, reason in self.tests.items():
            for each in (identifier, plain):
                if each == name or each.endswith(f"/{name}"):
                    return reason
        return ""

    def of_functions(self, identifiers: Iterable[str]) -> str:
        """Return the first function with expected failures; empty without one."""
        return next((each for each in identifiers if each in self.functions), "")


def read_expected_failures(path: str | os.PathLike[str]) -> ExpectedFailures:
    """Read a file with the tables ``functions`` and ``tests``.

    Raises
    ------
    ExpectedFailuresError
        If the file cannot be read, is not TOML, or has anything but reasons in these tables.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with open(path, "rb") as file:
            content = tomllib.load(file)
    except (OSError, ValueError) as error:
        raise ExpectedFailuresError(f"{os.fspath(path)} cannot be read: {error}") from None
    faults = [f"there is no table {name!r}" for name in content if name not in _TABLES]
    for name in _TABLES:
        table = content.get(name, {})
        if not isinstance(table, dict):
            faults.append(f"{name!r} is not a table")
        else:
            faults += [
                f"{name}.{key!r} has no reason"
                for key, reason in table.items()
                if not isinstance(reason, str) or not reason.strip()
            ]
    if faults:
        raise ExpectedFailuresError(f"{os.fspath(path)}: {'; '.join(faults)}")
    return ExpectedFailures(**content)
