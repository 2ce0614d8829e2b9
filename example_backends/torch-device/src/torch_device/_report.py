"""Counts what leaves the device: conversions to the CPU, and reads by the host."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Report:
    """What has left the device since the counts were last reset.

    Attributes
    ----------
    conversions : Counter of str
        Calls of operators that ran on the CPU, by operator.
    host_reads : Counter of str
        Calls of operators that give the host values of a tensor, such as ``item``.
    copies : Counter of str
        Copies that the program asked for: ``to_cpu`` and ``from_cpu``.
    decompositions : Counter of str
        Calls of operators that ran in terms of other operators.
    """

    conversions: Counter[str] = field(default_factory=Counter)
    host_reads: Counter[str] = field(default_factory=Counter)
    copies: Counter[str] = field(default_factory=Counter)
    decompositions: Counter[str] = field(default_factory=Counter)

    def reset(self) -> None:
        """Set all counts to zero."""
        for each in (self.conversions, self.host_reads, self.copies, self.decompositions):
            each.clear()

    def __str__(self) -> str:
        lines = []
        for name in ("conversions", "host_reads", "copies", "decompositions"):
            counts: Counter[str] = getattr(self, name)
            lines.append(f"{name.replace('_', ' ')}: {counts.total()}")
            lines += [f"  {count:6} {operator}" for operator, count in counts.most_common()]
        return "\n".join(lines)
