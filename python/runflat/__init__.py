"""runflat: what a failure costs on a large machine, and how to keep the job running.

The nouns follow the data: a `Machine` breaks (`Machine.fail`), is routed again (`Machine.route`), and a workload is run
over what is left (`Routing.simulate`). A `Study` does that for many scenarios.

>>> import runflat
>>> tree = runflat.make("4-ary 2-tree")
>>> broken = tree.fail(links="10%", seed=7)
>>> routing = broken.route("minhop")
>>> routing.check().verdict
'ok'
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runflat._core import (
        FaultError,
        FlitError,
        FormatError,
        GeneratorError,
        RoutingError,
        RunflatError,
        SparesError,
        Table,
        TableError,
        WorkloadError,
        __version__,
    )
    from runflat.faults import Faults
    from runflat.machine import Machine, load, make
    from runflat.outcome import Check, Refusal, Update
    from runflat.plugins import engine, fault_model, generator, workload
    from runflat.routing import Routing, engine_names
    from runflat.simulation import Congestion, Flit, FlitOptions
    from runflat.study import Study

__all__ = [
    "Check",
    "Congestion",
    "FaultError",
    "Faults",
    "Flit",
    "FlitError",
    "FlitOptions",
    "FormatError",
    "GeneratorError",
    "Machine",
    "Refusal",
    "Routing",
    "RoutingError",
    "RunflatError",
    "SparesError",
    "Study",
    "Table",
    "TableError",
    "Update",
    "WorkloadError",
    "__version__",
    "engine",
    "engine_names",
    "fault_model",
    "generator",
    "load",
    "make",
    "workload",
]

_HOME = {
    name: module
    for module, names in {
        "runflat._core": "FaultError FlitError FormatError GeneratorError RoutingError RunflatError SparesError Table TableError WorkloadError __version__",
        "runflat.faults": "Faults",
        "runflat.machine": "Machine load make",
        "runflat.outcome": "Check Refusal Update",
        "runflat.plugins": "engine fault_model generator workload",
        "runflat.routing": "Routing engine_names",
        "runflat.simulation": "Congestion Flit FlitOptions",
        "runflat.study": "Study",
    }.items()
    for name in names.split()
}
"""Where each name comes from. It is imported when it is asked for: a rank of an MPI job has `runflat.mpi` without NumPy and all the rest."""

if not TYPE_CHECKING:  # so that names which there are not stay errors

    def __getattr__(name: str) -> object:
        """Import what is asked for."""
        if name not in _HOME:
            raise AttributeError(f"module 'runflat' has no attribute {name!r}")
        globals()[name] = found = getattr(import_module(_HOME[name]), name)
        return found


def __dir__() -> list[str]:
    """List what there is, imported or not."""
    return __all__
