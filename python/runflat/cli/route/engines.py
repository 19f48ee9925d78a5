"""`runflat route engines`: the engines and their parameters."""

from __future__ import annotations

import click

from runflat import _core, plugins


@click.command(epilog="Example: runflat route engines")
def command() -> None:
    """List the routing engines and their parameters."""
    for part in _core.engines():
        click.echo(f"{part['name']} ({part['title']}): {part['summary']}")
        for param in part["params"]:
            default = f", default {param['default']}" if param["default"] else ""
            click.echo(f"  {param['name']}: {param['doc']} ({param['kind']}{default})")
    for name in plugins.names("engine"):
        click.echo(f"{name}: registered")
