"""Files that start a job on the nodes that a substitution found, and the command for each.

Ranks of the machine model are *places*: a place holds `ranks_per_node` MPI processes with consecutive ranks, so that rank r is on
the node of place r // ranks_per_node. Failed nodes and unused spares get no process.

- `rankfile.ompi4`, `rankfile.ompi5`: host and slot of each rank, for Open MPI 4 (`--rankfile`) and 5 (`--map-by rankfile:file=`).
  The lines are the same; the option that reads them is not.
- `hostfile`: hosts in the order of places, with slots. Open MPI 5 keeps the order; Open MPI 4 puts the host that it is started on
  first, which moves ranks if that is one of them: use the rankfile there.
- `MPICH_RANK_ORDER`: ranks in the order in which the launcher fills nodes, for Cray MPICH. Assumes that nodes are filled in blocks
  in the order of their numbers.
- `SLURM_HOSTFILE`: one host a rank, for `srun --distribution=arbitrary`.

Limits: one slot is one core, so Open MPI takes no more ranks a node than it has cores; it knows hosts by what stands before the
first dot. Nothing is started here.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from runflat._core import SparesError
from runflat.spares.hosts import Hosts, fold
from runflat.study.results import write_whole


@dataclass(frozen=True)
class LaunchFile:
    """A file and the command that reads it.

    Attributes
    ----------
    name : str
        Name of the file.
    launcher : str
        What reads it.
    path : str
        Where it is.
    launch : str
        The command, for a program `./app`, run in the folder that relative paths start from.
    """

    name: str
    launcher: str
    path: str
    launch: str


@dataclass(frozen=True)
class Launch:
    """Where each MPI rank of a job starts.

    Attributes
    ----------
    places : sequence of int
        Node of each place, as in `Substitution.node_of_rank`; no node twice.
    hosts : Hosts
        Names of all nodes.
    ranks_per_node : int
        MPI processes on a node; at least 1.
    """

    places: Sequence[int]
    hosts: Hosts
    ranks_per_node: int = 1

    def __post_init__(self) -> None:
        """Refuse what cannot be started."""
        if self.ranks_per_node < 1:
            raise SparesError(f"a node has at least 1 rank, got {self.ranks_per_node}")

    @property
    def ranks(self) -> int:
        """Number of MPI ranks."""
        return len(self.places) * self.ranks_per_node

    def host(self, rank: int) -> str:
        """Host of an MPI rank."""
        return self.hosts.names[self.places[rank // self.ranks_per_node]]

    def rankfile(self, comment: str) -> str:
        """Host and slot of each rank, as Open MPI 4 and 5 read it."""
        lines = [
            f"rank {rank}={self.host(rank)} slot={rank % self.ranks_per_node}"
            for rank in range(self.ranks)
        ]
        return _text([f"# {comment}", *lines])

    def hostfile(self) -> str:
        """Hosts in the order of places, with the ranks on each."""
        names = (self.hosts.names[node] for node in self.places)
        return _text(f"{name} slots={self.ranks_per_node}" for name in names)

    def rank_order(self) -> str:
        """Ranks in the order of nodes by number: a line for each node with ranks."""
        return _text(",".join(map(str, ranks)) for _, ranks in self._by_node())

    def slurm_hostfile(self) -> str:
        """One host a line, a line a rank."""
        return _text(self.host(rank) for rank in range(self.ranks))

    def write(self, folder: str | Path) -> list[LaunchFile]:
        """Write all files into a folder, each in one piece; what they are and how each is launched.

        Raises
        ------
        SparesError
            If the folder cannot be made or written to, or Open MPI could not read a path in it or tell hosts apart.
        """
        self._refuse_equal_names()
        folder = Path(folder)
        if wrong := set(":,\n") & set(str(folder)):
            raise SparesError(
                f"{folder}: Open MPI takes no {sorted(wrong)[0]!r} in the path of a rankfile: export to another folder"
            )
        files = self._files(folder)
        try:
            for file, text in files:
                write_whole(Path(file.path), text.encode())
        except OSError as error:
            raise SparesError(f"{folder}: cannot be written: {error.strerror}") from error
        return [file for file, _ in files]

    def _refuse_equal_names(self) -> None:
        """Refuse hosts that differ in their domains only, which Open MPI drops."""
        known: dict[str, str] = {}
        for name in (self.hosts.names[node] for node in self.places):
            address = re.fullmatch(r"[\d.]+", name) is not None
            short = name if address else name.partition(".")[0]
            if other := known.get(short):
                raise SparesError(
                    f"hosts {other} and {name} are one to Open MPI, which drops domains: "
                    f"give names that differ before the first dot"
                )
            known[short] = name

    def _files(self, folder: Path) -> list[tuple[LaunchFile, str]]:
        def at(name: str) -> str:
            return shlex.quote(str(folder / name))

        ranks, each = self.ranks, self.ranks_per_node
        hosts = f"--hostfile {at('hostfile')}"
        used = [self.hosts.names[node] for node, _ in self._by_node()]
        ompi4 = f"mpirun {hosts} --rankfile {at('rankfile.ompi4')} -n {ranks} ./app"
        ompi5 = f"mpirun {hosts} --map-by rankfile:file={at('rankfile.ompi5')} -n {ranks} ./app"
        cray = (
            f"MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE={at('MPICH_RANK_ORDER')} "
            f"srun --nodelist={shlex.quote(fold(used))} -N {len(used)} -n {ranks} "
            f"--ntasks-per-node={each} --distribution=block ./app"
        )
        slurm = (
            f"SLURM_HOSTFILE={at('SLURM_HOSTFILE')} srun -n {ranks} --distribution=arbitrary ./app"
        )
        plain = f"mpirun {hosts} --map-by slot -n {ranks} ./app"
        written = [
            ("rankfile.ompi4", "Open MPI 4", ompi4, self.rankfile(f"Open MPI 4: {ompi4}")),
            ("rankfile.ompi5", "Open MPI 5", ompi5, self.rankfile(f"Open MPI 5: {ompi5}")),
            ("hostfile", "Open MPI 5 without a rankfile", plain, self.hostfile()),
            ("MPICH_RANK_ORDER", "Cray MPICH under Slurm", cray, self.rank_order()),
            ("SLURM_HOSTFILE", "Slurm", slurm, self.slurm_hostfile()),
        ]
        return [
            (LaunchFile(name, launcher, str(folder / name), launch), text)
            for name, launcher, launch, text in written
        ]

    def _by_node(self) -> Iterator[tuple[int, range]]:
        for node, place in sorted((node, place) for place, node in enumerate(self.places)):
            first = place * self.ranks_per_node
            yield node, range(first, first + self.ranks_per_node)


def _text(lines: Iterator[str] | Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
