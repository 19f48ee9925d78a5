"""What several test modules share: the programs that they need, and the probe."""

from pathlib import Path

import pytest

from mpi_jobs.parts import Parts, build
from opensm import probe, programs
from opensm.missing import Missing


@pytest.fixture(scope="session")
def opensm_programs() -> None:
    """Skip where OpenSM or ibsim is not installed."""
    try:
        programs.path("opensm")
        programs.path("ibsim")
        programs.shim()
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the probe; skip where that cannot be done."""
    try:
        return probe.build(tmp_path_factory.mktemp("probe"))
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """Compile the MPI library and its policies; skip where that cannot be done."""
    try:
        return build(tmp_path_factory.mktemp("mpi"))
    except Missing as missing:
        pytest.skip(str(missing))
