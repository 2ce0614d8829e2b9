"""Every rule of ``docs/reference/rules.md`` is cited by a test, and every citation has a rule.

A docstring cites rules at its start, before a colon: ``\"\"\"M3, M5: …\"\"\"``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "reference" / "rules.md"
SECTIONS = "DMPSCVWHKTFXE"
RULE = re.compile(rf"^\*\*([{SECTIONS}]\d+)\*\* ", re.MULTILINE)
CITATIONS = re.compile(r"((?:[A-Z]\d+, )*[A-Z]\d+): ")
FILES = sorted(TESTS.rglob("*.py"))


def rules() -> list[str]:
    """Return the identifiers of all rules, in the order of the page."""
    return RULE.findall(PAGE.read_text(encoding="utf-8"))


def citations(file: Path) -> Iterator[tuple[str, int]]:
    """Yield each rule that a docstring in `file` cites, with the docstring's line."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
            found = CITATIONS.match(ast.get_docstring(node) or "")
            for rule in found[1].split(", ") if found else ():
                yield rule, node.body[0].lineno


def test_rules_are_numbered_by_section() -> None:
    """From 1 on in each section, one section after the other."""
    found = rules()
    expected = [
        f"{letter}{number}"
        for letter in SECTIONS
        for number in range(1, sum(each[0] == letter for each in found) + 1)
    ]
    assert found == expected


def test_every_rule_is_cited() -> None:
    """A rule that no test shows is a promise that nothing keeps."""
    cited = {rule for file in FILES for rule, _ in citations(file)}
    assert [rule for rule in rules() if rule not in cited] == []


def test_every_citation_has_its_rule() -> None:
    """Rules that were renumbered or dropped leave no citation behind."""
    known = set(rules())
    wrong = [
        f"{file.relative_to(TESTS)}:{line} cites {rule}"
        for file in FILES
        for rule, line in citations(file)
        if rule not in known
    ]
    assert wrong == []


def test_rules_refer_to_rules_that_exist() -> None:
    """Also within the page itself."""
    text = PAGE.read_text(encoding="utf-8")
    assert set(re.findall(rf"\b[{SECTIONS}]\d+\b", text)) == set(rules())


def test_no_test_cites_a_page_that_is_not_there() -> None:
    """The rules are what tests cite, not the sections of another text."""
    other = re.compile(r"\bDESIGN\b|[Ss]ections? [1-9]|\b[Rr]ules? [1-9]")
    cites = [
        f"{file.relative_to(TESTS)}:{number}"
        for file in FILES
        if file != Path(__file__)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if other.search(line)
    ]
    assert cites == []
