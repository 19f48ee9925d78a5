"""Figures of Bouteiller and Bosilca 2022: what claims.md says of the records holds in them.

`papers/bouteiller-2022/figures.py` measures anew; times are not the same twice, so nothing here runs it.
"""

import csv
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


def record(figure: int) -> Best:
    """Give the best time of the one row with these fields."""
    read = rows(figure)

    def best(**fields: object) -> float:
        found = [row for row in read if all(row[key] == str(one) for key, one in fields.items())]
        assert len(found) == 1, fields
        return float(found[0]["best"])

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


def test_a_range_costs_two_ranks_nothing_that_three_rounds_show() -> None:
    cost, spread = slower(2), spreads(2, "off")
    assert len(cost) == 25
    assert all(percent < 3 for (_, size), percent in cost.items() if size >= 512)
    small = {of: round(percent) for of, percent in cost.items() if percent >= 3}
    assert small == {("bcast", 8): 14, ("bcast", 64): 17, ("allreduce", 8): 7}
    assert sorted(round(spread[of]) for of in small) == [32, 40, 48]
    assert max(slower(2, point_to_point=True).values()) < 6


def test_eight_ranks_on_two_cores_do_not_tell_what_a_range_costs() -> None:
    cost, spread = slower(8), spreads(8, "off")
    assert (round(min(cost.values())), round(max(cost.values()))) == (-5, 29)
    assert sum(percent > 0 for percent in cost.values()) == 20
    assert round(statistics.median(cost.values())) == 4
    assert [(*of, round(percent)) for of, percent in sorted(cost.items(), key=lambda one: -one[1])][:5] == [
        ("bcast", 64, 29), ("reduce", 64, 22), ("bcast", 4096, 19), ("reduce", 4096, 18), ("reduce", 512, 17),
    ]  # fmt: skip
    of_collectives = [spread[of] for of in cost]
    assert (round(statistics.median(of_collectives)), round(max(of_collectives))) == (26, 135)
    between = {
        size: round(percent) for (_, size), percent in slower(8, point_to_point=True).items()
    }
    assert between == {8: 12, 64: 4, 512: 14, 4096: 23, 32768: 19, 262144: 6}
    rounds = [round(spread["ping_pong", size]) for size in between]
    assert (min(rounds), max(rounds)) == (3, 39)
    assert round(spreads(8, "group")["ping_pong", 4096]) == 10


@pytest.mark.parametrize("ranks", [2, 8])
def test_uniform_calls_cost_small_messages_most(ranks: int) -> None:
    best = record(6)

    def ratio(call: str, size: int) -> float:
        of = {"ranks": ranks, "call": call, "bytes": size}
        return best(**of, case="uniform") / best(**of, case="local")

    assert ratio("allreduce", 8) < 2
    # One-to-many and many-to-one calls are where a barrier shows most.
    assert ratio("bcast", 8) > ratio("allreduce", 8)
    assert ratio("bcast", 8) > ratio("bcast", 4096) > ratio("bcast", 262144)
    assert ratio("bcast", 262144) < 1.1


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
    best = record(8)
    for size in (1 << 22, 1 << 24, 1 << 27):
        assert best(bytes=size, reload="overlapped") < best(bytes=size, reload="serial")
    # A reload takes as long as a shrink (0.3 to 0.8 ms) between 1 and 4 MiB.
    assert best(bytes=1 << 20, reload="alone") < 0.5 < best(bytes=1 << 22, reload="alone")
