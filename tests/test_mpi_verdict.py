"""How a job ended is read from what its ranks noted: exit statuses, sentences, timelines; then with the real mpirun."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from sample import NASTY
from test_page import Elements

from command import Answer, finish, run, spawn
from mpi_jobs.hosts import make_hosts
from mpi_jobs.processes import processes_with
from mpi_jobs.stand_ins import MPIRUN, PROGRAM, real_mpicc, script, sources
from opensm.missing import Missing
from runflat.mpi_launch import Attempt, Event, judge, read_events
from runflat.mpi_launch.injection import Injection, missed
from runflat.mpi_launch.timeline import Timeline
from runflat.mpi_launch.verdict import ranges, reduced, summary, unused
from runflat.report.mpi_timeline_page import render_timeline


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def noted(text: str) -> list[Event]:
    """Read `0 started 1; 1 repaired 1.5 ms=20; 0 failure_detected 2 of=1`."""
    found = []
    for word in filter(None, map(str.strip, text.split(";"))):
        rank, event, at, *more = word.split()
        fields = dict(one.split("=") for one in more)
        ms, of = fields.get("ms"), fields.get("of")
        found.append(Event(
            float(at), int(rank), event, None if ms is None else float(ms), None if of is None else int(of)
        ))  # fmt: skip
    return found


ALL = "0 started 1; 1 started 1; 2 started 1; "
LAST = "0 finalized 9; 2 finalized 9"


@pytest.mark.parametrize(
    ("events", "status", "outcome", "said"),
    [
        (ALL + LAST + "; 1 finalized 9", 0, "done", ""),
        (ALL + LAST, 1, "failed", "rank 1 did not come to its end (no `finalized` event); mpirun ended with 0"),
        (ALL + "2 finalized 9", 1, "failed", "ranks 0-1 did not come to their end"),
        (ALL + "1 killed 3; " + LAST, 0, "recovered", ""),
        (ALL + "1 stopped 3; " + LAST, 0, "recovered", ""),
        # A crash that the others noted and came through.
        (ALL + "0 failure_detected 3 of=1; " + LAST, 0, "recovered", ""),
        (ALL + "0 fenced 3 of=1; " + LAST, 0, "recovered", ""),
        # Reports count only from a rank that came to its end: these are torn down by mpirun.
        (ALL + "0 failure_detected 3 of=1; 1 failure_detected 3 of=2; 2 failure_detected 3 of=0", 1, "failed", "ranks 0-2"),
        (ALL + "1 failure_detected 3 of=1; " + LAST, 1, "failed", "rank 1"),
        (ALL + "0 killed 3; 1 killed 3; 2 killed 3", 1, "failed", "no rank came to its end"),
        ("", 1, "failed", "no rank noted anything"),
    ],
    ids=[
        "all-ended", "crash-that-nobody-noted", "two-missing", "killed-on-purpose", "stopped-on-purpose",
        "crash-reported", "hang-fenced", "torn-down", "own-report", "all-killed", "nothing",
    ],
)  # fmt: skip
def test_the_events_of_the_ranks_decide_and_not_mpiruns_0(
    events: str, status: int, outcome: str, said: str
) -> None:
    verdict = judge(3, Attempt(status=0), noted(events))
    assert (verdict.status, verdict.outcome) == (status, outcome)
    assert said in " ".join(verdict.reasons)
    assert (status == 0) == (not verdict.reasons)


def test_an_abort_is_named_first() -> None:
    verdict = judge(3, Attempt(status=3), noted(ALL + "1 aborted 3"))
    assert verdict.reasons[0] == "rank 1 ended the job (MPI_Abort, or an error that is fatal)"


def test_who_failed_before_others_ended_the_job_is_named_before_them() -> None:
    """mpirun kills the rest then, which the last of them may still see."""
    verdict = judge(
        3,
        Attempt(status=9),
        noted(
            ALL
            + "0 failure_detected 3 of=1; 0 aborted 3.1; 2 failure_detected 3.2 of=0; 2 aborted 3.3"
        ),
    )
    first, second = verdict.reasons[:2]
    assert first == "rank 1 failed first (a crash, a signal, or an exit before MPI_Finalize)"
    assert second.startswith("rank 0 ended the job")
    assert second.endswith("; rank 2 after it")


def test_what_the_launcher_ends_has_not_failed() -> None:
    """Where it ends a job on several hosts, some hear of the deaths of others."""
    told = noted(ALL + "0 killed 2; 1 failure_detected 2.1 of=0; 2 failure_detected 4.1 of=1")
    told.append(Event(4.0, None, "ending"))
    verdict = judge(3, Attempt(limit_s=4), sorted(told, key=lambda one: one.t))
    assert [one.rank for one in verdict.failures] == [0]
    assert verdict.outcome == "limit"


def test_a_job_that_stops_without_a_spare_says_so() -> None:
    told = ALL + "1 killed 3; 0 exhausted 3.1; 2 exhausted 3.1; 0 aborted 3.2; 2 aborted 3.2"
    verdict = judge(3, Attempt(status=3), noted(told))
    assert verdict.reasons[0].startswith("no spare was left for a failed rank")


def test_a_shrink_after_which_a_job_stops_is_no_recovery() -> None:
    told = (
        ALL + "1 killed 3; 0 shrink 3.05 ms=9; 0 exhausted 3.1; 2 shrink 3.05 ms=9; 2 exhausted 3.1"
    )
    (failure,) = judge(3, Attempt(status=3), noted(told)).failures
    assert failure.repair == "not repaired, as no spare was left"
    assert failure.repaired_ms is None


def test_a_death_just_after_a_repair_is_of_the_next_one() -> None:
    # Rank 2 ends the repair of rank 1 late, when rank 0 has ended it and died.
    told = noted(
        ALL
        + "1 killed 2; 0 repaired 2.010 ms=9; 0 killed 2.011; 2 repaired 2.012 ms=9; 2 failure_detected 2.014 of=0; "
        "2 repaired 2.020 ms=5; 2 finalized 9"
    )
    first, second = judge(3, Attempt(status=0), told).failures
    assert (first.rank, first.repaired_ms) == (1, pytest.approx(12))
    assert (second.rank, second.repaired_ms) == (0, pytest.approx(9))
    # Who dies in the midst of a repair is repaired by it.
    told = noted(ALL + "1 killed 2; 0 killed 2.005; 2 repaired 2.012 ms=9; 2 finalized 9")
    assert [one.repaired_ms for one in judge(3, Attempt(status=0), told).failures] == [
        pytest.approx(12), pytest.approx(7)
    ]  # fmt: skip


def test_ranks_that_were_not_replaced_are_said() -> None:
    assert reduced(noted(ALL)) == []
    told = [Event(2.0 + left, 0, "reduced", more={"ranks": 3 - left}) for left in range(2)]
    assert reduced(told) == ["no spare was left: the job went on with 2 ranks"]


def test_spares_that_worked_as_ranks_are_said() -> None:
    assert unused(0, noted(ALL)) == []
    assert unused(2, []) == []
    assert "the spare worked as a rank" in unused(1, noted(ALL))[0]
    assert "the 2 spares worked as ranks" in unused(2, noted(ALL))[0]
    assert unused(2, noted(ALL + "2 asleep 2")) == []


def test_who_has_come_to_its_end_and_leaves_has_not_failed() -> None:
    left = noted("2 killed 3; 0 finalized 4; 1 failure_detected 4.1 of=0; 1 finalized 5")
    verdict = judge(3, Attempt(status=0), left)
    assert [one.rank for one in verdict.failures] == [2]
    assert verdict.outcome == "recovered"


def test_hosts_that_are_lost_are_named() -> None:
    on = [Event(1.0, rank, "started", more={"host": f"n{rank // 2}"}) for rank in range(6)]
    killed = noted("2 killed 3; 3 killed 3")
    verdict = judge(6, Attempt(status=0), [*on, *killed])
    assert verdict.reasons[0].startswith("all ranks of host n1 failed: with its daemon")
    torn_down = noted(
        "2 killed 3; 3 killed 3; 2 failure_detected 3.4 of=0; 2 failure_detected 3.5 of=1"
    )
    verdict = judge(6, Attempt(status=0), [*on, *torn_down])
    assert verdict.reasons[0].startswith(
        "all ranks of host n1 failed, and then those of n0, most likely ended by mpirun: with"
    )
    at_once = noted("2 killed 3; 3 killed 3; 0 killed 3.001; 1 killed 3.002")
    verdict = judge(6, Attempt(status=0), [*on, *at_once])
    assert verdict.reasons[0].startswith("all ranks of hosts n0, n1 failed: with")
    ended = noted("; ".join(f"{rank} finalized 9" for rank in (0, 1, 4, 5)))
    assert not judge(6, Attempt(status=0), [*on, *killed, *ended]).reasons
    assert "all ranks" not in judge(6, Attempt(status=1), [*on, *killed[:1]]).reasons[0]


def test_a_rank_that_ended_with_a_status_has_failed() -> None:
    verdict = judge(
        3, Attempt(status=0), noted(ALL + "1 exited 3; 0 failure_detected 4 of=1; " + LAST)
    )
    assert [(one.rank, one.how) for one in verdict.failures] == [(1, "exited")]
    assert verdict.outcome == "recovered"


def test_kills_that_never_came_are_said() -> None:
    planned = [Injection(0, "0.2"), Injection(1, "50"), Injection(2, "shrink", node=True)]
    said = missed(planned, noted(ALL + "0 killed 1.2"))
    assert [one.partition(":")[0] for one in said] == [
        "nothing came of 1@50",
        "nothing came of node-of",
    ]


def test_mpiruns_other_ends_are_findings_whatever_the_ranks_noted() -> None:
    good = noted(ALL + LAST + "; 1 finalized 9")
    for attempt, status, said in (
        (Attempt(status=3), 1, "mpirun ended with 3"),
        (Attempt(status=-9), 1, "mpirun was ended by SIGKILL"),
        (Attempt(status=None), 1, "mpirun had to be killed"),
        (Attempt(status=0, troubles=["node:a@1: the job ended before"]), 1, "node:a@1"),
        (Attempt(status=1, limit_s=2.5), 124, "the limit of 2.5 s ran out; the job is ended"),
        (Attempt(status=1, signal=15), 143, "interrupted by SIGTERM"),
    ):
        verdict = judge(3, attempt, good)
        assert verdict.status == status
        assert verdict.reasons[0].startswith(said)


def test_an_mpirun_that_fails_before_any_rank_begins_is_named_beside_the_program() -> None:
    reasons = judge(3, Attempt(status=213), []).reasons
    assert reasons[0] == "mpirun ended with 213"
    assert "mpirun could not start the program" in reasons[1]
    assert "a rank died in MPI_Init or before, the program does not call it" in reasons[1]
    assert "could not start" not in " ".join(judge(3, Attempt(status=0), []).reasons)


def test_a_failure_that_is_repaired_in_the_beginning_is_one_that_recovered() -> None:
    # RF_Init tells of its repair only where somebody has failed: there is no `shrink`.
    events = noted(
        ALL + "3 started 1; 1 killed 2; 0 failure_detected 2.6 of=1; 2 failure_detected 2.6 of=1; "
        "0 repaired 2.632 ms=600; 2 repaired 2.632 ms=600; 3 repaired 2.632 ms=0.7; 3 finalized 9; "
        + LAST
    )
    verdict = judge(4, Attempt(status=0), events)
    assert verdict.outcome == "recovered"
    assert summary(verdict) == [
        "rank 1 killed at 1.000 s; detected after 600 ms; recovered after 632 ms"
    ]


def test_that_a_process_was_killed_is_no_news_where_it_is_known() -> None:
    for events, status in ((ALL + "1 killed 3; " + LAST, 0), (ALL + LAST + "; 1 finalized 9", 1)):
        assert judge(3, Attempt(status=137), noted(events)).status == status


def test_who_had_not_come_to_a_step_that_was_given_up_is_said() -> None:
    events = noted(
        "0 started 0; 1 started 0; 2 started 0; 3 started 0; 3 killed 1; 0 failure_detected 1.1 of=3; "
        "0 step_limit 9; 1 step_limit 9.1; 2 aborted 9.2"
    )
    verdict = judge(4, Attempt(status=75), events)
    assert verdict.reasons[0] == (
        "ranks 0-1 gave up a step of a recovery that took longer than its limit; "
        "rank 2 had not come to it (computes, or waits for something else?)"
    )
    # An abort before it is the reason, one after it is not.
    assert not any("MPI_Abort" in reason for reason in verdict.reasons)
    earlier = noted("0 started 0; 1 aborted 5; 0 step_limit 9")
    assert any("MPI_Abort" in one for one in judge(2, Attempt(status=75), earlier).reasons)


def test_the_summary_says_who_failed_when_and_how_long_it_took() -> None:
    events = noted(
        "0 started 10; 1 started 10.1; 3 killed 11.5; 0 failure_detected 11.54 of=3; 1 failure_detected 11.75 of=3;"
        "0 repaired 11.8 ms=50; 1 repaired 11.9 ms=150; 2 killed 13; 0 failure_detected 13.003 of=2;"
        "0 shrink 13.01 ms=2; 4 repaired 13.5 ms=3; 5 failure_detected 20 of=4; 5 step_limit 30"
    )
    assert summary(judge(6, Attempt(status=0), events)) == [
        "rank 3 killed at 1.500 s; detected after 40 to 250 ms; recovered after 400 ms",
        "rank 2 killed at 3.000 s; detected after 3 ms; recovered after 500 ms",
        "rank 4 failed at 10.000 s; first reported then; not repaired",
        "rank 5 gave up at 20.000 s; reported by nobody; not repaired",
    ]
    only_shrunk = noted("0 started 0; 1 killed 1; 0 failure_detected 1.01 of=1; 0 shrink 1.02 ms=2")
    assert summary(judge(2, Attempt(status=0), only_shrunk)) == [
        "rank 1 killed at 1.000 s; detected after 10 ms; shrunk after 20 ms"
    ]
    fewer = noted(
        "0 started 0; 1 killed 1; 0 failure_detected 1.01 of=1; 0 reduced 1.019; 0 repaired 1.02 ms=5"
    )
    assert summary(judge(2, Attempt(status=0), fewer)) == [
        "rank 1 killed at 1.000 s; detected after 10 ms; went on with fewer ranks after 20 ms"
    ]
    at_once = noted("; ".join(f"{rank} killed 1" for rank in (0, 1, 2, 5)))
    assert summary(judge(20, Attempt(status=0), at_once)) == [
        "ranks 0-2, 5 killed at 1.000 s; no repair was asked for"
    ]
    many = noted("; ".join(f"{rank} killed {rank}" for rank in range(20)))
    assert summary(judge(20, Attempt(status=0), many))[-1] == "... and 8 more; --timeline has all"
    assert ranges([0, 1, 2, 5, 7, 8]) == "0-2, 5, 7-8"


@pytest.mark.parametrize(
    ("before", "repair", "said"),
    [
        ("2 asleep 1.1; ", "0 repaired 4.5 ms=10", "a waiting spare, left out at the next repair"),
        ("2 asleep 1.1; ", "0 repaired 2.1 ms=200", "recovered after 100 ms"),
        ("2 asleep 1.1; 2 took_over 1.5; ", "0 repaired 4.5 ms=10", "recovered after 2,500 ms"),
        ("", "0 repaired 4.5 ms=10", "recovered after 2,500 ms"),
    ],
    ids=["waits", "dies in a repair", "had taken over", "a rank"],
)
def test_nobody_recovers_from_the_death_of_a_waiting_spare(
    before: str, repair: str, said: str
) -> None:
    events = noted(
        f"{ALL}{before}2 killed 2; 0 failure_detected 2.01 of=2; {repair}; 0 finalized 9; 1 finalized 9"
    )
    (line,) = summary(judge(3, Attempt(status=0), events))
    assert line == f"rank 2 killed at 1.000 s; detected after 10 ms; {said}"


def test_odd_lines_of_event_files_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "rank-3.jsonl").write_text(
        '{"t": 2, "rank": 3, "event": "checkpoint", "ms": 0.5, "version": 7}\n\n[]\nnull\n{"t": "x"}\n'
        '{"t": NaN, "event": "a"}\n{"t": 1, "event": "started", "ms": "long", "of": 1.5}\n{"t": 3, "rank": 3, "eve',
        encoding="utf-8",
    )  # fmt: skip
    (tmp_path / "rank-x.jsonl").write_text('{"t": 1, "event": "a"}')
    found = read_events(tmp_path)
    assert found == [
        Event(1.0, 3, "started"),
        Event(2.0, 3, "checkpoint", 0.5, None, {"version": 7}),
    ]
    assert found[1].as_json() == {
        "t": 2.0,
        "rank": 3,
        "event": "checkpoint",
        "ms": 0.5,
        "version": 7,
    }


# The command, with a stand-in for mpirun.


def stand_in(tmp_path: Path, text: str, *options: str, status: int = 0) -> Answer:
    """Run a job whose files hold what is given as `rank event at ...`."""
    (tmp_path / "librunflat_mpi.so").write_text("RUNFLAT_STEP_LIMIT_S")
    made = [
        f"echo '{json.dumps(one.as_json())}' >> $RUNFLAT_EVENTS/rank-{one.rank}.jsonl"
        for one in noted(text)
    ]
    body = "\n".join(["#!/bin/sh", *made, f"exit {status}"])
    return run(
        "mpi", "run", "-n", "3", "--mpirun", script(tmp_path / "mpirun", MPIRUN),
        "--library", tmp_path / "librunflat_mpi.so", *options, script(tmp_path / "job", body),
    )  # fmt: skip


RECOVERED = ALL + "1 killed 3; 0 failure_detected 3.04 of=1; 2 failure_detected 3.05 of=1;" \
    "0 shrink 3.06 ms=9; 0 repaired 3.07 ms=20; 2 repaired 3.07 ms=21; 0 checkpoint 4 ms=0.5; 0 asleep 5; " + LAST  # fmt: skip


def test_the_exit_status_and_one_plain_line(tmp_path: Path) -> None:
    for events, status, exit_status, said in (
        (ALL + LAST + "; 1 finalized 9", 0, 0, []),
        (ALL + LAST, 0, 1, ["runflat: rank 1 did not come to its end (no `finalized` event); mpirun ended with 0 all the same"]),
        (ALL + LAST + "; 1 finalized 9", 3, 1, ["runflat: mpirun ended with 3"]),
        (RECOVERED, 0, 0, [
            "runflat: rank 1 killed at 2.000 s; detected after 40 to 50 ms; recovered after 70 ms",
            "runflat: the others came to their end",
        ]),
        ("0 started 1; 1 killed 3; 2 killed 3; 0 failure_detected 3.04 of=1; 0 failure_detected 3.05 of=2; 0 shrink 3.06 ms=9; "
         "0 finalized 9", 0, 0, [
            "runflat: ranks 1-2 killed at 2.000 s; detected after 40 to 50 ms; shrunk after 60 ms",
            "runflat: the others came to their end",
        ]),
    ):  # fmt: skip
        answer = stand_in(tmp_path, events, status=status)
        assert answer.status == exit_status
        assert answer.err.splitlines() == said


def test_a_job_that_ends_so_again_by_itself_is_not_begun_a_third_time(tmp_path: Path) -> None:
    page = tmp_path / "run.html"
    answer = stand_in(tmp_path, ALL + LAST, "--supervise", "--timeline", str(page), status=3)
    assert answer.status == 1
    assert answer.err.count("begins again") == 1
    assert "had failed: it does not begin again" in answer.err
    assert '<a href="run-again-1.html">run-again-1.html</a>' in page.read_text()
    assert "This attempt did not come to its end; the job was begun again." in page.read_text()
    again = page.with_stem("run-again-1")
    assert '<a href="run.html">run.html</a> has the attempt before.' in again.read_text()
    assert (
        "This is attempt 2. The one before ended early: mpirun ended with 3." in again.read_text()
    )
    assert "begun again" not in again.read_text()
    told = [json.loads(one.with_suffix(".json").read_text()) for one in (page, again)]
    assert [one["attempt"] for one in told] == [1, 2]
    assert told[0]["earlier"] == []
    assert told[1]["earlier"] == [told[0]["reasons"]]


def test_a_job_whose_ranks_fail_is_begun_again_as_often_as_allowed(tmp_path: Path) -> None:
    answer = stand_in(tmp_path, ALL + "1 killed 3; " + LAST, "--supervise", status=3)
    assert answer.status == 1
    assert answer.err.count("begins again (") == 3


def test_the_timeline_has_all_events_by_time(tmp_path: Path) -> None:
    answer = stand_in(
        tmp_path,
        RECOVERED,
        "--timeline",
        str(tmp_path / "t.json"),
        "--events",
        str(tmp_path / "kept"),
    )
    assert "wrote" in answer.err
    found = json.loads((tmp_path / "t.json").read_text())
    assert (found["ranks"], found["outcome"], found["status"], found["reasons"]) == (
        3,
        "recovered",
        0,
        [],
    )
    assert found["command"].startswith("runflat mpi run -n 3")
    assert "--with-ft ulfm" in found["launch"]
    events = found["events"]
    assert [one["t"] for one in events] == sorted(one["t"] for one in events)
    assert {one["event"] for one in events if one["rank"] is None} == {"launched", "ended"}
    assert [one for one in events if one["event"] == "repaired"] == [
        {"t": 3.07, "rank": 0, "event": "repaired", "ms": 20.0},
        {"t": 3.07, "rank": 2, "event": "repaired", "ms": 21.0},
    ]
    assert len(list((tmp_path / "kept").glob("rank-*.jsonl"))) == 3
    again = stand_in(tmp_path, RECOVERED, "--events", str(tmp_path / "kept"))
    assert again.status == 2
    assert "another run" in again.err


def test_json_is_one_object_and_the_programs_words_go_to_stderr(tmp_path: Path) -> None:
    (tmp_path / "librunflat_mpi.so").write_text("RUNFLAT_STEP_LIMIT_S")
    body = "#!/bin/sh\necho word\n"
    for rank in range(2):
        body += f'for e in started finalized; do echo \'{{"t": 1, "event": "\'$e\'"}}\' >> $RUNFLAT_EVENTS/rank-{rank}.jsonl; done\n'
    parts = ["--mpirun", script(tmp_path / "mpirun", MPIRUN), "--library", tmp_path / "librunflat_mpi.so", "--json"]  # fmt: skip
    file = ["--timeline", tmp_path / "t.json"]
    for ranks, status, outcome in ((2, 0, "done"), (3, 1, "failed")):
        answer = spawn(
            "mpi", "run", *parts, *file, "-n", str(ranks), script(tmp_path / "job", body)
        )
        assert answer.status == status
        assert answer.json == json.loads((tmp_path / "t.json").read_text())
        assert (answer.json["outcome"], answer.json["status"]) == (outcome, status)
        assert bool(answer.json["reasons"]) == bool(status)
        assert "word" in answer.err.splitlines()
    supervised = spawn(
        "mpi", "run", *parts, "-n", "3", "--supervise", "--relaunches", "1", tmp_path / "job"
    )
    assert supervised.json["outcome"] == "failed"
    dry = spawn("mpi", "run", *parts, "-n", "2", "--dry-run", tmp_path / "job")
    assert dry.json["outcome"] == "composed"
    assert "--with-ft ulfm" in dry.json["launch"]


def test_the_page_draws_every_rank_and_a_window_around_a_failure(tmp_path: Path) -> None:
    assert stand_in(tmp_path, RECOVERED, "--timeline", str(tmp_path / "t.html")).status == 0
    assert (tmp_path / "t.json").is_file()
    page = (tmp_path / "t.html").read_text()
    drawn = [
        json.loads(text)
        for text in re.findall(r'data-figure="mpi-timeline" data-choice="\d+">(.*?)</script>', page)
    ]
    assert re.findall(r'<option value="\d" data-note="">(.*?)</option>', page) == [
        "the failure of rank 1", "the whole run",
    ]  # fmt: skip
    near, whole = ({trace.get("name"): trace for trace in figure["data"]} for figure in drawn)
    assert near["<b>killed</b>"]["x"] == [0.0]
    assert [round(x, 3) for x in near["<b>failure detected</b>"]["x"]] == [40, 50]
    repaired = near["<b>repaired</b>"]
    assert [round(x, 3) for x in repaired["base"]] == [50, 49]
    assert repaired["x"] == [20, 21]
    assert "<b>finalized</b>" not in near
    assert whole["<b>finalized</b>"]["y"] == [0, 2]
    assert whole["<b>checkpoint</b>"]["x"] == [0.0005]
    assert "40 to 50" in page


def test_a_page_loads_nothing_and_shows_odd_names_as_they_are() -> None:
    events = [
        Event(1.0, 0, "started"),
        Event(2.0, 0, NASTY, 3.0),
        Event(2.0, 7, "killed"),
        Event(3.0, 9, "killed"),
    ]
    for ranks, known in ((8, events), (2, [])):
        verdict = judge(ranks, Attempt(status=0, begun=1.0), known)
        page = render_timeline(
            Timeline(ranks, 2.0, verdict, known, f"runflat {NASTY}", NASTY).report()
        )
        for name, attributes in Elements(page).tags:
            assert "src" not in attributes, name
            assert (attributes.get("href") or "#").startswith("#"), name
            assert name not in ("link", "iframe", "img", "object", "embed")
        assert '<script>alert("x")</script>' not in page


# The real mpirun.


def cooked(tmp_path: Path) -> tuple[Path, Path]:
    """Compile the stand-in library and a small program."""
    mpicc = real_mpicc()
    answer = run("mpi", "build", "--source", sources(tmp_path / "source"), "--json")
    assert answer.status == 0, answer.err
    (tmp_path / "app.c").write_text(PROGRAM, encoding="utf-8")
    done = finish([str(mpicc), str(tmp_path / "app.c"), "-o", str(tmp_path / "app")])
    assert done.status == 0, done.err
    return Path(answer.json["library"]), tmp_path / "app"


def real(tmp_path: Path, words: Sequence[str], how: str) -> Answer:
    library, app = cooked(tmp_path)
    mark = f"RUNFLAT_MARK={tmp_path}"
    answer = spawn(
        "mpi", "run", "--library", library, *words, app, how, env=dict([mark.split("=")])
    )
    assert not processes_with(mark), answer
    return answer


@pytest.mark.parametrize(
    ("how", "status", "said"),
    [
        ("end", 0, ""),
        ("broken pipes", 0, ""),
        ("fail", 1, "runflat: mpirun ended with 3"),
        ("die", 1, "runflat: rank 1 did not come to its end"),
        ("hang", 124, "runflat: the limit of 8 s ran out"),
    ],
)
def test_open_mpi_with_two_ranks(how: str, status: int, said: str, tmp_path: Path) -> None:
    answer = real(tmp_path, ["-n", "2", "--limit", "8" if how == "hang" else "100"], how)
    assert answer.status == status, answer
    assert said in answer.err
    if status == 0:
        assert sorted(answer.out.splitlines()) == [f"rank 0: {how}", f"rank 1: {how}"]
        assert "runflat" not in answer.err


def test_open_mpi_loses_a_node_with_its_daemon(tmp_path: Path) -> None:
    real_mpicc()
    try:
        hosts = make_hosts(tmp_path / "hosts", count=2, slots=2)
    except Missing as missing:
        pytest.skip(str(missing))
    words = ["-n", "4", "--hostfile", str(hosts.hostfile), "--limit", "60", "--kill", "node:fakeB@0.2", "--timeline",
             str(tmp_path / "t.json"), "--mpirun-option", f"--prtemca plm_ssh_agent {hosts.shell} --bind-to none"]  # fmt: skip
    answer = real(tmp_path, words, "hang")
    assert answer.status == 1, answer
    assert "ranks 2-3 killed" in answer.err
    assert "ranks 0-1 did not come to their end" in answer.err
    events = json.loads((tmp_path / "t.json").read_text())["events"]
    killed = [(one["rank"], one["by"]) for one in events if one["event"] == "killed"]
    assert killed == [(2, "node:fakeB@0.2"), (3, "node:fakeB@0.2")]
