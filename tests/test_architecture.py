"""The code stands in the order the data flows."""

import re
from pathlib import Path

CORE = Path(__file__).parent.parent / "crates/core/src"
ROOTS = {"grid", "ids", "parallel", "units", "rng", "params", "registry", "traffic"}
FLOW = ["machine", "faults", "recovery", "workload", "sim", "measure"]


def imports(folder: Path) -> set[tuple[str, str]]:
    """Modules of the crate that the files of a folder name, tests left out."""
    found = set()
    for path in folder.rglob("*.rs"):
        if path.name == "tests.rs":
            continue
        code = path.read_text().split("#[cfg(test)]\nmod tests")[0]
        found |= {(str(path), name) for name in re.findall(r"\bcrate::(\w+)", code)}
    return found


def test_a_folder_of_the_core_imports_only_earlier_ones() -> None:
    for at, name in enumerate(FLOW):
        allowed = ROOTS | {"load"} | set(FLOW[: at + 1])
        wrong = {(path, used) for path, used in imports(CORE / name) if used not in allowed}
        assert not wrong, wrong
    assert {used for _, used in imports(CORE / "load")} <= ROOTS


def test_the_core_opens_no_file_socket_or_clock() -> None:
    forbidden = re.compile(r"std::(fs|net|time|thread|process|env)\b|println!|eprintln!")
    for path in CORE.rglob("*.rs"):
        code = path.read_text().split("#[cfg(test)]\nmod tests")[0]
        assert path.name == "tests.rs" or not forbidden.search(code), path


def test_the_report_imports_nothing_else_of_the_package() -> None:
    for path in (CORE.parents[2] / "python/runflat/report").glob("*.py"):
        for module in re.findall(r"^(?:from|import) (runflat[\w.]*)", path.read_text(), re.M):
            assert module.startswith("runflat.report"), (path, module)
