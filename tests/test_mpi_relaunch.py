"""What `--supervise` does between attempts, with stand-ins for mpirun: hosts are found, asked and cleared, and nothing stops it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from command import program, spawn
from mpi_jobs.processes import is_alive, pids
from mpi_jobs.stand_ins import script
from runflat.mpi_launch import Event, Job
from runflat.mpi_launch import probe as probes
from runflat.mpi_launch.hosts import Host, is_this_machine, started_hosts
from runflat.mpi_launch.probe import answering, clear

MPIRUN = """#!/bin/sh
# Stands for mpirun: asked for --host it does what `probe` says, else it gives the program the variables of its line and runs it.
[ "$1" = --version ] && {{ echo "mpirun (Open MPI) 5.0.11"; exit 0; }}
words="$*"
while [ $# -gt 0 ]; do
  case "$1" in
    -x) export "$2"; shift 2 ;;
    -n) export SIZE="$2"; shift 2; break ;;
    --host) {probe} ;;
    *) shift ;;
  esac
done
unset LD_PRELOAD
exec "$@"
"""

STARTED = """for rank in 0 1; do
  echo '{"t": 1.0, "event": "started", "host": "'$HOST'"}' > $RUNFLAT_EVENTS/rank-$rank.jsonl
done
"""
ENDED = (
    STARTED
    + """for rank in 0 1; do
  echo '{"t": 2.0, "event": "finalized"}' >> $RUNFLAT_EVENTS/rank-$rank.jsonl
