"""Files that start a job on the nodes that a substitution found: read back, and by the real launchers."""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from command import Answer, finish, run
from runflat import spares
from runflat.spares.hosts import Hosts, expand, fold

GRID = ("--shape", "4x3", "--alloc", "2D(1,1)", "--policy", "hybrid(all)")
FILES = ["rankfile.ompi4", "rankfile.ompi5", "hostfile", "MPICH_RANK_ORDER", "SLURM_HOSTFILE"]
SHELL = """#!/bin/bash
# Stands for ssh: drops options, takes the host, runs the rest under its name.
while [[ $1 == -* ]]; do shift; done
host=$1; shift
exec unshare --uts bash -c "hostname $host; $*"
"""


@pytest.fixture
def hosts(tmp_path: Path) -> Path:
    path = tmp_path / "hosts"
    path.write_text("# the rack\nn[07-10]\nlogin1\nn03,n[01-02]\na\nb\nc-x.y\nd-1\n")
    return path


NAMES = ["n07", "n08", "n09", "n10", "login1", "n03", "n01", "n02", "a", "b", "c-x.y", "d-1"]


def substitute(*more: str | Path) -> Answer:
    return run("spares", "substitute", *GRID, *more)


def refused(*arguments: str | Path) -> str:
    answer = substitute(*arguments)
    assert answer.status == 2
    assert answer.out == ""
    return answer.err


def test_each_rank_of_each_file_is_on_the_node_that_it_was_given(
    hosts: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "made" / "here"
    answer = substitute(
        "--fail", "(2,1),n03", "--hosts", hosts, "--export", folder, "--ranks-per-node", "3", "--json"
    )  # fmt: skip
    assert answer.status == 0
    found = answer.json
    assert [file["name"] for file in found["files"]] == FILES
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES), "nothing else is left"
    expected = [name for name in found["host_of_rank"] for _ in range(3)]
    assert found["host_of_rank"] == [NAMES[node] for node in found["node_of_rank"]]
    assert "n03" not in expected
    text = {name: (folder / name).read_text() for name in FILES}
    for name in FILES[:2]:
        lines = [line for line in text[name].splitlines() if not line.startswith("#")]
        assert lines == [
            f"rank {rank}={host} slot={rank % 3}" for rank, host in enumerate(expected)
        ]
    assert text["hostfile"].split("\n")[:-1] == [f"{host} slots=3" for host in expected[::3]]
    assert text["SLURM_HOSTFILE"].split() == expected
    # A launcher that fills the used nodes in their order, as Cray MPICH then numbers its slots.
    slots = [name for name in NAMES if name in expected for _ in range(3)]
    order = [int(rank) for line in text["MPICH_RANK_ORDER"].split() for rank in line.split(",")]
    assert sorted(order) == list(range(len(expected)))
    assert [expected[rank] for rank in order] == slots
    for file in found["files"]:
        assert str(folder / file["name"]) in file["launch"]
        assert f"-n {len(expected)} " in file["launch"]


def test_names_numbers_and_coordinates_name_the_same_node(hosts: Path) -> None:
    by = [
        substitute("--fail", failed, "--hosts", hosts, "--json").json["node_of_rank"]
        for failed in ("n03,n[01-02]", "5,6,7", "(1,1),(2,1),(3,1)")
    ]
    assert by[0] == by[1] == by[2]
    assert substitute("--fail", "node5", "--json").json["node_of_rank"][4] != 5
    shown = substitute("--fail", "n03", "--hosts", hosts).out
    assert "node n03 = 5 (1, 1)" in shown


