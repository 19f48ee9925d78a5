import dataclasses
import json
import math
import re
from html import unescape
from html.parser import HTMLParser

import pytest
from plotly.offline import get_plotlyjs
from sample import NASTY, small_machine, study, two_layer_map

from runflat.report import (
    EngineSeries,
    Level,
    MachineReport,
    OutcomeRow,
    Point,
    StudyReport,
    Whisker,
    render,
)


class Elements(HTMLParser):
    """Tags with their attributes, and the text outside scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._raw = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._raw = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._raw = False

    def handle_data(self, data: str) -> None:
        if not self._raw:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


@pytest.fixture(scope="module")
def page() -> str:
    return render(study())


def own_part(page: str) -> str:
    return page.replace(get_plotlyjs(), "")


def figures(page: str) -> list[dict[str, object]]:
    found = re.findall(r'<script type="application/json" data-figure[^>]*>(.*?)</script>', page)
    return [json.loads(text) for text in found]


def one_machine(**changes: object) -> StudyReport:
    machine = dataclasses.replace(small_machine(), **changes)  # type: ignore[arg-type]
    return dataclasses.replace(study(), machines=[machine])


def test_plotly_is_inlined_exactly_once(page: str) -> None:
    assert page.count(get_plotlyjs()) == 1
    assert 4_500_000 < len(page) < 6_500_000


def test_nothing_is_loaded_from_elsewhere(page: str) -> None:
    elements = Elements(page)
    for tag, attributes in elements.tags:
        assert "src" not in attributes, tag
        assert (attributes.get("href") or "#").startswith("#"), tag
        assert tag not in ("link", "iframe", "img", "object", "embed")
    assert "http" not in own_part(page).replace("http-equiv", "")
    assert "url(" not in own_part(page)
    policy = next(a["content"] for t, a in elements.tags if "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_same_report_gives_same_bytes(page: str) -> None:
    assert render(study()) == page


def test_answers_come_first_and_every_section_follows(page: str) -> None:
    text = Elements(page).text
    order = [
        "With 5 of 47 cables failed, Up*/Down* keeps 76 % (67-81 %) of the throughput",
        "The fabric: what failed",
        "Throughput as links fail",
        "What single nodes receive",
        "Paths lost before anything is re-routed",
        "Throughput by level",
        "Regression engine",
        "Outcome of every routing",
        "Credit loop of",
        "What the model leaves out",
        "Provenance command",
        "The plan",
    ]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    for word in ("0123abcd", "9f" * 32, "runflat study run plan.toml", "d credit loop"):
        assert word in text


def test_each_engine_has_one_colour_in_all_figures_and_tables(page: str) -> None:
    drawn = own_part(page)
    assert "engine-0072b2" in drawn
    colours = {
        trace["line"]["color"]
        for figure in figures(page)
        for trace in figure["data"]  # type: ignore[attr-defined]
        if trace.get("name") in ("<b>MinHop</b> mean", "<b>MinHop</b>")
    }
    assert colours == {"#0072b2"}


def test_any_name_is_shown_and_none_is_obeyed() -> None:
    fabric = two_layer_map(NASTY, 2, 1, 2, 3, {0}, 7)
    switches = [dataclasses.replace(s, name=NASTY + s.name) for s in fabric.switches]
    cables = [dataclasses.replace(c, ends_text=NASTY) for c in fabric.cables]
    evil = MachineReport(
        name=NASTY,
        facts=[(NASTY, NASTY)],
        failure_unit=NASTY,
        levels=[Level(NASTY, 0), Level(NASTY + "2", 3)],
        series=[
            EngineSeries(
                NASTY,
                [
                    Point(NASTY, 0, 0, "routed", "ok", 5.0, 1.0),
                    Point(NASTY + "2", 3, 0, "routed", "deadlock", 4.0, 0.8, NASTY),
                    Point(NASTY + "2", 3, 1, "refused", reason=NASTY),
                ],
                whiskers=[Whisker(NASTY, 1, 2, 3, 4, 5)],
            )
        ],
        outcomes=[OutcomeRow(NASTY, NASTY, deadlock=1, cycle=[NASTY, NASTY], reason=NASTY)],
        maps=[dataclasses.replace(fabric, switches=switches, cables=cables), fabric],
    )
    page = render(
        dataclasses.replace(
            study(), title=NASTY, answers=[NASTY], machines=[evil], plan_text=NASTY, command=NASTY
        )
    )
    assert "<script>alert" not in page
    assert page.count("</textarea>") == get_plotlyjs().count("</textarea>")
    assert Elements(page).text.count('<script>alert("x")</script>') > 10
    shown = json.dumps(figures(page))
    assert "<script>" not in shown
    assert "&lt;script&gt;alert" in shown
    templates = re.findall(r'"hovertemplate": "(.*?)(?<!\\)"', shown)
    assert templates
    assert not any("%{y}</textarea" in unescape(t) for t in templates)


def test_undecodable_names_can_be_written_as_utf8() -> None:
    page = render(dataclasses.replace(study(), title="bad \udcff name", machines=[]))
    page.encode("utf-8")


def test_numbers_that_are_not_finite_do_not_reach_the_figures() -> None:
    spread = [Whisker("0 %", math.nan, 1, 2, 3, math.inf)]
    page = render(one_machine(series=[EngineSeries("MinHop", whiskers=spread)]))
    assert figures(page)


def test_synthetic_machines_are_marked_and_real_ones_are_not() -> None:
    assert '<span class="badge">synthetic</span>' in render(one_machine())
    assert '<span class="badge">' not in render(one_machine(synthetic=False))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"lost": ()}, "Lost paths were not counted."),
        ({"maps": ()}, "No map was recorded"),
        ({"outcomes": ()}, "No routing was tried."),
        ({"series": (), "levels": (), "crossings": ()}, "No engine was measured."),
        (
            {"series": [EngineSeries("Fat-Tree", [Point("0 %", 0, 0, "refused", reason="no")])]},
            "No throughput could be measured",
        ),
    ],
)
def test_what_is_missing_is_said(changes: dict[str, object], sentence: str) -> None:
    assert sentence in Elements(render(one_machine(**changes))).text


def test_zero_throughput_is_drawn_as_zero() -> None:
    zero = [Point("0 %", 0, 0, "routed", "ok", 0.0, None), Point("1 %", 1, 0, "routed", "ok", 0.0)]
    text = Elements(render(one_machine(series=[EngineSeries("MinHop", zero)]))).text
    assert "0 GB/s" in text
    assert "No throughput could be measured" not in text


def test_a_study_without_machines_is_a_page() -> None:
    assert "no machine" in render(StudyReport("empty", [], []))


def test_figures_are_numbered_without_gaps() -> None:
    report = one_machine(lost=(), maps=())
    report = dataclasses.replace(report, machines=[*report.machines, *study().machines])
    numbers = re.findall(r"<b>Figure (\d+)\.</b>", render(report))
    assert numbers == [str(n) for n in range(1, 11)]
