"""The MPI recovery library while nobody fails: what calls cost with it and without, in one run.

`mpi/bench/latency.c` is started without the library, with it and no mode set, with each mode, and without the library once more, in rounds
that begin with another case each. Two jobs seldom meet the same machine, so a case is compared with the job without the library of its own
round, and the second such job says how far two jobs differ that are alike. What a library that nobody asks for anything adds is
measured once more inside one process, calls through it and past it in turn (`mpi/bench/added.c`). Bound: a test of a counter and a jump.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import record

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from mpi_jobs.job import run_job  # noqa: E402
from mpi_jobs.measured import measured  # noqa: E402  the tests' way to compile and run
from mpi_jobs.parts import Parts, build  # noqa: E402
from mpi_jobs.record import sources  # noqa: E402

ROUNDS = 30
"""Of whole jobs."""
WITH_MODES = 3
"""One round of so many has jobs with modes, too."""
REPEATS = 6
RECOVERIES = 15
RELOADS = {1: 6, 32: 6, 128: 3}
"""MiB of a rank's data, and how often a rank with as many dies."""
RECOVERED = {"asleep": "examples/02_spares.c", "awake": "tests/collective.c"}
"""Programs that lose a rank, by what the others do meanwhile: sleep between their calls, or wait in them."""
RANKS = (2, 4, 8)
LARGEST = 32768
GROUP = ("mpix_error_range", "group")
Case = tuple[bool, tuple[str, ...], dict[str, str]]
"""Whether the library is there, the key that the communicator gets, and what the library is told."""
WITHOUT: Case = (False, (), {})
ALIKE: dict[str, Case] = {"without": WITHOUT, "local": (True, (), {}), "again": WITHOUT}
"""Nobody asks for anything."""
MODES: dict[str, Case] = {
    "uniform": (True, ("mpix_error_uniform", "coll"), {}),
    "group": (True, GROUP, {}),
    "watched": (True, GROUP, {"RUNFLAT_WATCH_MS": "10"}),
}
CASES = ALIKE | MODES


def run(parts: Parts, program: Path, ranks: int, case: str) -> dict[str, float]:
    """Microseconds a call."""
    preloaded, key, told = CASES[case]
    return measured(
        parts, program, ranks, [str(LARGEST), *key], preloaded=preloaded, environment=told
    )


def in_turn(turn: int) -> list[str]:
    """All cases of a round, from another one on in each, every second one backwards: who comes after whom may matter."""
    cases = list(CASES if turn % WITH_MODES == 0 else ALIKE)
    first = turn // WITH_MODES % len(cases)
    cases = cases[first:] + cases[:first]
    return cases[::-1] if turn % 2 else cases


def added(parts: Parts, ranks: int) -> dict[str, float]:
    """What calls through the library take as a multiple of calls past it, without a mode and where calls are uniform."""
    found = measured(parts, parts.unlinked("bench/added.c"), ranks)
    return {name: ratio for name, ratio in found.items() if name.endswith(("_added", "_uniform"))}


def recovery(parts: Parts, source: str, victim: int) -> dict[str, float]:
    """From a kill to the first successful collective call on the repaired communicator, in parts; ms."""
    program = [str(parts.program(source)), "150"]
    ended = run_job(parts, 10, program, spares=2, kill=f"{victim}@0.15")
    assert "8 ranks, 150 steps, largest error 0" in ended.text, ended.text
    killed = ended.first("killed")
    after = [one for one in ended.events if one["t"] > killed]
    repairs = [one for one in after if one["event"] == "repaired"]
    shrinks = [one for one in after if one["event"] == "shrink"]
    ranks = {one["rank"] for one in after if one["event"] == "restored"}
    begins = [one["t"] - one["ms"] / 1e3 for one in repairs if one["rank"] in ranks]
    moments = {
        "detect": min(one["t"] for one in after if one["event"] == "failure_detected"),
        "interrupt": max(begins),
        "agree": max(one["t"] for one in shrinks),
        "repair": max(one["t"] for one in repairs),
        "reload": max(one["t"] for one in after if one["event"] == "restored"),
    }
    found, before = {}, killed
    for name, moment in moments.items():
        found[name] = 1e3 * (moment - before)
        before = moment
    return found | {"all": 1e3 * (before - killed)}


def agreement(parts: Parts, ranks: int, *, star: bool) -> float:
    """An all-reduce of 8 bytes and an agreement, the paper's way to make it uniform, as a multiple of the all-reduce."""
    tree = {"OMPI_MCA_coll_ftagree_era_topology": "1"}
    program = parts.unlinked("bench/agree.c")
    found = measured(parts, program, ranks, preloaded=star, environment=None if star else tree)
    return found["ratio"]


def reload(parts: Parts, mebibytes: int) -> dict[str, float]:
    """From a kill until the data of that rank are back, at 4 ranks; ms. A copy travels in the repair, and is loaded in the restore."""
    program = [str(parts.program("tests/homing.c")), str(mebibytes), "40"]
    ended = run_job(parts, 6, program, spares=2, kill="1@checkpoint:4")
    assert ended.text.count("data good at 40, began") == 4, ended.text
    (taker,) = ended.ranks("brought")
    killed = ended.first("killed")
    at = {one["event"]: one["t"] for one in ended.events if one["rank"] == taker}
    told = ended.first("failure_detected")
    return {
        "detect": 1e3 * (told - killed),
        "brought": 1e3 * (at["brought"] - killed),
        "repaired": 1e3 * (at["repaired"] - killed),
        "restored": 1e3 * (at["restored"] - killed),
    }


