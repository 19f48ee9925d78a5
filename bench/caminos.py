"""The flit simulation beside CAMINOS, on one machine in one run: flit-hops or phit-hops a processor second, and memory.

CAMINOS (Camarero et al., crates.io `caminos`) moves every phit through a network cycle by cycle. Both simulate a fat tree under
uniform traffic in packets of 32; each figure comes from two runs of different length, processes of their own, whose
difference is taken, so that neither starting nor the first filling of the empty network counts. Rivals take turns.

A hop is a flit or phit that crosses a channel, those from and to nodes included. CAMINOS does not print their number; it follows
exactly from three loads it prints, over all cycles: phits that nodes sent, that nodes took, and that came over the
channels between switches. The script checks that against the packets that arrived and their hops.

As near as they get: one lane, input buffers of 800 and output buffers of 78 a port, packets granted when the next buffer has room
for all of one, one way chosen at every switch. What differs:

- Ours, preset `sc14`: InfiniBand's credits, announced by flow-control packets every 256 ns that take their share of the cable;
  arbitration of lanes by weights; delays of hosts, switches and cables in picoseconds; nodes a fifth slower than
  cables; a queue for every input and output, so that nobody waits behind a packet for elsewhere; tables of DFSSSP. It
  computes flits exactly, but by packets: about three events a packet and hop.
- CAMINOS, router `Basic`: an event for every phit and hop and for every credit, which comes back by itself and takes no room;
  cables of one cycle, switches and nodes without delay; random arbitration; nodes as fast as cables; one queue an
  input, so that packets wait behind others; of the ways up one at random. A switch where something waits looks at all its
  ports in every cycle, which any routing or policy may use: adaptive ones, and packets that are not sent as a whole.

So CAMINOS is measured a second time at an offered load of 0.4, where little waits.
Its saturated queues on the larger tree are still filling when the run ends; longer runs are slower.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import record
from record import timed

import runflat

COMMAND = "python bench/caminos.py"
VERSION = "0.6.3"
REPEATS = 5
PACKET = 32
LOADS = (1.0, 0.4)
NODE_PACE = 0.8
"""Of a cable's rate: 20 ns a flit at a node of `sc14`, 16 ns on its cable."""
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Fabric:
    """A k-ary n-tree; how long both simulate, each pair a run and the longer one it is taken from."""

    arity: int
    levels: int
    micros: tuple[float, float]
    cycles: tuple[int, int]

    @property
    def name(self) -> str:
        return f"{self.arity}-ary {self.levels}-tree"

    @property
    def nodes(self) -> int:
        return int(self.arity**self.levels)

    @property
    def switch_channels(self) -> int:
        return 2 * (self.levels - 1) * self.nodes


FABRICS = (
    Fabric(16, 2, (500.0, 4500.0), (4000, 12000)),
    Fabric(14, 3, (100.0, 500.0), (1000, 1800)),
)

CONFIGURATION = """Configuration {{
  random_seed: {seed}, warmup: 0, measured: {cycles},
  topology: XGFT {{ height: {height}, down: [{ways}], up: [{ways}], servers_per_leaf: {arity} }},
  traffic: HomogeneousTraffic {{
    pattern: Uniform, servers: {nodes}, load: {load}, message_size: {packet}
  }},
  maximum_packet_size: {packet},
  router: Basic {{
    virtual_channels: 1, virtual_channel_policies: [ EnforceFlowControl, Random ],
    buffer_size: 800, output_buffer_size: 78, flit_size: {packet}, bubble: false,
    intransit_priority: false, allow_request_busy_port: true, output_prioritize_lowest_label: false
  }},
  routing: Stubborn {{ routing: UpDown }},
  link_classes: [ {links} ]
}}
"""


class MissingError(Exception):
    """CAMINOS cannot be had here."""


