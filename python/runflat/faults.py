"""What has failed: sets of links, switches and nodes, by name."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from runflat._core import FaultError


@dataclass(frozen=True)
class Faults:
    """Failed parts by name, as the fabric file has them.

    Attributes
    ----------
    links : list of str
        Cables, `A[3] <-> B[7]`; one plug, `A[3]`, is enough to name one.
    switches, nodes : list of str
        Switches and nodes, by name or GUID.
    """

    links: list[str] = field(default_factory=list)
    switches: list[str] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.links) + len(self.switches) + len(self.nodes)

    @classmethod
    def read(cls, path: str | Path) -> Faults:
        """Read what `runflat faults draw -o` wrote.

        Parameters
        ----------
        path : str or Path
            A JSON file with the lists `failed_links`, `failed_switches` and `failed_nodes`.

        Returns
        -------
        Faults
            The failed parts.

        Raises
        ------
        FaultError
            If the file cannot be read or has something else in it.
        """
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise FaultError(f"{path}: cannot be read: {error.strerror}; {HOW_TO_WRITE}") from error
        except ValueError as error:
            where = f" in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
            message = f"{path}: no fault file: it is not JSON{where}; {HOW_TO_WRITE}"
            raise FaultError(message) from error
        kinds = ("links", "switches", "nodes")
        if not isinstance(data, dict) or not any(f"failed_{kind}" in data for kind in kinds):
            raise FaultError(
                f"{path}: no fault file: it has none of the lists "
                f"{', '.join(f'`failed_{kind}`' for kind in kinds)}; {HOW_TO_WRITE}"
            )
        lists = {}
        for kind in kinds:
            names = data.get(f"failed_{kind}", [])
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                raise FaultError(f"{path}: `failed_{kind}` must be a list of names; {HOW_TO_WRITE}")
            lists[kind] = names
        return cls(**lists)


HOW_TO_WRITE = "write one with `runflat faults draw -o`"
