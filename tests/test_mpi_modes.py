"""Error range and uniformity of communicators, windows and files when processes die; on the real MPI."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from mpi_jobs.hosts import make_hosts
from mpi_jobs.job import Ended, run_job
from mpi_jobs.parts import Parts
from opensm.missing import Missing


@pytest.mark.parametrize(
    ("key", "value", "where", "word"),
    [
        ("mpix_error_range", "local", "outside", "SUCCESS"),
        ("mpix_error_range", "universe", "outside", "REVOKED"),
        ("mpix_error_scope", "global", "outside", "REVOKED"),
        ("mpix_assert_error_scope", "group", "outside", "SUCCESS"),
        ("mpi_error_range", "group", "inside", "REVOKED"),
    ],
)
def test_failures_in_the_range_interrupt(
    parts: Parts, key: str, value: str, where: str, word: str
) -> None:
    ended = run_job(parts, 6, [str(parts.program("tests/range.c")), key, value, where])
    read = "universe" if value == "global" else value
    found = re.search(rf"range {read}: (\w+) after ([\d.]+) ms", ended.text)
    assert found, ended.text
    assert found[1] == word
    assert word == "SUCCESS" or float(found[2]) < 1000


@pytest.mark.parametrize(
    ("how", "watch", "word"),
    [
        ("past", {}, "REVOKED"),
        ("past", {"RUNFLAT_WATCH_MS": "5"}, "REVOKED"),
        ("busy", {}, "SUCCESS"),
        ("busy", {"RUNFLAT_WATCH_MS": "5"}, "REVOKED"),
        ("busy", {"RUNFLAT_WATCH_MS": "events"}, "REVOKED"),
        ("busy", {"RUNFLAT_WATCH_MS": "60000"}, "REVOKED"),
    ],
)
def test_who_waits_past_the_library_or_in_no_call(
    parts: Parts, how: str, watch: dict[str, str], word: str
) -> None:
    """Failures are looked for whenever MPI makes progress; the watcher makes some where the program does not."""
    program = [str(parts.program("tests/range.c")), "mpix_error_range", "group", "inside", how]
    ended = run_job(parts, 6, program, environment=watch)
    assert ended.in_time
    assert f"range group: {word}" in ended.text, ended.text
    assert not ended.crash_words


@pytest.mark.parametrize("seed", range(1, 7))
def test_uniform_calls_of_all_kinds_count_alike(parts: Parts, seed: int) -> None:
    """One who waits for a message that is sent only after a good call would hang, were a call not uniform."""
    assert_uniform(
        run_job(parts, 3 + seed, [str(parts.program("tests/confirm.c")), str(seed)]),
        "shared memory",
    )


@pytest.mark.parametrize("seed", range(7, 10))
def test_so_they_do_on_several_hosts(parts: Parts, tmp_path: Path, seed: int) -> None:
    try:
        hosts = make_hosts(tmp_path / "hosts", count=2, slots=3)
    except Missing as missing:
        pytest.skip(str(missing))
    program = [str(parts.program("tests/confirm.c")), str(seed)]
    assert_uniform(run_job(parts, 6, program, options=hosts.options), "messages")


def assert_uniform(ended: Ended, by: str) -> None:
    """All have counted the same calls, over the barriers of this kind."""
    assert ended.in_time
    assert re.search(
        rf"{by}: first error after call (\d+) to \1, class (\d+) to \2: uniform", ended.text
    ), ended.text
    assert not ended.crash_words
    assert not ended.left_behind


def test_memory_of_others_is_not_taken_for_that_of_a_communicator(parts: Parts) -> None:
    """Numbers of processes and files are those of others in another container."""
    ended = run_job(parts, 4, [str(parts.program("tests/mistaken.c"))])
    assert "ranks 0 and 1: one memory, ranks 2 and 3: none\n" in ended.text, ended.text
    assert ended.ranks("finalized") == {0, 1, 2, 3}


def test_who_comes_last_to_a_uniform_barrier_hears_what_there_is(parts: Parts) -> None:
    ended = run_job(parts, 2, [str(parts.program("tests/heard.c"))])
    told = re.search(r"heard in (\d+) of 20 barriers\n", ended.text)
    assert told, ended.text
    assert int(told[1]) >= 18


OBJECTS = ["create", "allocate", "shared", "dynamic", "file"]


@pytest.mark.parametrize("kind", OBJECTS)
def test_all_have_a_window_or_file_or_none(parts: Parts, kind: str, tmp_path: Path) -> None:
    """Five processes make one again and again until one of them dies."""
    late_us = Random(kind).randrange(5000)
    program = [str(parts.program("tests/objects.c")), kind, str(tmp_path), str(late_us)]
    ended = run_job(parts, 5, program)
    told = re.findall(r"rank \d: (\d+) made, (\d+) used, (\w+), 4 go on", ended.text)
    assert len(told) == 4, ended.text
    assert len({(made, end) for made, _, end in told}) == 1, told
    assert all(int(used) >= 20 and end == "PROC_FAILED" for _, used, end in told), told
    assert ended.in_time
    assert not ended.crash_words


@pytest.mark.parametrize("kind", OBJECTS)
def test_windows_and_files_have_an_error_range(parts: Parts, kind: str, tmp_path: Path) -> None:
    ended = run_job(parts, 4, [str(parts.program("tests/objects.c")), kind, str(tmp_path), "range"])
    assert "range universe: REVOKED, at once; data protected: false" in ended.text, ended.text
    assert ended.text.count("MPI_Put, MPI_File_write and their kind) is not protected") == 1
    assert not ended.crash_words


def test_a_range_that_there_is_not_is_refused(parts: Parts) -> None:
    ended = run_job(
        parts, 4, [str(parts.program("tests/range.c")), "mpix_error_range", "all", "inside"]
    )
    assert "`all` is none of local, group, universe" in ended.text


@pytest.mark.parametrize("ahead", [[], ["8"], ["8", "persistent"]])
def test_uniform_collectives_fail_at_the_same_call_everywhere(
    parts: Parts, ahead: list[str]
) -> None:
    program = [str(parts.program("tests/uniform.c")), "coll", *ahead]
    ended = run_job(parts, 8, program)
    assert "is gone" not in ended.text, ended.text
    assert re.search(r"first error at call 51 to 51, class (\d+) to \1: uniform", ended.text), (
        ended.text
    )


@pytest.mark.parametrize("mode", ["local", "coll"])
def test_with_threads_a_death_is_a_failure_too(parts: Parts, mode: str) -> None:
    """Barriers, of which Open MPI says MPI_ERR_OTHER then."""
    ended = run_job(parts, 4, [str(parts.program("tests/threads.c")), mode])
    told = re.findall(r"rank \d: threads 1, class (\d+), a failure: 1", ended.text)
    assert len(told) == 3, ended.text
    assert mode == "local" or set(told) in ({"75"}, {"77"}), ended.text
    assert ended.in_time
    assert not ended.left_behind


def test_errors_of_requests_do_not_come_to_the_world_while_several_threads_wait(
    parts: Parts,
) -> None:
    ended = run_job(parts, 3, [str(parts.program("tests/threads.c")), "waits"])
    told = re.findall(r"rank [01]: class 0, then class (\d+)\n", ended.text)
    assert len(told) == 2, ended.text
    assert set(told) in ({"75"}, {"77"}), ended.text
    assert "MPI_ERRORS_ARE_FATAL" not in ended.text


def test_collectives_that_are_not_uniform_differ(parts: Parts) -> None:
    """The fault is real: without the mode, processes see it at different calls."""
    ended = run_job(parts, 8, [str(parts.program("tests/uniform.c")), "local"])
    assert "not uniform" in ended.text


@pytest.mark.parametrize("what", ["agree", "create", "shrink", "checkpoint"])
def test_agreements_are_right_beside_other_threads(parts: Parts, what: str) -> None:
    """Open MPI's own come out with any flags: in 3 of 3 jobs of a program that does as `agree`."""
    ended = run_job(parts, 3, [str(parts.program("tests/talks.c")), what, "2000"])
    told = re.findall(r"rank \d: (\d+) of 2000 wrong, (\d+) in the thread", ended.text)
    assert told == [("0", "0")] * 3, ended.text
