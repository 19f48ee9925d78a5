"""The signals that end a program, as an exception, so that what it has started is ended first.

Limits: Python handles signals in its main thread alone; in another one they stay as they are.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(BaseException):
    """A signal ends the run; `number` is its own."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Stop:
    """SIGINT, SIGTERM and SIGHUP; raised once, and only while armed."""

    def __init__(self) -> None:
        self.armed = False
        self._early: int | None = None

    def arm(self) -> None:
        """Raise from now on, and what came before now."""
        self.armed = True
        if self._early is not None:
            self._raise(self._early)

    def take(self, number: int, _frame: FrameType | None) -> None:
        """Handle a signal."""
        if self.armed:
            self._raise(number)
        self._early = number

    def _raise(self, number: int) -> None:
        self.armed = False
        raise Interrupted(number)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handle the signals; where Python does not allow it, in other threads, leave them as they are."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {}
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # What whoever started us has ignored stays so, as under nohup.
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, self.take)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
