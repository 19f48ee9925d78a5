"""Table II: o (routed, no credit loop), r (refused or incomplete), d (deadlock possible), beside the paper's.

Run after `runflat study run PLAN.toml -o OUT`, with the name of the record to compare with:

    python table.py OUT expected.csv
"""

import csv
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from runflat.study.results import Results

HERE = Path(__file__).parent
LAYERED = ("DFSSSP", "LASH")
"""Engines of which the lanes needed are told too."""

Cells = dict[str, dict[str, str]]


def letter(row: dict[str, Any]) -> str:
    """Return what became of one scenario; pairs that no cable joins are nobody's fault."""
    if row["outcome"] == "refused" or row["unreachable_pairs"] > row["cut_pairs"]:
        return "r"
    return "d" if row["cycle"] else "o"


def ours(folder: Path) -> Cells:
    """Return the cell of each (topology, engine) of a finished study.

    One scenario gives a letter (with the lanes needed); several give how many of each, level by level: `9o1d / 7o3d`.
    """
    rows: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = defaultdict(dict)
    for row in Results.read(folder).throughput.to_rows():
        rows[row["machine"], row["engine"]].setdefault(row["level"], []).append(row)
    cells: Cells = defaultdict(dict)
    for (topology, engine), levels in rows.items():
        cells[topology][engine] = " / ".join(cell(engine, level) for level in levels.values())
    return dict(cells)


def cell(engine: str, rows: list[dict[str, Any]]) -> str:
    """Write the outcome of one level."""
    if len(rows) == 1:
        found = letter(rows[0])
        return found + (str(rows[0]["layers"]) if engine in LAYERED and found == "o" else "")
    counts = Counter(letter(row) for row in rows)
    return "".join(f"{counts[one]}{one}" for one in "odr" if counts[one])


def recorded(name: str) -> Cells:
    """Return the cells of a CSV file beside this one."""
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return {row.pop("topology"): row for row in csv.DictReader(file)}


def record(name: str, cells: Cells) -> None:
    """Write cells to a CSV file beside this one."""
    with (HERE / name).open("w", encoding="utf-8", newline="") as file:
        engines = list(next(iter(cells.values())))
        writer = csv.DictWriter(file, ["topology", *engines], lineterminator="\n")
        writer.writeheader()
        writer.writerows({"topology": topology, **row} for topology, row in cells.items())


def differing(found: Cells, other: Cells) -> list[tuple[str, str]]:
    """Return the cells whose letter is another."""
    return [
        (topology, engine)
        for topology, row in other.items()
        for engine, one in row.items()
        if found[topology][engine][0] != one
    ]


def markdown(found: Cells, paper: Cells) -> str:
    """Write the table; where a single letter is not the paper's, that stands behind it."""
    engines = list(next(iter(paper.values())))
    lines = ["| topology | " + " | ".join(engines) + " |", "| --- |" + " --- |" * len(engines)]
    for topology, row in paper.items():
        cells = []
        for engine in engines:
            one = found[topology][engine]
            differs = one[0] in "odr" and one[0] != row[engine]
            cells.append(f"{one} (paper {row[engine]})" if differs else one)
        lines.append(f"| {topology} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    """Print the table; 1 if a cell is not as the record has it."""
    found, name = ours(Path(sys.argv[1])), sys.argv[2]
    print(markdown(found, recorded("paper.csv")))
    if "--record" in sys.argv:
        record(name, found)
    changed = [
        f"{topology}, {engine}: {found[topology][engine]}, recorded {one}"
        for topology, row in recorded(name).items()
        for engine, one in row.items()
        if found[topology][engine] != one
    ]
    for line in changed:
        print(f"not as recorded: {line}", file=sys.stderr)
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
