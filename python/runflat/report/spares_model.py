"""What the pages about spare nodes show, as plain frozen values.

A caller fills these from its own results; nothing here computes. The *largest collision* is the number of messages on
the busiest channel; 1 is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from runflat.report.model import InputFile


@dataclass(frozen=True)
class CollisionPoint:
    """One number of failures, for one policy.

    Parameters
    ----------
    failures : int
        Failures so far.
    sequences : int
        Sequences in which all of them were substituted.
    best, average, worst, low, high : number or None
        The largest collision over these sequences: least, mean, most, 5 % and 95 %; None where there are none.
    shares, shares_accumulated : mapping of int to float
        Share of each degree of slide among the substitutions of this failure, and of all so far; 0 to 1.
    unrecoverable : float
        Share of sequences that found no spare by now; 0 to 1.
    """

    failures: int
    sequences: int
    best: int | None
    average: float | None
    worst: int | None
    low: int | None
    high: int | None
    shares: dict[int, float]
    shares_accumulated: dict[int, float]
    unrecoverable: float


@dataclass(frozen=True)
class PolicySeries:
    """One policy: its name, the degrees of slide it may use, and its points by failures."""

    policy: str
    degrees: Sequence[int]
    points: Sequence[CollisionPoint]


@dataclass(frozen=True)
class SparesStudyReport:
    """The page of a campaign.

    Parameters
    ----------
    title : str
        What was run.
    answers : sequence of str
        The finding in plain sentences, most important first.
    facts : sequence of (str, str)
        Label and value.
    series : sequence of PolicySeries
        The policies compared.
    notes : sequence of str
        What the model leaves out.
    seed, version, commit, command, created, plan_text, inputs
        Where the numbers come from, as in `StudyReport`.
    """

    title: str
    answers: Sequence[str]
    facts: Sequence[tuple[str, str]]
    series: Sequence[PolicySeries]
    notes: Sequence[str] = ()
    seed: int = 1
    version: str = ""
    commit: str = ""
    command: str = ""
    created: str = ""
    plan_text: str = ""
    inputs: Sequence[InputFile] = ()


@dataclass(frozen=True)
class SlideStep:
    """What the failure of one node changed.

    Parameters
    ----------
    failed : int
        The node.
    outcome : str
        `substituted`, `idle` or `no_spare_left`.
    degree : int or None
        Of the slide.
    moves : sequence of (int, int, int)
        Rank, node before, node after.
    loads : sequence of (int, int)
        Channels whose messages changed, and their number now.
    collision_max : int
        The largest collision afterwards.
    sentence : str
        The same in words.
    """

    failed: int
    outcome: str
    degree: int | None
    moves: Sequence[tuple[int, int, int]]
    loads: Sequence[tuple[int, int]]
    collision_max: int
    sentence: str


@dataclass(frozen=True)
class SlidesReport:
    """The page of a substitution.

    Parameters
    ----------
    title, answers, facts, notes, seed, version, commit, command, created, plan_text, inputs
        As in `SparesStudyReport`.
    shape : sequence of int
        Nodes along each dimension, x first.
    torus : bool
        Whether the network closes around.
    node_of_rank : sequence of int
        Node of each rank before anything fails; the other nodes are spares.
    loads : sequence of int or None
        Messages on each channel before anything fails: channel `(node * dimensions + dimension) * 2` leaves the node to
        higher coordinates, the next one to lower. None where the messages are not known.
    collision_max : int
        The largest collision before anything fails.
    steps : sequence of SlideStep
        In order of failure.
    """

    title: str
    answers: Sequence[str]
    facts: Sequence[tuple[str, str]]
    shape: Sequence[int]
    torus: bool
    node_of_rank: Sequence[int]
    loads: Sequence[int] | None
    collision_max: int
    steps: Sequence[SlideStep]
    notes: Sequence[str] = ()
    seed: int = 1
    version: str = ""
    commit: str = ""
    command: str = ""
    created: str = ""
    plan_text: str = ""
    inputs: Sequence[InputFile] = ()
