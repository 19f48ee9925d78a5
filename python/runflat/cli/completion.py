"""`runflat completion`: the script that completes commands in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command(epilog='Example: eval "$(runflat completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of SHELL; put it into the shell's startup file."""
    from runflat.cli import group

    kind = get_completion_class(shell)
    assert kind is not None, "the choices are those click knows"
    click.echo(kind(group, {}, "runflat", "_RUNFLAT_COMPLETE").source())
