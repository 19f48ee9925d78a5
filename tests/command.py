"""Runs `runflat` as users do: in this process (quick) or as a program of its own."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from runflat import cli

ROOT = Path(__file__).parent.parent
STAGE = ROOT / "machines" / "stage_fdr_2014.ibnetdiscover"


@dataclass
class Answer:
    """What a command said."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one JSON object on stdout."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value


def run(*arguments: str | Path) -> Answer:
    """Run a command in this process; anything it raises is the caller's to see."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["runflat", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as stop,
    ):
        cli.main()
    assert isinstance(stop.value.code, int)
    return Answer(stop.value.code, out.getvalue(), err.getvalue())


def program(*arguments: str | Path) -> list[str]:
    """Return the command line that starts runflat as a program of its own."""
    return [sys.executable, "-m", "runflat", *map(str, arguments)]


def spawn(
    *arguments: str | Path,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float = 120,
) -> Answer:
    """Run a command as a program of its own, to its end."""
    return finish(program(*arguments), env=env, cwd=cwd, timeout=timeout)


def finish(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float = 120,
) -> Answer:
    """Run any program to its end."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        cwd=cwd,
        env={**os.environ, **(env or {})},
    )
    return Answer(done.returncode, done.stdout, done.stderr)
