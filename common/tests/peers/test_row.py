"""Tests which number stands in which column of a row, with times that differ in every figure. LAB_BUILD is the folder of
the build, such as build/cpu."""

import contextlib
import io
import math
import os
import unittest
from pathlib import Path

import peers.__main__
from peers import grid, record, row, table, timing

LIBRARY = timing.Library(Path(os.environ.get("LAB_BUILD", "build/cpu")) / "libpeers.so")
SHAPE = grid.Shape("fp16", 4, 8, 512, 64, True)
ROUNDS = 12
TIMES = {"04_x": 8.0, "05_x": 4.0, "06_x": 1.0, "sdpa_flash": 2.0, "sdpa_cudnn": 0.5}


def measured(untimed=()):
    """Rounds that scatter, each step by as much. The floors take 0.25 and 0.5 ms, and 0.125 ms in a graph."""
    plan = LIBRARY.default_plan()
    plan.rounds_least = plan.rounds_most = ROUNDS
    plan.quiet, plan.graph_below_ms, plan.burst_ms, plan.warm_up = True, 0, 0, 0
    run = LIBRARY.run([(name, lambda number: None) for name in TIMES], plan, None)
    times = TIMES | {timing.NOTHING: 0.25, timing.EMPTY_KERNEL: 0.5}
    for name, time in times.items():
        contender = run.contender(name)
        for i in range(ROUNDS):
            burst = contender.bursts[i]
            scatter = 1 if name in timing.FLOORS else 1 + i / 10
            burst.median = burst.milliseconds[0] = time * scatter
            burst.launches = 1
            burst.graph_ms = {"06_x": time * scatter / 2, timing.EMPTY_KERNEL: 0.125}.get(name, math.nan)
            burst.state = timing.Reading(1980, 500, False)
        if name in untimed:
            contender.rounds = 0
    return row.Measured(LIBRARY, run, ["04_x", "05_x", "06_x"], ["sdpa_flash", "sdpa_cudnn"])


class Columns(unittest.TestCase):
    def test_each_figure_has_its_own(self):
        rows = measured()
        columns = rows.columns("06_x", SHAPE)
        figures = LIBRARY.figures(rows.run, "06_x")
        for name, figure in (
            ("median_ms", figures.times.median),
            ("ci_low_ms", figures.times.low),
            ("ci_high_ms", figures.times.high),
            ("p5_ms", figures.times.p5),
            ("p95_ms", figures.times.p95),
            ("graph_ms", figures.graph.median),
            ("graph_ci_low_ms", figures.graph.low),
            ("graph_ci_high_ms", figures.graph.high),
            ("floor_ms", 0.5),
            ("floor_nothing_ms", 0.25),
            ("floor_graph_ms", 0.125),
            ("run_clock_mhz", 1980),
            ("run_power_w", 500),
            ("tflops", LIBRARY.tflops(SHAPE, figures.times.median)),
        ):
            self.assertEqual(columns[name], f"{figure:.6g}", name)
        times, graph = figures.times, figures.graph
        self.assertTrue(times.p5 < times.low < times.median < times.high < times.p95)
        self.assertTrue(graph.low < graph.median < graph.high)
        self.assertEqual((columns["rounds"], columns["samples"]), (str(ROUNDS), str(ROUNDS)))

    def test_steps_are_compared_with_the_first_and_the_one_before(self):
        rows = measured()
        found = [rows.columns(name, SHAPE) for name in ("04_x", "05_x", "06_x")]
        self.assertEqual([one["base_step"] for one in found], ["04_x"] * 3)
        self.assertEqual([one["speedup"] for one in found], ["1", "2", "8"])
        self.assertEqual([one.get("before_step") for one in found], [None, "04_x", "05_x"])
        self.assertEqual([one.get("speedup_before") for one in found], [None, "2", "4"])
        self.assertEqual([one["share_flash"] for one in found], ["0.25", "0.5", "2"])
        self.assertEqual([one["share_best"] for one in found], ["0.0625", "0.125", "0.5"])

    def test_what_was_not_timed_is_compared_with_nothing(self):
        rows = measured(untimed=("04_x", "sdpa_cudnn"))
        columns = rows.columns("05_x", SHAPE)
        self.assertEqual((columns["base_step"], columns["best_peer"]), ("05_x", "sdpa_flash"))
        self.assertNotIn("before_step", columns)
        rows = measured(untimed=("sdpa_cudnn", "sdpa_flash"))
        columns = rows.columns("05_x", SHAPE)
        self.assertFalse({"share_flash", "best_peer", "share_best"} & set(columns))

    def test_samples_are_in_microseconds(self):
        rows = measured()
        samples = record.samples_rows({"step": "06_x"}, rows.run.bursts("06_x"))
        self.assertEqual((samples[0]["microseconds"], samples[0]["graph_microseconds"]), ("1000.000", "500.000"))
        samples = record.samples_rows({"step": "05_x"}, rows.run.bursts("05_x"))
        self.assertEqual((samples[0]["microseconds"], samples[0]["graph_microseconds"]), ("4000.000", ""))


class Report(unittest.TestCase):
    """The exit status is that of the steps: what others compute is not the lab's fault."""

    def report(self, *rows):
        columns = dict.fromkeys(record.COLUMNS, "") | SHAPE.columns()
        full = [columns | {"step": step, "check": check, "o_error": "0.5", "o_bound": "0.25"} for step, check in rows]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
            status = peers.__main__.report(record.Record(Path("peers.csv")), full)
        return status, said.getvalue()

    def test_status(self):
        self.assertEqual(self.report(("04_x", "ok"), ("sdpa_flash", "skipped"))[0], 0)
        status, said = self.report(("04_x", "ok"), ("sdpa_flash", "FAILED"))
        self.assertEqual(status, 0)
        self.assertIn("FAILED: sdpa_flash, 4x8x512x64 fp16 causal: O is off by 0.5, where 0.25 is allowed", said)
        status, said = self.report(("04_x", "FAILED"), ("sdpa_flash", "ok"))
        self.assertEqual(status, 1)
        self.assertIn("FAILED: 04_x, ", said)
        self.assertEqual(self.report((table.ONLY_READING, "FAILED"))[0], 1)


if __name__ == "__main__":
    unittest.main()
