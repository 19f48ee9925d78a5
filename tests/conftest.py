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


@pytest.hookimpl(tryfirst=True)  # xdist looks at the mark in its own
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests of MPI jobs one after the other where tests run side by side: their deaths are timed."""
    for item in items:
        if item.path.name.startswith("test_mpi_"):
            item.add_marker(pytest.mark.xdist_group("mpi"))
