"""What repeated measurements say: the lab's own statistics and counts, called through ctypes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .grid import Shape
from .steps import AttentionShape, c_shape

SEED = 1  # of the bootstrap: the same samples give the same interval


class _Interval(ctypes.Structure):
    _fields_ = [("low", ctypes.c_double), ("high", ctypes.c_double)]


@dataclass(frozen=True)
class Summary:
    """Of samples in milliseconds; NaN where there is no answer."""

    median: float
    low: float  # 95 % interval of the median
    high: float
    p5: float
    p95: float


class Library:
    """libpeers.so: functions of common/statistics/statistics.h and common/shape/shape.h."""

    def __init__(self, path: Path) -> None:
        library = ctypes.CDLL(str(path.resolve()))
        samples = ctypes.POINTER(ctypes.c_double)
        self._percentile = library.statistics_percentile
        self._percentile.argtypes = [samples, ctypes.c_size_t, ctypes.c_double]
        self._percentile.restype = ctypes.c_double
        self._bootstrap = library.statistics_bootstrap_median
        self._bootstrap.argtypes = [samples, ctypes.c_size_t, ctypes.c_uint64]
        self._bootstrap.restype = _Interval
        self._operations = library.shape_operations
        self._operations.argtypes = [ctypes.POINTER(AttentionShape)]
        self._operations.restype = ctypes.c_double

    def summarise(self, milliseconds: Sequence[float]) -> Summary:
        count = len(milliseconds)
        samples = (ctypes.c_double * count)(*milliseconds)
        interval = self._bootstrap(samples, count, SEED)
        return Summary(
            median=self._percentile(samples, count, 50),
            low=interval.low,
            high=interval.high,
            p5=self._percentile(samples, count, 5),
            p95=self._percentile(samples, count, 95),
        )

    def tflops(self, shape: Shape, milliseconds: float) -> float:
        """10^12 operations a second, over the pairs of rows that the mask leaves visible."""
        return self._operations(ctypes.byref(c_shape(shape))) / milliseconds * 1e-9
