"""Leaves inside of containers."""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from spatch_core._call.nested_values import Leaves, is_container


class Leaf:
    """What is replaced."""


class Pair(NamedTuple):
    """A namedtuple."""

    x: Any
    y: Any


class Sub(list):  # type: ignore[type-arg]
    """No exact list."""


POOL = [Leaf() for _ in range(3)]


def is_leaf(cls: type) -> bool:
    return cls is Leaf


def nested() -> st.SearchStrategy[Any]:
    plain = st.one_of(
        st.sampled_from(POOL), st.integers(), st.none(), st.text(max_size=2), st.builds(Sub)
    )
    return st.recursive(
        plain,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.lists(inner, max_size=4).map(tuple),
            st.dictionaries(st.text(max_size=2), inner, max_size=3),
            st.builds(Pair, inner, inner),
            inner.map(lambda each: [each, each]),
        ),
        max_leaves=12,
    )


def leaves_of(value: Any) -> list[Any]:
    """Return the leaves in order, as a reference."""
    if type(value) is Leaf:
        return [value]
    if not is_container(type(value)):
        return []
    items = value.values() if type(value) is dict else value
    return [leaf for each in items for leaf in leaves_of(each)]


def is_replaced(value: Any, new: Any, made: dict[int, Any]) -> bool:
    """Whether `new` is `value` with other leaves, and everything else the same object."""
    if type(value) is Leaf:
        return new is made[id(value)]
    if not leaves_of(value):
        return new is value
    if type(new) is not type(value) or len(new) != len(value) or new is value:
        return False
    if type(value) is dict:
        if [*new] != [*value]:
            return False
        value, new = value.values(), new.values()
    return all(is_replaced(a, b, made) for a, b in zip(value, new, strict=True))


@given(nested())
def test_leaves_are_found_in_order_and_replaced(value: Any) -> None:
    """V10: identity, order and types of everything else stay."""
    leaves = Leaves((value,), is_leaf)
    expected = {id(each): each for each in leaves_of(value)}
    assert [*leaves.found] == [*expected]
    made: dict[int, Any] = {key: object() for key in leaves.found}
    originals = dict(made)
    new = leaves.replaced(value, made)
    assert is_replaced(value, new, originals)


@given(nested())
def test_there_and_back_gives_the_same_objects(value: Any) -> None:
    """V11: a container whose items come back is the original one."""

    class New:
        """What takes the place of a leaf."""

    leaves = Leaves((value,), is_leaf)
    made: dict[int, Any] = {key: New() for key in leaves.found}
    originals = {id(made[key]): leaf for key, leaf in leaves.found.items()}
    new = leaves.replaced(value, made)
    again = Leaves((new,), lambda cls: cls is New)
    assert again.replaced(new, originals, leaves.origins(made)) is value


def test_one_container_is_made_once() -> None:
    """V10: like the leaf itself."""
    shared = [POOL[0]]
    value = (shared, {"a": shared})
    leaves = Leaves((value,), is_leaf)
    new = leaves.replaced(value, {id(POOL[0]): 1})
    assert new == ([1], {"a": [1]})
    assert new[0] is new[1]["a"]


def test_other_classes_of_containers_are_not_looked_into() -> None:
    value = [Sub([POOL[0]]), {POOL[0]}, frozenset(POOL)]
    assert Leaves((value,), is_leaf).found == {}


def test_what_is_noted_touches_no_container() -> None:
    """V11: the library's own objects are only remembered."""
    value = [POOL[0], 3]
    leaves = Leaves((value,), lambda cls: False, is_leaf)
    assert [*leaves.noted.values()] == [POOL[0]]
    assert leaves.replaced(value, {}) is value
