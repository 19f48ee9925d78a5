"""Colours of the report, in a light and a dark set of the same meaning.

Figures are built with the light set; the page swaps each colour for its dark partner when the
reader's system asks for it. Engines also differ by marker and dash, so that no picture needs
colour to be read.

Source: the engine colours are those of Okabe and Ito, "Color Universal Design", 2008.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from runflat.report.model import StudyReport


@dataclass(frozen=True)
class EngineStyle:
    """How one engine is drawn everywhere in a report."""

    colour: str
    symbol: str
    dash: str


INK = "#1f2933"
MUTED = "#5f6c7b"
GRID = "#e3e7ec"
PAPER = "#ffffff"
SWITCH = "#33414f"
NODE = "#8795a3"
FAILED = "#c8102e"

LOAD_RAMP = ("#cdd8e4", "#9fc0e2", "#5e97d0", "#2463a8", "#0b2d5e")
"""Cables from the least to the most loaded fifth."""

_ENGINE_COLOURS = (
    ("#0072b2", "#56b4f0"),
    ("#d55e00", "#ff8f3f"),
    ("#009e73", "#2fcfa0"),
    ("#b5549a", "#e79bd2"),
    ("#e69f00", "#ffc247"),
    ("#3aa5dc", "#a3dcff"),
    ("#7a6a00", "#d6c64a"),
    ("#6b7280", "#b4bcc8"),
)
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "star", "triangle-down", "pentagon")
_DASHES = ("solid", "dash", "dashdot", "longdash", "dot")

_HOME = {
    "minhop": 0,
    "up*/down*": 1,
    "dfsssp": 2,
    "lash": 3,
    "fat-tree": 4,
    "sssp": 5,
    "dor": 6,
    "torus-2qos": 7,
}

DARK: dict[str, str] = {
    INK: "#e6eaef",
    MUTED: "#9aa7b5",
    GRID: "#2b343e",
    PAPER: "#14191f",
    SWITCH: "#b9c4cf",
    NODE: "#7d8a98",
    FAILED: "#ff6577",
    **dict(zip(LOAD_RAMP, ("#33404e", "#35597f", "#4486c4", "#7db8ee", "#d3eaff"), strict=True)),
    **dict(_ENGINE_COLOURS),
}
"""Light colour -> the same meaning on a dark page."""


def engine_styles(titles: Iterable[str]) -> dict[str, EngineStyle]:
    """Give every engine its style; well-known engines always have the same one.

    Parameters
    ----------
    titles : iterable of str
        Engine titles in order of appearance; repeats are allowed.

    Returns
    -------
    dict of str to EngineStyle
        Colours repeat after eight engines, with another marker and dash.
    """
    unique = list(dict.fromkeys(titles))
    slots: dict[str, int] = {}
    for title in unique:
        home = _HOME.get(title.lower())
        if home is not None and home not in slots.values():
            slots[title] = home
    free = (slot for slot in range(len(unique) + len(_HOME)) if slot not in set(slots.values()))
    for title in unique:
        if title not in slots:
            slots[title] = next(free)
    return {title: _style(slots[title]) for title in unique}


def report_engine_styles(report: StudyReport) -> dict[str, EngineStyle]:
    """Styles for every engine named anywhere in a report."""
    titles: list[str] = []
    for machine in report.machines:
        titles += [series.engine for series in machine.series]
        titles += [lost.engine for lost in machine.lost]
        titles += [row.engine for row in machine.outcomes]
        for crossing in machine.crossings:
            titles += [crossing.before, crossing.after]
    return engine_styles(titles)


def _style(slot: int) -> EngineStyle:
    return EngineStyle(
        colour=_ENGINE_COLOURS[slot % len(_ENGINE_COLOURS)][0],
        symbol=_SYMBOLS[slot % len(_SYMBOLS)],
        dash=_DASHES[slot % len(_DASHES)],
    )
