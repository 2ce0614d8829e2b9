"""The wrapper: the generated function that takes the place of a library's function.

A wrapper looks up a callable by the types of the dispatch arguments, and calls it with exactly
the arguments of the call: positional as positional, keyword as keyword, omitted as omitted. For
``dispatchable(("x", "y"))`` on ``def f(x, y, n=None)``, the second function of its library, it
is::

    def f(*args, **keywords):
        match args:
            case (a0, a1):
                try:
                    call = tables()[2][type(a0)][type(a1)]
                except Exception:
                    call = None
                # Outside the handler, so that an error of `fill` has no KeyError as its context.
                if call is None:
                    call = dispatcher.fill(2, (a0, a1))
                try:
                    if keywords:
                        result = call(*args, **keywords)
                    else:
                        result = call(a0, a1)
                except Exception as error:
                    deferred = dispatcher.failed(2, call, args, keywords, error)
                    if deferred is None:
                        raise
                    call, result = deferred, NotImplemented
                if result is NotImplemented:
                    return dispatcher.deferred(2, call, args, keywords)
                return result
            case (a0, a1, *_):
                pass
            case (a0, *_):
                a1 = keywords.get('y', missing) if keywords else missing
            case _:
                a0 = keywords.get('x', missing) if keywords else missing
                a1 = keywords.get('y', missing) if keywords else missing
        try:
            call = tables()[2][type(a0)][type(a1)]
        ...

and so on, as in the first case but for ``call(a0, a1)``. That case is the usual call, with the
dispatch arguments by position. If it shared its source with the others, it would take 8 to 11 %
longer.

The code has no parameters that could take default values. Therefore the wrapper has the default
values of the default implementation: tools that read them see the library's own. The wrapper of a
coroutine function is a coroutine function, and so for generators and asynchronous generators:
`inspect` and frameworks tell them apart by flags of the code. It dispatches when its body starts.

The source is compiled once for each `Shape`, as the body of an outer function. So ``tables``,
``dispatcher``, ``2``, ``'x'``, ``'y'``, ``missing`` and the builtins are free variables, and each
function gets a closure with its own values. The source cannot refer to them as globals: the
wrapper's globals are those of the default implementation, where the names may mean anything. As
constants of the code they would be objects that compilers such as `torch.compile` do not expect,
and that the garbage collector does not see.
"""

from __future__ import annotations

import sys
from os import environ
from types import CellType, CodeType, FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeAlias

    from ._function import Dispatchable, Function

    Places: TypeAlias = tuple[tuple[int | None, bool], ...]
    Shape: TypeAlias = tuple[Places | None, int]
    """All that the source depends on: the places of the dispatch arguments, and the nature of the
    function by `nature_of`.

    A place is the argument's position, and whether it has a name; None stands for a finder.
    """

# --- natures of functions, and values of arguments ----------------------------------------------

# The flags of code that `inspect` tests.
PLAIN = 0
GENERATOR = 0x20
COROUTINE = 0x80
ASYNC_GENERATOR = 0x200
NATURES = GENERATOR | COROUTINE | 0x100 | ASYNC_GENERATOR
"""0x100 is the flag of generators that `types.coroutine` has made awaitable."""


def nature_of(function: Any) -> int:
    """Return the nature of a callable: whether a call makes a generator, a coroutine or neither."""
    while type(function).__module__ == "functools" and hasattr(function, "func"):
        function = function.func  # of a partial
    code = getattr(function, "__code__", None)
    if code is None:
        method = getattr(type(function), "__call__", None)  # noqa: B004  # its code is wanted
        code = getattr(method, "__code__", None)
    flags = getattr(code, "co_flags", PLAIN)
    return flags & NATURES if type(flags) is int else PLAIN


