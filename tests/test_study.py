"""Studies: the same bytes however they are run; killed at any time, nothing is lost or done twice."""

import json
import multiprocessing
import signal
import subprocess
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from command import ROOT, STAGE, program, run, spawn
from runflat import RunflatError, Study, Table, __version__, _core
from runflat.study import Plan, PlanError, read_plan
from runflat.study.answer import Cell, MachineAnswer, crossings
from runflat.study.journal import Journal, JournalError
from runflat.study.results import COLUMNS

PLAN = f'''title = "both machines"
seed = 5

[[machine]]
file = "{STAGE}"

[[machine]]
make = "random-regular(12; 3)"

[faults]
levels = ["0", "2", "6%"]
samples = 4

[recovery]
engines = ["minhop", "updn", {{ engine = "updn", roots = "intact" }}]

[workload]
traffic = "permutation"
params = {{ samples = 3 }}

[measure]
lost_paths_patterns = 5
'''
SCENARIOS = 2 * 3 * (1 + 4 + 4) + 2 * 3 * 2


def write_plan(folder: Path, text: str = PLAN) -> Path:
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8")
    return path


def tables(folder: Path) -> list[bytes]:
    return [(folder / f"{name}.parquet").read_bytes() for name in COLUMNS]


def journal(folder: Path, name: str = "journal-1of1.jsonl") -> list[dict[str, Any]]:
    """Read the scenarios of a journal, without its head."""
    lines = (folder / name).read_bytes().splitlines(keepends=True)
    return [json.loads(line) for line in lines[1:] if line.endswith(b"\n")]


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Tables of the study run at one go on one thread, inside and out."""
    folder = tmp_path_factory.mktemp("unbroken")
    arguments = ["study", "run", write_plan(folder), "-o", folder / "out", "--jobs", "1"]
    answer = spawn(*arguments, "--no-report", env={"RAYON_NUM_THREADS": "1"})
    assert answer.status == 0, answer.err
    assert len(journal(folder / "out")) == SCENARIOS
    return tables(folder / "out")


def test_two_threads_give_the_same_bytes_as_one(tmp_path: Path, unbroken: list[bytes]) -> None:
    arguments = ["study", "run", write_plan(tmp_path), "-o", tmp_path / "out", "--jobs", "2"]
    assert spawn(*arguments, "--no-report", env={"RAYON_NUM_THREADS": "2"}).status == 0
    assert tables(tmp_path / "out") == unbroken


def test_three_shards_merged_give_the_same_bytes(tmp_path: Path, unbroken: list[bytes]) -> None:
    plan, out = write_plan(tmp_path), tmp_path / "out"
    for shard in ("2/3", "1/3"):
        assert run("study", "run", plan, "-o", out, "--shard", shard).status == 0
    early = run("study", "merge", plan, "-o", out, "--no-report")
    assert early.status == 2
    assert (
        f"{SCENARIOS // 3} of {SCENARIOS} scenarios are missing, the first is number 2" in early.err
    )
    assert not (out / "throughput.parquet").exists()
    assert run("study", "run", plan, "-o", out, "--shard", "3/3").status == 0
    assert run("study", "merge", plan, "-o", out, "--no-report").status == 0
    assert tables(out) == unbroken


def test_a_process_pool_gives_the_same_bytes(tmp_path: Path, unbroken: list[bytes]) -> None:
    # Forked children would inherit the core's thread pool without its threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        Study.read(write_plan(tmp_path)).run(tmp_path / "out", executor=pool)
    assert tables(tmp_path / "out") == unbroken


def test_another_seed_gives_other_results(tmp_path: Path, unbroken: list[bytes]) -> None:
    plan = write_plan(tmp_path, PLAN.replace("seed = 5", "seed = 6"))
    results = Study.read(plan).run(tmp_path / "out")
    assert results is not None
    old, new = (table.column("throughput_gb_s")
                for table in (Table.from_parquet(unbroken[0]), results.throughput))  # fmt: skip
    assert len(old) == len(new)
    assert sum(a != b for a, b in zip(old, new, strict=True)) > len(old) / 2


def test_tables_say_all_that_is_needed_to_make_them_again(
    tmp_path: Path, unbroken: list[bytes]
) -> None:
    metadata = Table.from_parquet(unbroken[0]).metadata
    assert metadata["runflat.version"] == __version__
    assert metadata["runflat.commit"] == _core.COMMIT
    assert metadata["runflat.seed"] == "5"
    name, digest = json.loads(metadata["runflat.inputs"])[0]
    assert (name, len(digest)) == (str(STAGE), 64)
    assert metadata == Table.from_parquet(unbroken[1]).metadata
    plan = write_plan(tmp_path, metadata["runflat.plan"])
    assert read_plan(plan).key == metadata["runflat.key"]
    Study.read(plan).run(tmp_path / "out")
    assert tables(tmp_path / "out") == unbroken


def test_rows_follow_the_plan_and_failures_are_the_same_for_every_engine(
    unbroken: list[bytes],
) -> None:
    rows = Table.from_parquet(unbroken[0]).to_rows()
    assert [row["scenario"] for row in rows] == list(range(54))
    assert {row["outcome"] for row in rows} == {"routed", "refused"}
    assert {row["verdict"] for row in rows} >= {"ok", "deadlock", None}
    failed: dict[tuple[str, str, int], set[tuple[int, int]]] = {}
    for row in rows:
        key = row["machine"], row["level"], row["sample"]
        failed.setdefault(key, set()).add((row["failed_links"], row["cut_nodes"]))
    assert all(len(seen) == 1 for seen in failed.values())


SLOW = """title = "slow enough to be killed"
seed = 2
[machine]
make = "16-ary 2-tree"
[faults]
levels = ["1", "2%", "5%"]
samples = 40
[recovery]
engines = ["minhop", "updn"]
[measure]
lost_paths_patterns = 0
"""
SLOW_SCENARIOS = 3 * 40 * 2


def kill_when(process: "subprocess.Popen[bytes]", out: Path, done: int) -> list[bytes]:
    """Kill a study outright as soon as its journal holds `done` scenarios; return the journal's lines."""
    path = out / "journal-1of1.jsonl"
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        if path.exists() and path.read_bytes().count(b"\n") > done:
            break
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait(30) == -signal.SIGKILL, "the study was over before it could be killed"
    return path.read_bytes().splitlines(keepends=True)


