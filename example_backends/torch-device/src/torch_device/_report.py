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
    constants : Counter of str
        Objects of the program that a compiled step took for constants.
    """

    conversions: Counter[str] = field(default_factory=Counter)
    host_reads: Counter[str] = field(default_factory=Counter)
    copies: Counter[str] = field(default_factory=Counter)
    decompositions: Counter[str] = field(default_factory=Counter)
    constants: Counter[str] = field(default_factory=Counter)

    def reset(self) -> None:
        """Set all counts to zero."""
        for each in vars(self).values():
            each.clear()

    def __str__(self) -> str:
        lines = []
        for name, counts in vars(self).items():
            if name == "constants" and not counts:  # of `torch_device_jit` alone
                continue
            lines.append(f"{name.replace('_', ' ')}: {counts.total()}")
            lines += [f"  {count:6} {operator}" for operator, count in counts.most_common()]
        return "\n".join(lines)
