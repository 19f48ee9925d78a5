"""Campaigns of spare nodes: processor time a failure.

One thread; sequences of failures until no spare is left; each machine and policy in turn, several rounds. The bound: channels whose load
changes, some 200 runs of them a failure by hybrid(all) on 24x24x24. Every run checks its own answer: all spares are used.
"""

from __future__ import annotations

import os
from pathlib import Path

# Before the core is loaded: its threads are counted once.
os.environ["RAYON_NUM_THREADS"] = "1"

import record
from record import timed

from runflat import spares

REPEATS = 3
HERE = Path(__file__).parent
RUNS: tuple[tuple[str, str, str, int], ...] = (
    ("24x24x24", "3D(2,1)", "hybrid(all)", 2048),
    ("24x24x24", "3D(2,1)", "hybrid(-2D)", 2048),
    ("24x24x24", "3D(2,1)", "0D", 2048),
    ("12x12x12", "3D(2,1)", "hybrid(all)", 4096),
    ("100x100", "2D(2,1)", "hybrid(all)", 8192),
    ("100x100", "2D(2,1)", "0D", 8192),
    ("10x10", "2D(2,1)", "optimal", 1024),
    ("24x24x24", "3D(2,1)", "optimal(trials=20)", 8),
)
"""Shape, allocation, policy, sequences."""

PEER = {"24x24x24 hybrid(all)": 10.4, "24x24x24 0D": 2.8, "100x100 hybrid(all)": 6.9}
"""Microseconds a failure of a good incremental C++ version, not measured in this run."""


def measure(shape: str, allocation: str, policy: str, sequences: int) -> float:
    """Return microseconds of processor time a failure."""
    job = spares.Job(shape, allocation)
    campaign = spares.Campaign(job, [policy], job.spares)
    tallies: list[spares.Tally] = []
    result = timed(lambda: tallies.extend(campaign.run(range(sequences))))
    assert int(tallies[0].collisions[-1].sum()) == sequences
    return result["cpu_s"] / (sequences * job.spares) * 1e6


def main() -> None:
    head = record.head("make bench", REPEATS)
    rounds = [[measure(*run) for run in RUNS] for _ in range(REPEATS)]
    results = [
        {"shape": shape, "allocation": allocation, "policy": policy, "sequences": sequences}
        | {"us_a_failure": record.spread([found[at] for found in rounds])}
        for at, (shape, allocation, policy, sequences) in enumerate(RUNS)
    ]
    record.save(HERE / "spares.json", head | {"results": results, "peer_not_measured_here": PEER})
    print(f"{head['processor']}, {head['cores']} cores, {REPEATS} rounds, commit {head['commit']}")
    for row in results:
        found = row["us_a_failure"]
        assert isinstance(found, dict)
        name = f"{row['shape']} {row['policy']}"
        spread = f"{found['median']:.2f} us a failure ({found['min']:.2f}-{found['max']:.2f})"
        print(f"{name:24} {spread}")


if __name__ == "__main__":
    main()
