"""Hosts with a network each, on one machine: namespaces joined by a bridge, whose cables can be pulled.

A host whose cable is pulled says no word, as one without power does; its processes go on, and nobody hears of them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from opensm.missing import Missing

from .hosts import Hosts, make_hosts


@dataclass(frozen=True)
class Network:
    """Hosts, and the namespaces that they are."""

    hosts: Hosts
    prefix: str

    def pull(self, host: str) -> None:
        """Pull the cable of a host."""
        _ip("-n", f"{self.prefix}head", "link", "set", host, "down")


@contextmanager
def network(folder: Path, count: int, slots: int) -> Iterator[Network]:
    """Make hosts, and take them away with all that runs there.

    Raises
    ------
    Missing
        If `ip` (Debian: iproute2) is not installed, or namespaces are not allowed here.
    """
    prefix = f"rf{os.getpid()}-"
    head = f"{prefix}head"
    if shutil.which("ip") is None:
        raise Missing("ip: not installed; `apt install iproute2` brings it")
    if subprocess.run(["ip", "netns", "add", head], check=False, capture_output=True).returncode:
        raise Missing("ip netns: not allowed here")
    made = [head]
    try:
        hosts = make_hosts(
            folder, count, slots, within=("ip", "netns", "exec", head), enter=f"ip netns exec {prefix}$host"
        )  # fmt: skip
        _ip("-n", head, "link", "set", "lo", "up")
        _ip("-n", head, "link", "add", "bridge", "type", "bridge")
        _ip("-n", head, "addr", "add", f"{SUBNET}.1/24", "dev", "bridge")
        _ip("-n", head, "link", "set", "bridge", "up")
        for at, name in enumerate(hosts.names, start=2):
            space = prefix + name
            _ip("netns", "add", space)
            made.append(space)
            _ip("-n", space, "link", "set", "lo", "up")
            _ip("-n", head, "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", space)  # fmt: skip
            _ip("-n", head, "link", "set", name, "master", "bridge", "up")
            _ip("-n", space, "addr", "add", f"{SUBNET}.{at}/24", "dev", "eth0")
            _ip("-n", space, "link", "set", "eth0", "up")
        yield Network(hosts, prefix)
    finally:
        for space in made:
            _ip("netns", "del", space)


SUBNET = "10.78.0"
"""Known inside of the namespaces only."""


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
