"""Worst cases with proof: where the formulas of the paper hold, and where they are wrong. `worst.csv`.

    python worst.py [--failures N] [--write]   exit 1 if a row is not as recorded

For each number of failures, the worst collision that a sequence of failures shows, a bound that none exceeds, the formula of the
paper, and the sequence. Searches end at so many states; then the bound may be larger than the worst found. All
failures take some ten minutes of processor time, up to three of them 50 seconds.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from recorded import as_recorded

from runflat.spares import Choices, Job, WorstCase

HEAD = (
    "nodes",
    "network",
    "allocation",
    "policy",
    "failures",
    "worst",
    "bound",
    "formula",
    "sequence",
)
RUNS = (
    ("10x10", "mesh", "2D(1,1)", "0D", 8, 2_000_000),
    ("10x10", "torus", "2D(1,1)", "0D", 8, 2_000_000),
    ("10x10", "mesh", "2D(2,1)", "0D", 8, 2_000_000),
    ("10x10", "mesh", "2D(2,1)", "1D", 5, 400_000),
    ("20x20", "mesh", "2D(1,1)", "0D", 5, 2_000_000),
    ("20x20", "torus", "2D(1,1)", "0D", 5, 2_000_000),
    ("20x20", "mesh", "2D(2,1)", "0D", 5, 2_000_000),
    ("20x20", "mesh", "2D(2,1)", "1D", 5, 300_000),
)
"""Nodes, network, allocation, policy, the most failures, states of a search."""


def formula(policy: str, network: str, failures: int) -> int:
    """Give the worst case that the paper's formulas say: 0D on 2D(1,1), 1D on 2D(2,1)."""
    if policy == "1D":
        return 2 + failures
    mesh = 4 * (failures - 3) if network == "mesh" else 0
    return max(2 * failures + 1, mesh)


def cells(run: tuple[str, str, str, str, int, int], one: WorstCase) -> Sequence[object]:
    """Write a worst case as a line of the table."""
    nodes, network, allocation, policy, _, _ = run
    said = formula(policy, network, one.failures)
    sequence = " ".join(map(str, one.sequence))
    values = (one.failures, one.collision_max, one.bound, said, sequence)
    return (nodes, network, allocation, policy, *values)


def rows(most: int) -> Iterator[Sequence[object]]:
    """Prove all runs, up to so many failures."""
    yield HEAD
    for run in RUNS:
        nodes, network, allocation, policy, failures, states = run
        job = Job(nodes, allocation, torus=network == "torus")
        choices = Choices(pick="fixed")
        found = job.worst_proved(policy, min(most, failures), states_max=states, choices=choices)
        for one in found:
            line = cells(run, one)
            print(*line[:5], f"worst {one.collision_max}, bound {one.bound}", file=sys.stderr)
            yield line


def main() -> int:
    """Print the table, and compare or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--failures", type=int, default=sys.maxsize)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    # Fewer failures are compared with their part of the record.
    part = given.failures < sys.maxsize
    return int(not as_recorded("worst.csv", rows(given.failures), write=given.write, part=part))


if __name__ == "__main__":
    sys.exit(main())
