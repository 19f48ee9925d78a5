"""A part is added by one file and one line in Rust, or registered from Python; either way it is checked like the rest."""

import difflib
import json
import multiprocessing
import shutil
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import runflat
from command import ROOT, finish, spawn
from runflat import Machine, Routing, RoutingError, RunflatError, Study

HERE = Path(__file__).parent / "extension"
PARTS = {
    "recovery/routing/engines": ("first_port.rs", "first_port::FirstPort,"),
    "machine/generators": ("ring.rs", "ring::Ring,"),
    "faults": ("first_links.rs", "first_links::FirstLinks,"),
    "workload": ("next_rank.rs", "next_rank::NextRank,"),
}


def add_line(path: Path, line: str) -> None:
    """Add one line at the top of a registry table."""
    before = path.read_text(encoding="utf-8").splitlines(keepends=True)
    table = next(i for i, text in enumerate(before) if "registry! {" in text)
    first = next(i for i in range(table, len(before)) if before[i].rstrip().endswith("= ["))
    after = [*before[: first + 1], f"        {line}\n", *before[first + 1 :]]
    changed = [text for text in difflib.ndiff(before, after) if text[:2] in ("+ ", "- ")]
    assert changed == [f"+         {line}\n"]
    path.write_text("".join(after), encoding="utf-8")


@pytest.mark.timeout(300)
def test_a_part_of_each_kind_is_added_by_one_file_and_one_line(tmp_path: Path) -> None:
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("cargo is not installed: https://rustup.rs")
    core = tmp_path / "crates" / "core"
    shutil.copytree(ROOT / "crates" / "core" / "src", core / "src")
    shutil.copy(ROOT / "crates" / "core" / "Cargo.toml", core)
    shutil.copy(ROOT / "Cargo.lock", tmp_path)
    workspace = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    (tmp_path / "Cargo.toml").write_text(
        "".join(
            'members = ["crates/core", "probe"]\n' if line.startswith("members") else line
            for line in workspace.splitlines(keepends=True)
            if not line.startswith("exclude")
        ),
        encoding="utf-8",
    )
    for folder, (file, line) in PARTS.items():
        shutil.copy(HERE / file, core / "src" / folder)
        add_line(core / "src" / folder / "mod.rs", line)
    probe = tmp_path / "probe"
    (probe / "src").mkdir(parents=True)
    shutil.copy(HERE / "probe.rs", probe / "src" / "main.rs")
    (probe / "Cargo.toml").write_text(
        '[package]\nname = "probe"\nversion = "0.0.0"\nedition = "2024"\n\n'
        '[dependencies]\nrunflat-core = { path = "../crates/core" }\n',
        encoding="utf-8",
    )
    quick = {
        "CARGO_TARGET_DIR": str(ROOT / "target" / "extension"),
        "CARGO_PROFILE_DEV_OPT_LEVEL": "0",
        "CARGO_PROFILE_DEV_DEBUG": "false",
        "CARGO_INCREMENTAL": "0",
    }
    command = [cargo, "run", "--offline", "--quiet", "--package", "probe"]
    answer = finish(command, env=quick, cwd=tmp_path, timeout=280)
    assert answer.status == 0, answer.err
    whole, broken = (line.split() for line in answer.out.splitlines())
    # In a ring of six the first port closes a credit loop, which the check finds; without one cable it cannot.
    assert whole[:2] == ["deadlock", "3"]
    assert int(whole[2]) == 6
    assert broken[:3] == ["ok", "5", "0"]
    # 4xEDR; in the ring every message has a cable of its own, in the chain one goes all the way back.
    assert float(whole[3]) == pytest.approx(6 * 12.5)
    assert float(broken[3]) == pytest.approx(6 * 12.5)


