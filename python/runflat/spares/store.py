"""Campaigns that go on where they were: counts on disk, part by part."""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from runflat._core import SparesError
from runflat.spares.campaign import Tally
from runflat.spares.plan import SparesPlan
from runflat.study.results import write_whole

SAVED_EVERY_S = 10.0


@dataclass(frozen=True)
class Part:
    """Sequences that one process runs: every number of its range.

    Attributes
    ----------
    number, count : int
        Part `number` of `count`, from 1.
    """

    number: int
    count: int

    def sequences(self, samples: int) -> range:
        """Return the numbers of its sequences."""
        first, last = (samples * edge // self.count for edge in (self.number - 1, self.number))
        return range(first, last)


def run(
    plan: SparesPlan,
    folder: Path,
    part: Part,
    *,
    fresh: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> list[Tally] | None:
    """Run what is not done yet of one part.

    Parameters
    ----------
    plan : SparesPlan
        What to run.
    folder : Path
        Where counts are kept; they are written every few seconds.
    part : Part
        Which sequences.
    fresh : bool
        Forget what was done before.
    progress : callable, optional
        Called with the sequences done and all of this part.

    Returns
    -------
    list of Tally or None
        The counts of all parts, by policy; None while other parts are not done.

    Raises
    ------
    SparesError
        If the folder holds another plan, or cannot be written.
    """
    campaign = plan.campaign()
    key = _key(plan)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / _name(part)
    todo = part.sequences(plan.samples)
    done, sums = (0, None) if fresh else _read(path, key)
    saved = time.monotonic()
    while done < len(todo):
        more = todo[done : done + campaign.chunk]
        tallies = campaign.run(more)
        sums = tallies if sums is None else [a + b for a, b in zip(sums, tallies, strict=True)]
        done += len(more)
        if progress is not None:
            progress(done, len(todo))
        if done == len(todo) or time.monotonic() > saved + SAVED_EVERY_S:
            _write(path, key, done, sums)
            saved = time.monotonic()
    return merged(plan, folder, part.count)


def merged(plan: SparesPlan, folder: Path, count: int) -> list[Tally] | None:
    """Sum the counts of all parts up; None if one is not done."""
    sums: list[Tally] | None = None
    for number in range(1, count + 1):
        part = Part(number, count)
        done, tallies = _read(folder / _name(part), _key(plan))
        if done < len(part.sequences(plan.samples)):
            return None
        if tallies is not None:
            sums = tallies if sums is None else [a + b for a, b in zip(sums, tallies, strict=True)]
    return sums


def _name(part: Part) -> str:
    return f"counts-{part.number}of{part.count}.npz"


def _key(plan: SparesPlan) -> str:
    return hashlib.sha256(plan.model_dump_json(exclude={"title"}).encode()).hexdigest()


FIELDS = ("collisions", "degrees", "idle", "unrecovered")


def _write(path: Path, key: str, done: int, tallies: Sequence[Tally]) -> None:
    arrays: dict[str, np.ndarray] = {"key": np.array(key), "done": np.array(done)}
    for number, tally in enumerate(tallies):
        arrays |= {f"{field}{number}": getattr(tally, field) for field in FIELDS}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    write_whole(path, buffer.getvalue())


def _read(path: Path, key: str) -> tuple[int, list[Tally] | None]:
    if not path.exists():
        return 0, None
    try:
        with np.load(path) as found:
            if str(found["key"]) != key:
                raise SparesError(
                    f"{path}: holds counts of another plan; take another folder, or --fresh"
                )
            policies = sum(name.startswith("collisions") for name in found.files)
            tallies = [
                Tally(**{field: found[f"{field}{number}"] for field in FIELDS})
                for number in range(policies)
            ]
            return int(found["done"]), tallies
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise SparesError(
            f"{path}: holds no counts of a campaign, or not whole ones; --fresh forgets them"
        ) from error
