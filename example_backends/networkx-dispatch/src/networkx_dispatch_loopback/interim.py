
from networkx_dispatch_loopback import *
from networkx_dispatch_loopback.roundtrip import RECORDS
import networkx
from types import GeneratorType
DESCRIPTION = {
    "name": "loopback",
    "primary_types": ["networkx_dispatch_loopback:LoopbackGraph"],
    "secondary_types": ["~networkx:Graph"],
    "functions": {
        identifier: {
            "function": "networkx_dispatch_loopback.interim:run",
            "uses_context": True,
        }
        for identifier in RECORDS
    },
}
def run(context, *args, **kwargs):
    record = RECORDS[context.function]
    pairs = []
    def to(x):
        if type(x) is LoopbackGraph:
            for o, c in pairs:
                if o is x: return c
            r = to_networkx(x); pairs.append((x, r)); return r
        if type(x) is list: return list(map(to, x))
        return x
    args = tuple(map(to, args)); kwargs = {k: to(v) for k, v in kwargs.items()}
    result = record.orig_func(*args, **kwargs)
    if record._will_call_mutate_input(args, kwargs):
        for o, c in pairs: copy_into(c, o)
    def back(x):
        if isinstance(x, networkx.Graph):
            if any(x is v for v in (*args, *kwargs.values())) and not any(x is c for o, c in pairs): return x
            for o, c in pairs:
                if c is x: return o
            return from_networkx(x)
        if type(x) in (list, tuple): return type(x)(map(back, x))
        if type(x) is dict: return {k: back(v) for k, v in x.items()}
        if type(x) is GeneratorType and record._returns_graph: return (back(v) for v in x)
        return x
    return back(result)
def copy_into(changed, graph):
    from networkx_dispatch_loopback import fill
    fill(graph.content, changed)
