"""What the header and the docs promise beside the recovery itself: modes that stay, orders, errors that no repair mends, limits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from command import finish, spawn
from mpi_jobs.job import run_job
from mpi_jobs.measured import mpirun_line
from mpi_jobs.parts import Parts
from mpi_jobs.stand_ins import script


@pytest.mark.parametrize("value", ["group", "universe"])
def test_modes_stay_and_repaired_failures_interrupt_no_more(parts: Parts, value: str) -> None:
    program = [str(parts.program("tests/again.c")), value, "150"]
    ended = run_job(parts, 6, program, spares=2, kill="1@0.1,2@0.25")
    told = re.findall(rf"rank \d: range {value}, uniform coll, (\d) repairs", ended.text)
    assert ended.ranks("killed") == {1, 2}
    assert len(told) == 4, ended.text
    # Two that are found together are one repair.
    assert set(told) <= {"1", "2"}
    assert not ended.crash_words


@pytest.mark.parametrize("how", [[], ["request"]])
def test_agreements_of_a_program_come_after_earlier_uniform_calls(
    parts: Parts, how: list[str]
) -> None:
    ended = run_job(parts, 4, [str(parts.program("tests/order.c")), *how])
    told = re.findall(r"rank \d: 0 agreements wrong, 0 calls failed", ended.text)
    assert len(told) == 4, ended.text


TOLD = r"^(\w+(?: persistent)?(?: others)?(?: ignored)?): ([\w ]+), (gone|kept)$"
RF_ERR_NO_SPARE = -101
RF_ERR_ARGUMENT = -105
MPI_ERR_COMM = 5
MPI_ERR_ARG = 13
MPI_ERR_INFO_VALUE = 33
MPI_ERR_NO_MEM = 39


@pytest.mark.parametrize("parity", ["", "3"])
def test_versions_that_differ_are_an_error_at_all_ranks(parts: Parts, parity: str) -> None:
    program = [str(parts.program("tests/misuse.c")), "versions"]
    ended = run_job(parts, 3, program, environment={"RUNFLAT_PARITY": parity})
    told = re.findall(r"rank \d: codes (.*), version (.*)", ended.text)
    assert told == [(f"{RF_ERR_ARGUMENT} {MPI_ERR_ARG} 0 0", "6")] * 3, ended.text
    said = re.findall(r"rank (\d). RF_(C|Ic)heckpoint: version (\d+) is given here", ended.text)
    assert sorted(said) == [("0", "C", "4"), ("0", "Ic", "1"), ("1", "C", "5"), ("2", "Ic", "4096")]


@pytest.mark.parametrize("parity", ["", "3"])
def test_versions_that_are_too_low_are_an_error_at_all_ranks(parts: Parts, parity: str) -> None:
    program = [str(parts.program("tests/misuse.c")), "old"]
    ended = run_job(parts, 3, program, environment={"RUNFLAT_PARITY": parity})
    wrong, wrong_request = RF_ERR_ARGUMENT, MPI_ERR_ARG
    told = re.findall(r"rank \d: (.*)", ended.text)
    codes = f"codes 0 {wrong} {wrong_request} {wrong} {wrong_request} 0, version 5, then 0"
    assert told == [codes] * 3, ended.text
    assert ended.text.count("RF_Checkpoint: version 3 is given, and 5 counts already") == 1
    assert ended.text.count("RF_Icheckpoint: version -1 is given, and 5 counts already") == 1


@pytest.mark.parametrize("parity", ["", "3"])
def test_a_rank_may_protect_what_others_do_not(parts: Parts, parity: str) -> None:
    """And what is protected while a checkpoint is under way is of the next one."""
    program = [str(parts.program("tests/misuse.c")), "ids"]
    ended = run_job(parts, 3, program, environment={"RUNFLAT_PARITY": parity})
    told = sorted(re.findall(r"rank (\d: codes.*)", ended.text))
    codes = "codes 0 0 0 0, version 3"
    assert told == [f"0: {codes}, more ''", f"1: {codes}, more ''", f"2: {codes}, more 'own'"], ended.text  # fmt: skip


def test_a_version_that_is_refused_leaves_no_files_to_begin_again_from(
    parts: Parts, tmp_path: Path
) -> None:
    program = [str(parts.program("tests/misuse.c")), "partly"]
    ended = run_job(parts, 4, program, environment={"RUNFLAT_STORE": str(tmp_path)})
    assert ended.text.count(f"codes 0 {RF_ERR_ARGUMENT} {RF_ERR_ARGUMENT}\n") == 4, ended.text
    names = [re.fullmatch(r"rank-(\d)\.0*(\d)", file.name) for file in tmp_path.rglob("rank-*")]
    ranks: dict[str, set[str]] = {}
    for name in names:
        assert name
        ranks.setdefault(name[2], set()).add(name[1])
    assert ranks["6"] == ranks["7"] == {"0", "2", "3"}
    assert {version for version, whole in ranks.items() if len(whole) == 4} == {"5"}


def test_other_memory_than_at_the_checkpoint_is_an_error_at_all_ranks(parts: Parts) -> None:
    program = [str(parts.program("tests/misuse.c")), "protect"]
    ended = run_job(parts, 5, program, spares=1, kill="1@checkpoint+0.05")
    # The one that took over protects what was protected at first.
    told = re.findall(rf"rank \d: code {RF_ERR_ARGUMENT}\n", ended.text)
    assert len(told) == 4, ended.text
    assert "name the same" in ended.text
    assert ended.ranks("killed") == {1}
    assert len([one for one in ended.events if one["event"] == "repaired"]) <= 5


def test_who_takes_over_may_name_the_same_memory_in_another_order(parts: Parts) -> None:
    program = [str(parts.program("tests/misuse.c")), "reordered"]
    ended = run_job(parts, 5, program, spares=1, kill="1@checkpoint+0.05")
    assert ended.text.count(": code 0\n") == 4, ended.text
    assert ended.ranks("killed") == {1}
    assert ended.ranks("took_over") == {4}


def test_a_spare_may_become_a_rank_before_it_has_slept(parts: Parts) -> None:
    """Who has died before RF_Init is replaced there."""
    ended = run_job(
        parts, 4, [str(parts.program("tests/misuse.c")), "late"], spares=1, kill="1@0.1"
    )
    assert (ended.ranks("killed"), ended.ranks("took_over")) == ({1}, {3}), ended.text
    assert not ended.ranks("asleep")
    assert ended.ranks("finalized") == {0, 2, 3}, ended.text


@pytest.mark.parametrize("who", ["late", "store"])
def test_a_job_that_stops_for_want_of_spares_ends_properly(parts: Parts, who: str) -> None:
    """In RF_Init, and in RF_Repair: all that live are told, and MPI_Finalize repairs nothing any more."""
    ended = run_job(
        parts, 4, [str(parts.program("tests/misuse.c")), who], spares=1, kill="1@0.1,2@0.2",
        environment={"RUNFLAT_ON_EXHAUSTED": "stop"},
    )  # fmt: skip
    assert ended.ranks("killed") == {1, 2}
    told = re.findall(rf"(?:process|rank) \d: code {RF_ERR_NO_SPARE}\b", ended.text)
    assert len(told) == 2, ended.text
    assert ended.text.count("no spare is left: the job stops") == 1, ended.text
    assert ended.ranks("finalized") == {0, 3}, ended.text
    assert not ended.crash_words


def test_a_mode_that_one_process_has_wrong_is_an_error_at_all(parts: Parts) -> None:
    ended = run_job(parts, 3, [str(parts.program("tests/misuse.c")), "info"])
    told = dict(re.findall(r"rank (\d): codes ([\d ]*), nothing made 1", ended.text))
    codes = " ".join(4 * [str(MPI_ERR_INFO_VALUE)])
    assert told == {"0": codes, "1": codes, "2": codes}, ended.text
    assert ended.ranks("finalized") == {0, 1, 2}


def test_files_that_have_no_place_are_an_error_at_all_ranks(parts: Parts, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = run_job(
        parts, 4, [str(parts.program("tests/misuse.c")), "store"], spares=1,
        environment={"RUNFLAT_STORE": str(tmp_path / "file/store")},
    )  # fmt: skip
    assert len(re.findall(r"rank \d: code (?!0|-)\d+\n", ended.text)) == 3, ended.text
    assert "cannot be written" in ended.text
    assert not ended.ranks("repaired")


def test_a_repair_by_request_that_a_live_rank_never_joins_has_a_limit(parts: Parts) -> None:
    ended = run_job(
        parts, 4, [str(parts.program("tests/misuse.c")), "absent"],
        environment={"RUNFLAT_STEP_LIMIT_S": "2"}, limit_s=20,
    )  # fmt: skip
    assert ended.ranks("step_limit"), ended.text
    assert "`RF_Comm_irepair` took longer than 2 s" in ended.text
    assert "is back" not in ended.text
    assert ended.status != 0


def test_wrong_use_is_said(parts: Parts) -> None:
    ended = run_job(parts, 2, [str(parts.program("tests/misuse.c")), "calls"])
    assert f"before: {RF_ERR_ARGUMENT}" in ended.text
    codes = f"world: {RF_ERR_ARGUMENT}, negative: {RF_ERR_ARGUMENT}, freed: {MPI_ERR_COMM}"
    assert ended.text.count(codes) == 2, ended.text
    assert ended.text.count(f"again: {RF_ERR_ARGUMENT}") == 2
    assert "RF_Repair: there is no job" in ended.text
    assert "RF_Checkpoint: this is not the communicator" in ended.text
    assert "RF_Checkpoint: version -7 is given; a version is 0 or more" in ended.text
    assert "RF_Init: the job has ended" in ended.text


def test_a_repair_beside_one_that_is_under_way_is_refused(parts: Parts) -> None:
    ended = run_job(parts, 3, [str(parts.program("tests/misuse.c")), "twice"], spares=1)
    refused = "first: 0, beside it:" + 6 * f" {RF_ERR_ARGUMENT}"
    assert ended.text.count(refused) == 2, ended.text
    assert ended.text.count("wait for it first") == 12
    assert ended.status == 0


@pytest.mark.parametrize("parity", ["", "3"])
def test_too_little_memory_for_the_data_of_another_rank_is_said(parts: Parts, parity: str) -> None:
    program = [str(parts.program("tests/misuse.c")), "memory"]
    ended = run_job(parts, 3, program, environment={"RUNFLAT_PARITY": parity})
    told = re.findall(r"rank \d: codes (.*)", ended.text)
    assert told == [f"{MPI_ERR_NO_MEM} 0 0"] * 3, ended.text
    assert "[rank 1] no memory for what a checkpoint needs here" in ended.text


def test_the_status_of_a_child_is_not_that_of_its_rank(parts: Parts) -> None:
    ended = run_job(parts, 2, [str(parts.program("tests/misuse.c")), "fork"])
    assert ended.text.count("the child's status is 3") == 2, ended.text
    assert not ended.ranks("exited")
    assert ended.status == 0


def test_an_abort_ends_the_job(parts: Parts) -> None:
    ended = run_job(parts, 4, [str(parts.program("tests/misuse.c")), "abort"])
    assert ended.in_time, ended.text
    assert ended.status == 3
    assert ended.ranks("aborted") == {0}
    assert not ended.left_behind


@pytest.mark.parametrize("how", ["exit", "_exit"])
def test_a_rank_that_ends_with_a_status_has_failed(parts: Parts, how: str) -> None:
    ended = run_job(parts, 3, [str(parts.program("tests/misuse.c")), how])
    assert ended.in_time, ended.text
    assert "ended with status 3 before MPI_Finalize" in ended.text
    assert len(re.findall(r"rank [12]: barrier (?:75|77)\n", ended.text)) == 2, ended.text
    assert ended.ranks("exited") == {0}


# A slide moves a row of ranks by one: who stood at the end of it is a spare.
@pytest.mark.parametrize("policy", ["1D", "2D", "optimal"])
@pytest.mark.parametrize("program", ["02_spares", "03_overlap", "06_background"])
def test_who_is_moved_out_of_the_ranks_is_a_spare(parts: Parts, policy: str, program: str) -> None:
    grid = {"RUNFLAT_SHAPE": "4x2", "RUNFLAT_ALLOCATION": "2D(1,1)", "RUNFLAT_POLICY": policy}
    ended = run_job(
        parts, 8, [str(parts.program(f"examples/{program}.c")), "100"], spares=2, kill="1@checkpoint+0.05",
        environment=grid,
    )  # fmt: skip
    assert ended.ranks("killed") == {1}
    right = "pi is 3.141592" if program == "03_overlap" else "6 ranks, 100 steps, largest error 0"
    assert ended.text.count(right) == (6 if program == "03_overlap" else 1), ended.text
    assert ended.status == 0
    assert len(ended.ranks("finalized")) == 7
    asleep = [one["rank"] for one in ended.events if one["event"] == "asleep"]
    assert len(set(asleep)) > 2 or policy == "1D", "nobody was moved out of the ranks"


def test_spares_that_run_out_are_said(parts: Parts) -> None:
    ended = run_job(parts, 4, [str(parts.program("tests/again.c")), "group"], kill="1@0.1")
    assert "no spare is left: the job goes on with 3 of 4 ranks" in ended.text, ended.text
    told = [one for one in ended.events if one["event"] == "reduced"]
    assert {one["ranks"] for one in told} == {3}


def test_settings_that_are_none_are_said(parts: Parts) -> None:
    settings = {
        "RUNFLAT_STEP_LIMIT_S": "soon",
        "RUNFLAT_ON_EXHAUSTED": "wait",
        "RUNFLAT_SPARES": "1x",
        "RUNFLAT_PARITY": "two",
    }
    ended = run_job(parts, 2, [str(parts.program("tests/misuse.c")), "calls"], environment=settings)
    assert ended.text.count("RUNFLAT_STEP_LIMIT_S=soon is no time") == 1
    assert ended.text.count("RUNFLAT_ON_EXHAUSTED=wait is neither") == 1
    assert ended.text.count("RUNFLAT_SPARES=1x is no number") == 1
    assert ended.text.count("RUNFLAT_PARITY=two is no number") == 1


def test_all_processes_cannot_be_spares(parts: Parts) -> None:
    ended = run_job(
        parts,
        3,
        [str(parts.program("tests/misuse.c")), "calls"],
        environment={"RUNFLAT_SPARES": "3"},
    )
    assert "RUNFLAT_SPARES: as many processes as the job has, or more, cannot be" in ended.text
    assert ended.in_time


@pytest.mark.parametrize(
    ("program", "words", "said"),
    [
        ("00_run_through", "1000", "workers lost 1"),
        ("01_shrink", "600", "3 of 4 processes, sum"),
    ],
)
def test_programs_that_recover_by_themselves_are_not_called_failed(
    parts: Parts, program: str, words: str, said: str, tmp_path: Path
) -> None:
    """The process dies of a signal from outside, of which runflat has not been told."""
    started = script(
        tmp_path / "program",
        '#!/bin/sh\nown="$RUNFLAT_EVENTS/rank-3.jsonl"\n'
        '[ "$OMPI_COMM_WORLD_RANK" = 3 ] && (until [ -s "$own" ]; do sleep 0.05; done; sleep 0.2; kill -9 $$) &\n'
        f"exec {parts.program(f'examples/{program}.c')} {words}\n",
    )
    answer = spawn(
        "mpi", "run", "-n", "4", "--limit", "60", "--library", parts.library, started, timeout=100
    )
    assert said in answer.out, answer
    assert answer.status == 0, answer


@pytest.mark.parametrize("how", ["shrink", "request", "copy"])
def test_what_is_made_after_a_call_that_failed_does_not_wait_for_it(parts: Parts, how: str) -> None:
    program = [str(parts.program("tests/numbers.c")), how]
    ended = run_job(parts, 4, program, environment={"RUNFLAT_STEP_LIMIT_S": "10"}, limit_s=20)
    told = re.findall(r"rank \d: the first fails, the second is made, of 3", ended.text)
    assert len(told) == 3, ended.text
    assert ended.in_time


@pytest.mark.parametrize("number", [1, 2, 3])
def test_nobody_uses_what_another_could_not_make(parts: Parts, number: int) -> None:
    program = [str(parts.program("tests/late.c")), str(number)]
    met = ["rank 0: a number", "rank 2: a number", "rank 3: no number"]
    told: list[str] = []
    # The one that has the number must not hear of the death before it has it: on a busy machine it may.
    for _ in range(4):
        ended = run_job(parts, 4, program, environment={"RUNFLAT_STEP_LIMIT_S": "10"}, limit_s=30)
        told = sorted(
            re.findall(r"(rank \d: .* number), the window fails, then 3 live, sum 5\n", ended.text)
        )
        assert len(told) == 3, ended.text
        assert not ended.ranks("exited")
        if told == met:
            break
    assert told == met


@pytest.mark.parametrize(
    ("what", "number"),
    [("create", 1), ("create", 2), ("create", 3), ("create", 9), ("allocate", 1), ("shared", 9)],
)
def test_nobody_waits_for_a_window_that_another_could_not_make(
    parts: Parts, what: str, number: int
) -> None:
    program = [str(parts.program("tests/partway.c")), what, str(number)]
    ended = run_job(parts, 4, program, environment={"RUNFLAT_STEP_LIMIT_S": "10"}, limit_s=30)
    told = sorted(re.findall(r"rank \d: .*\n", ended.text))
    expected = [f"rank {rank}: went on, error own, sum 6\n" for rank in (0, 2, 3)]
    assert told == sorted([*expected, "rank 1: failed, error own, sum 6\n"]), ended.text
    assert ended.ranks("finalized") == {0, 1, 2, 3}, ended.text


@pytest.mark.parametrize("news", [1, 1000])
def test_all_news_of_a_communicator_that_is_made_is_told_when_it_is(
    parts: Parts, news: int
) -> None:
    ended = run_job(parts, 4, [str(parts.program("tests/held.c")), str(news)], limit_s=30)
    told = sorted(re.findall(r"rank \d: .*\n", ended.text))
    heard = [0, news, 0, 0]
    ends = "revoked, barrier revoked"
    assert told == [f"rank {rank}: heard {heard[rank]} times, {ends}\n" for rank in range(4)], (
        ended.text
    )
    assert not ended.crash_words


@pytest.mark.parametrize(
    "how", ["dup", "idup", "idup-info", "shrink", "ishrink", "agree", "iagree"]
)
def test_what_one_process_does_alone_does_not_disturb_agreements_of_all(
    parts: Parts, how: str
) -> None:
    ended = run_job(parts, 4, [str(parts.program("tests/alone.c")), how, "100"], limit_s=30)
    told = re.findall(r"rank \d: 100 of 100 right, 100 alone\n", ended.text)
    assert len(told) == 4, ended.text
    assert "cycling of identifiers" not in ended.text


def test_open_mpi_says_why_it_gives_up(parts: Parts) -> None:
    ended = run_job(parts, 3, [str(parts.program("tests/misuse.c")), "exit-open-mpi"])
    assert "Open MPI gives up: no way on, 7 times tried" in ended.text, ended.text
    assert "ended with status -1 before MPI_Finalize" in ended.text
    assert ended.ranks("exited") == {0}
    assert len(re.findall(r"rank [12]: barrier (?:75|77)\n", ended.text)) == 2, ended.text


# A send may end well: its data had gone before the revoke came.
@pytest.mark.parametrize("free", [[], ["free"]])
@pytest.mark.parametrize(
    ("call", "uniform", "count", "ends"),
    [
        ("send", "local", "512", "revoked|success"),
        ("send", "coll", "100000", "revoked|success"),
        ("bcast", "coll", "64", "revoked"),
        ("bcast", "coll", "100000", "revoked"),
    ],
)
def test_a_revoke_ends_calls_of_others(
    parts: Parts, call: str, uniform: str, count: str, ends: str, free: list[str]
) -> None:
    program = [str(parts.program("tests/revoked.c")), call, uniform, count, *free]
    ended = run_job(parts, 2, program, limit_s=30)
    assert re.search(rf"the call ended with ({ends})\n", ended.text), ended.text
    assert ended.in_time
    assert not ended.crash_words, ended.text


@pytest.mark.parametrize("made", ["comm", "window"])
def test_who_frees_before_a_repair_leaves_nobody_waiting(parts: Parts, made: str) -> None:
    """The news of the repair has come to one of its communicators alone by then."""
    program = [str(parts.program("tests/parting.c")), made]
    ended = run_job(parts, 4, program, environment={"RUNFLAT_STEP_LIMIT_S": "15"})
    assert len(re.findall(r"rank \d: interrupted\n", ended.text)) == 4, ended.text
    assert len(re.findall(r"rank \d of 4 at the end\n", ended.text)) == 4, ended.text
    assert not ended.crash_words


def test_a_revoke_without_a_repair_ends_nothing_else_that_is_freed(parts: Parts) -> None:
    program = [str(parts.program("tests/parting.c")), "comm", "free"]
    ended = run_job(parts, 4, program, environment={"RUNFLAT_STEP_LIMIT_S": "15"})
    assert len(re.findall(r"rank \d: not interrupted\n", ended.text)) == 4, ended.text
    assert len(re.findall(r"rank \d of 4 at the end\n", ended.text)) == 4, ended.text


def test_a_rank_that_becomes_a_spare_wakes_whatever_has_come_for_it(parts: Parts) -> None:
    grid = {"RUNFLAT_SHAPE": "3x3", "RUNFLAT_ALLOCATION": "2D(2,1)", "RUNFLAT_POLICY": "optimal"}
    told = {"RUNFLAT_STEP_LIMIT_S": "15", **grid}
    program = [str(parts.program("tests/stray.c"))]
    ended = run_job(parts, 9, program, spares=5, environment=told)
    assert "a rank slept to the end\n" in ended.text, ended.text
    assert len(re.findall(r"rank \d at the end\n", ended.text)) == 4, ended.text
    assert ended.ranks("killed") == set()
    assert not ended.left_behind


def test_freed_messages_of_the_dead_do_not_end_the_job(parts: Parts) -> None:
    """Open MPI frees them in collective calls that fail, and ended 8 of 100 such jobs."""
    program = [str(parts.program("tests/mixture.c")), "100", "532764", "group"]
    for _ in range(3):
        ended = run_job(parts, 11, program, spares=3, kill="3@restore+0.00169")
        assert "8 ranks, 100 steps, largest error 0\n" in ended.text, ended.text
        assert ended.ranks("killed") == {3}


def test_a_repair_interrupts_what_was_made_from_its_communicator(parts: Parts) -> None:
    program = [str(parts.program("tests/nested.c"))]
    ended = run_job(parts, 5, program, spares=1, environment={"RUNFLAT_STEP_LIMIT_S": "15"})
    assert len(re.findall(r"rank [012]: interrupted\n", ended.text)) == 3, ended.text
    assert len(re.findall(r"rank \d of 4 at the end\n", ended.text)) == 4, ended.text
    assert not ended.crash_words


def test_a_number_of_spares_that_differs_is_an_error_at_all(parts: Parts) -> None:
    ended = run_job(parts, 3, [str(parts.program("tests/misuse.c")), "spares"], spares=1)
    told = re.findall(rf"process \d: code {RF_ERR_ARGUMENT}, nothing made 1", ended.text)
    assert len(told) == 3, ended.text
    assert "RF_Init: 0 spares are given at some processes and 1 at others" in ended.text
    # The second RF_Init is right: two ranks go through the loop.
    assert len(re.findall(r"rank \d: code 0\n", ended.text)) == 2, ended.text
    assert ended.ranks("finalized") == {0, 1, 2}


def test_what_makes_recovery_useless_is_said(parts: Parts) -> None:
    program = str(parts.program("tests/misuse.c"))
    ended = run_job(parts, 3, [program, "nothing"], spares=1)
    assert ended.text.count("a checkpoint of nothing: name the memory") == 1, ended.text
    ended = run_job(parts, 3, [program, "open"], spares=1)
    assert ended.text.count("MPI_Finalize before RF_End") == 1, ended.text
    assert ended.ranks("finalized") == {0, 1, 2}


def test_calls_that_would_wait_for_sleeping_spares_are_refused(parts: Parts) -> None:
    ended = run_job(parts, 3, [str(parts.program("tests/misuse.c")), "world"], spares=1)
    codes = " ".join(11 * [str(MPI_ERR_COMM)])
    told = re.findall(rf"rank \d: in world {codes}, of the ranks 0", ended.text)
    assert len(told) == 2, ended.text
    for call in ("MPI_Barrier", "MPI_Ibarrier", "MPI_Barrier_init", "MPI_Comm_dup", "MPI_Comm_idup", "MPI_Intercomm_create", "MPI_Comm_spawn", "MPIX_Comm_shrink", "MPIX_Comm_ishrink", "MPIX_Comm_agree", "MPIX_Comm_iagree"):  # fmt: skip
        assert ended.text.count(f"{call} on MPI_COMM_WORLD would wait for ever") == 2, ended.text


def test_ranks_lost_before_the_job_begins_are_told(parts: Parts) -> None:
    program = [str(parts.program("tests/misuse.c")), "late"]
    ended = run_job(parts, 4, program, spares=1, kill="1@0.1,2@0.2")
    assert ended.ranks("killed") == {1, 2}
    assert ended.text.count("no spare is left: the job goes on with 2 of 3 ranks") == 1, ended.text
    assert ended.ranks("reduced") != set()


def test_what_mpi_refuses_is_refused_as_without_the_library(parts: Parts) -> None:
    """The same classes, and the error handler is called as often."""
    program = [str(parts.unlinked("tests/wrong.c")), "calls"]
    ended = run_job(parts, 2, program, environment={"LD_PRELOAD": str(parts.library)})
    told = re.findall(r"MPIX?_\w+: class .*", ended.text)
    without = finish([*mpirun_line(parts, 2, preloaded=False), *program])
    assert len(told) == 35, ended.text
    assert told == re.findall(r"MPIX?_\w+: class .*", without.out)
    assert ended.ranks("finalized") == {0, 1}


def test_what_is_made_has_the_error_handler_that_it_has_without_the_library(parts: Parts) -> None:
    """It is off in the parent while MPI makes it."""
    program = [str(parts.unlinked("tests/handlers.c"))]
    ended = run_job(parts, 2, program, environment={"LD_PRELOAD": str(parts.library)})
    without = finish([*mpirun_line(parts, 2, preloaded=False), *program])
    told, expected = (
        re.findall(r"MPIX?_\w+.*: (?:fatal|returned|the program's own)$", text, re.MULTILINE)
        for text in (ended.text, without.out)
    )
    assert told == expected
    assert len(told) == 3 * 18, ended.text


def test_a_communicator_may_be_freed_before_its_requests_end(parts: Parts) -> None:
    ended = run_job(parts, 4, [str(parts.program("tests/freed.c"))])
    assert ended.text.count("200 of 200 right") == 4, ended.text
    assert not ended.crash_words


def test_an_error_handler_is_called_once_and_may_begin_requests(parts: Parts) -> None:
    ended = run_job(parts, 4, [str(parts.program("tests/freed.c")), "dies"])
    told = "an error, the handler was called 1 times, 3 left"
    assert ended.text.count(told) == 3, ended.text
    assert ended.in_time


@pytest.mark.parametrize("cause", ["revoked", "dead"])
def test_each_call_tells_of_a_receive_that_has_failed(parts: Parts, cause: str) -> None:
    """Without the library, MPI_Waitall without statuses ends well, and MPI_Request_get_status says for ever that it goes on."""
    program = [str(parts.unlinked("tests/told.c")), cause]
    ended = run_job(parts, 2, program, environment={"LD_PRELOAD": str(parts.library)})
    # MPI_Finalize waits for the dead there.
    without = finish(["timeout", "5", *mpirun_line(parts, 2, preloaded=False), *program])
    told, told_without = (
        {call: (said, left) for call, said, left in re.findall(TOLD, text, re.MULTILINE)}
        for text in (ended.text, without.out)
    )
    assert len(told) == len(told_without) == 13 * 8, ended.text
    assert all(said != "no error" for said, _ in told.values()), told
    silent = {call for call, (said, _) in told_without.items() if said == "no error"}
    assert len(silent) == 4 + 8
    assert all("Status" in call or ("Waitall" in call and "ignored" in call) for call in silent)
    assert all(told[call] == told_without[call] for call in told.keys() - silent)
    assert ended.in_time


def test_a_file_that_does_not_open_has_the_same_class_at_all(parts: Parts) -> None:
    ended = run_job(parts, 4, [str(parts.program("tests/wrong.c")), "files"])
    told = re.findall(r"rank \d: 40 of 40 as they are", ended.text)
    assert len(told) == 4, ended.text


def test_a_fatal_error_names_the_call(parts: Parts) -> None:
    ended = run_job(parts, 2, [str(parts.program("tests/wrong.c")), "fatal"])
    assert "An error occurred in MPI_Cart_create" in ended.text
    assert ended.status != 0
