"""Rows of a campaign at some failures, compared with their record.

    python table.py FOLDER RECORD.csv [--write]   exit 1 if they are not the record

FOLDER is what `runflat spares run` wrote. Runs are the same on every machine, so the record is compared digit by digit.
"""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

AT = set(map(int, ["1", "2", "3", "4", "5", "6", "8", "10", "15", "18", "20", "30", "38", "50", "75", "91", "100", "125", "150", "155", "175", "184", "199", "200", "248", "276", "300", "400", "500", "600", "700", "740", "800", "900", "915", "993", "1000", "1100", "1128"]))  # fmt: skip


def main() -> int:
    """Print, and compare or write."""
    folder, record = Path(sys.argv[1]), Path(__file__).parent / sys.argv[2]
    with (folder / "rows.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    text = io.StringIO()
    kept = [row for row in rows[1:] if int(row[1]) in AT]
    csv.writer(text, lineterminator="\n").writerows([rows[0], *kept])
    print(f"{len(kept)} rows of {folder}")
    if "--write" in sys.argv:
        record.write_text(text.getvalue(), encoding="utf-8")
    elif record.read_text(encoding="utf-8") != text.getvalue():
        print(f"not as recorded in {record.name}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