def build() -> Path:
    """Return the program, built once into the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    root = cache / "runflat" / "bench" / f"caminos-{VERSION}"
    program = root / "bin" / "caminos"
    if program.exists():
        return program
    cargo = shutil.which("cargo")
    if cargo is None:
        raise MissingError("cargo is not there")
    print(f"building CAMINOS {VERSION} into {root} (some minutes)", file=sys.stderr)
    # Its dependencies as published: with newer ones it does not build.
    command = [cargo, "install", "caminos", "--version", VERSION, "--locked", "--root", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise MissingError(f"cargo could not install caminos {VERSION}: {last}")
    return program


def configuration(fabric: Fabric, load: float, cycles: int, seed: int) -> str:
    height = fabric.levels - 1
    return CONFIGURATION.format(
        seed=seed,
        cycles=cycles,
        height=height,
        ways=", ".join([str(fabric.arity)] * height),
        arity=fabric.arity,
        nodes=fabric.nodes,
        load=load,
        packet=PACKET,
        links=", ".join(["LinkClass { delay: 1 }"] * fabric.levels),
    )


def number(results: str, key: str) -> float:
    found = re.search(rf"\b{key}:\s*([-+.eE\d]+)", results)
    assert found, f"CAMINOS printed no {key}"
    return float(found[1])


def counted(results: str, fabric: Fabric, cycles: int) -> dict[str, float]:
    """Return how many phits crossed channels and reached nodes, checked against the packets that arrived."""
    assert number(results, "cycle") == cycles
    sent, taken, between = (
        round(number(results, key) * cycles * channels)
        for key, channels in (
            ("injected_load", fabric.nodes),
            ("accepted_load", fabric.nodes),
            ("average_link_utilization", fabric.switch_channels),
        )
    )
    histogram = re.search(r"total_packet_per_hop_count:\s*\[([^]]*)\]", results)
    assert histogram
    packets = [int(float(count)) for count in histogram[1].split(",") if count.strip()]
    arrived = PACKET * sum(hops * count for hops, count in enumerate(packets))
    under_way = sent - PACKET * sum(packets)
    # What is under way has made none to all of its hops.
    assert 0 <= taken - PACKET * sum(packets) <= under_way
    assert 0 <= between - arrived <= under_way * 2 * (fabric.levels - 1)
    return {"hops": sent + taken + between, "taken": taken}


def run_caminos(
    program: Path, fabric: Fabric, load: float, cycles: int, seed: int
) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        plan, results = (Path(folder) / name for name in ("plan.cfg", "results"))
        plan.write_text(configuration(fabric, load, cycles, seed), encoding="ascii")
        child = subprocess.Popen(
            [program, plan, f"--results={results}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert child.stderr
        errors = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0, errors.decode(errors="replace")
        text = results.read_text(encoding="utf-8")
    cpu = used.ru_utime + used.ru_stime
    peak = number(text, "linux_high_water_mark") * 1024
    return {"cpu_s": cpu, "peak_bytes": peak} | counted(text, fabric, cycles)


def measure_caminos(program: Path, fabric: Fabric, load: float, seed: int) -> dict[str, float]:
    short, long = (run_caminos(program, fabric, load, cycles, seed) for cycles in fabric.cycles)
    found = difference(short, long)
    cycles = fabric.cycles[1] - fabric.cycles[0]
    accepted = found["taken"] / cycles / fabric.nodes
    # Several channels can stop it altogether: what stands still is not measured.
    assert accepted > 0.3, f"{fabric.name}: CAMINOS took only {accepted:.3f} of the load"
    return summed(found) | {"accepted_load": accepted}


def simulate(fabric: Fabric, micros: float, seed: int) -> dict[str, float]:
    routing = runflat.make(fabric.name).route("dfsssp")
    assert isinstance(routing, runflat.Routing)
    options = runflat.FlitOptions("sc14", precision=1e-6, most_us=micros)
    found: list[runflat.Flit] = []
    used = timed(
        lambda: found.append(routing.simulate_flits("uniform", options=options, seed=seed))
    )
    flit = found[0]
    assert flit.outcome in ("saturated", "cut_short")
    assert flit.simulated_ns == micros * 1000
    return {
        "cpu_s": used["cpu_s"],
        "peak_bytes": used["peak_bytes"],
        "hops": flit.flit_hops,
        "taken": flit.delivered_flits,
    }


def measure_ours(fabric: Fabric, seed: int) -> dict[str, float]:
    short, long = (in_child(FABRICS.index(fabric), micros, seed) for micros in fabric.micros)
    found = difference(short, long)
    cycles = (fabric.micros[1] - fabric.micros[0]) * 1000 / 16
    return summed(found) | {"accepted_load": found["taken"] / cycles / fabric.nodes}


def in_child(at: int, micros: float, seed: int) -> dict[str, float]:
    command = [sys.executable, __file__, str(at), str(micros), str(seed)]
    child = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(child.stdout)
    return found


def difference(short: dict[str, float], long: dict[str, float]) -> dict[str, float]:
    found = {key: long[key] - short[key] for key in ("cpu_s", "hops", "taken")}
    return found | {"peak_bytes": long["peak_bytes"]}


def summed(found: dict[str, float]) -> dict[str, float]:
    return {
        "million_hops_a_cpu_s": found["hops"] / found["cpu_s"] / 1e6,
        "hops": found["hops"],
        "cpu_s": found["cpu_s"],
        "peak_bytes": found["peak_bytes"],
    }


def measure(program: Path, fabric: Fabric) -> list[dict[str, object]]:
    ours: list[dict[str, float]] = []
    theirs: dict[float, list[dict[str, float]]] = {load: [] for load in LOADS}
    for seed in range(1, REPEATS + 1):
        ours.append(measure_ours(fabric, seed))
        for load, runs in theirs.items():
            runs.append(measure_caminos(program, fabric, load, seed))
    rows = [row(fabric, "runflat", NODE_PACE, ours, ours)]
    return rows + [row(fabric, "CAMINOS", load, runs, ours) for load, runs in theirs.items()]


def row(
    fabric: Fabric,
    simulator: str,
    load: float,
    runs: list[dict[str, float]],
    ours: list[dict[str, float]],
) -> dict[str, object]:
    rate = "million_hops_a_cpu_s"
    ratios = [a[rate] / b[rate] for a, b in zip(ours, runs, strict=True)]
    about: dict[str, object] = {
        "fabric": fabric.name,
        "nodes": fabric.nodes,
        "simulator": simulator,
        "offered_load": load,
        "ours_faster": record.spread(ratios),
    }
    return about | {key: record.spread([run[key] for run in runs]) for key in runs[0]}


def show(rows: list[dict[str, object]]) -> None:
    print(
        f"{'':14} {'simulator':10} {'load':>4} {'accepted':>8} {'M hops a cpu s (min-max)':>26} {'ours faster':>18} {'MiB':>5}"
    )
    for row in rows:
        rate, ratio, accepted, peak = (
            row[key]
            for key in ("million_hops_a_cpu_s", "ours_faster", "accepted_load", "peak_bytes")
        )
        assert isinstance(rate, dict)
        assert isinstance(ratio, dict)
        assert isinstance(accepted, dict)
        assert isinstance(peak, dict)
        speed = f"{rate['median']:.2f} ({rate['min']:.2f}-{rate['max']:.2f})"
        times = f"{ratio['median']:.0f} ({ratio['min']:.0f}-{ratio['max']:.0f})"
        print(
            f"{row['fabric']:14} {row['simulator']:10} {row['offered_load']:4} {accepted['median']:8.2f}"
            f" {speed:>26} {times:>18} {peak['median'] / 2**20:5.0f}"
        )


def main() -> None:
    if len(sys.argv) == 4:
        at, micros, seed = sys.argv[1:]
        print(json.dumps(simulate(FABRICS[int(at)], float(micros), int(seed))))
        return
    try:
        program = build()
    except MissingError as missing:
        print(f"nothing to compare with: {missing}; bench/caminos.json stays as it is")
        return
    head = record.head(COMMAND, REPEATS) | {"rival": f"caminos {VERSION}, from crates.io, locked"}
    rows = [found for fabric in FABRICS for found in measure(program, fabric)]
    record.save(HERE / "caminos.json", head | {"results": rows})
    print(f"{head['processor']}, {head['cores']} cores, {REPEATS} repeats, commit {head['commit']}")
    show(rows)


if __name__ == "__main__":
    main()