def test_without_a_spare_nothing_is_written(tmp_path: Path) -> None:
    answer = run(
        "spares", "substitute", "--shape", "3x2", "--alloc", "2D(1,1)",
        "--fail", "0,1,3", "--policy", "0D", "--export", tmp_path / "out",
    )  # fmt: skip
    assert answer.status == 1
    assert "Nothing is written" in answer.out
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("n[1-11]\n", ("names 11 hosts", "4x3 has 12 nodes")),
        ("n[1-13]\n", ("names 13 hosts",)),
        ("n[1-9]\nx\nn3\ny\n", ("line 3", "n3 is given twice", "first in line 1")),
        ("n1 slots=4\n", ("line 1", "one host name a line")),
        ("n[1-3\n", ("line 1", "n[0-35]")),
        ("n[3-1]\n", ("lowest first",)),
        ("n[0-99999999999]\n", ("lowest first",)),
        ("n1,,n2\n", ("n[0-35]",)),
        ("10-19\n1\n", ("line 2", "letter")),
        ("n1;rm\n", ("letters, digits",)),
        ("n_1\n", ("letters, digits",)),
        ("", ("names 0 hosts",)),
    ],
)  # fmt: skip
def test_a_wrong_file_of_hosts_is_refused(
    text: str, parts: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "hosts"
    path.write_text(text)
    message = refused("--fail", "1", "--hosts", path, "--export", tmp_path / "out")
    for part in (str(path), *parts):
        assert part in message
    assert not (tmp_path / "out").exists()


def test_wrong_use_is_refused(hosts: Path, tmp_path: Path) -> None:
    assert "no host 'n04' among the 12" in refused("--fail", "n04", "--hosts", hosts)
    assert "node0 to node11" in refused("--fail", "node12")
    assert "node 5 fails twice" in refused("--fail", "n03,(1,1)", "--hosts", hosts)
    assert "--export" in refused("--fail", "1", "--ranks-per-node", "2")
    assert "No such file" in refused("--fail", "1", "--hosts", tmp_path / "none")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert "is no text" in refused("--fail", "1", "--hosts", tmp_path / "binary")
    assert "path of a rankfile" in refused("--fail", "1", "--export", tmp_path / "a,b")
    (tmp_path / "domains").write_text("a.x\na.y\nn[0-9]\n")
    assert "a.x and a.y" in refused(
        "--fail", "n9", "--hosts", tmp_path / "domains", "--export", tmp_path / "out"
    )
    assert not (tmp_path / "out").exists()
    assert "cannot be written" in refused("--fail", "1", "--export", hosts / "below")


def test_hostlists_are_read_and_folded() -> None:
    assert expand("n[0-2,7],login") == ["n0", "n1", "n2", "n7", "login"]
    assert expand("r[1-2]n[08-11]")[:5] == ["r1n08", "r1n09", "r1n10", "r1n11", "r2n08"]
    for text in ("n[0-2,7],login", "n[08-12]", "n[8-12]", "n1,m1,n2", "a,a1", "n[2,1]", "n[1,01]"):
        assert fold(expand(text)) == text
        assert expand(fold(expand(text))) == expand(text)


# The real launchers, on hosts that are names only: a shell in the place of ssh runs each under its name.


@pytest.fixture
def shell(tmp_path: Path) -> Path:
    if shutil.which("unshare") is None or finish(["unshare", "--uts", "true"]).status != 0:
        pytest.skip("unshare --uts: not installed or not allowed")
    path = tmp_path / "shell"
    path.write_text(SHELL)
    path.chmod(0o755)
    return path


def mpirun(version: int) -> str:
    """Find an `mpirun` of this version."""
    found = [shutil.which(name) for name in ("mpirun.openmpi", "mpirun")]
    folders = [Path(sys.executable).parent, *os.environ.get("RUNFLAT_MPI_PATH", "").split(":")]
    found += [shutil.which("mpirun", path=str(folder)) for folder in folders if folder]
    for program in filter(None, found):
        said = finish([program, "--version"]).out
        if "Open" in said and f" {version}." in said.splitlines()[0]:
            return program
    pytest.skip(f"mpirun of Open MPI {version}: not on PATH, beside Python or in RUNFLAT_MPI_PATH")


OPTIONS = {4: ["--mca", "plm_rsh_agent"], 5: ["--prtemca", "plm_ssh_agent"]}
ROOT_MAY = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def landed(version: int, launch: str, shell: Path, folder: Path) -> dict[int, str]:
    """Start a launch line and ask each rank for its host."""
    app = folder / "app"
    # Where processes of several hosts end within milliseconds of their start, Open MPI 5's mpirun does not end once in a hundred
    # times: all have said their word, and it waits. None of 750 that slept did.
    app.write_text('#!/bin/sh\necho "landed $OMPI_COMM_WORLD_RANK $(hostname)"\nsleep 0.5\n')
    app.chmod(0o755)
    words = launch.split()
    assert words[0] == "mpirun"
    assert words[-1] == "./app"
    command = [mpirun(version), *OPTIONS[version], str(shell), *words[1:]]
    answer = finish(command, env=ROOT_MAY, cwd=folder, timeout=240)
    assert answer.status == 0, answer
    lines = [line.split() for line in answer.out.splitlines() if line.startswith("landed")]
    return {int(rank): host for _, rank, host in lines}


@pytest.mark.parametrize(
    ("version", "name", "each"),
    [
        (4, "rankfile.ompi4", 1),
        (4, "rankfile.ompi4", 2),
        (5, "rankfile.ompi5", 1),
        (5, "rankfile.ompi5", 2),
        (5, "hostfile", 2),
    ],
)
def test_open_mpi_starts_each_rank_on_the_host_named(
    version: int, name: str, each: int, shell: Path, tmp_path: Path
) -> None:
    mpirun(version)
    if (os.cpu_count() or 1) < each:
        pytest.skip(f"{each} cores: not here")
    # The host that mpirun runs on is one of them, and neither first nor last: Open MPI 4 moves it in a plain hostfile.
    names = ["fakeC", "fakeA", os.uname().nodename, "fakeB", "fakeF", "fakeE"]
    job = spares.Job((3, 2), "2D(1,1)")
    found = job.substitute("0D", [1])
    assert found.node_of_rank != job.node_of_rank
    files = spares.Launch(found.node_of_rank, Hosts(names, "test"), each).write(tmp_path)
    launch = next(file.launch for file in files if file.name == name)
    assert landed(version, launch, shell, tmp_path) == hosts_of(found.node_of_rank, names, each)


def hosts_of(places: Sequence[int], names: Sequence[str], each: int) -> dict[int, str]:
    return dict(enumerate(names[node] for node in places for _ in range(each)))
