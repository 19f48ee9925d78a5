"""The command line: keys that scripts rely on, exit status, help, pipes."""

import os
import shlex
import subprocess
from pathlib import Path

import click
import pytest

from command import ROOT, STAGE, finish, program, run, spawn
from runflat import __version__, cli

TREE = "4-ary 2-tree"
MESH = "mesh(4,4)"
"""No tree, so Up*/Down* finds no roots; a mesh, so MinHop closes a credit loop."""

MACHINE_KEYS = {
    "nodes", "switches", "links", "node_links", "planes", "leaf_switches", "unbalanced_leaves",
    "degraded_links",
}  # fmt: skip
FAULT_KEYS = {"failed_links", "failed_switches", "failed_nodes", "cut_nodes"}
ROUTE_KEYS = {
    "engine", "outcome", "reason", "verdict", "vls", "cycle", "unreachable_pairs", "hops_max",
    "forwarding_index_max", "forwarding_index_mean", "seconds",
}  # fmt: skip
SIMULATE_KEYS = {
    "outcome", "throughput_gb_s", "simulated_ns", "delivered_flits", "flit_hops", "cpu_seconds",
    "cycle",
}  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "keys", "status", "outcome"),
    [
        (["machine", "show", STAGE], MACHINE_KEYS, 0, "ok"),
        (["machine", "import", STAGE], MACHINE_KEYS, 0, "ok"),
        (["machine", "make", "torus", "--shape", "3x3"], MACHINE_KEYS | {"seed"}, 0, "ok"),
        (["machine", "diff", STAGE, STAGE], {"differences"}, 0, "same"),
        (["machine", "diff", STAGE, TREE], {"differences"}, 1, "different"),
        (["faults", "draw", STAGE, "--links", "3"], FAULT_KEYS | {"seed"}, 0, "drawn"),
        (["faults", "draw", STAGE, "--links", "100%"], FAULT_KEYS | {"seed"}, 1, "drawn"),
        (["route", STAGE], ROUTE_KEYS, 0, "routed"),
        (["route", MESH], ROUTE_KEYS, 1, "routed"),
        (["route", MESH, "--engine", "updn"], ROUTE_KEYS, 1, "refused"),
        (["route", "compare", MESH], {"rows", "machine", "seed"}, 0, "compared"),
        (["route", "compare", MESH, "--engines", "minhop; updn"], {"rows"}, 1, "compared"),
        (["route", "compare", STAGE], {"rows", "machine", "seed"}, 0, "compared"),
        (["simulate", STAGE], SIMULATE_KEYS | {"seed"}, 0, "steady"),
        (["simulate", STAGE, "--traffic", "exchange"], SIMULATE_KEYS | {"seed"}, 0, "complete"),
        (["simulate", MESH], SIMULATE_KEYS | {"seed"}, 1, "steady"),
        (["simulate", MESH, "--engine", "updn"], SIMULATE_KEYS | {"seed"}, 1, "refused"),
        (["route", "engines"], {"parts"}, 0, "listed"),
        (["faults", "models"], {"parts"}, 0, "listed"),
        (["doctor"], {"parts", "python"}, 0, "ok"),
    ],
    ids=lambda value: " ".join(map(str, value)).replace(str(ROOT), "") if isinstance(value, list) else "",
)  # fmt: skip
def test_json_has_the_stable_keys_and_the_status_says_whether_something_was_found(
    arguments: list[str], keys: set[str], status: int, outcome: str
) -> None:
    answer = run(*arguments, "--json")
    assert answer.status == status
    assert answer.json["version"] == __version__
    assert answer.json["outcome"] == outcome
    assert keys <= answer.json.keys()
    assert answer.err == ""


def test_verdicts_come_with_their_evidence() -> None:
    loop = run("route", MESH, "--json").json
    assert (loop["verdict"], len(loop["cycle"])) == ("deadlock", 4)
    refused = run("route", MESH, "--engine", "updn", "--json").json
    assert "give roots" in refused["reason"]
    assert refused["verdict"] is None


def test_a_study_says_what_it_found_as_json(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'title = "small"\nseed = 7\n[machine]\nmake = "4-ary 2-tree"\n'
        '[faults]\nlevels = ["0", "1"]\nsamples = 2\n[measure]\nlost_paths_patterns = 2\n',
        encoding="utf-8",
    )
    answer = run("study", "run", plan, "-o", tmp_path / "out", "--json").json
    assert (answer["outcome"], answer["seed"]) == ("done", 7)
    levels = answer["machines"][0]["levels"]
    assert [level["level"] for level in levels] == ["0", "1"]
    assert levels[1]["engines"]["MinHop"]["throughput_gb_s"] > 0
    merged = run("study", "merge", plan, "-o", tmp_path / "out", "--json").json
    assert merged["machines"] == answer["machines"]


def test_seeds_are_the_same_for_the_same_draw_and_printed() -> None:
    draws = [
        run("faults", "draw", STAGE, "--links", "3", "--seed", s, "--json").json for s in "778"
    ]
    assert draws[0] == draws[1]
    assert draws[0]["seed"] == 7
    assert draws[0]["failed_links"] != draws[2]["failed_links"]


def commands() -> list[list[str]]:
    """Every command and subcommand there is; generators stand for themselves below."""
    found: list[list[str]] = [[]]
    context = click.Context(cli.group)
    for name in cli.group.list_commands(context):
        found.append([name])
        command = cli.group.get_command(context, name)
        if isinstance(command, click.Group):
            found += [[name, inner] for inner in command.list_commands(context)]
    return found


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_help_of_every_command_has_an_example(command: list[str]) -> None:
    for option in ("-h", "--help"):
        answer = run(*command, option)
        assert answer.status == 0
        assert "Example" in answer.out
    if command:
        assert f"runflat {' '.join(command)}" in " ".join(answer.out.split("Example", 1)[1].split())


