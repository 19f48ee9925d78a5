"""A job that mpirun has given up begins again: the loss of a host with its daemon, on the real MPI."""

from __future__ import annotations

import json
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from command import finish
from command import program as runflat
from mpi_jobs.hosts import OWN_MEMORY, Hosts, make_hosts
from mpi_jobs.job import Ended
from mpi_jobs.network import network
from mpi_jobs.parts import Parts
from mpi_jobs.supervised import run_supervised
from opensm.missing import Missing
from runflat.mpi_launch import Job, MpiError
from runflat.mpi_launch.hosts import read_hosts
from runflat.mpi_launch.supervise import fit

STEPS = 800


def hosts_called(name: str, folder: Path, enter: str = "") -> Hosts:
    """Make 3 hosts with 2 slots; skip by name where that is not possible."""
    try:
        return make_hosts(folder / "hosts", count=3, slots=2, name=name, enter=enter)
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture
def hosts(tmp_path: Path) -> Hosts:
    return hosts_called("fake", tmp_path)


def supervised(parts: Parts, hosts: Hosts) -> Ended:
    """Run the heat cells on 3 hosts with 2 slots; host B dies with its daemon after 0.8 s."""
    ended = run_supervised(parts, hosts, "examples/02_spares.c", 4, 2, ["node:fakeB@0.8"], STEPS)
    assert not ended.left_behind, ended
    return ended


def test_a_lost_host_costs_the_steps_since_the_last_checkpoint(parts: Parts, hosts: Hosts) -> None:
    hosts.lose("fakeB")
    ended = supervised(parts, hosts)
    assert ended.status == 0, ended
    assert f"4 ranks, {STEPS} steps, largest error 0" in ended.text
    assert "ranks 2-3 killed" in ended.text
    assert "begins again (1 of 3) without fakeB: 4 ranks, 0 spares" in ended.text
    again = (hosts.folder / "timeline-again-1.json").read_text()
    assert json.loads(again)["attempt"] == 2
    version = re.search(r'"event": "restarted"[^}]*"version": (\d+)', again)
    assert version, ended
    assert 0 < int(version[1]) < STEPS


@pytest.mark.parametrize("kept", [False, True])
def test_a_lost_host_leaves_nothing_in_memory(parts: Parts, tmp_path: Path, *, kept: bool) -> None:
    hosts = hosts_called("gone", tmp_path)
    ended = run_supervised(
        parts, hosts, "examples/02_spares.c", 4, 2, ["node:goneB@0.8"], STEPS, kept=kept
    )
    assert ended.ranks("killed") == {2, 3}
    assert ended.status == 0, ended
    assert any(hosts.store.rglob("*")) == kept
    assert not list(Path("/dev/shm").rglob("*gone*"))