@pytest.mark.timeout(240)
def test_a_killed_study_goes_on_where_it_was_and_ends_the_same(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, SLOW)
    whole, out = tmp_path / "whole", tmp_path / "out"
    assert spawn("study", "run", plan, "-o", whole, "--no-report").status == 0
    command = program("study", "run", plan, "-o", out, "--no-report", "--jobs", "2")
    before: list[bytes] = []
    for done in (1, SLOW_SCENARIOS // 3, 2 * SLOW_SCENARIOS // 3):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                lines = kill_when(process, out, done)
            finally:
                process.kill()
        complete = [line for line in lines if line.endswith(b"\n")]
        assert done < len(complete) < 1 + SLOW_SCENARIOS, "killed mid-way: some are done, not all"
        assert complete[: len(before)] == before, "what was done before stands untouched"
        assert not (out / "throughput.parquet").exists()
        before = complete
    answer = spawn("study", "run", plan, "-o", out, "--no-report")
    assert answer.status == 0, answer.err
    after = (out / "journal-1of1.jsonl").read_bytes().splitlines(keepends=True)
    assert after[: len(before)] == before
    numbers = [entry["scenario"] for entry in journal(out)]
    assert sorted(numbers) == list(range(SLOW_SCENARIOS)), "each exactly once, none done twice"
    assert tables(out) == tables(whole)


def test_what_is_in_the_journal_is_not_computed_again(tmp_path: Path) -> None:
    study, out = Study.read(write_plan(tmp_path)), tmp_path / "out"
    study.run(out)
    path = out / "journal-1of1.jsonl"
    head, first, *rest = path.read_text(encoding="utf-8").splitlines()
    entry = json.loads(first)
    entry["rows"][0]["collision_max"] = 424_242
    kept = len(rest) // 2
    path.write_text("\n".join([head, json.dumps(entry), *rest[:kept]]) + "\n", encoding="utf-8")
    counts: list[tuple[int, int]] = []
    results = study.run(out, progress=lambda done, of: counts.append((done, of)))
    assert results is not None
    assert counts[0] == (kept + 1, SCENARIOS)
    assert counts[-1] == (SCENARIOS, SCENARIOS)
    assert results.throughput.column("collision_max")[entry["scenario"]] == 424_242


def test_a_finished_study_computes_nothing(tmp_path: Path, unbroken: list[bytes]) -> None:
    study, out = Study.read(write_plan(tmp_path)), tmp_path / "out"
    study.run(out)

    class Refusing(ThreadPoolExecutor):
        def submit(self, *_: Any, **__: Any) -> Future[Any]:  # type: ignore[override]
            raise AssertionError("a finished study must not compute")

    with Refusing(1) as pool:
        study.run(out, executor=pool)
    assert tables(out) == unbroken


@pytest.mark.parametrize("torn", [1, 20, 500])
def test_a_last_line_that_a_kill_tore_is_done_again(
    torn: int, tmp_path: Path, unbroken: list[bytes]
) -> None:
    study, out = Study.read(write_plan(tmp_path)), tmp_path / "out"
    study.run(out)
    path = out / "journal-1of1.jsonl"
    data = path.read_bytes()
    path.write_bytes(data[:-torn])
    whole_lines = data[:-torn].count(b"\n") - 1
    assert len(journal(out)) == whole_lines < SCENARIOS
    counts: list[int] = []
    study.run(out, progress=lambda done, _: counts.append(done))
    assert counts[0] == whole_lines
    assert sorted(entry["scenario"] for entry in journal(out)) == list(range(SCENARIOS))
    assert tables(out) == unbroken


def test_a_journal_whose_first_line_is_torn_begins_anew(
    tmp_path: Path, unbroken: list[bytes]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "journal-1of1.jsonl").write_bytes(b'{"plan": "0123')
    Study.read(write_plan(tmp_path)).run(out)
    assert tables(out) == unbroken


def test_a_second_run_in_the_same_folder_is_refused_while_the_first_lives(tmp_path: Path) -> None:
    plan, out = write_plan(tmp_path), tmp_path / "out"
    key = read_plan(plan).key
    with Journal(out / "journal-1of1.jsonl", key):
        answer = spawn("study", "run", plan, "-o", out, "--no-report")
        assert answer.status == 2
        assert "another run is writing here" in answer.err
        assert not (out / "throughput.parquet").exists()
    assert spawn("study", "run", plan, "-o", out, "--no-report").status == 0


def test_a_folder_with_another_study_is_refused_and_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    Study.read(write_plan(tmp_path)).run(out)
    before = {path: path.read_bytes() for path in out.iterdir()}
    other = Study.read(write_plan(tmp_path, PLAN.replace("samples = 4", "samples = 3")))
    with pytest.raises(JournalError, match="holds results of another plan, fabric or version"):
        other.run(out)
    with pytest.raises(JournalError, match="another plan"):
        other.merge(out)
    assert {path: path.read_bytes() for path in out.iterdir()} == before


def test_a_study_is_begun_anew_on_request_but_not_while_another_run_lives(
    tmp_path: Path, unbroken: list[bytes]
) -> None:
    out, other = tmp_path / "out", PLAN.replace("samples = 4", "samples = 3")
    Study.read(write_plan(tmp_path, other)).run(out)
    journals = (out / "journal-1of1.jsonl").read_bytes()
    plan = write_plan(tmp_path)
    with Journal(out / "journal-1of1.jsonl", read_plan(write_plan(tmp_path, other)).key):
        answer = run("study", "run", write_plan(tmp_path), "-o", out, "--fresh", "--no-report")
        assert answer.status == 2
        assert "another run is writing here" in answer.err
    assert (out / "journal-1of1.jsonl").read_bytes() == journals
    assert run("study", "run", plan, "-o", out, "--fresh", "--no-report").status == 0
    assert len(journal(out)) == SCENARIOS
    assert tables(out) == unbroken


def test_a_fabric_that_changed_is_another_study(tmp_path: Path) -> None:
    fabric = tmp_path / "fabric.ibnetdiscover"
    fabric.write_bytes(STAGE.read_bytes())
    plan = write_plan(tmp_path, PLAN.replace(str(STAGE), "fabric.ibnetdiscover"))
    Study.read(plan).run(tmp_path / "out", shard=(1, 9))
    fabric.write_bytes(STAGE.read_bytes().replace(b"stage114", b"stage999"))
    with pytest.raises(JournalError, match="another plan, fabric or version"):
        Study.read(plan).run(tmp_path / "out", shard=(1, 9))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"2", "6%"', '"2", "99"', "faults.levels: 99 links cannot fail"),
        ('"2", "6%"', '"2", "few"', "faults.levels: `few` is no amount"),
        ("samples = 4", 'samples = 4\nparams = { switches = 1 }',
         "faults.levels: level `0` stands for the intact machine, but 1 parts fail there"),
        ('["0", "2", "6%"]', '["0", "2"]\nmodel = "lifetime"\nvary = "failures"\nparams = { years = 9, link_rate = 0.1 }',
         "faults.levels: level `0` stands for the intact machine"),
        ("random-regular(12; 3)", "random-regular(13; 3)", "machine[1]: "),
        ('roots = "intact"', 'roots = ["nobody"]', "recovery.engines[2].roots: "),
        ('traffic = "permutation"\nparams = { samples = 3 }',
         'traffic = "stencil"\nparams = { shape = "5x5" }', "workload: "),
    ],
)  # fmt: skip
def test_what_only_the_machines_show_to_be_wrong_is_refused_before_anything_is_run(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    assert old in PLAN
    study = Study.read(write_plan(tmp_path, PLAN.replace(old, new)))
    with pytest.raises(PlanError) as caught:
        study.run(tmp_path / "out")
    assert message in str(caught.value)
    assert str(tmp_path / "plan.toml") in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_shard_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    study = Study.read(write_plan(tmp_path))
    with pytest.raises(RunflatError, match="1 <= i <= N, got 4/3"):
        study.run(tmp_path / "out", shard=(4, 3))


def test_the_schema_of_plans_is_current() -> None:
    stored = json.loads((ROOT / "docs" / "plan.schema.json").read_text(encoding="utf-8"))
    assert stored == Plan.model_json_schema(), "runflat study schema -o docs/plan.schema.json"


def test_a_finished_run_says_where_and_how_it_ran(tmp_path: Path) -> None:
    Study.read(write_plan(tmp_path)).run(tmp_path / "out", jobs=1)
    known = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    assert known["plan_folder"] == str(tmp_path)
    assert known["jobs"] == "1"
    assert {"command", "host", "finished", "seconds"} <= known.keys()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "journal-1of1.jsonl", "lost_paths.parquet", "run.json", "throughput.parquet",
    ]  # fmt: skip


def test_lines_that_cross_name_a_change_only_if_the_means_have_it() -> None:
    levels, failed = ["0", "1", "2"], {"0": 0.0, "1": 1.0, "2": 2.0}

    def measured(one: list[float], other: list[float]) -> MachineAnswer:
        means = {"one": one, "other": other}
        cells = {
            (engine, level): Cell(1, 0, 0, 0, [value], None, None, 0.0)
            for engine, values in means.items()
            for level, value in zip(levels, values, strict=True)
        }
        return MachineAnswer("m", levels, list(means), cells, failed, {})

    lines: dict[str, dict[str, float | None]] = {
        "one": {"intercept": 10.0, "slope": -2.0},
        "other": {"intercept": 9.0, "slope": -1.25},
    }
    assert crossings(measured([10, 8, 6], [9, 7.5, 6.5]), lines, 2.0) == [
        (pytest.approx(4 / 3), "one", "other")
    ]
    # The mean beyond is still larger.
    assert crossings(measured([10, 8, 6.6], [9, 7.5, 6.5]), lines, 2.0) == []
