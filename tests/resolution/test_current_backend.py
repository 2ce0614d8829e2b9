"""The current backend: types decide, and where they say nothing, it does; rule W1."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSystem, UnknownBackendError
from spatch_core.testing import isolated, write_distribution


class Own:
    """The library's type."""


class Jax:
    """A backend's type."""


class Torch:
    """Another backend's type."""


class Unknown:
    """A type that no backend knows."""


def describe(name: str, *primary: str, **fields: Any) -> dict[str, Any]:
    def implementation(*args: Any, **kwargs: Any) -> str:
        return name

    functions = {f"lib:{each}": {"function": implementation} for each in ("tensor", "zeros", "add")}
    here = [each if ":" in each else f"{__name__}:{each}" for each in primary]
    return {"name": name, "primary_types": here, "functions": functions, **fields}


class Library:
    """Constructors and a function of two arguments; its backends are its own."""

    def __init__(self, *backends: dict[str, Any], **keywords: Any) -> None:
        system = BackendSystem(
            None,
            "CURRENTLIB",
            keywords.pop("types", [f"{__name__}:Own"]),
            backends=backends or BACKENDS,
            **keywords,
        )
        self.system = system
        self.options = system.backend_opts

        @system.dispatchable("data", module="lib", qualname="tensor")
        def tensor(data: Any = None, dtype: Any = None) -> str:
            return "default"

        @system.dispatchable([], module="lib", qualname="zeros")
        def zeros(shape: Any) -> str:
            return "default"

        @system.dispatchable(("x", "y"), module="lib", qualname="add")
        def add(x: Any, y: Any) -> str:
            return "default"

        self.tensor, self.zeros, self.add = tensor, zeros, add


BACKENDS = (
    describe("jax", "Jax"),
    describe("torch", "Torch"),
    describe("fast", "Own", higher_priority_than=["default"]),
    describe("quiet", "Unknown", requires_opt_in=True),
)


@pytest.fixture
def library() -> Library:
    return Library()


def test_it_decides_where_types_say_nothing(library: Library) -> None:
    """W1: Python's own classes, and no dispatch types at all."""
    assert library.tensor([1, 2]) == library.zeros(3) == "default"
    with library.options(backend="jax"):
        values: tuple[Any, ...] = ([1, 2], 3, 1.5, "text", (1,), {}, None, range(3), iter([]))
        for data in values:
            assert library.tensor(data) == "jax"
        assert library.tensor() == library.zeros(3) == library.add(1, 2.0) == "jax"
    with library.options(backend="torch"):
        assert library.tensor([1, 2]) == library.zeros(3) == library.add(1, 2.0) == "torch"
    assert library.tensor([1, 2]) == "default"


def test_types_decide(library: Library) -> None:
    """W1: objects go where they belong, also mixed with Python's own."""
    with library.options(backend="jax"):
        assert library.tensor(Own()) == "fast"
        assert library.tensor(Torch()) == library.add(Torch(), 1) == "torch"
        assert library.add(Own(), 1.5) == library.add(1.5, Own()) == "fast"
        assert library.add(Jax(), 1.5) == "jax"
        assert library.tensor(Unknown()) == "default"
        assert library.add(Unknown(), 1) == "default"


def test_it_is_prioritized(library: Library) -> None:
    """W1: of those that know a type it goes first; opt-in is given by it."""
    with library.options(backend="default"):
        assert library.tensor(Own()) == library.tensor([1]) == "default"
        assert library.options().prioritized == ("default",)
    with library.options(backend="quiet"):
        assert library.tensor(Unknown()) == library.tensor([1]) == "quiet"
    assert library.tensor(Unknown()) == "default"


def test_what_the_library_lists_is_its_own() -> None:
    """W1: also as a secondary type, or by a pattern for subclasses."""
    lists = [f"{__name__}:Own", "~builtins:int", "@collections.abc:Sequence"]
    library = Library(types=lists, default_secondary_types=["builtins:float"])
    with library.options(backend="jax"):
        assert library.tensor(1) == library.tensor([1]) == library.tensor("text") == "default"
        assert library.tensor(True) == library.add({}, 1) == "default"
        assert library.tensor({}) == library.zeros(3) == "jax"
        assert library.add(Jax(), 1.5) == "jax"


def test_a_type_in_force_says_something(library: Library) -> None:
    """W1: `type=` decides, also if it is one of Python's own classes."""
    with library.options(backend="jax", type=Torch):
        assert library.zeros(3) == library.tensor([1]) == "torch"
    counting = Library(*BACKENDS, describe("counts", "builtins:int"))
    with counting.options(backend="jax", type=int):
        assert counting.zeros(3) == counting.tensor([1]) == "counts"
    with counting.options(backend="jax"):
        assert counting.tensor(1) == "jax"


def test_a_function_that_it_lacks(library: Library) -> None:
    """W1: it implements what it implements; the rest goes on as without it."""

    @library.system.dispatchable("x", module="lib")
    def other(x: Any) -> str:
        return "default"

    with library.options(backend="jax"):
        assert other([1]) == other(Torch()) == "default"
        assert other.explain([1]).selected == "default"


def test_it_may_defer() -> None:
    """W1: then the call goes on as it would without it."""
    asked = describe("asked", "Jax")
    for each in asked["functions"].values():
        each["should_run"] = lambda context, *args, **kwargs: f"not for {args}"
    library = Library(asked, describe("lists", "builtins:list"))
    with library.options(backend="asked"), library.options(trace=True) as trace:
        assert library.tensor([1]) == "lists"
        assert library.tensor((1,)) == "default"
    assert [str(each) for each in trace] == [
        "lib:tensor -> asked deferred: not for ([1],)",
        "lib:tensor -> lists called",
        "lib:tensor -> asked deferred: not for ((1,),)",
        "lib:tensor -> default called: no backend takes the call",
    ]


