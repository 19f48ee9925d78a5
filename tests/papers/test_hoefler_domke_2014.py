"""Table II of Domke, Hoefler, Matsuoka, SC14: every cell by proof, and every proof by a second walk.

Failures: `RUNFLAT_SAMPLES` patterns a level (1 without; `make papers-full` takes all 10).
"""

import importlib.util
import os
import re
from pathlib import Path
from types import ModuleType

import pytest

from command import ROOT
from runflat import Refusal
from runflat.study.plan import read_plan
from runflat.study.scenario import ScenarioSet
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


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", PLANS)
def test_every_verdict_is_confirmed_by_a_second_walk(table: ModuleType, name: str) -> None:
    study = ScenarioSet(read_plan(PAPER / "table2" / name))
    walked = 0
    for scenario in study.scenarios:
        if scenario.sample >= SAMPLES:
            continue
        machine = study.broken(scenario, scenario.sample)
        routing = study.route(scenario, machine)
        if isinstance(routing, Refusal):
            continue
        check = routing.check()
        where = study.machine_name(scenario.machine), routing.engine, scenario.level
        verdict, lost = judge(machine, routing)
        assert (check.verdict, check.unreachable_pairs) == (verdict, lost), where
        walked += 1
    assert walked > len(study.scenarios) * min(SAMPLES, 10) / 25


def test_failures_are_counted_as_recorded(table: ModuleType) -> None:
    """A sample of the records: all patterns of the smaller topologies."""
    for name in ("failed-links.toml", "failed-switches.toml"):
        study = ScenarioSet(read_plan(PAPER / "table2" / name))
        expected = table.recorded(PLANS[name])
        found: dict[tuple[str, str], dict[str, list[dict[str, object]]]] = {}
        for scenario in study.scenarios:
            if study.machine_name(scenario.machine) not in ("2D torus", "k-ary n-tree", "Kautz"):
                continue
            (row,) = study.run(scenario.index)
            levels = found.setdefault((row["machine"], row["engine"]), {})
            levels.setdefault(row["level"], []).append(row)
        for (topology, engine), levels in found.items():
            cell = " / ".join(table.cell(engine, rows) for rows in levels.values())
            assert cell == expected[topology][engine], (name, topology, engine)


def test_the_plans_name_their_guesses() -> None:
    for name in PLANS:
        assert "GUESS" in Path(PAPER / "table2" / name).read_text(encoding="utf-8")
