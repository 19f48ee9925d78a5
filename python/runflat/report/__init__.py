"""Study results as one self-contained HTML page: fill the model, call `render`."""

from runflat.report.model import (
    Crossing,
    EngineSeries,
    FabricMap,
    InputFile,
    Level,
    Line,
    LostPaths,
    MachineReport,
    MapCable,
    MapSwitch,
    OutcomeRow,
    Point,
    StudyReport,
    Whisker,
)
from runflat.report.page import render

__all__ = [
    "Crossing",
    "EngineSeries",
    "FabricMap",
    "InputFile",
    "Level",
    "Line",
    "LostPaths",
    "MachineReport",
    "MapCable",
    "MapSwitch",
    "OutcomeRow",
    "Point",
    "StudyReport",
    "Whisker",
    "render",
]
