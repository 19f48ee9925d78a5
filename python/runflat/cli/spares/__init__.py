"""`runflat spares`: how many spare nodes, who replaces whom, what it costs."""

from __future__ import annotations

import click

from runflat.cli.lazy import lazy

SUBCOMMANDS = {
    "plan": "how many spare nodes a run needs, and where",
    "run": "a campaign from a plan, which goes on where it was",
    "study": "collisions after random failures: best, average, worst",
    "substitute": "which node replaces which failed one",
}


@click.group(
    cls=lazy(__name__, SUBCOMMANDS),
    name="spares",
    epilog="Example: runflat spares plan --shape 36x36 --hours 72 --mtbf 26000",
)
def command() -> None:
    """Spare nodes: how many, who replaces whom, what it costs (Hori et al. 2016)."""
