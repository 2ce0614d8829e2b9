"""Writes the source of a kernel from the schemas of PyTorch's operators."""

from __future__ import annotations

from typing import Any

from . import _schema

# How kernels read an argument, and its part of the key by which dtypes of results are remembered:
# of its data, or, if these have neither a dtype nor a shape, of the tensor, which takes longer.
_READS = {
    "Tensor": """\
if {0}.__class__ in numbers:
    {0}_data, {0}_type = {0}, data_type
    {0}_key = {0}_flat = {0}.__class__
else:
    {0}_data = read({0})
    {0}_key, {0}_flat, {0}_type = {1}.dtype, not {1}.shape, {0}_data.__class__""",
    "Optional[Tensor]": """\
if {0} is None:
    {0}_data = {0}_key = {0}_flat = None
else:
    {0}_data = read({0})
    {0}_key, {0}_flat = {1}.dtype, not {1}.shape""",
    "List[Tensor]": """\
{0}_data = [read(each) for each in {0}]
{0}_key = *(each.dtype for each in {1}), *(not each.shape for each in {1})""",
    "List[Optional[Tensor]]": "{0}_data = [None if each is None else read(each) for each in {0}]",
    "Optional[List[Tensor]]": "{0}_data = None if {0} is None else [read(each) for each in {0}]",
}
_KEYS = {
    # Beside other tensors, one without dimensions counts less for the dtype of the result.
    **dict.fromkeys(("Tensor", "Optional[Tensor]"), "{0}_key, {0}_flat"),
    "List[Tensor]": "{0}_key",
    **dict.fromkeys(("number", "Optional[number]"), "{0}.__class__"),
    "bool": "{0}",
    "Optional[int]": "{0}",  # a dtype is an int in schemas
}

_CHECKED = {
    "device": "if device is not None and (device.index or device.type != name): "
    "return elsewhere(operator, device, {arguments})",
    "pin_memory": "if pin_memory: refuse('pinned memory')",
    "generator": "if generator is not None: refuse('generators of the program, only that of "
    "torch.manual_seed')",
    "layout": "if layout is not None and layout is not strided: refuse(layout)",
}
_ENTER = ["try: context = contexts.pop()", "except IndexError: context = new_context()"]


def write(
    operator: Any,
    functional: Any,
    end: list[str],
    *,
    is_run_in_context: bool,
    describe_themselves: bool,
) -> tuple[str, dict[str, Any]]:
    """Return the source of a function ``kernel``, and the defaults that it names.

    Parameters
    ----------
    operator : torch._ops.OpOverload
        The operator whose arguments the kernel takes.
    functional : torch._ops.OpOverload
        The operator whose implementation it calls.
    end : list of str
        What it does with the result.
    is_run_in_context : bool
        Whether the implementation runs in a context of its own.
    describe_themselves : bool
        Whether data have a dtype and a shape.
    """
    defaults: dict[str, Any] = {}
    arguments = operator._schema.arguments
    parts = [_parameter(each, defaults) for each in arguments]
    positional = sum(not each.kwarg_only for each in arguments)
    if positional < len(parts):
        parts.insert(positional, "*")
    options = {"is_run_in_context": is_run_in_context, "describe_themselves": describe_themselves}
    body = [*_compute(functional, **options), *end]
    lines = [
        f"def kernel({', '.join(parts)}):",
        "    try:",
        *(f"        {each}" for each in body),
        "    except TypeError as error: refuse_type_error(error)",
    ]
    return "\n".join(lines), defaults


def _compute(operator: Any, *, is_run_in_context: bool, describe_themselves: bool) -> list[str]:
    passed, types, keys, reads = [], [], [], []
    kinds = [str(each.type) for each in operator._schema.arguments]
    arguments = ", ".join(safe(each.name) for each in operator._schema.arguments)
    for each, kind in zip(operator._schema.arguments, kinds, strict=True):
        name = safe(each.name)
        if each.name in _CHECKED:
            reads.append(_CHECKED[each.name].format(arguments=arguments))
        if each.name in _schema.OMITTED:
            continue
        value = name
        if kind in _READS:
            value = f"{name}_data"
            described = value if describe_themselves else name
            reads += _READS[kind].format(name, described).split("\n")
        if kind == "Tensor":
            types.append(f"{name}_type")
        if kind in _KEYS:
            keys.append(_KEYS[kind].format(name))
        passed.append(f"{name}={value}" if each.kwarg_only else value)
    if not types:
        types = ["data_type"]
    key = f"({''.join(f'{each}, ' for each in keys)})"
    call = f"found = implementation({', '.join(passed)})"
    ran: list[str] = []
    if is_run_in_context:
        call = f"found = context.run({', '.join(['implementation', *passed])})"
        ran = ["finally: contexts.append(context)"]
    return [
        *reads,
        f"try: expected = dtypes[{key}]",
        f"except KeyError: expected = find_dtypes({key}, ({arguments},))",
        f"implementation = lookup(identity, ({', '.join(types)},))",
        f"if implementation is None: return general(operator, {arguments})",
        *(_ENTER if ran else []),
        f"try: {call}",
        f"except NoImplementationError: return general(operator, {arguments})",
        "except Exception as error:",
        f"    explain(error, ({arguments},))",
        "    raise",
        *ran,
        f"if found is NotImplemented: return general(operator, {arguments})",
    ]


def safe(name: str) -> str:
    """Return the name of an argument, which may not be one in Python."""
    return f"{name}_" if name in {"self", "from", "lambda"} else name


def _parameter(argument: Any, defaults: dict[str, Any]) -> str:
    # Kernels get what PyTorch passes by position, and keywords by the names of the schema.
    name = safe(argument.name)
    if not argument.has_default_value():
        return name
    defaults[f"{name}_default"] = argument.default_value
    return f"{name}={name}_default"
