"""Tests the timing library through ctypes. LAB_BUILD is the folder of the build, such as build/cpu."""

import ctypes
import os
import signal
import unittest
from pathlib import Path

from peers import grid, record, row, steps, timing

BUILD = Path(os.environ.get("LAB_BUILD", "build/cpu"))
SHAPE = grid.Shape("fp16", 4, 8, 512, 64, True)
LIBRARY = timing.Library(BUILD / "libpeers.so")
DEVICE = steps.open_library(BUILD / "libpeers.so")
DEVICE.device_runs_behind.restype = ctypes.c_bool


class Clock(ctypes.Structure):
    """timing_clock; without `read` and `pause`, no state is known, and there is no pause"""

    START = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    STOP = ctypes.CFUNCTYPE(
        ctypes.c_int,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.POINTER(ctypes.c_float),
        ctypes.POINTER(ctypes.c_bool),
    )
    _fields_ = [
        ("start", START),
        ("stop", STOP),
        ("read", ctypes.c_void_p),
        ("pause", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
    ]


def stop(_context, _stream, milliseconds, in_time):
    milliseconds[0], in_time[0] = 1, True
    return 0


# Every launch takes a millisecond. The clock of a GPU repeats a launch in which the host was late, so that
# there are sometimes more.
STEADY_CLOCK = Clock(Clock.START(lambda _context, _stream: 0), Clock.STOP(stop), None, None, None)


class Timing(unittest.TestCase):
    """The C code through ctypes, with launches that only take notes."""

    def plan(self, **values):
        plan = LIBRARY.default_plan()
        plan.rounds_least = plan.rounds_most = 5
        plan.quiet, plan.graph_below_ms, plan.warm_up = True, 0, 1
        for name, value in values.items():
            setattr(plan, name, value)
        return plan

    def test_the_structures_are_those_of_the_library(self):
        plan = LIBRARY.default_plan()
        self.assertEqual((plan.rounds_least, plan.rounds_most), (10, timing.MOST_ROUNDS))
        self.assertEqual((plan.seconds_least, plan.noise, plan.seconds_most), (0.5, 0.005, 10))
        self.assertEqual((plan.burst_ms, plan.graph_below_ms, plan.warm_up), (15, 0.05, 10))
        self.assertEqual((plan.rotations, plan.seed, plan.quiet, plan.clock), (1, 0, False, None))

    def test_rounds_and_rotation(self):
        launches = []
        run = LIBRARY.run(
            [(name, lambda number, name=name: launches.append((name, number))) for name in "ab"],
            self.plan(rotations=7, burst_ms=0, clock=ctypes.addressof(STEADY_CLOCK)),
            None,
        )
        self.assertEqual([number for _, number in launches], [i % 7 for i in range(len(launches))])
        self.assertEqual(len(launches), 2 + 2 * 5)  # to warm up, and one a round
        for name in ("a", "b", timing.NOTHING, timing.EMPTY_KERNEL):
            bursts = run.bursts(name)
            self.assertEqual([burst.launches for burst in bursts], [1] * 5)
            self.assertTrue(all(burst.median == burst.milliseconds[0] == 1 for burst in bursts))
            self.assertEqual(run.failure(name), "")
        places = {(run.bursts(name)[i].place) for i in range(5) for name in ("a", "b")}
        self.assertLessEqual(places, {0, 1, 2, 3})
        figures = LIBRARY.figures(run, "a")
        self.assertEqual((figures.times.runs, figures.times.samples, figures.graph.runs), (5, 5, 0))
        self.assertTrue(figures.times.low <= figures.times.median <= figures.times.high)
        self.assertEqual(LIBRARY.floor(run).empty_kernel, 1)

    def test_ratios_are_of_pairs(self):
        run = LIBRARY.run([(name, lambda number: None) for name in "ab"], self.plan(), None)
        for i in range(5):
            run.contender("a").bursts[i].median = 1.0 + i
            run.contender("b").bursts[i].median = 3.0 + 3 * i
        ratio = LIBRARY.speedup(run, "a", "b")
        self.assertEqual((ratio.ratio, ratio.low, ratio.high), (3, 3, 3))

    def test_short_launches_are_recorded(self):
        launches = []
        clock = ctypes.addressof(STEADY_CLOCK)
        plan = self.plan(graph_below_ms=1e9, rotations=3, burst_ms=0, clock=clock)
        run = LIBRARY.run([("a", launches.append)], plan, None)
        # Each of the three sets four times.
        self.assertEqual([burst.graph_ms for burst in run.bursts("a")], [1 / 12] * 5)
        # A GPU calls the graph's launches once, to record them; the emulator at each of four replays a round.
        calls = 1 if DEVICE.device_runs_behind() else 5 * 4
        self.assertEqual(len(launches), 1 + 5 + calls * 12)  # to warm up, one a round, and the graph's
        self.assertEqual([launches.count(number) for number in range(3)], [len(launches) // 3] * 3)

    def test_what_a_launch_raises_is_raised(self):
        def fail(number):
            raise ValueError("no such set")

        with self.assertRaisesRegex(ValueError, "no such set"):
            LIBRARY.run([("a", fail)], self.plan(), None)
        with self.assertRaisesRegex(timing.TimingError, "^a failed: "):
            LIBRARY.run([("a", fail)], self.plan(), None, lambda: True)  # while a graph is recorded

    def test_a_signal_while_the_library_runs_ends_the_run(self):
        def stop_now(_number, _frame):
            raise SystemExit(143)

        before = signal.signal(signal.SIGTERM, stop_now)
        # The clock starts with raise(SIGTERM), so Python handles the signal when it is called for the launch.
        start = Clock.START(ctypes.cast(ctypes.CDLL(None)["raise"], ctypes.c_void_p).value)
        clock = Clock(start, STEADY_CLOCK.stop, None, None, int(signal.SIGTERM))
        launches = []
        try:
            with self.assertRaises(SystemExit) as caught:
                LIBRARY.run([("a", launches.append)], self.plan(warm_up=0, clock=ctypes.addressof(clock)), None)
            self.assertEqual(caught.exception.code, 143)
            self.assertEqual(launches, [])
            self.assertIs(signal.getsignal(signal.SIGTERM), stop_now)
        finally:
            signal.signal(signal.SIGTERM, before)

    def test_rotations(self):
        self.assertEqual(LIBRARY.rotations(3 << 19, 60 << 20), 81)
        self.assertEqual(LIBRARY.rotations(1 << 30, 60 << 20), 2)

    def test_only_reading(self):
        words = [1 << i for i in range(8)]  # of each source, 32 bytes
        host, sources, mixed = (ctypes.c_uint * 8)(*words), ctypes.c_void_p(), ctypes.c_void_p()
        for memory, size in ((sources, 64), (mixed, 8)):
            self.assertEqual(DEVICE.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(size)), 0)
        to_device, to_host, bytes_of_each = 1, 2, ctypes.c_size_t(32)
        self.assertEqual(DEVICE.cudaMemcpy(sources, host, bytes_of_each, to_device), 0)
        half = (ctypes.c_uint * 8)(*words[:4], 0, 0, 0, 0)
        second = ctypes.c_void_p(sources.value + 32)
        self.assertEqual(DEVICE.cudaMemcpy(second, half, bytes_of_each, to_device), 0)
        self.assertEqual(LIBRARY.reading_blocks(32), 1)
        LIBRARY.reading_launch(sources.value, second.value, 32, mixed.value, None)
        found = (ctypes.c_uint * 2)()
        self.assertEqual(DEVICE.cudaMemcpy(found, mixed, ctypes.c_size_t(8), to_host), 0)
        self.assertEqual(list(found), [255, 15])
        for memory in (sources, mixed):
            self.assertEqual(DEVICE.cudaFree(memory), 0)

    def test_tflops(self):
        shape = grid.Shape("fp16", 2, 3, 8, 4, False)
        # 4 * batch * heads * pairs * head_dim operations in a millisecond
        self.assertAlmostEqual(LIBRARY.tflops(shape, 1.0), 4 * 2 * 3 * 64 * 4 * 1e-9, places=15)
        causal = grid.Shape("fp16", 2, 3, 8, 4, True)
        self.assertAlmostEqual(LIBRARY.tflops(causal, 0.5), 2 * 4 * 2 * 3 * 36 * 4 * 1e-9, places=15)
        behind = grid.Shape("fp16", 1, 1, 2, 4, True, seq_kv=8)  # rows that see 7 and 8 keys
        self.assertAlmostEqual(LIBRARY.tflops(behind, 1.0), 4 * 15 * 4 * 1e-9, places=15)


class Rows(unittest.TestCase):
    def measured(self):
        """The peers take 2, 1 and 3 ms, the steps 4 and 2."""
        times = {"04_x": 4.0, "05_x": 2.0, "sdpa_flash": 2.0, "sdpa_cudnn": 1.0, "sdpa_math": 3.0}
        plan = LIBRARY.default_plan()
        plan.rounds_least = plan.rounds_most = 5
        plan.quiet, plan.graph_below_ms, plan.burst_ms = True, 0, 0
        run = LIBRARY.run([(name, lambda number: None) for name in times], plan, None)
        for name, time in times.items():
            for i in range(5):
                burst = run.contender(name).bursts[i]
                burst.median = burst.milliseconds[0] = time * (1 + i / 10)
                burst.state = timing.Reading(1980 - i, 500 + i, False)
                burst.throttled = name == "04_x" and i > 0
        return row.Measured(LIBRARY, run, ["04_x", "05_x"], ["sdpa_flash", "sdpa_cudnn", "sdpa_math"])

    def test_columns(self):
        measured = self.measured()
        first = measured.columns("04_x", SHAPE)
        self.assertEqual((first["median_ms"], first["rounds"], first["samples"]), ("4.8", "5", "5"))
        self.assertEqual((first["throttled_rounds"], first["throttled"]), ("4", "1"))
        self.assertEqual((first["run_clock_mhz"], first["run_power_w"]), ("1978", "502"))
        self.assertEqual((first["base_step"], first["speedup"]), ("04_x", "1"))
        self.assertNotIn("before_step", first)
        self.assertEqual((first["share_flash"], first["best_peer"]), ("0.5", "sdpa_cudnn"))
        self.assertEqual([first[f"share_best{end}"] for end in ("", "_low", "_high")], ["0.25"] * 3)
        second = measured.columns("05_x", SHAPE)
        self.assertEqual((second["before_step"], second["speedup_before"]), ("04_x", "2"))
        self.assertEqual((second["throttled"], second["graph_ms"]), ("0", ""))
        peer = measured.columns("sdpa_cudnn", SHAPE)
        self.assertEqual((peer["share_flash"], peer["share_best"]), ("2", "1"))
        self.assertNotIn("base_step", peer)
        for columns in (first, second, peer):
            self.assertLess(set(columns), set(record.COLUMNS))

    def test_keeps_those_that_are_right(self):
        measured = self.measured()
        measured.keep({"05_x", "sdpa_flash", "sdpa_math"})  # the fastest peer was wrong after the timing
        second = measured.columns("05_x", SHAPE)
        self.assertEqual((second["base_step"], second["best_peer"], second["share_best"]), ("05_x", "sdpa_flash", "1"))
        self.assertNotIn("before_step", second)

    def test_columns_are_those_of_the_other_records(self):
        """common/result writes the same columns in the same order, with more between them."""
        words = Path("common/tests/result/test_result.c").read_text().partition("columns[] =")[2].partition(";")[0]
        names = "".join(words.replace('"', "").split()).split(",")
        self.assertGreater(len(names), 40)
        of_ladder = {"inputs", "scale", "same_configuration", "speedup_same", "speedup_same_low", "speedup_same_high"}
        self.assertLess(of_ladder, set(names))
        names = [name for name in names if name not in of_ladder]
        self.assertEqual([name for name in record.COLUMNS if name in names], names)


if __name__ == "__main__":
    unittest.main()
