"""Bad input: one clear message, status 2, nothing half-written left behind."""

import random
from pathlib import Path

import pytest

import runflat
from command import ROOT, STAGE, Answer, run, spawn

DUMP = STAGE.read_bytes()


def refused(answer: Answer, *parts: object) -> str:
    """Check that wrong use was answered by one message that has all parts in it."""
    assert answer.status == 2, answer
    assert answer.out == ""
    assert "Traceback" not in answer.err
    message = answer.err.strip()
    begun = [line for line in message.splitlines() if line.startswith(("runflat: ", "Error: "))]
    assert len(begun) == 1, message
    for part in parts:
        assert str(part) in message
    return message


def only(folder: Path, *names: str) -> None:
    """Check that a folder holds these files and nothing else, hidden files included."""
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)


@pytest.mark.parametrize("size", range(1000, len(DUMP) - 100, 4999))
def test_a_dump_that_is_cut_off_is_refused_and_nothing_is_written(
    size: int, tmp_path: Path
) -> None:
    dump = tmp_path / "cut.ibnetdiscover"
    dump.write_bytes(DUMP[:size])
    lines = DUMP[:size].count(b"\n") + 1
    message = refused(run("machine", "import", dump, "-o", tmp_path / "out.json"), dump)
    line = int(message.removeprefix(f"runflat: {dump}:").split(":")[0])
    assert 1 <= line <= lines
    assert "(" in message, "it says what to do"
    only(tmp_path, "cut.ibnetdiscover")


def test_no_cut_of_a_dump_passes_for_a_smaller_fabric() -> None:
    read = runflat._core.Machine.read
    for size in range(0, len(DUMP) - 100, 97):
        with pytest.raises(runflat.FormatError):
            read(DUMP[:size], "cut")


def test_corrupt_bytes_are_refused_or_warned_of_or_change_no_cable() -> None:
    rng = random.Random(4)
    cables = [row["name"] for row in runflat.load(STAGE).links().to_rows()]
    outcomes = {"refused": 0, "warned": 0, "silent": 0}
    for _ in range(400):
        data = bytearray(DUMP)
        for _ in range(rng.choice([1, 2, 20])):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            machine, warnings = runflat._core.Machine.read(bytes(data), "corrupt")
        except runflat.FormatError:
            outcomes["refused"] += 1
            continue
        outcomes["warned" if warnings else "silent"] += 1
        if not warnings:
            # What may change unseen is what nothing else in the file says again: names, ids, LIDs.
            assert len(machine.links()) == len(cables)
            assert machine.switch_link_count == 47
    assert min(outcomes.values()) > 10, outcomes


def test_a_cable_that_two_lines_say_differently_is_named_with_both_lines(tmp_path: Path) -> None:
    lines = STAGE.read_text(encoding="utf-8").splitlines()
    at = next(
        i for i, line in enumerate(lines) if line.startswith('[21]\t"S-f4521403007ea570"[26]')
    )
    lines[at] = lines[at].replace("[26]", "[25]")
    dump = tmp_path / "crossed.ibnetdiscover"
    dump.write_text("\n".join(lines) + "\n", encoding="utf-8")
    refused(run("machine", "show", dump), f"{dump}:", f"line {at + 1}")


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "found an empty file"),
        (b"\x00\x01\x02\x7fELF", "found binary data"),
        (b"hello world\n", "found text of no known format that begins `hello world`"),
        (b"\xff\xfeS\x00w\x00", "found UTF-16 text (save it as UTF-8)"),
        (b'{"nodes": 3}', "no known format"),
    ],
    ids=["empty", "binary", "text", "utf-16", "other JSON"],
)
def test_a_file_that_is_no_fabric_is_refused(content: bytes, found: str, tmp_path: Path) -> None:
    path = tmp_path / "fabric"
    path.write_bytes(content)
    for command in (["machine", "show"], ["route"], ["simulate"], ["faults", "draw"]):
        refused(run(*command, path), path, found if b"{" not in content else "fabric")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    refused(run("machine", "show", tmp_path / "none"), tmp_path / "none", "No such file")
    refused(run("machine", "show", tmp_path), tmp_path, "Is a directory", "give a fabric file")


