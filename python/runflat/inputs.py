"""What users hand over: parameters as text, and files."""

from __future__ import annotations

from pathlib import Path

from runflat._core import FormatError


def read_file(path: str | Path) -> tuple[bytes, str]:
    """Read a file; returns its bytes and what messages call it."""
    try:
        return Path(path).read_bytes(), str(path)
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror}; give a file") from error


def as_text(value: object) -> str:
    """Write a parameter as plans and commands do: lists with commas, booleans in lower case."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ",".join(as_text(item) for item in value)
    return str(value)
