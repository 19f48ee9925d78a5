"""Jobs on several hosts, over TCP: what goes wrong between hosts only, on the real MPI."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from mpi_jobs import matrix
from mpi_jobs.hosts import Hosts, make_hosts
from mpi_jobs.job import run_job
from mpi_jobs.parts import Parts
from opensm.missing import Missing


@pytest.fixture
def hosts(tmp_path: Path) -> Hosts:
    try:
        return make_hosts(tmp_path / "hosts", count=2, slots=7)
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("phase", matrix.PHASES)
def test_all_ranks_of_a_host_die_and_its_daemon_lives(
    parts: Parts, hosts: Hosts, phase: str
) -> None:
    del hosts  # skips where there can be none
    cell = matrix.draw(8, "node", phase, Random(f"3 node {phase}"))
    judged = matrix.judge(parts, cell)
    ended = judged.ended
    assert not judged.wrong, f"{cell}\n{judged.held_up}\n{ended.text}\n{ended.told}"
    assert len(ended.ranks("killed")) >= 3


@pytest.mark.parametrize("what", ["create", "allocate", "dynamic"])
def test_nobody_waits_for_the_memory_of_a_window_whose_first_process_has_died(
    parts: Parts, hosts: Hosts, what: str
) -> None:
    two = make_hosts(hosts.folder / "two", count=2, slots=2)
    program = [str(parts.program("tests/leader.c")), what]
    limit = {"RUNFLAT_STEP_LIMIT_S": "10"}
    ended = run_job(parts, 4, program, environment=limit, limit_s=30, options=two.options)
    told = sorted(re.findall(r"rank \d: .*\n", ended.text))
    asked = {1: "had it", 2: "asked", 3: "asked"}
    assert told == [f"rank {rank}: {asked[rank]}, failed, 3 are left\n" for rank in asked], (
        ended.text
    )
    assert ended.ranks("finalized") == {1, 2, 3}, ended.text
    assert not ended.crash_words


def test_the_last_hosts_of_the_file_are_spares(parts: Parts, hosts: Hosts) -> None:
    three = make_hosts(hosts.folder / "three", count=3, slots=2)
    program = [str(parts.program("examples/02_spares.c")), "150"]
    ended = run_job(parts, 6, program, spares=2, kill="1@checkpoint+0.1", options=three.options)
    on = {one["rank"]: one["host"] for one in ended.events if one["event"] == "started"}
    assert on == {rank: three.names[rank // 2] for rank in range(6)}
    assert ended.ranks("killed") == {1}
    assert ended.ranks("took_over") == {4}
    assert "4 ranks, 150 steps, largest error 0\n" in ended.text, ended.text


def test_a_spare_of_the_same_host_takes_over(parts: Parts, hosts: Hosts) -> None:
    """Host by host in turn, ranks 1 and 3 and spare 5 are on the second one; spare 4 is nearer in the order of ranks."""
    program = [str(parts.program("examples/02_spares.c")), "150"]
    by_host = [word.replace("slot", "node") for word in hosts.options]
    ended = run_job(parts, 6, program, spares=2, kill="1@checkpoint+0.1", options=by_host)
    assert "4 ranks, 150 steps, largest error 0\n" in ended.text, ended.text
    assert (ended.ranks("killed"), ended.ranks("took_over")) == ({1}, {5})


SWITCH = 's$(( $(printf %d "\'${host: -1}") % 2 ))'
"""Hosts A and C have one, B and D the other."""


@pytest.mark.parametrize(
    ("slurm", "listed", "spare"),
    [(False, False, 2), (True, False, 3), (False, True, 3)],
    ids=["nothing is known", "Slurm says it", "a file says it"],
)
def test_a_spare_under_the_same_switch_takes_over(
    parts: Parts, tmp_path: Path, slurm: bool, listed: bool, spare: int
) -> None:
    enter = f"env SLURM_TOPOLOGY_ADDR=s.{SWITCH}.$host" if slurm else ""
    try:
        hosts = make_hosts(tmp_path / "hosts", count=4, slots=1, enter=enter)
    except Missing as missing:
        pytest.skip(str(missing))
    sites = tmp_path / "sites"
    sites.write_text("fakeA s.a\nfakeB s.b\nfakeC.of.them s.a\nfakeD s.b\n", encoding="utf-8")
    told = {"RUNFLAT_SITES": str(sites)} if listed else {}
    program = [str(parts.program("examples/02_spares.c")), "150"]
    ended = run_job(
        parts,
        4,
        program,
        spares=2,
        kill="1@checkpoint+0.1",
        options=hosts.options,
        environment=told,
    )
    assert "2 ranks, 150 steps, largest error 0\n" in ended.text, ended.text
    assert (ended.ranks("killed"), ended.ranks("took_over")) == ({1}, {spare}), ended.told


def test_a_message_to_a_stranger_of_a_dead_host_does_not_wait(parts: Parts, hosts: Hosts) -> None:
    program = [str(parts.program("tests/stranger.c")), str(hosts.slots)]
    ended = run_job(parts, 8, program, options=hosts.options, limit_s=20)
    assert ended.in_time
    assert "rank 7: not sent" in ended.text
    assert not ended.left_behind


def test_receives_that_failed_before_mpi_knew_are_gone(parts: Parts) -> None:
    over_tcp = {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "lo"}
    ended = run_job(parts, 3, [str(parts.program("tests/pending.c"))], environment=over_tcp)
    assert "rank 1: 8 failed, 200 of 200 right" in ended.text, ended.text
    assert "rank 2: 0 failed, 200 of 200 right" in ended.text, ended.text
    assert ended.in_time
    assert not ended.crash_words


def test_a_stopped_process_that_is_alone_on_its_host_is_fenced(parts: Parts, hosts: Hosts) -> None:
    alone = make_hosts(hosts.folder / "alone", count=4, slots=1)
    program = [str(parts.program("examples/02_spares.c")), "150"]
    # A busy machine may be late once.
    took: list[float] = []
    while not took or (took[-1] >= 1.5 and len(took) < 3):
        ended = run_job(parts, 4, program, spares=1, stop="1@0.1", options=alone.options)
        assert ended.ranks("stopped") == {1}
        assert "3 ranks, 150 steps, largest error 0\n" in ended.text
        assert ended.in_time
        assert not ended.left_behind
        took.append(ended.first("fenced") - ended.first("stopped"))
    assert took[-1] < 1.5, took
