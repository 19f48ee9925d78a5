"""`runflat route engines`: the engines and their parameters."""

from __future__ import annotations

import click

from runflat import _core
from runflat.cli.options import show_parts


@click.command(epilog="Example: runflat route engines")
def command() -> None:
    """List the routing engines and their parameters."""
    show_parts(_core.engines(), "engine")
