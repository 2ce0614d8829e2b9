"""The current backend: types decide, and where they say nothing, it does; rule W1."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from spatch_core import BackendSystem, UnknownBackendError
from spatch_core.testing import isolated
from tests.installed import installed
from tests.library import Foreign, Other, Own, answering, describe, pattern


class Torch:
    """Another backend's type."""


TORCH = f"{__name__}:Torch"


def with_functions(name: str, types: str, **fields: Any) -> dict[str, Any]:
    """Describe a backend that implements all functions of the library."""
    described = describe(name, types=types, **fields)
    (entry,) = described["functions"].values()
    return {**described, "functions": dict.fromkeys(["lib:tensor", "lib:zeros", "lib:add"], entry)}


BACKENDS = (
    with_functions("jax", "Foreign"),
    with_functions("torch", TORCH),
    with_functions("fast", "Own", higher_priority_than=["default"]),
    with_functions("quiet", "Other", requires_opt_in=True),
)


class Library:
    """Constructors and a function of two arguments; its backends are its own."""

    def __init__(
        self, *backends: dict[str, Any], group: str | None = None, **keywords: Any
    ) -> None:
        types = keywords.pop("types", [pattern("Own")])
        self.system = BackendSystem(group, "CURRENTLIB", types, backends=backends, **keywords)
        self.options = self.system.backend_opts
        self.tensor = self.decorate("data", "tensor")
        self.zeros = self.decorate([], "zeros")
        self.add = self.decorate(("data", "dtype"), "add")

    def decorate(self, arguments: Any, name: str) -> Any:
        def default(data: Any = None, dtype: Any = None) -> str:
            return "default"

        return self.system.dispatchable(arguments, identifier=f"lib:{name}")(default)


@pytest.fixture
def library() -> Library:
    return Library(*BACKENDS)


def test_it_decides_where_types_say_nothing(library: Library) -> None:
    """W1: Python's own classes, and no dispatch types at all."""
    assert library.tensor([1, 2]) == library.zeros(3) == "default"
    values: tuple[Any, ...] = ([1, 2], 3, 1.5, "text", (1,), {}, None, range(3), iter([]))
    for name in ("jax", "torch"):
        with library.options(backend=name):
            assert {library.tensor(data) for data in values} == {name}
            assert library.tensor() == library.zeros(3) == library.add(1, 2.0) == name
    assert library.tensor([1, 2]) == "default"


def test_types_decide(library: Library) -> None:
    """W1: objects go where they belong, also mixed with Python's own."""
    with library.options(backend="jax"):
        assert library.tensor(Own()) == "fast"
        assert library.tensor(Torch()) == library.add(Torch(), 1) == "torch"
        assert library.add(Own(), 1.5) == library.add(1.5, Own()) == "fast"
        assert library.add(Foreign(), 1.5) == "jax"
        assert library.tensor(Other()) == "default"
        assert library.add(Other(), 1) == "default"


def test_it_is_prioritized(library: Library) -> None:
    """W1: of those that know a type it goes first; opt-in is given by it."""
    with library.options(backend="default"):
        assert library.tensor(Own()) == library.tensor([1]) == "default"
        assert library.options().prioritized == ("default",)
    with library.options(backend="quiet"):
        assert library.tensor(Other()) == library.tensor([1]) == "quiet"
    assert library.tensor(Other()) == "default"


def test_what_the_library_lists_is_its_own() -> None:
    """W1: also as a secondary type, or by a pattern for subclasses."""
    lists = [pattern("Own"), "~builtins:int", "@collections.abc:Sequence"]
    library = Library(*BACKENDS, types=lists, default_secondary_types=["builtins:float"])
    with library.options(backend="jax"):
        assert library.tensor(1) == library.tensor([1]) == library.tensor("text") == "default"
        assert library.tensor(True) == library.add({}, 1) == "default"
        assert library.tensor({}) == library.zeros(3) == "jax"
        assert library.add(Foreign(), 1.5) == "jax"


def test_a_type_in_force_says_something(library: Library) -> None:
    """W1: `type=` decides, also if it is one of Python's own classes."""
    with library.options(backend="jax", type=Torch):
        assert library.zeros(3) == library.tensor([1]) == "torch"
    counting = Library(*BACKENDS, with_functions("counts", "builtins:int"))
    with counting.options(backend="jax", type=int):
        assert counting.zeros(3) == counting.tensor([1]) == "counts"
    with counting.options(backend="jax"):
        assert counting.tensor(1) == "jax"


def test_a_function_that_it_lacks(library: Library) -> None:
    """W1: it implements what it implements; the rest goes on as without it."""
    other = library.decorate("data", "other")
    with library.options(backend="jax"):
        assert other([1]) == other(Torch()) == other.explain([1]).selected == "default"


def test_it_may_defer() -> None:
    """W1: then the call goes on as it would without it."""
    asked = with_functions("asked", "Foreign", should_run=answering("not now"))
    library = Library(asked, with_functions("lists", "builtins:list"))
    with library.options(backend="asked"), library.options(trace=True) as trace:
        assert library.tensor([1]) == "lists"
        assert library.tensor((1,)) == "default"
    assert [str(each) for each in trace] == [
        "lib:tensor -> asked deferred: not now",
        "lib:tensor -> lists called",
        "lib:tensor -> asked deferred: not now",
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
        assert library.tensor([1]) == library.tensor(Foreign()) == "default"
        assert (options().backend, options().prioritized) == ("jax", ())
        with options(prioritize="jax"):
            assert library.tensor([1]) == library.tensor(Foreign()) == "jax"
        with options(backend="jax"):
            assert library.tensor([1]) == "jax"
            assert options().disabled == ()
    with options(disable="jax"), options(backend="jax"):
        assert library.tensor([1]) == "jax"


def test_an_unknown_name(library: Library) -> None:
    """W1: says so at once, with the nearest names, as for `prioritize`."""
    library.options(backend="jax")  # the options of other names are known then
    with pytest.raises(UnknownBackendError, match="did you mean 'jax'"):
        library.options(backend="jxa")
    with pytest.raises(UnknownBackendError):
        library.options(backend="")


def test_names_of_the_library() -> None:
    """F11: the library's own name means it, in options and in the variable."""
    library = Library(*BACKENDS, default_name="numpy")
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


def test_an_installed_backend() -> None:
    """W1, C2: a merely installed backend takes Python's own classes once it is current."""
    library = Library(group="currentlib.backends")
    described = with_functions("installed", "Foreign", also="builtins:float")
    with installed("currentlib.backends", {"installed": described}):
        assert library.tensor([1]) == library.add(1.5, 1) == "default"
    with library.options(backend="installed"):
        assert library.tensor([1]) == library.add(1.5, 1) == "installed"
        assert library.add(Foreign(), 1.5) == "installed"
        assert library.tensor(Own()) == library.add(Own(), 1.5) == "default"
        # Its secondary types do not count in calls that the default matches without them (M4).
        assert library.add.explain(Own(), 1.5).backends[-1].reason == ""
    options = pickle.loads(pickle.dumps(library.options(backend="installed")))
    assert options.backend == "installed"
