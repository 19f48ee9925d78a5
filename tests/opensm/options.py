"""What OpenSM is told beside the engine, and how it is written down: opensm.conf and the files that it names.

Everything goes through one configuration file in the folder of the run, so the folder says what was asked. The system's
configuration in /etc/opensm is not read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from opensm import probe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


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
    guid2lid : str
        Text of the file `guid2lid` that OpenSM finds in its cache.
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
    times_only : bool
        Whether dumps and path SLs are left out, which on large fabrics take longer than routing.
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
    guid2lid: str = ""
    max_op_vls: int | None = None
    config: Mapping[str, str] = field(default_factory=dict)
    extra: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    preload: Sequence[Path] = ()
    probe: Path | None = None
    times_only: bool = False
    fallback: bool = False
    start: str | None = None
    timeout_s: float = 120


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
        "log_flags": "0x03" if options.times_only else "0x43",
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
    if options.guid2lid:
        (folder / "guid2lid").write_text(options.guid2lid, encoding="ascii")
    if options.torus:
        (folder / "torus-2QoS.conf").write_text(options.torus, encoding="ascii")
        lines["torus_config"] = str(folder / "torus-2QoS.conf")
    if options.probe is not None:
        lines["event_plugin_name"] = probe.NAME
    if options.max_op_vls is not None:
        lines["max_op_vls"] = str(options.max_op_vls)
    return "".join(f"{key} {value}\n" for key, value in {**lines, **options.config}.items())
