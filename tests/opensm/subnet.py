"""Runs OpenSM on ibsim: a machine and the name of a routing engine in, forwarding tables or the reason of a refusal out.

Each subnet is an ibsim process of its own, and each question a fresh run of opensm with a folder of its own for its log, its
cache and its dumps, so that nothing is left over from one run to the next but what ibsim holds (LIDs and tables; OpenSM
keeps the LIDs and recomputes the tables). The system's configuration in /etc/opensm is not read.

OpenSM replaces an engine that fails by MinHop and says so only in its log. Here `no_fallback` is set unless asked otherwise,
and the engine that made the tables is read from the log either way. With `no_fallback` a failing opensm never ends: it tries
again every 10 s, so it is ended when its log says that no engine was able to.

Limits: one plane at a time (the one of the port where OpenSM runs); ibsim offers 8 data VLs and at most 30720 LIDs.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from opensm import dumps, probe, programs
from opensm.numbering import Numbering
from opensm.options import Options, configuration

if TYPE_CHECKING:
    from types import TracebackType

    from numpy.typing import NDArray

    from runflat import Machine


@dataclass(frozen=True)
class Answer:
    """What a run of OpenSM gave.

    Attributes
    ----------
    engine : str or None
        The engine that made the tables, in OpenSM's words; None if none did.
    failure : str or None
        Why there are no tables: what OpenSM said after it became master.
    tables : (switches, lids) array of uint8, or None
        Output ports in dense order, 255 for none. Switches and ports of another plane have 255 everywhere. None also if
        times alone were asked for.
    lids : (lids,) array of int32
        Real LID of each dense LID; 0 for a port that has none.
    numbering : Numbering
        Which port a dense LID is.
    warnings : list of str
        Errors in the log.
    sl2vl : dict
        With QoS on: by switch a (ports + 1, ports + 1, 16) array, the virtual lane for (in port, out port, SL); empty without.
    steps : list of probe.Step
        With a probe: times of the routing steps.
    lanes : probe.Lanes or None
        With a probe and an engine that gives path SLs: these.
    folder : Path
        Where the log and the dumps are.
    """

    engine: str | None
    failure: str | None
    tables: NDArray[np.uint8] | None
    lids: NDArray[np.int32]
    numbering: Numbering
    warnings: list[str]
    folder: Path
    sl2vl: dict[int, NDArray[np.uint8]] = field(default_factory=dict)
    steps: list[probe.Step] = field(default_factory=list)
    lanes: probe.Lanes | None = None


class Subnet:
    """A simulated fabric; a context manager that ends ibsim when left.

    Parameters
    ----------
    machine : Machine
        The machine; dead parts are absent from the fabric.
    folder : Path
        Where files go; made if it does not exist.
    text : str, optional
        The fabric as ibsim shall read it, in place of the machine written as `ibnetdiscover`.

    Attributes
    ----------
    environment : dict
        Variables by which programs such as ibroute reach this fabric.
    """

    def __init__(self, machine: Machine, folder: Path, *, text: str | None = None) -> None:
        self.machine = machine
        self.folder = folder.resolve()
        self.text = machine.write("ibnetdiscover") if text is None else text
        self._name = f"runflat-{os.getpid()}-{next(COUNTER)}"
        self._runs = itertools.count(1)
        self._op_vls = OP_VLS
        self._ibsim: subprocess.Popen[bytes] | None = None
        self.environment: dict[str, str] = {}

    def __enter__(self) -> Self:
        program, shim = programs.path("ibsim"), programs.shim()
        self.folder.mkdir(parents=True, exist_ok=True)
        net = self.folder / "fabric.net"
        net.write_text(self.text, encoding="utf-8")
        parts = self.machine.switch_count + self.machine.node_count + 8
        ports = sum(self.machine.switches().column("ports")) + 4 * parts
        limits = ["-N", str(parts), "-S", str(self.machine.switch_count + 8), "-P", str(ports)]
        self.environment = {"IBSIM_SOCKNAME": self._name, "LD_PRELOAD": str(shim)}
        with (self.folder / "ibsim.log").open("wb") as log:
            self._ibsim = subprocess.Popen(
                [program, "-s", "-n", *limits, str(net)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "IBSIM_SOCKNAME": self._name},
            )  # fmt: skip
        try:
            self._wait()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End ibsim."""
        if self._ibsim is not None:
            self._ibsim.kill()
            self._ibsim.wait()
            self._ibsim = None

    def route(self, engine: str, options: Options | None = None) -> Answer:
        """Run OpenSM once; before it another time if ports have to operate another number of VLs.

        Parameters
        ----------
        engine : str
            Name of a routing engine, as `opensm -R` takes it.
        options : Options, optional
            What else OpenSM is told.

        Returns
        -------
        Answer
            Tables or a failure.

        Raises
        ------
        Missing
            If opensm is not installed.
        TimeoutError
            If it neither ends nor gives up in time.
        RuntimeError
            If ibsim has died.
        """
        options = options or Options()
        op_vls = options.max_op_vls or OP_VLS
        if op_vls != self._op_vls:
            # Engines see the VLs that a port operates, which an earlier run has set.
            self._run("minhop", Options(max_op_vls=op_vls, start=options.start))
        found = self._run(engine, options)
        if found.engine is not None:
            self._op_vls = op_vls
        return found

    def _run(self, engine: str, options: Options) -> Answer:
        numbering = Numbering.of(self.machine, options.lmc)
        folder = self.folder / f"opensm-{next(self._runs)}"
        folder.mkdir()
        names = engine if options.fallback else f"{engine},no_fallback"
        (folder / "opensm.conf").write_text(configuration(names, options, folder), encoding="ascii")
        hosts = self._hosts(numbering)
        start = next(iter(hosts)) if options.start is None else int(options.start, 16)
        probed = [] if options.probe is None else [options.probe]
        preload = [*map(str, [*probed, *options.preload]), self.environment["LD_PRELOAD"]]
        variables = {
            **os.environ, **self.environment, "SIM_HOST": hosts[start], "LD_PRELOAD": ":".join(preload),
            "OSM_TMP_DIR": str(folder), "OSM_CACHE_DIR": str(folder),
            "RUNFLAT_PROBE": str(folder), "RUNFLAT_PROBE_TIMES": str(int(options.times_only)),
            **options.environment,
        }  # fmt: skip
        command = [
            programs.path("opensm"), "-F", str(folder / "opensm.conf"), "-o",
            "-g", f"0x{start:016x}", *options.extra,
        ]  # fmt: skip
        ending = programs.watch(command, variables, folder, options.timeout_s)
        if self._ibsim is None or self._ibsim.poll() is not None:
            raise RuntimeError(f"ibsim died: {(self.folder / 'ibsim.log').read_text()}")
        return answer(folder, numbering, ending, self._homes(numbering))

    def _hosts(self, numbering: Numbering) -> dict[int, str]:
        """Return how ibsim calls the part of each port GUID; endpoints with a living cable come first."""
        first = self.machine.switch_count
        guids = [int(guid, 16) for guid in self.machine.nodes().column("guid")]
        alive = {
            (row[end], row[f"{end}_port"])
            for row in self.machine.links().to_rows()
            for end in ("a", "b")
            if row["alive"]
        }
        hosts = {
            endpoint.guid: f"H-{guids[endpoint.node - first]:016x}"
            for endpoint in numbering.endpoints
            if (endpoint.node, endpoint.port) in alive
        }
        hosts.update({guid: f"S-{guid:016x}" for guid in numbering.switches})
        return hosts

    def _homes(self, numbering: Numbering) -> list[int | None]:
        """Return the switch of each endpoint."""
        first = self.machine.switch_count
        found: dict[tuple[int, int], int] = {}
        for row in self.machine.links().to_rows():
            for end, other in (("a", "b"), ("b", "a")):
                if row["alive"] and row[end] >= first > row[other]:
                    found[row[end], row[f"{end}_port"]] = row[other]
        return [found.get((endpoint.node, endpoint.port)) for endpoint in numbering.endpoints]

    def _wait(self) -> None:
        """Wait until ibsim listens."""
        assert self._ibsim is not None
        end = time.monotonic() + 60
        while self._name not in Path("/proc/net/unix").read_text(encoding="ascii"):
            if self._ibsim.poll() is not None or time.monotonic() > end:
                raise RuntimeError(
                    f"ibsim does not listen: {(self.folder / 'ibsim.log').read_text()}"
                )
            time.sleep(0.005)


