"""Worst cases of failure sequences: of all of them, or by proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

STATES_MAX = 2_000_000
"""States that a proof goes through for one number of failures, if nothing else is asked for: minutes."""


@dataclass(frozen=True)
class Worst:
    """The worst of all sequences of some number of failures.

    Attributes
    ----------
    recovered, unrecovered : int
        Sequences in which every failed node was substituted; whose last failure found no spare.
    collision_max : int
        The largest collision after any of them.
    sequence : list of int
        The first sequence that shows it: nodes in the order of failure.
    lost : list of int
        The first sequence without a spare; empty if there is none.
    """

    recovered: int
    unrecovered: int
    collision_max: int
    sequence: list[int]
    lost: list[int]


@dataclass(frozen=True)
class WorstCase:
    """The worst case of some number of failures, between what was found and what was proved.

    Attributes
    ----------
    failures : int
        Failures of a sequence.
    collision_max : int
        The largest collision after `sequence`; 0 if no sequence was found that has a spare for every failure.
    bound : int
        Proved: no sequence has a larger one.
    sequence : list of int
        Nodes in the order of failure: `Job.substitute` shows the collision.
    states : int
        States that the search went through.
    """

    failures: int
    collision_max: int
    bound: int
    sequence: list[int]
    states: int

    @property
    def exact(self) -> bool:
        """Whether the worst case is known: it is found and proved."""
        return self.collision_max == self.bound


def read_worst_case(found: Mapping[str, Any]) -> WorstCase:
    """Read what the core found."""
    return WorstCase(**found)
