"""What a report shows: results of a study as plain frozen values, units in the names.

A caller fills these from its own results; nothing here computes, imports the engine or knows where
a number came from. Throughput is in GB/s (10**9 bytes per second). A *level* is one amount of
failure ("1 %"); a *sample* is one random draw at that level, the same draw for every engine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Outcome = Literal["routed", "refused"]
Verdict = Literal["ok", "deadlock", "incomplete"]


@dataclass(frozen=True)
class InputFile:
    """One file the study read.

    Parameters
    ----------
    name : str
        Path or name as the user gave it.
    sha256 : str
        Hash of its bytes, in hexadecimal.
    """

    name: str
    sha256: str


@dataclass(frozen=True)
class Level:
    """One amount of failure that was tried.

    Parameters
    ----------
    label : str
        As the plan writes it: ``"1 %"``, ``"year 3"``.
    failed_parts : int
        How many parts of `MachineReport.failure_unit` had failed; the abscissa of every picture.
    """

    label: str
    failed_parts: int


@dataclass(frozen=True)
class Point:
    """One engine on one broken machine.

    Parameters
    ----------
    level_label : str
        Level it belongs to.
    failed_parts : int
        Parts failed in this sample.
    sample : int
        Number of the random draw, from 0.
    outcome : {"routed", "refused"}
        Whether the engine gave a table at all.
    verdict : {"ok", "deadlock", "incomplete"} or None
        What the check of the table said; None when there is no table. "deadlock" means that the
        channel dependency graph has a cycle: the routing may deadlock.
    throughput_gb_s : float or None
        Sum over all nodes; None where it could not be measured (refused, deadlocked, saturated).
    fraction_of_intact : float or None
        `throughput_gb_s` over what the intact machine gave, 0 to 1 or a little above.
    reason : str
        Why it was refused, deadlocked or left incomplete; empty otherwise.
    """

    level_label: str
    failed_parts: int
    sample: int
    outcome: Outcome
    verdict: Verdict | None = None
    throughput_gb_s: float | None = None
    fraction_of_intact: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Line:
    """A least-squares line of throughput over failed parts.

    Parameters
    ----------
    intercept_gb_s : float
        Throughput at no failure.
    slope_gb_s_per_part : float
        Change for each failed part; usually negative.
    r2 : float
        Coefficient of determination, 0 to 1; ``nan`` where the data have no spread.
    """

    intercept_gb_s: float
    slope_gb_s_per_part: float
    r2: float


@dataclass(frozen=True)
class Whisker:
    """Spread of the throughput received by single nodes, five numbers in GB/s."""

    level_label: str
    min_gb_s: float
    q1_gb_s: float
    median_gb_s: float
    q3_gb_s: float
    max_gb_s: float


@dataclass(frozen=True)
class EngineSeries:
    """Everything measured for one routing engine on one machine.

    Parameters
    ----------
    engine : str
        Title, ``"Up*/Down*"``. The same title has the same colour in the whole report.
    points : sequence of Point
        All samples of all levels, in any order.
    line : Line or None
        Regression through the points; None where there were too few.
    whiskers : sequence of Whisker
        At most one a level.
    """

    engine: str
    points: Sequence[Point] = ()
    line: Line | None = None
    whiskers: Sequence[Whisker] = ()


@dataclass(frozen=True)
class LostPaths:
    """Paths that break before anything is re-routed.

    Parameters
    ----------
    engine : str
        Whose tables carry the paths.
    level_label : str
        Level it belongs to.
    failed_links : int
        Links failed in each pattern.
    lost_counts : sequence of int
        Lost source-destination paths, one number a random pattern (the paper draws 100).
    extrapolated : float
        Failed links times the mean number of paths over a link: the estimate without drawing.
    """

    engine: str
    level_label: str
    failed_links: int
    lost_counts: Sequence[int]
    extrapolated: float


@dataclass(frozen=True)
class Crossing:
    """Where another engine becomes the best one.

    Parameters
    ----------
    failed_parts : float
        Where the two regression lines meet.
    before, after : str
        Best engine to its left and to its right.
    """

    failed_parts: float
    before: str
    after: str


@dataclass(frozen=True)
class OutcomeRow:
    """Verdicts of one engine at one level, and what its tables look like.

    Parameters
    ----------
    engine, level_label : str
        Row and column of the outcome table.
    ok, deadlock, refused, incomplete : int
        How many samples ended so.
    hops_max : int or None
        Longest route, in switch-switch hops, over all samples; None when nothing was routed.
    vls : int or None
        Virtual lanes needed.
    forwarding_index_max, forwarding_index_mean : float or None
        Routes over the busiest and over the mean switch-switch channel.
    cycle : sequence of str
        One credit loop by the names of its channels, in order; empty when there is none.
    ring : sequence of str
        Channels, with lanes, whose packets waited for each other when a simulation ended in a deadlock; empty when none did.
    reason : str
        Why it was refused or incomplete (the first sample that was).
    """

    engine: str
    level_label: str
    ok: int = 0
    deadlock: int = 0
    refused: int = 0
    incomplete: int = 0
    hops_max: int | None = None
    vls: int | None = None
    forwarding_index_max: float | None = None
    forwarding_index_mean: float | None = None
    cycle: Sequence[str] = ()
    ring: Sequence[str] = ()
    reason: str = ""


@dataclass(frozen=True)
class MapSwitch:
    """A switch on the map.

    Parameters
    ----------
    name : str
        As the fabric file has it.
    layer : int
        0 for a leaf, counting up towards the spine; 0 for all switches of a grid.
    nodes : int
        Nodes connected to it.
    failed : bool
        Struck out on the map.
    x, y : float or None
        Coordinates in any unit; used when every switch has both (grids), else the map lays out.
    """

    name: str
    layer: int = 0
    nodes: int = 0
    failed: bool = False
    x: float | None = None
    y: float | None = None


@dataclass(frozen=True)
class MapCable:
    """A switch-switch cable on the map.

    Parameters
    ----------
    a, b : int
        Indices of its two switches in `FabricMap.switches`.
    ends_text : str
        Both ends by name: ``"leaf1[3] <-> spine2[7]"``.
    failed : bool
        Struck out on the map.
    routes : int
        Routes over it, the busier direction.
    load : float
        0 to 1: `routes` over the routes of the busiest cable of the map.
    """

    a: int
    b: int
    ends_text: str
    failed: bool = False
    routes: int = 0
    load: float = 0.0


@dataclass(frozen=True)
class FabricMap:
    """One state of the fabric: one engine at one level, or the machine as it was found.

    Parameters
    ----------
    title : str
        Entry of the selector: ``"MinHop, 5 % failed"``.
    switches : sequence of MapSwitch
        The same switches in the same order in every map of a machine keep their places.
    cables : sequence of MapCable
        One for each cable, parallel ones included.
    """

    title: str
    switches: Sequence[MapSwitch]
    cables: Sequence[MapCable]


@dataclass(frozen=True)
class MachineReport:
    """All results on one machine.

    Parameters
    ----------
    name : str
        Title of its chapter.
    facts : sequence of (str, str)
        Summary, label and value: ``("nodes", "144")``.
    synthetic : bool
        True when the machine was generated, not read from a real fabric: shown as a badge.
    failure_unit : str
        What fails, in the plural: ``"links"``, ``"switches"``.
    levels : sequence of Level
        In the order of the axis; the first is usually the intact machine.
    series, lost, crossings, outcomes : sequence
        Results; each may be empty, and the page then says so.
    maps : sequence of FabricMap
        Several are chosen from a list on the page.
    """

    name: str
    facts: Sequence[tuple[str, str]] = ()
    synthetic: bool = False
    failure_unit: str = "links"
    levels: Sequence[Level] = ()
    series: Sequence[EngineSeries] = ()
    lost: Sequence[LostPaths] = ()
    crossings: Sequence[Crossing] = ()
    outcomes: Sequence[OutcomeRow] = ()
    maps: Sequence[FabricMap] = ()


@dataclass(frozen=True)
class StudyReport:
    """The whole page.

    Parameters
    ----------
    title : str
        Of the study.
    answers : sequence of str
        The finding in plain sentences, most important first; shown before anything else.
    machines : sequence of MachineReport
        One chapter each.
    notes : sequence of str
        What the models leave out.
    seed : int
        The run's seed.
    version, commit, command, created : str
        Of the program; `created` is the date the results were made, given by the caller so that
        the same results give the same bytes.
    plan_text : str
        The plan, TOML.
    inputs : sequence of InputFile
        Files the study read.
    """

    title: str
    answers: Sequence[str]
    machines: Sequence[MachineReport]
    notes: Sequence[str] = ()
    seed: int = 1
    version: str = ""
    commit: str = ""
    command: str = ""
    created: str = ""
    plan_text: str = ""
    inputs: Sequence[InputFile] = ()