def answer(
    folder: Path, numbering: Numbering, ending: int | None, homes: list[int | None]
) -> Answer:
    """Read what a run left behind.

    Parameters
    ----------
    folder : Path
        The folder of the run.
    numbering : Numbering
        Our numbers.
    ending : int or None
        What `watch` returned.
    homes : list of int or None
        Switch of each endpoint.

    Returns
    -------
    Answer
        Tables or a failure.
    """
    log = dumps.log_lines((folder / "osm.log").read_text(encoding="utf-8", errors="replace"))
    warnings = [text for level, text in log if level == 1 and "'no_fallback'" not in text]
    configured = [match[1] for _, text in log if (match := CONFIGURED.search(text))]
    cache = folder / "guid2lid"
    given = dumps.guid2lid(cache) if cache.exists() else {}
    lids = dumps.real_lids(numbering, given)
    if ending == 0 and configured:
        dump, mapping = folder / "opensm-lfts.dump", folder / "opensm-sl2vl.dump"
        programmed = dumps.sl2vl(mapping) if mapping.exists() else {}
        return Answer(
            engine=configured[-1],
            failure=None,
            tables=dumps.tables(dump, numbering, lids) if dump.exists() else None,
            lids=lids,
            numbering=numbering,
            warnings=warnings,
            folder=folder,
            sl2vl={at: programmed[g] for at, g in enumerate(numbering.switches) if g in programmed},
            steps=probe.steps(folder),
            lanes=probe.lanes(folder, numbering, lids, homes),
        )
    texts = [text for _, text in log]
    since = next((at for at, text in enumerate(texts) if "MASTER" in text), -1)
    until = next((at for at, text in enumerate(texts) if programs.GAVE_UP in text), len(texts))
    said = "; ".join(texts[since + 1 : until])
    if ending is not None:
        said = f"opensm ended with status {ending}; {said}"
    steps = probe.steps(folder)
    return Answer(None, said, None, lids, numbering, warnings, folder, steps=steps)


COUNTER = itertools.count(1)
OP_VLS = 5
"""OpenSM's default for `max_op_vls`, as many VLs as the ports have."""
CONFIGURED = re.compile(r"osm_ucast_mgr_process: (\S+) tables configured on all switches")
