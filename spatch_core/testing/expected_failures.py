"""The tests that are expected to fail under a backend: a file of the backend's author."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_TABLES = ("functions", "tests")


class ExpectedFailuresError(Exception):
    """The file cannot be read, or has something else in it."""


@dataclass(frozen=True, slots=True)
class ExpectedFailures:
    """The failures that a backend's author expects, each with its reason.

    Parameters
    ----------
    functions : mapping of str to str
        By the function's identifier: a test may fail in which the backend answers it, and at
        least one of these tests must.
    tests : mapping of str to str
        By the end of the test's identifier, with or without parameters: the test must fail.
    """

    functions: Mapping[str, str] = field(default_factory=dict)
    tests: Mapping[str, str] = field(default_factory=dict)

    def of_test(self, identifier: str) -> str:
        """Return the reason for which a test must fail; empty for none."""
        plain = identifier.partition("[")[0]
        for name, reason in self.tests.items():
            for each in (identifier, plain):
                if each == name or each.endswith(f"/{name}"):
                    return reason
        return ""

    def of_functions(self, identifiers: Iterable[str]) -> str:
        """Return the first of the functions that may fail; empty for none."""
        return next((each for each in identifiers if each in self.functions), "")


def read_expected_failures(path: str | os.PathLike[str]) -> ExpectedFailures:
    """Read a file with the tables ``functions`` and ``tests``.

    Raises
    ------
    ExpectedFailuresError
        If it cannot be read, is not TOML, or has anything but reasons in these tables.
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
                f"{name}.{key!r} is to give a reason"
                for key, reason in table.items()
                if not isinstance(reason, str) or not reason.strip()
            ]
    if faults:
        raise ExpectedFailuresError(f"{os.fspath(path)}: {'; '.join(faults)}")
    return ExpectedFailures(**content)
