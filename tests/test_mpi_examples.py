"""The tutorial `mpi/examples`, on the real MPI: what each program prints when processes of it die.

Those with spares are in `test_mpi_recovery` and `test_mpi_data` (02, 06, 07, 08), `test_mpi_python` (04) and `test_mpi_fortran` (05).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mpi_jobs.job import Ended, run_job
from mpi_jobs.parts import ROOT, Parts

EXAMPLES = ROOT / "mpi/examples"


def run_preloaded(parts: Parts, name: str, steps: int, world: int, kill: str) -> Ended:
    """Run a program that calls nothing of the library itself."""
    source = EXAMPLES / name
    program = [str(parts.unlinked(f"examples/{name}"))]
    if source.suffix == ".py":
        pytest.importorskip("mpi4py", reason="mpi4py: not installed")
        program = [sys.executable, str(source)]
    told = {"LD_PRELOAD": str(parts.library)}
    return run_job(parts, world, [*program, str(steps)], kill=kill, environment=told)


@pytest.mark.parametrize(
    ("name", "tasks", "kill"),
    [("00_run_through.c", 500, "2@0.1,3@0.15"), ("00_run_through.py", 2000, "2@0.3,3@0.4")],
)
def test_a_manager_hands_out_again_what_dead_workers_had(
    parts: Parts, name: str, tasks: int, kill: str
) -> None:
    ended = run_preloaded(parts, name, tasks, 5, kill)
    squares = tasks * (tasks + 1) * (2 * tasks + 1) // 6
    told = f"{tasks} tasks, sum of squares {squares}, workers lost 2\n"
    assert told in ended.text, ended.text
    assert ended.status == 0
    assert ended.ranks("killed") == {2, 3}
    assert ended.ranks("finalized") == {0, 1, 4}


@pytest.mark.parametrize(
    ("name", "tasks", "kill"),
    [("00_run_through.c", 500, "1@0.1"), ("00_run_through.py", 4000, "1@0.3")],
)
def test_a_manager_without_workers_says_what_is_left(
    parts: Parts, name: str, tasks: int, kill: str
) -> None:
    ended = run_preloaded(parts, name, tasks, 2, kill)
    left = re.search(rf"(\d+) of {tasks} tasks are not done: no worker is left\n", ended.text)
    assert left, ended.text
    assert 0 < int(left[1]) <= tasks
    assert "sum of squares" not in ended.text
    assert ended.status != 0
    assert ended.ranks("killed") == {1}
    assert ended.ranks("finalized") == {0}


@pytest.mark.parametrize(
    ("name", "steps", "kill"),
    [("01_shrink.c", 150, "1@0.1,4@0.2"), ("01_shrink.py", 400, "1@0.3,4@0.5")],
)
def test_survivors_go_on_with_fewer_processes(
    parts: Parts, name: str, steps: int, kill: str
) -> None:
    ended = run_preloaded(parts, name, steps, 6, kill)
    last = steps * 1000 - 1
    squares = last * (last + 1) * (2 * last + 1) // 6
    told = f"4 of 6 processes, sum {squares}, which is right\n"
    assert told in ended.text, ended.text
    assert ended.ranks("killed") == {1, 4}
    assert ended.ranks("finalized") == {0, 2, 3, 5}
    assert not ended.crash_words


def test_ranks_work_while_the_communicator_is_repaired(parts: Parts) -> None:
    program = [str(parts.program("examples/03_overlap.c")), "400"]
    ended = run_job(parts, 6, program, spares=2, kill="1@checkpoint+0.1,4@repair+0.001")
    done = re.findall(r"rank \d of 4: pi is 3\.1415927, (\d+) pieces done", ended.text)
    assert len(done) == 4, ended.text
    assert any(int(pieces) > 0 for pieces in done)
    assert ended.ranks("killed") >= {1}
    assert not ended.left_behind


def test_who_moves_to_a_rank_whose_data_is_lost_begins_it_anew(parts: Parts) -> None:
    """Rank 0 and the holder of its second copy die together; rank 2 slides into the place of one of them."""
    grid = {
        "RUNFLAT_SHAPE": "4x2",
        "RUNFLAT_ALLOCATION": "2D(1,1)",
        "RUNFLAT_POLICY": "hybrid(1D+0D)",
    }
    program = [str(parts.program("examples/03_overlap.c")), "400"]
    ended = run_job(parts, 8, program, spares=2, kill="0@0.25,1@0.25", environment=grid)
    assert ended.ranks("killed") == {0, 1}
    told = re.findall(r"rank \d of 6: pi is ([\d.]+),", ended.text)
    assert told == ["3.1415927"] * 6, ended.text


@pytest.mark.parametrize(
    "name",
    ["02_spares.c", "03_overlap.c", "06_background.c", "08_grid.c"],
    ids=lambda name: name[:2],
)
def test_a_spare_that_is_left_alone_does_not_begin_the_work_anew(parts: Parts, name: str) -> None:
    """Both ranks die, so it wakes in a job of one rank; what it computed would be the answer to another question."""
    program = [str(parts.program(f"examples/{name}")), "400"]
    ended = run_job(parts, 3, program, spares=1, kill="0@0.2,1@0.2")
    assert ended.ranks("killed") == {0, 1}
    assert ended.ranks("took_over") == {2}, ended.text
    assert ended.ranks("aborted") == {2}, ended.text
    assert not re.search("largest error|pi is", ended.text)


# Of six processes the first three are in the library, and rank 2 is the one that they wait for.
@pytest.mark.parametrize(
    ("range_", "victim", "word"),
    [
        ("universe", 5, "interrupted, answer -1"),
        ("universe", 1, "interrupted, answer -1"),
        ("group", 1, "interrupted, answer -1"),
        ("group", 5, "not interrupted, answer 42"),
        ("local", 1, "not interrupted, answer 42"),
        ("local", 2, "told of the death, answer -1"),
    ],
)
def test_two_communicators_of_a_process_keep_ranges_of_their_own(
    parts: Parts, range_: str, victim: int, word: str
) -> None:
    """The paper's Figure 3 and Listing 1: rank 0 has a communicator of the library, with a range, and one of the application, `local`."""
    program = [str(parts.program("examples/09_ranges.c")), range_, "2.5"]
    ended = run_job(parts, 6, program, kill=f"{victim}@0.5")
    assert ended.ranks("killed") == {victim}
    left = 3 - (victim < 3)
    of_library = f"range {range_}; application: {{}} processes, range local\n"
    assert "library: 3 processes, " + of_library.format(6) in ended.text, ended.text
    # Ranks are others after the first turn, so what each says first counts.
    for rank in {0, 1} - {victim}:
        waiting = re.findall(rf"rank {rank} waits in the library: (.*)\n", ended.text)
        assert waiting[0] == word, ended.text
    # All that live get what rank 0 sends them on the other communicator, which nobody has revoked.
    answer = word.split()[-1]
    for rank in {0, 3, 4, 5} - {victim}:
        told = f"rank {rank} in the application: not interrupted, answer {answer}, revoked 0\n"
        assert told in ended.text, ended.text
    # Both are shrunk, keep their ranges, and serve.
    assert f"library: {left} processes, " + of_library.format(5) in ended.text, ended.text
    assert "5 processes have the answer\n" in ended.text, ended.text
    assert ended.ranks("finalized") == set(range(6)) - {victim}
    assert not ended.crash_words


