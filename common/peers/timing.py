"""How long launches take: see __init__.py for the method.

Only `EventClock` needs a GPU: tests run the turns on a clock of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

SAMPLES = 100  # of each contender
WARM_UP = 10  # launches of each that are not timed
SECONDS = 1.0  # that a contender's samples may take, and its warm-up a tenth of that
LEAST_SAMPLES = 10  # however long they take: nine a side are enough for `make compare` on a full grid

MOST_SETS = 64


class TimingError(Exception):
    """A launch cannot be timed."""


class Clock(Protocol):
    def time(self, launch: Callable[[], object]) -> float:
        """Milliseconds that the GPU needs for what `launch` enqueues; it may be called several times."""


class EventClock:
    """CUDA events behind a kernel that spins until the host has enqueued everything."""

    LEAST_CYCLES = 1 << 17  # some 70 microseconds
    MOST_CYCLES = 1 << 28  # a seventh of a second: whoever takes longer to enqueue waits for the GPU

    def __init__(self, cuda: Any) -> None:
        """`cuda` is the module torch.cuda."""
        self._cuda = cuda
        self._before = cuda.Event(enable_timing=True)
        self._after = cuda.Event(enable_timing=True)
        self._cycles = self.LEAST_CYCLES

    def time(self, launch: Callable[[], object]) -> float:
        while True:
            self._cuda._sleep(self._cycles)
            self._before.record()
            launch()
            self._after.record()
            in_time = not self._before.query()
            self._after.synchronize()
            if in_time:
                # What delayed the host once need not do so again.
                self._cycles = max(self.LEAST_CYCLES, self._cycles - self._cycles // 32)
                return self._before.elapsed_time(self._after)
            if self._cycles >= self.MOST_CYCLES:
                raise TimingError("it waits for the GPU, so its time cannot be told from the host's")
            self._cycles *= 2


@dataclass(frozen=True)
class Plan:
    samples: int = SAMPLES
    warm_up: int = WARM_UP
    seconds: float = SECONDS
    least_samples: int = LEAST_SAMPLES


@dataclass
class Timed:
    """One contender: `launch` takes the number of the set of buffers to work on."""

    launch: Callable[[int], object]
    milliseconds: list[float]
    failure: str = ""  # why it could not be timed; then `milliseconds` says nothing


def rotations(set_bytes: int, l2_bytes: int) -> int:
    """Sets of buffers that together hold at least twice the L2 cache: 1 to 64, as timing_rotations."""
    return max(1, min(MOST_SETS, -(-2 * l2_bytes // set_bytes)))


def _rounds(
    contenders: list[Timed], clock: Clock, sets: Iterator[int], rounds: int, least: int, seconds: float
) -> list[list[float]]:
    """The times of each contender; who has used up its seconds sits the remaining rounds out."""
    times: list[list[float]] = [[] for _ in contenders]
    for done in range(rounds):
        for contender, own in zip(contenders, times):
            if contender.failure or (done >= least and sum(own) >= 1e3 * seconds):
                continue
            try:
                own.append(clock.time(lambda: contender.launch(next(sets))))
            except TimingError as error:
                contender.failure = str(error)
    return times


def run(contenders: list[Timed], set_count: int, clock: Clock, plan: Plan = Plan()) -> None:
    """Times all contenders in turn. Every launch, whoever's it is, takes the next set of buffers."""

    def take_sets() -> Iterator[int]:
        while True:
            yield from range(set_count)

    sets = take_sets()
    _rounds(contenders, clock, sets, plan.warm_up, 1, plan.seconds / 10)
    times = _rounds(contenders, clock, sets, plan.samples, plan.least_samples, plan.seconds)
    for contender, own in zip(contenders, times):
        contender.milliseconds[:] = own
