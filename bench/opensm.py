"""Every engine beside OpenSM's, on one machine in one run, and what the largest fabrics take that OpenSM is not asked about.

OpenSM runs on ibsim with the probe of `tests/opensm`: what is compared is the CPU time of its routing thread in the two steps
that make tables, without discovery, without writing tables into switches. Ours is the CPU time of the whole process while it
routes on one thread; with two threads it is the wall time. Each figure comes from a process of its own, and rivals take
turns. OpenSM must have used the engine that was asked for; our tables are walked and proved, outside the time.

A refusal is timed too: what it took to find out. Where a run of OpenSM takes longer than `LONG_S` it is made once, and where
it takes longer than the fabric's limit it is ended.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
# Ahead of this folder, where `opensm` would be this very file.
sys.path.insert(0, str(HERE.parent / "tests"))

import record  # noqa: E402
import tables  # noqa: E402

import runflat  # noqa: E402
from opensm import probe, programs  # noqa: E402
from opensm.missing import Missing  # noqa: E402
from opensm.options import Options  # noqa: E402
from opensm.subnet import Subnet  # noqa: E402
from runflat import Machine, _core  # noqa: E402

COMMAND = "python bench/opensm.py"
REPEATS = 5
OPENSM_REPEATS = 3
LONG_S = 10.0
STAGE = "machines/stage_fdr_2014.ibnetdiscover"

ANYWHERE = ("minhop", "updn", "dor", "sssp", "dfsssp", "lash", "nue", "nue on 1 lane")
TREE = (*ANYWHERE, "ftree")
GRID = (*ANYWHERE, "torus-2QoS")


@dataclass(frozen=True)
class Fabric:
    """A fabric and the engines that are compared on it; `limit_s` ends a run of OpenSM."""

    text: str
    engines: tuple[str, ...]
    limit_s: float = 60
    roots: str = ""

    def machine(self) -> Machine:
        if "/" in self.text:
            return runflat.load(HERE.parent / self.text)
        return runflat.make(self.text)

    def roots_for(self, engine: str, machine: Machine) -> list[str]:
        """Return root switches where an engine cannot do without; one by pattern, else the first switch."""
        names, guids = (machine.switches().column(key) for key in ("name", "guid"))
        if self.roots and engine in ("updn", "ftree"):
            return [
                guid for name, guid in zip(names, guids, strict=True) if re.search(self.roots, name)
            ]
        return guids[:1] if engine == "updn" and not machine.find_roots() else []


FABRICS = (
    Fabric("13-ary 3-tree", TREE, limit_s=180),
    Fabric("10-ary 3-tree", TREE),
    Fabric("torus(6,6,6)", GRID),
    Fabric("torus(8,8,8; 1; 2)", GRID),
    Fabric("mesh(8,8,4; 1; 4)", GRID),
    Fabric("random-regular(250; 12; 4)", ANYWHERE),
    Fabric("dragonfly(4,8,4)", ANYWHERE),
    Fabric("deimos", TREE, roots="spine"),
    Fabric("tsubame2(rails=1)", TREE, roots="spine"),
    Fabric(STAGE, TREE),
)
LONG = (
    Fabric("torus(10,10,10)", GRID, limit_s=600),
    Fabric("torus(13,13,13)", GRID, limit_s=600),
)
"""Measured with `--long` alone: minutes for every run of OpenSM."""

VARIANTS: dict[str, tuple[str, ...]] = {"dfsssp": ("dfsssp", "dfsssp(pairs=all)")}
"""OpenSM's DFSSSP lays out the routes of switches too; ours does if told `pairs=all`."""

SCALE = (
    ("fat-tree(36; 3)", "dfsssp", {"wall_s": 10.0}),
    ("35-ary 3-tree", "minhop", {"wall_s": 60.0, "peak_bytes": 8 * 2**30}),
    ("35-ary 3-tree", "sssp", {"wall_s": 150.0, "peak_bytes": 8 * 2**30}),
)
CHOICES = ("dfsssp(layering=offline)", "dfsssp(layering=online)",
           "lash(switches=all)", "lash(switches=with-nodes)")  # fmt: skip
