"""Conversions: the default implementation runs with arguments that a backend has converted.

The leaves of arguments are the objects inside of exact lists, tuples, dictionaries and slices, and
of namedtuples: the items of other containers may mean something else. Containers are trees.

For a list ``x`` of two arrays of a backend, the default gets a list of the library's arrays. It may
return one of these, or a list that holds them: the caller's own objects take their places in the
result, and all other objects of the library in it are converted back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import (
    AsyncGeneratorType,
    CoroutineType,
    EllipsisType,
    GeneratorType,
    MappingProxyType,
)
from typing import TYPE_CHECKING, Any

from ._errors import add_note, leaves_out
from ._freezing import await_in, call_in
from ._patterns import DEFAULT, type_identifier
from ._wrapper import missing

if TYPE_CHECKING:
    from ._call import Run
    from ._decide import Decision, Step

    IsLeaf = Callable[[type], bool]

_SHARED = frozenset({bool, bytes, complex, float, int, range, str, type(None), EllipsisType})
_NOTHING: Mapping[int, Any] = MappingProxyType({})


class Unconverted(Exception):  # noqa: N818  # it is caught where it is raised
    """Something cannot be converted; the argument says why."""


def _is_shared(cls: type) -> bool:
    """Whether the objects of a class are never leaves, because Python may share them."""
    # A class with another metaclass is never looked up: that might define ==.
    return type(cls) is type and cls in _SHARED


def is_container(cls: type) -> bool:
    """Whether the objects of a class are containers."""
    if cls is list or cls is tuple or cls is dict or cls is slice:
        return True
    # A namedtuple. `issubclass` runs no code of a metaclass of `cls`; `getattr` may, but only for
    # subclasses of tuple.
    return (
        issubclass(cls, tuple)
        and isinstance(getattr(cls, "_fields", None), tuple)
        and hasattr(cls, "_make")
    )


def leaves(values: Iterable[Any], is_leaf: IsLeaf) -> dict[int, Any]:
    """Return the leaves of some classes by identity, each once, in order of first appearance."""
    found: dict[int, Any] = {}
    for value in values:
        cls = type(value)
        if _is_shared(cls):
            continue
        if is_leaf(cls):
            found.setdefault(id(value), value)
        elif is_container(cls):
            found.update(leaves(_items(value), is_leaf))
    return found


def rebuilt(
    value: Any,
    change: Callable[[Any], Any],
    done: dict[int, tuple[Any, Any]],
    originals: Mapping[int, Any] = _NOTHING,
) -> Any:
    """Return an object with other leaves; the same object if no leaf has changed.

    `done` has, by identity, each object with its replacement: two arguments that are one list stay
    one. It keeps the objects alive, so that no identity is reused. `originals` has, by identity of
    a container, one that takes the place of its replacement if that has the same items.
    """
    cls = type(value)
    if _is_shared(cls):
        return value
    if id(value) in done:
        return done[id(value)][1]
    if not is_container(cls):
        new = change(value)
        done[id(value)] = value, new
        return new
    items = _items(value)
    made = [rebuilt(each, change, done, originals) for each in items]
    # Only what has changed is made anew: most containers hold nothing to convert.
    new = value
    if any(one is not other for one, other in zip(made, items, strict=True)):
        if cls is dict:
            new = dict(zip(value, made, strict=True))
        elif cls is slice:
            new = slice(*made)
        else:
            # `_make` of a namedtuple may be overridden, and so may `__new__`.
            new = cls(made) if cls in (list, tuple) else tuple.__new__(cls, made)
    # The default may have changed the items of its list: then that one is the answer.
    if id(value) in originals and _has_same_items(originals[id(value)], new):
        new = originals[id(value)]
    done[id(value)] = value, new
    return new


def _items(container: Any) -> list[Any]:
    # A copy: other threads may change the container.
    if type(container) is dict:
        return [*container.values()]
    if type(container) is slice:
        return [container.start, container.stop, container.step]
    return [*container]


def _has_same_items(one: Any, other: Any) -> bool:
    """Whether two containers have the same objects in the same order."""
    if type(one) is not type(other) or (type(one) is dict and [*one] != [*other]):
        return False
    items, others = _items(one), _items(other)
    return len(items) == len(others) and all(a is b for a, b in zip(items, others, strict=True))


def _mutable(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the lists and dictionaries among values and inside of them, the inner ones first."""
    for value in values:
        if is_container(type(value)):
            # An outer one is written when its items have got their new ones.
            yield from _mutable(_items(value))
            if type(value) in (list, dict):
                yield value


