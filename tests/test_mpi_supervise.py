"""A job that mpirun has given up begins again: the loss of a host with its daemon, on the real MPI."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from command import Answer, spawn
from mpi_jobs.hosts import Hosts, make_hosts
from mpi_jobs.parts import Parts
from mpi_jobs.processes import processes_with
from opensm.missing import Missing
from runflat.mpi_launch import Job, MpiError
from runflat.mpi_launch.supervise import fit, read_hosts

STEPS = 800


@pytest.fixture
def hosts(tmp_path: Path) -> Hosts:
    try:
        return make_hosts(tmp_path / "hosts", count=3, slots=2)
    except Missing as missing:
        pytest.skip(str(missing))


def supervised(parts: Parts, hosts: Hosts, *words: str) -> Answer:
    """Run the heat cells on 3 hosts with 2 slots; host B dies with its daemon after 2 s."""
    program = parts.program("examples/02_spares.c")
    agent = f"--prtemca plm_ssh_agent {hosts.shell} --bind-to none"
    mark = f"RUNFLAT_MARK={hosts.folder}"
    answer = spawn(
        "mpi", "run", "-n", "4", "--spares", "2", "--library", parts.library, "--hostfile", hosts.hostfile,
        "--mpirun-option", agent, "--limit", "150", "--kill", "node:fakeB@2", "--supervise",
        *words, program, str(STEPS),
        env={"RUNFLAT_MARK": str(hosts.folder), "RUNFLAT_POLICY_LIBRARY": str(parts.policy)},
    )  # fmt: skip
    assert not processes_with(mark), answer
    return answer


def test_a_lost_host_costs_the_steps_since_the_last_checkpoint(parts: Parts, hosts: Hosts) -> None:
    hosts.lose("fakeB")
    timeline = hosts.folder / "t.json"
    answer = supervised(parts, hosts, "--store", str(hosts.store), "--timeline", str(timeline))
    assert answer.status == 0, answer
    assert f"4 ranks, {STEPS} steps, largest error 0" in answer.out
    assert "ranks 2-3 killed" in answer.err
    assert "begins again (1 of 3) without fakeB: 4 ranks, 0 spares" in answer.err
    again = timeline.with_stem("t-again-1").read_text()
    version = re.search(r'"event": "restarted"[^}]*"version": (\d+)', again)
    assert version, answer
    assert 0 < int(version[1]) < STEPS


def test_without_room_for_the_ranks_it_says_so(parts: Parts, hosts: Hosts) -> None:
    for name in ("fakeA", "fakeB"):
        hosts.lose(name)
    answer = supervised(parts, hosts)
    assert answer.status == 1, answer
    assert "the 1 hosts that answer have 2 slots for 4 ranks" in answer.err


def job(tmp_path: Path, **more: object) -> Job:
    """A job on three hosts with four slots each."""
    hostfile = tmp_path / "hosts"
    hostfile.write_text("a slots=4\nb slots=4 # the second\nc slots=4\n")
    return Job(["./app"], 8, hostfile=hostfile, **more)  # type: ignore[arg-type]


def test_spares_make_up_for_lost_hosts(tmp_path: Path) -> None:
    before = job(tmp_path, spares=4)
    assert before.hostfile is not None
    left = [host for host in read_hosts(before.hostfile) if host.name != "b"]
    after = fit(before, left, tmp_path / "left")
    assert (after.ranks, after.spare_count) == (8, 0)
    assert (tmp_path / "left").read_text() == "a slots=4\nc slots=4\n"


@pytest.mark.parametrize(
    ("count", "word"), [(0, "no host answers any more"), (1, "4 slots for 8 ranks")]
)
def test_too_few_hosts_are_a_result(count: int, word: str, tmp_path: Path) -> None:
    before = job(tmp_path, spares=4)
    assert before.hostfile is not None
    with pytest.raises(MpiError, match=word):
        fit(before, read_hosts(before.hostfile)[:count], tmp_path / "left")


def test_a_grid_keeps_its_places(tmp_path: Path) -> None:
    before = Job(["./app"], 9, shape="4x3", allocation="2D(1,1)", hostfile=job(tmp_path).hostfile)
    assert before.hostfile is not None
    with pytest.raises(MpiError, match="the grid 4x3 has 12 places"):
        fit(before, read_hosts(before.hostfile)[:2], tmp_path / "left")
