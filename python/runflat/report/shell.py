"""The frame of every page: one HTML file with everything in it, readable without a network.

The plotting library is inlined once, whatever the number of figures, and not at all where nothing is
plotted; a content policy in the page forbids it to load anything. Same values, same bytes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from plotly.offline import get_plotlyjs

from runflat.report.captions import Caption
from runflat.report.frame import figure_json, script_json
from runflat.report.palette import DARK

Choice = tuple[str, str, go.Figure]
"""Title and note of one variant of a figure, and the figure."""


@dataclass(frozen=True)
class Picture:
    """One numbered figure of a page.

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


def picture(div_id: str, number: int, caption: Caption, drawn: Sequence[Choice]) -> Picture:
    """Put a figure's variants and words together; without a variant it has no number."""
    return Picture(
        div_id=div_id,
        number=number if drawn else None,
        caption=caption,
        choices=tuple((title, note, Markup(figure_json(fig))) for title, note, fig in drawn),
        height_px=max((int(fig.layout.height) for _, _, fig in drawn), default=0),
    )


def single(fig: go.Figure | None) -> list[Choice]:
    """Return a figure that has one variant, or none."""
    return [] if fig is None else [("", "", fig)]


def render_page(
    template: str, *, styles: Sequence[str] = (), scripts: Sequence[str] = (), **values: object
) -> str:
    """Render a template that extends ``page.html.j2``.

    Parameters
    ----------
    template : str
        Its name.
    styles, scripts : sequence of str
        Style sheets besides the common one, and the page's scripts, in order; templates too.
    **values
        What the template shows. Names may contain any characters: everything is escaped.

    Returns
    -------
    str
        HTML, to be written as UTF-8.
    """
    environment = Environment(
        loader=PackageLoader("runflat.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["tight"] = tight
    text = environment.get_template(template).render(
        dark_colours=DARK,
        dark_json=Markup(script_json(DARK)),
        plotly_js=Markup(get_plotlyjs()),
        style=_sources(environment, ["report.css", *styles]),
        script=_sources(environment, scripts),
        **values,
    )
    # Names read with surrogateescape would otherwise stop the file from being written.
    return text.encode("utf-8", "replace").decode("utf-8")


def tight(text: str) -> Markup:
    """Escape a sentence and keep its per cents on one line: ``71-84 %`` must not be torn apart."""
    parts = re.split(r"(\(?[\d.,]+(?:[-\N{EN DASH}][\d.,]+)? ?%[).,:;]*)", text)
    wrapped = [
        Markup('<span class="together">{}</span>').format(part) if index % 2 else escape(part)
        for index, part in enumerate(parts)
    ]
    return Markup("").join(wrapped)


def _sources(environment: Environment, names: Sequence[str]) -> Markup:
    assert environment.loader is not None
    return Markup("\n".join(environment.loader.get_source(environment, name)[0] for name in names))
