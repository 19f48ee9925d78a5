"""`runflat mpi`: the library is compiled, the line composed, the job run and nothing of it left."""

import os
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from command import Answer, finish, program, run, spawn
from mpi_jobs.parts import ROOT
from mpi_jobs.processes import is_alive, pids
from mpi_jobs.stand_ins import MPIRUN, script
from runflat.mpi_launch import Job, MpiError, compose, read_kill, read_stop
from runflat.mpi_launch.injection import NodeKill

DONE = """for rank in $(seq 0 $((SIZE - 1))); do
  echo '{"t": 1.0, "event": "started"}' > $RUNFLAT_EVENTS/rank-$rank.jsonl
  echo '{"t": 2.0, "event": "finalized"}' >> $RUNFLAT_EVENTS/rank-$rank.jsonl
done
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for name in (
        "MPICC",
        "LD_PRELOAD",
        *(name for name in os.environ if name.startswith("RUNFLAT_")),
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def parts(tmp_path: Path) -> list[str]:
    """Options that put stand-ins in the place of mpirun and the library."""
    library = tmp_path / "librunflat_mpi.so"
    library.write_text("RUNFLAT_STEP_LIMIT_S")
    return ["--mpirun", str(script(tmp_path / "mpirun", MPIRUN)), "--library", str(library)]


def job(tmp_path: Path, text: str) -> Path:
    return script(tmp_path / "job", f"#!/bin/sh\n{text}")


# The launch line.


def line(*arguments: str | Path, parts: list[str]) -> list[str]:
    answer = run("mpi", "run", *parts, "--dry-run", *arguments)
    assert answer.status == 0, answer.err
    return shlex.split(answer.out)


def exported(words: list[str]) -> dict[str, str]:
    pairs = [words[at + 1] for at, word in enumerate(words) if word == "-x"]
    return {name: value for name, _, value in (pair.partition("=") for pair in pairs)}


def test_hosts_are_asked_for_a_sign_of_life(parts: list[str]) -> None:
    words = " ".join(line("-n", "2", "--host-timeout", "8", "true", parts=parts))
    for setting in ("time 4", "intvl 1", "probes 4"):
        assert f"--prtemca oob_tcp_keepalive_{setting}" in words
    assert "keepalive_time 15" in " ".join(line("-n", "2", "--supervise", "true", parts=parts))
    assert "keepalive" not in " ".join(line("-n", "2", "true", parts=parts))


def test_the_line_has_fault_tolerance_the_library_and_what_it_reads(
    parts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = tmp_path / "librunflat_policy.so"
    policy.touch()
    monkeypatch.setenv("RUNFLAT_POLICY_LIBRARY", str(policy))
    words = line(
        "-n", "9", "--shape", "4x3", "--torus", "--alloc", "2D(1,1)", "--policy", "hybrid(all)", "--kill", "3@1.5,4@2",
        "--kill", "5@shrink", "--stop", "2@0.25", "--on-exhausted", "stop", "--step-limit", "20", "--events",
        tmp_path / "kept", "true", "-n", "2", "--kill", "a b", parts=["--mpirun-option", "--tag-output --map-by 'node'", *parts],
    )  # fmt: skip
    assert words[:3] == [parts[1], "--with-ft", "ulfm"]
    assert ("--allow-run-as-root" in words) == (os.geteuid() == 0)
    assert words[-7:] == ["-n", "12", "true", "-n", "2", "--kill", "a b"]
    assert words[words.index("--tag-output") :][:3] == ["--tag-output", "--map-by", "node"]
    assert exported(words) == {
        "LD_PRELOAD": parts[3], "RUNFLAT_SPARES": "3", "RUNFLAT_SHAPE": "4x3", "RUNFLAT_TORUS": "1",
        "RUNFLAT_ALLOCATION": "2D(1,1)", "RUNFLAT_POLICY": "hybrid(all)", "RUNFLAT_POLICY_LIBRARY": str(policy),
        "RUNFLAT_KILL": "3@1.5,4@2,5@shrink+0", "RUNFLAT_STOP": "2@0.25", "RUNFLAT_ON_EXHAUSTED": "stop",
        "RUNFLAT_STEP_LIMIT_S": "20", "RUNFLAT_EVENTS": str(tmp_path / "kept"),
    }  # fmt: skip
    assert not (tmp_path / "kept").exists()


def test_a_job_that_may_refill_outlives_spawned_processes(
    parts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = tmp_path / "librunflat_policy.so"
    policy.touch()
    monkeypatch.setenv("RUNFLAT_POLICY_LIBRARY", str(policy))
    program = job(tmp_path, "")
    plain = line("-n", "2", "--spares", "1", program, parts=parts)
    assert "--enable-recovery" not in plain
    assert "RUNFLAT_REFILL" not in exported(plain)
    words = line("-n", "2", "--spares", "1", "--refill", program, parts=parts)
    assert "--enable-recovery" in words
    assert exported(words)["RUNFLAT_REFILL"] == "1"


def test_variables_of_the_environment_go_along_and_options_win() -> None:
    environment = {
        "RUNFLAT_STOPPED_S": "2",
        "RUNFLAT_SPARES": "9",
        "LD_PRELOAD": "/a.so /b.so",
        "HOME": "/",
    }
    found = compose(Job(["./a"], 2), Path("/bin/mpirun"), Path("/l.so"), environment=environment)
    assert found.exported == {
        "RUNFLAT_STOPPED_S": "2", "RUNFLAT_SPARES": "0", "LD_PRELOAD": "/l.so:/a.so:/b.so",
    }  # fmt: skip


def test_more_ranks_than_cores_are_oversubscribed(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    for count, slots, wanted in ((1, None, False), (4096, None, True), (8, 4, False), (9, 4, True)):
        hosts.write_text(f"a slots={slots} # rack 1\n\nb slots={slots}\n")
        given = Job(["./a"], count, hostfile=hosts if slots else None)
        words = compose(given, Path("mpirun"), Path("l.so"), environment={}).words
        assert ("--oversubscribe" in words) == wanted
        assert ("--bind-to" in words) == wanted
        assert ("--hostfile" in words) == (slots is not None)
    for environment, options, text in (({"SLURM_JOB_ID": "1"}, [], ""), ({}, ["--host", "a:9"], ""), ({}, ["--host=a,b"], ""),
                                       ({}, [], "a\nb slots=2\n")):  # fmt: skip
        hosts.write_text(text)
        given = Job(["./a"], 4096, hostfile=hosts if text else None, mpirun_options=options)
        assert "--oversubscribe" not in compose(
            given, Path("mpirun"), Path("l.so"), environment=environment
        ).words  # fmt: skip
    for words in (["--bind-to", "core"], ["--bind-to=core"]):
        bound = Job(["./a"], 4096, mpirun_options=words)
        line = str(compose(bound, Path("mpirun"), Path("l.so"), environment={}))
        assert line.count("--bind-to") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-n", "2", "--kill", "2@1", "true"], "ranks 0 to 1"),
        (["-n", "2", "--kill", "1@soon", "true"], "no phase 'soon'"),
        (["-n", "2", "--kill", "1@-1", "true"], "RANK@SECONDS"),
        (["-n", "2", "--stop", "node:a@1", "true"], "RANK@SECONDS"),
        (["-n", "2", "--stop", "1@restore+x", "true"], "--stop takes RANK@SECONDS, RANK@PHASE or RANK@PHASE:2"),
        (["-n", "2", "--kill", "1@restore:0", "true"], "--kill takes RANK@SECONDS, RANK@PHASE or RANK@PHASE:2"),
        (["-n", "2", "--kill", "1@again:2", "true"], "no phase 'again'"),
        (["-n", "2", "--kill", f"node:{os.uname().nodename}@1", "true"], "mpirun runs on that host"),
        (["-n", "6", "--shape", "4xx", "true"], "a shape is written as 24x24x24, x first; got '4xx'"),
        (["-n", "6", "--shape", "4x3", "true"], "--shape 4x3 needs --alloc, which says where spares are, as 2D(1,1)"),
        (["-n", "6", "--alloc", "2D(1,1)", "true"], "--alloc 2D(1,1) needs --shape"),
        (["-n", "2", "--relaunches", "2", "true"], "add --supervise"),
        (["-n", "2", "--store", "/tmp", "true"], "add --supervise"),
        (["-n", "2", "--supervise", "--resume", "true"], "name their folder with --store"),
        (["-n", "2", "--supervise", "--store", "/nowhere", "--resume", "true"], "no job has left checkpoints in /nowhere"),
        (["-n", "2", "--supervise", "--mpirun-option", "--host a:1,b:1", "true"], "name them with --hostfile"),
        (["-n", "2", "--supervise", "--mpirun-option", "--machinefile=f", "true"], "name them with --hostfile"),
        (["-n", "2", "--kill", "node:zz@1", "true"], "this machine is the only host, and mpirun itself its daemon"),
        (["-n", "2", "--kill", "ranks:zz@1", "true"], "name zz in a hostfile"),
        (["-n", "7", "--shape", "4x3", "--alloc", "2D(1,1)", "true"], "room for 9 ranks and 3 spares"),
        (["-n", "9", "--shape", "4x3", "--alloc", "2D(1,1)", "--policy", "9D", "true"], "9"),
        (["-n", "9", "--shape", "4x3", "--alloc", "2D(1,1)", "true"], "librunflat_policy.so"),
        (["-n", "2", "--policy", "0D", "true"], "add --spares"),
        (["-n", "2", "--refill", "true"], "add --spares"),
        (["-n", "2", "--torus", "true"], "--shape"),
        (["-n", "2", "./absent"], "no program './absent'"),
        (["-n", "2", "/etc/passwd"], "is not executable: chmod +x"),
        (["-n", "2", str(ROOT / "mpi/examples/02_spares.c")], "is source code: compile it first"),
        (["-n", "2", str(ROOT / "mpi/examples/01_shrink.py")], "is a Python program: write python /"),
        (["-np", "2", "true"], "mpirun's -np is -n here"),
        (["-n", "2", "--timeline", "run.pdf", "true"], "a timeline is a page (.html), or JSON"),
        (["-n", "2", "/etc"], "is a folder"),
        (["-n", "2", "--timeline", "/nowhere/t.json", "true"], "no folder"),
        (["-n", "2", "--timeline", "/proc/t.json", "true"], "cannot be written to"),
        (["-n", "2", "--mpirun-option", "'", "true"], "--mpirun-option"),
        (["-n", "2", "--library", "/bin/true", "true"], "not the recovery library"),
        (["-n", "2", "--watch", "often", "true"], "a time in ms (10) or `events`"),
        *((["-n", "2", "--mpirun-option", text, "true"], "what -n and --spares say")
          for text in ("-n 3", "-np 3", "-c 3", "--n 3", "--np=3", "--map-by node -n 3")),
        (["-n", "1", "--parity", "4", "true"], "at least 2 ranks"),
        (["-n", "2", "--watch", "0", "true"], "a time in ms (10) or `events`"),
        (["-n", "2"], "PROGRAM"),
    ],
    ids=lambda value: " ".join(value[2:4]) if isinstance(value, list) else "",
)  # fmt: skip
def test_wrong_use_is_answered(
    arguments: list[str],
    said: str,
    parts: list[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr("runflat.mpi_launch.installed.PACKAGE", tmp_path / "python" / "runflat")
    answer = run("mpi", "run", *parts, *arguments)
    assert answer.status == 2
    assert said in answer.err
    assert answer.out == ""


def test_a_program_is_not_taken_for_the_library(parts: list[str], tmp_path: Path) -> None:
    program = tmp_path / "app"
    program.write_text("RF_Init RF_Repair librunflat_mpi.so")
    answer = run("mpi", "run", *parts, "-n", "2", "--library", program, "true")
    assert answer.status == 2
    assert f"{program} is not the recovery library" in answer.err


def test_hosts_that_are_to_be_killed_are_in_the_hostfile(parts: list[str], tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("n1 slots=1\nn2 slots=1\n", encoding="utf-8")
    answer = run(
        "mpi", "run", *parts, "-n", "2", "--hostfile", hosts, "--kill", "node:zz@1", "true"
    )
    assert answer.status == 2
    assert "there is no host zz" in answer.err
    assert "names n1, n2" in answer.err


def test_parity_is_for_two_ranks_or_more_and_groups_may_be_larger_than_the_job(
    parts: list[str],
) -> None:
    # The library makes one group of fewer ranks than that.
    words = line("-n", "2", "--parity", "4", "true", parts=parts)
    assert exported(words)["RUNFLAT_PARITY"] == "4"


def test_kills_are_read() -> None:
    given = (
        "3@1.5",
        "5@shrink+0.002",
        "0@finalize",
        "3@restore:2",
        "3@restore:12+0.01",
        "3@agree:1",
    )
    assert [str(read_kill(text)) for text in given] == [
        "3@1.5", "5@shrink+0.002", "0@finalize+0", "3@restore:2+0", "3@restore:12+0.01", "3@agree+0",
    ]  # fmt: skip
    assert read_kill("node:n-7.rack@2") == NodeKill("n-7.rack", 2.0, daemon=True)
    assert read_kill("ranks:n7@2") == NodeKill("n7", 2.0, daemon=False)
    assert str(read_stop("1@1e-3")) == "1@0.001"
    for wrong in (
        "3",
        "3@",
        "@3",
        "3@nan",
        "x@1",
        "3@shrink+",
        "3@shrink:+1",
        "3@shrink:0",
        "3@shrink:-2",
        "node:@1",
        "3@1,4@1",
    ):
        with pytest.raises(MpiError):
            read_kill(wrong)


# A run, with a stand-in for mpirun.


def test_output_passes_through_and_what_follows_the_program_is_its_own(
    parts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # jobs of other tests have their folders where they run
    text = DONE + 'printf "%s|" "$@"; printf "\\001 no newline"; echo talk >&2\n'
    answer = spawn("mpi", "run", *parts, "-n", "2", job(tmp_path, text), "--kill", "-n", "a b")
    assert answer == Answer(0, "--kill|-n|a b|\x01 no newline", "talk\n")
    assert spawn("mpi", "run", *parts, "-n", "2", "--", job(tmp_path, text), "x").out.startswith(
        "x|"
    )
    assert not list(tmp_path.glob(".runflat-events-*"))


LATE = """mkdir -p {0}
(trap '' TERM; echo $$ >> {0}/pids; sleep 300) &
setsid sh -c 'trap "" TERM; echo $$ >> {0}/pids; sleep 300' &
(setsid sh -c 'echo $$ >> {0}/pids; sleep 300' & )
"""
"""A child that takes no SIGTERM, one in a session of its own, and one whose parent is gone."""


def test_the_limit_ends_all_that_was_started_and_nothing_else(
    parts: list[str], tmp_path: Path
) -> None:
    stranger = subprocess.Popen(["sleep", "300"])
    try:
        begun = time.monotonic()
        text = LATE.format(tmp_path) + "trap '' TERM\nsleep 300\n"
        answer = run("mpi", "run", *parts, "-n", "2", "--limit", "1", job(tmp_path, text))
        assert answer.status == 124
        assert "limit of 1 s ran out" in answer.err
        assert time.monotonic() - begun < 20
        assert not [pid for pid in pids(tmp_path / "pids", 3) if is_alive(pid)]
        assert is_alive(stranger.pid)
    finally:
        stranger.kill()
        stranger.wait()


def test_what_outlives_mpirun_is_ended_and_reported(parts: list[str], tmp_path: Path) -> None:
    text = (
        DONE
        + LATE.format(tmp_path)
        + f"while [ $(wc -l < {tmp_path}/pids) -lt 3 ]; do sleep 0.05; done\n"
    )
    answer = run("mpi", "run", *parts, "-n", "2", job(tmp_path, text))
    assert answer.status == 1
    assert "outlived mpirun" in answer.err
    assert not [pid for pid in pids(tmp_path / "pids", 3) if is_alive(pid)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_job(number: signal.Signals, parts: list[str], tmp_path: Path) -> None:
    text = LATE.format(tmp_path) + "sleep 300\n"
    words = program("mpi", "run", *parts, "-n", "2", job(tmp_path, text))
    # As a shell starts it: tests may run with SIGINT ignored.
    started = subprocess.Popen(
        words, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: [signal.signal(one, signal.SIG_DFL) for one in (signal.SIGINT, signal.SIGHUP)],
    )  # fmt: skip
    known = pids(tmp_path / "pids", 3)
    started.send_signal(number)
    _, said = started.communicate(timeout=60)
    assert started.returncode == 128 + number
    assert number.name in said
    assert not [pid for pid in known if is_alive(pid)]


def test_mpirun_is_told_when_the_command_is_killed_outright(
    parts: list[str], tmp_path: Path
) -> None:
    told = tmp_path / "told"
    text = f"trap 'echo told > {told}; exit' TERM\necho $$ >> {tmp_path}/pids\nwhile :; do sleep 0.1; done\n"
    started = subprocess.Popen(program("mpi", "run", *parts, "-n", "2", job(tmp_path, text)))
    (launcher,) = pids(tmp_path / "pids", 1)
    started.kill()
    started.wait()
    until = time.monotonic() + 20
    while is_alive(launcher) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_alive(launcher)
    assert told.exists()


def test_completion_knows_options_and_leaves_the_program_to_the_shell() -> None:
    for words, wanted in (("mpi ", ["plain,build", "plain,run"]), ("mpi run -n 2 ./a", ["file,./a"]),
                          ("mpi run --on-exhausted s", ["plain,shrink", "plain,stop"]),
                          ("mpi run --hostf", ["plain,--hostfile"])):  # fmt: skip
        environment = {
            "_RUNFLAT_COMPLETE": "bash_complete",
            "COMP_WORDS": f"runflat {words}",
            "COMP_CWORD": str(len(words.split(" "))),
        }
        assert finish(program(), env=environment).out.split() == wanted
