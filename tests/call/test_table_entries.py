"""What tables hold."""

from __future__ import annotations

from typing import Any

from spatch_core._call.candidate_chain import Chain
from spatch_core._call.table_entries import as_function, tries_whole_chain
from spatch_core._dispatch_arguments import Function


def f(x: Any) -> Any:
    return x


def test_only_what_says_so_tries_a_whole_chain() -> None:
    function = Function("lib:f", f, "x")
    chain = Chain(function, (), ())
    assert not tries_whole_chain(f)
    assert not tries_whole_chain(len)
    assert tries_whole_chain(chain)
    assert tries_whole_chain(as_function(chain, function))


def test_the_wrapper_of_a_function_with_a_finder_needs_the_chain_itself() -> None:
    function = Function("lib:f", f, None)
    chain = Chain(function, (), ())
    assert as_function(chain, function) is chain
