"""The page: one HTML file with everything in it, readable without a network.

The plotting library is inlined once, whatever the number of figures, and a content policy in the
page forbids it to load anything. Same report, same bytes.
"""

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass

import plotly.graph_objects as go
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from plotly.offline import get_plotlyjs

from runflat.report import tables
from runflat.report.captions import Caption, captions
from runflat.report.fabric_map import fabric_map_figure, map_note
from runflat.report.frame import figure_json, script_json
from runflat.report.lost_paths import lost_paths_figure
from runflat.report.model import MachineReport, StudyReport
from runflat.report.palette import DARK, EngineStyle, report_engine_styles
from runflat.report.throughput import throughput_figure, worth_zooming
from runflat.report.whiskers import whiskers_figure


@dataclass(frozen=True)
class Picture:
    """One numbered figure of the page.

    Parameters
    ----------
    div_id : str
        Fixed by machine and kind, so that the bytes are.
    number : int or None
        Counts through the page, from 1; None when there is nothing to draw.
    caption : Caption
        Heading, how to read it, and what to say when there is nothing to draw.
    choices : sequence of (str, str, Markup)
        Title, note and figure JSON of each variant; empty when there is nothing to draw.
    height_px : int
        Room kept before it is drawn, so that the page does not jump.
    """

    div_id: str
    number: int | None
    caption: Caption
    choices: tuple[tuple[str, str, Markup], ...]
    height_px: int


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
    environment = Environment(
        loader=PackageLoader("runflat.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["tight"] = _tight
    chapters = []
    number = 1
    for index, machine in enumerate(report.machines, start=1):
        pictures = _pictures(machine, f"machine-{index}", number, styles)
        number += sum(bool(picture.choices) for picture in pictures)
        chapters.append({"id": f"machine-{index}", "machine": machine, "pictures": pictures})
    text = environment.get_template("report.html.j2").render(
        report=report,
        chapters=chapters,
        tables=tables,
        colours={title: style.colour for title, style in styles.items()},
        dark_colours=DARK,
        dark_json=Markup(script_json(DARK)),
        plotly_js=Markup(get_plotlyjs()),
        style=Markup(_source(environment, "report.css")),
        script=Markup(_source(environment, "report.js")),
    )
    # Names read with surrogateescape would otherwise stop the file from being written.
    return text.encode("utf-8", "replace").decode("utf-8")


def _pictures(
    machine: MachineReport, prefix: str, first: int, styles: Mapping[str, EngineStyle]
) -> list[Picture]:
    maps = [
        (fabric.title, map_note(fabric), drawn)
        for fabric in machine.maps
        if (drawn := fabric_map_figure(fabric)) is not None
    ]
    variants: dict[str, list[tuple[str, str, go.Figure]]] = {
        "map": maps,
        "throughput": _throughput(machine, styles),
        "whiskers": _single(whiskers_figure(machine, styles)),
        "lost": _single(lost_paths_figure(machine, styles)),
    }
    texts = captions(machine)
    numbers = itertools.count(first)
    return [
        Picture(
            div_id=f"{prefix}-{kind}",
            number=next(numbers) if drawn else None,
            caption=texts[kind],
            choices=tuple((title, note, Markup(figure_json(fig))) for title, note, fig in drawn),
            height_px=max((int(fig.layout.height) for _, _, fig in drawn), default=0),
        )
        for kind, drawn in variants.items()
    ]


def _throughput(
    machine: MachineReport, styles: Mapping[str, EngineStyle]
) -> list[tuple[str, str, go.Figure]]:
    whole = throughput_figure(machine, styles)
    if whole is None or not worth_zooming(machine):
        return _single(whole)
    close = throughput_figure(machine, styles, zoomed=True)
    return [
        ("axis from zero", "", whole),
        ("axis close to the data", "The axis does not start at zero.", close),
    ]


def _single(fig: go.Figure | None) -> list[tuple[str, str, go.Figure]]:
    return [] if fig is None else [("", "", fig)]


def _tight(text: str) -> Markup:
    """Escape a sentence and keep its per cents on one line: ``71-84 %`` must not be torn apart."""
    parts = re.split(r"(\(?[\d.,]+(?:[-\N{EN DASH}][\d.,]+)? ?%[).,:;]*)", text)
    wrapped = [
        Markup('<span class="together">{}</span>').format(part) if index % 2 else escape(part)
        for index, part in enumerate(parts)
    ]
    return Markup("").join(wrapped)


def _source(environment: Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]
