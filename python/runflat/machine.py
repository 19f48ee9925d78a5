"""Machines: made, read, broken and routed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runflat import _core, plugins
from runflat._core import FormatError, RoutingError, RunflatError, Table
from runflat.faults import Faults
from runflat.inputs import as_text
from runflat.outcome import Refusal
from runflat.routing import Routing

if TYPE_CHECKING:
    from collections.abc import Sequence


class Machine:
    """Switches and nodes joined by cables; some parts may be dead.

    Breaking a machine gives a new one with the same ids, so that results before and after compare. Made by `load`, `make`
    or `Machine.build`.
    """

    def __init__(
        self,
        core: _core.Machine,
        *,
        warnings: Sequence[str] = (),
    ) -> None:
        self._core = core
        self.warnings = list(warnings)

    @classmethod
    def build(
        cls,
        name: str,
        *,
        switches: Sequence[str],
        nodes: Sequence[str],
        cables: Sequence[tuple[str, str]],
        rate: str = "4xEDR",
    ) -> Machine:
        """Put a machine together by names; ports are numbered in the order of the cables.

        Parameters
        ----------
        name : str
            What the machine is called.
        switches, nodes : sequence of str
            Names, all different.
        cables : sequence of (str, str)
            Pairs of names; parallel cables are repeated.
        rate : str
            Width and speed of every cable.

        Returns
        -------
        Machine
            The machine.

        Raises
        ------
        GeneratorError
            If a cable names an unknown part or a switch would need more than 254 ports.
        """
        return cls(_core.Machine.build(name, list(switches), list(nodes), list(cables), rate))

    @property
    def name(self) -> str:
        """What the machine is called."""
        return self._core.name

    @property
    def synthetic(self) -> bool:
        """Whether it was generated rather than read from a real fabric."""
        return self._core.synthetic

    @property
    def switch_count(self) -> int:
        """Number of switches, dead ones included."""
        return self._core.switch_count

    @property
    def node_count(self) -> int:
        """Number of nodes, dead ones included."""
        return self._core.node_count

    @property
    def lid_count(self) -> int:
        """Number of dense LIDs at LID mask count 0: cabled node ports, then switches."""
        return self._core.lid_count

    @property
    def endpoint_count(self) -> int:
        """Number of cabled node ports."""
        return self._core.endpoint_count

    @property
    def plane_count(self) -> int:
        """Number of planes (subnets) when nothing is dead."""
        return self._core.plane_count

    @property
    def rank_count(self) -> int:
        """Number of nodes that can run a rank: alive, attached, no aggregation engine."""
        return self._core.rank_count

    @property
    def switch_link_count(self) -> int:
        """Number of switch-switch cables, dead ones included: what a per cent of links counts."""
        return self._core.switch_link_count

    @property
    def faults(self) -> Faults:
        """What has failed, by name; parts that only lost their neighbour are not among it."""
        return Faults(*self._core.failed())

    @property
    def failed_counts(self) -> tuple[int, int, int]:
        """Number of failed links, switches and nodes."""
        return self._core.failed_counts

    def summary(self) -> dict[str, Any]:
        """Count and measure what is alive.

        Returns
        -------
        dict
            The keys of `runflat machine show --json`.
        """
        return dict(self._core.summary())

    def switches(self) -> Table:
        """Return the switches as a table: index, name, guid, ports, nodes, alive."""
        return self._core.switches()

    def nodes(self) -> Table:
        """Return the nodes as a table: index, name, guid, kind, endpoints, alive."""
        return self._core.nodes()

    def links(self) -> Table:
        """Return the cables as a table: index, both plugs by name and port, rate, alive.

        Channels 2 i and 2 i + 1 are the directions a to b and b to a of link i.
        """
        return self._core.links()

    def write(self, format: str) -> str:
        """Write the machine as text.

        Parameters
        ----------
        format : str
            `ibnetdiscover` (read by ibsim), `json`, `slurm-tree`, `slurm-block`, `dot` or `graphml`.

        Returns
        -------
        str
            The text. Dead parts are left out.

        Raises
        ------
        FormatError
            If the format does not exist or cannot hold this machine.
        """
        return self._core.write(format)

    def coordinates(self) -> tuple[list[int], list[list[int]]] | None:
        """Return the shape of a Cartesian machine and the coordinates of each switch, x first; None for others."""
        return self._core.coordinates()

    def torus_conf(self) -> str | None:
        """Return a torus-2QoS.conf for this machine, if it knows the coordinates of its switches."""
        return self._core.torus_conf()

    def diff(self, found: Machine) -> dict[str, Any]:
        """Compare with another machine, this one being as it should be.

        Returns
        -------
        dict
            Numbers of missing, extra, replaced and wrong parts and cables, and `differences`, a sentence for each.
        """
        return dict(self._core.diff(found._core))

    def fail(
        self,
        faults: Faults | None = None,
        *,
        model: str = "random",
        seed: int = 1,
        sample: int = 0,
        **params: object,
    ) -> Machine:
        """Break the machine.

        Parameters
        ----------
        faults : Faults, optional
            Parts that fail, by name. Without it they are drawn.
        model : str
            How to draw: `random`, `correlated`, `exhaustive`, `lifetime`, or a registered one.
        seed, sample : int
            Which draw; the same for every engine that is compared.
        **params
            Parameters of the model, as `links="1%"` or `keep_connected=True`.

        Returns
        -------
        Machine
            A broken one; `.faults` lists all that is dead in it by name. This machine stays as it is.

        Raises
        ------
        FaultError
            If a part does not exist or the draw is impossible.
        """
        if faults is None:
            texts = {name: as_text(value) for name, value in params.items()}
            function = plugins.find("fault model", model)
            if function is not None:
                faults = plugins.call("fault model", model, self, seed=seed, sample=sample, **texts)
                if not isinstance(faults, Faults):
                    raise RunflatError(f"fault model `{model}` returned no Faults: {faults!r}")
                core = self._core.fail(faults.links, faults.switches, faults.nodes)
            else:
                core = self._core.draw(model, texts, seed, sample)
        else:
            core = self._core.fail(faults.links, faults.switches, faults.nodes)
        return Machine(core)

    def cut_nodes(self) -> list[str]:
        """Return the names of nodes that are alive but cut off from the rest."""
        return self._core.cut_nodes()

    def route(
        self,
        engine: str,
        *,
        roots: Sequence[str] = (),
        compute_nodes: Sequence[str] = (),
        io_nodes: Sequence[str] = (),
        routing_order: Sequence[str] = (),
        lmc: int = 0,
        max_vl: int = 8,
        compat: str | None = None,
        torus_conf: str | None = None,
        **params: object,
    ) -> Routing | Refusal:
        """Route what is alive.

        Parameters
        ----------
        engine : str
            An engine by name or notation, as `dfsssp` or `lash(switches=all)`, or a registered one.
        roots : sequence of str
            Root switches for tree-like engines, by name or GUID; found by rule if empty.
        compute_nodes, io_nodes : sequence of str
            Nodes (or port GUIDs) that fat-tree and SSSP serve first and second; empty: all alike.
        routing_order : sequence of str
            Destinations, by port GUID or name, that are balanced first.
        lmc : int
            LID mask count, 0 to 7: every node port has 2**lmc LIDs.
        max_vl : int
            Virtual lanes that may be used, 1 to 15.
        compat : str, optional
            `opensm`: break ties as OpenSM 3.3.23 does. Default: lowest id first.
        torus_conf : str, optional
            Text of a torus-2QoS.conf; default: the coordinates of a generated grid.
        **params
            Parameters of the engine.

        Returns
        -------
        Routing or Refusal
            Tables, or why there are none. No engine falls back to another.

        Raises
        ------
        RoutingError
            If there is no such engine, it has no such parameter, or a root is no switch.
        """
        function = plugins.find("engine", engine)
        if function is not None:
            answer = plugins.call("engine", engine, self, roots=list(roots), max_vl=max_vl)
            if isinstance(answer, Refusal):
                return answer
            return Routing.from_tables(self, answer, engine)
        self._fits_in_memory(lmc)
        inputs: _core._RouteInputs = {
            "roots": list(roots),
            "compute_nodes": list(compute_nodes),
            "io_nodes": list(io_nodes),
            "routing_order": list(routing_order),
            "lmc": lmc,
            "max_vl": max_vl,
            "compat": compat,
            "torus_conf": torus_conf,
        }
        texts = {name: as_text(value) for name, value in params.items()}
        core = self._core.route(engine, texts, inputs)
        if isinstance(core, tuple):
            return Refusal(reason=core[0], switch=core[1])
        return Routing(self, core, engine)

    def _fits_in_memory(self, lmc: int) -> None:
        """Refuse tables that this computer cannot hold: distances of all switch pairs twice, a byte an entry."""
        lids = self.endpoint_count * 2 ** min(max(lmc, 0), 7) + self.switch_count
        need = self.switch_count * (4 * self.switch_count + lids)
        if need < 2**26:
            # Asking takes longer than routing a small fabric.
            return
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
        if need > free + _cached_bytes():
            raise RoutingError(
                f"tables of {self.name} need {need / 2**30:,.1f} GiB, "
                f"{free / 2**30:,.1f} GiB are free; take a smaller machine"
            )

    def find_roots(self) -> list[str]:
        """Return the root switches that Up*/Down* finds by rule; empty if it finds none."""
        return self._core.find_roots()

    def __repr__(self) -> str:
        failed = sum(self.failed_counts)
        dead = f", {failed} failed parts" if failed else ""
        return (
            f"<runflat.Machine {self.name}: {self.node_count} nodes, "
            f"{self.switch_count} switches, {self.switch_link_count} switch links{dead}>"
        )


def _cached_bytes() -> int:
    """Return what the system holds in caches and gives back when asked."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    sizes = {
        name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines)
    }
    return 1024 * (sizes.get("MemAvailable", 0) - sizes.get("MemFree", 0))