PLUGIN = '''
import numpy as np
import runflat


@runflat.generator("my-ring")
def my_ring(seed=1, switches="6"):
    count = int(switches)
    names = [f"s{i}" for i in range(count)]
    nodes = [f"n{i}" for i in range(count)]
    cables = [(names[i], names[(i + 1) % count]) for i in range(count)] + list(zip(nodes, names))
    return runflat.Machine.build(f"ring of {count}", switches=names, nodes=nodes, cables=cables)


@runflat.engine("clockwise")
def clockwise(machine, roots=(), max_vl=8):
    """Right for my-ring only: port 1 (the first switch: port 1 too) leads on, port 3 to the node."""
    links = machine.links().to_rows()
    count = machine.switch_count
    tables = np.full((count, machine.lid_count), 255, dtype=np.uint8)
    for row in links:
        if row["b"] == (row["a"] + 1) % count and row["a"] < count:
            tables[row["a"], :] = row["a_port"]
    for row in links:
        for end, other, port in (("a", "b", "b_port"), ("b", "a", "a_port")):
            if row[end] >= count:
                tables[row[other], row[end] - count] = row[port]
    return tables


@runflat.engine("nothing")
def nothing(machine, roots=(), max_vl=8):
    return np.full((machine.switch_count, machine.lid_count), 255, dtype=np.uint8)


@runflat.engine("never")
def never(machine, roots=(), max_vl=8):
    return runflat.Refusal("this engine routes nothing")


@runflat.engine("misshapen")
def misshapen(machine, roots=(), max_vl=8):
    return np.zeros((1, 1), dtype=np.uint8)


@runflat.fault_model("this-one")
def this_one(machine, seed=1, sample=0, link="s0[1]"):
    return runflat.Faults(links=[link] if link != "0" else [])


@runflat.workload("opposite", steady=True)
def opposite(ranks, seed=1, size="2048"):
    return [np.array([[r, (r + ranks // 2) % ranks, int(size)] for r in range(ranks)], dtype=np.uint64)]
'''

PLAN = """title = "all of it mine"
[machine]
make = "my-ring"
params = { switches = 8 }
[faults]
model = "this-one"
vary = "link"
levels = ["0", "s0[1]"]
samples = 1
[recovery]
engines = ["minhop", "clockwise", "never"]
[workload]
traffic = "opposite"
params = { size = 4096 }
[measure]
lost_paths_patterns = 1
"""


@pytest.fixture
def mine(tmp_path: Path) -> dict[str, str]:
    """Variables that make commands know the plug-in."""
    (tmp_path / "mine.py").write_text(PLUGIN, encoding="utf-8")
    return {"RUNFLAT_PLUGINS": "mine", "PYTHONPATH": str(tmp_path)}


def test_registered_parts_of_all_kinds_work_on_the_command_line(
    tmp_path: Path, mine: dict[str, str]
) -> None:
    ring, faults = tmp_path / "ring.json", tmp_path / "faults.json"
    made = spawn("machine", "make", "my-ring", "-o", ring, "--json", env=mine)
    assert (made.json["switches"], made.json["links"]) == (6, 6)
    assert spawn("machine", "make", "my-ring", "--json").status == 2, "unknown without the plug-in"
    loop = spawn("route", ring, "--engine", "clockwise", "--json", env=mine)
    assert (loop.status, loop.json["verdict"], len(loop.json["cycle"])) == (1, "deadlock", 6)
    drawn = spawn("faults", "draw", ring, "--model", "this-one", "-o", faults, "--json", env=mine)
    assert drawn.json["failed_links"] == ["s0[1] <-> s1[1]"]
    cut = spawn("route", ring, "--engine", "clockwise", "--faults", faults, "--json", env=mine)
    assert (cut.status, cut.json["verdict"]) == (1, "incomplete")
    result = spawn("simulate", ring, "--traffic", "opposite", "--json", env=mine)
    assert (result.json["outcome"], result.json["messages"]) == ("steady", 6)
    assert "this-one: registered" in spawn("faults", "models", env=mine).out


def test_a_bad_engine_is_caught_by_the_same_check(tmp_path: Path, mine: dict[str, str]) -> None:
    fabric = ["4-ary 2-tree", "--json"]
    nothing = spawn("route", *fabric, "--engine", "nothing", env=mine)
    assert (nothing.status, nothing.json["verdict"]) == (1, "incomplete")
    assert nothing.json["unreachable_pairs"] == nothing.json["pairs"] == 16 * 15
    never = spawn("route", *fabric, "--engine", "never", env=mine)
    assert (never.status, never.json["outcome"]) == (1, "refused")
    assert never.json["reason"] == "this engine routes nothing"
    misshapen = spawn("route", *fabric, "--engine", "misshapen", env=mine)
    assert misshapen.status == 2
    assert "(switches, LIDs), got (1, 1)" in misshapen.err