LANES_MAX = 15


def ours(
    fabric: Fabric, engine: str, threads: int, roots: list[str], inputs: dict[str, Any]
) -> dict[str, Any]:
    """Route in this process, which must not have routed before: threads are counted once."""
    os.environ["RAYON_NUM_THREADS"] = str(threads)
    machine = fabric.machine()
    if engine.startswith("torus-2QoS"):
        inputs = {**inputs, "torus_conf": machine.torus_conf()}
    if engine.endswith(" on 1 lane"):
        engine, inputs = engine.removesuffix(" on 1 lane"), {**inputs, "max_vl": 1}
    answers: list[runflat.Routing | runflat.Refusal] = []
    found: dict[str, Any] = dict(
        record.timed(lambda: answers.append(machine.route(engine, roots=roots, **inputs)))
    )
    (answer,) = answers
    if threads == 1:
        # Without the start of the thread pool and all else that a process pays once.
        again = record.timed(lambda: machine.route(engine, roots=roots, **inputs))
        found["again_cpu_s"] = again["cpu_s"]
    if isinstance(answer, runflat.Refusal):
        return found | {"outcome": "refused", "reason": answer.reason}
    checks: list[runflat.Check] = []
    proof = record.timed(lambda: checks.append(answer.check()))
    assert checks[0].verdict != "incomplete", (fabric, engine, checks[0].unreachable)
    return found | {
        "outcome": checks[0].verdict, "layers": answer.layers, "pairs": checks[0].pairs,
        "check_wall_s": proof["wall_s"], "check_peak_bytes": proof["peak_bytes"],
    }  # fmt: skip


def theirs(
    fabric: Fabric, engine: str, machine: Machine, subnet: Subnet, plugin: Path
) -> dict[str, Any]:
    """Run OpenSM once."""
    engine, _, one_lane = engine.partition(" on ")
    grid, nue = engine == "torus-2QoS", engine == "nue"
    # Without QoS OpenSM's Nue takes one lane, whatever it is allowed.
    config = {"nue_max_num_vls": "1" if one_lane else "8"} if nue else {}
    options = Options(
        probe=plugin, times_only=True, timeout_s=fabric.limit_s, qos=grid or nue, config=config,
        torus=(machine.torus_conf() or "") if grid else "",
        roots=fabric.roots_for(engine, machine),
    )  # fmt: skip
    with record.Watch() as watch:
        try:
            answer = subnet.route(engine, options)
        except TimeoutError:
            return {"outcome": f"not finished in {fabric.limit_s:g} s", "total_s": fabric.limit_s}
    assert answer.engine in (engine, None), f"{answer.engine} in place of {engine}"
    steps = [step for step in answer.steps if step.engine == engine]
    shutil.rmtree(answer.folder)
    return {
        "outcome": "refused" if answer.engine is None else "routed",
        "reason": answer.failure,
        "cpu_s": sum(step.cpu_s for step in steps),
        "wall_s": sum(step.wall_s for step in steps),
        "total_s": watch.seconds,
    }


def compared(
    fabric: Fabric, engine: str, folder: Path, plugin: Path, pool: ProcessPoolExecutor
) -> dict[str, Any]:
    """Measure one engine on one fabric, rivals in turn."""
    machine = fabric.machine()
    roots = fabric.roots_for(engine, machine)
    runs: dict[str, list[dict[str, Any]]] = {"opensm": []}
    with Subnet(machine, folder) as subnet:
        for repeat in range(REPEATS):
            done = runs["opensm"]
            if repeat < OPENSM_REPEATS and (not done or done[0]["total_s"] <= LONG_S):
                done.append(theirs(fabric, engine, machine, subnet, plugin))
            for variant in VARIANTS.get(engine, (engine,)):
                for mode, inputs in (("as OpenSM", {"compat": "opensm"}), ("default", {})):
                    for threads in (1, 2):
                        run = pool.submit(ours, fabric, variant, threads, roots, inputs).result()
                        runs.setdefault(f"{variant}, {mode}, {threads}", []).append(run)
    shutil.rmtree(folder)
    return {
        "fabric": fabric.text, "nodes": machine.node_count, "switches": machine.switch_count,
        "links": machine.switch_link_count, "engine": engine, "roots": len(roots),
        "runs": {name: summed(run) for name, run in runs.items()},
    }  # fmt: skip


