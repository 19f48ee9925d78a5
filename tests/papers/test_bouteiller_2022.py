"""Figures of Bouteiller and Bosilca 2022: what claims.md says of the records holds in them.

`papers/bouteiller-2022/figures.py` measures anew; times are not the same twice, so nothing here runs it.
"""

import csv
import importlib.util
import json
import statistics
from collections.abc import Callable

import pytest

from command import ROOT

PAPER = ROOT / "papers" / "bouteiller-2022"

Best = Callable[..., float]


def rows(figure: int) -> list[dict[str, str]]:
    """Read the record of a figure."""
    with (PAPER / f"figure{figure}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def record(figure: int, of: str = "best") -> Best:
    """Give the best (or median, or worst) time of the one row with these fields."""
    read = rows(figure)

    def best(**fields: object) -> float:
        found = [row for row in read if all(row[key] == str(one) for key, one in fields.items())]
        assert len(found) == 1, fields
        return float(found[0][of])

    return best


def slower(ranks: int, *, point_to_point: bool = False) -> dict[tuple[str, int], float]:
    """Give by call and size how much slower a call is with the range `group`, in percent of the best without."""
    times: dict[tuple[str, int], dict[str, float]] = {}
    for row in rows(5):
        if int(row["ranks"]) == ranks and (row["call"] == "ping_pong") == point_to_point:
            of = row["call"], int(row["bytes"])
            times.setdefault(of, {})[row["case"]] = float(row["best"])
    return {of: 100 * (time["group"] / time["off"] - 1) for of, time in times.items()}


def spreads(ranks: int, case: str) -> dict[tuple[str, int], float]:
    """Give by call and size how much longer the worst round of a case took than its best, in percent."""
    return {
        (row["call"], int(row["bytes"])): 100 * (float(row["worst"]) / float(row["best"]) - 1)
        for row in rows(5)
        if int(row["ranks"]) == ranks and row["case"] == case
    }


def test_a_range_costs_less_than_rounds_differ_by() -> None:
    slower_calls, largest, spread = {2: 4, 8: 7}, {2: 18, 8: 13}, {2: 67, 8: 80}
    for ranks in (2, 8):
        cost = slower(ranks)
        assert len(cost) == 25
        assert sum(percent > 0 for percent in cost.values()) == slower_calls[ranks]
        assert round(max(cost.values())) == largest[ranks]
        without = spreads(ranks, "off")
        assert round(statistics.median(without[of] for of in cost)) == spread[ranks]
    assert round(min(slower(8).values())) == -13
    assert round(max(spreads(2, "off").values())) == 371


def test_a_range_costs_messages_between_two_a_few_percent() -> None:
    between = {size: percent for (_, size), percent in slower(2, point_to_point=True).items()}
    assert [round(between[size]) for size in (8, 64)] == [4, 7]
    assert max(between[size] for size in (512, 4096, 32768, 262144)) < 0
    assert round(max(slower(8, point_to_point=True).values())) == 4


@pytest.mark.parametrize("ranks", [2, 8])
def test_uniform_calls_cost_small_messages_most(ranks: int) -> None:
    best = record(6)

    def ratio(call: str, size: int) -> float:
        of = {"ranks": ranks, "call": call, "bytes": size}
        return best(**of, case="uniform") / best(**of, case="local")

    # One-to-many and many-to-one calls are where a barrier shows most.
    assert ratio("bcast", 8) > ratio("allreduce", 8)
    assert ratio("bcast", 8) > ratio("bcast", 4096) > ratio("bcast", 262144)
    assert ratio("bcast", 262144) < 1.2


def test_the_record_of_the_bench_has_what_is_cited_of_it() -> None:
    bench = json.loads((ROOT / "bench" / "mpi.json").read_text(encoding="ascii"))
    uniform = [row["median"] for row in bench["ratios"] if row["call"] == "allreduce_uniform"]
    assert [round(ratio, 2) for ratio in uniform] == [1.83, 1.91, 1.98]
    agreed = {(row["ranks"], row["over"]): row["median"] for row in bench["agreements"]}
    assert [round(agreed[ranks, "star"], 1) for ranks in (2, 4, 8)] == [4.8, 2.5, 2.1]
    assert [round(agreed[ranks, "tree"], 1) for ranks in (4, 8)] == [2.3, 2.7]
    assert round(bench["recovery_ms_at_8_ranks"]["detect"]["median"], 1) == 4.4
    assert round(bench["recovery_ms_at_8_ranks"]["all"]["median"]) == 16
    assert round(bench["fencing_ms_at_4_ranks"]["median"], -1) == 1000


def test_shrinks_overlap() -> None:
    best = record(7)
    cost = [
        best(communicators=count, shrink="nonblocking", time="first_ms") for count in (1, 2, 4, 8)
    ]
    assert cost == sorted(cost, reverse=True)
    assert cost[-1] < cost[0] / 4
    one = {"communicators": 1, "time": "first_ms"}
    assert best(**one, shrink="nonblocking") < 1.3 * best(**one, shrink="blocking")
    sixteen = {"communicators": 16, "shrink": "nonblocking"}
    assert best(**sixteen, time="post_ms") < 0.5


def test_reloads_hide_behind_shrinks() -> None:
    best, worst = record(8), record(8, "worst")
    assert worst(bytes=1 << 27, reload="overlapped") < best(bytes=1 << 27, reload="alone")
    assert worst(bytes=1 << 27, reload="overlapped") < best(bytes=1 << 27, reload="serial")
    # A reload takes as long as a shrink (0.3 to 0.7 ms) between 1 and 4 MiB.
    assert best(bytes=1 << 20, reload="alone") < 0.5 < best(bytes=1 << 22, reload="alone")


def test_the_picture_shows_the_records() -> None:
    spec = importlib.util.spec_from_file_location("bouteiller_plot", PAPER / "plot.py")
    assert spec is not None
    assert spec.loader is not None
    plot = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plot)
    # The first is `legend1` to some releases of plotly, `legend` to others.
    drawn = {(line.legend.removesuffix("1"), line.name): line for line in plot.draw(PAPER).data}
    # Figures 5 and 6 have three calls at two sizes of job, 7 two ways twice, 8 three.
    assert [sum(of == f"legend{at}" for of, _ in drawn) for at in ("", 2, 3, 4)] == [6, 6, 4, 3]
    best, median = record(6), record(7, "median")
    uniform = drawn["legend2", "bcast, 8 ranks"]
    for size, times in zip(uniform.x, uniform.y, strict=True):
        of = {"ranks": 8, "call": "bcast", "bytes": int(size)}
        assert times == best(**of, case="uniform") / best(**of, case="local")
    shrinks = drawn["legend3", "nonblocking, from the death"]
    assert list(shrinks.x) == [1, 2, 4, 8, 16]
    for count, ms in zip(shrinks.x, shrinks.y, strict=True):
        of = {"communicators": int(count), "shrink": "nonblocking", "time": "first_ms"}
        assert ms == median(**of)