def test_blocks_nest(library: Library) -> None:
    """W1: an inner one takes the place of the outer one; `prioritize` keeps its own order."""
    options = library.options
    with options(prioritize="fast"), options(backend="jax"):
        assert options().prioritized == ("jax", "fast")
        with options(prioritize="torch"):
            assert options().prioritized == ("torch", "jax", "fast")
            assert options().backend == "jax"
            with options(backend="fast"):
                assert options().prioritized == ("fast", "torch")
                assert library.tensor([1]) == "fast"
            with options(prioritize="quiet", backend="torch"):
                assert options().prioritized == ("quiet", "torch", "fast")
        assert (options().backend, library.tensor([1])) == ("jax", "jax")
    assert options().backend is None
    with options(prioritize="jax"), options(backend="jax"), options(backend="torch"):
        # Prioritized as such, it stays so.
        assert options().prioritized == ("torch", "jax")


def test_a_disabled_one(library: Library) -> None:
    """W1: `disable` holds for it as for others, and naming it again lifts that."""
    options = library.options
    with options(backend="jax"), options(disable="jax"):
        assert library.tensor([1]) == library.tensor(Jax()) == "default"
        assert (options().backend, options().prioritized) == ("jax", ())
        with options(prioritize="jax"):
            assert library.tensor([1]) == library.tensor(Jax()) == "jax"
        with options(backend="jax"):
            assert library.tensor([1]) == "jax"
            assert options().disabled == ()
    with options(disable="jax"), options(backend="jax"):
        assert library.tensor([1]) == "jax"


def test_an_unknown_name(library: Library) -> None:
    """W1: says so at once, with the nearest names, as for `prioritize`."""
    with pytest.raises(UnknownBackendError, match="did you mean 'jax'"):
        library.options(backend="jxa")
    with pytest.raises(UnknownBackendError):
        library.options(backend="")
    # A second time, when the options of other names are known.
    library.options(backend="jax")
    with pytest.raises(ValueError, match="jxa"):
        library.options(backend="jxa")


def test_names_of_the_library() -> None:
    """F11: the library's own name means it, in options and in the variable."""
    library = Library(default_name="numpy")
    with isolated(library.system, environment={"CURRENTLIB_BACKEND": "numpy"}):
        assert library.options().backend == "default"
        assert library.system.problems == ()
        with library.options(backend="jax"):
            assert library.tensor([1]) == "jax"
            with library.options(backend="numpy"):
                assert library.tensor([1]) == library.tensor(Own()) == "default"


def test_the_variable(library: Library) -> None:
    """S8: the current backend of the process-wide default, after those that are prioritized."""
    environment = {"CURRENTLIB_BACKEND": " jax ", "CURRENTLIB_PRIORITIZE": "fast"}
    with isolated(library.system, environment=environment):
        assert library.tensor([1]) == library.zeros(3) == "jax"
        assert library.options().prioritized == ("fast", "jax")
        assert library.options().backend == "jax"
        with library.options(backend="torch"):
            assert library.tensor([1]) == "torch"
            assert library.options().prioritized == ("torch", "fast")
        library.options(backend="torch").enable_globally()
        assert library.tensor([1]) == "torch"
        library.options.reset_globally()
        assert library.tensor([1]) == "jax"
    assert library.tensor([1]) == "default"


def test_an_installed_backend(tmp_path: Path) -> None:
    """W1, C2: a merely installed backend takes Python's own classes once it is current."""
    description = f"""
        name = "installed"
        primary_types = ["{__name__}:Jax"]
        secondary_types = ["builtins:float"]
        [functions."lib:tensor"]
        function = "installed_code:tensor"
        [functions."lib:add"]
        function = "installed_code:tensor"
    """
    write_distribution(
        tmp_path,
        "installed-dist",
        files={
            "installed_code.py": "def tensor(data=None, dtype=None): return 'installed'",
            "installed_backend/__init__.py": "",
            "installed_backend/backend.toml": description,
        },
        entry_points={"currentlib.backends": {"installed": "installed_backend:backend.toml"}},
    )
    system = BackendSystem("currentlib.backends", "CURRENTLIB", [f"{__name__}:Own"])

    @system.dispatchable("data", module="lib", qualname="tensor")
    def tensor(data: Any = None, dtype: Any = None) -> str:
        return "default"

    @system.dispatchable(("x", "y"), module="lib", qualname="add")
    def add(x: Any, y: Any) -> str:
        return "default"

    environment = {"CURRENTLIB_BACKEND": "installed"}
    with isolated(system, path=[tmp_path], environment=environment):
        assert tensor([1]) == add(1.5, 1) == add(Jax(), 1.5) == "installed"
        assert tensor(Own()) == add(Own(), 1.5) == "default"
        # Its secondary types do not count in calls that the default matches without them (M4).
        assert add.explain(Own(), 1.5).backends[-1].reason == ""
        with system.backend_opts(prioritize="installed"):
            assert add.explain(Own(), 1.5).backends[-1].reason == ""
        options = pickle.loads(pickle.dumps(system.backend_opts(backend="installed")))
        assert options.backend == "installed"
    with isolated(system, path=[tmp_path]):
        assert tensor([1]) == "default"
        with system.backend_opts(backend="installed"):
            assert tensor([1]) == "installed"
