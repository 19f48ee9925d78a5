"""The same fabric with other GUIDs, LIDs and port numbers, so that no two orders that OpenSM could use coincide.

Generated machines have GUIDs that count up with the index, LIDs that count up with the GUID and node ports below the cables;
on them a wrong guess of OpenSM's order is often right by accident.
"""

from __future__ import annotations

import random
import re

from runflat import Machine, _core


def scrambled(
    machine: Machine, seed: int, *, lids: bool = True, ports: bool = True
) -> tuple[Machine, str]:
    """Rewrite a machine.

    Parameters
    ----------
    machine : Machine
        The machine.
    seed : int
        Which GUIDs, LIDs and port numbers it gets.
    lids : bool
        Whether LIDs are drawn anew; if not they are left out, and OpenSM gives its own.
    ports : bool
        Whether the ports of switches are permuted.

    Returns
    -------
    machine : Machine
        The same cables between parts of the same names, in another order.
    text : str
        What ibsim shall read.
    """
    draw = random.Random(seed)
    text = machine.write("ibnetdiscover")
    new: dict[int, int] = {}
    for table in (machine.switches(), machine.nodes()):
        for guid in table.column("guid"):
            # The last byte counts most in OpenSM's order; it keeps room for the ports of a node.
            new[int(guid, 16)] = draw.getrandbits(55) << 8 | draw.randrange(1, 240)

    def moved(match: re.Match[str]) -> str:
        guid = int(match[0], 16)
        port = next((offset for offset in range(16) if guid - offset in new), None)
        # What is neither part nor port is the GUID of a system; systems stay.
        return match[0] if port is None else f"{new[guid - port] + port:016x}"

    text = GUID.sub(moved, text)
    if ports:
        text = permuted(text, draw)
    real = list(range(1, 8 * machine.lid_count))
    draw.shuffle(real)
    given: dict[str, int] = {}

    def lid(match: re.Match[str]) -> str:
        if not lids:
            return "lid 0"
        return f"lid {given.setdefault(match[1], real[len(given)])}"

    text = LID.sub(lid, text)
    core, warnings = _core.Machine.read(text.encode(), machine.name)
    assert not warnings, warnings
    return Machine(core), text


def permuted(text: str, draw: random.Random) -> str:
    """Permute the ports of each switch in an ibnetdiscover text.

    Parameters
    ----------
    text : str
        The text.
    draw : random.Random
        Where the permutations come from.

    Returns
    -------
    str
        The text with other port numbers at both ends of each cable.
    """
    new: dict[str, list[int]] = {}
    for count, name in re.findall(r'^Switch\t(\d+) "(S-[0-9a-f]+)"', text, re.MULTILINE):
        order = list(range(1, int(count) + 1))
        draw.shuffle(order)
        new[name] = [0, *order]
    lines, here = [], ""
    for line in text.splitlines():
        if head := re.match(r'(?:Switch|Ca)\t\d+ "([^"]+)"', line):
            here = head[1]
        elif own := re.match(r"\[(\d+)\]", line):
            port = new.get(here, list(range(256)))[int(own[1])]
            line = f"[{port}]{line[own.end() :]}"
        line = re.sub(
            r'"(S-[0-9a-f]+)"\[(\d+)\]',
            lambda match: f'"{match[1]}"[{new[match[1]][int(match[2])]}]',
            line,
        )
        lines.append(line)
    return "\n".join(lines) + "\n"


GUID = re.compile(r"(?<=[(x-])[0-9a-f]{13,16}(?=[\"()\s])")
LID = re.compile(r"lid (\d+)(?= lmc| 4x|$)")
