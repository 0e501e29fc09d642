"""Tests the parts that need neither PyTorch nor a GPU. LAB_BUILD is the folder of the build, such as build/cpu."""

import contextlib
import ctypes
import io
import itertools
import math
import os
import struct
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import peers.__main__
from peers import grid, machine, record, row, steps, table, timing

BUILD = Path(os.environ.get("LAB_BUILD", "build/cpu"))


class Grid(unittest.TestCase):
    def test_full(self):
        shapes = grid.full()
        self.assertEqual(len(shapes), 4 + 2 * 2 * 2 * 7)
        self.assertEqual(len(set(shapes)), len(shapes))
        for shape in shapes[4:]:
            self.assertEqual(shape.batch * shape.seq, 16384)
            self.assertEqual(shape.heads * shape.head_dim, 2048)
        small = {str(shape) for shape in shapes[:4]}
        self.assertEqual(
            small, {"4x8x512x64 fp16", "4x8x512x64 fp16 causal", "4x8x512x64 bf16", "4x8x512x64 bf16 causal"}
        )

    def test_quick_is_a_part_of_full(self):
        self.assertLess(set(grid.quick()), set(grid.full()))
        self.assertEqual(len(grid.quick()), 12)

    def test_spread(self):
        shapes = grid.spread(False)
        self.assertEqual(len(set(shapes)), 2 * 2 * 2 * 6)
        sizes = {(shape.batch, shape.heads, shape.seq, shape.head_dim, shape.causal) for shape in shapes}
        self.assertEqual(sizes, {(4, 32, 4096, 64, False), (4, 16, 4096, 128, False)})
        scores = {(shape.dtype, shape.rising, shape.score_deviation) for shape in shapes}
        self.assertEqual(
            scores, set(itertools.product(("fp16", "bf16"), (False, True), (1, 2, 4, 8, 16, 40)))
        )
        self.assertLess(set(grid.spread(True)), set(shapes))
        self.assertEqual(len(grid.spread(True)), 2 * 2 * 3)

    def test_users(self):
        shapes = grid.users(False)
        self.assertEqual((len(set(shapes)), len(shapes)), (18, 18))
        self.assertFalse(set(shapes) & set(grid.full()))
        self.assertLess(set(grid.users(True)), set(shapes))
        for head_dim in (64, 128):
            own = [shape for shape in shapes if shape.head_dim == head_dim]
            self.assertTrue(any(s.batch * s.heads == 1 and s.seq == 4096 for s in own))
            self.assertTrue(any(s.seq == s.seq_kv == 4097 for s in own))
            self.assertTrue(any((s.heads, s.kv_heads, s.seq) == (32, 8, 4096) for s in own))
            self.assertTrue(any((s.seq, s.seq_kv, s.causal) == (1024, 8192, True) for s in own))
            self.assertTrue(any((s.seq, s.seq_kv) == (1, 8192) for s in own))

    def test_decode(self):
        shapes = grid.decode(False)
        self.assertEqual(len(set(shapes)), len(shapes))
        self.assertEqual({(s.dtype, s.head_dim) for s in shapes}, {("bf16", 128)})
        self.assertEqual({(s.seq, s.causal) for s in shapes}, {(1, False), (4, True)})
        heads = {(s.heads, s.kv_heads) for s in shapes}
        self.assertEqual(heads, {(32, 32), (32, 8), (32, 4), (64, 8)})
        for pair in heads:
            own = {(s.batch, s.seq_kv) for s in shapes if (s.heads, s.kv_heads) == pair}
            self.assertGreaterEqual(own, set(itertools.product((1, 4, 16), (1024, 4096, 16384))))
        self.assertLess(max(s.set_bytes for s in shapes), 4.4e9)
        self.assertLess(set(grid.decode(True)), set(shapes))

    def test_bytes_of_a_set(self):
        # Q, K, V and O of 2 * 3 * 8 rows of 4 numbers, and lse
        self.assertEqual(grid.Shape("fp16", 2, 3, 8, 4, False).set_bytes, 4 * 2 * 48 * 4 + 4 * 48)
        # 2 * 4 * 8 rows of Q and O, 2 * 2 * 5 of K and V
        one = grid.Shape("fp16", 2, 4, 8, 4, False, seq_kv=5, kv_heads=2)
        self.assertEqual(one.set_bytes, 2 * 2 * (64 + 20) * 4 + 4 * 64)

    def test_text(self):
        for shape, text in (
            (grid.Shape("fp16", 4, 8, 512, 64, True), "4x8x512x64 fp16 causal"),
            (grid.Shape("bf16", 1, 2, 3, 4, False, 0.5), "1x2x3x4 bf16 deviation 0.5"),
            (grid.Shape("bf16", 1, 2, 3, 4, True, 64, True), "1x2x3x4 bf16 causal rising deviation 64"),
            (grid.Shape("bf16", 1, 2, 3, 4, False, 1, True), "1x2x3x4 bf16 rising"),
            (grid.Shape("fp16", 1, 8, 3, 4, True, seq_kv=5, kv_heads=2), "1x8x3x4 fp16 causal, kv 1x2x5x4"),
        ):
            self.assertEqual(str(shape), text)


