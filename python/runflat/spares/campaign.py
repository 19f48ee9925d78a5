"""Campaigns: many sequences of random failures, and the collisions after each failure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from runflat._core import SparesError, check_substitution_policy
from runflat.spares.job import Choices, Job
from runflat.spares.shape import Node

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Row:
    """What came of one failure over all sequences, for one policy.

    Attributes
    ----------
    policy : str
        The policy, in the paper's notation.
    failures : int
        Failures so far, this one included.
    sequences : int
        Sequences that got here with every failed node substituted.
    best, average, worst : int, float, int; None
        The largest collision over these: the least, the mean and the most; None if there are none.
    quantiles : dict of str to int
        The same at 1, 5, 25, 50, 75, 95 and 99 per cent.
    share : dict of str to float
        Of the substitutions of this failure, the share of each degree of slide.
    share_accumulated : dict of str to float
        The same of all failures so far.
    unrecoverable : float
        Share of all sequences in which this failure or one before found no spare.
    """

    policy: str
    failures: int
    sequences: int
    best: int | None
    average: float | None
    worst: int | None
    quantiles: dict[str, int]
    share: dict[str, float]
    share_accumulated: dict[str, float]
    unrecoverable: float


@dataclass
class Tally:
    """Counts of sequences, for one policy.

    Attributes
    ----------
    collisions : (failures, largest collision) array of uint64
        Sequences by largest collision after each failure.
    degrees : (failures, degree) array of uint64
        Sequences by degree of the slide.
    idle, unrecovered : (failures,) array of uint64
        Sequences in which the node had no rank; in which no spare was left for it.
    """

    collisions: NDArray[np.uint64]
    degrees: NDArray[np.uint64]
    idle: NDArray[np.uint64]
    unrecovered: NDArray[np.uint64]

    def __add__(self, other: Tally) -> Tally:
        """Put the counts of different sequences together."""
        return Tally(
            _sum(self.collisions, other.collisions),
            _sum(self.degrees, other.degrees),
            self.idle + other.idle,
            self.unrecovered + other.unrecovered,
        )


@dataclass(frozen=True)
class Campaign:
    """Sequences of random failures on one job.

    Attributes
    ----------
    job : Job
        What fails.
    policies : sequence of str
        The policies compared; they meet the same ranks.
    failures : int
        Failures of a sequence.
    choices : Choices
        What the paper leaves open.
    dead : sequence of nodes
        Nodes that are dead before the job starts.
    """

    job: Job
    policies: Sequence[str]
    failures: int
    choices: Choices = field(default_factory=Choices)
    dead: Sequence[Node] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        dimensions = len(self.job.shape)
        if not self.policies:
            raise SparesError("a campaign compares at least one policy")
        numbers = [self.job.number(node) for node in self.dead]
        if twice := next((node for node in numbers if numbers.count(node) > 1), None):
            raise SparesError(f"node {twice} is dead twice: name each dead node once")
        for policy in self.policies:
            check_substitution_policy(policy, dimensions)
        most = self.job.nodes if self.choices.victims == "alive" else self.job.spares + 1
        if not 1 <= self.failures <= self.job.nodes:
            raise SparesError(
                f"{self.failures} failures on a machine of {self.job.nodes} nodes: "
                f"give 1 to {self.job.nodes}; after {most - 1} no spare is left"
            )

    @property
    def chunk(self) -> int:
        """Sequences that take some seconds."""
        return max(64, min(8192, 4_000_000 // (self.failures * len(self.policies))))

    def run(
        self,
        sequences: range,
        *,
        progress: Callable[[int], None] | None = None,
        chunk: int | None = None,
    ) -> list[Tally]:
        """Run sequences of these numbers; counts by policy.

        `chunk` sequences are run at a time, and `progress` is told how many are done.

        What a sequence draws depends on the job's seed and its number alone: sums over any partition are the same.
        """
        dead = [self.job.number(node) for node in self.dead]
        sums: list[Tally] | None = None
        chunk = chunk or self.chunk
        for first in range(sequences.start, sequences.stop, chunk):
            last = min(first + chunk, sequences.stop)
            found = self.job._core.campaign(
                list(self.policies), self.failures, (first, last), dead,
                asdict(self.choices), self.job.seed,
            )  # fmt: skip
            tallies = [Tally(**one) for one in found]
            sums = tallies if sums is None else [a + b for a, b in zip(sums, tallies, strict=True)]
            if progress is not None:
                progress(last - sequences.start)
        if sums is None:
            raise SparesError("a campaign has at least one sequence")
        return sums

    def rows(self, tallies: Sequence[Tally], sequences: int) -> list[Row]:
        """Sum counts of so many sequences up: a row a policy and failure."""
        found = []
        for policy, tally in zip(self.policies, tallies, strict=True):
            name, own = check_substitution_policy(policy, len(self.job.shape))
            found += _rows(name, own, tally, sequences)
        return found


QUANTILES = (1, 5, 25, 50, 75, 95, 99)


def _rows(policy: str, own: Sequence[int], tally: Tally, sequences: int) -> list[Row]:
    rows = []
    degrees = tally.degrees.cumsum(axis=0)
    lost = tally.unrecovered.cumsum()
    for failure, (collisions, used) in enumerate(zip(tally.collisions, tally.degrees, strict=True)):
        count = int(collisions.sum())
        values = np.flatnonzero(collisions)
        below = collisions.cumsum()
        rows.append(
            Row(
                policy=policy,
                failures=failure + 1,
                sequences=count,
                best=int(values[0]) if count else None,
                average=float(values @ collisions[values].astype(float) / count) if count else None,
                worst=int(values[-1]) if count else None,
                quantiles={
                    f"{q}%": int(np.searchsorted(below, q / 100 * count, side="left"))
                    for q in QUANTILES
                    if count
                },
                share=_shares(used, own),
                share_accumulated=_shares(degrees[failure], own),
                unrecoverable=float(lost[failure] / sequences),
            )
        )
    return rows


def _shares(counts: NDArray[np.uint64], own: Sequence[int]) -> dict[str, float]:
    """Shares of a policy's own degrees, from the lowest."""
    total = int(counts.sum())
    there = [degree for degree in sorted(own) if degree < len(counts)]
    return {f"{degree}D": int(counts[degree]) / total for degree in there if total}


def _sum(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> NDArray[np.uint64]:
    wide = max(one.shape[1], other.shape[1])
    padded = [np.pad(counts, ((0, 0), (0, wide - counts.shape[1]))) for counts in (one, other)]
    return padded[0] + padded[1]
