"""Tables and their records: CSV files beside this one, compared digit by digit."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

HERE = Path(__file__).parent


def as_recorded(
    name: str, rows: Iterable[Sequence[object]], *, write: bool = False, part: bool = False
) -> bool:
    """Say whether a table, its head first, is its record; what is not is printed.

    Parameters
    ----------
    name : str
        Of the record.
    rows : iterable of sequences
        The table.
    write : bool
        Make it the record instead.
    part : bool
        The record may have more rows.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    made, record = text.getvalue(), HERE / name
    if write:
        record.write_text(made, encoding="utf-8")
    recorded = record.read_text(encoding="utf-8").splitlines()
    wrong = [line for line in made.splitlines() if line not in recorded]
    if not part and len(made.splitlines()) != len(recorded):
        wrong.append(f"{len(made.splitlines())} lines, {len(recorded)} recorded")
    print(
        f"{name}: {len(made.splitlines()) - 1} rows",
        *(f"not as recorded: {line}" for line in wrong),
    )
    return not wrong
