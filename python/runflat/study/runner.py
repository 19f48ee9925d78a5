"""Runs the scenarios of a study that are not done yet, on threads or any executor, and gathers the results."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from runflat._core import RunflatError
from runflat.study.journal import Journal, read_journals
from runflat.study.plan import Plan, read_plan
from runflat.study.results import COLUMNS, RUN, Results, write_whole
from runflat.study.scenario import Row, ScenarioSet, run_elsewhere

Progress = Callable[[int, int], None]
"""Called with scenarios done and scenarios in all."""

Answer = TypeVar("Answer")


class Study:
    """A plan and the scenarios it stands for.

    Parameters
    ----------
    plan : Plan
        The checked plan; see `Study.read`.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.set = ScenarioSet(plan)

    @classmethod
    def read(cls, path: str | Path) -> Study:
        """Read a study from a TOML plan.

        Raises
        ------
        PlanError
            Listing every mistake in the plan.
        """
        return cls(read_plan(path))

    def run(
        self,
        folder: str | Path,
        *,
        jobs: int | None = None,
        executor: Executor | None = None,
        shard: tuple[int, int] = (1, 1),
        progress: Progress | None = None,
        fresh: bool = False,
    ) -> Results | None:
        """Run what is not done yet.

        Parameters
        ----------
        folder : str or Path
            Where the journal and the results are kept; a study that was ended goes on from there.
        jobs : int, optional
            Threads; default: the processors of this machine. Results do not depend on it.
        executor : concurrent.futures.Executor, optional
            Runs the scenarios instead of threads, as `mpi4py.futures.MPIPoolExecutor` or Dask's.
        shard : (int, int)
            Part and number of parts: (3, 16) runs every 16th scenario from the third on.
        progress : callable, optional
            Called with the number of scenarios done and of all in the shard.
        fresh : bool
            Whether to forget what was done in the folder before.

        Returns
        -------
        Results or None
            The results, written to `folder` too; None for one shard of several (see `merge`).

        Raises
        ------
        PlanError
            If the plan does not fit its machines; nothing is written then.
        JournalError
            If the folder cannot be made, holds another study, or another process is running this one.
        """
        folder = Path(folder)
        part, parts = shard
        if not 1 <= part <= parts:
            raise RunflatError(f"a shard is written i/N with 1 <= i <= N, got {part}/{parts}")
        self.set.check()
        started = time.monotonic()
        wanted = range(part - 1, len(self.set.scenarios), parts)
        path = folder / f"journal-{part}of{parts}.jsonl"
        with Journal(path, self.plan.key, fresh=fresh) as journal:
            # What other shards have done here counts too.
            known = journal.done if fresh else read_journals(folder, self.plan.key)
            todo = [index for index in wanted if index not in known]
            done = len(wanted) - len(todo)
            if progress is not None:
                progress(done, len(wanted))
            for index, rows in self._compute(todo, jobs, executor):
                journal.add(index, rows)
                done += 1
                if progress is not None:
                    progress(done, len(wanted))
            self._write_run(folder, jobs, time.monotonic() - started)
            return self._gather(known | journal.done, folder) if parts == 1 else None

    def merge(self, folder: str | Path) -> Results:
        """Put the shards in a folder together.

        Raises
        ------
        RunflatError
            If scenarios are missing; the message says how many.
        """
        return self._gather(read_journals(Path(folder), self.plan.key), Path(folder))

    def _gather(self, done: dict[int, list[Row]], folder: Path) -> Results:
        missing = [s.index for s in self.set.scenarios if s.index not in done]
        if missing:
            raise RunflatError(
                f"{folder}: {len(missing)} of {len(self.set.scenarios)} scenarios are missing, "
                f"the first is number {missing[0]}; run the shards that hold them"
            )
        tables: dict[str, list[Row]] = {name: [] for name in COLUMNS}
        for scenario in self.set.scenarios:
            tables[scenario.table] += done[scenario.index]
        results = Results.from_rows(self.plan, tables)
        results.write(folder)
        return results

    def _write_run(self, folder: Path, jobs: int | None, seconds: float) -> None:
        run = {
            "plan_folder": str(self.plan.folder.resolve()),
            "command": " ".join(sys.argv),
            "host": platform.node(),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": f"{seconds:.1f}",
            "jobs": str(jobs or os.cpu_count() or 1),
        }
        write_whole(folder / RUN, json.dumps(run, indent=2).encode())

    def _compute(
        self, todo: list[int], jobs: int | None, executor: Executor | None
    ) -> Iterator[tuple[int, list[Row]]]:
        if executor is not None:
            text, place = self.plan.text, str(self.plan.folder.resolve())
            submit = lambda index: executor.submit(run_elsewhere, text, place, index)  # noqa: E731
            yield from _as_completed(todo, submit, ahead=256)
            return
        threads = jobs or os.cpu_count() or 1
        with ThreadPoolExecutor(threads) as pool:
            yield from _as_completed(
                todo, lambda index: pool.submit(self.set.run, index), ahead=2 * threads
            )


def _as_completed(
    todo: list[int], submit: Callable[[int], Future[Answer]], *, ahead: int
) -> Iterator[tuple[int, Answer]]:
    """Yield answers as they come, with at most `ahead` submitted; what is left is cancelled."""
    waiting = deque(todo)
    running: dict[Future[Answer], int] = {}
    try:
        while waiting or running:
            while waiting and len(running) < ahead:
                index = waiting.popleft()
                running[submit(index)] = index
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in sorted(finished, key=lambda future: running[future]):
                yield running.pop(future), future.result()
    finally:
        for future in running:
            future.cancel()
