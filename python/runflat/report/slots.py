"""Places on an axis of levels, one slot an engine beside the others.

Plotly's own grouping shifts boxes but not the lines that belong to them, so both take their
places from here.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Slots:
    """Levels stand at 0, 1, 2, ... and the engines of a level share 0.7 of the step.

    Parameters
    ----------
    labels : sequence of str
        One a level, escaped.
    engine_count : int
        Engines side by side; at least 1.
    """

    labels: Sequence[str]
    engine_count: int

    @property
    def width(self) -> float:
        """Width of one box."""
        return min(0.7 / self.engine_count, 0.3) * 0.8

    def centre(self, level_index: int, engine_index: int) -> float:
        """Middle of the box of an engine at a level."""
        step = min(0.7 / self.engine_count, 0.3)
        return level_index + (engine_index - (self.engine_count - 1) / 2) * step

    def axis(self) -> dict[str, object]:
        """Return the plotly settings of the axis."""
        return {
            "tickvals": list(range(len(self.labels))),
            "ticktext": list(self.labels),
            "range": [-0.5, len(self.labels) - 0.5],
        }
