"""Names of a machine's nodes, one host a node, in the order of their numbers.

Reads a file of names, one a line or as Slurm writes them (`n[0-35]`), and folds names together again. Does not ask any resource
manager. Limits: a name has letters, digits, `.` and `-`, and is not digits alone, which would be a node's number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from runflat._core import SparesError
from runflat.spares.shape import Node, read_nodes

MOST_HOSTS = 10_000_000
"""Names that one expression may stand for: more is a slip."""


@dataclass(frozen=True)
class Hosts:
    """Host of each node.

    Attributes
    ----------
    names : sequence of str
        By node number, x fastest.
    source : str
        Where they come from, for messages.
    """

    names: Sequence[str]
    source: str
    _numbers: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the names."""
        numbers = {name: number for number, name in enumerate(self.names)}
        object.__setattr__(self, "_numbers", numbers)

    @classmethod
    def numbered(cls, nodes: int) -> Hosts:
        """Names where none are given: `node0`, `node1`, ..."""
        return cls([f"node{number}" for number in range(nodes)], "the default names")

    @classmethod
    def read(cls, path: str | Path, shape: Sequence[int]) -> Hosts:
        """Read names from a file: one a line, or hostlists such as `n[0-35]`; `#` begins a comment.

        Parameters
        ----------
        path : str or Path
            The file.
        shape : sequence of int
            Nodes along each dimension of the machine; each needs a name.

        Raises
        ------
        SparesError
            If the file cannot be read, or a name is odd, given twice, missing or too many.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise SparesError(f"{path}: cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise SparesError(f"{path}: is no text: give one host name a line") from error
        lines: dict[str, int] = {}
        for number, line in enumerate(text.splitlines(), start=1):
            entry = line.partition("#")[0].strip()
            if not entry:
                continue
            if len(entry.split()) > 1:
                raise SparesError(
                    f"{path}: line {number}: give one host name a line and nothing else, got {entry!r}"
                )
            try:
                names = expand(entry)
            except SparesError as error:
                raise SparesError(f"{path}: line {number}: {error}") from error
            for name in names:
                if name in lines:
                    raise SparesError(
                        f"{path}: line {number}: host {name} is given twice, first in line {lines[name]}"
                    )
                lines[name] = number
        nodes = 1
        for length in shape:
            nodes *= length
        if len(lines) != nodes:
            machine = "x".join(map(str, shape))
            raise SparesError(
                f"{path}: names {len(lines)} hosts, but a machine of {machine} has {nodes} nodes: "
                f"give each node one, spares included, x fastest"
            )
        return cls(list(lines), str(path))

    def number(self, name: str) -> int:
        """Node of a host."""
        if name not in self._numbers:
            raise SparesError(
                f"there is no host {name!r} among the {len(self.names)} of {self.source}, "
                f"{self.names[0]} to {self.names[-1]}"
            )
        return self._numbers[name]

    def read_nodes(self, text: str) -> list[Node]:
        """Read `n17,(3,4),90`: nodes by name, by coordinates or by number."""
        found: list[Node] = []
        for word in re.findall(r"\([^()]*\)|(?:\[[^\]]*\]?|[^,\s\[])+", text):
            if word.startswith("(") or word.isdigit():
                found += read_nodes(word)
            elif word in self._numbers:
                found.append(self._numbers[word])
            else:
                found += [self.number(name) for name in expand(word)]
        return found


def expand(text: str) -> list[str]:
    """Read a hostlist: `n[0-2,7],login` is n0, n1, n2, n7 and login.

    Raises
    ------
    SparesError
        If brackets or ranges are wrong, or a name is none.
    """
    names = expand_any(text)
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*", name):
            raise SparesError(f"a host name has letters, digits, `.` and `-`; got {name!r}")
        if name.isdigit():
            raise SparesError(
                f"host {name!r} cannot be told from a node's number: use names with a letter"
            )
    return names


def expand_any(text: str) -> list[str]:
    """Read a list of names of any kind, as those of switches, that is written like a hostlist.

    Raises
    ------
    SparesError
        If brackets or ranges are wrong.
    """
    items = re.findall(r"(?:\[[^\[\]]*\]|[^,\[\]])+|[\[\],]", text)
    if any(item in "[]" for item in items) or items[::2] != [item for item in items if item != ","]:
        raise SparesError(f"a hostlist is written as n[0-35],m7; got {text!r}")
    names: list[str] = []
    for item in items[::2]:
        names += _expand_one(item)
    return names


def _expand_one(item: str) -> list[str]:
    names = [""]
    for part in re.findall(r"\[[^\]]*\]|[^\[]+", item):
        texts = _numbers(part) if part.startswith("[") else [part]
        if len(names) * len(texts) > MOST_HOSTS:
            raise SparesError(f"{item!r} stands for more than {MOST_HOSTS:,} hosts")
        names = [name + text for name in names for text in texts]
    return names


def _numbers(part: str) -> list[str]:
    found: list[str] = []
    for word in part.strip("[]").split(","):
        match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", word)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if match is None or first > last or last - first >= MOST_HOSTS:
            raise SparesError(f"numbers of hosts are written as [0-3,12], lowest first; got {part}")
        found += [f"{number:0{len(match[1])}}" for number in range(first, last + 1)]
    return found


def fold(names: Iterable[str]) -> str:
    """Write names as a hostlist: n0, n1, n2 and n7 as `n[0-2,7]`; the order is kept."""
    parts = []
    # Names without a number stand apart from those with one.
    splits = (_split(name) for name in names)
    for (prefix, _), group in groupby(splits, key=lambda split: (split[0], bool(split[1]))):
        ranges: list[list[str]] = []
        for _, digits in group:
            if ranges and digits and _follows(ranges[-1][-1], digits):
                ranges[-1][1:] = [digits]
            else:
                ranges.append([digits])
        inside = ",".join("-".join(ends) for ends in ranges)
        single = len(ranges) == 1 and len(ranges[0]) == 1
        parts.append(f"{prefix}{inside}" if single else f"{prefix}[{inside}]")
    return ",".join(parts)


def _split(name: str) -> tuple[str, str]:
    match = re.fullmatch(r"(.*?)(\d*)", name)
    assert match is not None
    return match[1], match[2]


def _follows(one: str, next_: str) -> bool:
    same_zeros = len(one) == len(next_) or not (one.startswith("0") or next_.startswith("0"))
    return bool(one) and same_zeros and int(next_) == int(one) + 1
