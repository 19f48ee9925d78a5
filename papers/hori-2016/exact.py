"""What needs no drawing: Figures 3, 8 and 22, compared with their records.

    python exact.py [--failures N] [--write]   exit 1 if a table is not the record; Figure 8 up to N failures, default 4

Figure 3: share of the nodes that an allocation keeps, on the cube nearest to so many nodes and by the paper's formula. Figure
8: the worst collision of all sequences of failures on 10x10 nodes. Figure 22: for which sizes an allocation keeps 2 to 5 per cent.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from recorded import as_recorded

from runflat.spares import Choices, Job, spare_share

NODES = (100, 1_000, 10_000, 100_000, 1_000_000)
ALLOCATIONS = ("2D(1,1)", "2D(2,1)", "2D(2,2)", "3D(1,1)", "3D(2,1)", "3D(3,1)")
WORST = (
    ("mesh", "2D(1,1)", "0D"),
    ("torus", "2D(1,1)", "0D"),
    ("mesh", "2D(2,1)", "0D"),
    ("mesh", "2D(2,1)", "1D"),
    ("mesh", "2D(2,1)", "2D"),
)


def figure3() -> Iterator[Sequence[object]]:
    """Share of spares by allocation and size."""
    yield ("allocation", "nodes", "machine", "spares %", "by formula %")
    for allocation in ALLOCATIONS:
        dimensions = int(allocation[0])
        for nodes in NODES:
            length = round(nodes ** (1 / dimensions))
            exact, formula = spare_share(allocation, [length] * dimensions)
            assert formula is not None
            machine = "x".join([str(length)] * dimensions)
            yield (allocation, nodes, machine, f"{100 * exact:.3f}", f"{100 * formula:.3f}")


def figure8(most: int) -> Iterator[Sequence[object]]:
    """Worst cases over all sequences."""
    yield (
        "network",
        "allocation",
        "policy",
        "failures",
        "recovered",
        "no spare left",
        "worst",
        "sequence",
    )
    for network, allocation, policy in WORST:
        job = Job((10, 10), allocation, torus=network == "torus")
        found = job.worst(policy, most, choices=Choices(pick="fixed"))
        for failures, one in enumerate(found, start=1):
            sequence = " ".join(map(str, one.sequence))
            yield (
                network,
                allocation,
                policy,
                failures,
                one.recovered,
                one.unrecovered,
                one.collision_max,
                sequence,
            )


def figure22() -> Iterator[Sequence[object]]:
    """Sizes of cubes at which an allocation keeps 2 to 5 per cent."""
    yield ("allocation", "from nodes", "to nodes")
    for allocation in ("3D(1,1)", "3D(2,1)", "3D(3,1)"):
        fits = [n**3 for n in range(2, 200) if 0.02 <= spare_share(allocation, [n] * 3)[0] <= 0.05]
        yield (allocation, fits[0], fits[-1])


def main() -> int:
    """Print the tables, and compare or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--failures", type=int, default=4)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    status = 0
    tables = {"figure3": figure3(), "figure8": figure8(given.failures), "figure22": figure22()}
    for name, rows in tables.items():
        # Fewer failures are compared with their part of the record.
        status |= not as_recorded(f"{name}.csv", rows, write=given.write, part=name == "figure8")
    return status


if __name__ == "__main__":
    sys.exit(main())
