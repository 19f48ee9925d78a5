"""The page in a real browser. Skipped by name where none is installed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from sample import study

from runflat.report import render

FIGURES = 8

CHOOSE = """<script>setTimeout(() => {
  for (const select of document.querySelectorAll("select")) {
    select.selectedIndex = select.options.length - 1;
    select.dispatchEvent(new Event("change"));
  }
  window.dispatchEvent(new Event("beforeprint"));
  window.dispatchEvent(new Event("afterprint"));
}, 3000)</script>"""
"""What a reader does: takes the last entry of every list, then prints."""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Document after its scripts ran, and the browser's log."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("chromium is not installed: apt install chromium")
    folder = tmp_path_factory.mktemp("page")
    page = folder / "report.html"
    page.write_text(render(study()).replace("</body>", CHOOSE + "</body>"), encoding="utf-8")
    result = run_browser(chromium, folder, page, "--dump-dom")
    return result.stdout, result.stderr


def run_browser(
    chromium: str, folder: Path, page: Path, *what: str
) -> subprocess.CompletedProcess[str]:
    switches = [
        "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--window-size=1400,2400",
        "--virtual-time-budget=20000", "--enable-logging=stderr", "--v=0",
        f"--user-data-dir={folder / 'profile'}",
    ]  # fmt: skip
    return subprocess.run(
        [chromium, *switches, *what, page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


def test_page_opens_without_console_errors(opened: tuple[str, str]) -> None:
    complaints = [
        line for line in opened[1].splitlines() if re.search("CONSOLE|Uncaught|Refused to", line)
    ]
    assert complaints == []


def test_every_figure_is_drawn(opened: tuple[str, str]) -> None:
    document = opened[0]
    assert f'data-drawn="{FIGURES}"' in document
    assert document.count('class="plot js-plotly-plot"') == FIGURES
    # plotly lays two drawings over each other for one figure: traces, and what lies above them.
    drawings = re.findall(r'<svg class="main-svg"', document)
    assert len(drawings) >= 2 * FIGURES
    assert document.count('class="legendtext"') > FIGURES


def test_choosing_a_variant_and_printing_work(opened: tuple[str, str]) -> None:
    assert ">The axis does not start at zero.</span>" in opened[0]
    assert "<details open" not in opened[0]
