"""Times work that several processes do together, a GPU each: the rounds of common/timing, which rank 0 leads.

Rank 0 draws the order of a round, as for one GPU, and announces to the others what comes next. The ranks that have a
part in it do it at the same time, and the slowest one's time counts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .timing import Library, Plan, Reading, Run, tell

END = -1  # in place of the number of a work


@dataclass
class Work:
    """What is timed: a contender on the first `gpus` ranks."""

    name: str
    gpus: int
    launches: int  # one behind the other in a round
    milliseconds: Callable[[], float]  # of a launch; on each of its ranks, with the answer of the slowest


def group_plan(library: Library, rehearse: bool) -> Plan:
    """As common/tools/groups has it: one time in each burst, that of several launches in a row, and as many rounds as
    the noise asks for."""
    plan = library.default_plan()
    plan.burst_ms, plan.graph_below_ms, plan.warm_up, plan.quiet = 0, 0, 1, True
    plan.seconds_least = math.inf
    if rehearse:
        plan.rounds_least = plan.rounds_most = 1
    return plan


def lead(
    library: Library,
    works: Sequence[Work],
    plan: Plan,
    announce: Callable[[int], None],
    read: Callable[[int], Reading],
    pause: Callable[[float], None] = time.sleep,
) -> Run:
    """Rank 0. `read` gives the state of so many GPUs. An exception of a work ends it, without a word to the others."""
    told = tell(read(1), pause)

    def launch(number: int) -> Callable[[int], None]:
        def call(_rotation: int) -> None:
            announce(number)
            told.milliseconds = works[number].milliseconds()
            told.state = read(works[number].gpus)

        return call

    run = library.run([(work.name, launch(i)) for i, work in enumerate(works)], plan, None, told=told)
    announce(END)
    return run


def follow(works: Sequence[Work], rank: int, hear: Callable[[], int]) -> None:
    """Any other rank: does its part in what it hears, up to END."""
    while (number := hear()) != END:
        if rank < works[number].gpus:
            works[number].milliseconds()
