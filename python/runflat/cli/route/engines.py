"""`runflat route engines`: the engines and their parameters."""

from __future__ import annotations

import click

from runflat import _core
from runflat.cli.options import json_option, show_parts


@click.command(epilog="Example: runflat route engines")
@json_option
def command(as_json: bool) -> None:
    """List the routing engines and their parameters."""
    show_parts(_core.engines(), "engine", as_json=as_json)