class Missing:
    """The type of `missing`, the value of an argument that was not given."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "missing"


missing = Missing()


def given(values: Iterable[Any], _: object = None) -> tuple[Any, ...]:
    """Return the dispatch arguments that were given and are not None."""
    if type(values) is not tuple:
        values = getattr(values, "every", values)  # of the `Elements` of lists
    return tuple([each for each in values if each is not None and type(each) is not Missing])


class TakesFound:
    """A table entry that takes the dispatch arguments, so that the finder runs only once.

    The wrapper of a function with a finder calls `call_found` with the finder's result, followed by
    the arguments of the call.
    """

    __slots__ = ("call_found",)

    def __init__(self, call_found: Callable[..., Any]) -> None:
        self.call_found = call_found


# --- the C extension ----------------------------------------------------------------------------

tables_type: Any
"""The class of the data for calls through C, `Tables` in the extension; None without it."""
accelerate: Callable[[FunctionType], None]
"""Let calls of a wrapper that has such data in its closure go through C."""
try:
    if environ.get("SPATCH_CORE_PURE", "").strip().lower() not in ("", "0", "no", "false", "off"):
        raise ImportError("SPATCH_CORE_PURE asks for pure Python")
    from ._accelerator import Tables as tables_type  # noqa: N813  # as for a variable
    from ._accelerator import accelerate
except ImportError:  # it was not built, or not for this version of Python

    def accelerate(_: FunctionType, /) -> None:
        """Leave a wrapper as it is."""

    tables_type = None

accelerated = tables_type is not None

_NO_POSITION = -1
"""For the C extension: the position of a keyword-only dispatch argument."""


def _tables(function: Dispatchable) -> Callable[[], list[Any]]:
    """Return the callable that returns the tables in force, for the closure of a wrapper."""
    dispatcher, parameters = function.dispatcher, function.parameters
    # C looks up the types of parameters alone. A coroutine or generator function would gain little:
    # its body starts in a call of its own.
    if tables_type is None or not parameters or function.nature:
        tables: Callable[[], list[Any]] = dispatcher.keeper.get
        return tables
    places = [each.position for each in parameters]
    made: Callable[[], list[Any]] = tables_type(
        dispatcher.keeper.variable,
        dispatcher,
        function.index,
        tuple([_NO_POSITION if place is None else place for place in places]),
        tuple([each.name for each in parameters]),
        missing,
    )
    return made


# --- the source ---------------------------------------------------------------------------------

# Any exception means that there is no entry: no table, no key, or a metaclass whose hash fails.
_FIND = """\
try:
    call = tables()[{index}]{keys}
except Exception:
    call = None
# Outside the handler, so that an error of `fill` has no KeyError as its context.
if call is None:
    call = dispatcher.fill({index}, {values})
"""

_USUAL_CALL = """\
if keywords:
    result = call(*args, **keywords)
else:
    result = call({passed})
"""

_ANY_CALL = "result = call(*args, **keywords)\n"

# The values that the finder has returned are passed on, so that it runs once in a call.
_FOUND_CALL = """\
if isinstance(call, TakesFound):
    result = call.call_found(values, *args, **keywords)
else:
    result = call(*args, **keywords)
"""

# An exception may defer, or gets a note. The other candidates run outside the handler.
_CAUGHT = """\
try:
{tried}\
except Exception as error:
    deferred = dispatcher.failed({index}, call, args, keywords, error{found})
    if deferred is None:
        raise
    call, result = deferred, NotImplemented
"""

_ANSWERS = {
    0: """\
if result is NotImplemented:
    return dispatcher.deferred({index}, call, args, keywords{found})
return result
""",
    # What an implementation awaits or yields is not looked at again.
    COROUTINE: """\
if result is NotImplemented:
    result = dispatcher.deferred({index}, call, args, keywords{found})
    if result is NotImplemented:
        return result
return await result
""",
    GENERATOR: """\
if result is NotImplemented:
    result = dispatcher.deferred({index}, call, args, keywords{found})
return (yield from result)
""",
    # Does what `yield from` does; asynchronous generators have no such statement.
    ASYNC_GENERATOR: """\
if result is NotImplemented:
    result = dispatcher.deferred({index}, call, args, keywords{found})
step = result.__anext__()
try:
    while True:
        value = await step
        try:
            sent = yield value
        except GeneratorExit:
            await result.aclose()
            raise
        except BaseException as error:
            step = result.athrow(error)
        else:
            step = result.__anext__() if sent is None else result.asend(sent)
except StopAsyncIteration:
    return
""",
}
"""The lines that handle the result of a call, by the nature of the function."""

_SHARED = {
    "missing": missing,
    "type": type,
    "map": map,
    "tuple": tuple,
    "Exception": Exception,
    "isinstance": isinstance,
    "TakesFound": TakesFound,
    "NotImplemented": NotImplemented,
    "GeneratorExit": GeneratorExit,
    "BaseException": BaseException,
    "StopAsyncIteration": StopAsyncIteration,
}
_SHARED_CELLS = {name: CellType(value) for name, value in _SHARED.items()}
"""The cells of all wrappers' closures for free variables that have the same values in all."""

