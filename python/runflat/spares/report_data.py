"""Fills the report's models from campaigns and substitutions."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from runflat import _core
from runflat._core import check_substitution_policy
from runflat.report.spares_model import (
    CollisionPoint,
    PolicySeries,
    SlidesReport,
    SlideStep,
    SparesStudyReport,
)
from runflat.routing import Routing
from runflat.spares.answer import (
    LEAST_SEQUENCES,
    MOST_LOST,
    STANDARD_ERRORS,
    campaign_answer,
    collision_change,
    standard_errors,
    step_sentence,
    substitution_answer,
)
from runflat.spares.campaign import Campaign, Row, Tally
from runflat.spares.job import Job, Substitution
from runflat.spares.stencil_load import channel_loads, stencil_messages


def _notes(job: Job) -> list[str]:
    """Say what is counted, and where messages go."""
    at_once = "All ranks send all their messages at once"
    if job.sends is not None:
        at_once = f"All ranks send {_count(job.sends, 'message')} at a time"
    elif job.round_count > 1:
        at_once = f"All ranks send a phase of {job.round_count} at once, and the worst phase counts"
    if isinstance(job.network, Routing):
        routes = "Routes are those of the fabric's tables, which stay as they are."
    else:
        over = "" if job.network is None else f" of the machine it is folded onto ({job.network})"
        routes = f"Routes go along x first, then y, and so on{over}; where a dimension closes around, the shorter way."
    return [
        f"{at_once}; a collision counts the messages whose routes share a channel, whatever their size.",
        f"{routes} Nothing is routed around failed nodes: their network part goes on to forward messages.",
    ]


def study_report_of(
    campaign: Campaign,
    tallies: Sequence[Tally],
    sequences: int,
    *,
    first: int = 1,
    traffic: str = "stencil",
    command: str = "",
) -> SparesStudyReport:
    """Gather what the page of a campaign shows.

    Parameters
    ----------
    campaign : Campaign
        What was run.
    tallies : sequence of Tally
        Its counts, by policy.
    sequences : int
        How many sequences they are of.
    first : int
        The first failure shown.
    traffic : str
        The workload, in words.
    command : str
        The command line.
    """
    job = campaign.job
    dimensions = len(job.shape)
    rows = [row for row in campaign.rows(tallies, sequences) if row.failures >= first]
    series = []
    errors: dict[tuple[str, int], float] = {}
    # A policy that is given twice, or in two notations, is one.
    degrees = {}
    for policy, tally in zip(campaign.policies, tallies, strict=True):
        name, own = check_substitution_policy(policy, dimensions)
        degrees[name] = own
        for failures, error in enumerate(standard_errors(tally), start=1):
            errors[name, failures] = error
    unique: dict[tuple[str, int], Row] = {}
    for row in rows:
        unique.setdefault((row.policy, row.failures), row)
    rows = list(unique.values())
    for name, own in degrees.items():
        points = [_point(row) for row in rows if row.policy == name]
        series.append(PolicySeries(name, sorted(own), points))
    shown = f"{first} to {campaign.failures}" if first > 1 else f"{campaign.failures:,}"
    return SparesStudyReport(
        title=f"{_count(sequences, 'sequence')} of {_count(campaign.failures, 'random failure')} on a "
        f"{_network(job)}, spare nodes {job.allocation}",
        answers=campaign_answer(job, rows, errors),
        facts=[*_facts(job, traffic), ("sequences", f"{sequences:,}"), ("failures", shown)],
        series=series,
        notes=[
            *_notes(job),
            f"A mean is called lower where it is by {STANDARD_ERRORS} standard errors of the difference, as if the policies had "
            f"met failures of their own, and over at least {LEAST_SEQUENCES} sequences; a policy is compared while it finds "
            f"a spare in {100 * (1 - MOST_LOST):.0f} % of the sequences.",
            "Nodes fail one after the other, each drawn evenly from those "
            + ("with a rank" if campaign.choices.victims == "hosts" else "alive")
            + ".",
        ],
        seed=job.seed,
        version=_core.__version__,
        commit=_core.COMMIT,
        command=command,
    )


def slides_report_of(
    job: Job,
    found: Substitution,
    policy: str,
    *,
    traffic: str = "stencil",
    words: str = "",
    params: Mapping[str, str] | None = None,
    command: str = "",
) -> SlidesReport:
    """Gather what the page of a substitution shows.

    Parameters
    ----------
    job : Job
        What fails.
    found : Substitution
        What came of it.
    policy : str
        The policy.
    traffic, params, words : str, mapping, str
        The workload of the job, and how the page calls it; messages on channels are known for the stencil alone, over
        the grid itself.
    command : str
        The command line.
    """
    own = job.network is None and job.sends is None and not job.is_pair
    messages = stencil_messages(traffic, params or {}, job.job_shape) if own else None
    at = list(job.node_of_rank)

    def loads() -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        assert messages is not None
        return channel_loads(job.shape, job.torus, at, messages).reshape(-1)

    before = loads() if messages else None
    last = before
    steps = []
    for step in found.steps:
        for move in step.moves:
            at[move.rank] = move.to_node
        changes: list[tuple[int, int]] = []
        if last is not None:
            now = loads()
            # What is drawn is what was counted.
            assert max(int(now.max(initial=0)), 1) == max(step.collision_max, 1)
            changes = [(int(channel), int(now[channel])) for channel in np.flatnonzero(now != last)]
            last = now
        steps.append(
            SlideStep(
                failed=step.failed,
                outcome=step.outcome,
                degree=step.degree,
                moves=[(move.rank, move.from_node, move.to_node) for move in step.moves],
                loads=changes,
                collision_max=step.collision_max,
                sentence=step_sentence(job, step),
            )
        )
    shape = "kept" if found.shape_kept else "lost: tuned collectives may fall back"
    return SlidesReport(
        title=f"{_network(job)}, spare nodes {job.allocation}, policy {policy}",
        answers=[
            substitution_answer(job, found, policy),
            f"Largest collision: {collision_change(found)}. Shape of the job: {shape}.",
        ],
        facts=[
            *_facts(job, words or traffic),
            *_alone(job, found),
            ("failures", f"{len(found.steps):,}"),
            ("rounds of migration", f"{found.migration_steps:,}"),
            ("spares left", f"{found.spares_left:,}"),
        ],
        shape=job.shape,
        torus=job.torus,
        node_of_rank=job.node_of_rank,
        loads=None if before is None else before.tolist(),
        collision_max=job.collision_max,
        steps=steps,
        notes=_notes(job),
        seed=job.seed,
        version=_core.__version__,
        commit=_core.COMMIT,
        command=command,
    )


def command_line(drop: Iterable[str] = ("--report",)) -> str:
    """Write the command line without the options of `drop`, which take a value and say only where results go."""
    kept = []
    words = iter(sys.argv[1:])
    for word in words:
        if word in drop:
            next(words, None)
        elif word.partition("=")[0] not in (*drop, "--json", "--no-progress"):
            kept.append(word)
    return " ".join(["runflat", *map(_quoted, kept)])


def _quoted(word: str) -> str:
    plain = all(letter.isalnum() or letter in "-_=.,:/+" for letter in word)
    return word if plain and word else f'"{word}"'


def _point(row: Row) -> CollisionPoint:
    return CollisionPoint(
        failures=row.failures,
        sequences=row.sequences,
        best=row.best,
        average=row.average,
        worst=row.worst,
        low=row.quantiles.get("5%"),
        high=row.quantiles.get("95%"),
        shares=_degrees(row.share),
        shares_accumulated=_degrees(row.share_accumulated),
        unrecoverable=row.unrecoverable,
    )


def _degrees(shares: Mapping[str, float]) -> dict[int, float]:
    return {int(name.removesuffix("D")): share for name, share in shares.items()}


def _facts(job: Job, traffic: str) -> list[tuple[str, str]]:
    share = job.spares / job.nodes
    return [
        ("ranks", f"{job.ranks:,}"),
        ("spare nodes", f"{job.spares:,} ({100 * share:.1f} %)"),
        ("traffic", traffic),
        ("largest collision before", f"{job.collision_max:,}"),
    ]


def _alone(job: Job, found: Substitution) -> list[tuple[str, str]]:
    """Of two jobs at a boundary, what each would have alone."""
    if not job.is_pair or not found.steps:
        return []
    _, first, second = found.steps[-1].collisions
    return [("largest collision of each job alone", f"{first}, {second}")]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _network(job: Job) -> str:
    shape = "x".join(map(str, job.shape)) if len(job.shape) > 1 else f"{job.nodes}-node"
    own = f"{shape} {'torus' if job.torus else 'mesh'}"
    if isinstance(job.network, Routing):
        return f"{shape} nodes of a fabric routed by {job.network.engine}"
    return own if job.network is None else f"{own} folded onto {job.network}"
