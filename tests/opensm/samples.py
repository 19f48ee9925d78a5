"""Writes `samples/`: what the programs leave behind for one small fabric, byte for byte.

The fabric is a 2-ary 2-tree, routed by Up*/Down* with QoS on, since that leaves LIDs without a route: the two roots do not
reach each other. Run as `python -m opensm.samples FOLDER` with `tests` in PYTHONPATH; a test compares.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import runflat
from opensm import programs
from opensm.options import Options
from opensm.subnet import Subnet

FABRIC = "2-ary 2-tree"
LEFT_BEHIND = [
    "guid2lid", "opensm-lfts.dump", "opensm-lid-matrix.dump", "opensm-sl2vl.dump",
    "opensm-subnet.lst", "opensm.fdbs",
]  # fmt: skip
"""Files that OpenSM writes itself."""


def write(folder: Path) -> None:
    """Run the programs.

    Parameters
    ----------
    folder : Path
        Where the samples go.
    """
    folder.mkdir(parents=True, exist_ok=True)
    machine = runflat.make(FABRIC)
    with tempfile.TemporaryDirectory() as place:
        for lmc in (0, 1):
            with Subnet(machine, Path(place) / f"lmc{lmc}") as fabric:
                shutil.copy(fabric.folder / "fabric.net", folder / "fabric.net")
                answer = fabric.route("updn", Options(qos=True, lmc=lmc))
                assert answer.engine == "updn", answer.failure
                if lmc:
                    for name in ("guid2lid", "opensm-lfts.dump"):
                        shutil.copy(answer.folder / name, folder / f"{name}.lmc1")
                    continue
                for name in LEFT_BEHIND:
                    shutil.copy(answer.folder / name, folder / name)
                node = machine.nodes().column("guid")[0].removeprefix("0x")
                variables = {**os.environ, **fabric.environment, "SIM_HOST": f"H-{node}"}
                switch = answer.lids[len(answer.numbering.endpoints)]
                for name, command in (
                    ("ibroute", ["ibroute", str(switch)]),
                    ("dump_fts", ["dump_fts"]),
                    ("ibnetdiscover", ["ibnetdiscover"]),
                ):
                    done = subprocess.run(
                        [programs.path(command[0]), *command[1:]],
                        env=variables, cwd=place, capture_output=True, timeout=60, check=True,
                    )  # fmt: skip
                    (folder / name).write_bytes(done.stdout)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