_texts: dict[Shape, str] = {}
_codes: dict[Shape, CodeType] = {}
"""The results of `_text` and `_code`: most functions of a library have one of a few shapes."""


def _text(shape: Shape) -> str:
    """Return the source of a shape; names that differ between wrappers stand between NULs.

    These are the wrapper's own name, ``index``, and ``name0``, ``name1`` and so on.
    """
    places, nature = shape
    kind = nature & (COROUTINE | GENERATOR | ASYNC_GENERATOR)
    head = f"{'async ' if kind & ~GENERATOR else ''}def \0wrapper\0(*args, **keywords):\n"
    index, answer = "\0index\0", _ANSWERS.get(kind, _ANSWERS[0])

    def dispatched(call: str, **words: str) -> str:
        """Return the lines that look a callable up, call it, and handle the result."""
        caught = _CAUGHT.replace("{tried}", _indented(call, 1))
        return (_FIND + caught + answer).format(index=index, **words)

    if places is None:
        text = "values = find(args, keywords)\n" + dispatched(
            _FOUND_CALL, keys="[tuple(map(type, values))]", values="values", found=", values"
        )
        return head + _indented(text, 1)
    # At each position, a pattern binds the variable of the first argument there; `_assigned` sets
    # those of others. Without dispatch arguments, the key is the type of `missing`.
    values: list[str] = []
    places = places or ((None, False),)
    for number, (position, _) in enumerate(places):
        name = f"a{position}"
        values.append(f"d{number}" if position is None or name in values else name)
    words = {
        "keys": "".join([f"[type({value})]" for value in values]),
        "values": _tuple(values),
        "found": "",
    }
    any_call = dispatched(_ANY_CALL, **words)
    positions = sorted({position for position, _ in places if position is not None})
    if not positions:
        return head + _indented(_assigned(places, values, 0) + any_call, 1)
    count = positions[-1] + 1
    text = "match args:\n"

    def case(names: list[str], body: str) -> str:
        return f"    case {_tuple(names) if names else '_'}:\n" + _indented(body or "pass", 2)

    # Beside the steps of a coroutine or a generator, the usual case would save little.
    if not nature:
        names = [f"a{position}" for position in range(count)]
        usual = dispatched(_USUAL_CALL, passed=", ".join(names), **words)
        text += case(names, _assigned(places, values, count) + usual)
    for position in reversed(positions):
        names = [f"a{each}" if each in positions else "_" for each in range(position + 1)]
        text += case([*names, "*_"], _assigned(places, values, position + 1))
    text += case([], _assigned(places, values, 0))
    return head + _indented(text + any_call, 1)


def _assigned(places: Places, values: list[str], count: int) -> str:
    """Return the lines that set variables that no pattern binds, with `count` positional ones."""
    lines = []
    for number, (value, (position, has_name)) in enumerate(zip(values, places, strict=True)):
        if position is not None and position < count:
            if value != f"a{position}":
                lines.append(f"{value} = a{position}\n")
        elif has_name:
            # The test makes calls without keywords faster.
            lines.append(
                f"{value} = keywords.get(\0name{number}\0, missing) if keywords else missing\n"
            )
        else:
            lines.append(f"{value} = missing\n")
    return "".join(lines)


def _tuple(names: list[str]) -> str:
    return f"({names[0]},)" if len(names) == 1 else f"({', '.join(names)})"


def _indented(text: str, level: int) -> str:
    return "".join([f"{'    ' * level}{line}\n" for line in text.splitlines()])


def _own_names(shape: Shape) -> list[str]:
    """Return the free variables that each wrapper has a value of its own for."""
    places = shape[0]
    names = ["find"] if places is None else [f"name{number}" for number in range(len(places))]
    return ["tables", "dispatcher", "index", *names]


