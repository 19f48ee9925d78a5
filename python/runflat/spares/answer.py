"""What a substitution or a campaign found, in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from runflat.spares.alternatives import LinesLeftOut
from runflat.spares.campaign import Row, Tally
from runflat.spares.job import Job, Step, Substitution

STANDARD_ERRORS = 3
"""Two means differ if they are this many standard errors of their difference apart."""

MOST_LOST = 0.01
"""A policy is compared while the share of sequences without a spare is at most this."""

LEAST_SEQUENCES = 30
"""Fewer have no standard error to speak of."""

MOST_LEADS = 4


@dataclass(frozen=True)
class Lead:
    """A stretch of failures over which one policy, and no other, has a lower mean than all others.

    Attributes
    ----------
    policy : str
        The policy.
    first, last : int
        Failures at which it is first and last lower beyond doubt.
    certain : int
        At how many of these it is.
    """

    policy: str
    first: int
    last: int
    certain: int


def standard_errors(tally: Tally) -> list[float]:
    """Give the standard error of the mean of the largest collision, by failure; infinite for fewer than two sequences."""
    values = np.arange(tally.collisions.shape[1], dtype=float)
    found = []
    for counts in tally.collisions.astype(float):
        total = counts.sum()
        if total < 2:
            found.append(math.inf)
            continue
        mean = counts @ values / total
        variance = counts @ (values - mean) ** 2 / (total - 1)
        found.append(math.sqrt(variance / total))
    return found


def leads(rows: Sequence[Row], errors: dict[tuple[str, int], float]) -> list[Lead]:
    """Find which policy has the lowest mean where, as far as the means can be told apart.

    Parameters
    ----------
    rows : sequence of Row
        Of all policies.
    errors : dict of (str, int) to float
        Standard error of the mean by policy and failures.

    Returns
    -------
    list of Lead
        By failures; neighbours have different policies.
    """
    by_failures: dict[int, list[Row]] = {}
    for row in rows:
        by_failures.setdefault(row.failures, []).append(row)
    found: list[Lead] = []
    for failures, together in sorted(by_failures.items()):
        policy = _lowest(together, errors)
        if policy is None:
            continue
        if found and found[-1].policy == policy:
            found[-1] = Lead(policy, found[-1].first, failures, found[-1].certain + 1)
        else:
            found.append(Lead(policy, failures, failures, 1))
    return found


def _lowest(rows: Sequence[Row], errors: dict[tuple[str, int], float]) -> str | None:
    compared = [
        (row.average, errors[row.policy, row.failures], row.policy)
        for row in rows
        if row.average is not None
        and row.sequences >= LEAST_SEQUENCES
        and row.unrecoverable <= MOST_LOST
    ]
    if len(compared) < 2:
        return None
    best, *others = sorted(compared)
    apart = all(
        mean - best[0] > STANDARD_ERRORS * math.hypot(error, best[1]) for mean, error, _ in others
    )
    return best[2] if apart else None


def campaign_answer(
    job: Job, rows: Sequence[Row], errors: dict[tuple[str, int], float]
) -> list[str]:
    """Say which policy is best in the mean where, and where spares run out."""
    policies = list(dict.fromkeys(row.policy for row in rows))
    sentences = [_last_mean(policy, rows, job.collision_max) for policy in policies[:MOST_LEADS]]
    if len(policies) > 1:
        most = max(row.sequences for row in rows)
        if most < LEAST_SEQUENCES:
            few = f"Fewer than {LEAST_SEQUENCES} sequences are too few to say which policy collides least."
            sentences = [*sentences, few]
        else:
            sentences = [*_compared(leads(rows, errors)), *sentences]
    return [*sentences, *_lost(policies, rows)]


def _compared(found: Sequence[Lead]) -> list[str]:
    if not found:
        return [
            "The means do not tell the policies apart: nowhere is one lower than all others by "
            f"{STANDARD_ERRORS} standard errors."
        ]
    if len(found) > MOST_LEADS:
        counts: dict[str, int] = {}
        for lead in found:
            counts[lead.policy] = counts.get(lead.policy, 0) + lead.certain
        shares = ", ".join(f"{policy} at {count:,}" for policy, count in counts.items())
        return [
            f"The lowest mean changes hands {len(found) - 1} times; of the numbers of failures at which "
            f"it is beyond doubt, it is that of {shares}."
        ]
    crossings = [
        f"The means of {before.policy} and {after.policy} cross between {before.last:,} and "
        f"{after.first:,} failures."
        for before, after in pairwise(found)
    ]
    first, *others = found
    least = f"{first.policy} collides least on average {_stretch(first)}"
    return [
        "; ".join([least, *(f"{lead.policy} {_stretch(lead)}" for lead in others)]) + ".",
        *crossings,
    ]


def _stretch(lead: Lead) -> str:
    if lead.first == lead.last:
        return f"at {_failures(lead.first)}"
    words = f"from {lead.first:,} to {_failures(lead.last)}"
    count = lead.last - lead.first + 1
    if lead.certain == count:
        return words
    return f"{words} (beyond doubt at {lead.certain:,} of these {count:,})"


def _last_mean(policy: str, rows: Sequence[Row], before: int) -> str:
    own = [row for row in rows if row.policy == policy and row.average is not None]
    if not own:
        return f"{policy} found no spare in any sequence."
    kept = [row for row in own if row.unrecoverable <= MOST_LOST]
    row = kept[-1] if kept else own[0]
    if not kept:
        after = f", in the {row.sequences:,} sequences that found a spare,"
    elif row is own[-1]:
        after = ""
    else:
        after = f", the last at which {100 * (1 - MOST_LOST):.0f} % of the sequences find a spare,"
    if row.worst == 1:
        return f"{policy}: after {_failures(row.failures)}{after} no two messages share a channel."
    much = "" if row.failures > 1 else f" ({before} before it)"
    return (
        f"{policy}: after {_failures(row.failures)}{after} the busiest channel carries {row.average:.3g} "
        f"messages at once on average, {row.worst} at worst{much}."
    )


def _lost(policies: Sequence[str], rows: Sequence[Row]) -> list[str]:
    sentences = []
    for policy in policies:
        own = [row for row in rows if row.policy == policy]
        losing = [row for row in own if row.unrecoverable > 0]
        if not losing:
            continue
        share = 100 * own[-1].unrecoverable
        sentences.append(
            f"{policy} finds no spare in {_percent(100 * losing[0].unrecoverable)} % of the sequences by "
            + f"failure {losing[0].failures:,}"
            + (
                "."
                if losing[0] is own[-1]
                else f", in {_percent(share)} % by failure {own[-1].failures:,}."
            )
        )
    if not sentences:
        every = "Every policy" if len(policies) > 1 else policies[0]
        return [f"{every} finds a spare for each failure of every sequence."]
    return sentences


def substitution_answer(job: Job, found: Substitution, policy: str) -> str:
    """Say how many nodes were replaced, and what is left."""
    if found.reason is not None:
        return f"No spare left: {found.reason}."
    count = sum(step.outcome == "substituted" for step in found.steps)
    idle = len(found.steps) - count
    others = f" ({idle} more had no rank)" if idle else ""
    return (
        f"{count} failed {'node' if count == 1 else 'nodes'} replaced by {policy}{others}: {len(found.moved):,} of "
        f"{job.ranks:,} ranks are elsewhere, {found.spares_left:,} spares are left."
    )


def collision_change(found: Substitution) -> str:
    """Say what the substitutions cost."""
    before = found.collision_max_before
    worse = found.collision_max / before if before else 1
    much = "as before" if worse == 1 else f"{worse:.3g} times as many as before"
    messages = "1 message" if found.collision_max == 1 else f"{found.collision_max} messages"
    return f"{messages} on one channel, {much}{_bound(found)}"


def _bound(found: Substitution) -> str:
    """Say how much better it could be, where that is known."""
    if found.collision_bound == 1:
        return ""
    if found.collision_max == found.collision_bound:
        return "; no placement does better"
    return f"; no placement has fewer than {found.collision_bound}"


def lines_left_out_words(job: Job, instead: LinesLeftOut) -> str:
    """Say what leaving out the lines of failed nodes would cost."""
    if not instead.nodes:
        return "no line of nodes is whole"
    shape = "x".join(map(str, instead.shape))
    return f"a job on all {job.nodes:,} nodes goes on with {shape}, {instead.work:.3g} times the work on each"


def step_sentence(job: Job, step: Step, named: Callable[[int], str] | None = None) -> str:
    """Say what the failure of one node led to; `named` writes a node other than by number and coordinates."""
    named = named or partial(_node, job)
    where = f"node {named(step.failed)}"
    if step.outcome == "idle":
        return f"{where} had no rank"
    if step.outcome == "no_spare_left":
        return f"{where} has no substitute"
    if step.degree is None:
        ranks = "1 rank moves" if len(step.moves) == 1 else f"{len(step.moves):,} ranks move"
        far = "1 hop" if step.hops_max == 1 else f"at most {step.hops_max} hops"
        how = f"{ranks}, {far}"
    elif step.degree == 0:
        to = step.moves[0].to_node
        hops = "1 hop" if step.hops_max == 1 else f"{step.hops_max} hops"
        how = f"rank {step.moves[0].rank} moves {hops} to {named(to)}"
    else:
        ranks = "1 rank" if len(step.moves) == 1 else f"{len(step.moves):,} ranks"
        how = f"{step.degree}D slide of {ranks}"
    return f"{where}: {how}; largest collision {step.collision_max}"


def _node(job: Job, node: int) -> str:
    return str(node) if len(job.shape) == 1 else f"{node} {job.coordinates(node)}"


def _failures(count: int) -> str:
    return "1 failure" if count == 1 else f"{count:,} failures"


def _percent(value: float) -> str:
    return f"{value:.3g}"
