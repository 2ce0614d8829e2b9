"""Which functions a description may name."""

from __future__ import annotations

from pathlib import Path

import spatch_core
from spatch_core.testing import run_python, write_distribution

LIBRARY = """
from spatch_core import BackendSystem
from spatch_core.switching import attributes

system = BackendSystem("attrcheck.backends", "ATTRCHECK")
__getattr__, __dir__ = attributes(system, __name__, {"pi": 3})


@system.dispatchable("x")
def tensor(x):
    return x
"""
FILE = """
name = "b"
primary_types = ["attrcheck_b:Array"]

[attributes]
"attrcheck:pi" = "attrcheck_b:value"
"attrcheck:e" = "attrcheck_b:valu"
"attrcheck.plain:pi" = "attrcheck_b:value"
"attrchek:pi" = "attrcheck_b:value"
"""
EXPECTED = {
    'attributes."attrcheck:e"': "error: 'attrcheck_b' has no 'valu'",
    'attributes."attrcheck.plain:pi"': "warning: attributes of module 'attrcheck.plain' follow no",
}
PROGRAM = """
from spatch_core.examination import Library, Source, examine_library, verify_file

library = Library("attrcheck", "attrcheck:system", Source())

reports = [verify_file(FILE), examine_library(library)]
for report in reports:
    print("---")
    for each in report.findings:
        print(each.keys[0], "|", f"{each.severity}: {each.message} {each.remedy}")
"""


def test_attributes_are_compared_with_the_modules_of_the_library(tmp_path: Path) -> None:
    """W4: by doctor, and by verify as far as a file allows it; each finding has its key."""
    distribution = write_distribution(
        tmp_path,
        "attrcheck",
        entry_points={
            "attrcheck.backends": {"b": "attrcheck_b:b.toml"},
            "spatch_core.libraries": {"attrcheck": "attrcheck:system"},
        },
        files={
            "attrcheck/__init__.py": LIBRARY,
            "attrcheck/plain.py": "",
            "attrcheck_b/__init__.py": "value = 3\nclass Array: pass\n",
            "attrcheck_b/b.toml": FILE,
        },
    )
    file = distribution.folder / "attrcheck_b" / "b.toml"
    path = [tmp_path, Path(spatch_core.__file__).parents[1]]
    printed = run_python(PROGRAM.replace("FILE", repr(str(file))), path=path).stdout
    verified, examined = (
        dict(line.split(" | ", 1) for line in part.strip().splitlines())
        for part in printed.split("---\n")[1:]
    )
    for found in (verified, examined):
        for key, message in EXPECTED.items():
            assert found.pop(key).startswith(message)
    (key, message) = examined.popitem()
    assert key == 'attributes."attrchek:pi"'
    assert message.startswith(
        "error: the library has no module 'attrchek' Did you mean 'attrcheck'"
    )
    assert examined == {}
    assert {*verified} <= {key}
