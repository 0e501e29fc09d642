"""The line of the record of one contender on one shape; needs no PyTorch."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .grid import Shape
from .record import COLUMNS, Row
from .table import FLASH
from .timing import Library, Ratio, Run


def make_row(known: dict[str, str], facts: dict[str, str]) -> Row:
    """All columns; those that nothing is known of are empty."""
    return {**dict.fromkeys(COLUMNS, ""), **known, **facts}


def _value(number: float) -> str:
    return "" if math.isnan(number) else f"{number:.6g}"


def ratio_columns(name: str, ratio: Ratio) -> Row:
    return {name: _value(ratio.ratio), f"{name}_low": _value(ratio.low), f"{name}_high": _value(ratio.high)}


def time_columns(library: Library, run: Run, name: str, shape: Shape) -> Row:
    """The times of a contender, how fast that is, and how the GPU was meanwhile."""
    figures = library.figures(run, name)
    times = figures.times
    return {
        "samples": str(times.samples),
        "median_ms": _value(times.median),
        "ci_low_ms": _value(times.low),
        "ci_high_ms": _value(times.high),
        "p5_ms": _value(times.p5),
        "p95_ms": _value(times.p95),
        "tflops": _value(library.tflops(shape, times.median)),
        "rounds": str(times.runs),
        "throttled_rounds": str(figures.throttled_rounds),
        "throttled": str(int(library.throttled(figures))),
        "run_clock_mhz": _value(figures.sm_clock_mhz),
        "run_power_w": _value(figures.power_w),
    }


@dataclass
class Measured:
    """What was timed together, by name: the steps in their order, and the peers."""

    library: Library
    run: Run
    steps: list[str]
    peers: list[str]

    def keep(self, names: set[str]) -> None:
        """Compares with these alone: others were found to be wrong after the timing."""
        self.steps = [name for name in self.steps if name in names]
        self.peers = [name for name in self.peers if name in names]

    def _median(self, name: str) -> float:
        return self.library.figures(self.run, name).times.median

    def _timed(self, names: list[str]) -> list[str]:
        return [name for name in names if self.run.contender(name).rounds > 0]

    def best_peer(self) -> str:
        """The fastest; "" when no peer was timed."""
        return min(self._timed(self.peers), key=self._median, default="")

    def _against(self, name: str, other: str) -> Ratio:
        return self.library.speedup(self.run, name, other)

    def _speedups(self, name: str) -> Row:
        """A step against the first step, and against the one before it."""
        steps = self._timed(self.steps)
        if name not in steps:
            return {}
        columns = {"base_step": steps[0], **ratio_columns("speedup", self._against(name, steps[0]))}
        if steps.index(name) > 0:
            before = steps[steps.index(name) - 1]
            columns |= {"before_step": before, **ratio_columns("speedup_before", self._against(name, before))}
        return columns

    def _shares(self, name: str) -> Row:
        """Of the speed of SDPA flash, and of the best peer."""
        columns: Row = {}
        if FLASH in self._timed(self.peers):
            columns |= ratio_columns("share_flash", self._against(name, FLASH))
        best = self.best_peer()
        if best:
            columns |= {"best_peer": best, **ratio_columns("share_best", self._against(name, best))}
        return columns

    def columns(self, name: str, shape: Shape) -> Row:
        """Times and what belongs to them."""
        graph = self.library.figures(self.run, name).graph
        floor = self.library.floor(self.run)
        replayed = graph.runs > 0
        return {
            **time_columns(self.library, self.run, name, shape),
            "graph_ms": _value(graph.median) if replayed else "",
            "graph_ci_low_ms": _value(graph.low) if replayed else "",
            "graph_ci_high_ms": _value(graph.high) if replayed else "",
            "floor_ms": _value(floor.empty_kernel),
            "floor_graph_ms": _value(floor.empty_kernel_graph),
            "floor_nothing_ms": _value(floor.nothing),
            **self._speedups(name),
            **self._shares(name),
        }