class Conversion:
    """The conversions of one backend in one call: its arguments there, and its result back.

    `there` and `back` name the conversions of an argument and of an object of the result.
    """

    there, back = "to_default", "from_default"

    def __init__(self, decision: Decision, step: Step) -> None:
        self._decision, self._step = decision, step
        self._run: Run | None = None  # the call under way, which records the conversions
        self._functions: dict[str, Callable[..., Any]] = {}
        self._match = decision.backends.matcher.match
        # By identity: the caller's objects with their replacements, and what the default may return
        # with what the caller gets for it.
        self._made: dict[int, tuple[Any, Any]] = {}
        self._returned: dict[int, tuple[Any, Any]] = {}

    # What is converted.

    def is_leaf(self, cls: type) -> bool:
        """Whether arguments of a class are converted: a primary type, and not the library's."""
        match = self._match(cls)
        # The library's own go first: a backend may have them among its primary types.
        is_own = match.is_builtin or DEFAULT in match.known
        return not is_own and self._step.backend in match.primary

    def is_returned(self, cls: type) -> bool:
        """Whether objects of a class are converted back: a type of the library."""
        match = self._match(cls)
        return not match.is_builtin and DEFAULT in match.known

    def obstacle(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """Return why the arguments of a call cannot be converted; empty if they may be."""
        conversions = self._step.conversions
        if conversions is None or conversions.copy_into is None:
            for name, value in self.written(args, kwargs):
                if leaves((value,), self.is_leaf):
                    return f"the function writes into {name}, and the backend has no copy_into"
        return ""

    def text(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """Return the arguments to convert, in words; empty if only the result is converted."""
        # Counted, not converted: `explain` calls no code of a backend.
        found = [*leaves((*args, *kwargs.values()), self.is_leaf).values()]
        names: dict[str, int] = {}
        for each in found:
            names[_type_name(each)] = names.get(_type_name(each), 0) + 1
        parts = [f"{count} argument{'s' * (count > 1)} of {name}" for name, count in names.items()]
        size = sum(filter(None, map(size_of, found)))
        return " and ".join(parts) + (f" ({size} bytes)" if size else "")

    def written(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """Return the arguments that the function writes into, with their names."""
        found: list[tuple[str, Any]] = []
        # By position or by name, as the caller has given them.
        for each in self._decision.function.mutated:
            value = each.value(args, kwargs)
            if value is not missing:
                found.append((each.name or f"argument {each.position}", value))
        return found

    # The call.

    def call(self, run: Run) -> Any:
        """Convert the arguments, call the default implementation, and convert its result.

        If the arguments cannot be converted, `Unconverted` is raised, and the default has not run.
        """
        keeper, function = self._decision.backends.keeper, self._decision.function
        # Before anything is imported or converted.
        obstacle = self.obstacle(run.args, run.kwargs)
        if obstacle:
            raise Unconverted(obstacle)
        self._run = run
        args, kwargs = self.arguments(run.args, run.kwargs)
        # Taken now: the function may empty a list that it writes into.
        written = [value for _, value in self.written(run.args, run.kwargs)]
        inside = [*leaves(written, self.is_leaf).values()]
        run.record(DEFAULT, "called", f"through the conversions of {self._step.backend}")
        state, tables = keeper.current(), keeper.get()
        if state.type is not None:
            # Calls inside the default would dispatch on that type again, and be converted again.
            tables = keeper.scope(state.replace(type=None)).tables
        result = call_in(keeper, tables, function.default, *args, **kwargs)
        # Of a coroutine function, or of a plain one: its result is what the caller awaits.
        if type(result) is CoroutineType:
            answer = await_in(keeper, tables, lambda: result)
            return awaited(answer, lambda found: self._finish(found, written, inside))
        return self._finish(result, written, inside)

    def _finish(self, result: Any, written: list[Any], inside: list[Any]) -> Any:
        """Return the converted result, after arguments that the function writes into."""
        if result is NotImplemented:
            return result
        try:
            if type(result) in (GeneratorType, AsyncGeneratorType):
                kind = "a" if type(result) is GeneratorType else "an asynchronous"
                raise Unconverted(f"its result is {kind} generator, whose items come later")
            if written:
                self._write_back(written, inside)
            return self.result(result)
        except Unconverted as failure:
            # Too late for another backend: the default has run.
            assert self._run is not None
            raise self._run.refusal(self._step.backend, str(failure)) from None

    def arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Return the converted arguments of a call."""
        named, backend = self._step.conversions, self._step.backend
        assert named is not None
        load = self._decision.backends.load
        for name, identifier in zip(named._fields, named, strict=True):
            if identifier is not None:
                self._functions[name] = load(self._decision.function, backend, identifier)

        def converted(value: Any) -> Any:
            return rebuilt(value, self._convert, self._made)

        return [*map(converted, args)], {name: converted(each) for name, each in kwargs.items()}

    def _convert(self, value: Any) -> Any:
        cls = type(value)
        if not self.is_leaf(cls):
            if self.is_returned(cls):
                self._returned[id(value)] = value, value  # it stays itself in the result
            return value
        new = self._changed(self.there, value)
        # Else the default would get what it is not made for.
        if type(new) is cls:
            raise Unconverted(
                f"{self.there} returned an object of {_type_name(value)}, as it was given"
            )
        # A shared object, such as a small integer, need not be this argument in a result.
        if not _is_shared(type(new)):
            self._returned[id(new)] = new, value
        self._record(value, new)
        return new

    def result(self, result: Any) -> Any:
        """Return a result for the caller."""
        # The caller's list takes the place of its replacement in the result.
        originals = {id(new): old for old, new in self._made.values() if new is not old}
        return rebuilt(result, self._restore, self._returned, originals)

    def _restore(self, value: Any) -> Any:
        if not self.is_returned(type(value)):
            return value
        new = self._changed(self.back, value)
        if new is not value:
            self._record(value, new)
        return new

    def _write_back(self, written: Iterable[Any], inside: Iterable[Any]) -> None:
        """Copy changes of converted arguments into the caller's objects.

        `written` are the arguments that the function may have written into, `inside` their leaves
        before that.
        """
        # First the leaves that the caller has given, then the containers, whose items may be others
        # by now.
        for value in inside:
            _, new = self._made[id(value)]
            self._ask("copy_into", value, new)
            self._record(new, value)
        for value in _mutable(written):
            _, new = self._made.get(id(value), (value, value))
            # A copy: `result` would give the caller's container itself.
            restored = self.result(new.copy())
            # From now on, this container in the result means the caller's.
            self._returned[id(new)] = new, value
            if _has_same_items(value, restored):
                continue
            if type(value) is list:
                value[:] = restored
            else:
                value.clear()
                value.update(restored)

    # The backend's functions.

    def _changed(self, name: str, value: Any) -> Any:
        """Return the converted object; raise `Unconverted` if the backend says that it cannot."""
        try:
            made = self._ask(name, value)
        except NotImplementedError as refusal:
            said = str(refusal) or f"{name} raised {type(refusal).__name__} for {_type_name(value)}"
            raise Unconverted(said) from refusal
        if made is None or made is NotImplemented:
            raise Unconverted(f"{name} returned {made} for {_type_name(value)}")
        return made

    def _ask(self, name: str, *values: Any) -> Any:
        try:
            return self._functions[name](*values)
        except Exception as error:
            start, backend = f"Raised while {name} ", self._step.backend
            identifier = self._decision.function.identifier
            where = f"of the backend {backend!r} ran for {identifier}; {leaves_out(backend)}"
            add_note(error, start + where, start)
            raise

    def _record(self, before: Any, after: Any) -> None:
        if self._run is None or self._decision.state.trace is None:
            return
        text = f"{_type_name(before)} to {_type_name(after)}"
        # Of the first that tells it: a lazy array may have none before it is computed.
        sizes = [size for size in map(size_of, (before, after)) if size is not None]
        text += f", {sizes[0]} bytes" if sizes else ""
        self._run.record(self._step.backend, "converted", text)


async def awaited(answer: Any, finish: Callable[[Any], Any]) -> Any:
    """Return what `finish` makes of an awaited answer."""
    return finish(await answer)


def size_of(value: Any) -> int | None:
    """Return the number of bytes of an object; None if it has no ``nbytes``."""
    try:
        size = value.nbytes
    except Exception:  # noqa: BLE001  # an attribute of third-party code
        return None
    return size if isinstance(size, int) else None


def _type_name(value: Any) -> str:
    return type_identifier(type(value))
