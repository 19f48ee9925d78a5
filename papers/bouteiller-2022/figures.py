"""Figures 5 to 8 of Bouteiller and Bosilca 2022, measured on this machine.

    python papers/bouteiller-2022/figures.py [--figure 7] [--rounds 5] [--into out/bouteiller-2022]

Times are not the same twice: what is compared with the paper (claims.md) is who is faster, and how that changes with size and number. The
cases of a figure take turns, so that a busy moment meets them all.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench")]

import record  # noqa: E402

from mpi_jobs.measured import measured  # noqa: E402  the tests' way to compile and run
from mpi_jobs.parts import Parts, build  # noqa: E402
from mpi_jobs.record import commit, sources  # noqa: E402

Row = dict[str, object]
Case = tuple[bool, list[str]]
"""Whether there is fault tolerance, and an info key."""
LARGEST = 262144
SIZES = (1, 1 << 10, 1 << 16, 1 << 20, 1 << 22, 1 << 24, 1 << 27, 1 << 30)
"""Bytes of a checkpoint; 2**30 - 1 is what one MPI message counts in an int."""


def spread(values: list[float]) -> Row:
    """Sum up rounds."""
    return {
        "best": f"{min(values):.4g}",
        "median": f"{statistics.median(values):.4g}",
        "worst": f"{max(values):.4g}",
    }


def in_turn(cases: dict[str, Case], turn: int) -> list[tuple[str, Case]]:
    """All cases, from another one on in each round: who comes after whom may matter."""
    first = turn % len(cases)
    listed = list(cases.items())
    return listed[first:] + listed[:first]


def calls(parts: Parts, rounds: int, cases: dict[str, Case]) -> Iterator[Row]:
    """Microseconds a call by ranks, call and case; each case: fault tolerance or not, and an info key.

    `times`: the median of a case over the first case of the same round, since rounds differ more than cases.
    """
    program = parts.unlinked("bench/latency.c")
    for ranks in (2, 8):
        found: list[dict[str, dict[str, float]]] = [
            {
                case: measured(parts, program, ranks, [str(LARGEST), *key], tolerant=tolerant)
                for case, (tolerant, key) in in_turn(cases, turn)
            }
            for turn in range(rounds)
        ]
        first = next(iter(cases))
        for call in found[0][first]:
            name, _, size = call.rpartition("_")
            for case in cases:
                us = spread([one[case][call] for one in found])
                times = statistics.median(one[case][call] / one[first][call] for one in found)
                row: Row = {"ranks": ranks, "call": name, "bytes": size, "case": case}
                yield row | us | {"times": f"{times:.4g}"}


def figure5(parts: Parts, rounds: int) -> Iterator[Row]:
    """Error range `group` against `local`, and no fault tolerance at all; us."""
    group = ["mpix_error_range", "group"]
    return calls(parts, rounds, {"off": (False, []), "local": (True, []), "group": (True, group)})


def figure6(parts: Parts, rounds: int) -> Iterator[Row]:
    """Uniform collective calls against local ones; us."""
    uniform = ["mpix_error_uniform", "coll"]
    return calls(parts, rounds, {"local": (True, []), "uniform": (True, uniform)})


def figure7(parts: Parts, rounds: int) -> Iterator[Row]:
    """Shrinks of 1 to 16 communicators at 8 ranks after one has died; ms a communicator."""
    program = parts.program("bench/shrinks.c")
    ways = ("blocking", "nonblocking")
    for count in (1, 2, 4, 8, 16):
        found = [
            {way: measured(parts, program, 8, [str(count), way], preloaded=False) for way in ways}
            for _ in range(rounds)
        ]
        for way in ways:
            for what in found[0][way]:
                ms = spread([one[way][what] for one in found])
                yield {"communicators": count, "shrink": way, "time": what} | ms


def figure8(parts: Parts, rounds: int) -> Iterator[Row]:
    """Reload of a buddy's copy alone, after a shrink, and beside it, at 4 ranks; ms from the death."""
    program = parts.program("bench/reload.c")
    ways = ("alone", "serial", "overlapped")
    for size in SIZES:
        words = str(min(size, (1 << 30) - 1))
        found = [
            {way: measured(parts, program, 4, [words, way], preloaded=False)["ms"] for way in ways}
            for _ in range(rounds)
        ]
        for way in ways:
            yield {"bytes": words, "reload": way} | spread([one[way] for one in found])


FIGURES: dict[int, Callable[[Parts, int], Iterator[Row]]] = {
    5: figure5,
    6: figure6,
    7: figure7,
    8: figure8,
}


def main() -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", type=int, choices=tuple(FIGURES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--into", type=Path, default=ROOT / "out/bouteiller-2022")
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        parts = build(Path(folder))
        for number in [given.figure] if given.figure else FIGURES:
            head = record.head(
                f"figures.py --figure {number} --rounds {given.rounds}", given.rounds
            )
            head |= {"commit": commit(), "library": sources()}
            rows = list(FIGURES[number](parts, given.rounds))
            path = given.into / f"figure{number}.csv"
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
            record.save(path.with_suffix(".json"), head)
            print(f"Figure {number}: {FIGURES[number].__doc__}")
            for row in rows:
                print("  ".join(f"{value!s:>12}" for value in row.values()))


if __name__ == "__main__":
    main()
