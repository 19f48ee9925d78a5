"""What is wrong with an MPI installation or a launch."""

from runflat._core import RunflatError


class MpiError(RunflatError):
    """The MPI cannot be used, the library cannot be built, or what was asked for cannot be started."""
