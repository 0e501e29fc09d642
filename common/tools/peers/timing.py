"""How long launches take: the lab's own measuring, common/timing, called through ctypes.

Launches are Python functions. What the rounds, the bursts, the clock and the figures are stands in
common/timing/README.md; nothing of it is done here a second time.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import signals
from .grid import Shape
from .steps import AttentionShape, c_shape, open_library

MOST_ROUNDS = 30  # TIMING_MOST_ROUNDS
MOST_LAUNCHES = 20  # TIMING_MOST_LAUNCHES
FAILED = 999  # cudaErrorUnknown: what a launch answers that has raised an exception

NOTHING = "nothing"  # TIMING_NOTHING
EMPTY_KERNEL = "empty_kernel"  # TIMING_EMPTY_KERNEL
FLOORS = (NOTHING, EMPTY_KERNEL)


class TimingError(Exception):
    """A launch failed; the text is a sentence."""


class Reading(ctypes.Structure):
    """monitor_reading"""

    _fields_ = [("sm_clock_mhz", ctypes.c_double), ("power_w", ctypes.c_double), ("held_back", ctypes.c_bool)]


class Burst(ctypes.Structure):
    """timing_burst"""

    _fields_ = [
        ("place", ctypes.c_size_t),
        ("launches", ctypes.c_size_t),
        ("milliseconds", ctypes.c_double * MOST_LAUNCHES),
        ("median", ctypes.c_double),
        ("graph_ms", ctypes.c_double),
        ("state", Reading),
        ("throttled", ctypes.c_bool),
    ]


_LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)


class Contender(ctypes.Structure):
    """timing_contender"""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("launch", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
        ("bursts", ctypes.POINTER(Burst)),
        ("rounds", ctypes.c_size_t),
        ("failure", ctypes.c_char_p),
        ("no_buffers", ctypes.c_bool),
    ]


class Plan(ctypes.Structure):
    """timing_plan"""

    _fields_ = [
        ("rounds_least", ctypes.c_size_t),
        ("rounds_most", ctypes.c_size_t),
        ("seconds_least", ctypes.c_double),
        ("noise", ctypes.c_double),
        ("seconds_most", ctypes.c_double),
        ("burst_ms", ctypes.c_double),
        ("graph_below_ms", ctypes.c_double),
        ("warm_up", ctypes.c_size_t),
        ("rotations", ctypes.c_size_t),
        ("seed", ctypes.c_uint64),
        ("quiet", ctypes.c_bool),
        ("clock", ctypes.c_void_p),
    ]


class Clock(ctypes.Structure):
    """timing_clock, of a library's functions"""

    _fields_ = [(name, ctypes.c_void_p) for name in ("start", "stop", "read", "pause", "context")]


_PAUSE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_double)


class Told(ctypes.Structure):
    """told_time: what a launch says of itself that is timed in another way than by events of one stream"""

    _fields_ = [("milliseconds", ctypes.c_double), ("state", Reading), ("pause", _PAUSE)]


def tell(state: Reading, pause: Callable[[float], None]) -> Told:
    """With the state before the first launch, and what rests for so many seconds."""
    return Told(math.nan, state, _PAUSE(lambda _context, seconds: pause(seconds)))


class Summary(ctypes.Structure):
    """statistics_summary: milliseconds; NaN where there is no answer"""

    _fields_ = [
        ("runs", ctypes.c_size_t),
        ("samples", ctypes.c_size_t),
        ("median", ctypes.c_double),
        ("low", ctypes.c_double),
        ("high", ctypes.c_double),
        ("p5", ctypes.c_double),
        ("p95", ctypes.c_double),
    ]


class Figures(ctypes.Structure):
    """timing_figures"""

    _fields_ = [
        ("times", Summary),
        ("graph", Summary),
        ("throttled_rounds", ctypes.c_size_t),
        ("sm_clock_mhz", ctypes.c_double),
        ("power_w", ctypes.c_double),
    ]


class Floor(ctypes.Structure):
    """timing_floor"""

    _fields_ = [
        ("nothing", ctypes.c_double),
        ("empty_kernel", ctypes.c_double),
        ("empty_kernel_graph", ctypes.c_double),
    ]


class Ratio(ctypes.Structure):
    """statistics_ratio"""

    _fields_ = [("ratio", ctypes.c_double), ("low", ctypes.c_double), ("high", ctypes.c_double)]


class _Error(ctypes.Structure):
    """error_text"""

    _fields_ = [("text", ctypes.c_char * 1024)]


@dataclass
class Run:
    """Contenders that were timed together; what a name stands for is at its place in `contenders`."""

    names: list[str]
    contenders: ctypes.Array[Contender]
    _memory: list[object] = field(default_factory=list)  # what the contenders point to

    def contender(self, name: str) -> Contender:
        return self.contenders[self.names.index(name)]

    def bursts(self, name: str) -> list[Burst]:
        contender = self.contender(name)
        return [contender.bursts[i] for i in range(contender.rounds)]

    def failure(self, name: str) -> str:
        """Why it was not timed; "" when it was."""
        return (self.contender(name).failure or b"").decode()


