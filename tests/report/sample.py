"""A synthetic study in the sizes of a real fabric: every number here is invented, none measured.

`python tests/report/sample.py OUT.html` writes it as a page, to be looked at.
"""

import random
import sys
from collections.abc import Sequence
from pathlib import Path

from runflat.report import (
    Crossing,
    EngineSeries,
    FabricMap,
    InputFile,
    Level,
    Line,
    LostPaths,
    MachineReport,
    MapCable,
    MapSwitch,
    OutcomeRow,
    Point,
    StudyReport,
    Whisker,
    render,
)

NASTY = '<script>alert("x")</script>&amp;"\'%{y}</textarea>'
SAMPLES = 10


def small_levels() -> list[Level]:
    return [Level("0 %", 0), Level("1 %", 1), Level("2 %", 2), Level("5 %", 5)]


def points(
    rng: random.Random, levels: Sequence[Level], intact: float, slope: float, noise: float
) -> list[Point]:
    result = []
    for level in levels:
        for sample in range(SAMPLES if level.failed_parts else 1):
            rate = (
                intact + level.failed_parts * slope + rng.gauss(0, noise) * (level.failed_parts > 0)
            )
            result.append(
                Point(
                    level.label,
                    level.failed_parts,
                    sample,
                    "routed",
                    "ok",
                    throughput_gb_s=rate,
                    fraction_of_intact=rate / intact,
                )
            )
    return result


def whiskers(levels: Sequence[Level], middle: float) -> list[Whisker]:
    return [
        Whisker(
            level.label,
            middle * (0.6 - 0.06 * n),
            middle * (0.9 - 0.04 * n),
            middle * (1 - 0.03 * n),
            middle * (1.08 - 0.02 * n),
            middle * 1.3,
        )
        for n, level in enumerate(levels)
    ]


def lost(rng: random.Random, engine: str, levels: Sequence[Level], mean: float) -> list[LostPaths]:
    return [
        LostPaths(
            engine,
            level.label,
            level.failed_parts,
            [
                round(sum(rng.gauss(mean, mean / 4) for _ in range(level.failed_parts)))
                for _ in range(100)
            ],
            mean * level.failed_parts,
        )
        for level in levels
        if level.failed_parts
    ]


def two_layer_map(
    title: str, leaves: int, spines: int, parallel: int, nodes: int, failed: set[int], hot: int
) -> FabricMap:
    switches = [MapSwitch(f"MF0;ib{n + 1}:SX6036/U1", 0, nodes) for n in range(leaves)]
    switches += [MapSwitch(f"MF0;ib{leaves + n + 1}:SX6036/U1", 1) for n in range(spines)]
    cables = []
    for leaf in range(leaves):
        for spine in range(spines):
            for lane in range(parallel):
                index = len(cables)
                dead = index in failed
                routes = 0 if dead else 300 + (index * hot) % 700
                cables.append(
                    MapCable(
                        leaf,
                        leaves + spine,
                        f"{switches[leaf].name}[{19 + lane + parallel * spine}] <-> "
                        f"{switches[leaves + spine].name}[{1 + parallel * leaf + lane}]",
                        dead,
                        routes,
                        routes / 1000,
                    )
                )
    return FabricMap(title, switches, cables)


def small_machine() -> MachineReport:
    """8 switches, 144 nodes, 47 switch-switch links: one of the 48 cables is missing."""
    rng = random.Random(1)
    levels = small_levels()
    whole = two_layer_map("MinHop, intact", 6, 2, 4, 24, set(), 37)
    maps = [
        *(
            FabricMap(m.title, m.switches, m.cables[:-1])
            for m in (
                two_layer_map("MinHop, 5 % failed", 6, 2, 4, 24, {3, 11, 17, 30, 41}, 53),
                two_layer_map("Up*/Down*, 5 % failed", 6, 2, 4, 24, {3, 11, 17, 30, 41}, 91),
            )
        ),
        FabricMap(whole.title, whole.switches, whole.cables[:-1]),
    ]
    cycle = [
        f"MF0;ib{n}:SX6036/U1[{n + 18}] -> MF0;ib{n % 3 + 1}:SX6036/U1[{n}]" for n in (1, 2, 3)
    ]
    outcomes = [
        OutcomeRow(engine, level.label, ok=SAMPLES, hops_max=2, vls=1, forwarding_index_max=most,
                   forwarding_index_mean=306.4)
        for engine, most in (("MinHop", 936), ("Up*/Down*", 1008))
        for level in levels[:-1]
    ]  # fmt: skip
    outcomes += [
        OutcomeRow("MinHop", "5 %", ok=9, deadlock=1, hops_max=4, vls=1,
                   forwarding_index_max=1224, forwarding_index_mean=341.2, cycle=cycle),
        OutcomeRow("Up*/Down*", "5 %", ok=8, refused=1, incomplete=1, hops_max=4, vls=1,
                   forwarding_index_max=1410, forwarding_index_mean=344.0,
                   reason="no root switch reaches MF0;ib4:SX6036/U1"),
    ]  # fmt: skip
    minhop = points(rng, levels, 394.0, -15.1, 7.0)
    minhop[-1] = Point("5 %", 5, 9, "routed", "deadlock", reason="3 channels wait for each other")
    updown = points(rng, levels, 401.0, -18.2, 9.0)
    updown[-1] = Point("5 %", 5, 9, "refused", reason="no root switch reaches MF0;ib4:SX6036/U1")
    updown[-2] = Point("5 %", 5, 8, "routed", "incomplete", 268.0, 0.67, "12 pairs unreachable")
    return MachineReport(
        name="stage-like fabric",
        facts=[("nodes", "144"), ("switches", "8"), ("switch links", "47"), ("leaves", "6"),
               ("link rate", "FDR, 6.8 GB/s"), ("samples per level", "10")],
        synthetic=True,
        failure_unit="links",
        levels=levels,
        series=[
            EngineSeries("MinHop", minhop, Line(394.2, -15.0, 0.91), whiskers(levels, 2.74)),
            EngineSeries("Up*/Down*", updown, Line(400.8, -18.1, 0.88), whiskers(levels, 2.7)),
        ],
        lost=lost(rng, "MinHop", levels, 438) + lost(rng, "Up*/Down*", levels, 431),
        crossings=[Crossing(2.13, "Up*/Down*", "MinHop")],
        outcomes=outcomes,
        maps=maps,
    )  # fmt: skip


def tree_machine() -> MachineReport:
    """16-ary 2-tree: 32 switches, 256 nodes, 256 switch-switch links."""
    rng = random.Random(2)
    levels = [Level("0 %", 0), Level("1 %", 3), Level("2 %", 5), Level("5 %", 13)]
    return MachineReport(
        name="16-ary 2-tree",
        facts=[("nodes", "256"), ("switches", "32"), ("switch links", "256")],
        synthetic=True,
        levels=levels,
        series=[
            EngineSeries("MinHop", points(rng, levels, 702, -9, 22), Line(700, -9, 0.55),
                         whiskers(levels, 2.74)),
            EngineSeries("Up*/Down*", points(rng, levels, 760, -17, 30), Line(757, -16.8, 0.71),
                         whiskers(levels, 2.9)),
            EngineSeries("DFSSSP", points(rng, levels, 705, -6, 18), Line(705, -6.1, 0.42),
                         whiskers(levels, 2.76)),
            EngineSeries("Torus-2QoS", [Point(v.label, v.failed_parts, 0, "refused",
                                              reason="not a torus") for v in levels]),
        ],
        lost=lost(rng, "MinHop", levels, 255),
        crossings=[Crossing(7.1, "Up*/Down*", "MinHop")],
        outcomes=[
            OutcomeRow(e, v.label, ok=SAMPLES, hops_max=2, vls=1, forwarding_index_max=300)
            for e in ("MinHop", "Up*/Down*", "DFSSSP") for v in levels
        ] + [OutcomeRow("Torus-2QoS", v.label, refused=1, reason="not a torus") for v in levels],
        maps=[two_layer_map("MinHop, 5 % failed", 16, 16, 1, 16,
                            {5, 17, 44, 60, 82, 99, 120, 140, 160, 187, 200, 222, 250}, 61)],
    )  # fmt: skip


def study() -> StudyReport:
    return StudyReport(
        title="Cable failures, MinHop against Up*/Down* (synthetic example)",
        answers=[
            "With 5 of 47 cables failed, Up*/Down* keeps 76 % (67-81 %) of the throughput and "
            "MinHop 81 % (79-83 %).",
            "Up to two failed cables Up*/Down* is ahead; from the third on MinHop is. "
            "Use MinHop throughout: it costs 2 % today.",
            "MinHop closed a credit loop in 1 of 10 samples at 5 %: check the table before you "
            "load it.",
        ],
        machines=[small_machine(), tree_machine()],
        notes=[
            "Throughput is the max-min fair share of uniform traffic, not a packet simulation.",
            "Failures are uniformly random and independent; real ones cluster.",
            "Re-routing time is not counted.",
        ],
        seed=1,
        version="0.1.0",
        commit="0123abcd",
        command="runflat study run plan.toml && runflat study report out/ -o report.html",
        created="2026-01-01",
        plan_text='seed = 1\n\n[machine]\nfile = "fabric.ibnetdiscover"\n\n[faults]\n'
        "links = [0.0, 0.01, 0.02, 0.05]\nsamples = 10\n",
        inputs=[InputFile("fabric.ibnetdiscover", "9f" * 32), InputFile("roots.txt", "03" * 32)],
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render(study()), encoding="utf-8")