def test_the_examples_are_told_of_in_their_order() -> None:
    """Each says how it is compiled and run; the page has them all."""
    names = sorted(path.name for path in EXAMPLES.iterdir() if path.suffix in (".c", ".py", ".f90"))
    page = (ROOT / "docs/mpi.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\d\d_\w+\.\w+)`(?:, `(\d\d_\w+\.\w+)`)? \|", page, re.MULTILINE)
    assert [name for row in rows for name in row if name] == names
    for name in names:
        text = (EXAMPLES / name).read_text(encoding="utf-8")
        head = "\n".join(text.splitlines()[:8])
        assert "runflat mpi run -n " in head, name
        compiler = {".c": f"mpicc {name} ", ".f90": "mpifort ", ".py": f"python {name}"}
        assert compiler[Path(name).suffix] in head, name


def lines_at_the_head(source: Path) -> list[str]:
    """Give the commands with which a program of the tutorial says that it is built and run."""
    lines = (line.strip(" *!") for line in source.read_text(encoding="utf-8").splitlines()[:12])
    return [line for line in lines if re.match(r"(runflat|mpicc|mpifort) ", line)]


@pytest.mark.parametrize("name", sorted(file.name for file in EXAMPLES.glob("[0-9]*")))
def test_the_commands_at_the_head_show_a_death(parts: Parts, name: str, tmp_path: Path) -> None:
    if name.endswith(".py"):
        pytest.importorskip("mpi4py", reason="mpi4py: not installed")
    beside = Path(sys.executable).parent
    if name.endswith(".f90") and not (beside / "mpifort").exists():
        pytest.skip("mpifort: not in this MPI")
    lines = lines_at_the_head(EXAMPLES / name)
    assert lines[-1].startswith("runflat mpi run ")
    shutil.copy(EXAMPLES / name, tmp_path)
    done = subprocess.run(
        ["bash", "-e", "-c", "\n".join(lines)],
        cwd=tmp_path,
        env=os.environ
        | {"PATH": f"{beside}:{os.environ['PATH']}", "RUNFLAT_POLICY_LIBRARY": str(parts.policy)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # Who dies of its own accord, in 07, is noted by the others alone.
    assert re.search(r"^runflat: ranks? [\d, ]+ (killed|failed) at ", done.stderr, re.M), (
        done.stderr
    )
