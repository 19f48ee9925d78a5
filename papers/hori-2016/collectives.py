"""Figures 20 and 21 as far as loads of channels explain them: rounds of collectives after failures, compared with the record.

    python collectives.py [--write]   exit 1 if the table is not the record

Sums of the largest collisions of all rounds, relative to those before any failure; means over 12 sequences of failures by
hybrid(all). Dissemination barrier and recursive-doubling all-reduce: generic algorithms, as fall back when a shape is lost.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence

from recorded import as_recorded

from runflat import spares

FAILURES = (1, 2, 3, 5, 10, 20, 40, 60)
JOBS = (("tofu", "12x12x12"), ("bgq", "16x8x8"))
COLLECTIVES = (("barrier", {}), ("allreduce", {"algorithm": "recursive-doubling"}))


def rows() -> Iterator[Sequence[object]]:
    """Sum up rounds by network and collective."""
    yield ["network", "collective", "rounds", "before", *FAILURES]
    for network, shape in JOBS:
        for collective, params in COLLECTIVES:
            sums = dict.fromkeys(FAILURES, 0.0)
            for seed in range(1, 13):
                job = spares.Job(
                    shape, "3D(2,1)", traffic=collective, params=params, network=network, seed=seed
                )
                failed = random.Random(seed).sample(job.node_of_rank, max(FAILURES))
                found = job.substitute("hybrid(all)", failed)
                for failures in FAILURES:
                    sums[failures] += (
                        sum(found.steps[failures - 1].collisions) / found.rounds_before
                    )
            means = [f"{sums[failures] / 12:.3f}" for failures in FAILURES]
            yield [network, collective, job.round_count, found.rounds_before, *means]


if __name__ == "__main__":
    sys.exit(not as_recorded("collectives.csv", rows(), write="--write" in sys.argv))
