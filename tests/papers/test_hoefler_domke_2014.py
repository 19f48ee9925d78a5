"""Table II of Domke, Hoefler, Matsuoka, SC14: every cell by proof, every proof by a second walk, every refusal by a second look.

Records and refusals are tested with all patterns of failures. Second walks take `RUNFLAT_SAMPLES` patterns a level (1 without;
`make papers-full` takes all 10).
"""

import csv
import fnmatch
import importlib.util
import os
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from command import ROOT
from runflat import Refusal
from runflat.study.plan import read_plan
from runflat.study.scenario import Scenario, ScenarioSet
from second_refusal import flaws, is_joined_up_and_down
from second_walk import judge

PAPER = ROOT / "papers" / "hoefler-domke-2014"
PLANS = {"plan.toml": "expected.csv", "failed-links.toml": "failed-links.csv", "failed-switches.toml": "failed-switches.csv"}  # fmt: skip
SAMPLES = int(os.environ.get("RUNFLAT_SAMPLES", "1"))


@pytest.fixture(scope="module")
def table() -> ModuleType:
    spec = importlib.util.spec_from_file_location("table2", PAPER / "table2" / "table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def intact() -> ScenarioSet:
    return ScenarioSet(read_plan(PAPER / "table2" / "plan.toml"))


def test_every_cell_of_table_2_is_as_recorded(table: ModuleType, intact: ScenarioSet) -> None:
    expected = table.recorded("expected.csv")
    for scenario in intact.scenarios:
        (row,) = intact.run(scenario.index)
        cell = table.cell(row["engine"], [row])
        assert cell == expected[row["machine"]][row["engine"]], (row["machine"], row["engine"])


def test_cells_that_differ_from_the_paper_are_explained(table: ModuleType) -> None:
    paper, expected = table.recorded("paper.csv"), table.recorded("expected.csv")
    assert (len(paper), {len(row) for row in paper.values()}) == (11, {8})
    claims = (PAPER / "claims.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"^- \*\*(.+?), (.+?)\*\*: .* against .*", claims, re.MULTILINE))
    assert set(table.differing(expected, paper)) == explained


def test_the_tables_of_the_claims_are_the_records(table: ModuleType) -> None:
    """Cell by cell; what the paper has stands behind a cell that differs."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for line in re.findall(r"^\| (.+) \|$", sections("Table II"), re.MULTILINE):
        first, *cells = line.split(" | ")
        if cells[-1] == "LASH":
            engines, rows = cells, found.setdefault(first, {})
        elif first != "---":
            bare = (cell.partition(" (paper")[0] for cell in cells)
            rows[first] = dict(zip(engines, bare, strict=True))
    titles = ["topology", "failed links", "failed switches"]
    assert found == {
        t: table.recorded(name) for t, name in zip(titles, PLANS.values(), strict=True)
    }


def sections(title: str) -> str:
    """Return the sections of the claims whose headings begin with a title."""
    claims = (PAPER / "claims.md").read_text(encoding="utf-8")
    return "".join(part for part in claims.split("\n## ") if part.startswith(title))


@pytest.mark.parametrize(
    ("head", "record"),
    [
        ("16-ary 2-tree, 256", "1-balanced-tree.csv"),
        ("the same with 270", "2-unbalanced-tree.csv"),
        ("3-D mesh", "3-mesh.csv"),
    ],
)
def test_the_throughputs_of_the_claims_are_the_records(head: str, record: str) -> None:
    _, rest = sections("Results 1").split(f"| {head}", 1)
    lines = rest.split("\n\n")[0].splitlines()[2:]
    with (PAPER / "results" / record).open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    recorded = {
        row[1].partition(",")[0]: [whole_number(cell) for cell in row[2:-3]] for row in rows
    }
    claimed = {}
    for line in lines:
        names, *cells = line.strip("| ").split(" | ")
        claimed |= dict.fromkeys(names.split(", "), cells)
    assert claimed == recorded


def test_the_larger_networks_of_the_claims_are_the_record() -> None:
    lines = re.findall(r"^\| (.+): (.+) \| (.+) \| (.+) \|$", sections("Result 5"), re.MULTILINE)
    claimed = {tuple(cell.replace(",", "") for cell in line) for line in lines[1:]}
    with (PAPER / "results" / "5-larger.csv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    recorded = {
        (row[0], row[1].partition(",")[0], *(whole_number(cell) for cell in row[2:4]))
        for row in rows
        if "refused" not in row[2]
    }
    assert claimed == recorded
    assert len(claimed) == 12


def whole_number(cell: str) -> str:
    """Write a cell of a record as the claims have it: `183.5; 2 saturated` is `184; 2 saturated`."""
    mean, *others = cell.split("; ")
    known = re.fullmatch(r"[\d.]+", mean)
    return "; ".join([f"{round(float(mean))}" if known else mean, *others])


def test_cells_with_a_proved_cycle_deadlock_and_no_others(table: ModuleType) -> None:
    expected = [cell for row in table.recorded("expected.csv").values() for cell in row.values()]
    with (PAPER / "table2" / "simulated.csv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    assert len(rows) == len(expected) == 11 * 8
    names = {"d": "deadlock", "r": "refused"}
    for row, cell in zip(rows, expected, strict=True):
        found = row[2].removeprefix("1 ")
        assert found == names.get(cell[0], found), row[:2]
        assert (found == "deadlock") == (cell[0] == "d"), row[:2]


@pytest.mark.parametrize(
    ("title", "records"),
    [
        ("TSUBAME2.0: routing", ["case-1-tsubame2.csv", "case-1-tsubame2-exchange.csv"]),
        ("Deimos: routing", ["case-2-deimos.csv", "case-2-deimos-exchange.csv"]),
    ],
)
def test_the_regressions_of_the_claims_are_the_records(title: str, records: list[str]) -> None:
    lines = sections("Cases").split(f"| {title}")[1].split("\n\n")[0].splitlines()[2:]
    claimed = {
        line.strip("| ").split(" | ")[0]: line.strip("| ").split(" | ")[2:] for line in lines
    }
    for at, record in enumerate(records):
        with (PAPER / "results" / record).open(encoding="utf-8", newline="") as file:
            _, *rows = csv.reader(file)
        for row in rows:
            cell = claimed[row[1].partition(",")[0]][at]
            if row[-1]:
                intercept, slope, r2 = (float(text) for text in row[-3:])
                assert cell == f"{intercept:,.0f}; {slope:.2f}; {r2:.2f}", (record, row[1])
            else:
                assert cell in ("deadlock", "no end in 0.1 s"), (record, row[1])


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", PLANS)
def test_every_verdict_is_confirmed_by_a_second_walk(name: str) -> None:
    study = ScenarioSet(read_plan(PAPER / "table2" / name))
    walked = 0
    for scenario in study.scenarios:
        if scenario.sample >= SAMPLES:
            continue
        machine = study.broken(scenario, scenario.sample)
        routing = study.route(scenario, machine)
        if isinstance(routing, Refusal):
            continue  # the next test's
        check = routing.check()
        where = study.machine_name(scenario.machine), routing.engine, scenario.level
        verdict, lost = judge(machine, routing)
        assert (check.verdict, check.unreachable_pairs) == (verdict, lost), where
        walked += 1
    assert walked > len(study.scenarios) * min(SAMPLES, 10) / 25


def roots_of(study: ScenarioSet, scenario: Scenario) -> list[int]:
    names = study.intact(scenario.machine).switches().column("name")
    patterns = study.plan.machine[scenario.machine].roots
    return [at for at, name in enumerate(names) if any(fnmatch.fnmatch(name, p) for p in patterns)]


REFUSING = ["ftree", "torus-2QoS", "updn"]
"""Engines that refuse something in these plans; that no other does is asserted."""


@pytest.mark.parametrize("name", PLANS)
def test_every_refusal_is_confirmed_by_a_second_look(table: ModuleType, name: str) -> None:
    """All patterns; both ways: what has a flaw is refused for one of its flaws, what has none is routed."""
    study = ScenarioSet(read_plan(PAPER / "table2" / name))
    engines = [engine.engine for engine in study.plan.recovery.engines]
    confirmed: Counter[str] = Counter()
    for scenario in study.scenarios:
        engine = engines[scenario.engine]
        if engine not in REFUSING:
            continue
        machine = study.broken(scenario, scenario.sample)
        answer = study.route(scenario, machine)
        found = flaws(machine, engine, roots_of(study, scenario))
        where = study.machine_name(scenario.machine), engine, scenario.level, scenario.sample
        assert isinstance(answer, Refusal) == bool(found), (where, answer, found)
        if isinstance(answer, Refusal):
            assert any(flaw in answer.reason for flaw in found), (where, answer, found)
        elif not answer.check().left_out_pairs:
            continue
        confirmed[engine] += 1
    # With the incomplete tables, which a second walk confirms, these are all that the record has: MinHop, DOR, SSSP,
    # DFSSSP and LASH never refuse here, so no refusal is left without a second look.
    recorded = table.recorded(PLANS[name]).values()
    for engine, title in ((e.engine, e.title) for e in study.plan.recovery.engines):
        assert confirmed[engine] == sum(refused_in(cells[title]) for cells in recorded), engine


def refused_in(cell: str) -> int:
    return sum(int(count or "1") for count in re.findall(r"(\d*)r", cell))


@pytest.mark.parametrize("name", ["failed-links.toml", "failed-switches.toml"])
def test_updn_leaves_deimos_where_no_way_goes_up_and_then_down(name: str) -> None:
    """In its own mode it refuses exactly these patterns, where OpenSM's tables lose pairs without a word."""
    study = ScenarioSet(read_plan(PAPER / "table2" / name))
    outcomes: Counter[bool] = Counter()
    for scenario in study.scenarios:
        engine = study.plan.recovery.engines[scenario.engine].engine
        if (study.machine_name(scenario.machine), engine) != ("Deimos", "updn"):
            continue
        machine = study.broken(scenario, scenario.sample)
        roots = roots_of(study, scenario)
        names = machine.switches().column("name")
        ours = machine.route("updn", roots=[names[root] for root in roots])
        joined = is_joined_up_and_down(machine, roots)
        assert isinstance(ours, Refusal) != joined
        theirs = study.route(scenario, machine)
        assert not isinstance(theirs, Refusal)
        assert joined or theirs.check().left_out_pairs > 0
        outcomes[joined] += 1
    assert min(outcomes[True], outcomes[False]) > 0


@pytest.mark.parametrize("name", ["failed-links.toml", "failed-switches.toml"])
def test_failures_are_counted_as_recorded(table: ModuleType, name: str) -> None:
    """All patterns of all topologies, as `make papers` does."""
    study = ScenarioSet(read_plan(PAPER / "table2" / name))
    expected = table.recorded(PLANS[name])
    found: dict[tuple[str, str], dict[str, list[dict[str, object]]]] = {}
    for scenario in study.scenarios:
        (row,) = study.run(scenario.index)
        levels = found.setdefault((row["machine"], row["engine"]), {})
        levels.setdefault(row["level"], []).append(row)
    assert {topology for topology, _ in found} == set(expected)
    for (topology, engine), levels in found.items():
        cell = " / ".join(table.cell(engine, rows) for rows in levels.values())
        assert cell == expected[topology][engine], (topology, engine)


def test_the_plans_name_their_guesses() -> None:
    for name in PLANS:
        assert "GUESS" in Path(PAPER / "table2" / name).read_text(encoding="utf-8")