def test_examples_in_the_help_are_commands_that_exist() -> None:
    lines = [run(*command, "--help").out for command in commands()]
    examples = [line.strip().removeprefix("Example: ") for text in lines
                for line in text.splitlines() if line.strip().startswith("Example: ")]  # fmt: skip
    assert len(examples) > 10
    for example in examples:
        words = shlex.split(example.replace('"$(', "").replace(')"', "").removeprefix("eval "))
        assert words[0] == "runflat"
        # Parsing stops at --help, so wrong options before it would be refused; what follows a program is the program's.
        end = next((at for at, word in enumerate(words) if word.startswith("./")), len(words))
        assert run(*words[1:end], "--help").status == 0, example


def test_help_of_every_generator_lists_its_parameters() -> None:
    listed = run("machine", "make", "--help").out
    for name in ("torus", "dragonfly", "tsubame2"):
        assert name in listed
    text = run("machine", "make", "dragonfly", "--help").out
    assert "--global-ports" in text
    assert "[required]" in text


def test_no_arguments_and_wrong_ones_are_answered_by_usage() -> None:
    assert "machine" in run("--help").out
    for arguments in (
        ["launch"],
        ["route"],
        ["route", STAGE, "--colour"],
        ["machine", "make", "cube"],
    ):
        answer = run(*arguments)
        assert answer.status == 2
        assert "Usage:" in answer.err
        assert answer.out == ""


def test_the_version_is_printed() -> None:
    assert run("--version").out == f"runflat, version {__version__}\n"


def test_the_module_runs_as_a_program() -> None:
    answer = spawn("--version")
    assert (answer.status, answer.out) == (0, f"runflat, version {__version__}\n")


def test_the_installed_command_runs() -> None:
    import sysconfig

    script = Path(sysconfig.get_path("scripts")) / "runflat"
    answer = finish([str(script), "route", str(STAGE), "--json"])
    assert answer.json["verdict"] == "ok"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(shell: str) -> None:
    answer = run("completion", shell)
    assert answer.status == 0
    assert "_RUNFLAT_COMPLETE" in answer.out


def test_the_bash_completion_completes_commands() -> None:
    environment = {
        "_RUNFLAT_COMPLETE": "bash_complete",
        "COMP_WORDS": "runflat si",
        "COMP_CWORD": "1",
    }
    answer = finish(program(), env=environment)
    assert answer.out.strip() == "plain,simulate"


def test_the_bash_completion_completes_files_and_names() -> None:
    for words, wanted in (("route fab", ["file,fab"]), ("route ex", ["file,ex", "plain,export"]),
                          ("simulate fab", ["file,fab"]),
                          ("spares study --policy hyb", [f"plain,hybrid({what})" for what in ("all", "-1D", "-2D")]),
                          ("mpi run --policy opt", ["plain,optimal"])):  # fmt: skip
        environment = {
            "_RUNFLAT_COMPLETE": "bash_complete",
            "COMP_WORDS": f"runflat {words}",
            "COMP_CWORD": str(len(words.split())),
        }
        assert finish(program(), env=environment).out.split() == wanted


@pytest.mark.parametrize(
    "arguments",
    [
        ["machine", "show", str(STAGE)],
        ["machine", "export", str(STAGE), "--to", "json"],
        ["route", str(STAGE), "--json"],
        ["route", "--help"],
    ],
    ids=" ".join,
)
def test_a_reader_that_goes_away_is_no_error(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            program(*arguments), stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_first_line_is_enough_for_head() -> None:
    pipeline = (
        f"{shlex.join(program('machine', 'export', '16-ary 2-tree', '--to', 'json'))} | head -1"
    )
    answer = finish(["bash", "-o", "pipefail", "-c", pipeline])
    assert answer.status == 0
    assert answer.err == ""
    assert len(answer.out.splitlines()) == 1


def test_an_output_that_is_no_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    null = tmp_path / "null"
    null.symlink_to("/dev/null")
    answer = run("machine", "export", STAGE, "--to", "json", "-o", null)
    assert answer.status == 0
    assert null.is_symlink()
    assert null.is_char_device()


def test_exports_go_to_stdout_or_a_file_alike(tmp_path: Path) -> None:
    path = tmp_path / "fabric.json"
    answer = run("machine", "export", STAGE, "--to", "json", "-o", path)
    assert (answer.status, answer.out) == (0, "")
    assert path.read_text(encoding="utf-8") == run("machine", "export", STAGE, "--to", "json").out
    assert run("machine", "diff", STAGE, path).status == 0


def test_a_fault_file_is_used_by_route_and_simulate(tmp_path: Path) -> None:
    faults = tmp_path / "faults.json"
    run("faults", "draw", STAGE, "--nodes", "10", "-o", faults)
    whole = run("route", STAGE, "--json").json
    broken = run("route", STAGE, "--faults", faults, "--json").json
    assert broken["pairs"] < whole["pairs"]
    slow = run("simulate", STAGE, "--faults", faults, "--json").json
    assert slow["messages"] == 134 * 133


def test_roots_are_read_from_a_file_with_comments(tmp_path: Path) -> None:
    guids = run("machine", "show", STAGE, "--json")
    assert guids.status == 0
    roots = tmp_path / "roots.txt"
    roots.write_text(
        "# spines\n0xf4521403007ea570 # by GUID\nMF0;ib7:SX6036/U1\n", encoding="utf-8"
    )
    answer = run("route", STAGE, "--engine", "updn", "--roots", roots, "--json")
    assert answer.json["outcome"] == "routed"
