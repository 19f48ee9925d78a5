"""The records of the MPI library as tables in Markdown, and what else README.md and claims.md say of them.

python bench/mpi_tables.py
"""

from __future__ import annotations

import csv
import json
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

BENCH = Path(__file__).parent
PAPER = BENCH.parent / "papers" / "bouteiller-2022"
RANKS = (2, 4, 8)
SMALL = ("barrier", "bcast", "reduce", "allreduce", "alltoall")
WHO = ("one", "several", "half", "rank0", "node", "daemon")
COST, TWICE, RECOVERED_MS, FENCED_MS = 1.02, 2, 100, 1500
"""Goals: times that without, times an all-reduce that is not uniform, and milliseconds."""

Record = dict[str, Any]


def judged(goal: float, values: Iterable[float]) -> str:
    """Say whether values, as they are printed, are within a goal."""
    above = [value for value in values if value > goal]
    return "met" if not above else f"missed by {100 * (max(above) / goal - 1):.0f} %"


def row(*cells: object) -> str:
    return "|" + "|".join(f" {cell} " if cell != "" else " " for cell in cells) + "|"


def faultless(record: Record) -> list[str]:
    """Give the table of what the library costs while nobody fails, and how long a recovery takes."""
    results: list[Record] = record["results"]
    ratios = {(one["call"], one["ranks"]): one["median"] for one in record["ratios"]}

    def whole(case: str, ranks: int) -> list[float]:
        return [one[f"{case}_times"]["median"] for one in results if one["ranks"] == ranks]

    def of_call(call: str, ranks: int) -> Record:
        return next(one for one in results if (one["ranks"], one["call"]) == (ranks, call))

    def by_ranks(
        name: str, goal: float | str, value: Callable[[int], float], digits: int = 2
    ) -> str:
        values = [round(value(ranks), digits) for ranks in RANKS]
        verdict = judged(goal, values) if isinstance(goal, (int, float)) else ""
        return row(name, goal, *(f"{one:.{digits}f}" for one in values), verdict)

    def single(ranks: int) -> str:
        found = whole("local", ranks)
        return f"{min(found):.2f} to {max(found):.2f}, {sum(one > COST for one in found)} above"

    def added(ranks: int) -> list[float]:
        return [ratios[f"{call}_added", ranks] for call in SMALL]

    missed = sum(one > COST for ranks in RANKS for one in whole("local", ranks))
    of = f"missed by {missed} of {len(results)}" if missed else "met"
    agreed = {one["ranks"]: one["median"] for one in record["agreements"] if one["over"] == "star"}
    asleep, awake = (record[f"recovery_ms_at_8_ranks_{how}"]["all"] for how in ("asleep", "awake"))
    fenced = record["fencing_ms_at_4_ranks"]
    return [
        row("while nobody fails, times that without", "goal", *(f"{n} ranks" for n in RANKS), ""),
        row(*6 * ["---"]),
        by_ranks("whole jobs, the median of 26 calls of 8 bytes to 32 KiB", COST, lambda n: statistics.median(whole("local", n)), 3),
        by_ranks("the same of a second job without the library", "", lambda n: statistics.median(whole("again", n)), 3),
        row("single calls, whole jobs", COST, *map(single, RANKS), of),
        by_ranks("ping-pong, 8 bytes, in one process", COST, lambda n: ratios["ping_pong_added", n], 3),
        row("barrier, broadcast, reduce, all-reduce, all-to-all, 8 bytes, in one process", COST,
            *(f"{min(added(n)):.3f} to {max(added(n)):.3f}" for n in RANKS), judged(COST, (one for n in RANKS for one in added(n)))),
        by_ranks("all-reduce, uniform, 8 bytes, in one process", TWICE, lambda n: ratios["allreduce_uniform", n]),
        by_ranks("the same, whole jobs", TWICE, lambda n: of_call("allreduce_8", n)["uniform_times"]["median"]),
        by_ranks("all-to-all, uniform, in one process", "", lambda n: ratios["alltoall_uniform", n]),
        by_ranks("barrier, uniform, in one process", "", lambda n: ratios["barrier_uniform", n]),
        by_ranks("uniform broadcast over an all-reduce that is not, whole jobs", TWICE,
                 lambda n: of_call("bcast_8", n)["uniform_us"]["median"] / of_call("allreduce_8", n)["local_us"]["median"], 1),
        by_ranks("all-reduce and an agreement (the paper's way), in one job", "", lambda n: agreed[n], 1),
        row("from a kill until the last rank's `RF_Restore`, which is collective, ms; ranks sleep between calls", RECOVERED_MS, "", "",
            f"{asleep['median']:.1f} ({asleep['min']:.0f}-{asleep['max']:.0f})", judged(RECOVERED_MS, [asleep["median"]])),
        row("the same, ranks wait in calls", RECOVERED_MS, "", "",
            f"{awake['median']:.1f} ({awake['min']:.0f}-{awake['max']:.0f})", judged(RECOVERED_MS, [awake["median"]])),
        row("from a SIGSTOP until the process is fenced, ms", f"{FENCED_MS:,}", "",
            f"{fenced['median']:,.0f} ({fenced['min']:,.0f}-{fenced['max']:,.0f})", "", judged(FENCED_MS, [fenced["max"]])),
    ]  # fmt: skip


