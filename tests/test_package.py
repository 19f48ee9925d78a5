"""What `import runflat` gives, and what it leaves until it is asked for."""

import subprocess
import sys

import pytest

import runflat


def test_every_name_is_there() -> None:
    for name in runflat.__all__:
        assert getattr(runflat, name) is not None
    assert dir(runflat) == sorted(runflat.__all__)


def test_a_name_that_there_is_not_is_told() -> None:
    with pytest.raises(AttributeError, match="module 'runflat' has no attribute 'nothing'"):
        _ = runflat.nothing  # type: ignore[attr-defined]


def test_a_rank_of_an_mpi_job_loads_nothing_of_the_plan_half() -> None:
    """There are many of them on a host."""
    seen = "import sys; from runflat import mpi; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "runflat.mpi" in loaded
    assert not loaded & {"numpy", "pydantic", "runflat.machine", "runflat.study"}
