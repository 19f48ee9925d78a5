"""Machines: made, read, counted, measured and broken; compared with networkx and rustworkx."""

import itertools
from pathlib import Path

import networkx as nx
import pytest
import rustworkx as rx
from hypothesis import given, settings

import arrow
import runflat
from command import STAGE
from fabric import Fabric, broken_machines, machines
from runflat import Machine, Table


@pytest.fixture(scope="module")
def stage() -> Machine:
    return runflat.load(STAGE)


def attached(fabric: Fabric) -> list[tuple[int, int, int]]:
    """(node, plane, switch) of every node that can send into a plane."""
    found = []
    for plane in sorted(set(fabric.plane.values())):
        for node in fabric.nodes_in(plane):
            injector = fabric.injector(node, plane)
            switch = None if injector is None else fabric.switch_of(injector)
            if switch is not None:
                found.append((node, plane, switch))
    return found


def test_the_recorded_fabric_has_the_counts_of_its_readme(stage: Machine) -> None:
    assert (stage.switch_count, stage.node_count, stage.switch_link_count) == (8, 144, 47)
    assert not stage.synthetic
    assert len(stage.links()) == 47 + 145
    assert repr(stage).endswith("144 nodes, 8 switches, 47 switch links>")


@settings(deadline=None, max_examples=60)
@given(machine=broken_machines())
def test_distances_are_those_of_networkx_and_rustworkx(machine: Machine) -> None:
    fabric = Fabric(machine)
    graph = rx.PyGraph(multigraph=True)
    graph.add_nodes_from(range(fabric.switch_count))
    graph.extend_from_edge_list([(a, b) for a, b in fabric.alive.edges()])
    matrix = rx.distance_matrix(graph, null_value=-1)
    found = []
    for (a, plane_a, at), (b, plane_b, to) in itertools.permutations(attached(fabric), 2):
        if a != b and plane_a == plane_b and matrix[at, to] >= 0:
            found.append(int(matrix[at, to]))
            assert found[-1] == nx.shortest_path_length(fabric.alive, at, to)
    summary = machine.summary()
    assert summary["diameter"] == max(found, default=None)
    if found:
        assert summary["distance_mean"] == pytest.approx(sum(found) / len(found))
    assert not summary["distances_sampled"]


def main_groups(fabric: Fabric) -> list[set[int]]:
    """The group of each plane with most nodes; then most switches, then the lowest switch."""
    alive = fabric.alive.subgraph(s for s, alive in enumerate(fabric.switch_alive) if alive)
    groups = list(nx.connected_components(alive))

    def nodes(group: set[int]) -> int:
        return len({e[0] for e in fabric.endpoints if fabric.switch_of(e) in group})

    main = []
    for plane in set(fabric.plane.values()):
        own = [group for group in groups if fabric.plane[min(group)] == plane]
        main += [max(own, key=lambda group: (nodes(group), len(group), -min(group)))] if own else []
    return main


@settings(deadline=None, max_examples=100)
@given(machine=broken_machines())
def test_cut_nodes_are_those_that_networkx_finds_outside_the_main_groups(machine: Machine) -> None:
    fabric = Fabric(machine)
    main = set().union(*main_groups(fabric))
    joined = {e[0] - fabric.switch_count for e in fabric.endpoints if fabric.switch_of(e) in main}
    names = machine.nodes().column("name")
    expected = [
        name for node, name in enumerate(names) if fabric.node_alive[node] and node not in joined
    ]
    assert machine.cut_nodes() == expected


@settings(deadline=None, max_examples=60)
@given(machine=broken_machines())
def test_the_summary_counts_what_is_alive(machine: Machine) -> None:
    fabric = Fabric(machine)
    summary = machine.summary()
    usable = [channel for channel in range(0, len(fabric.tail), 2) if fabric.usable[channel]]
    assert summary["switches"] == sum(fabric.switch_alive)
    assert summary["nodes"] == sum(fabric.node_alive)
    assert summary["links"] == sum(fabric.is_switch_channel(channel) for channel in usable)
    assert summary["node_links"] == len(usable) - summary["links"]
    assert summary["leaf_switches"] == len({s for s in map(fabric.switch_of, fabric.endpoints)
                                            if s is not None})  # fmt: skip


@settings(deadline=None, max_examples=40)
@given(machine=machines())
def test_our_json_keeps_every_machine(machine: Machine) -> None:
    again, warnings = runflat._core.Machine.read(machine.write("json").encode(), "again")
    assert warnings == []
    assert Machine(again).links().to_rows() == machine.links().to_rows()
    assert machine.diff(Machine(again))["differences"] == []


