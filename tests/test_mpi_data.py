"""Checkpoints of MPI jobs that lose processes: second copies, parity, what has changed in memory; on the real MPI."""

from __future__ import annotations

import re
import socket
import struct
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from mpi_jobs.job import run_job
from mpi_jobs.parts import Parts


@pytest.mark.parametrize(
    ("corrupt", "version"),
    [("3", "[1-9][0-9]*"), ("2", "0")],
    ids=["the other copy is good", "the other copy is gone"],
)
def test_copies_that_have_changed_in_memory_are_not_used(
    parts: Parts, corrupt: str, version: str
) -> None:
    """Rank 1 dies, whose second copy is at rank 2; that of rank 3 is at rank 0."""
    program = [str(parts.program("examples/02_spares.c")), "150"]
    ended = run_job(
        parts,
        6,
        program,
        spares=2,
        kill="1@checkpoint+0.15",
        environment={"RUNFLAT_CORRUPT": corrupt},
    )
    assert "has changed in memory; it is left out" in ended.text, ended.text
    assert "4 ranks, 150 steps, largest error 0" in ended.text, ended.text
    again = [one["version"] for one in ended.events if one["event"] in ("restored", "checkpoint") and one["t"] > ended.first("repaired")]  # fmt: skip
    assert re.fullmatch(version, str(again[0])), again[:8]
    assert not ended.crash_words


@pytest.mark.parametrize(
    ("ranks", "parity", "kill", "corrupt", "again"),
    [
        (4, "3", "1@checkpoint+0.15", "", True),
        (8, "4", "1@checkpoint+0.15,2@checkpoint+0.15", "", True),
        (8, "4", "0@checkpoint,5@repair", "", None),
        (8, "4", "1@0.2,3@repair", "", False),
        (8, "4", "1@0.2", "4", True),
    ],
    ids=["all in one", "in two groups", "in phases", "in one group", "in one, and memory changes"],
)
def test_parity_gives_back_what_one_of_a_group_had(
    parts: Parts, ranks: int, parity: str, kill: str, corrupt: str, again: bool | None
) -> None:
    program = [str(parts.program("examples/02_spares.c")), "150"]
    told = {"RUNFLAT_PARITY": parity, "RUNFLAT_CORRUPT": corrupt}
    ended = run_job(parts, ranks + 3, program, spares=3, kill=kill, environment=told)
    assert ended.in_time
    assert f"{ranks} ranks, 150 steps, largest error 0\n" in ended.text, ended.text
    assert ended.ranks("killed")
    assert ("has changed in memory" in ended.text) == bool(corrupt)
    if again is not None:
        assert bool(ended.ranks("restored")) == again, ended.text


@pytest.mark.parametrize(
    ("second", "beginnings"),
    [("", [1]), ("2@reload", [2]), ("2@reload+0.003", [1, 2]), ("4@reload", [1]), ("4@reload+0.003", [1])],
    ids=["nobody", "who sends", "who is sending", "who gets it", "who is getting it"],
)  # fmt: skip
def test_data_come_home_within_the_repair(parts: Parts, second: str, beginnings: list[int]) -> None:
    """Rank 1 dies, whose second copy is at rank 2; the first spare, process 4, takes over, and one of these dies then."""
    program = [str(parts.program("tests/homing.c")), "16", "60"]
    kill = ",".join(["1@checkpoint:4"] + [second] * bool(second))
    ended = run_job(parts, 7, program, spares=3, kill=kill)
    assert ended.in_time
    died = {one["rank"]: one["t"] for one in ended.events if one["event"] == "killed"}
    assert died.keys() == {int(one.split("@")[0]) for one in kill.split(",")}
    for rank in range(4):
        assert f"rank {rank}: data good at 60" in ended.text, ended.text
    began = max(map(int, re.findall(r"began (\d+) times", ended.text)))
    assert began in beginnings, ended.text
    taker = [one["rank"] for one in ended.events if one["event"] == "took_over" and one["as"] == 1][-1]  # fmt: skip
    if began == 1:
        of_taker = {one["event"]: one["t"] for one in ended.events if one["rank"] == taker}
        assert died[1] < of_taker["brought"] <= of_taker["repaired"] <= of_taker["restored"]
    assert not ended.crash_words


@pytest.mark.parametrize("parity", ["0", "3"], ids=["second copies", "parity"])
@pytest.mark.parametrize("kill", ["", "1@0.2", "2@checkpoint+0.0005", "0@0.15,3@0.3"])
def test_checkpoints_beside_the_computation_bring_data_back(
    parts: Parts, kill: str, parity: str
) -> None:
    program = [str(parts.program("examples/06_background.c")), "150"]
    told = {"RUNFLAT_PARITY": parity}
    ended = run_job(parts, 6, program, spares=2, kill=kill, environment=told)
    assert "4 ranks, 150 steps, largest error 0\n" in ended.text, ended.text
    assert ended.ranks("killed") == {int(one.split("@")[0]) for one in kill.split(",") if one}
    versions = [one["version"] for one in ended.events if one["event"] == "checkpoint"]
    assert set(versions) >= set(range(100, 151, 10))
    assert "has changed in memory" not in ended.text
    assert not ended.crash_words