def test_a_job_goes_on_from_what_an_earlier_one_has_left(
    parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after the time limit of a batch job."""
    monkeypatch.setenv("RUNFLAT_POLICY_LIBRARY", str(parts.policy))
    timeline, store = tmp_path / "timeline.json", tmp_path / "store"
    line = runflat(
        "mpi", "run", "-n", "3", "--spares", "1", "--supervise", "--store", store, "--library", parts.library,
        "--timeline", timeline,
    )  # fmt: skip
    heat = parts.program("examples/02_spares.c")
    assert finish([*line, "--limit", "1.5", heat, "100000"]).status == 124
    answer = finish([*line, "--resume", "--limit", "60", heat, "4000"])
    assert "3 ranks, 4000 steps, largest error 0" in answer.out, answer
    restarted = [
        one for one in json.loads(timeline.read_text())["events"] if one["event"] == "restarted"
    ]
    assert len({one["version"] for one in restarted}) == 1
    assert 0 < restarted[0]["version"] < 4000
    assert "goes on from what 3 ranks have left" in answer.err
    assert f"it had gone on from version {restarted[0]['version']} of files" in answer.err
    # Another number of ranks has other data.
    before = sorted(store.rglob("*"))
    wrong = [*line[: line.index("3")], "2", *line[line.index("3") + 1 :]]
    answer = finish([*wrong, "--resume", "--limit", "60", heat, "4000"])
    assert answer.status == 2
    assert "ranks up to 2, and this job has 2 ranks: give -n 3" in answer.err
    assert sorted(store.rglob("*")) == before
    # What it has written itself is gone on from as well, on other hosts too; a job that is another one begins anew.
    (store / os.uname().nodename).rename(store / "elsewhere")
    answer = finish([*line, "--resume", "--limit", "60", heat, "4100"])
    assert '"version": 4000' in timeline.read_text(), answer
    assert "ranks have left in" in answer.err
    assert "on elsewhere too" in answer.err
    answer = finish([*line, "--limit", "60", heat, "100"])
    assert "of an earlier job" in answer.err, answer
    assert "restarted" not in timeline.read_text()


@pytest.mark.parametrize("allocated", [False, True])
def test_all_hosts_are_looked_at_before_a_job_goes_on(
    parts: Parts, tmp_path: Path, *, allocated: bool
) -> None:
    """Each has files of its own, which nobody else sees; a version of which a rank has no file is none."""
    hosts = hosts_called("kept", tmp_path, OWN_MEMORY)
    store = Path("/dev/shm/kept-by-hosts")

    def run(steps: int, *words: str) -> Ended:
        words = ("--store", str(store), *words)
        heat = "examples/02_spares.c"
        return run_supervised(
            parts, hosts, heat, 4, 2, [], steps, words, kept=False, allocated=allocated
        )

    assert run(30).status == 0
    more = run(60, "--resume")
    assert "goes on from what 4 ranks have left" in more.text, more
    assert "4 ranks, 60 steps, largest error 0" in more.text, more
    assert not store.exists()
    for file in (hosts.folder / "memory").rglob("rank-2.*"):
        file.unlink()
    last = run(90, "--resume")
    assert last.status == 2
    assert "of which all 4 ranks have left a checkpoint" in last.text, last


def test_hosts_of_an_allocation_are_those_that_ranks_started_on(
    parts: Parts, tmp_path: Path
) -> None:
    hosts = hosts_called("given", tmp_path, OWN_MEMORY)
    hosts.lose("givenB")
    ended = run_supervised(
        parts, hosts, "examples/02_spares.c", 4, 2, ["node:givenB@0.8"], STEPS, kept=False, allocated=True
    )  # fmt: skip
    assert ended.status == 0, ended
    assert "begins again (1 of 3) without givenB: 4 ranks, 0 spares" in ended.text
    assert f"4 ranks, {STEPS} steps, largest error 0" in ended.text
    assert '"event": "restarted"' in (hosts.folder / "timeline-again-1.json").read_text()
    for name in ("givenA", "givenC"):
        assert not list((hosts.folder / "memory" / name).glob("runflat-*"))
    assert not ended.left_behind


def test_without_room_for_the_ranks_it_says_so(parts: Parts, hosts: Hosts) -> None:
    for name in ("fakeA", "fakeB"):
        hosts.lose(name)
    ended = supervised(parts, hosts)
    assert ended.status == 1, ended
    assert "the hosts that answer (1) have 2 slots for 4 ranks" in ended.text


def test_a_host_that_falls_silent_is_lost(parts: Parts, tmp_path: Path) -> None:
    events = tmp_path / "events"
    words = ["--host-timeout", "3", "--events", str(events)]
    try:
        with network(tmp_path / "hosts", count=3, slots=2) as net, ThreadPoolExecutor(1) as aside:
            net.hosts.lose("fakeB")
            running = aside.submit(
                run_supervised, parts, net.hosts, "examples/02_spares.c", 4, 2, [], 2 * STEPS, words
            )
            wait_for_checkpoints(events)
            net.pull("fakeB")
            ended = running.result()
    except Missing as missing:
        pytest.skip(str(missing))
    assert ended.status == 0, ended
    assert "begins again (1 of 3) without fakeB: 4 ranks, 0 spares" in ended.text
    assert f"4 ranks, {2 * STEPS} steps, largest error 0" in ended.text
    again = (net.hosts.folder / "timeline-again-1.json").read_text()
    assert '"event": "restarted"' in again
    assert not ended.left_behind


def wait_for_checkpoints(events: Path, seconds: float = 60) -> None:
    """Wait until each of the four ranks has made some."""
    files = [events / f"rank-{rank}.jsonl" for rank in range(4)]
    until = time.monotonic() + seconds
    while not all(file.exists() and file.read_text().count("checkpoint") > 3 for file in files):
        assert time.monotonic() < until, "no checkpoints"
        time.sleep(0.05)


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