def load(path: str | Path) -> Machine:
    """Read a fabric in any format that `runflat machine import` reads.

    Parameters
    ----------
    path : str or Path
        An `ibnetdiscover` dump or ibsim file, our JSON, or Slurm's topology.conf.

    Returns
    -------
    Machine
        The fabric; `.warnings` says what was odd in the file.

    Raises
    ------
    FormatError
        If the file cannot be read, with the line, what was found and what is allowed.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise FormatError(
            f"{path}: cannot be read: {error.strerror}; give a fabric file"
        ) from error
    core, warnings = _core.Machine.read(data, str(path))
    return Machine(core, warnings=[f"{path}:{line}: {text}" for line, text in warnings])


def make(text: str, *, seed: int = 1, **params: object) -> Machine:
    """Generate a machine.

    Parameters
    ----------
    text : str
        A generator's name (`torus`), or the papers' notation: `16-ary 2-tree`, `XGFT(2; 16,16; 1,16)`.
    seed : int
        For random families.
    **params
        Parameters of the generator, as `shape="4x4x4"`.

    Returns
    -------
    Machine
        A synthetic machine.

    Raises
    ------
    GeneratorError
        If there is no such generator or machine; the message says what is allowed.
    """
    texts = {name: as_text(value) for name, value in params.items()}
    function = plugins.find("generator", text)
    if function is None:
        return Machine(_core.Machine.make(text, texts, seed))
    machine = plugins.call("generator", text, seed=seed, **texts)
    if not isinstance(machine, Machine):
        raise RunflatError(f"generator `{text}` returned {type(machine).__name__}, not a Machine")
    return machine
