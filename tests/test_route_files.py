"""Tables through files and back, from the command line."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest

import runflat
from command import STAGE, run
from runflat import Routing

TORUS = "torus(4,4; 2; 4)"


@pytest.mark.parametrize("format", ["opensm", "ibroute", "fdbs"])
@pytest.mark.parametrize("lmc", [0, 2])
def test_exported_tables_are_checked_like_those_of_the_engine(
    format: str, lmc: int, tmp_path: Path
) -> None:
    engine = ["--engine", "dfsssp", "--lmc", lmc]
    out = tmp_path / "tables"
    exported = run("route", "export", TORUS, *engine, "--to", format, "-o", out, "--json").json
    assert exported["verdict"] == "ok"
    tables, guid2lid, levels = (Path(path) for path in exported["files"])
    files = ["--lft", tables, "--guid2lid", guid2lid, "--sl", levels]
    again = run("route", "check", TORUS, *files, "--json").json
    first = run("route", TORUS, *engine, "--json").json
    same = first.keys() & again.keys() - {"seconds", "reason", "version"}
    assert {key: again[key] for key in same} == {key: first[key] for key in same}
    machine = runflat.make(TORUS)
    read = Routing.read(machine, tables, guid2lid=guid2lid, sl=levels)
    routing = machine.route("dfsssp", lmc=lmc)
    assert isinstance(routing, Routing)
    np.testing.assert_array_equal(read.tables, routing.tables)


def test_without_its_lanes_a_routing_is_checked_on_lane_0(tmp_path: Path) -> None:
    out = tmp_path / "tables"
    run("route", "export", TORUS, "--engine", "dfsssp", "-o", out)
    answer = run("route", "check", TORUS, "--lft", out / "opensm-lfts.dump")
    assert answer.status == 1
    assert "credit loop on lane 0" in answer.out


def test_an_export_says_how_opensm_loads_it_and_what_is_lost(tmp_path: Path) -> None:
    out = tmp_path / "tables"
    answer = run("route", "export", TORUS, "--engine", "lash", "-o", out)
    assert "-R file,no_fallback -U" in answer.out
    assert "not free from deadlock when loaded like this" in answer.out
    assert "-R lash,no_fallback" in answer.out


def test_tables_of_a_file_are_simulated(tmp_path: Path) -> None:
    run("route", "export", STAGE, "-o", tmp_path / "tables")
    files = ["--lft", tmp_path / "tables" / "opensm-lfts.dump"]
    from_file = run("simulate", STAGE, *files, "--json").json
    from_engine = run("simulate", STAGE, "--json").json
    assert from_file["throughput_gb_s"] == from_engine["throughput_gb_s"]
    assert from_file["lft"] == str(files[1])


def test_broken_fabrics_are_checked_with_their_old_tables(tmp_path: Path) -> None:
    faults = tmp_path / "faults.json"
    run("faults", "draw", STAGE, "--links", "2", "-o", faults)
    run("route", "export", STAGE, "-o", tmp_path / "tables")
    files = ["--lft", tmp_path / "tables" / "opensm-lfts.dump", "--faults", faults]
    answer = run("route", "check", STAGE, *files, "--json")
    assert answer.json["verdict"] == "incomplete"
    intact, broken = runflat.load(STAGE), runflat.load(STAGE).fail(links=2)
    routing = intact.route("minhop")
    assert isinstance(routing, Routing)
    assert answer.json["unreachable_pairs"] == routing.lost_paths(broken)


def test_a_comparison_tells_what_an_outage_costs(tmp_path: Path) -> None:
    faults = tmp_path / "faults.json"
    run("faults", "draw", STAGE, "--links", "2", "-o", faults)
    rows = run("route", "compare", STAGE, "--faults", faults, "--json").json["rows"]
    by_engine = {row["engine"]: row for row in rows}
    assert by_engine["minhop"]["lost_paths"] > 0
    assert by_engine["minhop"]["changed_entries"] > 0
    refused = [row for row in rows if row["outcome"] == "refused"]
    assert all(row["reason"] and row["verdict"] is None for row in refused)


def test_bad_table_files_are_refused_with_what_to_do(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("no tables here\n")
    answer = run("route", "check", STAGE, "--lft", wrong)
    assert answer.status == 2
    assert str(wrong) in answer.err
    assert run("route", "check", STAGE, "--lft", tmp_path / "none").status == 2
    assert run("route", "export", STAGE, "-o", wrong / "such").status == 2


def test_an_update_is_ordered_and_written_down(tmp_path: Path) -> None:
    faults, order = tmp_path / "faults.json", tmp_path / "writes.csv"
    run("faults", "draw", STAGE, "--links", "2", "-o", faults)
    answer = run("route", "update", STAGE, "--faults", faults, "-o", order, "--json").json
    compared = run("route", "compare", STAGE, "--faults", faults, "--engines", "minhop", "--json")
    row = compared.json["rows"][0]
    assert answer["changed_entries"] == row["changed_entries"] > 0
    assert answer["lost_paths"] == row["lost_paths"] > 0
    header, *writes = order.read_text().splitlines()
    assert header == "round,switch,block,set,clear,switch_guid,ports"
    assert len(writes) == answer["changed_blocks"] + answer["extra_writes"]
    rounds = [int(line.split(",")[0]) for line in writes]
    assert rounds == sorted(rounds)


def test_the_writes_of_an_update_hold_the_new_tables(tmp_path: Path) -> None:
    faults, order = tmp_path / "faults.json", tmp_path / "writes.csv"
    grid = ["torus(4,4)", "--engine", "nue"]
    run("faults", "draw", grid[0], "--links", "2", "-o", faults)
    run("route", "update", *grid, "--faults", faults, "-o", order)
    blocks: dict[tuple[str, str], str] = {}
    with order.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            blocks[row["switch_guid"], row["block"]] = row["ports"]
    tables = tmp_path / "tables"
    run("route", "export", *grid, "--faults", faults, "--to", "ibroute", "-o", tables)
    new: dict[str, dict[int, int]] = {}
    for line in (tables / "ibroute.txt").read_text().splitlines():
        if found := re.match(r"Unicast lids .* guid (0x[0-9a-f]+)", line):
            rows = new.setdefault(found[1], {})
        elif found := re.match(r"(0x[0-9a-f]+) ([0-9]+)", line):
            rows[int(found[1], 16)] = int(found[2])
    assert blocks
    for (guid, block), ports in blocks.items():
        held = bytes.fromhex(ports)
        first = 64 * int(block)
        wanted = [new[guid].get(lid, 255) for lid in range(first, first + 64)]
        assert list(held) == wanted


def test_an_update_without_a_change_of_fabric_or_tables_is_a_mistake() -> None:
    answer = run("route", "update", STAGE)
    assert answer.status == 2
    assert "give --faults or --lft" in answer.err


@pytest.mark.parametrize(
    ("format", "loads"), [("opensm", True), ("ibroute", True), ("fdbs", False)]
)
def test_every_export_says_what_becomes_of_the_lanes(
    format: str, loads: bool, tmp_path: Path
) -> None:
    engine = ["--engine", "DFSSSP", "--to", format, "-o", tmp_path / "deep" / "er", "--json"]
    answer = run("route", "export", "torus(4,4)", *engine).json
    assert bool(answer["command"]) == loads
    assert any("opensm -Q -R dfsssp,no_fallback -l 0" in note for note in answer["notes"])
    assert any("OpenSM loads nothing" in note for note in answer["notes"]) != loads


def test_names_of_engines_may_be_written_as_people_do(tmp_path: Path) -> None:
    answer = run(
        "route", "export", "torus(5,5)", "--engine", "torus-2qos", "-o", tmp_path, "--json"
    )
    assert (tmp_path / "torus-2QoS.conf").exists()
    conf = f"--torus_config {tmp_path}/torus-2QoS.conf"
    assert any(conf in note for note in answer.json["notes"])
    assert run("route", "16-ary 2-tree", "--engine", "Fat-Tree").status == 0


def test_tables_of_a_file_are_where_an_update_starts(tmp_path: Path) -> None:
    run("route", "export", STAGE, "--engine", "sssp", "-o", tmp_path / "tables")
    files = ["--lft", tmp_path / "tables" / "opensm-lfts.dump"]
    same = run("route", "update", STAGE, "--engine", "sssp", *files, "--json").json
    assert (same["changed_entries"], same["changed_blocks"], same["rounds"]) == (0, 0, 0)
    other = run("route", "update", STAGE, "--engine", "minhop", *files, "--json").json
    assert other["changed_entries"] > 0


def test_service_levels_that_change_are_counted() -> None:
    machine = runflat.make("torus(5,5)")
    old = machine.route("dfsssp")
    new = machine.fail(switches=2).route("dfsssp")
    assert isinstance(old, Routing)
    assert isinstance(new, Routing)
    levels = [routing.service_levels for routing in (old, new)]
    assert levels[0] is not None
    assert levels[1] is not None
    alive = [name not in new.machine.faults.switches for name in machine.switches().column("name")]
    wanted = np.count_nonzero((levels[0] != levels[1])[alive])
    assert old.update_to(new).changed_levels == wanted > 0
    assert old.update_to(old).changed_levels == 0


def test_an_update_between_machines_is_refused() -> None:
    one, other = (runflat.make(text).route("minhop") for text in ("torus(3,3)", "torus(4,4)"))
    assert isinstance(one, Routing)
    assert isinstance(other, Routing)
    with pytest.raises(runflat.RoutingError, match="different machines"):
        one.update_to(other)


def test_a_comparison_judges_what_cables_join(tmp_path: Path) -> None:
    faults = tmp_path / "faults.json"
    faults.write_text('{"failed_links": [], "failed_switches": ["s1.1"], "failed_nodes": []}')
    answer = run("route", "compare", "torus(4x4)", "--faults", faults, "--json")
    assert answer.status == 0, "some engine serves all who are left"
    rows = {row["engine"]: row for row in answer.json["rows"]}
    assert rows["minhop"]["joined_verdict"] == "deadlock"
    assert rows["minhop"]["cycle"]
    assert rows["dfsssp"]["joined_verdict"] == "ok"
    assert rows["dfsssp"]["cut_pairs"] == rows["dfsssp"]["unreachable_pairs"] > 0
    assert rows["dfsssp"]["verdict"] == "incomplete"
    shown = run("route", "compare", "torus(4x4)", "--faults", faults).out
    assert "cut off by the failures" in shown


def test_an_unknown_workload_is_told_before_anything_is_routed() -> None:
    answer = run("route", "compare", TORUS, "--traffic", "tides")
    assert (answer.status, answer.out) == (2, "")
    assert "there is no workload `tides`" in answer.err


def test_an_export_leaves_nothing_of_another_behind(tmp_path: Path) -> None:
    out = tmp_path / "tables"
    run("route", "export", TORUS, "--engine", "torus-2QoS", "-o", out)
    assert {"sl.csv", "sl2vl.csv", "torus-2QoS.conf"} <= {path.name for path in out.iterdir()}
    run("route", "export", TORUS, "--engine", "minhop", "-o", out)
    assert {path.name for path in out.iterdir()} == {"opensm-lfts.dump", "guid2lid"}


def test_what_opensm_will_run_is_checked_on_one_lane(tmp_path: Path) -> None:
    out = tmp_path / "tables"
    harmless = run("route", "export", "5-ary 3-tree", "--engine", "nue", "-o", out).out
    assert "that is still free from deadlock" in harmless
    deadlock = run("route", "export", TORUS, "--engine", "minhop", "-o", out).out
    assert "note: not free from deadlock: the routes close a credit loop" in deadlock


def test_options_that_say_nothing_together_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "tables"
    run("route", "export", TORUS, "--engine", "torus-2QoS", "-o", out)
    tables = ["--lft", out / "opensm-lfts.dump"]
    answer = run("route", "check", TORUS, *tables, "--sl2vl", out / "sl2vl.csv")
    assert answer.status == 2
    assert "--sl" in answer.err
    for command in (["route", "export", "-o", out], ["simulate"]):
        answer = run(*command, TORUS, *tables, "--engine", "lash")
        assert answer.status == 2
        assert "--engine or --lft" in answer.err


def test_a_check_says_that_lane_0_was_assumed(tmp_path: Path) -> None:
    out = tmp_path / "tables"
    run("route", "export", TORUS, "--engine", "dfsssp", "-o", out)
    tables = ["--lft", out / "opensm-lfts.dump"]
    assert "every route was taken on lane 0" in run("route", "check", TORUS, *tables).out
    with_lanes = run("route", "check", TORUS, *tables, "--sl", out / "sl.csv")
    assert "lane 0" not in with_lanes.out
    assert with_lanes.status == 0


def test_mistakes_in_a_torus_configuration_name_the_file(tmp_path: Path) -> None:
    conf = tmp_path / "torus-2QoS.conf"
    conf.write_text("hello\n")
    answer = run("route", TORUS, "--engine", "torus-2QoS", "--torus-conf", conf)
    assert answer.status == 2
    assert f"{conf}: line 1" in answer.err


def test_the_configuration_in_use_is_exported(tmp_path: Path) -> None:
    conf, out = tmp_path / "torus-2QoS.conf", tmp_path / "tables"
    text = runflat.make(TORUS).torus_conf()
    assert text is not None
    conf.write_text("# ours\n" + text)
    run("route", "export", TORUS, "--engine", "torus-2QoS", "--torus-conf", conf, "-o", out)
    assert (out / "torus-2QoS.conf").read_text() == conf.read_text()


def test_lanes_from_files_need_tables_but_lids_do_not(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    export = ("route", "export", "4-ary 2-tree", "-o")
    assert run(*export, first).status == 0
    for option in ("--sl", "--sl2vl"):
        answer = run(*export, second, option, first / "guid2lid")
        assert answer.status == 2
        assert f"{option} goes with tables from a file: give --lft" in answer.err
    assert run(*export, second, "--guid2lid", first / "guid2lid").status == 0
    assert (first / "guid2lid").read_text() == (second / "guid2lid").read_text()