def _code(shape: Shape) -> CodeType:
    """Return the code of a shape, with `_own_names` and `_SHARED` as free variables."""
    text = _texts[shape] = _text(shape)
    # Variables of an outer function are free in the inner one.
    head = f"def make({', '.join([*_own_names(shape), *_SHARED])}):\n"
    outer = f"{head}{_indented(text.replace(chr(0), ''), 1)}    return wrapper\n"
    scope: dict[str, Any] = {}
    exec(compile(outer, "<spatch_core>", "exec", dont_inherit=True), scope)  # noqa: S102  # own text
    # Among the constants of `make`, the code of `wrapper` is the only one.
    constants: tuple[Any, ...] = scope["make"].__code__.co_consts
    made: CodeType = next(each for each in constants if type(each) is CodeType)
    # The first line of the source that tracebacks show is that of `wrapper`. Generators that
    # `types.coroutine` has marked differ by a flag alone.
    code = _codes[shape] = made.replace(co_firstlineno=1, co_flags=made.co_flags | shape[1])
    return code


# --- one wrapper --------------------------------------------------------------------------------


def shape_of(function: Function) -> Shape:
    """Return the shape of a function's wrapper."""
    parameters = function.parameters
    places: Places | None = None
    if parameters is not None:
        places = tuple([(each.position, each.name is not None) for each in parameters])
    return places, function.nature


def make_wrapper(function: Dispatchable, shape: Shape, qualname: str) -> FunctionType:
    """Return the wrapper of a function, which still lacks the attributes of the default."""
    # Without a lock: two threads that compile one shape get equal codes.
    code = _codes.get(shape) or _code(shape)
    name = qualname.rpartition(".")[2]
    names: Any = {"co_name": name, "co_filename": function.filename}  # for tracebacks and profilers
    if sys.version_info >= (3, 11):
        names["co_qualname"] = qualname
    values = [_tables(function), function.dispatcher, *_values(function)]
    own = dict(zip(_own_names(shape), values, strict=True))
    cells = [
        CellType(own[each]) if each in own else _SHARED_CELLS[each] for each in code.co_freevars
    ]
    # The wrapper reads no globals. Those of the default are for tools, such as `get_type_hints`.
    namespace = getattr(function.default, "__globals__", None)
    if not isinstance(namespace, dict):
        namespace = {}
    wrapper = FunctionType(code.replace(**names), namespace, name, None, tuple(cells))
    accelerate(wrapper)
    return wrapper


def function_of(wrapper: object) -> Any:
    """Return the `Dispatchable` of a wrapper; None for any other object."""
    found = getattr(getattr(wrapper, "explain", None), "__self__", None)
    return found if getattr(found, "wrapper", None) is wrapper else None


def _values(function: Dispatchable) -> list[Any]:
    """Return the values of a function for `_own_names` after the first two."""
    if function.parameters is None:
        return [function.index, function.find]
    return [function.index, *[each.name for each in function.parameters]]


SIGNED = {"__wrapped__", "__signature__"}
"""Attributes by which the signature of a function may differ from that of its code."""


def dress(wrapper: Any, default: Callable[..., Any], module: str, qualname: str) -> None:
    """Give a wrapper the attributes of the default implementation."""
    # First: a decorator below may have set attributes that differ here, such as `__wrapped__`.
    wrapper.__dict__.update(getattr(default, "__dict__", {}))
    wrapper.__module__ = module
    wrapper.__qualname__ = qualname
    wrapper.__doc__ = default.__doc__
    if isinstance(default, FunctionType):
        if default.__defaults__:
            wrapper.__defaults__ = default.__defaults__
        if default.__kwdefaults__:
            wrapper.__kwdefaults__ = default.__kwdefaults__
    annotations = getattr(default, "__annotations__", None)
    if annotations:
        wrapper.__annotations__ = annotations
    type_parameters = getattr(default, "__type_params__", ())
    if type_parameters:
        wrapper.__type_params__ = type_parameters
    wrapper.__wrapped__ = default  # `inspect.signature` follows it


# --- its source, once backends are known ---------------------------------------------------------


def show_source(function: Dispatchable) -> None:
    """Show the source of a wrapper in tracebacks and debuggers."""
    import linecache  # not needed when a library is imported

    text = _texts[function.shape]
    # A `repr` contains no NULs. The wrapper's name may contain some, so it comes last.
    for name, value in zip(_own_names(function.shape)[2:], _values(function), strict=True):
        text = text.replace(f"\0{name}\0", repr(value))
    text = text.replace("\0wrapper\0", function.wrapper.__code__.co_name)
    # Without a modification time: `linecache.checkcache` keeps the entry then.
    filename = function.filename
    linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename
