import dataclasses
import random
import time

from sample import two_layer_map

from runflat.report import FabricMap, MapCable, MapSwitch
from runflat.report.fabric_map import fabric_map_figure, map_note
from runflat.report.map_cables import STROKES_MAX, strokes
from runflat.report.map_layout import lay_out, short_names


def crossings(fabric: FabricMap) -> int:
    at = lay_out(fabric).positions
    ends = [(at[c.a][0], at[c.b][0]) for c in fabric.cables]
    return sum((a - c) * (b - d) < 0 for i, (a, b) in enumerate(ends) for c, d in ends[i + 1 :])


def torus(side: int) -> FabricMap:
    switches = [MapSwitch(f"t{x}.{y}", 0, 4) for x in range(side) for y in range(side)]
    cables = [
        MapCable(x * side + y, a * side + b, f"t{x}.{y} <-> t{a}.{b}")
        for x in range(side)
        for y in range(side)
        for a, b in (((x + 1) % side, y), (x, (y + 1) % side))
    ]
    return FabricMap("torus", switches, cables)


def large(switch_count: int, cable_count: int) -> FabricMap:
    rng = random.Random(1)
    half = switch_count // 2
    switches = [MapSwitch(f"s{i}", int(i >= half), 10) for i in range(switch_count)]
    cables = [
        MapCable(a, b, f"s{a} <-> s{b}", rng.random() < 0.01, 5, rng.random())
        for a, b in ((rng.randrange(half), half + rng.randrange(half)) for _ in range(cable_count))
    ]
    return FabricMap("large", switches, cables)


def test_leaves_stand_below_spines() -> None:
    fabric = two_layer_map("m", 6, 2, 4, 24, set(), 3)
    layout = lay_out(fabric)
    assert layout.kind == "layered"
    heights = {s.layer: layout.positions[i][1] for i, s in enumerate(fabric.switches)}
    assert heights[0] < heights[1]


def test_barycentre_order_removes_needless_crossings() -> None:
    # Each spine serves two leaves, listed in an order that crosses.
    switches = [MapSwitch(f"l{i}", 0) for i in range(8)] + [MapSwitch(f"s{i}", 1) for i in range(4)]
    pairs = [(leaf, 8 + leaf % 4) for leaf in range(8)]
    assert crossings(FabricMap("m", switches, [MapCable(a, b, "") for a, b in pairs])) == 0


def test_places_do_not_depend_on_failures_or_load() -> None:
    before = two_layer_map("m", 6, 2, 4, 24, set(), 3)
    after = two_layer_map("m", 6, 2, 4, 24, {1, 9, 30}, 77)
    assert lay_out(before) == lay_out(after)


def test_a_grid_uses_its_coordinates_and_else_a_circle() -> None:
    assert lay_out(torus(4)).kind == "circular"
    placed = [dataclasses.replace(s, x=i // 4, y=i % 4) for i, s in enumerate(torus(4).switches)]
    assert lay_out(dataclasses.replace(torus(4), switches=placed)).kind == "given"


def test_wrap_around_cables_bow_around_the_switches_between() -> None:
    placed = [dataclasses.replace(s, x=i // 4, y=i % 4) for i, s in enumerate(torus(4).switches)]
    fabric = dataclasses.replace(torus(4), switches=placed)
    curved = [s for s in strokes(fabric, lay_out(fabric).positions, 0.05).strokes if len(s.xs) > 3]
    assert len(curved) == 8


def test_parallel_cables_are_separate_curves_while_few() -> None:
    fabric = two_layer_map("m", 6, 2, 4, 24, {2}, 3)
    lines = strokes(fabric, lay_out(fabric).positions, 0.1)
    assert not lines.merged
    assert len(lines.strokes) == 48
    assert len({tuple(s.xs) for s in lines.strokes}) == 48
    assert sum(s.failed_count for s in lines.strokes) == 1


def test_many_cables_are_merged_and_failed_ones_are_kept() -> None:
    fabric = large(400, 12_000)
    lines = strokes(fabric, lay_out(fabric).positions, 0.1)
    assert lines.merged
    assert len(lines.strokes) == STROKES_MAX
    assert sum(s.failed_count for s in lines.strokes) == sum(c.failed for c in fabric.cables)
    assert "Only 5,000 of" in map_note(fabric)


def test_two_thousand_switches_are_drawn_in_seconds() -> None:
    start = time.monotonic()
    assert fabric_map_figure(large(2_000, 25_000)) is not None
    assert time.monotonic() - start < 20


def test_short_names_drop_what_all_share() -> None:
    names = [MapSwitch(f"MF0;ib{n}:SX6036/U1") for n in (1, 2, 12)]
    assert short_names(names, 14) == ["ib1", "ib2", "ib12"]
    assert short_names([MapSwitch("same"), MapSwitch("same")], 14) == ["same", "same"]
    assert short_names([MapSwitch("x" * 40)], 14)[0].count("…") == 1


def test_hover_names_both_ends_and_failed_cables_are_dashed() -> None:
    fig = fabric_map_figure(two_layer_map("m", 6, 2, 4, 24, {2}, 3))
    assert fig is not None
    texts = [t for trace in fig.data for t in (trace.text or ()) if isinstance(t, str)]
    assert any("SX6036/U1[19] &lt;-&gt; MF0" in text for text in texts)
    assert any("failed" in text for text in texts)
    assert any(trace.line.dash for trace in fig.data if trace.mode == "lines")


def test_a_map_without_cables_or_switches_is_no_error() -> None:
    assert fabric_map_figure(FabricMap("m", [], [])) is None
    assert fabric_map_figure(FabricMap("m", [MapSwitch("only", nodes=3)], [])) is not None


def test_names_are_written_only_where_they_fit() -> None:
    def named(name: str, count: int) -> bool:
        switches = [MapSwitch(f"{name}{i}", 0, 4) for i in range(count)] + [MapSwitch("spine", 1)]
        cables = [MapCable(i, count, "") for i in range(count)]
        fig = fabric_map_figure(FabricMap("m", switches, cables))
        assert fig is not None
        return any(trace.mode == "markers+text" for trace in fig.data)

    assert named("leaf", 12)
    assert not named("leaf", 60)
    assert not named("a-switch-with-a-long-name-", 18)
