"""The code stands in the order the data flows."""

import re
import tomllib
from pathlib import Path

CORE = Path(__file__).parent.parent / "crates/core/src"
POLICY = Path(__file__).parent.parent / "crates/policy"
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


def test_the_policy_library_needs_the_core_alone_and_is_unsafe_in_one_file() -> None:
    forbidden = re.compile(r"std::(fs|net|time|thread|process|env)\b|println!|eprintln!")
    for path in (POLICY / "src").rglob("*.rs"):
        code = path.read_text()
        is_unsafe = re.search(r"\bunsafe [{f]|allow\(unsafe_code", code)
        assert path.name == "abi.rs" or not is_unsafe, path
        assert path.name == "tests.rs" or not forbidden.search(code), path
    manifest = tomllib.loads((POLICY / "Cargo.toml").read_text())
    assert set(manifest["dependencies"]) == {"runflat-core"}


def test_the_policy_library_exports_what_its_header_declares() -> None:
    header = (POLICY / "include/runflat_policy.h").read_text()
    library = (POLICY / "src/abi.rs").read_text()
    declared = re.findall(r"^[\w *]+\b(runflat_policy_\w+)\(", header, re.M)
    assert declared == re.findall(r'extern "C" fn (runflat_policy_\w+)', library)
    codes = dict(re.findall(r"RUNFLAT_(?:POLICY_)?(\w+) (?:= )?(-?\d+)\b", header))
    assert codes == dict(re.findall(r"pub const (\w+): c_int = (-?\d+);", library))


def test_the_report_imports_nothing_else_of_the_package() -> None:
    for path in (CORE.parents[2] / "python/runflat/report").glob("*.py"):
        for module in re.findall(r"^(?:from|import) (runflat[\w.]*)", path.read_text(), re.M):
            assert module.startswith("runflat.report"), (path, module)
