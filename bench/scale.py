"""Largest machines: time to generate, import, route, check and break them, and memory an endpoint.

Each measurement runs in a process of its own, several times; times are seconds of wall clock and of processor, memory is the
growth of the process's peak. The bound: generating and importing are linear in cables and limited by memory traffic; MinHop
and the check are LIDs x switches table entries, walked once each.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import record
from record import timed

import runflat

REPEATS = 5
HERE = Path(__file__).parent
FAT_TREE = "fat-tree(36; 3)"
TORUS = "torus(40x40x40)"
FABRIC = Path(tempfile.gettempdir()) / "runflat-bench-fabric.ibnetdiscover"


def generate(text: str, nodes: int) -> dict[str, float]:
    made: list[runflat.Machine] = []
    result = timed(lambda: made.append(runflat.make(text)))
    assert made[0].node_count == nodes
    return result | {"bytes_an_endpoint": result["peak_growth_bytes"] / nodes}


def import_fabric() -> dict[str, float]:
    read: list[runflat.Machine] = []
    result = timed(lambda: read.append(runflat.load(FABRIC)))
    assert (read[0].node_count, read[0].switch_count) == (11_664, 1_620)
    return result | {"bytes_an_endpoint": result["peak_growth_bytes"] / 11_664}


def route_and_check(engine: str) -> dict[str, float]:
    machine = runflat.make(FAT_TREE)
    checks: list[runflat.Check] = []

    def action() -> None:
        routing = machine.route(engine)
        assert isinstance(routing, runflat.Routing)
        checks.append(routing.check())

    result = timed(action)
    assert (checks[0].verdict, checks[0].pairs) == ("ok", 11_664 * 11_663)
    return result | {"bytes_an_endpoint": result["peak_growth_bytes"] / 11_664}


def break_connected() -> dict[str, float]:
    machine = runflat.make(FAT_TREE)
    broken: list[runflat.Machine] = []
    result = timed(lambda: broken.append(machine.fail(links="1%", keep_connected=True)))
    assert broken[0].failed_counts[0] == 233
    assert not broken[0].cut_nodes()
    return result


def count_lost_paths() -> dict[str, float]:
    machine = runflat.make(FAT_TREE)
    routing = machine.route("minhop")
    assert isinstance(routing, runflat.Routing)
    broken = machine.fail(links="1%")
    lost: list[int] = []
    result = timed(lambda: lost.append(routing.lost_paths(broken)))
    assert lost[0] > 0
    return result


MEASUREMENTS: dict[str, tuple[str, float | None, Callable[[], dict[str, float]]]] = {
    "generate-fat-tree": (
        "generate 11,664 nodes, three-level 36-port fat tree", 1.0,
        lambda: generate(FAT_TREE, 11_664),
    ),
    "import-fat-tree": ("import the same from ibnetdiscover text", 1.0, import_fabric),
    "generate-torus": (
        "generate 64,000 nodes, 40x40x40 torus", 2.0, lambda: generate(TORUS, 64_000),
    ),
    "minhop-check": (
        "MinHop and full check, 136,037,232 pairs", 10.0, lambda: route_and_check("minhop"),
    ),
    "updn-check": ("Up*/Down* and full check", None, lambda: route_and_check("updn")),
    "fail-connected": ("fail 1 % of the links, kept connected", None, break_connected),
    "lost-paths": ("count lost paths of one fault pattern", None, count_lost_paths),
}  # fmt: skip


def measure(name: str) -> dict[str, object]:
    title, goal_s, _ = MEASUREMENTS[name]
    runs = []
    for _ in range(REPEATS):
        child = subprocess.run(
            [sys.executable, __file__, name], capture_output=True, text=True, check=True
        )
        runs.append(json.loads(child.stdout))
    summary: dict[str, object] = {"title": title, "goal_wall_s": goal_s}
    for key in runs[0]:
        summary[key] = record.spread([run[key] for run in runs])
    return summary


def main() -> None:
    if len(sys.argv) == 2:
        print(json.dumps(MEASUREMENTS[sys.argv[1]][2]()))
        return
    head = record.head("make bench", REPEATS)
    FABRIC.write_text(runflat.make(FAT_TREE).write("ibnetdiscover"))
    try:
        results = {name: measure(name) for name in MEASUREMENTS}
    finally:
        FABRIC.unlink()
    record.save(HERE / "scale.json", head | {"results": results})
    print(f"{head['processor']}, {head['cores']} cores, {REPEATS} repeats, commit {head['commit']}")
    print(f"{'':58} {'wall s (min-max)':>22} {'cpu s':>7} {'B/endpoint':>10}  goal")
    for result in results.values():
        wall, cpu = result["wall_s"], result["cpu_s"]
        memory = result.get("bytes_an_endpoint")
        assert isinstance(wall, dict)
        assert isinstance(cpu, dict)
        spread = f"{wall['median']:.3f} ({wall['min']:.3f}-{wall['max']:.3f})"
        size = f"{memory['median']:,.0f}" if isinstance(memory, dict) else ""
        goal = f"< {result['goal_wall_s']:g} s" if result["goal_wall_s"] else ""
        print(f"{result['title']:58} {spread:>22} {cpu['median']:7.3f} {size:>10}  {goal}")


if __name__ == "__main__":
    main()
