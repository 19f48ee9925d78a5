"""`runflat mpi build`: compile the recovery library with the user's mpicc."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from runflat.cli.options import json_option, print_json
from runflat.mpi_launch.hosts import core_count
from runflat.mpi_launch.installed import policy_places
from runflat.mpi_launch.library import Library, build, put_into
from runflat.mpi_launch.toolchain import find_toolchain


@click.command(epilog="Example: runflat mpi build --mpicc /opt/openmpi/bin/mpicc")
@click.option(
    "--mpicc", metavar="FILE", type=click.Path(dir_okay=False),
    help="Compiler wrapper of the MPI; default: $MPICC, beside the running Python, on PATH.",
)  # fmt: skip
@click.option(
    "--source", type=click.Path(file_okay=False), metavar="DIR",
    help="Sources of the library; default: those that came with runflat.",
)  # fmt: skip
@click.option(
    "-o", "folder", type=click.Path(file_okay=False), metavar="DIR",
    help="Also copy the library, the policies, its header and its Fortran module there.",
)  # fmt: skip
@click.option("--debug", is_flag=True, help="Without optimisation.")
@json_option
def command(
    mpicc: str | None, source: str | None, folder: str | None, debug: bool, as_json: bool
) -> None:
    """Compile librunflat_mpi.so, or find it compiled, and say how a program gets it.

    It is kept in a cache folder for each MPI and each version of the sources, so only the first call compiles.
    """
    if folder == "":
        raise click.UsageError("-o names no folder")
    library = build(
        find_toolchain(mpicc), None if source is None else Path(source), debug=debug, say=_say
    )
    if folder is not None:
        library = put_into(library, Path(folder))
    if as_json:
        print_json("built" if library.built else "cached", _values(library))
        return
    if not library.toolchain.is_guarded:
        click.echo(
            f"Warning: {library.toolchain.name} is not 5.0: failures are found, but calls that make communicators are not guarded, "
            "and RF_Init says RF_ERR_UNPROTECTED",
            err=True,
        )
    click.echo(library.path)
    preload = shlex.join(_preload(library))
    rows = [
        ("for", f"{library.toolchain.name}, {library.toolchain.mpicc}"),
        ("compiled", f"in {library.seconds:.1f} s" if library.built else "before; sources and MPI are the same"),
        ("start with", f"runflat mpi run -n {min(4, core_count())} ./app"),
        ("or by hand", f"{preload} -n {min(4, core_count())} ./app"),
        ("or link it", shlex.join([str(library.toolchain.mpicc), "app.c", *library.link_flags])),
        ("policies", library.policies or f"not there, so no spares; looked for in {', '.join(map(str, policy_places()))}"),
    ]  # fmt: skip
    # No table: it would fold lines that are to be copied.
    for label, value in rows:
        click.echo(f"  {label:<12}{value}")


def _say(text: str) -> None:
    click.echo(text, err=True)


def _preload(library: Library) -> list[str]:
    mpirun = str(library.toolchain.mpirun)
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return [mpirun, "--with-ft", "ulfm", *root, "-x", f"LD_PRELOAD={library.path}"]


def _values(library: Library) -> dict[str, object]:
    return {
        "library": str(library.path),
        "include": None if library.include is None else str(library.include),
        "mpi": library.toolchain.name,
        "guarded": library.toolchain.is_guarded,
        "mpicc": str(library.toolchain.mpicc),
        "mpirun": str(library.toolchain.mpirun),
        "link_flags": library.link_flags,
        "preload": _preload(library),
        "policy_library": None if library.policies is None else str(library.policies),
        "policy_searched": [str(place) for place in policy_places()],
        "log": str(library.log),
        "seconds": round(library.seconds, 3),
    }
