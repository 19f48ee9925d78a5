"""mpi4py's own test suite, with the library and without: where results differ, a correct program could tell.

    python -m mpi_jobs.suite [--ranks 3] [--only test_win] [--folder DIR] [--record FILE]       (in tests/)

The sources of the installed mpi4py are fetched with pip. Each module of tests is a job of its own, first without the library, with
Open MPI's fault tolerance, then with it; a test has a result for each rank. Nobody dies. A module that Open MPI itself crashes in or
does not end (`LIMIT_S`) is told as such: what it got to counts on both sides. Left out are the tests of ULFM on intercommunicators
(`LEFT_OUT`), in which Open MPI 5.0.11 crashes alone as well.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .measured import mpirun_line
from .parts import Parts, build
from .record import commit, sources

LIMIT_S = 240
"""For a module, which takes some seconds on a quiet machine."""

LEFT_OUT = "TestULFMInter"

EACH_TO_ITS_FILE = 'out=$1; shift; exec "$@" > "$out.$OMPI_COMM_WORLD_RANK" 2>&1'

RESULT = re.compile(
    r"^(?P<name>test\w+ \([\w.]+\)) ?.*?\.\.\. (?P<between>(?:(?!^test\w+ \().)*?)(?P<result>ok|FAIL|ERROR|skipped|expected failure)",
    re.DOTALL | re.MULTILINE,
)


def fetch(folder: Path) -> Path:
    """Give the folder of mpi4py's sources, those of the installed version."""
    name = f"mpi4py-{version('mpi4py')}"
    if not (folder / name).is_dir():
        words = ["download", "--quiet", "--no-deps", "--no-binary", "mpi4py", "--dest", str(folder)]
        subprocess.run(
            [sys.executable, "-m", "pip", *words, f"mpi4py=={version('mpi4py')}"], check=True
        )
        with tarfile.open(folder / f"{name}.tar.gz") as packed:
            packed.extractall(folder, filter="data")
    return folder / name


def run_module(
    parts: Parts, tests: Path, module: str, ranks: int, *, preloaded: bool
) -> tuple[dict[str, list[str]], str]:
    """Run a module; the results of each test by rank, and how the job ended."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rank"
        line = mpirun_line(parts, ranks, preloaded=preloaded)
        words = [sys.executable, "test/main.py", "-v", "-i", f"^{module}\\.py", "-x", LEFT_OUT]
        job = subprocess.Popen(
            [*line, "sh", "-c", EACH_TO_ITS_FILE, "sh", str(out), *words],
            cwd=tests, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            how = f"status {job.wait(LIMIT_S)}"
        except subprocess.TimeoutExpired:
            how = f"not in {LIMIT_S} s"
            job.terminate()
            job.wait()
        results: dict[str, list[str]] = {}
        for rank in range(ranks):
            file = out.with_name(f"rank.{rank}")
            text = file.read_text(errors="replace") if file.exists() else ""
            for found in RESULT.finditer(text):
                results.setdefault(found["name"], ["none"] * ranks)[rank] = found["result"]
    return results, how


def compare(parts: Parts, tests: Path, module: str, ranks: int) -> dict[str, Any]:
    """Run a module on both sides; what is told of it."""
    began = time.monotonic()
    without, without_how = run_module(parts, tests, module, ranks, preloaded=False)
    middle = time.monotonic()
    with_it, with_how = run_module(parts, tests, module, ranks, preloaded=True)
    nothing = ["none"] * ranks
    whole = {name for name, results in without.items() if "none" not in results}
    if with_how == without_how:
        # Where both were cut off alike, what the one got to the other may not have.
        whole = {name for name in whole if "none" not in with_it.get(name, nothing)}
    differ = sorted(name for name in whole if without[name] != with_it.get(name, nothing))
    return {
        "module": module,
        "tests": len(without.keys() | with_it.keys()),
        "compared": len(whole),
        "ok": sum(set(with_it.get(name, nothing)) == {"ok"} for name in whole),
        "differ": {name: [without[name], with_it.get(name, nothing)] for name in differ},
        "ended": [without_how, with_how],
        "seconds": [round(middle - began, 1), round(time.monotonic() - middle, 1)],
    }


def is_as_good(found: dict[str, Any]) -> bool:
    """Whether the results are the same, and the library has not kept a module from its end that comes to it alone."""
    without, with_it = found["ended"]
    return not found["differ"] and with_it in ("status 0", without)


def main() -> int:
    """Run what the words say."""
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reader.add_argument("--ranks", type=int, default=3)
    reader.add_argument("--only", default="test_", help="modules whose name begins so")
    reader.add_argument("--folder", type=Path, help="for mpi4py's sources; kept")
    reader.add_argument("--record", type=Path, help="a JSON file for what was found")
    words = reader.parse_args()
    with tempfile.TemporaryDirectory(prefix="rf-suite-") as folder:
        kept = words.folder or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        tests = fetch(kept)
        parts = build(Path(folder))
        names = sorted(one.stem for one in (tests / "test").glob(f"{words.only}*.py"))
        found = []
        for place, name in enumerate(names, 1):
            one = compare(parts, tests, name, words.ranks)
            found.append(one)
            says = "alike" if is_as_good(one) else f"{len(one['differ'])} differ"
            print(
                f"{place} of {len(names)}: {name}: {one['compared']} of {one['tests']} tests compared, {says}; "
                f"ended with {one['ended'][0]}, {one['ended'][1]}; {one['seconds'][0]}, {one['seconds'][1]} s",
                flush=True,
            )
    total = Counter[str]()
    for one in found:
        total.update({key: one[key] for key in ("tests", "compared", "ok")})
        total["differ"] += len(one["differ"])
    print(f"{total['tests']} tests, {total['compared']} compared, {total['differ']} differ")
    if words.record is not None:
        head = {"mpi4py": version("mpi4py"), "library": sources(), "commit": commit(), "ranks": words.ranks, "cores": os.cpu_count()}  # fmt: skip
        words.record.write_text(json.dumps({**head, **total, "modules": found}, indent=1) + "\n")
    return 0 if total["compared"] and all(map(is_as_good, found)) else 1


if __name__ == "__main__":
    sys.exit(main())
