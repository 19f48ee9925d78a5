"""Finds and runs the programs: opensm, ibsim and infiniband-diags."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from opensm.missing import Missing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def path(name: str) -> str:
    """Find a program, in the folders of administrators too.

    Parameters
    ----------
    name : str
        `opensm`, `ibsim` or one of infiniband-diags.

    Returns
    -------
    str
        Its path.

    Raises
    ------
    Missing
        If it is not installed.
    """
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if found is None:
        package = {"opensm": "opensm", "ibsim": "ibsim-utils"}.get(name, "infiniband-diags")
        raise Missing(f"{name} is not installed: apt install {package}")
    return found


def shim() -> Path:
    """Find the library by which programs talk to ibsim instead of a device.

    Returns
    -------
    Path
        Its path.

    Raises
    ------
    Missing
        If it is not installed.
    """
    places = [*Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"),
              *Path("/usr/lib").glob("umad2sim/libumad2sim.so")]  # fmt: skip
    if not places:
        raise Missing("libumad2sim.so is not installed: apt install ibsim-utils")
    return places[0]


def watch(
    command: Sequence[str], variables: Mapping[str, str], folder: Path, timeout_s: float
) -> int | None:
    """Run opensm until it ends or its log says that no engine works here.

    Parameters
    ----------
    command : sequence of str
        The command line.
    variables : mapping
        All environment variables.
    folder : Path
        Where `osm.log` appears; the working directory too, since libumad2sim leaves a folder there.
    timeout_s : float
        Longest time.

    Returns
    -------
    int or None
        Exit status, or None if it was ended because no engine was able to route.

    Raises
    ------
    TimeoutError
        If nothing of this happens in time.
    """
    log = folder / "osm.log"
    end = time.monotonic() + timeout_s
    with (
        (folder / "stdout").open("wb") as out,
        (folder / "stderr").open("wb") as err,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=dict(variables),
            cwd=folder,
        ) as process,
    ):
        try:
            pause = 0.01
            while True:
                try:
                    return process.wait(pause)
                except subprocess.TimeoutExpired:
                    pause = min(2 * pause, 0.5)
                if log.exists() and GAVE_UP.encode() in log.read_bytes():
                    return None
                if time.monotonic() > end:
                    raise TimeoutError(f"opensm did not end in {timeout_s} s: see {log}")
        finally:
            process.kill()


GAVE_UP = "No routing engine able to successfully configure"
"""What OpenSM logs when every engine has failed and it may not fall back."""
