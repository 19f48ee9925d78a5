"""Where hosts stand in a fabric: under which switches, so that the nearest spare takes over.

The fabric is flattened to a tree as for Slurm's `topology/tree` (`runflat machine export --to slurm-tree`): leaf switches, and above
them groups of leaves that few cables part. A site is the way down that tree, `pod.leaf`; two hosts are the nearer the more of it they
share. The library reads sites from a file (RUNFLAT_SITES).

Limits: hosts go by their names in the fabric, up to the first dot if need be; a host with several adapters stands where the export
puts it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from runflat import machine
from runflat.mpi_launch.error import MpiError
from runflat.mpi_launch.hosts import Host
from runflat.spares.hosts import expand_any

SHOWN = 3
"""Names in an error."""


def read_sites(fabric: Path) -> dict[str, str]:
    """Read where the hosts of a fabric stand.

    Parameters
    ----------
    fabric : Path
        Any format of `runflat machine`.

    Returns
    -------
    dict of str to str
        Site of each host.

    Raises
    ------
    RunflatError
        If the fabric cannot be read, or has no host below a switch.
    """
    below: dict[str, str] = {}
    leaf_of: dict[str, str] = {}
    for line in machine.load(fabric).write("slurm-tree").splitlines():
        field = dict(re.findall(r"(\w+)=(\S+)", line.partition("#")[0]))
        switch = field.get("SwitchName", "")
        for known, names in ((leaf_of, field.get("Nodes")), (below, field.get("Switches"))):
            known.update((name, switch) for name in expand_any(names or ""))
    return {host: ".".join(_way_to(leaf, below)) for host, leaf in leaf_of.items()}


def _way_to(leaf: str, below: Mapping[str, str]) -> list[str]:
    """Give the switches down to a leaf, without the dots that part them."""
    way = [leaf]
    while way[-1] in below:
        way.append(below[way[-1]])
    return [switch.replace(".", "_") for switch in reversed(way)]


def check_sites(sites: Mapping[str, str], hosts: Sequence[Host], fabric: Path) -> None:
    """Refuse hosts that the fabric does not have.

    Raises
    ------
    MpiError
        If there is one.
    """
    short = {name.partition(".")[0] for name in sites}
    unknown = [
        host.name
        for host in hosts
        if host.name not in sites and host.name.partition(".")[0] not in short
    ]
    if unknown:
        more = "" if len(unknown) <= SHOWN else f" and {len(unknown) - SHOWN} more"
        raise MpiError(
            f"--machine {fabric} has no host {', '.join(unknown[:SHOWN])}{more}; it has {', '.join(list(sites)[:SHOWN])}, ...: "
            "the hostfile has to name hosts as the fabric does"
        )


def write_sites(folder: Path, sites: Mapping[str, str]) -> Path:
    """Write sites to a file in a folder that all hosts see, as the library reads it.

    Raises
    ------
    MpiError
        If it cannot be written.
    """
    path = folder / "sites"
    try:
        path.write_text("".join(f"{host} {site}\n" for host, site in sites.items()), "utf-8")
    except OSError as error:
        raise MpiError(f"{path}: cannot be written: {error.strerror}") from error
    return path
