"""The whole way: a plan is run by the command line, and its page opens in a real browser."""

import html
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from command import ROOT, STAGE, run

PLAN = f'''title = "end to end"
[[machine]]
name = "stage"
file = "{STAGE}"
[[machine]]
make = "torus(4,4)"
[faults]
levels = ["0", "2", "4"]
samples = 3
params = {{ keep_connected = true }}
[recovery]
engines = ["minhop", "updn"]
[measure]
lost_paths_patterns = 5
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    answer = run("study", "run", folder / "plan.toml", "-o", folder / "out")
    assert answer.status == 0, answer.err
    assert f"report: {folder / 'out' / 'report.html'}" in answer.out
    return folder


@pytest.fixture(scope="module")
def opened(folder: Path) -> tuple[str, str]:
    """The document after its scripts ran, and the browser's log."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("chromium is not installed: apt install chromium")
    switches = [
        "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--disable-quic",
        "--window-size=1400,2400", "--virtual-time-budget=20000", "--enable-logging=stderr",
        "--v=0", f"--user-data-dir={folder / 'profile'}", "--dump-dom",
    ]  # fmt: skip
    page = (folder / "out" / "report.html").as_uri()
    result = subprocess.run(
        [chromium, *switches, page], capture_output=True, text=True, timeout=120, check=True
    )
    return result.stdout, result.stderr


def test_the_page_stands_alone(folder: Path) -> None:
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
    assert not re.search(r'<(script|link|img)[^>]+(src|href)="https?:', page)
    moved = folder / "alone" / "page.html"
    moved.parent.mkdir()
    assert run("study", "report", folder / "out", "-o", moved).status == 0
    assert moved.read_text(encoding="utf-8") == page


def test_the_page_holds_the_answer_and_where_it_comes_from(folder: Path) -> None:
    text = html.unescape((folder / "out" / "report.html").read_text(encoding="utf-8"))
    page = re.sub("</?span[^>]*>", "", text.replace("\N{NO-BREAK SPACE}", " "))
    answer = run("study", "merge", folder / "plan.toml", "-o", folder / "out", "--json").json
    for machine in answer["machines"]:
        assert machine["name"] in page
        for sentence in machine["answer"]:
            assert sentence in page
    assert "keep_connected = true" in page, "the plan is on the page"
    assert STAGE.name in page


@pytest.mark.timeout(180)
def test_the_page_opens_without_console_errors(opened: tuple[str, str]) -> None:
    log = opened[1].splitlines()
    assert [line for line in log if re.search("CONSOLE|Uncaught|Refused to", line)] == []


@pytest.mark.timeout(180)
def test_all_figures_of_all_machines_are_drawn(folder: Path, opened: tuple[str, str]) -> None:
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    slots = re.findall(r'<div class="plot" id="([^"]+)"', page)
    assert len(slots) == 2 * 4, "throughput, received, lost paths and map of two machines"
    document = opened[0]
    assert f'data-drawn="{len(slots)}"' in document
    for slot in slots:
        drawn = re.search(rf'<div class="plot js-plotly-plot" id="{slot}".*?<svg', document, re.S)
        assert drawn is not None, slot
    assert document.count('<svg class="main-svg"') >= 2 * len(slots)


def test_a_page_from_the_finished_folder_alone_needs_the_fabric_file_no_more_than_the_plan_says(
    folder: Path, tmp_path: Path
) -> None:
    for name in ("throughput.parquet", "lost_paths.parquet"):
        shutil.copy(folder / "out" / name, tmp_path)
    answer = run("study", "report", tmp_path)
    assert answer.status == 0, answer.err
    assert (tmp_path / "report.html").stat().st_size > 1_000_000


def test_the_examples_plan_names_its_schema() -> None:
    for plan in (ROOT / "examples").glob("*.toml"):
        assert plan.read_text(encoding="utf-8").startswith("#:schema ../docs/plan.schema.json\n")
