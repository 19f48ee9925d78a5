"""A job under `runflat mpi run --supervise`, on hosts of one machine."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from threading import Timer

from command import finish
from command import program as runflat

from .hosts import Hosts
from .job import Ended
from .parts import Parts
from .processes import processes_with, stacks_of

LIMIT_S = 150
"""For all attempts of a job together, well above what they take."""

SLOW_S = 100
"""A job that takes longer hangs, as good as always: where its processes are is looked up while they are there."""


def run_supervised(
    parts: Parts,
    hosts: Hosts,
    program: str,
    ranks: int,
    spares: int,
    kills: Sequence[str],
    steps: int,
    words: Sequence[str] = (),
    own: Sequence[str] = (),
    *,
    kept: bool = True,
    allocated: bool = False,
) -> Ended:
    """Run a program of `mpi/` with kills as `--kill` takes them; `words` are the command's, `own` the program's; events are those of all attempts.

    Checkpoints lie in the hosts' folder if they are kept. Hosts that are allocated are named by a scheduler and by no hostfile.
    """
    started = parts.program(program)
    settings = " ".join([*hosts.settings, "--bind-to", "none"])
    named = [] if allocated else ["--hostfile", hosts.hostfile]
    killing = [word for kill in kills for word in ("--kill", kill)]
    timeline = hosts.folder / "timeline.json"
    begin = time.monotonic()
    line = runflat(
        "mpi", "run", "-n", str(ranks), "--spares", str(spares), "--library", parts.library,
        *named, "--mpirun-option", settings, "--limit", str(LIMIT_S), *killing,
        "--supervise", *(["--store", hosts.store] if kept else []), "--timeline", timeline, *words, started, str(steps), *own,
    )  # fmt: skip
    mark = f"RUNFLAT_MARK={hosts.folder}"
    stacks: list[str] = []
    look = Timer(SLOW_S, lambda: stacks.append(stacks_of(processes_with(mark))))
    look.start()
    try:
        answer = finish(
            [*hosts.within, *line],
            env={
                "RUNFLAT_MARK": str(hosts.folder),
                "RUNFLAT_POLICY_LIBRARY": str(parts.policy),
                **(hosts.allocation() if allocated else {}),
            },
            timeout=2 * LIMIT_S,
        )
    finally:
        look.cancel()
        look.join()
    return Ended(
        "\n".join([answer.out + answer.err, *stacks]),
        answer.status,
        answer.status != TIMED_OUT,
        time.monotonic() - begin,
        sorted(
            (
                event
                for attempt in hosts.folder.glob("timeline*.json")
                for event in json.loads(attempt.read_text(encoding="utf-8"))["events"]
            ),
            key=lambda event: event["t"],
        ),
        processes_with(mark),
    )


TIMED_OUT = 124
"""Exit status of a job that took longer than its limit."""
