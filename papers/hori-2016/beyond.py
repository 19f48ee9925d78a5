"""Beyond the paper: a search beside a proved bound, and two jobs that share spares, compared with their records.

    python beyond.py [--write]   exit 1 if a table is not its record

Nodes of ranks drawn evenly fail one after the other, for each policy those of the same ranks; columns are means over the sequences.

bound.csv      10x10, 2D(2,1): the largest collision, what no placement is below (`runflat.spares.Step.collision_bound`), and the share
               of sequences in which that is reached
boundary.csv   two jobs of 10x10 side by side on 21x10 nodes, a column of spares between them: the largest collision of both jobs'
               messages, the larger of those of either job alone, and the share of sequences in which the first is larger
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator

from recorded import as_recorded

from runflat.spares import Job, Substitution

Measure = Callable[[Substitution], tuple[float, float, float]]


def beside_the_bound(found: Substitution) -> tuple[float, float, float]:
    """Collision, bound, and whether they are one."""
    own, least = found.collision_max, found.collision_bound
    return own, least, own == least


def together_and_alone(found: Substitution) -> tuple[float, float, float]:
    """Collision of both jobs, of the worse one alone, and whether they disturb each other."""
    both, first, second = found.steps[-1].collisions
    return both, max(first, second), both > max(first, second)


TABLES: tuple[tuple[str, str, str, tuple[str, ...], int, int, tuple[str, ...], Measure], ...] = (
    (
        "bound.csv", "10x10", "2D(2,1)", ("hybrid(all)", "optimal", "optimal(trials=2000)"), 12, 500,
        ("mean", "mean bound", "share at the bound"), beside_the_bound,
    ),
    (
        "boundary.csv", "21x10", "boundary(1)", ("0D", "hybrid(1D+0D)", "optimal"), 10, 300,
        ("together", "alone", "share disturbed"), together_and_alone,
    ),
)  # fmt: skip
"""Record, shape, allocation, policies, failures, sequences, columns, what they are."""


def rows(
    shape: str,
    allocation: str,
    policies: tuple[str, ...],
    failures: int,
    sequences: int,
    measure: Measure,
) -> Iterator[list[object]]:
    """Means by policy and failures."""
    for policy in policies:
        sums = [[0.0] * 3 for _ in range(failures)]
        for number in range(sequences):
            draws = random.Random(number)
            job = Job(shape, allocation, seed=number)
            failed: list[int] = []
            at = job.node_of_rank
            for row in sums:
                failed.append(at[draws.randrange(job.ranks)])
                found = job.substitute(policy, failed)
                at = found.node_of_rank
                row[:] = [total + value for total, value in zip(row, measure(found), strict=True)]
        for failure, row in enumerate(sums, start=1):
            yield [policy, failure, sequences, *(f"{total / sequences:.3f}" for total in row)]


def main() -> int:
    """Print, and compare or write."""
    status = 0
    for name, shape, allocation, policies, failures, sequences, columns, measure in TABLES:
        found = rows(shape, allocation, policies, failures, sequences, measure)
        head = ["policy", "failures", "sequences", *columns]
        status |= not as_recorded(name, [head, *found], write="--write" in sys.argv)
    return status


if __name__ == "__main__":
    sys.exit(main())
