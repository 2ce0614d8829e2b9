"""What the files of a new backend are filled into; ``<words>`` in brackets are replaced."""

from __future__ import annotations

PYPROJECT = """
    [build-system]
    requires = ["setuptools>=77"]
    build-backend = "setuptools.build_meta"

    [project]
    name = "<project>"
    version = "0.1.0"
    description = "The backend <name> for <library>"
    readme = "README.md"
    requires-python = ">=3.10"
    dependencies = <requirements>

    [project.optional-dependencies]
    test = ["pytest>=8.2", "spatch-core[cli]"]

    [project.entry-points."<group>"]
    <entry point> = "<package>:backend.toml"

    [tool.setuptools.packages.find]
    where = ["src"]

    [tool.setuptools.package-data]
    <package> = ["backend.toml", "py.typed"]

    [tool.pytest.ini_options]
    testpaths = ["tests"]

    [tool.ruff]
    line-length = 100
"""
DESCRIPTION = """
    name = "<name>"
    primary_types = <types>
    <opt-in>
    [functions.auto-generation]
    backend = "<package>._backend:backend"
    modules = ["<package>.functions"]

    [functions."<function>"]
    function = "<package>.functions:<implementation>"
"""
INIT = '''
    """The backend <name> for <library>."""
'''
BACKEND = '''
    """Collects the implementations, from which `spatch-core update` writes backend.toml."""

    from __future__ import annotations

    from spatch_core.backend_utils import BackendImplementation

    backend = BackendImplementation("<name>")
'''
FUNCTIONS = '''
    """Implementations of functions of <library>.

    After a change run ``spatch-core update src/<package>/backend.toml``.
    """

    from __future__ import annotations

    from typing import Any

    from ._backend import backend
    <placeholder>

    @backend.implements("<function>")
    <definition>
        # Called with exactly the arguments that the caller gave. Whoever returns
        # NotImplemented defers: the next backend is tried, and the library itself in the end.
        return NotImplemented
'''
TESTS = '''
    """The backend is found, its description is sound, and it takes the library's calls."""

    from __future__ import annotations

    import subprocess
    import sys
    from importlib import import_module
    from inspect import signature
    from pathlib import Path
    from typing import Any

    import pytest

    from <package> import functions

    NAME = "<name>"
    FUNCTION = "<function>"
    DESCRIPTION = Path(functions.__file__).with_name("backend.toml")

    library: Any = import_module("<system module>")
    system: Any = library.<system qualname><function import>


    def spatch_core(*arguments: str) -> None:
        """Run the command line; it must find nothing wrong."""
        command = [sys.executable, "-m", "spatch_core", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


    def parameters(function: Any) -> list[Any]:
        """Return the names of a function's parameters, each with how it is given."""
        return [(each.name, each.kind) for each in signature(function).parameters.values()]


    def test_the_library_finds_the_backend() -> None:
        """And has nothing to say against it."""
        assert NAME in system.backends
        assert [str(each) for each in system.problems if each.backend == NAME] == []


    def test_the_description_says_what_the_code_says() -> None:
        """What to do if not: ``spatch-core update``."""
        spatch_core("update", "--check", str(DESCRIPTION))


    def test_the_description_has_no_faults() -> None:
        """Everything that it names exists."""
        spatch_core("verify", str(DESCRIPTION))


    def test_the_implementation_takes_what_the_library_takes() -> None:
        """The same parameters, in the same order."""
        implementation = functions.<implementation>
        assert parameters(implementation) == parameters(system.functions[FUNCTION])


    def test_it_runs_for_its_types_where_it_is_asked_for() -> None:
        """Skipped where the types are not installed."""
        types: Any = pytest.importorskip("<type module>", exc_type=ImportError)
        cls = types.<type qualname>
        with system.backend_opts(prioritize=NAME):
            explanation = system.explain_types(FUNCTION, [cls])
        assert explanation.selected == NAME
'''
README = """
    # <project>

    The backend `<name>` for `<library>`, for <types in words>.

    ```console
    pip install <project>
    ```

    <when> with `prioritize="<name>"` in the library's `backend_opts`, or in the environment.
    `spatch-core explain <function> <type>` says what runs, and why.

    ## Developing

    ```console
    pip install -e ".[test]"
    pytest
    ```

    Implementations are in `src/<package>/functions.py`. After a change of what is decorated,
    `spatch-core update src/<package>/backend.toml` writes the description;
    `spatch-core verify src/<package>/backend.toml` and `spatch-core doctor <library>` say what is
    wrong.
"""