done
"""
)


@pytest.fixture(autouse=True)
def _no_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("LD_PRELOAD", "PBS_JOBID", *(one for one in os.environ if one.startswith("RUNFLAT_"))):  # fmt: skip
        monkeypatch.delenv(name, raising=False)


def mpirun(tmp_path: Path, probe: str = "exit 0") -> Path:
    return script(tmp_path / "mpirun", MPIRUN.format(probe=probe))


def line(tmp_path: Path, first: str, *options: str | Path, then: str = ENDED) -> list[str | Path]:
    """Give a supervised job of 2 ranks that does this at first, and then that."""
    (tmp_path / "librunflat_mpi.so").write_text("RUNFLAT_STEP_LIMIT_S")
    text = f'#!/bin/sh\nif [ -z "$RUNFLAT_RESTART" ]; then\n{first}\nexit 1\nfi\n{then}'
    return [
        "mpi", "run", "--mpirun", tmp_path / "mpirun", "--library", tmp_path / "librunflat_mpi.so", "-n", "2",
        "--supervise", *options, script(tmp_path / "job", text),
    ]  # fmt: skip


# Where it begins again.


def test_this_machine_alone_begins_again_without_questions(tmp_path: Path) -> None:
    mpirun(tmp_path, "touch asked; exit 0")
    words = line(tmp_path, f"HOST={os.uname().nodename}\n{STARTED}")
    answer = spawn(*words)
    assert answer.status == 0, answer
    assert "begins again (1 of 3) on this machine: 2 ranks" in answer.err
    assert not (tmp_path / "asked").exists()


def test_in_an_allocation_the_hosts_are_those_that_processes_started_on(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    mpirun(tmp_path, f'echo "$2" >> {asked}; exit 0')
    answer = spawn(*line(tmp_path, f"HOST=elsewhere\n{STARTED}"), env={"PBS_JOBID": "1"})
    assert answer.status == 0, answer
    assert "begins again (1 of 3) on the same hosts, which all answer: 2 ranks" in answer.err
    # Once to be asked, once to be cleared.
    assert asked.read_text().split() == ["elsewhere:1"] * 2


def test_lost_hosts_of_an_allocation_leave_too_few_slots(tmp_path: Path) -> None:
    mpirun(tmp_path, 'case "$2" in lost*) exit 1 ;; *) exit 0 ;; esac')
    text = """for one in 0=lost 1=kept; do
      echo '{"t": 1.0, "event": "started", "host": "'${one#*=}'"}' > $RUNFLAT_EVENTS/rank-${one%=*}.jsonl
    done"""
    answer = spawn(*line(tmp_path, text), env={"PBS_JOBID": "1"})
    assert answer.status == 1
    assert "have 1 slots for 2 ranks, as many as processes had started there" in answer.err


def test_hosts_that_are_not_known_are_not_called_this_machine(tmp_path: Path) -> None:
    mpirun(tmp_path)
    answer = spawn(*line(tmp_path, "true"), env={"PBS_JOBID": "1"})
    assert answer.status == 0, answer
    assert "with the same line, since not all processes had started" in answer.err
    assert "this machine" not in answer.err


def test_hosts_are_read_from_the_starts_of_processes() -> None:
    def start(rank: int, host: str) -> Event:
        return Event(1.0, rank, "started", more={"host": host})

    events = [start(2, "b"), start(0, "a"), start(1, "a"), start(3, "b"), Event(1.0, 4, "started")]
    # A new process in the place of a dead one.
    events.append(start(1, "c"))
    assert started_hosts(events) == [Host("a", 2, "a slots=2"), Host("b", 2, "b slots=2")]
    assert is_this_machine(os.uname().nodename)
    assert not is_this_machine("elsewhere")


# What does not stop it.


def test_a_timeline_that_cannot_be_written_stops_no_relaunch_and_loses_no_checkpoint(
    tmp_path: Path,
) -> None:
    mpirun(tmp_path)
    folder = tmp_path / "pages"
    folder.mkdir()
    first = f"mkdir -p $RUNFLAT_STORE; touch $RUNFLAT_STORE/kept; rmdir {folder}; touch {folder}; {STARTED}"
    then = f"rm {folder}; mkdir {folder}; ls $RUNFLAT_STORE; {ENDED}"
    answer = spawn(*line(tmp_path, first, "--timeline", folder / "t.json", then=then))
    assert answer.out == "kept\n"
    assert "t.json: cannot be written" in answer.err
    assert "begins again (1 of 3) on this machine" in answer.err
    assert json.loads((folder / "t-again-1.json").read_text())["outcome"] == "done"
    # The job is done, and a file that was asked for is not there.
    assert answer.status == 2


def test_a_signal_while_hosts_are_asked_ends_it(tmp_path: Path) -> None:
    mpirun(tmp_path, f"echo $$ >> {tmp_path}/pids; trap '' TERM; sleep 300 & sleep 300; exit 0")
    (tmp_path / "hosts").write_text("a slots=1\nb slots=1\n")
    words = line(tmp_path, STARTED, "--hostfile", tmp_path / "hosts", "--json")
    started = subprocess.Popen(
        program(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    known = pids(tmp_path / "pids", 2)
    (tmp_path / "mpirun").unlink()
    script(tmp_path / "mpirun", "#!/bin/sh\nexit 0\n")
    started.terminate()
    out, said = started.communicate(timeout=60)
    assert started.returncode == 128 + signal.SIGTERM, said
    assert "interrupted by SIGTERM; the job does not begin again" in said
    assert json.loads(out)["outcome"] == "interrupted"
    assert not [pid for pid in known if is_alive(pid)]


# Hosts are asked side by side.


def hosts(*names: str) -> list[Host]:
    return [Host(name, 1, name) for name in names]


def test_hosts_are_asked_at_once_and_a_silent_one_costs_the_others_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "ANSWER_S", 6.0)
    # Each waits until all are asked.
    path = mpirun(
        tmp_path,
        f'touch {tmp_path}/asked-$2; case "$2" in silent*) sleep 300 ;; lost*) exit 255 ;; esac\n'
        f"while [ $(ls {tmp_path} | grep -c asked) -lt 10 ]; do sleep 0.1; done; exit 0",
    )
    names = [f"n{index}" for index in range(8)]
    begun = time.monotonic()
    found = answering(hosts("lost", *names, "silent"), Job(["./app"], 2), path)
    assert [host.name for host in found] == names
    assert time.monotonic() - begun < 2 * 6.0


def test_a_host_is_not_lost_because_mpirun_itself_gives_up_once(tmp_path: Path) -> None:
    path = mpirun(
        tmp_path,
        f'echo "$2" >> {tmp_path}/asked; case "$2" in gone*) exit 255 ;; esac; mkdir {tmp_path}/again-$2 2> /dev/null || exit 0; exit 1',
    )
    found = answering(hosts("a", "gone", "b"), Job(["./app"], 2), path)
    assert [host.name for host in found] == ["a", "b"]
    assert len((tmp_path / "asked").read_text().split()) == 6


def test_no_more_than_so_many_are_asked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "AT_ONCE", 2)
    path = mpirun(
        tmp_path,
        f"touch {tmp_path}/now-$$; ls {tmp_path} | grep -c now >> {tmp_path}/counts; sleep 0.2; rm {tmp_path}/now-$$; exit 0",
    )
    names = [f"n{index}" for index in range(6)]
    assert len(answering(hosts(*names), Job(["./app"], 2), path)) == 6
    counts = [int(word) for word in (tmp_path / "counts").read_text().split()]
    assert max(counts) <= 2


def test_hosts_are_cleared_although_one_is_gone_and_words_for_mpirun_say_where_ranks_go(
    tmp_path: Path,
) -> None:
    path = mpirun(
        tmp_path, f'echo "$words" >> {tmp_path}/told; case "$2" in *gone*) exit 255 ;; esac; exit 0'
    )
    job = Job(["./app"], 2, mpirun_options=["--map-by", "node", "--bind-to=none", "--prtemca", "a", "b"])  # fmt: skip
    store = tmp_path / "store"
    store.mkdir()
    clear(store, hosts("a", "gone", os.uname().nodename, "c"), job, path)
    told = (tmp_path / "told").read_text().splitlines()
    assert all(one.count("--map-by") == 1 and "--prtemca a b" in one for one in told)
    assert not any("--bind-to" in one for one in told)
    assert {one.partition("--host ")[2].split()[0] for one in told} == {
        "a:1,gone:1,c:1", "a:1", "gone:1", "c:1",
    }  # fmt: skip
    assert not store.exists()
