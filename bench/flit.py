"""Flit simulation: flit-hops a processor second and memory, from 256 to 2,744 nodes; and how long the steady state takes.

Saturated uniform traffic of one MTU, preset `sc14`, a fixed time simulated, one thread; each measurement in a process of its own,
fabrics in turn, several rounds. A flit-hop is a flit that crosses a channel. The bound: some 20 cache lines a packet and hop, so what matters
is how many of them the processor's caches hold; a packet and hop of 32 flits takes less than two events.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

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
    ("kautz(7; 3; 1; 6)", "lash", 2000.0),
)
"""Fabric, engine, and how many microseconds are simulated."""

STEADY = (
    ("kary-ntree(14; 3; 2200)", "dfsssp"),
    ("torus(7,7,7; 4; 6)", "torus-2QoS"),
    ("dragonfly(7; 14; 7; 23)", "dfsssp"),
    ("kautz(7; 3; 1; 6)", "lash"),
)
"""Result 5 of the fail-in-place study, by the routings it names, aim: under two minutes."""

PRECISION = 0.25
"""Half the 99 % interval of a node's bandwidth, relative to the mean: the study's."""

SMALL, LARGE = "16-ary 2-tree", "13-ary 3-tree"
"""256 and 2,197 nodes: the cost of a flit-hop on the one is compared with the other's in the same round."""

PEERS = (
    ("InfiniBand model for OMNeT++, flit by flit", 0.08, 0.13),
    ("BookSim2, flit by flit", 0.6, 0.6),
    ("htsim, packets without lanes or credits, 32 flits a packet", 26.0, 26.0),
)
"""Million flit-hops a processor second as measured before on a quiet machine of two cores, not in this run."""


def simulate(at: int) -> dict[str, float]:
    fabric, engine, micros = FABRICS[at]
    # So narrow an interval is never reached: exactly that time is simulated.
    found, result = measured(
        fabric, engine, runflat.FlitOptions("sc14", precision=1e-6, most_us=micros)
    )
    assert found.outcome in ("saturated", "cut_short")
    assert found.simulated_ns == micros * 1000
    return result | {
        "flit_hops": found.flit_hops,
        "million_flit_hops_a_cpu_s": found.flit_hops / result["cpu_s"] / 1e6,
        "events_a_packet_hop": found.events / (found.flit_hops / 32),
        "cpu_s_a_simulated_us": result["cpu_s"] / micros,
        "memory_bound_bytes": found.memory_bytes,
    }


def until_steady(at: int) -> dict[str, Any]:
    fabric, engine = STEADY[at]
    found, result = measured(fabric, engine, runflat.FlitOptions("sc14", precision=PRECISION))
    own: dict[str, Any] = {"fabric": fabric, "engine": engine, "precision": PRECISION}
    return own | {
        "outcome": found.outcome,
        "throughput_gb_s": found.throughput_gb_s,
        "simulated_us": found.simulated_ns / 1000,
        "cpu_s": result["cpu_s"],
    }


def measured(
    fabric: str, engine: str, options: runflat.FlitOptions
) -> tuple[runflat.Flit, dict[str, float]]:
    machine = runflat.make(fabric)
    routing = machine.route(engine)
    assert isinstance(routing, runflat.Routing)
    found: list[runflat.Flit] = []
    result = timed(lambda: found.append(routing.simulate_flits("uniform", options=options)))
    assert result["peak_growth_bytes"] <= found[0].memory_bytes
    return found[0], result | {"nodes": machine.node_count}


def apart(what: str, at: int) -> dict[str, Any]:
    """Run a measurement in a process of its own."""
    child = subprocess.run(
        [sys.executable, __file__, what, str(at)], stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, Any] = json.loads(child.stdout)
    return found


def main() -> None:
    if len(sys.argv) > 1:
        what, at = sys.argv[1], int(sys.argv[2])
        print(json.dumps(simulate(at) if what == "speed" else until_steady(at)))
        return
    head = record.head("make bench", REPEATS)
    rounds = [[apart("speed", at) for at in range(len(FABRICS))] for _ in range(REPEATS)]
    results = [
        {"fabric": fabric, "engine": engine, "simulated_us": micros}
        | {key: record.spread([runs[at][key] for runs in rounds]) for key in rounds[0][at]}
        for at, (fabric, engine, micros) in enumerate(FABRICS)
    ]
    names = [fabric for fabric, _, _ in FABRICS]
    rate = "million_flit_hops_a_cpu_s"
    small, large = names.index(SMALL), names.index(LARGE)
    dearer = record.spread([runs[small][rate] / runs[large][rate] for runs in rounds])
    steady = [apart("steady", at) for at in range(len(STEADY))]
    peers = [{"simulator": name, "least": least, "most": most} for name, least, most in PEERS]
    record.save(
        HERE / "flit.json",
        head
        | {"results": results, "flit_hop_dearer_than_on_256_nodes": dearer}
        | {"steady": steady, "peers_not_measured_here": peers},
    )
    print(f"{head['processor']}, {head['cores']} cores, {REPEATS} rounds, commit {head['commit']}")
    print(
        f"{'':26} {'engine':>10} {'nodes':>6} {'M flit-hops a cpu s (min-max)':>30} {'us a cpu s':>10} {'MiB':>5}"
    )
    for row in results:
        found, nodes = row[rate], row["nodes"]["median"]
        spread = f"{found['median']:.1f} ({found['min']:.1f}-{found['max']:.1f})"
        size = row["peak_growth_bytes"]["median"] / 2**20
        speed = 1 / row["cpu_s_a_simulated_us"]["median"]
        print(
            f"{row['fabric']:26} {row['engine']:>10} {nodes:6.0f} {spread:>30} {speed:10.1f} {size:5.0f}"
        )
    print(f"a flit-hop on the {LARGE} costs {dearer['median']:.2f} times one on the {SMALL}")
    print("until the steady state, one thread, one run:")
    for row in steady:
        rate_gb_s = row["throughput_gb_s"] or 0.0
        print(
            f"{row['fabric']:26} {row['engine']:>10} {100 * row['precision']:3.0f} % {row['outcome']:>9} "
            f"{row['cpu_s']:8.1f} cpu s {rate_gb_s:8.0f} GB/s after {row['simulated_us']:,.0f} us"
        )


if __name__ == "__main__":
    main()