class Library:
    """libpeers.so: the functions of common/timing, and of common/shape what counts operations."""

    def __init__(self, path: Path) -> None:
        library = open_library(path)
        contender = ctypes.POINTER(Contender)
        self._default_plan = library.timing_default_plan
        self._default_plan.restype = Plan
        self._rotations = library.timing_rotations
        self._rotations.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
        self._rotations.restype = ctypes.c_size_t
        self._run = library.timing_run
        self._run.argtypes = [
            ctypes.POINTER(Plan),
            contender,
            ctypes.c_size_t,
            ctypes.c_void_p,
            ctypes.POINTER(_Error),
        ]
        self._run.restype = ctypes.c_bool
        self._figure = library.timing_figure
        self._figure.argtypes = [contender]
        self._figure.restype = Figures
        self._throttled = library.timing_throttled
        self._throttled.argtypes = [ctypes.POINTER(Figures)]
        self._throttled.restype = ctypes.c_bool
        self._ratio = library.timing_ratio
        self._ratio.argtypes = [contender, contender]
        self._ratio.restype = Ratio
        self._floor_of = library.timing_floor_of
        self._floor_of.argtypes = [contender, contender]
        self._floor_of.restype = Floor
        self._told_clock = library.told_clock
        self._told_clock.argtypes = [ctypes.POINTER(Told)]
        self._told_clock.restype = Clock
        self._read_devices = library.monitor_read_devices
        self._read_devices.argtypes = [ctypes.c_int]
        self._read_devices.restype = Reading
        self._floors = {
            NOTHING: ctypes.cast(library.timing_launch_nothing, ctypes.c_void_p).value,
            EMPTY_KERNEL: ctypes.cast(library.timing_launch_empty_kernel, ctypes.c_void_p).value,
        }
        self._reading_blocks = library.reading_blocks
        self._reading_blocks.argtypes = [ctypes.c_size_t]
        self._reading_blocks.restype = ctypes.c_size_t
        self._reading_launch = library.reading_launch
        pointer = ctypes.c_void_p
        self._reading_launch.argtypes = [pointer, pointer, ctypes.c_size_t, pointer, pointer]
        self._reading_launch.restype = ctypes.c_int
        self._error_words = library.cudaGetErrorString
        self._error_words.restype = ctypes.c_char_p
        self._operations = library.shape_operations
        self._operations.argtypes = [ctypes.POINTER(AttentionShape)]
        self._operations.restype = ctypes.c_double

    def default_plan(self) -> Plan:
        return self._default_plan()

    def rotations(self, set_bytes: int, l2_bytes: int) -> int:
        return self._rotations(set_bytes, l2_bytes)

    def run(
        self,
        launches: Sequence[tuple[str, Callable[[int], object]]],
        plan: Plan,
        stream: int | None,
        recording: Callable[[], bool] = lambda: False,
        told: Told | None = None,
    ) -> Run:
        """Times the launches, which take the number of a set of buffers, and the two floors beside them.

        With `told` there are no floors, and each launch writes there what it has taken, and the state behind it.

        `recording` says whether the stream records a graph: what a launch raises then means that it cannot be
        recorded, and is no error. Everything else that a launch or the handler of a signal raises ends the run and is
        raised here.
        """
        raised: list[BaseException] = []

        def wrap(launch: Callable[[int], object]) -> object:
            def call(_context: int, rotation: int, _stream: int) -> int:
                if raised:  # by a signal
                    return FAILED
                try:
                    launch(rotation)
                except BaseException as error:  # nothing may pass through the C code between
                    if not (isinstance(error, Exception) and recording()):
                        raised.append(error)
                    return FAILED
                return 0

            return _LAUNCH(call)

        names = [name for name, _ in launches] + ([] if told else list(FLOORS))
        clock = self._told_clock(ctypes.byref(told)) if told else None
        if clock:
            plan = Plan.from_buffer_copy(plan)
            plan.clock = ctypes.addressof(clock)
        functions = [wrap(launch) for _, launch in launches]
        memory = [(Burst * MOST_ROUNDS)() for _ in names]
        contenders = (Contender * len(names))()
        for i, name in enumerate(names):
            own = i < len(functions)
            address = ctypes.cast(functions[i], ctypes.c_void_p).value if own else self._floors[name]
            contenders[i] = Contender(name.encode(), address, None, memory[i], 0, None, not own)
        error = _Error()
        with signals.kept(raised):
            good = self._run(ctypes.byref(plan), contenders, len(names), stream, ctypes.byref(error))
        if raised:
            raise raised[0]
        if not good:
            raise TimingError(error.text.decode())
        return Run(names, contenders, [functions, memory])

    def figures(self, run: Run, name: str) -> Figures:
        return self._figure(ctypes.byref(run.contender(name)))

    def throttled(self, figures: Figures) -> bool:
        return self._throttled(ctypes.byref(figures))

    def floor(self, run: Run) -> Floor:
        return self._floor_of(ctypes.byref(run.contender(NOTHING)), ctypes.byref(run.contender(EMPTY_KERNEL)))

    def speedup(self, run: Run, name: str, other: str) -> Ratio:
        """How many times as fast `name` is as `other`, from pairs of one round."""
        return self._ratio(ctypes.byref(run.contender(other)), ctypes.byref(run.contender(name)))

    def read_devices(self, count: int) -> Reading:
        """The state of CUDA's first devices, of which the slowest counts."""
        return self._read_devices(count)

    def reading_blocks(self, size: int) -> int:
        """How many words the kernel that only reads writes for each of two sources of so many bytes."""
        return self._reading_blocks(size)

    def reading_launch(self, first: int, second: int, size: int, mixed: int, stream: int | None) -> None:
        """Enqueues the kernel that only reads two sources of so many bytes (timing/reading.h)."""
        status = self._reading_launch(first, second, size, mixed, stream)
        if status != 0:
            raise TimingError(f"a CUDA call of the kernel that only reads failed: {self._error_words(status).decode()}")

    def tflops(self, shape: Shape, milliseconds: float) -> float:
        """10^12 operations a second, over the pairs of rows that the mask leaves visible."""
        return self._operations(ctypes.byref(c_shape(shape))) / milliseconds * 1e-9