def test_breaking_a_machine_leaves_the_original_alone(stage: Machine) -> None:
    def seen(machine: Machine) -> tuple[object, ...]:
        tables = machine.switches(), machine.nodes(), machine.links()
        return *(table.to_rows() for table in tables), machine.summary(), machine.failed_counts

    before = seen(stage)
    broken = stage.fail(links=5, switches=1, nodes=2)
    assert broken.failed_counts == (5, 1, 2)
    assert seen(broken) != before
    assert seen(stage) == before


def test_breaking_keeps_numbers_and_names_of_parts(stage: Machine) -> None:
    broken = stage.fail(links=5, switches=1)
    for table in ("switches", "nodes", "links"):
        old, new = getattr(stage, table)(), getattr(broken, table)()
        assert old.column("index") == new.column("index")
        assert old.column("name") == new.column("name")


def test_breaking_twice_adds_up(stage: Machine) -> None:
    once = stage.fail(links=3, seed=1)
    twice = once.fail(links=4, seed=2)
    assert twice.failed_counts[0] == 7
    assert set(once.faults.links) < set(twice.faults.links)


def test_the_same_seed_makes_the_same_machine_and_another_seed_another() -> None:
    cables = [
        runflat.make("random-regular(24; 4)", seed=seed).links().to_rows() for seed in (5, 5, 6)
    ]
    assert cables[0] == cables[1]
    assert cables[0] != cables[2]


def test_notation_and_parameters_make_the_same_machine() -> None:
    by_notation = runflat.make("torus(4,3; 2)")
    by_parameters = runflat.make("torus", shape=[4, 3], parallel=2)
    assert by_notation.links().to_rows() == by_parameters.links().to_rows()
    assert by_notation.synthetic


def test_odd_lines_of_a_file_come_back_as_warnings_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "odd.ibnetdiscover"
    lines = STAGE.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([*lines[:20], "ibwarn: timed out\n", *lines[20:]]), encoding="utf-8")
    machine = runflat.load(path)
    assert len(machine.warnings) == 1
    assert machine.warnings[0].startswith(f"{path}:21: skipped `ibwarn: timed out`")
    assert machine.links().to_rows() == runflat.load(STAGE).links().to_rows()


ROWS = [
    {"number": 2**64 - 1, "share": 0.25, "name": "leaf ü", "good": True},
    {"number": None, "share": None, "name": None, "good": None},
]
COLUMNS = [("number", "int"), ("share", "float"), ("name", "str"), ("good", "bool")]


def test_a_table_survives_parquet_with_its_metadata() -> None:
    table = Table.from_rows(COLUMNS, ROWS)
    again = Table.from_parquet(table.to_parquet([("seed", "1"), ("note", "ä")]))
    assert again.to_rows() == ROWS
    assert again.column_names == [name for name, _ in COLUMNS]
    assert again.metadata == {"seed": "1", "note": "ä"}
    assert again.to_parquet([("seed", "1"), ("note", "ä")]) == table.to_parquet(
        [("seed", "1"), ("note", "ä")]
    )


def test_an_empty_table_survives_parquet() -> None:
    again = Table.from_parquet(Table.from_rows(COLUMNS, []).to_parquet([]))
    assert len(again) == 0
    assert again.column_names == [name for name, _ in COLUMNS]


def test_parquet_that_is_cut_short_is_refused() -> None:
    data = Table.from_rows(COLUMNS, ROWS).to_parquet([])
    for size in (0, 4, len(data) // 2, len(data) - 1):
        with pytest.raises(runflat.TableError):
            Table.from_parquet(data[:size])


def test_a_table_names_the_columns_it_has() -> None:
    with pytest.raises(runflat.TableError, match="no column `speed`; there are number, share"):
        Table.from_rows(COLUMNS, ROWS).column("speed")
    with pytest.raises(runflat.TableError, match="kinds are int, float, str, bool"):
        Table.from_rows([("number", "complex")], ROWS)


def test_a_table_speaks_arrows_stream_interface(stage: Machine) -> None:
    formats, numbers = arrow.read(stage.links())
    assert formats == {
        "index": "L", "a": "L", "a_port": "L", "b": "L", "b_port": "L", "name": "u", "rate": "u",
        "alive": "b",
    }  # fmt: skip
    assert numbers == list(range(192))


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_a_table_is_read_by(library: str, stage: Machine) -> None:
    reader = pytest.importorskip(
        library, reason=f"{library} is not installed: pip install {library}"
    )
    table = stage.switches()
    if library == "polars":
        assert reader.DataFrame(table)["name"].to_list() == table.column("name")
    else:
        assert reader.table(table)["name"].to_pylist() == table.column("name")
