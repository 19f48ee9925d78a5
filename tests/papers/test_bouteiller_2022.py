"""Figures of Bouteiller and Bosilca 2022: what claims.md says of the records holds in them.

`papers/bouteiller-2022/figures.py` measures anew; times are not the same twice, so nothing here runs it.
"""

import csv
from collections.abc import Callable

import pytest

from command import ROOT

PAPER = ROOT / "papers" / "bouteiller-2022"

Best = Callable[..., float]


def record(figure: int) -> Best:
    """Give the best time of the one row with these fields."""
    with (PAPER / f"figure{figure}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))

    def best(**fields: object) -> float:
        found = [row for row in rows if all(row[key] == str(one) for key, one in fields.items())]
        assert len(found) == 1, fields
        return float(found[0]["best"])

    return best


@pytest.mark.parametrize("call", ["bcast", "reduce", "allreduce", "alltoall"])
def test_a_range_costs_collective_calls_nothing(call: str) -> None:
    best = record(5)
    for size in (8, 512, 32768, 262144):
        of = {"call": call, "bytes": size}
        for ranks in (2, 8):
            assert best(ranks=ranks, **of, case="group") < 1.3 * best(ranks=ranks, **of, case="off")


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
