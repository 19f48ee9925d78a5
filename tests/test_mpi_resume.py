"""What an earlier job has left: whether a job can go on from it, and what has to be moved for that."""

from __future__ import annotations

from pathlib import Path

import pytest

from runflat.mpi_launch import MpiError
from runflat.mpi_launch.resume import Copy, check_left, moves, read_copies, whole_versions

STORE = Path("/scratch/heat")


def copies(text: str) -> set[Copy]:
    """Read HOST:VERSION:RANKS, as `a:60:012`."""
    parts = (one.split(":") for one in text.split())
    return {Copy(int(version), int(rank), host) for host, version, ranks in parts for rank in ranks}


def test_files_are_known_by_their_names() -> None:
    (whole,) = read_copies(
        [
            "n1.site/rank-12.00000000000000000060",
            "n1/rank-12.00000000000000000060.before",
            "n1/rank-1.00000000000000000060.4711",
            "n1/notes",
            "",
        ]
    )
    assert whole == Copy(60, 12, "n1.site")
    assert str(whole.path) == "n1.site/rank-12.00000000000000000060"


@pytest.mark.parametrize(
    ("left", "ranks", "said"),
    [
        ("", 2, "no job has left checkpoints"),
        ("a:60:0123", 3, "ranks up to 3, and this job has 3 ranks: give -n 4"),
        ("a:60:01", 3, r"no version .* \(ranks 0-1 have some\)"),
        ("a:60:01 b:50:02", 3, "no version"),
        ("a:60:0 b:60:2 b:50:1", 3, "no version"),
    ],
)
def test_what_is_not_whole_is_refused(left: str, ranks: int, said: str) -> None:
    with pytest.raises(MpiError, match=said):
        check_left(copies(left), ranks, STORE)


def test_versions_are_whole_over_all_hosts() -> None:
    assert whole_versions(copies("a:60:01 b:60:2 b:50:12 a:50:0 a:40:01"), 3) == {50, 60}


@pytest.mark.parametrize(
    ("left", "hosts", "moved"),
    [
        ("a:60:01 b:60:23", "ab", ""),
        # The next job of a queue has other hosts, or one of them is another.
        ("a:60:01 b:60:23", "cd", "a:0:c a:1:d b:2:c b:3:d"),
        ("a:60:01 b:60:23", "ac", "b:2:a b:3:c"),
        # A second copy is as good.
        ("a:60:0123 b:60:23", "ac", ""),
        ("a:60:01 b:60:23 x:60:01", "bc", "a:0:b a:1:c"),
        # The newest; but what hosts of the job have had a part in comes before what others have left.
        ("a:60:0123 a:70:0123", "c", "a:0:c a:1:c a:2:c a:3:c"),
        ("a:900:0123 b:60:01 d:60:23", "bc", "d:2:b d:3:c"),
    ],
)
def test_files_of_other_hosts_are_moved(left: str, hosts: str, moved: str) -> None:
    """All hosts see one folder."""
    seen = copies(left)
    found = moves(dict.fromkeys(hosts, seen), 4, STORE)
    told = " ".join(f"{old.host}:{old.rank}:{new.host}" for old, new in found.items())
    assert told == moved
    after = (seen - found.keys()) | set(found.values())
    assert whole_versions({one for one in after if one.host in hosts}, 4)
    newest = max(one.version for one in [*found, *seen] if one.version != 900)
    assert all(old.version == new.version == newest for old, new in found.items())


def test_what_a_host_alone_sees_stays_there() -> None:
    views = {"a": copies("a:60:01"), "b": copies("b:60:23")}
    assert moves(views, 4, STORE) == {}
    with pytest.raises(MpiError, match="ranks 0-1 have some"):
        moves({"a": views["a"], "c": set()}, 4, STORE)
