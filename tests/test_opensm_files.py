"""The files that OpenSM reads and writes: what `opensm/README.md` says of them holds, and the samples are as they were."""

import re
from pathlib import Path

import numpy as np
import pytest

import runflat
from opensm import dumps, programs, samples
from opensm.compare import differences
from opensm.missing import Missing
from opensm.numbering import Numbering
from opensm.options import Options
from opensm.scramble import scrambled
from opensm.subnet import Answer, Subnet
from runflat import Machine

SAMPLES = Path(samples.__file__).with_name("samples")


@pytest.fixture
def _programs() -> None:
    try:
        for name in ("opensm", "ibsim", "ibroute", "dump_fts"):
            programs.path(name)
        programs.shim()
    except Missing as missing:
        pytest.skip(str(missing))


def load(machine: Machine, text: str, tables: str, folder: Path, lmc: int = 0) -> Answer:
    """Have OpenSM's `file` engine load tables."""
    folder.mkdir()
    given = folder / "given.lfts"
    given.write_text(tables, encoding="utf-8")
    with Subnet(machine, folder, text=text) as fabric:
        return fabric.route("file", Options(lmc=lmc, config={"lfts_file": str(given)}))


@pytest.mark.usefixtures("_programs")
def test_the_samples_are_what_the_programs_write(tmp_path: Path) -> None:
    samples.write(tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted(path.name for path in SAMPLES.iterdir())
    for name in names:
        texts = [(folder / name).read_text(encoding="utf-8") for folder in (tmp_path, SAMPLES)]
        fresh, stored = (re.sub("generated on .*", "", text) for text in texts)
        assert fresh == stored, name


def test_the_samples_are_read() -> None:
    machine = runflat.load(SAMPLES / "fabric.net")
    for lmc, end in ((0, ""), (1, ".lmc1")):
        numbering = Numbering.of(machine, lmc)
        lids = dumps.real_lids(numbering, dumps.guid2lid(SAMPLES / f"guid2lid{end}"))
        tables = dumps.tables(SAMPLES / f"opensm-lfts.dump{end}", numbering, lids)
        assert lids.min() > 0
        assert len(set(lids.tolist())) == numbering.lid_count
        assert (tables == dumps.NO_PORT).sum() == 2, "the roots do not reach each other"
    lanes = dumps.sl2vl(SAMPLES / "opensm-sl2vl.dump")
    assert sorted(lanes) == Numbering.of(machine).switches
    assert lanes[0x53000000000001].shape == (5, 5, 16)
    assert (lanes[0x53000000000001][1:, 1:] == np.arange(16) % 8).all()


@pytest.mark.usefixtures("_programs")
@pytest.mark.parametrize("lmc", [0, 1])
def test_the_file_engine_finds_lids_by_port_guid(lmc: int, tmp_path: Path) -> None:
    machine, text = scrambled(runflat.make("torus(4,4; 2; 2)"), 1, lids=False)
    with Subnet(machine, tmp_path / "one", text=text) as fabric:
        old = fabric.route("sssp", Options(lmc=lmc))
    assert old.tables is not None
    dump = (old.folder / "opensm-lfts.dump").read_text(encoding="utf-8")
    given = {guid: lids[0] for guid, lids in old.numbering.dense().items()}
    cache = "".join(
        f"0x{guid:016x} 0x{9000 - 16 * at:04x} 0x{9000 - 16 * at + width - 1:04x}\n\n"
        for guid, at in given.items()
        for width in [len(old.numbering.dense()[guid])]
    )
    file = tmp_path / "old.lfts"
    file.write_text(dump, encoding="utf-8")
    with Subnet(machine, tmp_path / "two", text=text) as fabric:
        options = Options(lmc=lmc, guid2lid=cache, config={"lfts_file": str(file)})
        new = fabric.route("file", options)
    assert new.engine == "file", new.failure
    assert not set(new.lids.tolist()) & set(old.lids.tolist())
    assert new.tables is not None
    assert differences(machine, new.tables, old.tables, lmc=lmc) == []


@pytest.mark.usefixtures("_programs")
def test_the_file_engine_takes_lids_as_they_are_without_port_guids(tmp_path: Path) -> None:
    machine = runflat.load(SAMPLES / "fabric.net")
    text = (SAMPLES / "fabric.net").read_text(encoding="utf-8")
    swapped = (
        text.replace("lid 1 ", "lid x ").replace("lid 4 ", "lid 1 ").replace("lid x ", "lid 4 ")
    )
    full = (SAMPLES / "opensm-lfts.dump").read_text(encoding="utf-8")
    bare = re.sub(" #.*", "", full)
    by_guid = load(machine, swapped, full, tmp_path / "full").tables
    as_is = load(machine, swapped, bare, tmp_path / "bare").tables
    assert by_guid is not None
    assert as_is is not None
    assert (as_is[:, [3, 1, 2, 0, 4, 5, 6, 7]] == by_guid).all()


@pytest.mark.usefixtures("_programs")
@pytest.mark.parametrize("name", ["ibroute", "dump_fts"])
def test_the_file_engine_reads_what_diagnostics_print(name: str, tmp_path: Path) -> None:
    machine = runflat.load(SAMPLES / "fabric.net")
    text = (SAMPLES / "fabric.net").read_text(encoding="utf-8")
    full = load(machine, text, (SAMPLES / "opensm-lfts.dump").read_text(), tmp_path / "one").tables
    printed = load(machine, text, (SAMPLES / name).read_text(), tmp_path / "two").tables
    assert full is not None
    assert printed is not None
    rows = [0] if name == "ibroute" else range(machine.switch_count)
    for row in rows:
        assert (printed[row] == full[row]).all()


@pytest.mark.usefixtures("_programs")
def test_lids_of_guid2lid_win_over_those_of_the_ports(tmp_path: Path) -> None:
    machine = runflat.load(SAMPLES / "fabric.net")
    guids = [*Numbering.of(machine).dense()]
    cache = "".join(
        f"0x{guid:016x} 0x{70 + at:04x} 0x{70 + at:04x}\n\n" for at, guid in enumerate(guids)
    )
    found = []
    for at, options in enumerate(
        [
            Options(guid2lid=cache),
            Options(guid2lid=cache.replace("\n\n", "\n")),
            Options(guid2lid=cache, config={"reassign_lids": "TRUE"}),
        ]
    ):
        with Subnet(machine, tmp_path / str(at)) as fabric:
            found.append(fabric.route("minhop", options).lids.tolist())
    honoured, without_blank_lines, reassigned = found
    assert honoured == [*range(70, 78)]
    assert without_blank_lines == [70, *range(2, 9)], "only the first entry is seen"
    assert sorted(reassigned) == [*range(1, 9)]
