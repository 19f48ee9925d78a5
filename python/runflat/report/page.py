"""The page of a study: a chapter a machine.

Its frame is `shell`; what stands here is which figures a chapter has, and in which order.
"""

from collections.abc import Mapping

import plotly.graph_objects as go

from runflat.report import tables
from runflat.report.captions import captions
from runflat.report.fabric_map import fabric_map_figure, map_note
from runflat.report.lost_paths import lost_paths_figure
from runflat.report.model import MachineReport, StudyReport
from runflat.report.palette import EngineStyle, report_engine_styles
from runflat.report.shell import Choice, Picture, picture, render_page, single
from runflat.report.throughput import throughput_figure, worth_zooming
from runflat.report.whiskers import whiskers_figure


def render(report: StudyReport) -> str:
    """Render a study as one self-contained HTML page.

    Parameters
    ----------
    report : StudyReport
        All results and texts. Names may contain any characters: everything is escaped.

    Returns
    -------
    str
        HTML, to be written as UTF-8; about 5 MB, nearly all of it the plotting library.
    """
    styles = report_engine_styles(report)
    chapters = []
    number = 1
    for index, machine in enumerate(report.machines, start=1):
        pictures = _pictures(machine, f"machine-{index}", number, styles)
        number += sum(bool(picture.choices) for picture in pictures)
        chapters.append({"id": f"machine-{index}", "machine": machine, "pictures": pictures})
    return render_page(
        "report.html.j2",
        scripts=["report.js"],
        report=report,
        chapters=chapters,
        tables=tables,
        colours={title: style.colour for title, style in styles.items()},
    )


def _pictures(
    machine: MachineReport, prefix: str, first: int, styles: Mapping[str, EngineStyle]
) -> list[Picture]:
    maps: list[Choice] = [
        (fabric.title, map_note(fabric), drawn)
        for fabric in machine.maps
        if (drawn := fabric_map_figure(fabric)) is not None
    ]
    variants: dict[str, list[Choice]] = {
        "map": maps,
        "throughput": _throughput(machine, styles),
        "whiskers": single(whiskers_figure(machine, styles)),
        "lost": single(lost_paths_figure(machine, styles)),
    }
    texts = captions(machine)
    pictures: list[Picture] = []
    number = first
    for kind, drawn in variants.items():
        pictures.append(picture(f"{prefix}-{kind}", number, texts[kind], drawn))
        number += bool(drawn)
    return pictures


def _throughput(machine: MachineReport, styles: Mapping[str, EngineStyle]) -> list[Choice]:
    whole: go.Figure | None = throughput_figure(machine, styles)
    if whole is None or not worth_zooming(machine):
        return single(whole)
    close = throughput_figure(machine, styles, zoomed=True)
    return [
        ("axis from zero", "", whole),
        ("axis close to the data", "The axis does not start at zero.", close),
    ]