@pytest.mark.parametrize("stored", [False, True])
def test_what_nobody_has_in_memory_comes_from_files(
    parts: Parts, tmp_path: Path, stored: bool
) -> None:
    """The second copy of rank 1 is at rank 2."""
    program = [str(parts.program("examples/02_spares.c")), "150"]
    told = {"RUNFLAT_STORE": str(tmp_path)} if stored else {}
    ended = run_job(
        parts, 7, program, spares=3, kill="1@checkpoint+0.15,2@checkpoint+0.15", environment=told
    )
    assert "4 ranks, 150 steps, largest error 0\n" in ended.text, ended.text
    assert ended.ranks("killed") == {1, 2}
    assert bool(ended.ranks("restored")) == stored
    if stored:
        died = ended.first("killed")
        versions = {one["version"] for one in ended.events if one["event"] == "checkpoint" and one["t"] > died}  # fmt: skip
        assert 0 not in versions
    assert not ended.crash_words


WORD = 1 << 64


def checksum(data: bytes) -> int:
    """Add up as the library does; whole words alone."""
    total = len(data)
    for (word,) in struct.iter_unpack("<Q", data):
        total = (total ^ word) * 0x9E3779B97F4A7C15 % WORD
        total ^= total >> 29
    return total ^ total >> 32


def name_as_number(job: str) -> int:
    number = 0xCBF29CE484222325
    for byte in job.encode():
        number = (number ^ byte) * 0x100000001B3 % 2**64
    return number if job else 0


@dataclass(frozen=True)
class Stored:
    """A checkpoint in a file: who was where how often, and what it had."""

    rank: int
    version: int
    times: int
    value: int
    job: str = ""

    def write(self, folder: Path) -> None:
        data = struct.pack("<3q", 7, 8, self.value)
        head = struct.pack("<8sQ3q2Q", b"rfcopy3", name_as_number(self.job), self.rank, self.version, self.times, len(data), checksum(data))  # fmt: skip
        (folder / f"rank-{self.rank}.{self.version:020d}").write_bytes(head + data)


def again(
    parts: Parts, store: Path, *words: str, restart: bool = True, job: str = "", kill: str = ""
) -> tuple[str, list[int]]:
    """Begin again with three ranks, and a spare if one is killed: what is printed, and the passes of all files then."""
    told = {"RUNFLAT_STORE": str(store), "RUNFLAT_RESTART": str(int(restart)), "RUNFLAT_JOB": job}
    program = [str(parts.program("tests/passes.c")), *words]
    ended = run_job(parts, 3 + bool(kill), program, spares=int(bool(kill)), kill=kill, environment=told)  # fmt: skip
    assert bool(ended.ranks("killed")) == bool(kill)
    assert ended.in_time
    assert not ended.crash_words, ended.text
    files = [file for file in store.glob("*/rank-*") if file.suffix != ".before"]
    return ended.text, [struct.unpack_from("<8sQ3q", file.read_bytes())[4] for file in files]


@pytest.mark.parametrize("seed", range(4))
def test_a_job_begins_again_from_the_last_version_that_is_whole(
    parts: Parts, tmp_path: Path, seed: int
) -> None:
    """Files of several passes lie about; those of one version and one pass go together, of the last pass first."""
    random = Random(seed)
    folder = tmp_path / socket.gethostname()
    folder.mkdir()
    drawn = {(random.randrange(3), version): random.randrange(3) for version in (10, 20, 30) for _ in range(6)}  # fmt: skip
    for (rank, version), times in drawn.items():
        Stored(rank, version, times, 100 * times + version).write(folder)
    whole = [
        (times, version)
        for times in range(3)
        for version in (10, 20, 30)
        if all(drawn.get((rank, version)) == times for rank in range(3))
    ]
    if seed % 2 == 0:
        times, version = random.randrange(3), 40
        whole.append((times, version))
        for rank in range(3):
            Stored(rank, version, times, 100 * times + version).write(folder)
    times, version = max(whole, default=(0, -1))
    text, _ = again(parts, tmp_path)
    value = 100 * times + version if whole else 0
    for rank in range(3):
        assert f"rank {rank}: version {version}, value {value}\n" in text, (drawn, text)


def test_what_a_job_writes_after_it_began_again_counts_more(parts: Parts, tmp_path: Path) -> None:
    folder = tmp_path / socket.gethostname()
    folder.mkdir()
    for rank in range(3):
        Stored(rank, 10, 0, 1).write(folder)
    Stored(0, 50, 0, 666).write(folder)
    text, passes = again(parts, tmp_path, "20", "2")
    assert text.count("version 10, value 1\n") == 3
    # After it began again, and again after it restored.
    assert set(passes) == {0, 2}
    # Had rank 1 and 2 got so far, too, in the job before: the one after it has not.
    for rank in (1, 2):
        Stored(rank, 50, 0, 666).write(folder)
    text, _ = again(parts, tmp_path)
    assert text.count("version 20, value 2\n") == 3, text


