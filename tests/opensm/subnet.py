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
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from opensm import dumps, probe
from opensm.missing import Missing
from opensm.numbering import Numbering

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from numpy.typing import NDArray

    from runflat import Machine


@dataclass(frozen=True)
class Options:
    """What OpenSM is told beside the engine.

    Attributes
    ----------
    roots, compute, io : sequence of str
        GUIDs of root switches, compute node ports and I/O node ports (`-a`, `-u`, `-G`).
    order : sequence of str
        Port GUIDs in the order in which they shall be routed (`-X`).
    torus : str
        Text of torus-2QoS.conf.
    qos : bool
        Whether QoS is on (`-Q`); SL to VL tables are programmed and dumped only then.
    lmc : int
        Base-2 logarithm of the number of LIDs of an endpoint (`-l`).
    max_op_vls : int or None
        InfiniBand's code for the number of VLs to use: 1 = 1, 2 = 2, 3 = 4, 4 = 8, 5 = 15.
    config : mapping
        Further lines of opensm.conf; these win.
    extra : sequence of str
        Further arguments.
    environment : mapping
        Further environment variables.
    preload : sequence of Path
        Libraries to load ahead of the others.
    probe : Path or None
        The library that `probe.build` made, to have times and path SLs.
    fallback : bool
        Whether MinHop may replace an engine that fails.
    start : str or None
        Port GUID where OpenSM runs; the first endpoint alive by default.
    timeout_s : float
        Longest time for a run.
    """

    roots: Sequence[str] = ()
    compute: Sequence[str] = ()
    io: Sequence[str] = ()
    order: Sequence[str] = ()
    torus: str = ""
    qos: bool = False
    lmc: int = 0
    max_op_vls: int | None = None
    config: Mapping[str, str] = field(default_factory=dict)
    extra: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    preload: Sequence[Path] = ()
    probe: Path | None = None
    fallback: bool = False
    start: str | None = None
    timeout_s: float = 120


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
        Output ports in dense order, 255 for none. Switches and ports of another plane have 255 everywhere.
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
        self._ibsim: subprocess.Popen[bytes] | None = None
        self.environment: dict[str, str] = {}

    def __enter__(self) -> Self:
        program, shim = program_path("ibsim"), shim_path()
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
        """Run OpenSM once.

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
            "RUNFLAT_PROBE": str(folder), **options.environment,
        }  # fmt: skip
        command = [
            program_path("opensm"), "-F", str(folder / "opensm.conf"), "-o",
            "-g", f"0x{start:016x}", *options.extra,
        ]  # fmt: skip
        ending = watch(command, variables, folder, options.timeout_s)
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


def configuration(engines: str, options: Options, folder: Path) -> str:
    """Write opensm.conf, and the files that it names.

    Parameters
    ----------
    engines : str
        Value of `routing_engine`.
    options : Options
        What OpenSM is told.
    folder : Path
        Where files go.

    Returns
    -------
    str
        The text.
    """
    lines = {
        "routing_engine": engines,
        "log_file": str(folder / "osm.log"),
        "accum_log_file": "FALSE",
        "force_log_flush": "TRUE",
        "log_flags": "0x43",
        "dump_files_dir": f"{folder}/",
        "transaction_timeout": "2000",
        "disable_multicast": "TRUE",
        "qos": "TRUE" if options.qos else "FALSE",
        "lmc": str(options.lmc),
    }
    for key, name, guids in (
        ("root_guid_file", "roots", options.roots),
        ("cn_guid_file", "compute", options.compute),
        ("io_guid_file", "io", options.io),
        ("guid_routing_order_file", "order", options.order),
    ):
        if guids:
            (folder / name).write_text("".join(f"{guid}\n" for guid in guids), encoding="ascii")
            lines[key] = str(folder / name)
    if options.torus:
        (folder / "torus-2QoS.conf").write_text(options.torus, encoding="ascii")
        lines["torus_config"] = str(folder / "torus-2QoS.conf")
    if options.probe is not None:
        lines["event_plugin_name"] = probe.NAME
    if options.max_op_vls is not None:
        lines["max_op_vls"] = str(options.max_op_vls)
    return "".join(f"{key} {value}\n" for key, value in {**lines, **options.config}.items())


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
        mapping = folder / "opensm-sl2vl.dump"
        programmed = dumps.sl2vl(mapping) if mapping.exists() else {}
        return Answer(
            engine=configured[-1],
            failure=None,
            tables=dumps.tables(folder / "opensm-lfts.dump", numbering, lids),
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
    until = next((at for at, text in enumerate(texts) if GAVE_UP in text), len(texts))
    said = "; ".join(texts[since + 1 : until])
    if ending is not None:
        said = f"opensm ended with status {ending}; {said}"
    steps = probe.steps(folder)
    return Answer(None, said, None, lids, numbering, warnings, folder, steps=steps)


def program_path(name: str) -> str:
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
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if path is None:
        package = {"opensm": "opensm", "ibsim": "ibsim-utils"}.get(name, "infiniband-diags")
        raise Missing(f"{name} is not installed: apt install {package}")
    return path


def shim_path() -> Path:
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


COUNTER = itertools.count(1)
CONFIGURED = re.compile(r"osm_ucast_mgr_process: (\S+) tables configured on all switches")
GAVE_UP = "No routing engine able to successfully configure"
