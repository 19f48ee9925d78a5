"""Every example runs as it stands."""

import sys
from pathlib import Path

import pytest

from command import ROOT, finish, spawn

EXAMPLES = sorted((ROOT / "examples").iterdir())
PLANS = [path for path in EXAMPLES if path.suffix == ".toml"]
SCRIPTS = [path for path in EXAMPLES if path.suffix == ".py"]


def test_examples_are_plans_or_scripts_and_numbered() -> None:
    kinds = {path.suffix for path in EXAMPLES if path.is_file()}
    assert PLANS
    assert kinds <= {".toml", ".py", ".md"}
    assert all(path.name[0].isdigit() for path in [*PLANS, *SCRIPTS])


@pytest.mark.examples
@pytest.mark.timeout(300)
@pytest.mark.parametrize("example", [*PLANS, *SCRIPTS], ids=lambda path: path.name)
def test_an_example_runs_as_it_stands(example: Path, tmp_path: Path) -> None:
    if example.suffix == ".py":
        done = finish([sys.executable, str(example)], cwd=tmp_path, timeout=240)
        assert done.status == 0, done.err
        assert done.out
        return
    answer = spawn("study", "run", example, "-o", tmp_path / "out", "--json")
    assert answer.status == 0, answer.err
    assert answer.json["outcome"] == "done"
    assert all(machine["answer"] for machine in answer.json["machines"])
    assert (tmp_path / "out" / "report.html").stat().st_size > 0
