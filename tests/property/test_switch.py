"""Random programs that switch backends, against a model of rules W5 to W7."""

from __future__ import annotations

from contextvars import Context
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from spatch_core import BackendSystem, UnknownBackendError
from spatch_core.switching import Switch

NAMES = ("a", "b", "c")
names = st.sampled_from(NAMES)
LONGEST = 32


class Switching(RuleBasedStateMachine):
    """A program in a context of its own; others hold blocks of the whole process.

    Attributes
    ----------
    base : tuple of str
        The backends that are set in the process-wide default, without blocks.
    process : list of object and str
        The blocks of the whole process, in the order in which they were entered.
    own : tuple of str or None
        The backends that are set in the program; None where it follows the default.
    blocks : list
        The blocks that the program is in, each with what was set before.
    others : list
        The blocks that other contexts are in.
    """

    def __init__(self) -> None:
        super().__init__()
        descriptions = [{"name": name, "primary_types": [f"m:{name}"]} for name in NAMES]
        self.switch = Switch(BackendSystem(None, "SWITCHED", backends=descriptions))
        self.context = Context()
        self.base: tuple[str, ...] = ()
        self.process: list[tuple[object, str]] = []
        self.own: tuple[str, ...] | None = None
        self.blocks: list[tuple[Any, tuple[str, ...] | None, bool]] = []
        self.others: list[tuple[Context, Any]] = []

    @property
    def default(self) -> tuple[str, ...]:
        return self.inside(self.process[-1][1], self.base) if self.process else self.base

    @property
    def current(self) -> tuple[str, ...]:
        return self.default if self.own is None else self.own

    @staticmethod
    def inside(name: str, outer: tuple[str, ...]) -> tuple[str, ...]:
        """What is set in a block of a backend."""
        return outer if outer[:1] == (name,) else (name, *outer[:LONGEST])

    @rule(name=names)
    def set_backend(self, name: str) -> None:
        self.context.run(self.switch.set_backend, name)
        self.own = (name, *self.current[:LONGEST])

    @rule(name=names)
    def set_globally(self, name: str) -> None:
        self.context.run(self.switch.set_backend, name, globally=True)
        self.base = (name,)
        if self.own is not None:
            self.own = (name, *self.own[:LONGEST])

    @rule(globally=st.booleans())
    def set_an_unknown_one(self, globally: bool) -> None:
        with pytest.raises(UnknownBackendError):
            self.context.run(self.switch.set_backend, "d", globally)

    @rule()
    def previous(self) -> None:
        if self.own is None or not self.own:
            with pytest.raises(RuntimeError):
                self.context.run(self.switch.previous_backend)
            return
        found = self.context.run(self.switch.previous_backend)
        after = self.default if self.own == self.default else self.own[1:]
        self.own = None if after == self.default else after
        assert found == (self.current or ("default",))[0]

    @rule(globally=st.booleans())
    def unset(self, globally: bool) -> None:
        self.context.run(self.switch.unset_backend, globally)
        if globally:
            self.base = ()
        self.own = None

    @rule(name=names, globally=st.booleans())
    def enter(self, name: str, globally: bool) -> None:
        block: Any = self.switch.backend_context(name, globally)
        self.context.run(block.__enter__)
        self.blocks.append((block, self.own, globally))
        self.own = self.inside(name, self.current)
        if globally:
            self.process.append((block, name))

    @precondition(lambda self: self.blocks)
    @rule()
    def leave(self) -> None:
        block, self.own, globally = self.blocks.pop()
        self.context.run(block.__exit__)
        if globally:
            self.end(block)

    @rule(name=names)
    def enter_elsewhere(self, name: str) -> None:
        block, context = self.switch.backend_context(name, globally=True), Context()
        context.run(block.__enter__)
        self.others.append((context, block))
        self.process.append((block, name))

    @precondition(lambda self: self.others)
    @rule(data=st.data())
    def leave_elsewhere(self, data: st.DataObject) -> None:
        context, block = self.others.pop(data.draw(st.integers(0, len(self.others) - 1)))
        context.run(block.__exit__)
        self.end(block)

    def end(self, block: object) -> None:
        self.process = [each for each in self.process if each[0] is not block]

    @invariant()
    def the_program_and_new_threads_agree_with_the_model(self) -> None:
        """W5, W6, W7: what is set, in what order, and what is current."""
        for context, expected in ((self.context, self.current), (Context(), self.default)):
            assert context.run(lambda: (*self.switch,)) == expected[:LONGEST]
            name = context.run(self.switch.get_backend)
            assert name == (expected or ("default",))[0]

    def teardown(self) -> None:
        """W7: once all blocks are left, the default is the base."""
        for context, block in self.others:
            context.run(block.__exit__)
        while self.blocks:
            self.context.run(self.blocks.pop()[0].__exit__)
        assert Context().run(lambda: (*self.switch,)) == self.base[:LONGEST]


TestSwitching = Switching.TestCase
TestSwitching.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
