"""Parts written in Python: engines, generators, fault models and workloads by name.

A registered part is used wherever a built-in one is, on the command line too if the module that registers it is named by
`RUNFLAT_PLUGINS` (module names separated by commas), and passes through the same checks. A built-in name is not replaced.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from runflat import _core
from runflat._core import RunflatError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from runflat.faults import Faults
    from runflat.machine import Machine
    from runflat.outcome import Refusal

    Engine = Callable[..., "NDArray[np.uint8] | Refusal"]
    Generator = Callable[..., Machine]
    FaultModel = Callable[..., Faults]
    Workload = Callable[..., "Sequence[NDArray[np.uint64]]"]

Part = TypeVar("Part", bound=Callable[..., Any])

_parts: dict[str, dict[str, Callable[..., Any]]] = {
    "engine": {},
    "generator": {},
    "fault model": {},
    "workload": {},
}


def engine(name: str) -> Callable[[Part], Part]:
    """Register a routing engine.

    The function is called as `function(machine, roots=[...], max_vl=8)` with the broken machine and returns forwarding
    tables, an array of uint8 of shape (switches, LIDs) with the port by which each switch forwards to each LID (255:
    none, 0: the switch itself), or a `Refusal`.

    Parameters
    ----------
    name : str
        Its name in commands and plans.

    Returns
    -------
    callable
        A decorator.

    Raises
    ------
    RunflatError
        If the name is taken.
    """
    return _register("engine", name, [part["name"] for part in _core.engines()])


def generator(name: str) -> Callable[[Part], Part]:
    """Register a machine generator, called as `function(seed=1, **params)`; returns a `Machine`.

    Parameters
    ----------
    name : str
        Its name in commands and plans. Parameters arrive as text.

    Returns
    -------
    callable
        A decorator.

    Raises
    ------
    RunflatError
        If the name is taken.
    """
    return _register("generator", name, [part["name"] for part in _core.generators()])


def fault_model(name: str) -> Callable[[Part], Part]:
    """Register a fault model, called as `function(machine, seed=1, sample=0, **params)`; returns `Faults`.

    Parameters
    ----------
    name : str
        Its name in commands and plans. Parameters arrive as text.

    Returns
    -------
    callable
        A decorator.

    Raises
    ------
    RunflatError
        If the name is taken.
    """
    return _register("fault model", name, [part["name"] for part in _core.fault_models()])


def workload(name: str, *, steady: bool) -> Callable[[Part], Part]:
    """Register a workload, called as `function(ranks, seed=1, **params)`; returns its phases.

    A phase is an array of uint64 of shape (messages, 3): source rank, target rank, payload in bytes.

    Parameters
    ----------
    name : str
        Its name in commands and plans. Parameters arrive as text.
    steady : bool
        Whether messages go on for ever (rates are asked for) or end (times are).

    Returns
    -------
    callable
        A decorator.

    Raises
    ------
    RunflatError
        If the name is taken.
    """

    def mark(function: Part) -> Part:
        function.steady = steady  # type: ignore[attr-defined]
        return function

    register = _register("workload", name, [part["name"] for part in _core.workloads()])
    return lambda function: register(mark(function))


def find(kind: str, name: str) -> Callable[..., Any] | None:
    """Return the registered part of that kind and name, if there is one."""
    return _parts[kind].get(name)


def call(kind: str, name: str, *args: Any, **kwargs: Any) -> Any:
    """Call a registered part.

    Raises
    ------
    RunflatError
        If the part raises anything else; the message names it.
    """
    try:
        return _parts[kind][name](*args, **kwargs)
    except RunflatError:
        raise
    except Exception as error:
        raise RunflatError(f"{kind} `{name}` failed: {type(error).__name__}: {error}") from error


def names(kind: str) -> list[str]:
    """Return the names of all registered parts of a kind, in order of registration."""
    return list(_parts[kind])


def load_named() -> None:
    """Import the modules that `RUNFLAT_PLUGINS` names.

    Raises
    ------
    RunflatError
        If one cannot be imported.
    """
    if os.environ.get("RUNFLAT_PLUGINS") and "" not in sys.path and str(Path.cwd()) not in sys.path:
        # A module in the current folder is found, as `python -m` finds it.
        sys.path.insert(0, str(Path.cwd()))
    for module in filter(None, os.environ.get("RUNFLAT_PLUGINS", "").split(",")):
        try:
            importlib.import_module(module.strip())
        except Exception as error:
            raise RunflatError(
                f"RUNFLAT_PLUGINS names module `{module}`, which cannot be imported: "
                f"{type(error).__name__}: {error}"
            ) from error


def _register(kind: str, name: str, built_in: list[str]) -> Callable[[Part], Part]:
    def register(function: Part) -> Part:
        known = _parts[kind].get(name)
        if name in built_in or (known is not None and known.__module__ != function.__module__):
            raise RunflatError(f"there is already a {kind} called `{name}`; choose another name")
        _parts[kind][name] = function
        return function

    return register
