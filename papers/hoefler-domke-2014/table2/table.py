"""Table II: o (routed, no credit loop), r (refused or incomplete), d (deadlock possible), beside the paper's.

Run after `runflat study run plan.toml -o OUT`:  python table.py OUT
"""

import csv
import sys
from collections import defaultdict
from pathlib import Path

from runflat.study.results import Results

HERE = Path(__file__).parent
LETTERS = {"ok": "o", "deadlock": "d", "incomplete": "r", None: "r"}

Cells = dict[str, dict[str, str]]


def ours(folder: Path) -> Cells:
    """Return the letter of each (topology, engine) of a finished study."""
    cells: Cells = defaultdict(dict)
    for row in Results.read(folder).throughput.to_rows():
        letter = LETTERS[row["verdict"]]
        lanes = row["layers"] if row["engine"] in ("DFSSSP", "LASH") and letter == "o" else ""
        cells[row["machine"]][row["engine"]] = f"{letter}{lanes}"
    return dict(cells)


def recorded(name: str) -> Cells:
    """Return the letters of a CSV file beside this one."""
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return {row.pop("topology"): row for row in csv.DictReader(file)}


def differing(found: Cells, paper: Cells) -> list[tuple[str, str]]:
    """Return the cells whose letter is not the paper's."""
    return [
        (topology, engine)
        for topology, row in paper.items()
        for engine, letter in row.items()
        if found[topology][engine][0] != letter
    ]


def markdown(found: Cells, paper: Cells) -> str:
    """Write the table; where a letter differs the paper's stands behind it."""
    engines = list(next(iter(paper.values())))
    lines = ["| topology | " + " | ".join(engines) + " |", "| --- |" + " --- |" * len(engines)]
    for topology, row in paper.items():
        cells = [
            found[topology][engine]
            + ("" if found[topology][engine][0] == row[engine] else f" (paper {row[engine]})")
            for engine in engines
        ]
        lines.append(f"| {topology} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    """Print the table; 1 if a cell is not as `expected.csv` records it."""
    found, paper = ours(Path(sys.argv[1])), recorded("paper.csv")
    print(markdown(found, paper))
    changed = [
        (topology, engine)
        for topology, row in recorded("expected.csv").items()
        for engine, cell in row.items()
        if found[topology][engine] != cell
    ]
    for topology, engine in changed:
        print(f"not as recorded: {topology}, {engine}", file=sys.stderr)
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