def soaked(lines: Sequence[Record]) -> list[str]:
    """Give the tables of the kill matrix: in all, and by who dies."""
    counts: dict[tuple[int, str], Counter[str]] = {}
    for line in lines:
        if "who" in line:
            for who in ("", line["who"]):
                counts.setdefault((line["ranks"], who), Counter()).update(
                    {name: line[name] for name in ("jobs", "recovered", "with_data", "began_again")}
                )
    ranks = sorted({ranks for ranks, _ in counts})
    said = [f"sources {', '.join(sorted({line['library'] for line in lines}))}"]
    for count in ranks:
        of = counts[count, ""]
        said.append(row(f"{count} ranks", f"{of['recovered']:,} of {of['jobs']:,}", f"{of['began_again']:,}", f"{of['with_data']:,}"))  # fmt: skip
    said += [
        f"{line['soak']}: {line['good']} of {line['jobs']} jobs" for line in lines if "soak" in line
    ]
    for count in ranks:
        each = [counts.get((count, who), Counter()) for who in WHO]
        said.append(row(f"{count} ranks", *(f"{of['with_data']}, {of['began_again']}" for of in each)))  # fmt: skip
    return said


def beside(record: Record) -> list[str]:
    """Give what the text around the table says."""
    said = [
        f"library {record['library']}, load {record['load_average_before']:.1f} before, {record['rounds']} and {record['rounds_with_modes']} rounds"
    ]
    for ranks in RANKS:
        results = [one for one in record["results"] if one["ranks"] == ranks]
        worst = statistics.median(
            one["without_us"]["max"] / one["without_us"]["min"] for one in results
        )
        said.append(f"{ranks} ranks: the worst round {worst:.2f} times the best")
        for case in ("local", "again"):
            above = {one["call"]: round(one[f"{case}_times"]["median"], 3) for one in results}
            said.append(
                f"  {case} above: { {call: times for call, times in above.items() if times > COST} }"
            )
        for case in ("group", "watched", "uniform"):
            found = [one[f"{case}_times"]["median"] for one in results]
            said.append(f"  {case}: {statistics.median(found):.3f}, at most {max(found):.2f} times")
    said += [
        f"{one['call']}, {one['ranks']} ranks: {one['median']:.2f}"
        for one in record["ratios"]
        if one["call"] in {"bcast_uniform", "reduce_uniform"}
    ]
    said += [
        f"agreements over the {one['over']}, {one['ranks']} ranks: {one['median']:.2f}"
        for one in record["agreements"]
    ]
    for how in ("asleep", "awake"):
        parts = record[f"recovery_ms_at_8_ranks_{how}"]
        medians = ", ".join(f"{name} {of['median']:.1f}" for name, of in parts.items())
        said.append(f"ranks {how}, ms: {medians}")
    for one in record["reload_ms_at_4_ranks"]:
        medians = ", ".join(
            f"{name} {one[name]['median']:.1f}" for name in ("brought", "repaired", "restored")
        )
        said.append(f"{one['MiB']} MiB a rank, ms: {medians}")
    return said


def figures() -> list[str]:
    """Give what claims.md says of the records of the paper's figures."""
    said = []
    for figure, cases in ((5, ("local", "group")), (6, ("uniform",))):
        with (PAPER / f"figure{figure}.csv").open(encoding="utf-8") as file:
            read = list(csv.DictReader(file))
        for ranks in ("2", "8"):
            for case in cases:
                own = [one for one in read if (one["ranks"], one["case"]) == (ranks, case)]
                calls = {(one["call"], one["bytes"]): float(one["times"]) for one in own}
                for call in dict.fromkeys(name for name, _ in calls):
                    sizes = {size: times for (name, size), times in calls.items() if name == call}
                    said.append(f"figure {figure}, {ranks} ranks, {case}, {call}: {sizes}")
                collective = [times for (name, _), times in calls.items() if name != "ping_pong"]
                above = sum(times > 1.05 for times in collective)
                said.append(f"  {len(collective)} calls: {statistics.median(collective):.3f}, {above} above 1.05, {max(collective):.2f}")  # fmt: skip
    return said


def main() -> None:
    """Print all."""
    record = json.loads((BENCH / "mpi.json").read_text(encoding="ascii"))
    soak = (BENCH / "mpi_soak.jsonl").read_text(encoding="ascii").splitlines()
    parts = (
        faultless(record),
        beside(record),
        soaked([json.loads(line) for line in soak]),
        figures(),
    )
    print("\n\n".join("\n".join(part) for part in parts))


if __name__ == "__main__":
    main()
