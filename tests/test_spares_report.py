"""Pages about spare nodes: what they draw is what was counted, and they load nothing."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sample import NASTY
from test_page import Elements

from command import run
from runflat.report.spares_model import (
    CollisionPoint,
    PolicySeries,
    SlidesReport,
    SlideStep,
    SparesStudyReport,
)
from runflat.report.spares_slides_page import render_slides, slides_data
from runflat.report.spares_study_page import render_spares_study
from runflat.spares import Job
from runflat.spares.answer import Lead, campaign_answer, leads
from runflat.spares.campaign import Row
from runflat.spares.report_data import slides_report_of
from runflat.spares.stencil_load import channel_loads, stencil_messages

SHAPES = [((7,), "1D(1,1)"), ((6, 5), "2D(2,1)"), ((4, 5, 4), "3D(2,1)"), ((3, 4, 3, 3), "4D(1,1)")]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One page of each kind, by the command line."""
    folder = tmp_path_factory.mktemp("spares")
    study = (
        "spares", "study", "--shape", "12x12", "--alloc", "2D(2,1)", "--policy", "hybrid(all)",
        "--policy", "0D", "--policy", "1D", "--failures", "1..45", "--samples", "40",
        "--no-progress", "--report",
    )  # fmt: skip
    substitute = (
        "spares", "substitute", "--alloc", "3D(2,1)", "--shape", "6x6x6", "--fail",
        "(1,2,3),100,(4,4,4)", "--report",
    )  # fmt: skip
    found = {}
    for name, words in (("study", study), ("substitute", substitute)):
        found[name] = folder / f"{name}.html"
        assert run(*words, found[name]).status == 0
        assert run(*words, folder / "again.html").status == 0
        assert (folder / "again.html").read_bytes() == found[name].read_bytes()
    return found


def figures(page: str) -> dict[tuple[str, str], dict[str, Any]]:
    found = re.findall(
        r'<script type="application/json" data-figure="([^"]*)" data-choice="(\d+)">(.*?)</script>',
        page,
    )
    return {(figure, choice): json.loads(text) for figure, choice, text in found}