def test_our_json_is_refused_by_key(tmp_path: Path) -> None:
    text = runflat.make("2-ary 2-tree").write("json")
    path = tmp_path / "fabric.json"
    path.write_text(text.replace("4xEDR", "4xEXTRA"), encoding="utf-8")
    refused(run("machine", "show", path), path, "rate", "4xEXTRA")
    path.write_text(text[: len(text) // 2], encoding="utf-8")
    refused(run("machine", "show", path), path)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["make", "torus", "--shape", "0x4"], ["torus", "`shape`", "from 1", "`0x4`"]),
        (["make", "torus", "--shape", "4", "--parallel", "999"], ["`parallel`", "127", "`999`"]),
        (["make", "torus", "--shape", "4", "--rate", "9xFOO"], ["`9xFOO`", "4xEDR"]),
        (["make", "torus", "--shape", "4000x4000"], ["16000000"]),
        (["make", "slim-fly", "--order", "6"], ["6"]),
        (["make", "random-regular", "--switches", "3", "--degree", "3"], ["3"]),
        (["make", "dragonfly(4,4,4,99)"], ["99"]),
        (["make", "XGFT(2; 16; 1,16)"], ["2"]),
        (["make", "1-ary 2-tree"], ["`arity`", "from 2"]),
        (["make", "torus(4,4"], ["torus(4,4"]),
        (["make", "cube", "--shape", "4"], ["cube"]),
        (["show", "cube(4)"], ["no generator `cube`", "torus"]),
        (["make", "torus", "--shape", "4", "--colour", "red"], ["--colour"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_impossible_machines_are_refused(
    arguments: list[str], parts: list[str], tmp_path: Path
) -> None:
    output = [] if arguments[0] == "show" else ["-o", tmp_path / "machine.json"]
    refused(run("machine", *arguments, *output), *parts)
    only(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["faults", "draw", STAGE, "--links", "99"], ["99 links", "47 are alive"]),
        (["faults", "draw", STAGE, "--links", "some"], ["`some`", "0.5%"]),
        (["faults", "draw", STAGE, "--links", "101%"], ["`101%`"]),
        (["faults", "draw", STAGE, "--model", "meteor"], ["no fault model `meteor`", "lifetime"]),
        (["faults", "draw", STAGE, "-p", "linx=3"], ["no parameter `linx`", "links, switches"]),
        (["faults", "draw", STAGE, "-p", "linx"], ["NAME=VALUE", "'linx'"]),
        (["faults", "draw", STAGE, "--seed", "-1"], ["--seed", "-1"]),
        (["route", STAGE, "--engine", "ftree2"], ["no routing engine `ftree2`", "minhop, updn"]),
        (["route", STAGE, "--max-vl", "16"], ["--max-vl", "16", "1<=x<=15"]),
        (["simulate", STAGE, "--traffic", "rain"], ["no workload `rain`", "uniform"]),
        (["simulate", STAGE, "--traffic", "stencil", "-p", "shape=5x5"], ["25", "144"]),
        (["simulate", STAGE, "-p", "sizes=3"], ["no parameter `sizes`"]),
        (["simulate", STAGE, "--injection-gb-s", "-1"], ["above 0", "-1"]),
        (["simulate", STAGE, "--mode", "dream"], ["dream", "congestion", "flit"]),
        (["machine", "export", STAGE, "--to", "xml"], ["xml", "ibnetdiscover"]),
        (["study", "run", "nowhere.toml"], ["nowhere.toml", "No such file"]),
        (["study", "report", "nowhere"], ["nowhere", "run the study first"]),
        (["completion", "csh"], ["csh", "bash"]),
    ],
    ids=lambda value: " ".join(map(str, value)).replace(str(ROOT), ""),
)
def test_wrong_options_are_refused(arguments: list[str], parts: list[str]) -> None:
    refused(run(*arguments), *parts)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (None, ["No such file"]),
        ("", ["there is no GUID in it", "write one GUID a line"]),
        ("# nothing\n\n", ["there is no GUID in it"]),
        ("0x1234\n", ["none of its 1 GUIDs is of this fabric"]),
        ("stage114 mlx4_0\n", ["is a node; a switch is wanted"]),
        (b"\xff\xfe\x00", [":1:", "there is no switch"]),
    ],
)
def test_a_bad_roots_file_is_refused(
    content: str | bytes | None, parts: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "roots.txt"
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    refused(run("route", STAGE, "--engine", "updn", "--roots", path), *parts)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (None, ["No such file"]),
        ("", ["no fault file"]),
        ("{}", ["no fault file", "`failed_links`"]),
        ("[1, 2]", ["no fault file", "`failed_links`"]),
        ('{"failed_links": "leaf1[3]"}', ["`failed_links` must be a list of names"]),
        ('{"failed_nodes": [3]}', ["`failed_nodes` must be a list of names"]),
        ('{"failed_switches": ["spine"]}', ["no switch `spine`"]),
        ('{"failed_links": ["a <-> b"]}', ["a"]),
    ],
)
def test_a_bad_fault_file_is_refused(content: str | None, parts: list[str], tmp_path: Path) -> None:
    path = tmp_path / "faults.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    refused(run("route", STAGE, "--faults", path), *parts)


