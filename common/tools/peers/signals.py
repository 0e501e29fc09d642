"""Signals that arrive while C code runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_Handler = Callable[[int, FrameType | None], object]


@contextmanager
def kept(raised: list[BaseException]) -> Iterator[None]:
    """Adds to `raised` what the handlers of signals raise, for as long as C code runs that calls functions of Python.

    Python runs a handler before the first line of the function that is called next. No `try` of that function sees
    what the handler raises, and it is lost.
    """

    def keep(handler: _Handler) -> _Handler:
        def call(number: int, frame: FrameType | None) -> None:
            try:
                handler(number, frame)
            except BaseException as error:
                raised.append(error)

        return call

    before: dict[int, _Handler] = {}
    if threading.current_thread() is threading.main_thread():  # no other thread handles signals
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            handler = signal.getsignal(number)
            if callable(handler):
                before[number] = handler
                signal.signal(number, keep(handler))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