@pytest.mark.parametrize("periodic", ["false", "true"])
@pytest.mark.parametrize("points", ["star", "box"])
@pytest.mark.parametrize("torus", [False, True])
@pytest.mark.parametrize(("shape", "allocation"), SHAPES)
def test_the_most_that_is_drawn_is_the_largest_collision_of_each_step(
    shape: tuple[int, ...], allocation: str, torus: bool, points: str, periodic: str
) -> None:
    params = {"points": points, "periodic": periodic}
    job = Job(shape, allocation, torus=torus, params=params)
    failed = [0, 1, job.nodes // 2, job.nodes // 2 + 1, job.nodes - 2]
    for policy in ("hybrid(all)", "0D", "1D"):
        found = job.substitute(policy, failed)
        data: Any = slides_data(slides_report_of(job, found, policy, params=params))
        loads = list(data["loads"])
        assert max(loads) == job.collision_max
        for step, counted in zip(data["steps"], found.steps, strict=True):
            changes = iter(step["loads"])
            for channel, messages in zip(changes, changes, strict=True):
                loads[channel] = messages
            assert max(loads) == counted.collision_max


def test_loads_are_those_of_messages_walked_one_by_one() -> None:
    for torus in (False, True):
        job = Job((5, 4), "2D(1,1)", torus=torus, params={"points": "9P"})
        after = job.substitute("0D", [(1, 2), (0, 0)]).node_of_rank
        messages = stencil_messages("stencil", {"points": "9P"}, job.job_shape)
        assert messages is not None
        walked = channel_loads(job.shape, torus, after, messages) * 0
        for source, target in zip(*messages, strict=True):
            at = list(job.coordinates(after[source]))
            end = job.coordinates(after[target])
            for dimension, length in enumerate(job.shape):
                ahead = end[dimension] - at[dimension]
                up = 2 * (ahead % length) <= length if torus else ahead > 0
                while at[dimension] != end[dimension]:
                    walked[job.number(at), dimension, 0 if up else 1] += 1
                    at[dimension] = (at[dimension] + (1 if up else -1)) % length
        assert (walked == channel_loads(job.shape, torus, after, messages)).all()


def test_ranks_of_the_page_end_where_the_substitution_says() -> None:
    job = Job((9, 9), "2D(2,1)")
    found = job.substitute("hybrid(all)", [(3, 3), (5, 5), (1, 7), (2, 2)])
    data: Any = slides_data(slides_report_of(job, found, "hybrid(all)"))
    at = list(data["ranks"])
    for step in data["steps"]:
        values = iter(step["moves"])
        for rank, before, after in zip(values, values, values, strict=True):
            assert at[rank] == before
            at[rank] = after
    assert at == found.node_of_rank


def test_pages_load_nothing_from_elsewhere(pages: dict[str, Path]) -> None:
    for name, path in pages.items():
        page = path.read_text(encoding="utf-8")
        elements = Elements(page)
        for tag, attributes in elements.tags:
            assert "src" not in attributes, (name, tag)
            assert (attributes.get("href") or "#").startswith("#"), (name, tag)
            assert tag not in ("link", "iframe", "img", "object", "embed")
        policy = next(a["content"] for t, a in elements.tags if "http-equiv" in a)
        assert policy is not None
        assert policy.startswith("default-src 'none'")


def test_a_page_without_plots_carries_no_plotting_library(pages: dict[str, Path]) -> None:
    assert pages["substitute"].stat().st_size < 300_000
    assert pages["study"].stat().st_size > 3_000_000


def test_a_page_does_not_depend_on_where_it_is_written(pages: dict[str, Path]) -> None:
    for path in pages.values():
        page = path.read_text(encoding="utf-8")
        assert "runflat spares" in Elements(page).text
        assert path.name not in Elements(page).text


def test_the_study_has_its_figures_and_variants(pages: dict[str, Path]) -> None:
    drawn = figures(pages["study"].read_text(encoding="utf-8"))
    assert {key for key in drawn if key[0] == "spares-collisions"} == {
        ("spares-collisions", "0"),
        ("spares-collisions", "1"),
    }
    # 0D and 1D have one degree each: there is nothing to select.
    assert [key for key in drawn if key[0] == "spares-selection"] == [("spares-selection", "0")]
    for kind in ("spares-selection", "spares-accumulated"):
        stacks = drawn[kind, "0"]["data"]
        for heights in zip(*(trace["y"] for trace in stacks), strict=True):
            assert sum(heights) == pytest.approx(100, abs=0.01)
    assert ("spares-unrecoverable", "0") in drawn


def test_the_means_drawn_are_those_of_the_rows(pages: dict[str, Path]) -> None:
    rows = run(
        "spares", "study", "--shape", "12x12", "--alloc", "2D(2,1)", "--policy", "hybrid(all)",
        "--failures", "1..12", "--samples", "40", "--json",
    ).json["rows"]  # fmt: skip
    traces = figures(pages["study"].read_text(encoding="utf-8"))["spares-collisions", "1"]["data"]
    mean = next(t for t in traces if t.get("name") == "<b>hybrid(2D+1D+0D)</b>")
    assert mean["y"][:12] == pytest.approx([row["average"] for row in rows], abs=1e-5)


def row(policy: str, failures: int, average: float, lost: float = 0.0) -> Row:
    return Row(policy, failures, 1000, 1, average, 9, {}, {}, {}, lost)


def test_a_lead_is_only_said_where_the_means_bear_it_out() -> None:
    means = {"a": [1.0, 2.0, 3.0, 4.0], "b": [2.0, 2.01, 2.9, 3.0]}
    rows = [row(name, at + 1, mean) for name, all_ in means.items() for at, mean in enumerate(all_)]
    errors = {(one.policy, one.failures): 0.02 for one in rows}
    assert leads(rows, errors) == [Lead("a", 1, 1, 1), Lead("b", 3, 4, 2)]
    wide = dict.fromkeys(errors, 1.0)
    assert leads(rows, wide) == []
    lucky = [row("a", 1, 1.0, lost=0.5), row("b", 1, 2.0)]
    assert leads(lucky, errors) == [], "a mean over the lucky sequences is not compared"


def test_few_sequences_are_not_compared() -> None:
    job = Job((5, 5), "2D(2,1)")
    means = {"a": 1.0, "b": 9.0}
    errors = {(name, 1): 0.1 for name in means}
    rows = [row(name, 1, mean) for name, mean in means.items()]
    assert campaign_answer(job, rows, errors)[0] == "a collides least on average at 1 failure."
    few = [replace(one, sequences=12) for one in rows]
    said = " ".join(campaign_answer(job, few, errors))
    assert "too few to say" in said
    assert "least on average" not in said


def nasty_study() -> str:
    points = [
        CollisionPoint(1, 5, 1, 1.5, 2, 1, 2, {0: 0.5, 1: 0.5}, {0: 0.5, 1: 0.5}, 0.0),
        CollisionPoint(2, 0, None, None, None, None, None, {}, {0: 0.5, 1: 0.5}, 1.0),
    ]
    return render_spares_study(
        SparesStudyReport(
            NASTY,
            [NASTY],
            [(NASTY, NASTY)],
            [PolicySeries(NASTY, [0, 1], points)],
            notes=[NASTY],
            command=NASTY,
        )
    )


def nasty_slides(shape: tuple[int, ...] = (2, 2)) -> str:
    step = SlideStep(0, "substituted", 0, [(0, 0, 3)], [(0, 2)], 2, NASTY)
    return render_slides(
        SlidesReport(
            NASTY,
            [NASTY],
            [(NASTY, NASTY)],
            shape,
            False,
            [0, 1],
            [0] * 16,
            1,
            [step],
            notes=[NASTY],
            command=NASTY,
        )
    )


def test_any_name_is_shown_and_none_is_obeyed() -> None:
    for page in (nasty_study(), nasty_slides()):
        assert "<script>alert" not in page
        assert Elements(page).text.count('<script>alert("x")</script>') > 4


def test_a_grid_of_four_dimensions_says_that_it_has_no_picture() -> None:
    page = nasty_slides((2, 1, 2, 1))
    assert "no picture of a grid of 4 dimensions" in Elements(page).text
    assert "slides-data" not in page
    assert "no picture" not in Elements(nasty_slides()).text


def test_other_traffic_is_drawn_without_messages() -> None:
    job = Job((5, 5), "2D(1,1)", traffic="alltoall", params={})
    found = job.substitute("1D", [7])
    report = slides_report_of(job, found, "1D", traffic="alltoall")
    assert report.loads is None
    assert "the page knows them for the stencil" in Elements(render_slides(report)).text


CLICKS = """<script>setTimeout(() => {
  const last = document.getElementById("slides-at");
  if (last) {
    for (let i = 0; i < 2; i += 1) document.getElementById("slides-next").click();
    for (const plane of ["0", "1", "2", ""]) {
      const select = document.getElementById("slides-plane");
      select.value = plane;
      select.dispatchEvent(new Event("input"));
    }
    const grid = document.getElementById("slides-grid");
    grid.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
    window.dispatchEvent(new Event("beforeprint"));
    window.dispatchEvent(new Event("afterprint"));
    document.getElementById("slides-play").click();
  }
  for (const select of document.querySelectorAll("select[data-chooses]")) {
    select.selectedIndex = select.options.length - 1;
    select.dispatchEvent(new Event("change"));
  }
}, 2000)</script>"""
"""What a reader does: steps, looks at other planes and at a node, prints, plays to the end."""


@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", ["study", "substitute"])
def test_the_page_works_in_a_browser(pages: dict[str, Path], tmp_path: Path, name: str) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("chromium is not installed: apt install chromium")
    page = tmp_path / "page.html"
    text = pages[name].read_text(encoding="utf-8")
    page.write_text(text.replace("</body>", CLICKS + "</body>"), encoding="utf-8")
    switches = [
        "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--disable-quic",
        "--window-size=1400,2400", "--virtual-time-budget=20000", "--enable-logging=stderr",
        "--v=0", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom",
    ]  # fmt: skip
    result = subprocess.run(
        [chromium, *switches, page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    log = result.stderr.splitlines()
    assert [line for line in log if re.search("CONSOLE|Uncaught|Refused to", line)] == []
    if name == "study":
        assert 'data-drawn="4"' in result.stdout
    else:
        assert 'data-shown="3"' in result.stdout, "played to the last step"
        assert re.search(r'id="slides-node"[^>]*>Node \d+ \(', result.stdout)
