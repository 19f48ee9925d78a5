"""Long runs of MPI jobs, seeded; every job must end as it should.

    python -m mpi_jobs.soak shrinks [--repeats 500] [--seed 1]                  (in tests/)
    python -m mpi_jobs.soak quiet [--minutes 30] [--ranks 32]

`shrinks`: 1 to 16 communicators shrunk at once, posted in opposite orders, while processes die. `quiet`: nobody dies, and
nobody may be suspected, however crowded the machine is.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

from .job import run_job
from .parts import Parts, build
from .record import Record


def shrink(parts: Parts, random: Random) -> tuple[str, list[str]]:
    """Run one job whose communicators are shrunk; what was drawn, and what is wrong with how it ended."""
    ranks, count, deaths = random.randint(4, 8), random.randint(1, 16), random.randint(1, 3)
    victims = random.sample(range(ranks), deaths)
    kill = ",".join(f"{victim}@shrink+{random.uniform(0, 0.03):.5f}" for victim in victims)
    ended = run_job(parts, ranks, [str(parts.program("tests/ishrink.c")), str(count)], kill=kill)
    live = ranks - len(ended.ranks("killed"))
    whole = re.findall(rf"rank \d: {count} shrunk, \d+ smaller, all whole", ended.text)
    wrong = [] if ended.in_time else ["it hung"]
    if len(whole) < live:
        wrong.append(f"{len(whole)} of {live} live processes have whole communicators")
    if ended.left_behind:
        wrong.append(f"{len(ended.left_behind)} processes were left behind")
    wrong.extend(ended.crash_words[:3])
    drawn = f"{ranks} ranks, {count} communicators, kill {kill}"
    return drawn, [*wrong, ended.text[-2000:]] if wrong else []


def shrinks(parts: Parts, repeats: int, seed: int) -> dict[str, Any]:
    """Run many."""
    failed = []
    for repeat in range(repeats):
        drawn, wrong = shrink(parts, Random(f"{seed} {repeat}"))
        if wrong:
            failed.append({"repeat": repeat, "drawn": drawn, "wrong": wrong[:-1]})
            print(f"{repeat}: {drawn}: {'; '.join(wrong)}", flush=True)
        elif repeat % 50 == 49:
            print(f"{repeat + 1 - len(failed)} of {repeat + 1}", flush=True)
    print(f"seed {seed}: {repeats - len(failed)} of {repeats} jobs shrank their communicators")
    return {"good": repeats - len(failed), "failed": failed}


def quiet(parts: Parts, minutes: float, ranks: int) -> dict[str, Any]:
    """Run jobs without failures, one after the other."""
    end = time.monotonic() + 60 * minutes
    program = [str(parts.program("examples/02_spares.c")), str(STEPS)]
    jobs = 0
    failed = []
    while time.monotonic() < end:
        ended = run_job(parts, ranks, program, spares=2, limit_s=600)
        found = {one["event"] for one in ended.events} - USUAL
        right = f"{ranks - 2} ranks, {STEPS} steps, largest error 0\n" in ended.text
        if found or not right or ended.left_behind:
            failed.append({"job": jobs, "events": sorted(found), "right": right})
            print(f"{sorted(found)}\n{ended.text[-2000:]}", flush=True)
        jobs += 1
        print(f"{jobs} jobs, the last took {ended.seconds:.0f} s", flush=True)
    good = jobs - len(failed)
    print(f"{good} of {jobs} jobs of {ranks} processes suspected nobody, {minutes:g} minutes")
    return {"jobs": jobs, "good": good, "failed": failed}


STEPS = 2000
"""Of each quiet job."""

USUAL = {"started", "asleep", "checkpoint", "finalized"}
"""Events that there are without a failure, and only they."""


def main() -> int:
    """Run one of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("shrinks", "quiet"))
    parser.add_argument("--repeats", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--ranks", type=int, default=32)
    parser.add_argument(
        "--record", type=Path, help="a file: a soak that stands in it is not run again"
    )
    given = parser.parse_args()
    record = Record(given.record)
    part: dict[str, Any] = {"soak": given.what}
    if given.what == "shrinks":
        part |= {"seed": given.seed, "jobs": given.repeats}
    else:
        part |= {"ranks": given.ranks, "minutes": given.minutes}
    found = record.known(part)
    if found is None:
        with tempfile.TemporaryDirectory(prefix="rf-soak-") as folder:
            parts = build(Path(folder))
            if given.what == "shrinks":
                found = shrinks(parts, given.repeats, given.seed)
            else:
                found = quiet(parts, given.minutes, given.ranks)
        record.add(part, found)
    return 1 if found["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