def summed(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Sum up repeats: words as in the first, numbers by their spread."""
    found: dict[str, Any] = {"repeats": len(runs)}
    for key, value in runs[0].items():
        same = isinstance(value, (str, int, type(None)))
        found[key] = value if same else record.spread([run[key] for run in runs if key in run])
    assert len({run["outcome"] for run in runs}) == 1, runs
    return found


def scaled(
    text: str, engine: str, goals: dict[str, float], pool: ProcessPoolExecutor
) -> dict[str, Any]:
    """Measure a fabric that OpenSM is not asked about, on all cores."""
    fabric, threads = Fabric(text, ()), os.cpu_count() or 1
    runs = [pool.submit(ours, fabric, engine, threads, [], {}).result() for _ in range(3)]
    return {"fabric": text, "engine": engine, "goals": goals, **summed(runs)}


def chosen(fabric: Fabric, pool: ProcessPoolExecutor) -> dict[str, Any]:
    """Compare the options of DFSSSP and LASH: lanes that they need, up to as many as there can be, and time."""
    found: dict[str, Any] = {"fabric": fabric.text}
    for choice in CHOICES:
        inputs = {"max_vl": LANES_MAX}
        runs = [pool.submit(ours, fabric, choice, 1, [], inputs).result() for _ in range(3)]
        found[choice] = summed(runs)
    return found


def main() -> None:
    long = sys.argv[1:] == ["--long"]
    if sys.argv[1:] and not long:
        sys.exit(f"usage: {COMMAND} [--long]")
    try:
        program = programs.path("opensm")
        programs.path("ibsim")
        programs.shim()
    except Missing as missing:
        print(f"nothing to compare with: {missing}", file=sys.stderr)
        return
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    release = re.search(r"OpenSM (\S+)", version.stdout + version.stderr)
    head = record.head(COMMAND + " --long" * long, REPEATS) | {
        "opensm": release[1] if release else "unknown",
        "opensm_repeats": OPENSM_REPEATS,
        "opensm_flags": "-R ENGINE,no_fallback -o; log_flags 0x03; torus-2QoS also -Q and a conf, "
        "nue -Q and nue_max_num_vls 8 or 1",
    }
    engines = {engine["name"] for engine in _core.engines()}
    folder = Path(tempfile.mkdtemp(prefix="runflat-bench-"))
    # Children start from a process that has imported everything and routed nothing.
    context = get_context("forkserver")
    context.set_forkserver_preload(["runflat"])
    results, fabrics = [], LONG if long else FABRICS
    try:
        plugin = probe.build(folder / "probe")
        with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as pool:
            for fabric in fabrics:
                for engine in fabric.engines:
                    if engine.partition(" on ")[0] not in engines:
                        continue
                    row = compared(fabric, engine, folder / "subnet", plugin, pool)
                    print(tables.progress(row), file=sys.stderr, flush=True)
                    results.append(row)
            choices = [chosen(fabric, pool) for fabric in fabrics]
            scale = [] if long else [scaled(*measurement, pool) for measurement in SCALE]
    finally:
        shutil.rmtree(folder)
    whole = head | {"results": results, "choices": choices, "scale": scale}
    record.save(HERE / ("opensm-long.json" if long else "opensm.json"), whole)
    print(tables.page(whole))


if __name__ == "__main__":
    main()