class CommandLine(unittest.TestCase):
    def shapes(self, *arguments):
        return peers.__main__.choose_shapes(self.options(*arguments))

    def options(self, *arguments):
        return peers.__main__.parse(["--folder", "f", "--library", "l", *arguments])

    def test_which_shapes(self):
        self.assertEqual(self.shapes(), grid.full())
        self.assertEqual(self.shapes("--quick"), grid.quick())
        self.assertEqual(self.shapes("--spread"), grid.spread(False))
        self.assertEqual(self.shapes("--spread", "--quick"), grid.spread(True))
        self.assertEqual(self.shapes("--users"), grid.users(False))
        self.assertEqual(self.shapes("--decode"), grid.decode(False))
        chosen = self.shapes("--spread", "--shapes", "64 bf16 rising deviation 8")
        self.assertEqual(chosen, [grid.Shape("bf16", 4, 32, 4096, 64, False, 8, True)])

    def test_what_is_refused(self):
        self.assertEqual(self.options("--seconds", "0.2", "--without", "sdpa_math").without, ["sdpa_math"])
        for arguments in (
            ["--seconds", "0"],
            ["--seconds", "nan"],
            ["--without", "sdpa_maths"],
            ["--fa3", "no/such/libfa3.so"],
            ["--fa3-decode", "no/such/libfa3.so", "--decode"],
        ):
            with self.assertRaises(SystemExit) as raised, contextlib.redirect_stderr(io.StringIO()) as said:
                self.options(*arguments)
            self.assertEqual(raised.exception.code, 2)
            self.assertIn(arguments[1], said.getvalue())


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

    def test_rotations(self):
        self.assertEqual(LIBRARY.rotations(3 << 19, 60 << 20), 81)
        self.assertEqual(LIBRARY.rotations(1 << 30, 60 << 20), 2)

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

    def test_columns_are_those_of_the_other_records(self):
        """common/result writes the same columns in the same order, with more between them."""
        words = Path("common/tests/result/test_result.c").read_text().partition("columns[] =")[2].partition(";")[0]
        names = "".join(words.replace('"', "").split()).split(",")
        self.assertGreater(len(names), 40)
        self.assertEqual([name for name in record.COLUMNS if name in names], names)


