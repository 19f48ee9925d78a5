"""Tails of the Poisson and the binomial distribution, summed term by term.

The side that falls off is summed, from its largest term on by ratios of neighbours, until terms no longer count; so small tails keep
their relative precision. Limits: `lgamma` loses digits as means grow, about nine are left at a million.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator


def poisson_tail(most: int, mean: float) -> float:
    """Probability that a Poisson number is above `most`."""

    def first(count: int) -> float:
        return math.exp(count * math.log(mean) - mean - math.lgamma(count + 1))

    if most < 0:
        return 1.0
    if mean == 0:
        return 0.0
    return _tail(most, mean, None, first, lambda count: mean / (count + 1))


def binomial_tail(most: int, nodes: int, probability: float) -> float:
    """Probability that more than `most` of `nodes` fail, each with the same probability."""
    if most < 0:
        return 1.0
    if most >= nodes or probability == 0:
        return 0.0
    if probability >= 1:
        return 1.0
    odds = probability / (1 - probability)

    def first(count: int) -> float:
        ways = math.lgamma(nodes + 1) - math.lgamma(count + 1) - math.lgamma(nodes - count + 1)
        return math.exp(
            ways + count * math.log(probability) + (nodes - count) * math.log1p(-probability)
        )

    return _tail(
        most, nodes * probability, nodes, first, lambda count: odds * (nodes - count) / (count + 1)
    )


def _tail(
    most: int,
    mean: float,
    last: int | None,
    first: Callable[[int], float],
    ratio: Callable[[int], float],
) -> float:
    """Sum terms above `most`, or those up to it from 1: whichever fall off. `ratio(n)` is term n + 1 over term n."""
    if most + 1 > mean:
        return min(1.0, math.fsum(_falling(most + 1, 1, first, ratio, last)))
    return max(0.0, 1 - math.fsum(_falling(most, -1, first, ratio, last)))


def _falling(
    count: int,
    step: int,
    first: Callable[[int], float],
    ratio: Callable[[int], float],
    last: int | None,
) -> Iterator[float]:
    term = largest = first(count)
    while term > largest * 1e-18 and count >= 0 and (last is None or count <= last):
        yield term
        term = term * ratio(count) if step > 0 else term / ratio(count - 1) if count else 0.0
        largest = max(largest, term)
        count += step
