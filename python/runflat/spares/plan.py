"""Plans of campaigns: TOML files that say what fails, how often, and what is compared."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runflat._core import SparesError
from runflat.machine import load, make
from runflat.outcome import Refusal
from runflat.routing import Routing
from runflat.spares.campaign import Campaign
from runflat.spares.job import Choices, Job
from runflat.spares.shape import read_nodes


class SparesPlan(BaseModel):
    """A campaign as a TOML file has it."""

    model_config = ConfigDict(extra="forbid")

    title: str = ""
    seed: int = Field(1, ge=0, lt=2**64)
    shape: str
    torus: bool = False
    allocation: str
    traffic: str = "stencil"
    params: dict[str, str | int | float | bool] = {}
    policies: list[str] = Field(["hybrid(all)"], min_length=1)
    failures: int = Field(ge=1)
    samples: int = Field(ge=1)
    victims: str = "hosts"
    pick: str = "random"
    tie: str = "lowest"
    dead: str = ""
    sends: int | None = Field(None, ge=1)
    fold: str | None = None
    fabric: str | None = None
    engine: str | None = None

    @classmethod
    def read(cls, path: str | Path) -> SparesPlan:
        """Read a plan.

        Raises
        ------
        SparesError
            If the file cannot be read, or a key is unknown, missing or wrong.
        """
        try:
            return cls.model_validate(tomllib.loads(Path(path).read_text(encoding="utf-8")))
        except OSError as error:
            raise SparesError(f"{path}: cannot be read: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SparesError(f"{path}: no TOML: {error}") from error
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            if first["type"] == "extra_forbidden":
                raise SparesError(
                    f"{path}: there is no key `{where}`; keys are {', '.join(cls.model_fields)}"
                ) from error
            raise SparesError(f"{path}: `{where}`: {first['msg']}") from error

    def campaign(self) -> Campaign:
        """Make the campaign that it says."""
        written = {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in self.params.items()
        }
        job = Job(
            self.shape, self.allocation, torus=self.torus,
            traffic=self.traffic, params=written, seed=self.seed,
            sends=self.sends, network=network_of(self.fold, self.fabric, self.engine),
        )  # fmt: skip
        choices = Choices(pick=self.pick, tie=self.tie, victims=self.victims)
        return Campaign(
            job, tuple(self.policies), self.failures, choices, tuple(read_nodes(self.dead))
        )


def network_of(fold: str | None, fabric: str | None, engine: str | None) -> str | Routing | None:
    """Make the network that messages go over: one that the job is folded onto, a routed fabric, or its own grid.

    Raises
    ------
    SparesError
        If both are given, an engine has no fabric, or it refuses the fabric.
    """
    if fold is not None and fabric is not None:
        raise SparesError("a job is folded onto a machine or runs on a fabric: give one of both")
    if fabric is None:
        if engine is not None:
            raise SparesError(f"engine {engine!r} routes a fabric: name one, too")
        return fold
    if not Path(fabric).exists() and "(" not in fabric and ("/" in fabric or "." in fabric):
        raise SparesError(f"there is no file {fabric}")
    machine = load(fabric) if Path(fabric).exists() else make(fabric)
    routing = machine.route(engine or "dfsssp")
    if isinstance(routing, Refusal):
        raise SparesError(f"{engine or 'dfsssp'} refuses {fabric}: {routing}")
    return routing
