"""The command line: one file a command; one screen of plain answer, files second.

Exit status: 0 done, 1 a finding (disconnected, deadlock, refused, differences), 2 wrong use. Answers go to stdout, talk and
progress to stderr.
"""

from __future__ import annotations

import sys

import click

from runflat import __version__, plugins
from runflat._core import RunflatError
from runflat.cli.lazy import lazy

COMMANDS = {
    "machine": "import, make, show, compare and export fabrics",
    "faults": "draw failures",
    "route": "route a fabric and prove the tables",
    "simulate": "throughput of a workload over given routes",
    "spares": "how many spare nodes, who replaces whom, what it costs",
    "mpi": "the recovery library under MPI programs: build it, run with it",
    "study": "run a plan of many scenarios; report on one page",
    "doctor": "which optional parts are usable here",
    "completion": "print the script that completes commands in your shell",
}


@click.group(
    cls=lazy(__name__, COMMANDS),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: runflat route fabric.ibnetdiscover --engine updn",
)
@click.version_option(__version__, prog_name="runflat")
def group() -> None:
    """What a failure costs on a large machine, and how to keep the job running."""  # noqa: D401


def main() -> None:
    """Run the command line; wrong input ends with one sentence and status 2."""
    try:
        plugins.load_named()
        status = group.main(prog_name="runflat", standalone_mode=False)
    except click.exceptions.Exit as stop:
        status = stop.exit_code
    except click.Abort:
        resumes = sys.argv[1:3] == ["study", "run"]
        more = "; a study goes on where it was when it is run again" if resumes else ""
        click.echo(f"interrupted{more}", err=True)
        status = 130
    except click.ClickException as error:
        error.show()
        status = 2
    except RunflatError as error:
        click.echo(f"runflat: {error}", err=True)
        status = 2
    except OSError as error:
        click.echo(f"runflat: {error}", err=True)
        status = 2
    except SystemExit as stop:
        # click and rich end the program with 1, our "a finding", when the reader of our output is
        # gone (`| head`); nothing else does so here, and there is nobody left to tell.
        status = 0 if stop.code == 1 else stop.code
    sys.exit(status if isinstance(status, int) else 0)
