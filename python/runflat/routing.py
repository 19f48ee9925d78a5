"""Forwarding tables: made, read, written, proved, and what they carry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from runflat import _core, plugins, workloads
from runflat._core import RoutingError, WorkloadError
from runflat.inputs import as_text, read_file
from runflat.outcome import Check, Update
from runflat.simulation import Congestion, Flit, FlitOptions, check_options, check_work

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from runflat.machine import Machine


class Routing:
    """Forwarding tables of a machine, made by an engine or read from somewhere."""

    outcome = "routed"

    def __init__(
        self,
        machine: Machine,
        core: _core.Routing,
        engine: str | None,
        *,
        warnings: Sequence[str] = (),
    ) -> None:
        self.machine = machine
        self.engine = engine
        self.warnings = list(warnings)
        self._core = core

    @classmethod
    def read(
        cls,
        machine: Machine,
        path: str | Path,
        *,
        guid2lid: str | Path | None = None,
        sl: str | Path | None = None,
        sl2vl: str | Path | None = None,
        lmc: int | None = None,
    ) -> Routing:
        """Read forwarding tables from a file, as OpenSM or `ibroute` write them.

        Parameters
        ----------
        machine : Machine
            The fabric they belong to, broken or not.
        path : str or Path
            `opensm-lfts.dump`, output of `ibroute` or `dump_fts`, or `opensm.fdbs`.
        guid2lid : str or Path, optional
            OpenSM's LID file, where tables name no port GUIDs and the fabric file's LIDs are old.
        sl, sl2vl : str or Path, optional
            Service levels and SL-to-VL tables as `Routing.write` writes them; all on lane 0 without.
        lmc : int, optional
            LID mask count; default: what the tables show.

        Returns
        -------
        Routing
            To be checked and simulated like any other; `.warnings` says what was odd in the files.

        Raises
        ------
        FormatError
            If a file cannot be read, with the line, what was found and what is allowed.
        """
        tables = read_file(path)
        core, format, warnings = _core.read_tables(
            machine._core,
            tables,
            None if guid2lid is None else read_file(guid2lid),
            None if sl is None else read_file(sl),
            None if sl2vl is None else read_file(sl2vl),
            lmc,
        )
        told = [f"{label}:{line}: {text}" for label, line, text in warnings]
        return cls(machine, core, f"{format} {path}", warnings=told)

    def write(
        self, format: str, *, guid2lid: str | Path | None = None, plane: int | None = None
    ) -> str:
        """Write the tables, or what goes with them, as text.

        Parameters
        ----------
        format : str
            `opensm` (what `opensm -R file -U` loads), `ibroute`, `fdbs`; `sl` and `sl2vl` for the lanes as CSV;
            `guid2lid` for the LIDs that the others use.
        guid2lid : str or Path, optional
            OpenSM's LID file, if LIDs are to be as there.
        plane : int, optional
            The one plane to write; default: all.

        Returns
        -------
        str
            The text; empty for `sl2vl` if every lane is its service level.

        Raises
        ------
        FormatError
            If there is no such format or a subnet has not enough LIDs.
        """
        known = None if guid2lid is None else read_file(guid2lid)
        return _core.write_tables(self._core, format, known, plane)

    def opensm_command(self, file: str, *, cache: str | None = None) -> tuple[str, list[str]]:
        """Return the OpenSM command that loads tables written to `file`, and what to know before running it.

        Parameters
        ----------
        file : str
            Where the tables were written in format `opensm`.
        cache : str, optional
            The folder with `guid2lid`, if LIDs are to be as there.

        Returns
        -------
        (str, list of str)
            A command for a shell, and sentences, the gravest first.
        """
        engine = None if self.engine is None else engine_name(self.engine)
        return _core.opensm_command(self._core, file, cache, engine)

    @classmethod
    def from_tables(
        cls,
        machine: Machine,
        tables: NDArray[np.uint8],
        engine: str | None = None,
        *,
        lmc: int = 0,
    ) -> Routing:
        """Take forwarding tables from elsewhere.

        Parameters
        ----------
        machine : Machine
            The machine, broken or not.
        tables : (switches, LIDs) array of uint8
            Port by which each switch forwards to each LID; 255: none, 0: the switch itself.
        engine : str, optional
            Where they come from.
        lmc : int
            LID mask count: each node port has 2**lmc columns in a row.

        Returns
        -------
        Routing
            To be checked and simulated like any other.

        Raises
        ------
        RoutingError
            If the shape is another.
        """
        given = np.asarray(tables)
        whole = np.issubdtype(given.dtype, np.integer)
        if not whole or (given.size and not (given.min() >= 0 and given.max() <= NO_PORT)):
            raise RoutingError(
                f"tables hold ports as whole numbers from 0 to {NO_PORT}, got {given.dtype} "
                f"from {engine or 'the caller'}"
            )
        array = np.ascontiguousarray(given, dtype=np.uint8)
        if not 0 <= lmc <= LMC_MAX:
            raise RoutingError(f"`lmc` is a whole number from 0 to {LMC_MAX}, got {lmc}")
        expected = (machine.switch_count, machine.endpoint_count * 2**lmc + machine.switch_count)
        if array.shape != expected:
            raise RoutingError(
                f"tables of {machine.name} have shape {expected} (switches, LIDs), "
                f"got {array.shape}"
            )
        return cls(machine, _core.Routing.from_ports(machine._core, lmc, array.reshape(-1)), engine)

    @property
    def tables(self) -> NDArray[np.uint8]:
        """Forwarding tables, (switches, LIDs) of uint8: the port to each LID, 255 for none."""
        return self._core.ports().reshape(self._shape)

    @property
    def lmc(self) -> int:
        """LID mask count: each node port has 2**lmc LIDs."""
        return self._core.lmc

    @property
    def layers(self) -> int:
        """Virtual lanes that freedom from deadlock takes; those used beyond them spread load."""
        return self._core.layers

    @property
    def service_levels(self) -> NDArray[np.uint8] | None:
        """Service level of each (source switch, LID), the shape of `tables`; None if all are 0."""
        levels = self._core.service_levels()
        return None if levels is None else levels.reshape(self._shape)

    @property
    def sl_to_vl(self) -> list[NDArray[np.uint8]] | None:
        """By switch, the lane for (input port, output port, service level), port 0 being the switch; None if lane = level."""
        return self._core.sl_to_vl()

    @property
    def _shape(self) -> tuple[int, int]:
        lids = self.machine.endpoint_count * 2**self.lmc + self.machine.switch_count
        return self.machine.switch_count, lids

    def check(self) -> Check:
        """Walk every route and search every lane for a credit loop.

        Returns
        -------
        Check
            The proof or the counterexample.
        """
        return Check(**self._core.check())

    def lost_paths(self, broken: Machine) -> int:
        """Count the routes that failures cut before anything is re-routed.

        Parameters
        ----------
        broken : Machine
            The same machine with failures.

        Returns
        -------
        int
            (source node, destination LID) routes of these tables that cross a dead part.
        """
        return self._core.lost_paths(broken._core)

    def update_to(
        self, new: Routing, *, guid2lid: str | Path | None = None, blocks: bool = False
    ) -> Update:
        """Order the writes that turn these tables, still in force, into those of the re-routed fabric.

        Parameters
        ----------
        new : Routing
            Tables of the same machine with failures.
        guid2lid : str or Path, optional
            OpenSM's LID file: which LIDs share a block.
        blocks : bool
            Whether to say what each write holds.

        Returns
        -------
        Update
            What changes, and in which order.

        Raises
        ------
        RoutingError
            If the tables are of different machines or LID mask counts.
        """
        known = None if guid2lid is None else read_file(guid2lid)
        return Update(**_core.plan_update(self._core, new._core, known, blocks))

    def changed_entries(self, other: Routing) -> int:
        """Count the entries that differ in the tables of switches that are alive in the other routing's machine."""
        return self._core.changed_entries(other._core)

    def simulate(
        self,
        traffic: str = "uniform",
        *,
        seed: int = 1,
        injection_gb_s: float | None = None,
        **params: object,
    ) -> Congestion:
        """Run a workload over these routes under max-min fair sharing.

        Rank r runs on the r-th node that is alive, attached and a host.

        Parameters
        ----------
        traffic : str
            A workload: `uniform`, `exchange`, `permutation`, `bisection`, `stencil`, `hotspot`, a collective (`barrier`,
            `allreduce`, `alltoall`, `bcast`), `matrix` from a file, or a registered one.
        seed : int
            For workloads that draw at random.
        injection_gb_s : float, optional
            Most that one node port injects, in GB/s.
        **params
            Parameters of the workload.

        Returns
        -------
        Congestion
            Throughput per node and in all, collisions, load per channel.

        Raises
        ------
        WorkloadError
            If there is no such workload or its parameters do not fit.
        """
        check_work(traffic, seed)
        if injection_gb_s is not None and not 0 < injection_gb_s < float("inf"):
            raise WorkloadError(f"`injection_gb_s` is a number above 0, got {injection_gb_s}")
        own = workloads.own_phases(traffic, params, self.machine.rank_count, seed)
        if own is None:
            texts = workloads.texts(traffic, params)
            return Congestion(**self._core.simulate(traffic, texts, seed, injection_gb_s))
        return Congestion(**self._core.simulate_phases(*own, injection_gb_s))

    def simulate_flits(
        self,
        traffic: str = "uniform",
        *,
        seed: int = 1,
        options: FlitOptions | None = None,
        starting: Callable[[int], bool] | None = None,
        progress: Callable[[float], bool] | None = None,
        **params: object,
    ) -> Flit:
        """Run a workload over these routes flit by flit, under InfiniBand's flow control.

        Rank r runs on the r-th node that is alive, attached and a host.

        Parameters
        ----------
        traffic : str
            A workload, as for `simulate`, or `goal`, a trace from a file.
        seed : int
            For what is drawn at random.
        options : FlitOptions, optional
            Hosts, switches and cables, and when to stop.
        starting : callable, optional
            Called once before the simulation begins, with the bytes that it takes at the most beside the fabric and its
            tables; returns whether to begin.
        progress : callable, optional
            Called now and then with the simulated time in ns; returns whether to go on. What is false, also None, ends the
            simulation as `cut_short`.
        **params
            Parameters of the workload.

        Returns
        -------
        Flit
            Outcome, throughput, and the evidence of a deadlock.

        Raises
        ------
        WorkloadError
            If there is no such workload or parameter of it, a value does not fit, or `starting` says no.
        FlitError
            If there is no such preset or parameter of hosts, switches and cables, or they cannot be simulated.

        Examples
        --------
        >>> routing = runflat.make("4-ary 2-tree").route("minhop")
        >>> found = routing.simulate_flits("bcast", options=runflat.FlitOptions("edr"), size=4096)
        >>> found.outcome, found.messages
        ('complete', 15)
        """
        found = self._flits(traffic, seed, options, params, starting, progress)
        if "outcome" not in found:
            raise WorkloadError("the simulation was not to begin")
        return Flit(**found)

    def flit_memory(
        self,
        traffic: str = "uniform",
        *,
        seed: int = 1,
        options: FlitOptions | None = None,
        **params: object,
    ) -> int:
        """Return the bytes that `simulate_flits` takes at the most for the same, beside the fabric and its tables.

        Raises
        ------
        WorkloadError, FlitError
            As `simulate_flits`.
        """
        return self._flits(traffic, seed, options, params, lambda _: False, None)["memory_bytes"]

    def _flits(
        self,
        traffic: str,
        seed: int,
        options: FlitOptions | None,
        params: Mapping[str, object],
        starting: Callable[[int], bool] | None,
        progress: Callable[[float], bool] | None,
    ) -> _core._Flit:
        check_work(traffic, seed)
        chosen = FlitOptions() if options is None else check_options(options)
        inputs: _core._FlitInputs = {
            "preset": chosen.preset,
            "parameters": {name: as_text(value) for name, value in chosen.parameters.items()},
            "precision": chosen.precision,
            "most_us": chosen.most_us,
            "starting": starting,
            "progress": progress,
        }
        own = workloads.own_phases(traffic, params, self.machine.rank_count, seed)
        if own is None:
            texts = workloads.texts(traffic, params)
            return self._core.simulate_flits(traffic, texts, seed, inputs)
        return self._core.simulate_flit_phases(*own, inputs)

    def __repr__(self) -> str:
        return f"<runflat.Routing of {self.machine.name} by {self.engine or 'given tables'}>"


def engine_name(text: str) -> str:
    """Return an engine's name as it is registered, whatever its case and parameters in `text`."""
    given = text.partition("(")[0].strip()
    known = {
        part[key].lower(): part["name"] for key in ("title", "name") for part in _core.engines()
    }
    return known.get(given.lower(), given)


def engine_names() -> list[str]:
    """Return the names of all routing engines, built-in ones first."""
    return [part["name"] for part in _core.engines()] + plugins.names("engine")


LMC_MAX = 7
"""Largest LID mask count."""

NO_PORT = 255
"""The table entry for "no route"."""
