"""Options that the commands about spare nodes share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from runflat import _core
from runflat.cli.options import read_params
from runflat.spares import Choices, Job, SparesError, read_shape
from runflat.spares.plan import network_of
from runflat.spares.slowdown import read_send_time

WORKLOADS = ", ".join(part["name"] for part in _core.workloads())

_OPTIONS = (
    click.option("--shape", required=True, help="Nodes along each dimension, spares included: 24x24x24."),
    click.option("--torus", is_flag=True, help="The network closes around; default: a mesh."),
    click.option(
        "--alloc", "allocation", required=True, metavar="qD(r,s)|SHAPE|...",
        help="Where spares are: 2D(2,1) keeps two sides, each one node thick; 11x11x11 all beyond a job of that shape; boundary(1) a plane between two jobs.",
    ),
    click.option(
        "--fold", type=click.Choice(["tofu", "bgq"]),
        help="The shape is folded onto a machine of more dimensions, which messages go over.",
    ),
    click.option(
        "--fabric", metavar="FILE|NOTATION",
        help="Messages go over this fabric; its first nodes are those of the shape.",
    ),
    click.option("--engine", help="The engine that routes it; default: dfsssp."),
    click.option(
        "--traffic", default="stencil", show_default=True,
        help=f"Who sends to whom, phases one after the other. One of: {WORKLOADS}.",
    ),
    click.option(
        "--param", "-p", "params", multiple=True, metavar="NAME=VALUE",
        help="A parameter of the traffic, as points=9P or periodic=true; may be repeated.",
    ),
    click.option(
        "--sends", type=click.IntRange(1), metavar="N",
        help="Messages that a node sends at a time; default: all. K computer 4, BG/Q 10, one HCA 1.",
    ),
    click.option(
        "--pick", type=click.Choice(["random", "fixed", "uneven"]), default="random",
        show_default=True, help="Which of several possible slides is taken.",
    ),
    click.option(
        "--tie", type=click.Choice(["lowest", "highest", "random", "aligned", "balanced"]), default="lowest",
        show_default=True, help="Which of equally near spares a 0D slide takes.",
    ),
)  # fmt: skip

slowdown_option = click.option(
    "--slowdown", "send_time", metavar="k|bgq|tsubame|T",
    help="Also say how much longer an exchange takes, where a node sends all its messages in T times of one.",
)  # fmt: skip

page_option = click.option(
    "--report", "page", type=click.Path(dir_okay=False), metavar="FILE.html",
    help="Write pictures and tables to one self-contained page.",
)  # fmt: skip


def job_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what the job is."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def read_job(
    shape: str,
    allocation: str,
    *,
    torus: bool,
    traffic: str,
    params: tuple[str, ...],
    seed: int,
    sends: int | None,
    fold: str | None,
    fabric: str | None,
    engine: str | None,
) -> Job:
    """Make the job that the options say."""
    return Job(
        read_shape(shape), allocation, torus=torus, traffic=traffic, params=read_params(params), seed=seed,
        sends=sends, network=network_of(fold, fabric, engine),
    )  # fmt: skip


def read_slowdown(job: Job, text: str | None) -> float | None:
    """Read --slowdown; None if it is not given."""
    if text is None:
        return None
    if job.round_count > 1:
        raise SparesError(
            f"--slowdown is for messages that are sent all at once, here they go in {job.round_count} rounds: "
            f"leave out --sends, take traffic of one phase"
        )
    return read_send_time(text, len(job.shape))


def traffic_words(job: Job, traffic: str, params: tuple[str, ...]) -> str:
    """Write a workload for a page."""
    points = f", {2 * len(job.shape) + 1} points" if not params else ""
    own = f"{traffic}{points}" if traffic.strip().lower() == "stencil" else traffic
    return ", ".join([own, *params])


def read_choices(pick: str, tie: str, victims: str = "hosts") -> Choices:
    """Read what the paper leaves open."""
    return Choices(pick=pick, tie=tie, victims=victims)
