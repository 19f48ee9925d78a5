"""How many spare nodes a run needs, and which allocations keep that many.

A run aborts when nodes with a rank fail more often than there are spares. Failures come at a constant rate a node, so that over
`hours` their number among `used` nodes is Poisson distributed with mean `used * hours / mtbf_hours`: a substitute fails as the
node did that it stands for. Idle spares fail not, or (`idle_fail`) as other nodes do; then the nodes dead at the end are binomially
distributed, each dead with probability `1 - exp(-hours / mtbf_hours)`.

Source: Hori et al. 2016, "Node Utilization in a Multijob Environment", asks for as many spares as the failure rate needs.
Limits: nodes fail alone and are not repaired during the run; any spare can stand for any node (`hybrid(all)` and 0D; plain slides
may not reach all, which `unrecoverable_by_policy` measures).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from runflat._core import SparesError, spare_share
from runflat.spares.campaign import Campaign
from runflat.spares.granted import granted
from runflat.spares.job import Choices, Job
from runflat.spares.tails import binomial_tail, poisson_tail

MOST_NODES = 10**9
"""Spares beyond this are no answer."""
MOST_GRID = 1 << 24
"""Nodes of the largest grid."""


@dataclass(frozen=True)
class Run:
    """What a run asks of its nodes.

    Attributes
    ----------
    hours : float
        How long it runs; more than 0.
    mtbf_hours : float
        Mean time between failures of one node; more than 0.
    risk : float
        Accepted probability that it aborts because spares run out; between 0 and 1, both excluded.
    idle_fail : bool
        Whether idle spares fail too.
    """

    hours: float
    mtbf_hours: float
    risk: float
    idle_fail: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        for name, value in (("run time", self.hours), ("MTBF", self.mtbf_hours)):
            if not (math.isfinite(value) and value > 0):
                raise SparesError(f"the {name} is a number of hours above 0, got {value:g}")
        if not 0 < self.risk < 1:
            raise SparesError(
                f"the accepted risk lies between 0 and 100 %, both excluded, got {100 * self.risk:g} %"
            )

    def expected_failures(self, used: int, spares: int = 0) -> float:
        """Mean number of failures among so many nodes with a rank and, if they fail, idle spares."""
        if self.idle_fail:
            return (used + spares) * -math.expm1(-self.hours / self.mtbf_hours)
        return used * self.hours / self.mtbf_hours

    def abort_probability(self, used: int, spares: int) -> float:
        """Probability of more failures than spares."""
        return self.failure_tail(used, spares, spares)

    def failure_tail(self, used: int, spares: int, failures: int) -> float:
        """Probability of more than so many failures."""
        if self.idle_fail:
            dead = -math.expm1(-self.hours / self.mtbf_hours)
            return binomial_tail(failures, used + spares, dead)
        return poisson_tail(failures, self.expected_failures(used))

    def failure_probability(self, used: int, spares: int, failures: int) -> float:
        """Probability of exactly so many failures."""
        fewer = 1.0 if failures == 0 else self.failure_tail(used, spares, failures - 1)
        return fewer - self.failure_tail(used, spares, failures)

    def spares_needed(self, used: int) -> int | None:
        """Fewest spares beside `used` nodes that keep the risk; None if no number does."""
        return _fewest(lambda spares: self._kept(used, spares), MOST_NODES)

    def spares_needed_of(self, nodes: int) -> int | None:
        """Fewest spares among `nodes` that keep the risk, the other nodes being used; None if no number does."""
        return _fewest(lambda spares: self._kept(nodes - spares, spares), nodes - 1)

    def failures_to_expect(self, used: int, spares: int, missed: float) -> int:
        """Fewest failures that at most the share `missed` of such runs exceed, but no more than there are spares."""
        found = _fewest(lambda count: self.failure_tail(used, spares, count) <= missed, spares)
        return spares if found is None else found

    def _kept(self, used: int, spares: int) -> bool:
        return self.abort_probability(used, spares) <= self.risk


@dataclass(frozen=True)
class Candidate:
    """An allocation of spare nodes, and whether it is enough.

    Attributes
    ----------
    allocation : str
        `qD(r,s)`, or the shape of the job.
    shape : tuple of int
        Nodes along each dimension, spares included.
    spares, used : int
        Spare nodes, and nodes with a rank.
    share : float
        Share of spares of all nodes.
    share_by_formula : float or None
        The same by the paper's formula for a cube of as many nodes, if the allocation is `qD(r,s)`.
    corner : int
        Spares that lie where sides cross: no line of ranks leads there.
    expected_failures, abort_probability : float
        Of the run on the nodes used.
    fits : bool
        Whether the risk is kept.
    """

    allocation: str
    shape: tuple[int, ...]
    spares: int
    used: int
    share: float
    share_by_formula: float | None
    corner: int
    expected_failures: float
    abort_probability: float
    fits: bool


def candidates(shape: Sequence[int], run: Run) -> list[Candidate]:
    """Allocations of a shape: by sides, each from one node thick to the least thickness that fits.

    Parameters
    ----------
    shape : sequence of int
        Nodes along each dimension, spares included.
    run : Run
        What is asked of them.

    Returns
    -------
    list of Candidate
        By sides, then by thickness, of many thicknesses some; the last of its sides fits, or leaves one layer of nodes.
    """
    found = []
    for sides in range(1, len(shape) + 1):
        most = min(shape[:sides]) - 1
        if most < 1:
            # A dimension of one node has no side to spare.
            break

        def fits(thinner: int, sides: int = sides) -> bool:
            return _candidate(tuple(shape), sides, thinner + 1, run).fits

        least = _fewest(fits, most - 1)
        last = most if least is None else least + 1
        found += [_candidate(tuple(shape), sides, s, run) for s in _thicknesses(last)]
    return found


def _thicknesses(last: int) -> list[int]:
    """Name all from 1 to `last` if they are few, else powers of two and the last two."""
    if last <= MOST_THICKNESSES:
        return list(range(1, last + 1))
    powers = [1 << bit for bit in range(last.bit_length())]
    return sorted({*powers, last - 1, last} - {power for power in powers if power > last})


MOST_THICKNESSES = 8
"""Thicknesses that are all listed."""


def granted_candidates(job: Sequence[int], system: str, run: Run) -> list[Candidate]:
    """Allocations that a system grants a job: what it grants anyhow, then what it grants for thicker and thicker sides on top.

    Parameters
    ----------
    job : sequence of int
        Nodes with a rank along each dimension.
    system : str
        One of `runflat.spares.granted.SYSTEMS`.
    run : Run
        What is asked of them.

    Returns
    -------
    list of Candidate
        By number of nodes, each shape once, as far as to the first that fits; empty if none does on a grid of `MOST_GRID` nodes.
    """
    shapes = {granted(job, system)}
    found: list[Candidate] = []
    for thickness in range(1, max(job) + 1):
        for sides in range(1, len(job) + 1):
            asked = [length + thickness * (at < sides) for at, length in enumerate(job)]
            shapes.add(granted(asked, system))
        found = [
            _beyond(job, shape, run)
            for shape in sorted(shapes, key=lambda shape: (math.prod(shape), shape))
            if math.prod(shape) <= MOST_GRID
        ]
        if any(candidate.fits for candidate in found):
            break
    fitting = next((at for at, candidate in enumerate(found) if candidate.fits), len(found) - 1)
    return found[: fitting + 1]


def _beyond(job: Sequence[int], shape: tuple[int, ...], run: Run) -> Candidate:
    used, nodes = math.prod(job), math.prod(shape)
    # Beyond one side alone: all other coordinates are the job's.
    single = sum(
        (shape[at] - job[at]) * math.prod([*job[:at], *job[at + 1 :]]) for at in range(len(job))
    )
    abort = run.abort_probability(used, nodes - used)
    return Candidate(
        allocation="x".join(map(str, job)),
        shape=shape,
        spares=nodes - used,
        used=used,
        share=1 - used / nodes,
        share_by_formula=None,
        corner=nodes - used - single,
        expected_failures=run.expected_failures(used, nodes - used),
        abort_probability=abort,
        fits=abort <= run.risk,
    )


def smallest(found: Sequence[Candidate]) -> Candidate | None:
    """Return the candidate that fits with the fewest spares; of equals the first."""
    fitting = [candidate for candidate in found if candidate.fits]
    return min(fitting, key=lambda candidate: candidate.spares, default=None)


def _candidate(shape: tuple[int, ...], sides: int, thickness: int, run: Run) -> Candidate:
    allocation = f"{len(shape)}D({sides},{thickness})"
    exact, formula = spare_share(allocation, list(shape))
    inside = [length - thickness for length in shape[:sides]]
    rest = math.prod(shape[sides:])
    used = math.prod(inside) * rest
    nodes = math.prod(shape)
    single = sum(
        thickness * math.prod(inside[:at] + inside[at + 1 :]) * rest for at in range(sides)
    )
    abort = run.abort_probability(used, nodes - used)
    return Candidate(
        allocation=allocation,
        shape=shape,
        spares=nodes - used,
        used=used,
        share=exact,
        share_by_formula=formula,
        corner=nodes - used - single,
        expected_failures=run.expected_failures(used, nodes - used),
        abort_probability=abort,
        fits=abort <= run.risk,
    )


def near_cube(nodes: int, dimensions: int) -> tuple[int, ...]:
    """Return the smallest grid with sides that differ by one at most and at least `nodes` nodes, longest first."""
    length = max(1, round(nodes ** (1 / dimensions)))
    while length**dimensions > nodes:
        length -= 1
    for longer in range(dimensions + 1):
        if (length + 1) ** longer * length ** (dimensions - longer) >= nodes:
            break
    return (length + 1,) * longer + (length,) * (dimensions - longer)


def around(nodes: int, dimensions: int, run: Run) -> Candidate | None:
    """Put spares around a near-cube of `nodes` nodes: the allocation that fits with the fewest nodes.

    The job's own shape is the smallest near-cube that holds the nodes; of its sides and thicknesses the first with the fewest
    spares is taken. None if none fits.
    """
    own = near_cube(nodes, dimensions)
    used = math.prod(own)
    found = []
    for sides in range(1, dimensions + 1):

        def grown(thickness: int, sides: int = sides) -> tuple[int, ...]:
            return tuple(length + thickness * (at < sides) for at, length in enumerate(own))

        def enough(thinner: int, grown: Callable[[int], tuple[int, ...]] = grown) -> bool:
            total = math.prod(grown(thinner + 1))
            return total > MOST_GRID or run.abort_probability(used, total - used) <= run.risk

        thinner = _fewest(enough, MOST_GRID)
        if thinner is not None and math.prod(grown(thinner + 1)) <= MOST_GRID:
            found.append(_candidate(grown(thinner + 1), sides, thinner + 1, run))
    return smallest(found)


def smallest_for_policy(
    candidate: Candidate, run: Run, policy: str, *, torus: bool, samples: int, seed: int
) -> tuple[Candidate, float] | None:
    """Return the allocation of the fewest spares that keeps the risk with a policy which cannot reach them all.

    Parameters
    ----------
    candidate : Candidate
        `qD(r,s)` that has enough spares and does not keep the risk with the policy; larger ones of its shape are tried.
    run : Run
        What is asked of it.
    policy : str
        The policy.
    torus, samples, seed
        As for `unrecoverable_by_policy`.

    Returns
    -------
    tuple of Candidate and float or None
        With its measured abort probability; None if none of the next `MOST_TRIED` keeps it.
    """
    shape = candidate.shape
    larger = [
        one
        for sides in range(1, len(shape) + 1)
        for thickness in range(1, min(shape[:sides]))
        if (one := _candidate(shape, sides, thickness, run)).spares >= candidate.spares
        and one.allocation != candidate.allocation
    ]
    for one in sorted(larger, key=lambda one: one.spares)[:MOST_TRIED]:
        found = unrecoverable_by_policy(one, run, [policy], torus=torus, samples=samples, seed=seed)
        if found[policy] <= run.risk:
            return one, found[policy]
    return None


MOST_TRIED = 12
"""Allocations that are measured for a policy at the most."""


def unrecoverable_by_policy(
    candidate: Candidate,
    run: Run,
    policies: Sequence[str],
    *,
    torus: bool,
    samples: int,
    seed: int,
) -> dict[str, float]:
    """Abort probability where slides may not reach a spare, measured by campaigns.

    Failures are drawn one after the other, as many as one run in a thousand of the accepted risk exceeds; the share of
    sequences without a substitute is weighted by the probability of so many failures.

    Parameters
    ----------
    candidate : Candidate
        The allocation.
    run : Run
        What is asked of it.
    policies : sequence of str
        Policies to measure; all meet the same failures.
    torus : bool
        Whether the network closes around.
    samples : int
        Sequences of failures; at least 1.
    seed : int
        The one seed.

    Returns
    -------
    dict of str to float
        By policy. Below 1 / samples it is uncertain.
    """
    job = Job(candidate.shape, candidate.allocation, torus=torus, seed=seed)
    used, spares = candidate.used, candidate.spares
    most = max(1, run.failures_to_expect(used, spares, run.risk / 1000))
    choices = Choices(victims="alive" if run.idle_fail else "hosts")
    campaign = Campaign(job, policies, most, choices)
    found = {}
    for policy, tally in zip(policies, campaign.run(range(samples)), strict=True):
        lost = [0.0, *(float(count) / samples for count in tally.unrecovered.cumsum())]
        # More failures than were drawn: at least as many are lost as after the last; beyond the spares all are.
        beyond = run.failure_tail(used, spares, most)
        out = run.abort_probability(used, spares)
        weights = [run.failure_probability(used, spares, count) for count in range(most + 1)]
        among = math.fsum(weight * share for weight, share in zip(weights, lost, strict=True))
        found[policy] = min(1.0, among + (beyond - out) * lost[-1] + out)
    return found


def _fewest(enough: Callable[[int], bool], most: int) -> int | None:
    """Find the smallest number up to `most` that is enough, if all above it are too."""
    low, high = -1, 0
    while not enough(min(high, most)):
        if high >= most:
            return None
        low, high = high, 2 * high + 1
    high = min(high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
