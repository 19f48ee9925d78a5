"""Spare nodes: how many, where, who replaces whom, and what it costs.

>>> from runflat import spares
>>> job = spares.Job((8, 8), "2D(2,1)")
>>> job.substitute("hybrid(all)", [(3, 3)]).collision_max
1

Source: Hori et al., "Overhead of Using Spare Nodes", 2016.
"""

from runflat._core import SparesError, spare_share
from runflat.spares.campaign import Campaign, Row, Tally
from runflat.spares.hosts import Hosts
from runflat.spares.job import Choices, Job, Move, Step, Substitution
from runflat.spares.launch import Launch, LaunchFile
from runflat.spares.shape import read_nodes, read_shape
from runflat.spares.sizing import Candidate, Run
from runflat.spares.worst import Worst, WorstCase

__all__ = [
    "Campaign",
    "Candidate",
    "Choices",
    "Hosts",
    "Job",
    "Launch",
    "LaunchFile",
    "Move",
    "Row",
    "Run",
    "SparesError",
    "Step",
    "Substitution",
    "Tally",
    "Worst",
    "WorstCase",
    "read_nodes",
    "read_shape",
    "spare_share",
]