def test_registered_parts_of_all_kinds_work_in_a_plan(tmp_path: Path, mine: dict[str, str]) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(PLAN, encoding="utf-8")
    answer = spawn("study", "run", plan, "-o", out, "--json", env=mine)
    assert answer.status == 0, answer.err
    rows = runflat.Table.from_parquet((out / "throughput.parquet").read_bytes()).to_rows()
    found = {(row["engine"], row["level"]): (row["outcome"], row["verdict"]) for row in rows}
    assert found == {
        ("MinHop", "0"): ("routed", "deadlock"),
        ("MinHop", "s0[1]"): ("routed", "ok"),
        ("clockwise", "0"): ("routed", "deadlock"),
        ("clockwise", "s0[1]"): ("routed", "incomplete"),
        ("never", "0"): ("refused", None),
        ("never", "s0[1]"): ("refused", None),
    }
    assert (out / "report.html").stat().st_size > 0
    assert spawn("study", "run", plan, "-o", tmp_path / "other").status == 2


def test_registered_parts_are_known_to_other_processes(
    tmp_path: Path, mine: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Names of their own, since this process keeps what it registers.
    text = PLUGIN
    for name in ("my-ring", "clockwise", "never", "nothing", "misshapen", "this-one", "opposite"):
        text = text.replace(f'("{name}"', f'("{name}-here"')
    (tmp_path / "mine_here.py").write_text(text, encoding="utf-8")
    text, plan = PLAN, tmp_path / "plan.toml"
    for name in ("my-ring", "clockwise", "never", "this-one", "opposite"):
        text = text.replace(f'"{name}"', f'"{name}-here"')
    plan.write_text(text, encoding="utf-8")
    monkeypatch.setenv("RUNFLAT_PLUGINS", "mine_here")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        results = Study.read(plan).run(tmp_path / "out", executor=pool)
    assert results is not None
    assert len(results.throughput) == 6


def test_a_registered_part_does_not_take_a_name_that_is_taken() -> None:
    for decorator in (
        runflat.engine("minhop"),
        runflat.generator("torus"),
        runflat.fault_model("random"),
        runflat.workload("uniform", steady=True),
    ):
        with pytest.raises(
            RunflatError, match=r"there is already a .* called `.*`; choose another"
        ):
            decorator(lambda *_, **__: None)


def test_a_plugin_with_a_mistake_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def (", encoding="utf-8")
    env = {"RUNFLAT_PLUGINS": "broken", "PYTHONPATH": str(tmp_path)}
    answer = spawn("--version", env=env)
    assert answer.status == 2
    assert "module `broken`, which cannot be imported: SyntaxError" in answer.err
    assert "Traceback" not in answer.err


def test_a_registered_generator_returns_a_machine() -> None:
    @runflat.generator("text-by-test")
    def text(seed: int = 1) -> str:
        return "no machine"

    with pytest.raises(RunflatError, match="returned str, not a Machine"):
        runflat.make("text-by-test")


def test_parameters_reach_registered_parts_as_text() -> None:
    seen: dict[str, object] = {}

    @runflat.fault_model("seen-by-test")
    def nothing(machine: Machine, **params: object) -> runflat.Faults:
        seen.update(params)
        return runflat.Faults()

    tree = runflat.make("2-ary 2-tree")
    tree.fail(model="seen-by-test", share=0.5, keep=True, names=["a", "b"], seed=9, sample=4)
    assert seen == {"share": "0.5", "keep": "true", "names": "a,b", "seed": 9, "sample": 4}


def test_tables_of_a_registered_engine_are_what_is_simulated() -> None:
    @runflat.engine("minhop-by-test")
    def same(machine: Machine, **_: object) -> np.ndarray:
        routing = machine.route("minhop")
        assert isinstance(routing, Routing)
        return routing.tables

    tree = runflat.make("4-ary 2-tree").fail(links=2)
    own, built_in = tree.route("minhop-by-test"), tree.route("minhop")
    assert isinstance(own, Routing)
    assert isinstance(built_in, Routing)
    assert json.dumps(own.check().summary()) == json.dumps(built_in.check().summary())
    assert own.simulate().throughput_gb_s == built_in.simulate().throughput_gb_s
    with pytest.raises(RoutingError, match="no routing engine `minhop-by-tests`"):
        tree.route("minhop-by-tests")
