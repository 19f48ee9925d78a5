"""Figures of Hori et al. 2016: closed forms, exact worst cases, and records that a small campaign agrees with.

`make papers-full` runs the campaigns of the records themselves.
"""

import csv
import math
import subprocess
import sys

import pytest

from command import ROOT
from runflat import spares
from runflat.spares.plan import SparesPlan

PAPER = ROOT / "papers" / "hori-2016"
CAMPAIGNS = sorted(path.stem for path in PAPER.glob("*.toml"))


def record(name: str) -> list[dict[str, str]]:
    with (PAPER / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def worst(failures: int, *, torus: bool) -> int:
    """The paper's formulas for 0D sliding on 2D(1,1), mended for one and two failures."""
    mesh = 0 if torus else 4 * (failures - 3)
    return max(5, 2 * failures + 1, mesh)


@pytest.mark.parametrize("failures", range(1, 10))
def test_nearest_spares_reach_the_formula_on_a_mesh(failures: int) -> None:
    job = spares.Job("20x20", "2D(1,1)")
    # The row, then the column, at the edge, every other node: the two panels of Figure 6.
    lines = [[(at, 0) for at in range(1, 19, 2)], [(at, 1) for at in range(0, 18, 2)]]
    if failures == 1:
        lines = [[(1, 1)]]
    found = [job.substitute("0D", line[:failures]).collision_max for line in lines]
    assert max(found) == worst(failures, torus=False)


@pytest.mark.parametrize("failures", [2, 3, 4])
def test_nearest_spares_reach_the_formula_on_a_torus(failures: int) -> None:
    job = spares.Job("20x20", "2D(1,1)", torus=True)
    found = []
    for first in range(20):
        line = [(at, 0) for at in range(first, 20, 2)][:failures]
        if len(line) == failures:
            found.append(
                job.substitute("0D", [node for node in line if node[0] < 19]).collision_max
            )
    assert max(found) == worst(failures, torus=True)


def test_what_needs_no_drawing_is_as_recorded() -> None:
    command = [sys.executable, str(PAPER / "exact.py"), "--failures", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_worst_sequences_show_what_is_recorded() -> None:
    rows = [row for row in record("figure8") if row["sequence"]]
    assert len(rows) >= 18
    for row in rows:
        job = spares.Job("10x10", row["allocation"], torus=row["network"] == "torus")
        nodes = [int(word) for word in row["sequence"].split()]
        found = job.substitute(row["policy"], nodes, choices=spares.Choices(pick="fixed"))
        assert found.outcome == "substituted"
        assert found.collision_max == int(row["worst"])


def test_proved_worst_cases_are_as_recorded() -> None:
    command = [sys.executable, str(PAPER / "worst.py"), "--failures", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_proved_worst_cases_show_what_is_recorded_and_agree_with_all_sequences() -> None:
    rows = record("worst")
    for row in rows:
        job = spares.Job(row["nodes"], row["allocation"], torus=row["network"] == "torus")
        nodes = [int(word) for word in row["sequence"].split()]
        assert len(nodes) == int(row["failures"])
        found = job.substitute(row["policy"], nodes, choices=spares.Choices(pick="fixed"))
        assert found.outcome == "substituted"
        assert found.collision_max == int(row["worst"]) <= int(row["bound"])
    keys = ("network", "allocation", "policy", "failures")
    proved = {tuple(r[key] for key in keys): r for r in rows if r["nodes"] == "10x10"}
    compared = [r for r in record("figure8") if tuple(r[key] for key in keys) in proved]
    assert len(compared) == 16
    for row in compared:
        one = proved[tuple(row[key] for key in keys)]
        assert row["worst"] == one["worst"] == one["bound"]


def test_two_failures_slide_without_a_collision_and_three_with_1d_always_recover() -> None:
    rows = {
        (r["network"], r["allocation"], r["policy"], int(r["failures"])): r
        for r in record("figure8")
    }
    flat = ("mesh", "2D(2,1)")
    assert [int(rows[*flat, "2D", failures]["worst"]) for failures in (1, 2)] == [1, 1]
    assert [int(rows[*flat, "1D", failures]["worst"]) for failures in (1, 2, 3, 4)] == [3, 4, 5, 6]
    assert [int(rows[*flat, "1D", failures]["no spare left"]) for failures in (1, 2, 3)] == [
        0,
        0,
        0,
    ]
    assert int(rows[*flat, "1D", 4]["no spare left"]) > 0


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_small_campaign_agrees_with_the_record(name: str) -> None:
    plan = SparesPlan.read(PAPER / f"{name}.toml")
    few = plan.model_copy(update={"failures": min(plan.failures, 40), "samples": 128, "seed": 7})
    campaign = few.campaign()
    tallies = campaign.run(range(few.samples))
    recorded = {(row["policy"], int(row["failures"])): row for row in record(name)}
    compared = 0
    rows = campaign.rows(tallies, few.samples)
    for number, row in enumerate(rows):
        known = recorded.get((row.policy, row.failures))
        if known is None:
            continue
        compared += 1
        assert row.average is not None
        assert row.worst is not None
        counts = tallies[number // few.failures].collisions[row.failures - 1].astype(float)
        squares = sum(n * (value - row.average) ** 2 for value, n in enumerate(counts))
        error = math.sqrt(squares) / few.samples
        assert abs(row.average - float(known["average"])) <= 5 * error + 0.05, row
        assert row.worst <= int(known["worst"]) + 2
    assert compared >= 10


def test_records_hold_the_samples_of_their_plans() -> None:
    for name in CAMPAIGNS:
        plan = SparesPlan.read(PAPER / f"{name}.toml")
        rows = record(name)
        assert all(
            int(row["sequences"]) == plan.samples
            for row in rows
            if float(row["unrecoverable"]) == 0
        )
        assert max(int(row["failures"]) for row in rows) == plan.failures


def test_claims_are_held_by_records() -> None:
    """The sentences of claims.md that give numbers of the records."""
    rows = {(row["policy"], int(row["failures"])): row for row in record("figure12")}
    hybrid = "hybrid(3D+2D+1D+0D)"
    assert all(rows[hybrid, failures]["3D"] == "1" for failures in (1, 2))
    assert all(rows[hybrid, failures]["average"] == "1" for failures in (1, 2))
    last = rows[hybrid, 1128]
    shares = [float(last[f"{degree}D so far"]) for degree in (0, 1, 2)]
    assert shares == pytest.approx([0.25, 0.715, 0.037], abs=0.01)
    assert float(last["unrecoverable"]) == 0
    # Figures 10 and 12 have as many sequences as the paper's.
    assert {row["sequences"] for row in rows.values()} == {"3686400"}
    assert {row["sequences"] for row in record("figure10")} == {"3340000"}
    worst = [int(rows[policy, 155]["worst"]) for policy in (hybrid, "0D")]
    assert worst[0] > worst[1]
    assert all(
        float(rows[hybrid, failures]["average"]) < float(rows["0D", failures]["average"])
        for _, failures in rows
    )
    found = {(r["policy"], int(r["failures"])): r for r in record("optimal-10")}
    means = {own: float(row["average"]) for own, row in found.items()}
    slid = ("hybrid(2D+1D+0D)", "hybrid(1D+0D)", "0D")
    for failures in {failures for _, failures in means}:
        best = min(means[policy, failures] for policy in slid)
        assert means["optimal(trials=2000)", failures] <= means["optimal", failures] <= best
    bound = {(r["policy"], int(r["failures"])): r for r in record("bound")}
    assert float(bound["optimal", 3]["share at the bound"]) > 0.98
    assert float(bound["hybrid(all)", 8]["mean bound"]) > means["hybrid(2D+1D+0D)", 8] / 2
    found = {(r["policy"], int(r["failures"])): r for r in record("optimal-24")}
    means = {own: float(row["average"]) for own, row in found.items()}
    for failures in {failures for _, failures in means}:
        best = min(means[own] for own in means if own[1] == failures and "optimal" not in own[0])
        assert means["optimal(trials=20)", failures] <= best
    for failures in (500, 600, 700, 740):
        search, slid = means["optimal(trials=20)", failures], means[hybrid, failures]
        assert search < 0.75 * slid
    shared = {(r["policy"], int(r["failures"])): r for r in record("boundary")}
    assert all(float(shared["0D", failures]["share disturbed"]) == 0 for failures in range(1, 5))
    assert float(shared["0D", 10]["share disturbed"]) > 0.3
    text = (PAPER / "claims.md").read_text(encoding="utf-8")
    assert all(f"{name}.toml" in text for name in CAMPAIGNS)
    tofu, mesh = (
        {r["policy"]: r for r in record(name) if r["failures"] == "100"}
        for name in ("figure16", "figure11")
    )
    assert all(
        float(tofu[policy]["average"]) < float(row["average"]) for policy, row in mesh.items()
    )
    tree = {r["failures"]: r for r in record("fat-tree") if r["policy"] == hybrid}
    assert float(tree["20"]["average"]) <= 1.2 * 6 < float(tree["91"]["average"])


def test_collectives_are_as_recorded() -> None:
    done = subprocess.run(
        [sys.executable, str(PAPER / "collectives.py")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = record("collectives")
    assert all(0.9 < float(row[failures]) < 1.25 for row in rows for failures in ("1", "10", "60"))
