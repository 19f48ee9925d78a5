"""The kill matrix: who dies, and in which phase; every job must end with the right data.

    python -m mpi_jobs.matrix [--ranks 8] [--repeats 20] [--seed 1] [--who one] [--phase repair]     (in tests/)

Each cell is repeated with kill times drawn from the seed; a cell that fails prints its kills, so that it can be run again. With
`--record FILE` it goes on where it was stopped, as long as the library's sources are the same.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from .hosts import PORTS, Hosts, make_hosts
from .job import Ended, run_job
from .losses import Layout, may_be_lost
from .parts import Parts, build
from .record import Record
from .standstill import Standstill, watched
from .supervised import run_supervised

WHO = ("one", "several", "half", "rank0", "node", "daemon")
"""`node`: all ranks of a host at once, while its daemon lives; `daemon`: it dies with them, and the job begins again."""

CALLS = ("pointtopoint", "collective", "creation", "mixture")
"""What a program does nearly all the time, so that who dies at any time dies in it."""

PHASES = (*CALLS, "checkpoint", "restore", "shrink", "agree", "repair", "finalize")
"""What somebody dies in: calls of the program, phases of the library."""

OF_RANKS = ("checkpoint", "restore", "agree")
"""Phases that sleeping spares do not enter."""

LATER = {"checkpoint": 20, "agree": 20, "restore": 2}
"""Phases that begin before there is any data: four of five times it is a later one, up to the one with this number."""

BACKGROUND = "examples/06_background.c"
"""Its checkpoints count without agreements."""

STEPS = 400
"""Steps of the program, of at most 2 ms each: it goes on longer than until the last death that is drawn, on a quick machine, too."""

PROGRAMS = ("examples/02_spares.c", BACKGROUND, "examples/08_grid.c")
"""Checkpoints that ranks wait for, checkpoints beside the computation, and communicators of rows and columns."""

COLLECTIVE = "tests/collective.c"

MIXTURE = "tests/mixture.c"
"""Calls of all kinds, on rows, columns and copies."""

MODES = ("", "uniform", "group", "threads")

PARITY = 4
"""Ranks of a parity group, in jobs that keep no second copies."""

GRIDS = {4: (2, 2), 8: (4, 2), 32: (8, 4)}
"""Ranks on a grid, of which spares are two sides: whole lines of ranks slide, and live ones become spares."""

POLICIES = ("hybrid(all)", "hybrid(-2D)", "optimal")

HOSTED = ("node", "daemon")
"""Who needs several hosts."""

_numbers = itertools.count()
"""Of cells with hosts: those that run side by side have hosts of different names."""


@dataclass(frozen=True)
class Cell:
    """One job: so many ranks and spares, and who is killed when."""

    ranks: int
    spares: int
    kill: str
    slots: int | None = None
    """Of each host, if there are several."""
    lost: int | None = None
    """The host that never comes back."""
    program: str = PROGRAMS[0]
    words: tuple[str, ...] = ()
    parity: int = 0
    policy: str = ""
    """On a grid; else the last processes are spares, and the nearest takes over."""

    @property
    def world(self) -> int:
        """Processes."""
        return self.ranks + self.spares

    @property
    def layout(self) -> Layout:
        """Where ranks begin, and where their copies are."""
        wide, high = GRIDS[self.ranks] if self.policy else (self.ranks, 1)
        places = [x + y * (wide + 1) for y in range(high) for x in range(wide)]
        return Layout(places, self.slots, self.parity, moves=bool(self.policy))

    @property
    def victims(self) -> set[int]:
        """Processes that are to be killed; of a host, the one that it is named by."""
        return {int(kill.removeprefix("node-of:").split("@")[0]) for kill in self.kill.split(",")}


def draw(ranks: int, who: str, phase: str, random: Random) -> Cell:
    """Kills of a cell of the matrix."""
    # Somebody else dies first in phases that there are only in a recovery.
    earlier = phase in ("shrink", "repair", "restore")
    slots = ranks // 3 + 1
    spares = {"one": 2, "several": 3, "half": ranks // 2 + 1, "rank0": 2}.get(who, slots)
    policy = random.choice(("", *POLICIES)) if who not in HOSTED else ""
    wide, high = GRIDS.get(ranks, (0, 0))
    on_grid = wide + high + 1
    places = list(range(ranks))
    if policy and on_grid > spares:
        spares = on_grid
        places = [x + y * (wide + 1) for y in range(high) for x in range(wide)]
    else:
        policy = ""
    lost = random.randrange(ranks // slots) if who in HOSTED else 0
    victims = {
        "one": lambda: [random.choice(places[1:])],
        "several": lambda: random.sample(places if phase in OF_RANKS else range(ranks + spares), 2),
        "half": lambda: random.sample(places, ranks // 2),
        "rank0": lambda: [0],
        "node": lambda: list(range(lost * slots, (lost + 1) * slots)),
        "daemon": lambda: [lost * slots + random.randrange(slots)],
    }[who]()
    kills = []
    if earlier:
        on_host = range(lost * slots, (lost + 1) * slots) if who == "daemon" else victims
        first = random.choice([place for place in places if place not in on_host])
        kills.append(f"{first}@{random.uniform(0.05, 0.3):.3f}")
        spares += not policy
    nth = random.randint(2, LATER[phase]) if phase in LATER and random.random() < 0.8 else 1
    entered = phase
    if (who, phase, policy) == ("one", "restore", "") and random.random() < 0.5:
        # The spare that takes over dies while its data come, or when they are there.
        victims, nth, entered = [ranks], 1, random.choice(["reload", "restore"])
    together = random.uniform(0.05, 0.4) if who == "node" and phase in CALLS else None
    for victim in victims:
        within = random.choice([0.0, 0.0, random.uniform(0, 0.003)])
        when = f"{entered}:{nth}+{within:.5f}"
        if phase in CALLS:
            # A host's ranks die together, others one by one.
            moment = random.uniform(0.05, 0.4) if together is None else together + within
            when = f"{moment:.4f}"
        kills.append(f"{'node-of:' if who == 'daemon' else ''}{victim}@{when}")
    hosted = slots if who in HOSTED else None
    programs = [one for one in PROGRAMS if (phase, one) != ("agree", BACKGROUND)]
    program, words = random.choice(programs), []
    if phase == "collective":
        program, words = COLLECTIVE, random.choice([[], ["uniform"]])
    if phase == "creation":
        program, words = COLLECTIVE, ["creation"]
    if phase == "mixture":
        program, words = MIXTURE, [str(random.randrange(10**6)), random.choice(MODES)]
    parity = random.choice((0, PARITY)) if who != "daemon" else 0
    gone = lost if who == "daemon" else None
    return Cell(ranks, spares, ",".join(kills), hosted, gone, program, tuple(words), parity, policy)


def run_cell(parts: Parts, cell: Cell) -> tuple[Ended, list[str]]:
    """Run it; what is wrong with how it ended."""
    with tempfile.TemporaryDirectory(prefix="hosts-", dir=parts.folder) as folder:
        hosts = None
        if cell.slots is not None:
            number = next(_numbers)
            hosts = make_hosts(
                Path(folder),
                -(-cell.world // cell.slots),
                cell.slots,
                name=f"cell{os.getpid()}x{number}",
                ports=10_000 + number % 100 * PORTS,
            )
        if hosts is None or cell.lost is None:
            ended, wrong = _run_in_job(parts, cell, hosts)
        else:
            hosts.lose(hosts.names[cell.lost])
            ended = run_supervised(
                parts,
                hosts,
                cell.program,
                cell.ranks,
                cell.spares,
                cell.kill.split(","),
                STEPS,
                own=cell.words,
            )
            wrong = [f"exit status {ended.status}"] if ended.status else []
        if hosts is not None:
            hosts.clear()
    if not ended.in_time:
        wrong.append("it hung")
    if f"{cell.ranks} ranks, {STEPS} steps, largest error 0\n" not in ended.text:
        wrong.append("the result is not there")
    if began_again(cell, ended) and not may_have_lost(cell, ended):
        wrong.append("it began again, though a copy of all data was left")
    if len(ended.torn) > len(ended.ranks("killed")):
        wrong.append(
            f"{sorted(ended.torn)} say that their queues are torn, which so many cannot be"
        )
    if ended.fenced:
        wrong.append(f"{sorted(ended.fenced)} were fenced, though nobody was stopped")
    if ended.left_behind:
        wrong.append(f"{len(ended.left_behind)} processes were left behind")
    wrong.extend(ended.crash_words[:3])
    return ended, wrong


MOST_TRIES = 4
"""Of a job that the machine or the launcher did not let run."""


@dataclass(frozen=True)
class Judged:
    """How a job ended that was let run, and what is wrong with that."""

    ended: Ended
    wrong: list[str]
    held_up: list[str]
    """What kept the tries before it from being a job at all."""


def judge(parts: Parts, cell: Cell) -> Judged:
    """Run it; once more, a few times at most, if it went wrong where it was not let run."""
    held_up: list[str] = []
    for _ in range(MOST_TRIES):
        with watched() as standstill:
            ended, wrong = run_cell(parts, cell)
        reason = _hindrance(ended, standstill)
        # No machine is to blame for a crash.
        if not wrong or not reason or ended.crash_words:
            break
        held_up.append(f"{reason}: {'; '.join(wrong)}")
    return Judged(ended, wrong, held_up)


def _hindrance(ended: Ended, standstill: Standstill) -> str:
    if not ended.was_started:
        return "mpirun started nothing"
    if standstill.is_long:
        return f"a processor stood still for {standstill.longest_s:.0f} s"
    return ""


def began_again(cell: Cell, ended: Ended) -> bool:
    """Say whether a job that had a checkpoint when somebody died was at its first step once more.

    Spares of a host that is left when mpirun ends the others rightly begin anew, alone, until it ends them, too: that is no answer
    of the job, whose next attempt has the data.
    """
    return bool(_beginnings(cell, ended))


def may_have_lost(cell: Cell, ended: Ended) -> bool:
    """Say whether each beginning was for lost data: under a supervisor there are files, and who is torn died at a moment unknown."""
    if cell.lost is not None:
        return False
    return bool(ended.torn) or all(
        may_be_lost(cell.layout, ended.events, moment) for moment in _beginnings(cell, ended)
    )


def _beginnings(cell: Cell, ended: Ended) -> list[float]:
    """Give the moments at which ranks were the first to keep first values after the death of somebody who had data."""
    deaths = _times_of_deaths(ended)
    if not deaths or not _had_data(cell, ended, deaths[0]):
        return []
    firsts = [one["t"] for one in _checkpoints_of_all(ended) if one["version"] == 0]
    after = (
        min((first for first in firsts if first > death), default=None) for death in set(deaths)
    )
    return sorted({first for first in after if first is not None})


def _checkpoints_of_all(ended: Ended) -> list[dict[str, Any]]:
    """Checkpoints of attempts that had not been left with fewer ranks by then."""
    found, is_reduced = [], False
    for one in ended.events:
        is_reduced = (is_reduced or one["event"] == "reduced") and one["event"] != "launched"
        if one["event"] == "checkpoint" and not is_reduced:
            found.append(one)
    return found


def died_with_data(cell: Cell, ended: Ended) -> bool:
    """Say whether a checkpoint counted when the last of the victims died."""
    deaths = _times_of_deaths(ended)
    return bool(deaths) and _had_data(cell, ended, deaths[-1])


def _had_data(cell: Cell, ended: Ended, moment: float) -> bool:
    before = {one["rank"] for one in _checkpoints(ended) if one["t"] < moment}
    return len(before) >= cell.ranks


def _times_of_deaths(ended: Ended) -> list[float]:
    return sorted(one["t"] for one in ended.events if one["event"] == "killed")


def _checkpoints(ended: Ended) -> list[dict[str, Any]]:
    return [one for one in ended.events if one["event"] == "checkpoint"]


def _run_in_job(parts: Parts, cell: Cell, hosts: Hosts | None) -> tuple[Ended, list[str]]:
    ended = run_job(
        parts,
        cell.world,
        [str(parts.program(cell.program)), str(STEPS), *cell.words],
        spares=cell.spares,
        kill=cell.kill,
        environment={"RUNFLAT_PARITY": str(cell.parity)} | _grid(cell),
        options=hosts.options if hosts else [],
        launches=1,
    )
    silent = set(range(cell.world)) - ended.ranks("killed") - ended.ranks("finalized") - ended.torn
    return ended, [f"processes {sorted(silent)} have not come to the end"] if silent else []


def _grid(cell: Cell) -> dict[str, str]:
    if not cell.policy:
        return {}
    wide, high = GRIDS[cell.ranks]
    return {
        "RUNFLAT_SHAPE": f"{wide + 1}x{high + 1}",
        "RUNFLAT_ALLOCATION": "2D(2,1)",
        "RUNFLAT_POLICY": cell.policy,
    }


def main() -> int:
    """Run the whole matrix, or a part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--who", choices=WHO)
    parser.add_argument("--phase", choices=PHASES)
    parser.add_argument("--beside", type=int, default=1, help="places run side by side")
    parser.add_argument(
        "--record",
        type=Path,
        help="a file: places of the matrix that stand in it are not run again",
    )
    given = parser.parse_args()
    cells = [
        (who, phase)
        for who in ([given.who] if given.who else WHO)
        for phase in ([given.phase] if given.phase else PHASES)
    ]
    with tempfile.TemporaryDirectory(prefix="rf-matrix-") as folder:
        parts = build(Path(folder))
        for program in (*PROGRAMS, COLLECTIVE, MIXTURE):
            parts.program(program)
        record = Record(given.record)
        with ThreadPoolExecutor(given.beside) as pool:
            found = list(
                pool.map(
                    lambda place: run_cells(
                        parts, given.ranks, *place, given.repeats, given.seed, record
                    ),
                    cells,
                )
            )
    jobs, good = len(found) * given.repeats, sum(place["recovered"] for place in found)
    without = sum(place["nobody_died"] for place in found)
    with_data = sum(place["with_data"] for place in found)
    again = sum(place["began_again"] for place in found)
    print(
        f"seed {given.seed}: {good} of {jobs} jobs recovered; {again} from the beginning, since all copies of some data were "
        f"lost; in {with_data} a checkpoint counted when the last one died, in {without} nobody died in time"
    )
    return 0 if good == jobs else 1


