"""Flit simulation: flit-hops a processor second and memory, from one switch's worth of nodes to 2,744.

Saturated uniform traffic of one MTU, preset `sc14`, a fixed time simulated, one thread; each measurement in a process of its own,
several times. A flit-hop is a flit that crosses a channel. The bound: some 20 cache lines a packet and hop, so what matters
is how many of them the processor's caches hold; a packet and hop of 32 flits takes about three events.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import record
from record import timed

import runflat

REPEATS = 3
HERE = Path(__file__).parent
FABRICS: tuple[tuple[str, str, float], ...] = (
    ("16-ary 2-tree", "dfsssp", 4000.0),
    ("8-ary 3-tree", "dfsssp", 2000.0),
    ("10-ary 3-tree", "dfsssp", 1000.0),
    ("13-ary 3-tree", "dfsssp", 500.0),
    ("14-ary 3-tree", "dfsssp", 500.0),
    ("torus(7,7,7; 4; 6)", "torus-2QoS", 500.0),
    ("dragonfly(7; 14; 7; 23)", "dfsssp", 500.0),
    ("kautz(7; 3; 1; 6)", "nue", 500.0),
)
"""Fabric, engine, and how many microseconds are simulated."""

STEADY = (
    ("kary-ntree(14; 3; 2200)", "dfsssp"),
    ("torus(7,7,7; 4; 6)", "torus-2QoS"),
    ("dragonfly(7; 14; 7; 23)", "dfsssp"),
    ("kautz(7; 3; 1; 6)", "lash"),
)
"""Result 5 of the fail-in-place study: until the steady state, with default options; aim: under two minutes."""

PEERS = (
    ("InfiniBand model for OMNeT++, flit by flit", 0.08, 0.13),
    ("BookSim2, flit by flit", 0.6, 0.6),
    ("htsim, packets without lanes or credits, 32 flits a packet", 26.0, 26.0),
)
"""Million flit-hops a processor second as measured before on a quiet machine of two cores, not in this run."""


def simulate(fabric: str, engine: str, micros: float) -> dict[str, float]:
    machine = runflat.make(fabric)
    routing = machine.route(engine)
    assert isinstance(routing, runflat.Routing)
    # So narrow an interval is never reached: exactly that time is simulated.
    options = runflat.FlitOptions("sc14", precision=1e-6, most_us=micros)
    found: list[runflat.Flit] = []
    result = timed(lambda: found.append(routing.simulate_flits("uniform", options=options)))
    flit = found[0]
    assert flit.outcome in ("saturated", "cut_short")
    assert flit.simulated_ns == micros * 1000
    packet_hops = flit.flit_hops / 32
    return result | {
        "nodes": machine.node_count,
        "flit_hops": flit.flit_hops,
        "million_flit_hops_a_cpu_s": flit.flit_hops / result["cpu_s"] / 1e6,
        "events_a_packet_hop": flit.events / packet_hops,
        "cpu_s_a_simulated_us": result["cpu_s"] / micros,
        "memory_bound_bytes": flit.memory_bytes,
    }


def until_steady(fabric: str, engine: str) -> dict[str, float]:
    machine = runflat.make(fabric)
    routing = machine.route(engine)
    assert isinstance(routing, runflat.Routing)
    found: list[runflat.Flit] = []
    result = timed(lambda: found.append(routing.simulate_flits("uniform")))
    flit = found[0]
    assert flit.outcome == "steady"
    assert flit.throughput_gb_s is not None
    return result | {
        "nodes": machine.node_count,
        "throughput_gb_s": flit.throughput_gb_s,
        "simulated_us": flit.simulated_ns / 1000,
    }


def repeated(what: str, at: int, repeats: int) -> dict[str, object]:
    """Run a measurement in processes of its own."""
    runs = []
    for _ in range(repeats):
        child = subprocess.run(
            [sys.executable, __file__, what, str(at)], capture_output=True, text=True, check=True
        )
        runs.append(json.loads(child.stdout))
    return {key: record.spread([run[key] for run in runs]) for key in runs[0]}


def measure(at: int) -> dict[str, object]:
    fabric, engine, micros = FABRICS[at]
    own: dict[str, object] = {"fabric": fabric, "engine": engine, "simulated_us": micros}
    return own | repeated("speed", at, REPEATS)


def measure_steady(at: int) -> dict[str, object]:
    fabric, engine = STEADY[at]
    return {"fabric": fabric, "engine": engine, "aim_wall_s": 120} | repeated("steady", at, 1)


def main() -> None:
    if len(sys.argv) > 1:
        what, at = sys.argv[1], int(sys.argv[2])
        done = simulate(*FABRICS[at]) if what == "speed" else until_steady(*STEADY[at])
        print(json.dumps(done))
        return
    head = record.head("make bench", REPEATS)
    results = [measure(at) for at in range(len(FABRICS))]
    steady = [measure_steady(at) for at in range(len(STEADY))]
    peers = [{"simulator": name, "least": least, "most": most} for name, least, most in PEERS]
    record.save(
        HERE / "flit.json",
        head | {"results": results, "steady": steady, "peers_not_measured_here": peers},
    )
    print(f"{head['processor']}, {head['cores']} cores, {REPEATS} repeats, commit {head['commit']}")
    print(
        f"{'':26} {'engine':>10} {'nodes':>6} {'M flit-hops a cpu s (min-max)':>30} {'us a cpu s':>10} {'MiB':>5}"
    )
    for row in results:
        rate, nodes, memory, cost = (
            row[key]
            for key in (
                "million_flit_hops_a_cpu_s",
                "nodes",
                "peak_growth_bytes",
                "cpu_s_a_simulated_us",
            )
        )
        assert isinstance(rate, dict)
        assert isinstance(nodes, dict)
        assert isinstance(memory, dict)
        assert isinstance(cost, dict)
        spread = f"{rate['median']:.1f} ({rate['min']:.1f}-{rate['max']:.1f})"
        size, speed = memory["median"] / 2**20, 1 / cost["median"]
        print(
            f"{row['fabric']:26} {row['engine']:>10} {nodes['median']:6.0f} {spread:>30} {speed:10.1f} {size:5.0f}"
        )
    print("until the steady state, one thread, one run:")
    for row in steady:
        cpu, rate, micros = (row[key] for key in ("cpu_s", "throughput_gb_s", "simulated_us"))
        assert isinstance(cpu, dict)
        assert isinstance(rate, dict)
        assert isinstance(micros, dict)
        print(
            f"{row['fabric']:26} {row['engine']:>10} {cpu['median']:8.1f} cpu s {rate['median']:8.0f} GB/s"
            f" after {micros['median']:,.0f} us"
        )


if __name__ == "__main__":
    main()
