"""What needs neither PyTorch nor a GPU. LAB_BUILD is the folder of the build, such as build/cpu."""

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
from peers import grid, machine, record, steps, summary, table, timing

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
        self.assertEqual(len(set(shapes)), 2 * 2 * 2 * 7)
        sizes = {(shape.batch, shape.heads, shape.seq, shape.head_dim, shape.causal) for shape in shapes}
        self.assertEqual(sizes, {(4, 32, 4096, 64, False), (4, 16, 4096, 128, False)})
        scores = {(shape.dtype, shape.rising, shape.score_deviation) for shape in shapes}
        self.assertEqual(
            scores, set(itertools.product(("fp16", "bf16"), (False, True), (1, 2, 4, 8, 16, 32, 64)))
        )
        self.assertLess(set(grid.spread(True)), set(shapes))
        self.assertEqual(len(grid.spread(True)), 2 * 2 * 3)

    def test_text(self):
        for shape, text in (
            (grid.Shape("fp16", 4, 8, 512, 64, True), "4x8x512x64 fp16 causal"),
            (grid.Shape("bf16", 1, 2, 3, 4, False, 0.5), "1x2x3x4 bf16 deviation 0.5"),
            (grid.Shape("bf16", 1, 2, 3, 4, True, 64, True), "1x2x3x4 bf16 causal rising deviation 64"),
            (grid.Shape("bf16", 1, 2, 3, 4, False, 1, True), "1x2x3x4 bf16 rising"),
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
        chosen = self.shapes("--spread", "--shapes", "64 bf16 rising deviation 8")
        self.assertEqual(chosen, [grid.Shape("bf16", 4, 32, 4096, 64, False, 8, True)])

    def test_what_is_refused(self):
        self.assertEqual(self.options("--seconds", "0.2", "--without", "sdpa_math").without, ["sdpa_math"])
        for arguments in (["--seconds", "0"], ["--seconds", "nan"], ["--without", "sdpa_maths"]):
            with self.assertRaises(SystemExit) as raised, contextlib.redirect_stderr(io.StringIO()) as said:
                self.options(*arguments)
            self.assertEqual(raised.exception.code, 2)
            self.assertIn(arguments[1], said.getvalue())


class Summary(unittest.TestCase):
    library = summary.Library(BUILD / "libpeers.so")

    def test_values(self):
        # numpy.percentile([7.5, 1.25, 3, 9, 2, 8, 4.5], [5, 50, 95]), NumPy 2.4.6
        found = self.library.summarise([7.5, 1.25, 3, 9, 2, 8, 4.5])
        self.assertAlmostEqual(found.p5, 1.475, places=12)
        self.assertEqual(found.median, 4.5)
        self.assertAlmostEqual(found.p95, 8.7, places=12)
        self.assertTrue(1.25 <= found.low <= 4.5 <= found.high <= 9)
        self.assertTrue(math.isnan(self.library.summarise([1.0]).low))

    def test_tflops(self):
        shape = grid.Shape("fp16", 2, 3, 8, 4, False)
        # 4 * batch * heads * pairs * head_dim operations in a millisecond
        self.assertAlmostEqual(self.library.tflops(shape, 1.0), 4 * 2 * 3 * 64 * 4 * 1e-9, places=15)
        causal = grid.Shape("fp16", 2, 3, 8, 4, True)
        self.assertAlmostEqual(self.library.tflops(causal, 0.5), 2 * 4 * 2 * 3 * 36 * 4 * 1e-9, places=15)


class Steps(unittest.TestCase):
    """A step through ctypes, on whatever the build runs on."""

    step = steps.Step(BUILD / "step04.so")

    def test_what_it_says_of_itself(self):
        self.assertEqual(self.step.name, "04_online_softmax")
        self.assertRegex(self.step.cuda_version(), r"^\d+\.\d$")
        self.assertIsNone(self.step.unsupported(grid.Shape("bf16", 1, 2, 64, 64, True)))
        self.assertIn("head_dim", self.step.unsupported(grid.Shape("fp16", 1, 1, 64, 129, True)) or "")
        self.assertEqual(self.step.workspace_bytes(grid.Shape("fp16", 1, 1, 64, 64, True)), 0)
        first = steps.Step(BUILD / "step01.so")
        self.assertGreater(first.workspace_bytes(grid.Shape("fp16", 1, 1, 64, 64, True)), 0)

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


class FakeClock:
    """Tells times it is given, and notes who was launched on which set."""

    def __init__(self, times):
        self.times, self.launches = times, []

    def time(self, launch):
        name = launch()
        self.launches.append(name)
        value = self.times[name[0]]
        if isinstance(value, Exception):
            raise value
        return value


class Timing(unittest.TestCase):
    def run_on(self, times, sets=3, **plan):
        clock = FakeClock(times)
        contenders = [timing.Timed(lambda number, name=name: (name, number), []) for name in times]
        timing.run(contenders, sets, clock, timing.Plan(**plan))
        return clock.launches, contenders

    def test_turns_and_rotation(self):
        launches, contenders = self.run_on(
            {"a": 1.0, "b": 2.0}, samples=2, warm_up=1, seconds=9, least_samples=1
        )
        self.assertEqual(launches, [("a", 0), ("b", 1), ("a", 2), ("b", 0), ("a", 1), ("b", 2)])
        self.assertEqual([contender.milliseconds for contender in contenders], [[1.0] * 2, [2.0] * 2])

    def test_budget(self):
        times = {"fast": 1.0, "slow": 300.0, "slower": 5000.0}
        launches, contenders = self.run_on(times, samples=20, warm_up=5, seconds=1.0, least_samples=3)
        self.assertEqual([len(contender.milliseconds) for contender in contenders], [20, 4, 3])
        # Warm-up: a tenth of the second, at least one launch.
        self.assertEqual(sum(name == "slow" for name, _ in launches), 4 + 1)
        self.assertEqual(sum(name == "fast" for name, _ in launches), 20 + 5)

    def test_one_that_cannot_be_timed(self):
        times = {"a": 1.0, "b": timing.TimingError("it waits"), "c": 1.0}
        launches, contenders = self.run_on(times, samples=4, warm_up=2)
        self.assertEqual([contender.failure for contender in contenders], ["", "it waits", ""])
        self.assertEqual([len(contender.milliseconds) for contender in contenders], [4, 0, 4])
        self.assertEqual(sum(name == "b" for name, _ in launches), 1)

    def test_rotations(self):
        for set_bytes, l2_bytes, expected in (
            (100, 50, 1),
            (99, 50, 2),
            (1, 50, 64),
            (25, 50, 4),
            (1000, 50, 1),
        ):
            self.assertEqual(timing.rotations(set_bytes, l2_bytes), expected)


class FakeCuda:
    """torch.cuda on a GPU that spins through `rate` cycles while the host makes one call."""

    def __init__(self, rate):
        self.rate, self.spins, self.calls = rate, [], []

    def _sleep(self, cycles):
        self.spins.append(cycles)
        self.left = cycles
        self.calls.append("spin")

    def Event(self, enable_timing):
        return FakeEvent(self)


class FakeEvent:
    def __init__(self, cuda):
        self.cuda = cuda

    def record(self):
        self.cuda.left -= self.cuda.rate
        self.cuda.calls.append("record")

    def query(self):
        self.cuda.calls.append("query")
        return self.cuda.left <= 0

    def synchronize(self):
        self.cuda.calls.append("synchronize")

    def elapsed_time(self, after):
        return 0.25


class EventClock(unittest.TestCase):
    def test_the_spin_comes_first(self):
        cuda = FakeCuda(1)
        self.assertEqual(timing.EventClock(cuda).time(lambda: cuda.calls.append("launch")), 0.25)
        self.assertEqual(cuda.calls, ["spin", "record", "launch", "record", "query", "synchronize"])

    def test_a_late_host_is_given_more_time(self):
        cuda = FakeCuda(3 << 17)
        launches = []
        clock = timing.EventClock(cuda)
        clock.time(lambda: launches.append(1))
        self.assertEqual((cuda.spins, len(launches)), ([1 << 17, 1 << 18, 1 << 19, 1 << 20], 4))
        cuda.rate = 1  # faster again: the spin becomes shorter, not below the first
        for _ in range(99):
            clock.time(lambda: launches.append(1))
        self.assertEqual(cuda.spins[4], (1 << 20) - (1 << 15))
        self.assertEqual((len(cuda.spins), cuda.spins[-1]), (4 + 99, 1 << 17))

    def test_a_sample_that_is_taken_again_takes_the_next_buffers(self):
        numbers = []
        clock = timing.EventClock(FakeCuda(3 << 17))
        timing.run([timing.Timed(numbers.append, [])], 3, clock, timing.Plan(samples=1, warm_up=0))
        self.assertEqual(numbers, [0, 1, 2, 0])

    def test_who_always_waits_cannot_be_timed(self):
        cuda = FakeCuda(1 << 40)
        with self.assertRaisesRegex(timing.TimingError, "it waits for the GPU"):
            timing.EventClock(cuda).time(lambda: None)
        self.assertEqual(cuda.spins[-1], timing.EventClock.MOST_CYCLES)


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
            saved.add(row, record.samples_row(row, [0.001, 1.5]) if row["samples"] else None)
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
        self.assertEqual(samples[1].rpartition(",")[2], "1.000 1500.000")
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
        self.assertEqual((len(again.samples), dropped), (3, 0))
        self.assertEqual(
            [(again.row("04_x", "GPU", shape) or {})["tflops"] for shape in shapes], ["0", "1", "2"]
        )

    def test_a_file_from_before_the_spread_was_recorded(self):
        self.saved(make_row("04_x"))
        for path in (self.path, self.path.with_name("peers-samples.csv")):
            text = path.read_text()
            path.write_text(text.replace(",score_deviation,rising", "").replace("64,1,1,0,", "64,1,"))
            self.assertLess(len(path.read_text()), len(text) - len(",score_deviation,rising"))
        again, dropped = self.resumed()
        self.assertEqual((list(again.rows.values()), dropped), ([make_row("04_x")], 0))
        self.assertEqual(len(again.samples), 1)

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
        own.add(make_row("04_x"), {"microseconds": "1"})
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
            (",".join(record.COLUMNS) + "\n" + "1," * 40 + "\n", "more or fewer fields"),
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
            make_row("04_x", tflops="49"),
            make_row("05_x", tflops="100"),
            make_row("06_x", tflops="99.9"),
            make_row("07_x", check="skipped", tflops="", median_ms="", o_error=""),
            make_row("sdpa_math", tflops="20"),
            make_row("sdpa_flash", tflops="100"),
            make_row("sdpa_cudnn", tflops="200"),
        ]
        expected = [
            ["0.49", "0.24", "stop", "and", "profile"],
            ["1.00", "0.50", "ahead"],
            ["1.00", "0.50", "keep", "going"],
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
        line = table.shape_lines([make_row("04_x"), make_row("sdpa_math")], 30)[0]
        self.assertEqual(line.split()[-2:], ["-", "1.00"])


if __name__ == "__main__":
    unittest.main()
