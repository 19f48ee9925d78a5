"""OpenSM's routing engines restated in a few lines of plain Python, each checked entry by entry against the running OpenSM.

Independent of the package: dictionaries, lists and numpy arrays for the answer. Slow on purpose; fit for some hundred
switches. Written from descriptions, from the papers and from what the programs do.
"""

from opensm.reference.minhop import dor, minhop, updn
from opensm.reference.sssp import sssp
from opensm.reference.wiring import Wiring, map_key

__all__ = ["Wiring", "dor", "map_key", "minhop", "sssp", "updn"]
