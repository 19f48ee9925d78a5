"""The tables of a study, kept as Parquet with all that is needed to make them again."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runflat import _core
from runflat._core import Table, TableError
from runflat.study.plan import Plan, parse_plan

if TYPE_CHECKING:
    from runflat.study.scenario import Row

RUN = "run.json"
"""What differs from run to run is kept apart from the results, whose bytes do not."""

HEAD = [
    ("scenario", "int"),
    ("machine", "str"),
    ("engine", "str"),
    ("level", "str"),
    ("sample", "int"),
    ("failed_links", "int"),
    ("failed_switches", "int"),
    ("failed_nodes", "int"),
    ("cut_nodes", "int"),
    ("workload", "str"),
    ("outcome", "str"),
    ("reason", "str"),
]
COLUMNS = {
    "throughput": [
        *HEAD,
        ("verdict", "str"),
        ("vls", "int"),
        ("layers", "int"),
        ("changed_entries", "int"),
        ("cycle", "str"),
        ("pairs", "int"),
        ("unreachable_pairs", "int"),
        ("cut_pairs", "int"),
        ("hops_max", "int"),
        ("hops_mean", "float"),
        ("forwarding_index_max", "int"),
        ("forwarding_index_mean", "float"),
        ("simulation", "str"),
        ("deadlock", "str"),
        ("throughput_gb_s", "float"),
        ("half_width_gb_s", "float"),
        ("latency_ns_mean", "float"),
        ("latency_ns_p99", "float"),
        ("simulated_ns", "float"),
        ("collision_max", "int"),
        ("unrouted_messages", "int"),
        ("received_gb_s_min", "float"),
        ("received_gb_s_q1", "float"),
        ("received_gb_s_median", "float"),
        ("received_gb_s_q3", "float"),
        ("received_gb_s_max", "float"),
    ],
    "lost_paths": [*HEAD, ("lost_paths", "int"), ("extrapolated", "float")],
}


@dataclass(frozen=True)
class Results:
    """Tables of a finished study.

    Attributes
    ----------
    plan : Plan
        What was asked.
    throughput : Table
        A row a (machine, engine, level, sample): outcome, verdict, lengths, forwarding index, throughput.
    lost_paths : Table
        A row a (machine, engine, level, pattern): routes cut before re-routing, and the extrapolation.
    """

    plan: Plan
    throughput: Table
    lost_paths: Table

    @classmethod
    def from_rows(cls, plan: Plan, tables: dict[str, list[Row]]) -> Results:
        """Make tables of rows in order of scenarios."""
        return cls(plan, **{name: Table.from_rows(COLUMNS[name], tables[name]) for name in COLUMNS})

    def write(self, folder: Path) -> list[Path]:
        """Write `throughput.parquet` and `lost_paths.parquet`, each in one piece or not at all.

        Parameters
        ----------
        folder : Path
            Where to.

        Returns
        -------
        list of Path
            The files. The same plan, seed and version give the same bytes.
        """
        paths = []
        for name in COLUMNS:
            path = folder / f"{name}.parquet"
            table: Table = getattr(self, name)
            write_whole(path, table.to_parquet(list(provenance(self.plan).items())))
            paths.append(path)
        return paths

    @classmethod
    def read(cls, folder: str | Path) -> Results:
        """Read what `write` wrote.

        Parameters
        ----------
        folder : str or Path
            Where the Parquet files are.

        Returns
        -------
        Results
            The tables and the plan they came from.

        Raises
        ------
        TableError
            If a file is missing or was not written by runflat.
        """
        folder = Path(folder)
        tables = {}
        for name in COLUMNS:
            path = folder / f"{name}.parquet"
            try:
                tables[name] = Table.from_parquet(path.read_bytes())
            except OSError as error:
                raise TableError(
                    f"{path}: cannot be read: {error.strerror}; "
                    "run the study first: runflat study run PLAN -o FOLDER"
                ) from error
            except TableError as error:
                raise TableError(f"{path}: is no results file: {error}") from error
        metadata = tables["throughput"].metadata
        if "runflat.plan" not in metadata:
            raise TableError(f"{folder}: the results do not say which plan they came from")
        plan_folder = Path(read_run(folder).get("plan_folder", folder))
        plan = parse_plan(metadata["runflat.plan"], plan_folder, label=f"plan of {folder}")
        return cls(plan, **tables)


def provenance(plan: Plan) -> dict[str, str]:
    """Return what is needed to make the results again; nothing that differs from run to run."""
    return {
        "runflat.version": _core.__version__,
        "runflat.commit": _core.COMMIT,
        "runflat.plan": plan.text,
        "runflat.key": plan.key,
        "runflat.seed": str(plan.seed),
        "runflat.inputs": json.dumps(plan.inputs),
    }


def read_run(folder: Path) -> dict[str, str]:
    """Read what is known of the run beside its results: where the plan lay, on which machine it ran, how long."""
    try:
        run = json.loads((folder / RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return run if isinstance(run, dict) else {}


def write_whole(path: Path, data: bytes) -> None:
    """Write a file in one piece or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
