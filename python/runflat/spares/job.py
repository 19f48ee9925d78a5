"""A job with spare nodes, and what becomes of it when nodes fail."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any

from runflat._core import SparesError, SparesJob, allocation_shape
from runflat.routing import Routing
from runflat.spares.shape import MOST_NODES, Node, check_shape, read_shape, written
from runflat.spares.worst import STATES_MAX, Worst, WorstCase, read_worst_case

MOST_SEQUENCES_LOG10 = 12
"""All sequences are tried up to 10 to the power of this: weeks."""


@dataclass(frozen=True)
class Choices:
    """What the paper leaves open.

    Attributes
    ----------
    pick : str
        Which of the possible slides of one degree is taken: `random`, `fixed` (the first: by slice, then by dimension) or
        `uneven` (along the dimension that was slid along most often).
    tie : str
        Which of equally near free nodes a 0D slide takes: `lowest`, `highest` (number), `random`, `aligned` (it shares
        the most coordinates with the failed node), or `balanced` (on the side with the most spares left).
    victims : str
        Which nodes fail in a campaign: `hosts` (those with a rank) or `alive` (idle spares too).
    """

    pick: str = "random"
    tie: str = "lowest"
    victims: str = "hosts"


@dataclass(frozen=True)
class Move:
    """A rank that moved from one node to another."""

    rank: int
    from_node: int
    to_node: int


@dataclass(frozen=True)
class Step:
    """What the failure of one node led to.

    Attributes
    ----------
    failed : int
        The node.
    outcome : str
        `substituted`, `idle` (it had no rank) or `no_spare_left`.
    degree : int or None
        Degree of the slide: 0 for a spare that takes the rank itself, k where a k-dimensional slice moved by one node; None
        where a search found the moves.
    moves : list of Move
        Ranks that moved; all of them at once, one behind the other, so that it takes the time of one move.
    hops_max : int
        The longest of the moves, in hops.
    collision_max : int
        The largest collision afterwards: most messages on one channel; 1 is none.
    collisions : list of int
        The same of each round: a phase of the traffic, or what ranks send at a time. Of two jobs at a boundary: of both together, of the
        first alone, and of the second alone.
    collision_bound : int
        No placement of the ranks has a smaller largest collision. 2 where a stencil on a mesh finds no straight lines between the
        dead nodes, 1 elsewhere, which says nothing.
    """

    failed: int
    outcome: str
    degree: int | None
    moves: list[Move]
    hops_max: int
    collision_max: int
    collisions: list[int]
    collision_bound: int


@dataclass(frozen=True)
class Substitution:
    """Where the ranks are after nodes have failed.

    Attributes
    ----------
    outcome : str
        `substituted`, or `no_spare_left` if the last step found none.
    reason : str or None
        Why there is none.
    node_of_rank : list of int
        Node of each rank; of a rank that lost its node without a substitute still that node.
    moved : list of Move
        Ranks that are elsewhere than before.
    steps : list of Step
        One for each failure, in order; nothing follows one without a spare.
    migration_steps : int
        Rounds in which data moves: one a failure, since the ranks of a slide move all at once.
    collision_max_before, collision_max : int
        The largest collision before and after.
    collision_bound : int
        No placement of the ranks has a smaller largest collision; see `Step`.
    rounds_before, rounds : int
        The largest collisions of all rounds together, before and after: about how many times of one message they take. Of two jobs
        the larger one's.
    shape_kept : bool
        Whether ranks still stand as a grid of the job's shape, as tuned collectives need it.
    spares_left : int
        Nodes alive and without a rank.
    """

    outcome: str
    reason: str | None
    node_of_rank: list[int]
    moved: list[Move]
    steps: list[Step]
    migration_steps: int
    collision_max_before: int
    collision_max: int
    collision_bound: int
    rounds_before: int
    rounds: int
    shape_kept: bool
    spares_left: int


class Job:
    """Ranks on a mesh or torus, spare nodes at its sides, messages between neighbours.

    Parameters
    ----------
    shape : sequence of int or str
        Nodes along each dimension, x first, spares included: `(36, 36)` or `"36x36"`.
    allocation : str
        Where spares are kept, in the paper's notation: `2D(2,1)` keeps two sides, each one node thick. `11x11x11` keeps all beyond a
        job of that shape; `boundary(1)` one plane between two jobs side by side along x, which both use.
    torus : bool
        Whether the network closes around.
    traffic : str
        A workload of at most 64 phases, one after the other. The default is the stencil with `2 d + 1` points.
    params : mapping
        Its parameters; `shape` of a stencil is that of the job.
    seed : int
        The one seed.
    sends : int, optional
        Messages that a node sends at a time (the paper's Table 2: 4 on the K computer, 10 on BG/Q, 1 on TSUBAME), in the order in
        which the traffic has them; the default is all.
    network : str or Routing, optional
        Where messages go: over the grid itself; over a larger machine that it is folded onto, `tofu` or `bgq`; or over a
        routed fabric whose first nodes, in its order, are those of the grid.

    Raises
    ------
    SparesError
        If the shape, the allocation or the two together are impossible, or the network has no place for them.
    """

    def __init__(
        self,
        shape: Sequence[int] | str,
        allocation: str,
        *,
        torus: bool = False,
        traffic: str = "stencil",
        params: Mapping[str, object] | None = None,
        seed: int = 1,
        sends: int | None = None,
        network: str | Routing | None = None,
    ) -> None:
        self.shape = read_shape(shape) if isinstance(shape, str) else tuple(shape)
        check_shape(self.shape)
        if not 0 <= seed < 1 << 64:
            raise SparesError(f"a seed is a number from 0 to 2^64 - 1, got {seed}")
        self.allocation = allocation
        self.torus = torus
        self.seed = seed
        self.network = network
        self.sends = sends
        if sends is not None and sends < 1:
            raise SparesError(f"a node sends at least 1 message at a time, got {sends}")
        # More than there are is all.
        sends = None if sends is None else min(sends, MOST_NODES)
        given = {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in (params or {}).items()
        }
        boundary = re.fullmatch(r"\s*boundary\(\s*(\d+)\s*\)\s*", allocation)
        self.is_pair = boundary is not None
        if boundary is not None:
            if sends is not None or network is not None:
                raise SparesError(
                    "two jobs at a boundary send all messages at once, over the grid itself"
                )
            if traffic.strip().lower() != "stencil":
                raise SparesError(
                    f"two jobs at a boundary exchange stencils each, got {traffic}: leave the traffic out"
                )
            if not 1 <= int(boundary[1]) <= self.shape[0] - 2:
                raise SparesError(
                    f"{allocation} leaves no two jobs side by side on {written(self.shape)}: "
                    f"give a boundary of 1 to {self.shape[0] - 2} planes"
                )
            self._core = SparesJob.side_by_side(
                list(self.shape), torus, int(boundary[1]), traffic, given, seed
            )
            return
        if traffic.strip().lower() == "stencil":
            left = allocation_shape(allocation, list(self.shape))
            given.setdefault("shape", ",".join(map(str, left)))
        over = network._core if isinstance(network, Routing) else network
        self._core = SparesJob(
            list(self.shape), torus, allocation, traffic, given, seed, sends, over
        )

    @property
    def job_shapes(self) -> list[tuple[int, ...]]:
        """Nodes along each dimension without the spares, of the job, or of each of two."""
        return [tuple(shape) for shape in self._core.job_shapes]

    @property
    def job_shape(self) -> tuple[int, ...]:
        """Nodes along each dimension without the spares; of two jobs those of the first."""
        return self.job_shapes[0]

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self._core.ranks

    @property
    def spares(self) -> int:
        """Number of spare nodes."""
        return self._core.spares

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return math.prod(self.shape)

    @property
    def node_of_rank(self) -> list[int]:
        """Node of each rank before anything fails."""
        return self._core.node_of_rank

    @property
    def collision_max(self) -> int:
        """The largest collision before anything fails; 1 is none."""
        return max(self._core.collisions, default=0)

    @property
    def round_count(self) -> int:
        """Number of rounds of messages: phases of the traffic, or more where a node sends fewer at a time."""
        return 1 if self.is_pair else len(self._core.collisions)

    def number(self, node: Node) -> int:
        """Give the number of a node named by number or coordinates."""
        if isinstance(node, int):
            if not 0 <= node < self.nodes:
                raise SparesError(
                    f"there is no node {node}: the machine has nodes 0 to {self.nodes - 1}"
                )
            return node
        if isinstance(node, str) or not all(isinstance(at, int) for at in node):
            raise SparesError(f"a node is a number, or coordinates as (3, 4); got {node!r}")
        inside = all(0 <= at < length for at, length in zip(node, self.shape, strict=False))
        if len(node) != len(self.shape) or not inside:
            raise SparesError(
                f"there is no node {tuple(node)} on a machine of {written(self.shape)}; "
                f"coordinates count from 0, x first"
            )
        strides = accumulate((1, *self.shape[:-1]), lambda one, next_: one * next_)
        return sum(at * stride for at, stride in zip(node, strides, strict=True))

    def coordinates(self, node: int) -> tuple[int, ...]:
        """Where a node stands, x first."""
        found = []
        for length in self.shape:
            node, at = divmod(node, length)
            found.append(at)
        return tuple(found)

    def substitute(
        self, policy: str, failed: Iterable[Node], *, choices: Choices | None = None
    ) -> Substitution:
        """Replace nodes that fail one after the other.

        Parameters
        ----------
        policy : str
            `0D`, `1D`, ..., or a hybrid: `hybrid(2D+1D+0D)`, `hybrid(all)`, `hybrid(-2D)`; or a search, `optimal`, with
            `optimal(trials=1000, moves=30)` for the changes it tries and the ranks it moves at most for each failure.
        failed : iterable of int or sequence of int
            Nodes in the order in which they fail, by number or coordinates.
        choices : Choices, optional
            What the paper leaves open.

        Returns
        -------
        Substitution
            Where the ranks are, and how they got there.

        Raises
        ------
        SparesError
            If the policy or a node does not exist, or a node fails twice.
        """
        numbers = [self.number(node) for node in failed]
        if twice := next((node for node in numbers if numbers.count(node) > 1), None):
            raise SparesError(f"node {twice} fails twice: name each failed node once")
        found = self._core.substitute(policy, numbers, asdict(choices or Choices()), self.seed)
        return self._substitution(policy, found)

    def worst(self, policy: str, failures: int, *, choices: Choices | None = None) -> list[Worst]:
        """Fail the nodes of all ranks in all orders.

        Takes as many substitutions as there are ranks to the power of `failures`; a million a second.

        Parameters
        ----------
        policy : str
            As for `substitute`, but no search.
        failures : int
            The most failures of a sequence, at least 1.
        choices : Choices, optional
            What the paper leaves open; nothing may be drawn. The default takes the first possible slide.

        Returns
        -------
        list of Worst
            By number of failures, from 1.

        Raises
        ------
        SparesError
            If the policy does not exist, or the outcome of a sequence is drawn.
        """
        choices = choices or Choices(pick="fixed")
        if "random" in (choices.pick, choices.tie):
            raise SparesError(
                "all sequences have one outcome each only if nothing is drawn: "
                'give `pick="fixed"` or "uneven", and no `tie="random"`'
            )
        if failures < 1:
            raise SparesError(f"a sequence has at least 1 failure, got {failures}")
        if failures * math.log10(max(self.ranks, 2)) > MOST_SEQUENCES_LOG10:
            raise SparesError(
                f"{failures} failures of {self.ranks} ranks are more sequences than can be tried; "
                f"`worst_proved` proves without trying all"
            )
        found = self._core.all_sequences(policy, failures, asdict(choices))
        return [Worst(**one) for one in found]

    def worst_proved(
        self,
        policy: str,
        failures: int,
        *,
        states_max: int = STATES_MAX,
        choices: Choices | None = None,
        report: Callable[[WorstCase], None] | None = None,
    ) -> list[WorstCase]:
        """Prove worst cases where all sequences are too many.

        Parameters
        ----------
        policy : str
            `0D` on any network, or `1D` on a mesh that is not folded or routed.
        failures : int
            The most failures of a sequence, at least 1.
        states_max : int
            States after which the search for one number of failures ends, at least 1.
        choices : Choices, optional
            What the paper leaves open; nothing may be drawn. The default takes the first possible slide.
        report : callable, optional
            Called with each worst case as it is known; what it raises ends the search.

        Returns
        -------
        list of WorstCase
            By number of failures, from 1: as `worst` finds, if they are exact, or a bound and the worst found.

        Raises
        ------
        SparesError
            If the policy does not exist, has no such search, or the outcome of a sequence is drawn.
        """
        if failures < 1 or states_max < 1:
            raise SparesError(
                f"a proof takes at least 1 failure and 1 state, got {failures} and {states_max}"
            )
        tell = None if report is None else lambda found: report(read_worst_case(found))
        given = asdict(choices or Choices(pick="fixed"))
        found = self._core.worst_cases(policy, failures, states_max, given, tell)
        return [read_worst_case(one) for one in found]

    def _substitution(self, policy: str, found: Mapping[str, Any]) -> Substitution:
        steps = [
            Step(**{**step, "moves": [Move(*move) for move in step["moves"]]})
            for step in found["steps"]
        ]
        reason = None
        if steps and steps[-1].outcome == "no_spare_left":
            free = found["free"]
            where = (
                "no spare is left"
                if free == 0
                else f"{free} nodes are free, but {policy} reaches none"
            )
            reason = f"failure {len(steps)}, node {steps[-1].failed}: {where}"
        before = self.node_of_rank
        after = found["node_of_rank"]
        moved = [
            Move(rank, own, now)
            for rank, (own, now) in enumerate(zip(before, after, strict=True))
            if own != now
        ]
        return Substitution(
            outcome="substituted" if reason is None else "no_spare_left",
            reason=reason,
            node_of_rank=after,
            moved=moved,
            steps=steps,
            migration_steps=sum(bool(step.moves) for step in steps),
            collision_max_before=self.collision_max,
            collision_max=steps[-1].collision_max if steps else self.collision_max,
            collision_bound=steps[-1].collision_bound if steps else 1,
            rounds_before=self._times(self._core.collisions),
            rounds=self._times(steps[-1].collisions if steps else self._core.collisions),
            shape_kept=found["shape_kept"] and reason is None,
            spares_left=found["free"],
        )

    def _times(self, collisions: Sequence[int]) -> int:
        return max(collisions) if self.is_pair else sum(collisions)