def run_cells(
    parts: Parts, ranks: int, who: str, phase: str, repeats: int, seed: int, record: Record
) -> dict[str, Any]:
    """Run one place of the matrix some times, or take what the record says of it."""
    place = {"ranks": ranks, "who": who, "phase": phase, "seed": seed, "jobs": repeats}
    found = record.known(place)
    if found is None:
        found = {
            "recovered": 0,
            "nobody_died": 0,
            "with_data": 0,
            "some_lived": 0,
            "began_again": 0,
            "torn": 0,
            "held_up": [],
            "failed": [],
        }
        start = time.monotonic()
        for repeat in range(repeats):
            cell = draw(ranks, who, phase, Random(f"{seed} {who} {phase} {repeat}"))
            judged = judge(parts, cell)
            ended, wrong = judged.ended, judged.wrong
            if judged.held_up:
                found["held_up"].append({"repeat": repeat, "tries": judged.held_up})
            found["recovered"] += not wrong
            found["nobody_died"] += not ended.ranks("killed")
            found["with_data"] += died_with_data(cell, ended)
            found["began_again"] += began_again(cell, ended)
            found["torn"] += bool(ended.torn)
            found["some_lived"] += not cell.victims <= ended.ranks("killed")
            if wrong:
                found["failed"].append({"repeat": repeat, "kill": cell.kill, "wrong": wrong})
                print(f"{cell}: {'; '.join(wrong)}\n{ended.text}\n{ended.told}", flush=True)
        found["seconds"] = round(time.monotonic() - start)
        record.add(place, found)
    lived = f"; in {found['some_lived']} not all of them died" if found.get("some_lived") else ""
    told = f"{found['recovered']} of {repeats}, {found['with_data']} with data{lived}"
    print(f"{ranks} ranks, {who} in {phase}: {told}", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
