"""Figures of Bouteiller and Bosilca 2022: what claims.md says of the records holds in them.

`papers/bouteiller-2022/figures.py` measures anew; times are not the same twice, so nothing here runs it.
"""

import csv
import importlib.util
import json
import statistics
from collections.abc import Callable

import pytest
from mpi_tables import faultless

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


def times(figure: int, ranks: int, case: str) -> dict[tuple[str, int], float]:
    """Give by call and size how long a case takes over the first one of the same round, in the median."""
    return {
        (row["call"], int(row["bytes"])): float(row["times"])
        for row in rows(figure)
        if int(row["ranks"]) == ranks and row["case"] == case
    }


@pytest.mark.parametrize(
    ("ranks", "local", "group", "above", "largest"), [(2, 0.993, 1.005, 1, 1.12), (8, 1.015, 1.017, 2, 1.12)]
)  # fmt: skip
def test_a_range_costs_collective_calls_nothing(
    ranks: int, local: float, group: float, above: int, largest: float
) -> None:
    def collective(case: str) -> list[float]:
        return [one for (call, _), one in times(5, ranks, case).items() if call != "ping_pong"]

    cost = collective("group")
    assert len(cost) == 25
    assert statistics.median(collective("local")) == pytest.approx(local, abs=0.001)
    assert statistics.median(cost) == pytest.approx(group, abs=0.001)
    assert sum(one > 1.05 for one in cost) == above
    assert round(max(cost), 2) == largest


def test_a_range_costs_messages_between_two_a_few_percent() -> None:
    sizes = (8, 64, 512, 4096, 32768, 262144)
    between = [times(5, 2, "group")["ping_pong", size] for size in sizes]
    assert [round(one, 2) for one in (between[0], max(between))] == [1.02, 1.06]
    among_eight = [times(5, 8, "group")["ping_pong", size] for size in sizes]
    assert [round(one, 2) for one in (min(among_eight), max(among_eight))] == [0.97, 1.03]


@pytest.mark.parametrize(("ranks", "small"), [(2, 1.99), (8, 1.92)])
def test_uniform_calls_cost_small_messages_most(ranks: int, small: float) -> None:
    cost = times(6, ranks, "uniform")
    # One-to-many and many-to-one calls are where a barrier shows most.
    assert cost["bcast", 8] > 3 * cost["allreduce", 8]
    assert cost["bcast", 8] > cost["bcast", 4096] > cost["bcast", 262144]
    assert cost["bcast", 262144] < 1.1
    assert round(cost["allreduce", 8], 2) == small
    assert max(cost["allreduce", 8], cost["allreduce", 64]) < 2


def test_the_record_of_the_bench_has_what_is_cited_of_it() -> None:
    bench = json.loads((ROOT / "bench" / "mpi.json").read_text(encoding="ascii"))
    said = (ROOT / "bench" / "README.md").read_text(encoding="utf-8")
    assert f"| record of the sources {bench['library']} |" in said, (
        "the library is that of the soak"
    )
    for line in faultless(bench):
        assert f"{line}\n" in said
    in_one = [row["median"] for row in bench["ratios"] if row["call"] == "allreduce_uniform"]
    assert [round(ratio, 2) for ratio in in_one] == [1.87, 1.88, 1.97]

    def times(case: str, call: str = "") -> list[float]:
        """Give medians over all calls, at 2, 4 and 8 ranks."""
        by_ranks: dict[int, list[float]] = {}
        for row in bench["results"]:
            if call in (row["call"], ""):
                by_ranks.setdefault(row["ranks"], []).append(row[f"{case}_times"]["median"])
        return [statistics.median(found) for found in by_ranks.values()]

    assert [round(one, 3) for one in times("local")] == [1.003, 1.003, 0.997]
    assert [round(one, 3) for one in times("again")] == [0.997, 1.0, 1.002]
    assert [round(one, 2) for one in times("group")] == [1.0, 1.02, 0.99]
    assert [round(one, 2) for one in times("uniform", "allreduce_8")] == [1.72, 2.13, 2.07]
    agreed = {(row["ranks"], row["over"]): row["median"] for row in bench["agreements"]}
    assert [round(agreed[ranks, "star"], 1) for ranks in (2, 4, 8)] == [4.3, 2.5, 1.9]
    assert [round(agreed[ranks, "tree"], 1) for ranks in (4, 8)] == [2.4, 2.4]
    for how, ms in (("asleep", 11), ("awake", 10)):
        assert round(bench[f"recovery_ms_at_8_ranks_{how}"]["all"]["median"]) == ms
    assert round(bench["fencing_ms_at_4_ranks"]["median"], -1) == 1000


def test_shrinks_overlap() -> None:
    median = record(7, "median")
    counts = (1, 2, 4, 8, 16)
    for way in ("blocking", "nonblocking"):
        cost = [median(communicators=count, shrink=way, time="first_ms") for count in counts]
        assert cost == sorted(cost, reverse=True)
        assert cost[-1] < cost[0] / 4
        assert 10 < cost[0] < 12
    for count in counts[1:]:
        again = {"communicators": count, "time": "again_ms"}
        assert median(**again, shrink="nonblocking") < 0.75 * median(**again, shrink="blocking")
    best = record(7)
    posts = [best(communicators=count, shrink="nonblocking", time="post_ms") for count in counts]
    assert 0.06 < min(posts) < max(posts) < 0.17


def test_reloads_hide_behind_shrinks() -> None:
    best, median, worst = record(8), record(8, "median"), record(8, "worst")
    for size in (1 << 24, 1 << 27):
        assert worst(bytes=size, reload="overlapped") < best(bytes=size, reload="serial")
    # The reload of 16 MiB is hidden whole.
    one_byte = median(bytes=1, reload="overlapped")
    assert round(median(bytes=1 << 24, reload="overlapped") - one_byte, 1) == 0
    assert median(bytes=1 << 24, reload="alone") > 2
    assert median(bytes=1 << 27, reload="overlapped") < 1.15 * median(bytes=1 << 27, reload="alone")
    # A reload takes as long as a shrink between 1 and 4 MiB.
    shrink = record(7, "median")(communicators=1, shrink="blocking", time="again_ms")
    assert abs(median(bytes=1 << 20, reload="alone") - shrink) < 0.02
    assert median(bytes=1 << 22, reload="alone") > 2 * shrink


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
    median = record(7, "median")
    uniform = drawn["legend2", "bcast, 8 ranks"]
    over = times(6, 8, "uniform")
    assert dict(zip(uniform.x, uniform.y, strict=True)) == {
        size: one for (call, size), one in over.items() if call == "bcast"
    }
    shrinks = drawn["legend3", "nonblocking, from the death"]
    assert list(shrinks.x) == [1, 2, 4, 8, 16]
    for count, ms in zip(shrinks.x, shrinks.y, strict=True):
        of = {"communicators": int(count), "shrink": "nonblocking", "time": "first_ms"}
        assert ms == median(**of)