def fencing(parts: Parts) -> float:
    """Milliseconds from a SIGSTOP of one of 4 ranks until its neighbour has found it and ends it."""
    program = [str(parts.program("examples/02_spares.c")), "150"]
    ended = run_job(parts, 6, program, spares=2, stop="2@0.2")
    assert "4 ranks, 150 steps, largest error 0" in ended.text, ended.text
    return 1e3 * (ended.first("fenced") - ended.first("stopped"))


def main() -> None:
    """Measure and write down; half an hour."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of whole jobs")
    parser.add_argument("--into", type=Path, default=ROOT / "bench/mpi.json")
    given = parser.parse_args()
    # The library is compiled from the tree as it is.
    own = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    head = record.head("make bench", REPEATS)
    head |= {
        "commit": own.stdout.strip(),
        "library": sources(),
        "rounds": given.rounds,
        "rounds_with_modes": len(range(0, given.rounds, WITH_MODES)),
    }
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        parts = build(Path(folder))
        program = parts.unlinked("bench/latency.c")
        for ranks in RANKS:
            rounds = []
            for turn in range(given.rounds):
                rounds.append({case: run(parts, program, ranks, case) for case in in_turn(turn)})
                print(f"{ranks} ranks: {turn + 1} of {given.rounds} rounds", file=sys.stderr)
            for call in rounds[0]["without"]:
                row: dict[str, Any] = {"ranks": ranks, "call": call}
                for case in CASES:
                    there = [one for one in rounds if case in one]
                    times = [one[case][call] / one["without"][call] for one in there]
                    row[f"{case}_us"] = record.spread([one[case][call] for one in there])
                    row[f"{case}_times"] = record.spread(times)
                results.append(row)
        past = {ranks: [added(parts, ranks) for _ in range(REPEATS)] for ranks in RANKS}
        recovered = {
            name: [recovery(parts, source, 1 + turn % 7) for turn in range(RECOVERIES)]
            for name, source in RECOVERED.items()
        }
        agreements = [
            {"ranks": ranks, "over": "star" if star else "tree"}
            | record.spread([agreement(parts, ranks, star=star) for _ in range(REPEATS)])
            for ranks in RANKS
            for star in (True, False)
        ]
        reloads: list[dict[str, Any]] = [
            {"MiB": size, "times": times}
            | {name: record.spread([one[name] for one in found]) for name in found[0]}
            for size, times in RELOADS.items()
            for found in [[reload(parts, size) for _ in range(times)]]
        ]
        fenced = record.spread([fencing(parts) for _ in range(RECOVERIES)])
    ratios = [
        {"ranks": ranks, "call": name} | record.spread([one[name] for one in found])
        for ranks, found in past.items()
        for name in found[0]
    ]
    recoveries = {
        f"recovery_ms_at_8_ranks_{name}": {
            part: record.spread([one[part] for one in found]) for part in found[0]
        }
        for name, found in recovered.items()
    }
    record.save(
        given.into,
        head
        | {
            "results": results,
            "ratios": ratios,
            "agreements": agreements,
            "recoveries": RECOVERIES,
            **recoveries,
            "reload_ms_at_4_ranks": reloads,
            "fencing_ms_at_4_ranks": fenced,
        },
    )
    print(f"{head['processor']}, {head['cores']} cores, commit {head['commit']}; median in us, times the job without of the same round (median)")  # fmt: skip
    print(f"{'ranks':>5} {'call':16}" + "".join(f"{case:>18}" for case in CASES))
    for row in results:
        text = f"{row['without_us']['median']:18.3f}"
        for case in list(CASES)[1:]:
            text += f"{row[f'{case}_us']['median']:11.3f}{row[f'{case}_times']['median']:7.3f}"
        print(f"{row['ranks']:5} {row['call']:16}{text}")
    for ranks in RANKS:
        of_ranks = [row for row in results if row["ranks"] == ranks]
        for case in list(CASES)[1:]:
            times = statistics.median(row[f"{case}_times"]["median"] for row in of_ranks)
            print(f"{ranks:5} all {len(of_ranks)} calls, {case:10} {times:6.3f} times")
    for row in ratios:
        print(
            f"{row['ranks']:5} {row['call']:18} {row['median']:8.4f} times ({row['min']:.4f}-{row['max']:.4f})"
        )
    for row in agreements:
        print(f"{row['ranks']:5} agreement over a {row['over']:10} {row['median']:6.2f} times ({row['min']:.2f}-{row['max']:.2f})")  # fmt: skip
    for row in reloads:
        cells = [f"{name} {row[name]['median']:.1f}" for name in ("detect", "brought", "repaired", "restored")]  # fmt: skip
        print(f"{row['MiB']:5} MiB at 4 ranks, ms after the death: {', '.join(cells)}")
    for name, of_parts in recoveries.items():
        for part, ms in of_parts.items():
            print(f"{name}, {part:10} {ms['median']:8.2f} ({ms['min']:.2f}-{ms['max']:.2f})")
    print(f"stopped at 4 ranks, until fenced {fenced['median']:8.0f} ms ({fenced['min']:.0f}-{fenced['max']:.0f})")  # fmt: skip


if __name__ == "__main__":
    main()
