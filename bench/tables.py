"""The record of `opensm.py` as tables in Markdown.

Ratios are OpenSM's median over ours, both CPU seconds; below 1 ours is slower.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

AS_OPENSM, DEFAULT = "as OpenSM", "default"


def page(record: dict[str, Any]) -> str:
    return "\n".join(
        [
            f"{record['processor']}, {record['cores']} cores, load average "
            f"{record['load_average_before']:.2f} before, OpenSM {record['opensm']}, "
            f"commit {record['commit']}; medians of {record['repeats']} runs, "
            f"OpenSM's of {record['opensm_repeats']} or of 1 (*)",
            "",
            *compared(record["results"]),
            "",
            *losses(record["results"]),
            "",
            *choices(record["choices"]),
            "",
            *scale(record["scale"]),
        ]
    )


def compared(results: Sequence[dict[str, Any]]) -> Iterable[str]:
    yield from table(
        ["fabric", "engine", "OpenSM: CPU ms", "as OpenSM: CPU ms", "ratio", "default: CPU ms", "ratio",
         "wall ms, 2 threads", "outcomes"],
        (row for result in results for row in rows(result)),
    )  # fmt: skip


def rows(result: dict[str, Any]) -> Iterable[list[str]]:
    runs = result["runs"]
    theirs = runs["opensm"]
    for variant in variants(runs):
        modes = [runs[f"{variant}, {mode}, 1"] for mode in (AS_OPENSM, DEFAULT)]
        walls = [runs[f"{variant}, {mode}, 2"]["wall_s"] for mode in (AS_OPENSM, DEFAULT)]
        once = "*" if theirs["repeats"] == 1 else ""
        cells = [milliseconds(theirs["cpu_s"]) + once if "cpu_s" in theirs else "-"]
        for mode in modes:
            cells += [milliseconds(mode["cpu_s"]), times(ratio(theirs, mode))]
        outcomes = [theirs["outcome"], *(lanes(mode) for mode in modes)]
        yield [
            result["fabric"], variant, *cells, ", ".join(milliseconds(wall, spread=False) for wall in walls),
            " / ".join(outcomes),
        ]  # fmt: skip


def variants(runs: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(name.rsplit(", ", 2)[0] for name in runs if name != "opensm"))


def ratio(theirs: dict[str, Any], mode: dict[str, Any]) -> float | None:
    return theirs["cpu_s"]["median"] / mode["cpu_s"]["median"] if "cpu_s" in theirs else None


def losses(results: Sequence[dict[str, Any]]) -> Iterable[str]:
    found = []
    for result in results:
        runs = result["runs"]
        for variant in variants(runs):
            for mode in (AS_OPENSM, DEFAULT):
                run = runs[f"{variant}, {mode}, 1"]
                factor = ratio(runs["opensm"], run)
                if factor is None or factor >= 1:
                    continue
                again = runs["opensm"]["cpu_s"]["median"] / run["again_cpu_s"]["median"]
                found.append(
                    f"- {result['fabric']}, {variant}, {mode}: {factor:.2f}; "
                    f"{again:.2f} when the process has routed before"
                )
    yield "Slower than OpenSM:" if found else "Nowhere slower than OpenSM."
    yield from found


def choices(results: Sequence[dict[str, Any]]) -> Iterable[str]:
    names = [name for name in results[0] if name != "fabric"] if results else []
    yield from table(
        ["fabric", *(f"{name}: lanes, CPU ms" for name in names)],
        (
            [
                result["fabric"],
                *(
                    f"{lanes(result[name])}, {milliseconds(result[name]['cpu_s'])}"
                    for name in names
                ),
            ]
            for result in results
        ),
    )


def scale(results: Sequence[dict[str, Any]]) -> Iterable[str]:
    if not results:
        return
    yield from table(
        ["fabric", "engine", "wall s", "aim", "CPU s", "peak GiB", "aim", "check: wall s", "peak GiB"],
        (
            [
                result["fabric"], result["engine"], seconds(result["wall_s"]),
                f"< {result['goals']['wall_s']:g}", seconds(result["cpu_s"]),
                gigabytes(result["peak_bytes"]),
                "< 8" if "peak_bytes" in result["goals"] else "",
                seconds(result["check_wall_s"]), gigabytes(result["check_peak_bytes"]),
            ]
            for result in results
        ),
    )  # fmt: skip


def lanes(run: dict[str, Any]) -> str:
    """Name the outcome, with the lanes it takes."""
    return run["outcome"] if "layers" not in run else f"{run['outcome']} {run['layers']}"


def seconds(spread: dict[str, float]) -> str:
    return f"{spread['median']:.2f} ({spread['min']:.2f}-{spread['max']:.2f})"


def milliseconds(times: dict[str, float], *, spread: bool = True) -> str:
    middle, low, high = (digits(1000 * times[key]) for key in ("median", "min", "max"))
    return f"{middle} ({low}-{high})" if spread else middle


def digits(value: float) -> str:
    """Write three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def gigabytes(spread: dict[str, float]) -> str:
    return f"{spread['max'] / 2**30:.2f}"


def times(factor: float | None) -> str:
    return "-" if factor is None else f"{factor:.1f}" if factor < 100 else f"{factor:.0f}"


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> Iterable[str]:
    for cells in (head, ["---"] * len(head), *body):
        yield "| " + " | ".join(cells) + " |"


def progress(result: dict[str, Any]) -> str:
    return "\n".join(" | ".join(cells) for cells in rows(result))


if __name__ == "__main__":
    import json
    from pathlib import Path

    print(page(json.loads(Path(sys.argv[1]).read_text(encoding="ascii"))))
