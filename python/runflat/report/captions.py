"""What stands under each figure: how to read it, and what is missing when there is none."""

from dataclasses import dataclass

from runflat.report.model import MachineReport


@dataclass(frozen=True)
class Caption:
    """Words around one figure.

    Parameters
    ----------
    heading : str
        What the figure answers.
    reading : str
        How to read it.
    alternative : str
        Short description for those who cannot see it.
    empty : str
        Why there is no figure, shown in its place.
    """

    heading: str
    reading: str
    alternative: str
    empty: str


def captions(machine: MachineReport) -> dict[str, Caption]:
    """Captions of a machine's figures by kind: map, throughput, whiskers, lost."""
    unit = machine.failure_unit
    engines = ", ".join(series.engine for series in machine.series) or "no engine"
    return {
        "map": Caption(
            heading="The fabric: what failed, and where the routes go",
            reading="Squares are switches, leaves below and spines above. Dashed red lines with "
            "a cross are failed cables, crossed-out red squares failed switches. The darker and "
            "thicker a cable, the more routes it carries, as a share of the busiest cable. Point "
            "at a cable to read both its ends; draw a box to zoom, double-click to go back.",
            alternative=f"Map of the switches and cables of {machine.name}, failed parts struck "
            "out, cables shaded by load.",
            empty="No map was recorded for this machine.",
        ),
        "throughput": Caption(
            heading=f"Throughput as {unit} fail",
            reading="Each small mark is one random draw of failures, the same draws for every "
            "engine. The solid line joins the means; the dashed line is the linear regression. "
            "A good routing starts high and falls slowly; a low R² means that the number "
            "of failures alone does not explain the throughput. Hollow marks come from tables "
            "with a credit loop or with unreachable pairs; thin crosses at the bottom are draws "
            "without a throughput. Samples are spread sideways only to be seen.",
            alternative=f"Throughput in GB/s over failed {unit} for {engines}; the numbers are in "
            "the tables below.",
            empty="No throughput could be measured: no engine gave a working routing in any "
            "sample. The outcome table says why.",
        ),
        "whiskers": Caption(
            heading="What single nodes receive",
            reading="Boxes hold the middle half of the nodes, the line in the box is the median "
            "node, the whiskers end at the slowest and the fastest. A low lower whisker "
            "means that some nodes starve although the total looks fine.",
            alternative=f"Box plots of received GB/s per node over failed {unit} for {engines}.",
            empty="The throughput of single nodes was not recorded.",
        ),
        "lost": Caption(
            heading="Paths lost before anything is re-routed",
            reading="Boxes count the source-destination paths that break at the moment of the "
            "failure, over many random patterns. Hollow marks on the dashed line are the estimate "
            "from the tables alone: failed links times the mean number of paths over a link. "
            "Where both agree the estimate can be trusted.",
            alternative="Box plots of lost paths over failed links beside the extrapolated line.",
            empty="Lost paths were not counted.",
        ),
    }
