"""MPI jobs that lose processes: a sample of the kill matrix, spares, shrinks, sanitizers, on the real MPI."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from random import Random

import pytest

from mpi_jobs import matrix
from mpi_jobs.job import run_job
from mpi_jobs.parts import Parts, build
from opensm.missing import Missing


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    try:
        return build(tmp_path_factory.mktemp("sanitized"), sanitize=True)
    except Missing as missing:
        pytest.skip(str(missing))


def test_spares_change_nothing_while_nobody_fails(parts: Parts) -> None:
    _, wrong = matrix.run_cell(parts, matrix.Cell(ranks=4, spares=2, kill=""))
    assert not wrong


# `test_mpi_hosts` has more on several hosts, and `make test-mpi-soak` all.
ON_HOSTS = ("checkpoint", "repair")
CELLS = [
    (who, phase)
    for who in matrix.WHO
    for phase in matrix.PHASES
    if who not in matrix.HOSTED or phase in ON_HOSTS
]


@pytest.mark.parametrize(("who", "phase"), CELLS)
def test_every_rank_is_back_with_its_data(parts: Parts, who: str, phase: str) -> None:
    cell = matrix.draw(4, who, phase, Random(f"1 {who} {phase} 0"))
    judged = matrix.judge(parts, cell)
    ended = judged.ended
    assert not judged.wrong, f"{cell}\n{judged.held_up}\n{ended.text}\n{ended.told}"
    assert ended.ranks("killed"), "nobody died"


def test_numbers_have_a_point_in_every_locale(parts: Parts, tmp_path: Path) -> None:
    """Kills and events are read and written as ever where the program's numbers have a comma."""
    made = subprocess.run(
        ["localedef", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")],
        capture_output=True,
        check=False,
    )
    if not (tmp_path / "de_DE.UTF-8").exists():
        pytest.skip(f"locales: not installed: {made.stderr.decode(errors='replace')}")
    program = [str(parts.program("tests/comma.c")), "de_DE.UTF-8"]
    ended = run_job(parts, 3, program, kill="1@0.4", environment={"LOCPATH": str(tmp_path)})
    assert ended.text.count("a failure, 1,5\n") == 2, ended.text
    assert ended.ranks("finalized") == {0, 2}
    assert 0.4 < ended.first("killed") - ended.first("started") < 2


def test_eight_ranks_lose_half_of_them(parts: Parts) -> None:
    cell = matrix.draw(8, "half", "pointtopoint", Random("1"))
    ended, wrong = matrix.run_cell(parts, cell)
    assert not wrong, ended.text
    assert len(ended.ranks("killed")) == 4


def test_a_spare_takes_over_the_rank(parts: Parts) -> None:
    ended, wrong = matrix.run_cell(parts, matrix.Cell(ranks=4, spares=2, kill="1@checkpoint+0.1"))
    assert not wrong, ended.text
    # The last two processes are the spares, and the nearest one takes over.
    assert ended.ranks("took_over") == {4}
    assert ended.ranks("restored") >= {0, 2, 3, 4}


@pytest.mark.parametrize(("parity", "second"), [("0", 3), ("2", 2)], ids=["copies", "parity"])
@pytest.mark.parametrize("program", ["02_spares", "06_background"])
def test_who_dies_in_a_checkpoint_and_in_a_restore_takes_no_data_along(
    parts: Parts, program: str, parity: str, second: int
) -> None:
    """The second one holds no copy of the first one's data, and is of another parity group."""
    words = [str(parts.program(f"examples/{program}.c")), "220"]
    ended = run_job(
        parts, 7, words, spares=3, kill=f"1@checkpoint:5,{second}@restore:2", environment={"RUNFLAT_PARITY": parity},
    )  # fmt: skip
    assert "4 ranks, 220 steps, largest error 0\n" in ended.text, ended.text
    died = {one["rank"]: one["t"] for one in ended.events if one["event"] == "killed"}
    assert set(died) == {1, second}
    counted = [one for one in ended.events if one["event"] == "checkpoint"]
    # The first is that of step 0: the fifth would have been that of step 40.
    assert max(one["version"] for one in counted if one["t"] < died[1]) == 30
    assert died[second] > ended.first("repaired")
    restored = [one for one in ended.events if one["event"] == "restored"]
    assert {one["version"] for one in restored} == {30}, restored
    assert {one["rank"] for one in restored if one["t"] > died[second]} == {0, 5 - second, 4, 5}
    assert not ended.crash_words


def test_spares_sleep_until_they_are_needed(parts: Parts) -> None:
    """No bound of time: one that spins takes all the processor that it gets."""
    program = [str(parts.program("tests/asleep.c")), "3"]
    ended = run_job(parts, 3, program, spares=1)
    told = re.findall(r"spare 2 waited ([\d.]+) s and worked ([\d.]+) s\n", ended.text)
    assert len(told) == 1, ended.text
    waited, worked = map(float, told[0])
    assert waited > 2.9
    assert worked < 0.2 * waited


ON_GRID = {"RUNFLAT_SHAPE": "4x4", "RUNFLAT_ALLOCATION": "2D(1,1)", "RUNFLAT_POLICY": "hybrid(all)"}


@pytest.mark.parametrize(
    ("kill", "told"),
    [
        ("5@0.15", {}),
        ("0@0.15,5@0.15,3@repair", {}),
        ("13@0.12,4@agree:8,7@0.25", {}),
        ("2@0.1,1@0.18,3@0.26", ON_GRID),
    ],
    ids=["one", "three", "in phases", "ranks slide"],
)
def test_rows_and_columns_are_made_anew(parts: Parts, kill: str, told: dict[str, str]) -> None:
    program = [str(parts.program("examples/08_grid.c")), "150"]
    ended = run_job(parts, 16, program, spares=4, kill=kill, environment=told)
    assert "12 ranks, 150 steps, largest error 0\n" in ended.text, ended.text
    assert ended.ranks("killed") == {int(one.split("@")[0]) for one in kill.split(",")}
    assert ended.in_time
    assert not ended.crash_words


REFILL = {"RUNFLAT_REFILL": "1"}


@pytest.mark.parametrize("how", ["linked", "preloaded"])
def test_new_spares_are_started_for_the_dead(parts: Parts, how: str) -> None:
    """Four die of their own accord, one of them a process that was started later; there is one spare."""
    program = [str(parts.program("examples/07_refill.c")), "200", "4"]
    told = REFILL | ({"LD_PRELOAD": str(parts.library)} if how == "preloaded" else {})
    ended = run_job(parts, 5, program, spares=1, environment=told, options=["--enable-recovery"])
    assert "4 ranks, 200 steps, counted 200\n" in ended.text, ended.text
    assert ended.in_time
    filled = [one["of"] for one in ended.events if one["event"] == "refilled"]
    assert len(set(filled)) >= 3, filled
    took_over = [one for one in ended.events if one["event"] == "took_over"]
    assert len(took_over) >= 4
    assert not ended.crash_words
    assert not ended.left_behind


def test_a_rank_dies_while_a_new_spare_is_started(parts: Parts) -> None:
    """The first process alone waits for the launcher: what happens to others meanwhile is repaired after it."""
    program = [str(parts.program("examples/07_refill.c")), "200", "1"]
    ended = run_job(
        parts,
        6,
        program,
        spares=1,
        kill="2@repair+0.4",
        environment=REFILL,
        options=["--enable-recovery"],
    )
    assert re.search(r"[45] ranks, 200 steps, counted 200\n", ended.text), ended.text
    assert ended.in_time
    assert not ended.crash_words


def test_all_are_told_of_a_rank_that_was_taken_over_in_a_refill(parts: Parts) -> None:
    """Who takes over restores; ranks that were told that all is well would compute, and both wait."""
    program = [str(parts.program("tests/refilled.c")), "30000"]
    # On a busy machine the death may come too late to fall into the call.
    for _ in range(5):
        ended = run_job(
            parts, 6, program, spares=2, environment=REFILL, options=["--enable-recovery"]
        )
        if "refill interrupted" in ended.text:
            break
    assert ended.text.count("refill interrupted") >= 3, ended.text
    assert "refill good" not in ended.text
    assert ended.text.count("40 of 40 steps") == 4, ended.text
    assert len(ended.ranks("took_over")) >= 2


@pytest.mark.parametrize("how", ["ends", "fails"])
def test_new_processes_that_end_before_they_join_are_not_waited_for_for_ever(
    parts: Parts, how: str
) -> None:
    program = [str(parts.program("tests/refilled.c")), how]
    told = REFILL | {"RUNFLAT_STEP_LIMIT_S": "10"}
    ended = run_job(parts, 6, program, spares=2, environment=told, options=["--enable-recovery"])
    assert "a process could not be started for a dead one" in ended.text, ended.text
    assert ended.text.count("refill good, 1 spares") == 4, ended.text
    assert ended.text.count("40 of 40 steps") == 4, ended.text


def test_a_new_process_that_is_stopped_is_found(parts: Parts) -> None:
    """It stands between two that had each other for neighbours."""
    program = [str(parts.program("tests/refilled.c")), "stops"]
    ended = run_job(parts, 6, program, spares=2, environment=REFILL, options=["--enable-recovery"])
    assert ended.text.count("40 of 40 steps") == 4, ended.text
    assert [one["of"] for one in ended.events if one["event"] == "fenced"] == [1]
    assert ended.in_time


def test_refilling_needs_a_launch_for_it(parts: Parts) -> None:
    program = [str(parts.program("examples/07_refill.c")), "60", "1"]
    ended = run_job(parts, 4, program, spares=1)
    assert "start with `runflat mpi run --refill`" in ended.text, ended.text
    assert "3 ranks, 60 steps, counted 60\n" in ended.text, ended.text


def test_without_spares_all_stop_alike_if_wanted(parts: Parts) -> None:
    program = [str(parts.program("examples/02_spares.c")), "60"]
    ended = run_job(parts, 3, program, kill="1@0.05", environment={"RUNFLAT_ON_EXHAUSTED": "stop"})
    assert ended.in_time
    assert ended.ranks("killed") == {1}
    assert ended.ranks("failure_detected") == {0, 2}
    assert ended.ranks("aborted") >= {0}
    assert "largest error" not in ended.text


def test_spares_take_over_when_no_rank_is_left(parts: Parts) -> None:
    """All ranks die at once: nobody is left who would wake the spares, and all data is lost."""
    program = [str(parts.program("examples/02_spares.c")), "100"]
    ended = run_job(parts, 7, program, spares=4, kill="0@0.1,1@0.1,2@0.1")
    assert "3 ranks, 100 steps, largest error 0" in ended.text, ended.text
    assert ended.ranks("killed") == {0, 1, 2}
    assert len(ended.ranks("took_over")) >= 3
    assert ended.in_time
    assert not ended.crash_words
    assert not ended.left_behind


def test_too_few_spares_see_that_they_are_when_no_rank_is_left(parts: Parts) -> None:
    """The program ends by itself, with a code of its own: a rod that lacks a part is of no use to it."""
    program = [str(parts.program("examples/02_spares.c")), "100"]
    ended = run_job(parts, 4, program, spares=1, kill="0@0.1,1@0.1,2@0.1")
    assert ended.ranks("killed") == {0, 1, 2}
    assert ended.ranks("took_over") == {3}
    assert "no spare is left: the job goes on with 1 of 3 ranks" in ended.text, ended.text
    assert "Errorcode: 4" in ended.text, ended.text
    assert "largest error" not in ended.text
    assert ended.in_time
    assert not ended.left_behind


def test_a_stopped_process_is_fenced(parts: Parts) -> None:
    """Within 1.5 s at 4 ranks; a busy machine may be late twice, but each job fences."""
    program = [str(parts.program("examples/02_spares.c")), "150"]
    took: list[float] = []
    while not took or (took[-1] >= 1.5 and len(took) < 3):
        ended = run_job(parts, 6, program, spares=2, stop="2@0.2")
        assert "4 ranks, 150 steps, largest error 0" in ended.text
        assert ended.ranks("stopped") == ended.fenced == {2}
        assert not ended.left_behind
        took.append(ended.first("fenced") - ended.first("stopped"))
    assert took[-1] < 1.5, took


def test_numbers_of_communicators_that_a_repair_frees_are_not_used_again(parts: Parts) -> None:
    """A message that came late for the one before would be taken for one of the next."""
    ended = run_job(parts, 4, [str(parts.program("tests/reuse.c"))], spares=1)
    assert len(re.findall(r"rank [01]: number \d+ was free\n", ended.text)) == 2, ended.text
    assert ended.ranks("finalized") == {0, 1, 3}


def test_agreements_of_two_communicators_are_not_taken_for_one(parts: Parts) -> None:
    program = [str(parts.unlinked("tests/epochs.c"))]
    cycles = "due to cycling of identifiers"
    without = run_job(parts, 3, program, limit_s=5)
    assert cycles in without.text
    assert not without.in_time, "Open MPI keeps them apart by now: the guard may go"
    ended = run_job(parts, 3, program, environment={"LD_PRELOAD": str(parts.library)})
    assert ended.text.count(": 0 agreements wrong") == 3, ended.text
    assert cycles not in ended.text


def test_a_death_within_mpi_init_ends_the_job_with_a_word(parts: Parts) -> None:
    """The others hear of it while their world is half made."""
    program = [str(parts.unlinked("tests/unready.c")), "late"]
    without = run_job(parts, 4, program)
    assert without.crash_words, "Open MPI does not crash any more: the guard may go"
    ended = run_job(parts, 4, program, environment={"LD_PRELOAD": str(parts.library)})
    assert "a process has failed before the program has begun" in ended.text, ended.text
    assert not ended.crash_words, ended.text
    assert ended.in_time
    assert ended.status not in (0, None)


def test_no_process_waits_in_mpi_init_for_ever(parts: Parts) -> None:
    program = [str(parts.unlinked("tests/unready.c")), "early"]
    without = run_job(parts, 4, program, limit_s=6)
    assert not without.in_time, "Open MPI comes back by now: the guard may go"
    limited = {"LD_PRELOAD": str(parts.library), "RUNFLAT_STEP_LIMIT_S": "3"}
    # mpirun does not wait for all processes that it ends.
    ended = run_job(parts, 4, program, environment=limited, grace_s=5)
    assert ended.text.count("`MPI_Init` took longer than 3 s") == 3, ended.text
    assert ended.in_time
    assert ended.status == 75
    assert not ended.left_behind


def test_a_death_at_the_barrier_of_finalize_lets_all_others_end_well(parts: Parts) -> None:
    program = [str(parts.unlinked("tests/threshold.c"))]
    without = run_job(parts, 6, program)
    assert without.text.count("is at the barrier\n") == 6, without.text
    assert "OPAL ERROR" in without.text, "Open MPI ends well by now: the guard may go"
    ended = run_job(parts, 6, program, environment={"LD_PRELOAD": str(parts.library)})
    assert ended.text.count("is at the barrier\n") == 6, ended.text
    assert ended.ranks("finalized") == {0, 1, 3, 4, 5}, ended.text
    assert "OPAL ERROR" not in ended.text
    assert ended.in_time


@pytest.mark.parametrize("after_ms", [0, 300])
def test_a_process_whose_receive_queue_is_torn_ends(parts: Parts, after_ms: int) -> None:
    """It would receive nothing more, and the others would wait for it in the repair; at once or later."""
    program = [str(parts.program("tests/torn.c")), str(after_ms)]
    ended = run_job(parts, 6, program, spares=2, environment={"RUNFLAT_STEP_LIMIT_S": "15"})
    assert "[rank 2] a process of this host died while it wrote to" in ended.text, ended.text
    assert len(re.findall(r"rank \d of 4: the sum is 6\n", ended.text)) == 4, ended.text
    assert ended.ranks("fenced") == ended.torn == {2}
    assert not ended.left_behind


def test_a_plain_program_comes_to_its_end_under_the_preloaded_library(parts: Parts) -> None:
    program = [str(parts.unlinked("tests/plain.c"))]
    for _ in range(3):
        ended = run_job(parts, 8, program, environment={"LD_PRELOAD": str(parts.library)})
        assert "5 of 8 processes left, they add up to 5" in ended.text, ended.text
        assert ended.in_time
        assert len(ended.ranks("finalized")) == 5
        assert not ended.crash_words


def test_without_fault_tolerance_it_says_how_to_get_it(parts: Parts) -> None:
    ended = run_job(parts, 2, [str(parts.program("examples/02_spares.c"))], tolerant=False)
    assert "start with `mpirun --with-ft ulfm`" in ended.text


def test_nothing_but_calls_is_exported(parts: Parts) -> None:
    """The others are functions of Open MPI, PMIx and the C library that the library stands before: each is told of in src."""
    found = subprocess.run(
        ["nm", "-D", "--defined-only", parts.library], capture_output=True, text=True, check=True
    )
    names = {line.split()[-1] for line in found.stdout.splitlines()}
    others = {name for name in names if not name.startswith(("MPI_", "MPIX_", "RF_"))}
    # Fortran's names of MPI's calls.
    others = {name for name in others if not re.fullmatch(r"mpix?_[a-z_]+_", name)}
    assert others == {
        "PMIx_Connect",
        "PMIx_Fence",
        "PMIx_Get",
        "PMIx_Lookup",
        "PMIx_Publish",
        "PMIx_Spawn",
        "_Exit",
        "_exit",
        "mca_common_ompio_file_close",
        "mca_pml_ob1_recv_request_schedule_once",
        "opal_progress",
        "ompi_coll_base_barrier_intra_doublering",
        "ompi_coll_libnbc_ibcast",
        "ompi_coll_libnbc_ireduce",
        "ompi_comm_activate",
        "ompi_comm_free",
        "ompi_comm_request_schedule_append",
        "ompi_comm_request_schedule_append_w_flags",
        "ompi_comm_revoke_local",
        "ompi_comm_set_rank_failed",
        "ompi_dpm_dyn_finalize",
        "ompi_mpi_abort",
        "ompi_mpi_errors_are_fatal_comm_handler",
        "ompi_osc_rdma_free",
        "ompi_osc_rdma_peer_lookup",
        "ompi_osc_sm_free",
        "ompi_request_default_wait_all",
        "ompi_request_is_failed_fn",
        "ompi_rte_abort",
    }


@pytest.mark.parametrize(
    ("program", "words", "world", "spares", "kill", "live"),
    [
        ("examples/02_spares.c", ["60"], 6, 2, "1@0.05,2@repair+0.001", 4),
        ("examples/02_spares.c", ["60", "parity"], 6, 2, "1@0.05", 5),
        ("examples/02_spares.c", ["60", "watch"], 6, 2, "1@0.05", 5),
        ("examples/02_spares.c", ["60", "store"], 6, 2, "1@0.05", 5),
        ("examples/03_overlap.c", ["60"], 5, 1, "2@0.05", 4),
        ("examples/06_background.c", ["60"], 6, 2, "1@0.05", 5),
        ("examples/07_refill.c", ["60", "2"], 5, 1, "", 5),
        ("examples/08_grid.c", ["60"], 6, 2, "1@0.05", 5),
        ("examples/09_ranges.c", ["universe", "1"], 6, 0, "5@0.2", 5),
        ("tests/objects.c", ["create", ".", "range"], 4, 0, "", 2),
        ("tests/objects.c", ["file", ".", "1000"], 5, 0, "", 4),
        ("tests/range.c", ["mpix_error_range", "universe", "inside"], 4, 0, "", 3),
        ("tests/ishrink.c", ["4"], 5, 0, "2@shrink", 4),
        ("tests/dynamic.c", ["spawn", "2"], 4, 0, "2@join+0.1", 3),
        ("tests/dynamic.c", ["meet", "2"], 6, 0, "", 6),
        ("tests/groups.c", ["merge"], 6, 0, "3@0.4", 5),
        ("tests/uniform.c", ["coll", "2"], 4, 0, "", 3),
        ("tests/collective.c", ["60", "uniform"], 6, 2, "1@0.05", 5),
        ("tests/uniform.c", ["coll", "2", "persistent"], 4, 0, "", 3),
        ("tests/freed.c", [], 3, 0, "", 3),
        ("tests/talks.c", ["create", "50"], 3, 0, "", 3),
    ],
)
def test_sanitizers_find_nothing(
    sanitized: Parts, program: str, words: list[str], world: int, spares: int, kill: str, live: int,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    # What processes know of each other lies in shared memory at an address that the launcher chooses, now and then one of a
    # sanitizer's own; a process that cannot have it there ends.
    monkeypatch.setenv("PMIX_MCA_gds", "hash")
    monkeypatch.chdir(tmp_path)
    settings = {"LSAN_OPTIONS": "exitcode=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
    options = []
    if "parity" in words:
        settings["RUNFLAT_PARITY"] = "3"
    if "watch" in words:
        settings["RUNFLAT_WATCH_MS"] = "5"
    if "store" in words:
        settings["RUNFLAT_STORE"] = str(tmp_path)
    if "refill" in program:
        settings["RUNFLAT_REFILL"] = "1"
        options = ["--enable-recovery"]
    ended = run_job(
        sanitized, world, [str(sanitized.program(program)), *words], spares=spares, kill=kill,
        environment=settings, options=options,
    )  # fmt: skip
    assert ended.in_time, ended.text
    assert "ERROR: AddressSanitizer" not in ended.text, ended.text
    # What Open MPI itself does not free is not our business, and an agreement that was given up keeps what it may still write into.
    ours = re.findall(r"leak of .*\n +#0 .*\n +#1 .*mpi/src/.*(?:\n +#\d+ .*)*", ended.text)
    leaks = [stack for stack in ours if not re.search(" in (agree|open_ballot_in) ", stack)]
    assert not leaks, leaks
    assert "runtime error" not in ended.text, ended.text
    assert len(ended.ranks("finalized")) == live, ended.text


@pytest.mark.parametrize(
    ("count", "kill"),
    [
        (1, "2@shrink"),
        (16, "0@shrink,5@shrink+0.002"),
        (8, "1@shrink,2@shrink+0.02,3@shrink+0.045"),
    ],
)
def test_many_communicators_are_shrunk_at_once(parts: Parts, count: int, kill: str) -> None:
    program = [str(parts.program("tests/ishrink.c")), str(count)]
    ended = run_job(parts, 8, program, kill=kill)
    dead = ended.ranks("killed")
    whole = re.findall(rf"rank \d: {count} shrunk, {count} smaller, all whole", ended.text)
    assert ended.in_time
    assert dead
    assert len(whole) >= 8 - kill.count("@"), ended.text
    assert ended.ranks("shrink") >= set(range(8)) - dead
    assert not ended.crash_words, ended.text


def test_blocking_calls_meet_where_only_some_have_requests_left(parts: Parts) -> None:
    ended = run_job(parts, 6, [str(parts.program("tests/beside.c"))])
    assert len(re.findall(r"rank \d: 6 of 6 right, 6 shrunk", ended.text)) == 6, ended.text
    assert ended.in_time


@pytest.mark.parametrize(("ranks", "count"), [(4, 400), (8, 400)])
def test_a_job_with_many_communicators_is_repaired(parts: Parts, ranks: int, count: int) -> None:
    """Open MPI has room for 512 messages to others of a host: it crashed with 150 and with 100."""
    program = [str(parts.program("tests/many.c")), str(count)]
    ended = run_job(parts, ranks + 1, program, spares=1)
    assert ended.text.count(f"of {ranks}: {count} interrupted") == ranks - 1, ended.text
    assert ended.text.count(f"of {ranks}: 0 interrupted") == 1
    assert not ended.crash_words
