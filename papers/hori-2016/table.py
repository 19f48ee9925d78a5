"""Rows of a campaign at some failures, compared with their record.

    python table.py FOLDER RECORD.csv [--write]   exit 1 if they are not the record

FOLDER is what `runflat spares run` wrote. Runs are the same on every machine, so the record is compared digit by digit.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from recorded import as_recorded

AT = set(map(int, ["1", "2", "3", "4", "5", "6", "8", "10", "15", "18", "20", "30", "38", "50", "75", "91", "100", "125", "150", "155", "175", "184", "199", "200", "248", "276", "300", "400", "500", "600", "700", "740", "800", "900", "915", "993", "1000", "1100", "1128"]))  # fmt: skip


def main() -> int:
    """Print, and compare or write."""
    with (Path(sys.argv[1]) / "rows.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    kept = [row for row in rows[1:] if int(row[1]) in AT]
    return 0 if as_recorded(sys.argv[2], [rows[0], *kept], write="--write" in sys.argv) else 1


if __name__ == "__main__":
    sys.exit(main())