def test_an_output_that_cannot_be_written_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    blocked = tmp_path / "file" / "out.json"
    refused(run("machine", "export", STAGE, "--to", "json", "-o", blocked), blocked, "written")
    refused(run("machine", "make", "torus", "--shape", "3", "-o", blocked), blocked, "written")
    refused(run("faults", "draw", STAGE, "--links", "1", "-o", blocked), blocked, "written")
    refused(run("machine", "export", STAGE, "--to", "json", "-o", tmp_path), tmp_path, "directory")
    only(tmp_path, "file")
    assert (tmp_path / "file").read_text() == "here"


def test_an_output_that_cannot_be_finished_keeps_the_file_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "fabric.json"
    path.write_text("precious")
    dump = tmp_path / "bad.ibnetdiscover"
    dump.write_bytes(DUMP[:9000])
    refused(run("machine", "export", dump, "--to", "json", "-o", path))
    assert path.read_text() == "precious"
    only(tmp_path, "fabric.json", "bad.ibnetdiscover")


PLAN = """title = "small"
[machine]
make = "4-ary 2-tree"
[faults]
levels = ["0", "1"]
samples = 1
[measure]
lost_paths_patterns = 1
"""


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (("title", "titel"), ["2 mistakes", "title: is missing", "titel: is no key of a plan here"]),
        (("samples = 1", "samples = 0"), ["faults.samples", "greater than or equal to 1", "got 0"]),
        (("samples = 1", 'samples = "x"'), ["faults.samples", "got 'x'"]),
        (("make", "file"), ["machine[0].file", "there is no file", "start at the plan's folder"]),
        (('make = "4-ary 2-tree"', ""), ["machine[0]", "give `file`", "or `make`"]),
        (("4-ary 2-tree", "torus(0)"), ["machine[0]", "torus", "`shape`"]),
        (("4-ary 2-tree", "cube(3)"), ["machine[0]", "no generator `cube`"]),
        (('"1"', '"many"'), ["faults", "`many` is no amount"]),
        (("[measure]", '[workload]\ntraffic = "rain"\n[measure]'), ["workload.traffic", "no workload"]),
        (("[measure]", '[recovery]\nengines = ["x"]\n[measure]'),
         ["recovery.engines[0].engine", "no engine `x`", "minhop, updn"]),
        (("[measure]", '[recovery]\nengines = ["updn", "updn"]\n[measure]'), ["give one a `title`"]),
        (("[measure]", "[simulation]\ninjection_gb_s = inf\n[measure]"), ["injection_gb_s", "finite"]),
        (("samples = 1", "samples = 1\nvary = 'linx'"), ["faults", "no parameter `linx`"]),
        (("title = ", "title "), ["this is no TOML", "line 1"]),
        (("1", "\0"), ["this is no TOML"]),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else "",
)  # fmt: skip
def test_a_wrong_plan_is_refused_by_key_before_anything_is_run(
    change: tuple[str, str], parts: list[str], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.toml"
    assert change[0] in PLAN
    plan.write_text(PLAN.replace(*change), encoding="utf-8")
    refused(run("study", "run", plan, "-o", tmp_path / "out"), plan, *parts)
    only(tmp_path, "plan.toml")


def test_all_mistakes_of_a_plan_are_listed_at_once(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'title = 3\nseed = -1\ncolour = "red"\n[[machine]]\nmake = "torus(3)"\nfile = "x"\n'
        '[faults]\nsamples = 0\nmodel = "meteor"\n[recovery]\nengines = []\n'
        '[workload]\ntraffic = "rain"\n[simulation]\nmode = "dream"\n',
        encoding="utf-8",
    )
    message = refused(run("study", "run", plan, "-o", tmp_path / "out"), "9 mistakes in the plan")
    keys = [line.split(":")[0].strip() for line in message.splitlines()[1:]]
    assert keys == [
        "title", "seed", "machine[0].file", "faults.model", "faults.samples", "recovery.engines",
        "workload.traffic", "simulation.mode", "colour",
    ]  # fmt: skip


def test_a_plan_that_is_no_text_is_refused(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_bytes(b"title = \xff\n")
    refused(run("study", "run", plan), plan, "cannot be read")
    refused(run("study", "run", tmp_path), tmp_path, "cannot be read")


def test_a_study_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN, encoding="utf-8")
    (tmp_path / "file").write_text("here")
    refused(run("study", "run", plan, "-o", tmp_path / "file" / "out"), tmp_path / "file" / "out")
    refused(run("study", "run", plan, "-o", tmp_path / "file"), tmp_path / "file")
    only(tmp_path, "plan.toml", "file")


@pytest.mark.parametrize("shard", ["0/2", "3/2", "x", "1", "1/0", "-1/2"])
def test_a_shard_that_is_none_is_refused(shard: str, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN, encoding="utf-8")
    refused(run("study", "run", plan, "-o", tmp_path / "out", f"--shard={shard}"), "i/N")
    only(tmp_path, "plan.toml")


def test_an_executor_that_is_none_is_refused(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN, encoding="utf-8")
    refused(run("study", "run", plan, "-o", tmp_path / "out", "--executor", "slurm"), "dask")
    only(tmp_path, "plan.toml")


def test_results_that_were_tampered_with_are_refused(tmp_path: Path) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(PLAN, encoding="utf-8")
    assert run("study", "run", plan, "-o", out, "--no-report").status == 0
    table = out / "throughput.parquet"
    table.write_bytes(table.read_bytes()[:100])
    refused(run("study", "report", out), table, "is no results file")
    table.unlink()
    refused(run("study", "report", out), table, "cannot be read", "run the study first")
    assert not (out / "report.html").exists()


def test_a_plugin_that_cannot_be_imported_is_refused() -> None:
    answer = spawn("machine", "show", STAGE, env={"RUNFLAT_PLUGINS": "no_such_module"})
    refused(answer, "RUNFLAT_PLUGINS", "no_such_module")


def test_a_program_of_its_own_ends_like_the_rest(tmp_path: Path) -> None:
    dump = tmp_path / "cut.ibnetdiscover"
    dump.write_bytes(DUMP[:20_000])
    refused(spawn("route", dump), dump)