def test_a_job_that_has_lost_ranks_leaves_the_files_that_all_have(
    parts: Parts, tmp_path: Path
) -> None:
    """It goes on with three ranks; who begins it again has four."""
    program = [str(parts.program("tests/collective.c")), "100"]
    store = {"RUNFLAT_STORE": str(tmp_path)}
    first = run_job(parts, 4, program, kill="1@checkpoint:5", environment=store)
    assert "3 ranks, 100 steps" in first.text, first.text
    again = run_job(parts, 4, program, environment=store | {"RUNFLAT_RESTART": "1"})
    assert "4 ranks, 100 steps, largest error 0\n" in again.text, again.text
    restored = [one["version"] for one in again.events if one["event"] == "restored"]
    assert restored == [30] * 4


def test_checkpoints_of_another_job_are_set_aside(parts: Parts, tmp_path: Path) -> None:
    folder = tmp_path / socket.gethostname()
    folder.mkdir()
    for rank in range(3):
        Stored(rank, 10, 0, 1).write(folder)
    text, passes = again(parts, tmp_path, restart=False)
    assert "3 checkpoints of an earlier job" in text
    assert text.count("version -1, value 0\n") == 3
    assert not passes
    assert len(list(folder.glob("*.before"))) == 3


def test_checkpoints_of_a_job_are_told_from_those_of_others(parts: Parts, tmp_path: Path) -> None:
    folder = tmp_path / socket.gethostname()
    folder.mkdir()
    for rank in range(3):
        Stored(rank, 10, 0, 1, "one").write(folder)
        Stored(rank, 20, 0, 2, "other").write(folder)
    (folder / "rank-1.00000000000000000030.4194305").write_bytes(b"by half")
    text, _ = again(parts, tmp_path, job="one")
    assert "3 checkpoints of an earlier job" in text
    assert text.count("version 10, value 1\n") == 3, text
    assert sorted(folder.glob("*.before")) == [
        folder / f"rank-{rank}.{20:020d}.before" for rank in range(3)
    ]
    assert not list(folder.glob("*.4194305"))
    text, _ = again(parts, tmp_path, job="none")
    assert text.count("version -1, value 0\n") == 3, text


@pytest.mark.parametrize("dead", [0, 1, 2])
def test_files_are_read_where_a_process_dies_that_would_have_read_some(
    parts: Parts, tmp_path: Path, dead: int
) -> None:
    folder = tmp_path / socket.gethostname()
    folder.mkdir()
    for rank in range(3):
        Stored(rank, 10, 0, 1).write(folder)
    text, _ = again(parts, tmp_path, kill=f"{dead}@0")
    assert text.count("version 10, value 1\n") == 3, text


def test_what_is_written_after_a_failure_is_told_from_what_was_before(
    parts: Parts, tmp_path: Path
) -> None:
    """A version that comes again need not have the same data."""
    program = [str(parts.program("tests/collective.c")), "100"]
    passes = []
    for kill in ("", "1@checkpoint:5"):
        store = tmp_path / f"store{bool(kill)}"
        ended = run_job(parts, 4, program, spares=1, kill=kill, environment={"RUNFLAT_STORE": str(store)})  # fmt: skip
        assert "3 ranks, 100 steps, largest error 0" in ended.text, ended.text
        files = store.glob("*/rank-*")
        passes.append({struct.unpack_from("<8sQ3q", file.read_bytes())[4] for file in files})
    before, after = passes
    assert max(before) < min(after)


IN_SQUARE = {
    "RUNFLAT_SHAPE": "3x3",
    "RUNFLAT_ALLOCATION": "2D(2,1)",
    "RUNFLAT_POLICY": "hybrid(all)",
}


@pytest.mark.parametrize("parity", ["0", "4"], ids=["second copies", "parity"])
def test_ranks_that_become_spares_hand_over_what_they_hold(parts: Parts, parity: str) -> None:
    """Ranks slide twice, and one that holds what another one's data are brought back from sleeps then."""
    program = [str(parts.program("tests/collective.c")), "220", "creation"]
    told = IN_SQUARE | {"RUNFLAT_PARITY": parity}
    ended = run_job(
        parts, 9, program, spares=5, kill="3@checkpoint+0.1,2@restore+0.1", environment=told
    )
    assert "4 ranks, 220 steps, largest error 0\n" in ended.text, ended.text
    assert ended.ranks("killed") == {2, 3}
    assert ended.ranks("brought")
    died = [one["t"] for one in ended.events if one["event"] == "killed"]
    later = [one for one in ended.events if one["event"] == "restored" and one["t"] > max(died)]
    assert {one["rank"] for one in later} == {4, 5, 7, 8}, later
    assert not ended.crash_words
