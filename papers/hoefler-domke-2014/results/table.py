"""Throughput by engine and failure level of a finished study, compared with its record.

    python table.py FOLDER RECORD.csv          print the table; exit 1 if it is not the record
    python table.py FOLDER RECORD.csv --write  make it the record

A cell is the mean over patterns in GB/s, or what kept patterns from having a throughput; the last columns are the regression of
throughput over failed cables and switches, as in the paper's Tables III and IV (GB/s, GB/s a failed part, R2). Runs are the same
on every machine, so the record is compared digit by digit.
"""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

from runflat.study.answer import fit
from runflat.study.results import Results

FIT = {"intercept": ".1f", "slope": ".3f", "r2": ".2f"}
"""Columns of the regression, and how they are written."""


def table(results: Results) -> list[list[str]]:
    """Make the rows: machine, engine, then a cell a level and the regression."""
    rows = results.throughput.to_rows()
    levels = list(dict.fromkeys(row["level"] for row in rows))
    keys = dict.fromkeys((row["machine"], row["engine"]) for row in rows)
    made = [["machine", "engine", *levels, *FIT]]
    for machine, engine in keys:
        own = [row for row in rows if (row["machine"], row["engine"]) == (machine, engine)]
        cells = [cell([row for row in own if row["level"] == level]) for level in levels]
        line = fit(results, machine, engine) or {}
        fitted = [
            "" if (value := line.get(key)) is None else f"{round(value, 6) + 0.0:{form}}"
            for key, form in FIT.items()
        ]
        made.append([machine, engine, *cells, *fitted])
    return made


def cell(rows: list[dict[str, object]]) -> str:
    """Sum up the patterns of one level."""
    values = [value for row in rows if isinstance(value := row["throughput_gb_s"], float)]
    mean = f"{sum(values) / len(values):.1f}" if values else ""
    others = [
        str(row["simulation"] or row["outcome"]) for row in rows if row["throughput_gb_s"] is None
    ]
    counted = [f"{others.count(word)} {word}" for word in dict.fromkeys(others)]
    return "; ".join(filter(None, [mean, *counted]))


def main() -> int:
    """Print, and compare or write."""
    folder, record = Path(sys.argv[1]), Path(__file__).parent / sys.argv[2]
    made = table(Results.read(folder))
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(made)
    for row in made:
        print("| " + " | ".join(row[1:]) + " |")
    if "--write" in sys.argv:
        record.write_text(text.getvalue(), encoding="utf-8")
        return 0
    if record.read_text(encoding="utf-8") != text.getvalue():
        print(f"not as recorded in {record.name}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