class Steps(unittest.TestCase):
    """A step through ctypes, on whatever the build runs on."""

    step = steps.Step(BUILD / "step04.so")

    def test_what_it_says_of_itself(self):
        self.assertEqual(self.step.name, "04_online_softmax")
        self.assertRegex(self.step.cuda_version(), r"^\d+\.\d$")
        self.assertIsNone(self.step.unsupported(steps.c_shape(grid.Shape("bf16", 1, 2, 64, 64, True))))
        self.assertIn("head_dim", self.step.unsupported(steps.c_shape(grid.Shape("fp16", 1, 1, 64, 129, True))) or "")
        self.assertEqual(self.step.workspace_bytes(steps.c_shape(grid.Shape("fp16", 1, 1, 64, 64, True))), 0)
        first = steps.Step(BUILD / "step01.so")
        self.assertGreater(first.workspace_bytes(steps.c_shape(grid.Shape("fp16", 1, 1, 64, 64, True))), 0)

    def test_an_error_is_a_sentence(self):
        with self.assertRaisesRegex(steps.StepError, "a CUDA call of step 04_online_softmax failed: .+"):
            self.step.check(1)

    def test_forward(self):
        # Q is 0, so all scores are equal and O is the mean of the visible rows of V: row j holds j + head.
        # Every field of shape and arguments has a part in that.
        runtime = self.step.runtime
        batch, heads, seq, dim = 2, 3, 20, 8
        for dtype in grid.DTYPES:
            for causal in (False, True):
                shape = grid.Shape(dtype, batch, heads, seq, dim, causal)
                count = batch * heads * seq * dim
                values = [
                    row + head for head in range(batch * heads) for row in range(seq) for _ in range(dim)
                ]
                sizes = {
                    "q": 2 * count,
                    "k": 2 * count,
                    "v": 2 * count,
                    "o": 2 * count,
                    "lse": 4 * count // dim,
                }
                memory = {name: ctypes.c_void_p() for name in sizes}
                for name, size in sizes.items():
                    self.step.check(runtime.cudaMalloc(ctypes.byref(memory[name]), ctypes.c_size_t(size)))
                    self.step.check(runtime.cudaMemset(memory[name], 0, ctypes.c_size_t(size)))
                self.copy(memory["v"], encode(dtype, values), 1)
                pointers = [memory[name].value for name in ("q", "k", "v", "o", "lse")]
                self.step.forward(steps.AttentionArgs(steps.c_shape(shape), *pointers, None), 0)
                o, lse = bytes(sizes["o"]), bytes(sizes["lse"])
                self.copy(memory["o"], o, 2)
                self.copy(memory["lse"], lse, 2)
                for pointer in memory.values():
                    self.step.check(runtime.cudaFree(pointer))
                found = decode(dtype, o)
                sums = struct.unpack(f"{count // dim}f", lse)
                for index in range(count // dim):
                    head, row = divmod(index, seq)
                    keys = row + 1 if causal else seq
                    self.assertAlmostEqual(sums[index], math.log(keys), places=4)
                    for value in found[index * dim : (index + 1) * dim]:
                        self.assertAlmostEqual(value, (keys - 1) / 2 + head, delta=0.1)

    def copy(self, device: ctypes.c_void_p, host: bytes, direction: int) -> None:
        pair = (device, host) if direction == 1 else (host, device)
        self.step.check(self.step.runtime.cudaMemcpy(*pair, ctypes.c_size_t(len(host)), direction))


def encode(dtype, values):
    if dtype == "fp16":
        return struct.pack(f"{len(values)}e", *values)
    return b"".join(struct.pack("<f", value)[2:] for value in values)  # small whole numbers: exact


def decode(dtype, data):
    if dtype == "fp16":
        return struct.unpack(f"{len(data) // 2}e", data)
    return [struct.unpack("<f", b"\0\0" + data[i : i + 2])[0] for i in range(0, len(data), 2)]


class Machine(unittest.TestCase):
    def test_state(self):
        before = machine.parse_state("580.1, 345, 3201, 120.5, 700.00, 42")
        after = machine.parse_state("580.1, 1980, 3201, [N/A], 700.00, 51")
        columns = machine.state_columns(before, after)
        self.assertEqual(columns["driver"], "580.1")
        self.assertEqual((columns["sm_clock_before_mhz"], columns["sm_clock_after_mhz"]), ("345", "1980"))
        self.assertEqual((columns["power_before_w"], columns["power_after_w"]), ("120.5", ""))
        self.assertEqual((columns["temperature_before_c"], columns["temperature_after_c"]), ("42", "51"))
        self.assertLess(set(columns), set(record.COLUMNS))
        self.assertEqual(set(machine.parse_state("").values()), {""})

    def test_commit(self):
        os.environ["LAB_COMMIT"] = "abc"
        self.assertEqual(machine.read_commit(), "abc")
        del os.environ["LAB_COMMIT"]
        self.assertNotEqual(machine.read_commit(), "")


SHAPE = grid.Shape("fp16", 4, 8, 512, 64, True)


def make_bursts(*milliseconds):
    """A round for each time, of two launches."""
    return [
        timing.Burst(
            place=i,
            launches=2,
            milliseconds=(ctypes.c_double * timing.MOST_LAUNCHES)(one, 2 * one),
            median=1.5 * one,
            graph_ms=math.nan,
            state=timing.Reading(1980, math.nan, False),
            throttled=i == 1,
        )
        for i, one in enumerate(milliseconds)
    ]


def make_row(step, shape=SHAPE, **values):
    row = dict.fromkeys(record.COLUMNS, "")
    row.update(
        shape.columns(), step=step, device="GPU", driver="580", commit="abc", date="2026-11-20T00:00:00Z"
    )
    row.update(check="ok", samples="2", o_error="0.5", o_bound="1", median_ms="2", tflops="10")
    row.update(values)
    return row


class Record(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "new" / "peers.csv"
        self.addCleanup(self.folder.cleanup)

    def saved(self, *rows):
        saved = record.Record(self.path, comments=["a comment"])
        for row in rows:
            saved.add(row, record.samples_rows(row, make_bursts(0.001, 1.5)) if row["samples"] else None)
        floor = make_row(timing.EMPTY_KERNEL)
        saved.add_floor(record.samples_rows(floor, make_bursts(0.002)))
        saved.reasons["sdpa_flash", str(SHAPE)] = "reasons: there are"
        saved.save()

    def resumed(self, commit="abc", device="GPU", driver="580"):
        again = record.Record(self.path)
        dropped = again.resume(device, driver, commit)
        return again, dropped

    def test_round_trip(self):
        rows = [make_row("04_x"), make_row("sdpa_flash", check="skipped", samples="", tflops="")]
        self.saved(*rows)
        text = self.path.read_text().splitlines()
        self.assertEqual(text[0], "# a comment")
        self.assertEqual(text[1], "# skipped: sdpa_flash, 4x8x512x64 fp16 causal: reasons: there are")
        self.assertTrue(
            text[2].startswith("step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,")
        )
        samples = self.path.with_name("peers-samples.csv").read_text().splitlines()
        self.assertTrue(samples[1].endswith(",abc,2026-11-20T00:00:00Z,0,0,0,1980,,,1.000 2.000"), samples[1])
        self.assertTrue(samples[2].endswith(",1,1,1,1980,,,1500.000 3000.000"), samples[2])
        self.assertTrue(samples[3].startswith("empty_kernel,"), samples[3])
        self.assertEqual(sorted(os.listdir(self.path.parent)), ["peers-samples.csv", "peers.csv"])
        again, dropped = self.resumed()
        self.assertEqual((list(again.rows.values()), dropped), (rows, 0))
        again.comments = ["a comment"]
        before = self.path.read_bytes()
        again.save()
        self.assertEqual(self.path.read_bytes(), before)

    def test_each_spread_of_the_scores_has_a_row(self):
        shapes = [SHAPE] + [
            grid.Shape("fp16", 4, 8, 512, 64, True, deviation, rising)
            for deviation, rising in ((8, False), (8, True))
        ]
        self.saved(*(make_row("04_x", shape, tflops=str(i)) for i, shape in enumerate(shapes)))
        again, dropped = self.resumed()
        self.assertEqual((len(again.samples), dropped), (3 + 1, 0))
        self.assertEqual(
            [(again.row("04_x", "GPU", shape) or {})["tflops"] for shape in shapes], ["0", "1", "2"]
        )

    def test_what_is_measured_again(self):
        self.saved(make_row("04_x"), make_row("05_x", commit="old"), make_row("06_x", driver="579"))
        again, dropped = self.resumed()
        self.assertEqual(([row["step"] for row in again.rows.values()], dropped), (["04_x"], 2))
        self.assertEqual(self.resumed(device="another GPU")[1], 3)
        for commit in ("abc-dirty", "unknown"):
            self.saved(make_row("04_x", commit=commit))
            self.assertEqual(self.resumed(commit=commit)[1], 1)

    def test_a_row_without_its_samples(self):
        self.saved(make_row("04_x"), make_row("05_x", check="skipped", samples=""))
        samples = self.path.with_name("peers-samples.csv")
        samples.write_text(samples.read_text().replace("2026-11-20", "2026-11-19"))
        again, _ = self.resumed()
        self.assertEqual([row["step"] for row in again.rows.values()], ["05_x"])

    def test_a_row_takes_the_place_of_an_older_one(self):
        own = record.Record(self.path)
        own.add(make_row("04_x"), [{"microseconds": "1"}])
        own.add(make_row("04_x", check="skipped", samples=""), None)
        self.assertEqual((len(own.rows), len(own.samples)), (1, 0))
        self.assertEqual((own.row("04_x", "GPU", SHAPE) or {})["check"], "skipped")
        self.assertIsNone(own.row("04_x", "GPU", grid.Shape("bf16", 4, 8, 512, 64, True)))

    def test_a_file_keeps_its_mode(self):
        self.saved(make_row("04_x"))
        self.path.chmod(0o600)
        self.saved(make_row("05_x"))
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o600)

    def test_an_interrupted_write_leaves_nothing(self):
        self.path.parent.mkdir()
        with mock.patch.object(Path, "replace", side_effect=KeyboardInterrupt):
            self.assertRaises(KeyboardInterrupt, self.saved, make_row("04_x"))
        self.assertEqual(os.listdir(self.path.parent), [])

    def test_a_pipe_is_not_waited_for(self):
        self.path.parent.mkdir()
        os.mkfifo(self.path)
        with self.assertRaisesRegex(record.RecordError, "peers.csv is a folder, a pipe or a device"):
            self.resumed()

    def test_files_of_others(self):
        self.path.parent.mkdir()
        for text, words in (
            ("a,b\n1,2\n", "has other columns"),
            (",".join(record.COLUMNS) + "\n1,2\n", "more or fewer fields"),
            (",".join(record.COLUMNS) + "\n" + "1," * 80 + "\n", "more or fewer fields"),
            (",".join(c for c in record.COLUMNS if c != "rising") + "\n", "has other columns"),
            ("", "has other columns"),
        ):
            self.path.write_text(text)
            with self.assertRaisesRegex(record.RecordError, words):
                self.resumed()

    def test_a_folder_that_cannot_be_written(self):
        self.path.parent.write_text("no folder")
        with self.assertRaisesRegex(record.RecordError, "cannot write .*peers-samples.csv: "):
            self.saved(make_row("04_x"))


class Table(unittest.TestCase):
    def test_shares_and_verdicts(self):
        rows = [
            make_row("04_x", share_flash="0.49", share_best="0.245"),
            make_row("05_x", share_flash="1", share_best="0.5"),
            make_row("06_x", share_flash="0.999", share_best="0.4995", throttled="1"),
            make_row("07_x", check="skipped", tflops="", median_ms="", o_error=""),
            make_row("sdpa_math", share_flash="0.2", share_best="0.1"),
            make_row("sdpa_flash", share_flash="1", share_best="0.5"),
            make_row("sdpa_cudnn", share_flash="2", share_best="1"),
        ]
        expected = [
            ["0.49", "0.24", "stop", "and", "profile"],
            ["1.00", "0.50", "ahead"],
            ["1.00", "0.50", "keep", "going", "(throttled)"],
            ["-", "-"],
            ["0.20", "0.10"],
            ["1.00", "0.50"],
            ["2.00", "1.00"],
        ]
        found = table.lines(rows)
        self.assertEqual(len(found), 2 + len(rows))
        for line, row, words in zip(found[2:], rows, expected):
            self.assertTrue(line.startswith("4x8x512x64 fp16 causal  " + row["step"]))
            self.assertEqual(line.split()[-len(words) :], words)

    def test_columns_stand_below_one_another(self):
        longer = grid.Shape("fp16", 4, 8, 512, 64, True, 64, True)
        header, _, first, _, second = table.lines([make_row("04_x"), make_row("04_x", longer)])
        self.assertEqual(header.index("contender"), second.index("04_x"))
        self.assertEqual(header.index("contender"), first.index("04_x"))

    def test_without_flash_there_is_no_verdict(self):
        rows = [make_row("04_x", share_best="1"), make_row("sdpa_math", share_best="1")]
        line = table.shape_lines(rows, 30)[0]
        self.assertEqual(line.split()[-2:], ["-", "1.00"])


if __name__ == "__main__":
    unittest.main()
