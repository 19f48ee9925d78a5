"""What a study has done so far: one line of JSON a scenario, on disk as soon as it is known.

A journal belongs to one plan (its first line holds the plan's key) and to one process at a time (it is locked). A line that
a kill cut short is taken off when the study goes on, so nothing done is lost and nothing is done twice.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from runflat._core import RunflatError

if TYPE_CHECKING:
    from types import TracebackType

    from runflat.study.scenario import Row


class JournalError(RunflatError):
    """The journal belongs to another plan or another process."""


class Journal:
    """Keeps the rows of finished scenarios.

    Parameters
    ----------
    path : Path
        The file; made if it is not there.
    key : str
        Key of the plan.
    fresh : bool
        Whether to forget what the file holds, of whatever plan.

    Raises
    ------
    JournalError
        If the file cannot be made, belongs to another plan, or another process is writing it.
    """

    def __init__(self, path: Path, key: str, *, fresh: bool = False) -> None:
        self.path = path
        self.done: dict[int, list[Row]] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = path.open("a+b")
        except OSError as error:
            raise JournalError(
                f"{path}: cannot be written: {error.strerror}; choose another -o"
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise JournalError(
                f"{path}: another run is writing here; wait for it or choose another -o"
            ) from error
        try:
            if fresh:
                self._file.truncate(0)
            self._open(key)
        except BaseException:
            self._file.close()
            raise

    def _open(self, key: str) -> None:
        entries, good_bytes = _read(self.path)
        self._file.truncate(good_bytes)
        if not entries:
            self._append({"plan": key})
            return
        if entries[0].get("plan") != key:
            raise JournalError(
                f"{self.path}: holds results of another plan, fabric or version; "
                "choose another -o, or start anew with --fresh"
            )
        self.done = {entry["scenario"]: entry["rows"] for entry in entries[1:]}

    def add(self, scenario: int, rows: list[Row]) -> None:
        """Write down a finished scenario."""
        self._append({"scenario": scenario, "rows": rows})
        self.done[scenario] = rows

    def _append(self, entry: object) -> None:
        self._file.write(json.dumps(entry).encode() + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Put everything on disk and let go of the file."""
        os.fsync(self._file.fileno())
        self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def read_journals(folder: Path, key: str) -> dict[int, list[Row]]:
    """Read the finished scenarios of all shards in a folder.

    Parameters
    ----------
    folder : Path
        Where the journals are.
    key : str
        Key of the plan.

    Returns
    -------
    dict
        Rows by scenario.

    Raises
    ------
    JournalError
        If a journal belongs to another plan.
    """
    done: dict[int, list[Row]] = {}
    for path in sorted(folder.glob("journal-*.jsonl")):
        entries, _ = _read(path)
        if entries and entries[0].get("plan") != key:
            raise JournalError(
                f"{path}: holds results of another plan, fabric or version; remove it"
            )
        done |= {entry["scenario"]: entry["rows"] for entry in entries[1:]}
    return done


def _read(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Return whole entries and the number of bytes they take."""
    entries = []
    good_bytes = 0
    with path.open("rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                break
            try:
                entries.append(json.loads(line))
            except ValueError:
                break
            good_bytes += len(line)
    return entries, good_bytes
