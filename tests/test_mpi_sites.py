"""Which spare is the nearest: hosts and switches of a fabric, in the launch and on the real MPI."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from command import ROOT, Answer, finish, program, run
from mpi_jobs.hosts import make_hosts
from mpi_jobs.parts import Parts
from mpi_jobs.stand_ins import MPIRUN, script
from opensm.missing import Missing
from runflat import machine
from runflat.mpi_launch.sites import read_sites

STAGE = ROOT / "machines" / "stage_fdr_2014.ibnetdiscover"


def fabric(folder: Path) -> Path:
    """Two leaf switches below a spine: hosts A and C, and B and D."""
    made = machine.Machine.build(
        "two leaves",
        switches=["spine", "even.1", "odd_1"],
        nodes=[f"fake{letter}" for letter in "ABCD"],
        cables=[
            ("even.1", "spine"),
            ("odd_1", "spine"),
            *(("even.1", f"fake{letter}") for letter in "AC"),
            *(("odd_1", f"fake{letter}") for letter in "BD"),
        ],
    )
    path = folder / "fabric.json"
    path.write_text(made.write("json"), encoding="utf-8")
    return path


def test_a_site_is_the_way_down_to_a_leaf(tmp_path: Path) -> None:
    sites = read_sites(fabric(tmp_path))
    assert sites["fakeA"] == sites["fakeC"]
    assert sites["fakeB"] == sites["fakeD"]
    (pod, leaf), (other_pod, other_leaf) = sites["fakeA"].split("."), sites["fakeB"].split(".")
    assert (pod, leaf, other_leaf) == (other_pod, "even_1", "odd_1")


def test_hosts_of_a_pod_share_more_than_others(tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    path.write_text(machine.make("4-ary 3-tree").write("json"), encoding="utf-8")
    sites = read_sites(path)
    assert len(sites) == 64

    def shared(one: int, other: int) -> int:
        pairs = zip(sites[f"n{one}"].split("."), sites[f"n{other}"].split("."), strict=True)
        return sum(here == there for here, there in pairs)

    assert [shared(0, 1), shared(0, 4), shared(0, 16)] == [3, 2, 1]


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    library = tmp_path / "librunflat_mpi.so"
    library.write_text("RUNFLAT_STEP_LIMIT_S")
    monkeypatch.setenv("RUNFLAT_POLICY_LIBRARY", str(library))
    return ["--mpirun", str(script(tmp_path / "mpirun", MPIRUN)), "--library", str(library)]


def test_the_processes_read_where_their_hosts_stand(stand_in: list[str], tmp_path: Path) -> None:
    hostfile = tmp_path / "hosts"
    hostfile.write_text("stage1.cluster slots=2\nstage30 slots=2\n")
    events = tmp_path / "events"
    answer = run(
        "mpi", "run", *stand_in, "-n", "2", "--spares", "2", "--machine", STAGE,
        "--hostfile", hostfile, "--events", events, "--dry-run", "hostname",
    )  # fmt: skip
    assert answer.status == 0, answer.err
    assert f"RUNFLAT_SITES={events / 'sites'}" in shlex.split(answer.out)
    lines = dict(line.split() for line in (events / "sites").read_text().splitlines())
    assert lines["stage1"] == "above1-ib1.ib1"
    assert lines["stage30"] == "above1-ib1.ib2"


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["--spares", "1", "--machine", STAGE, "--hostfile", "{hosts}"], ["no host fakeA", "it has "]),
        (["--machine", STAGE], ["add --spares"]),
        (["--shape", "3", "--alloc", "1D(1,1)", "--machine", STAGE], ["--shape 3", "leave one out"]),
        (["--spares", "1", "--machine", STAGE, "--dry-run"], ["--events"]),
        (["--spares", "1", "--machine", "{hosts}"], ["{hosts}"]),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_refused(
    stand_in: list[str], words: list[str | Path], parts: list[str], tmp_path: Path
) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("fakeA slots=4\n")
    given = [str(word).format(hosts=hosts) for word in words]
    answer = run("mpi", "run", *stand_in, "-n", "2", *given, "hostname")
    assert answer.status == 2, answer
    for part in parts:
        assert part.format(hosts=hosts) in answer.err


def test_the_spare_under_the_same_switch_takes_over(parts: Parts, tmp_path: Path) -> None:
    """Ranks are on A and B, spares on C and D; the one on C is nearer in the order of ranks."""
    try:
        hosts = make_hosts(tmp_path / "hosts", count=4, slots=1)
    except Missing as missing:
        pytest.skip(str(missing))

    def took_over(*words: str | Path) -> set[int]:
        timeline = tmp_path / "timeline.json"
        line = program(
            "mpi", "run", "-n", "2", "--spares", "2", "--library", parts.library,
            "--hostfile", hosts.hostfile, "--mpirun-option", " ".join([*hosts.settings, "--bind-to", "none"]),
            "--kill", "1@0.2", "--limit", "60", "--timeline", timeline, *words,
            parts.program("examples/02_spares.c"), "150",
        )  # fmt: skip
        answer: Answer = finish(
            line, env={"RUNFLAT_POLICY_LIBRARY": str(parts.policy)}, cwd=tmp_path, timeout=90
        )
        assert answer.status == 0, answer
        assert "2 ranks, 150 steps, largest error 0\n" in answer.out
        events = json.loads(timeline.read_text(encoding="utf-8"))["events"]
        assert {one["rank"] for one in events if one["event"] == "killed"} == {1}
        return {one["rank"] for one in events if one["event"] == "took_over"}

    assert took_over() == {2}
    assert took_over("--machine", fabric(tmp_path)) == {3}
