"""Tests the rounds of contenders on several GPUs, with times that the test tells and no GPU. LAB_BUILD is the folder of the
build, such as build/cpu."""

import csv
import math
import os
import tempfile
import unittest
from pathlib import Path

from peers import context_parallel, grid, group, group_row, timing

LIBRARY = timing.Library(Path(os.environ.get("LAB_BUILD", "build/cpu")) / "libpeers.so")
SHAPE = grid.Shape("bf16", 1, 16, 4096, 128, True)
ROUNDS = 12


class Told:
    """A machine of two GPUs, whose times grow by 1 % from round to round. The second is held back by the gather."""

    def __init__(self, failing=""):
        self.announced, self.rested, self.runs, self.failing = [], 0.0, [], failing
        times = {context_parallel.ALONE: 8.0, "gather": 5.0, "ring": 4.0}
        self.works = [
            group.Work(name, 1 if i == 0 else 2, 3 + i, self.timer(name, ms)) for i, (name, ms) in enumerate(times.items())
        ]

    def timer(self, name, ms):
        def milliseconds():
            self.runs.append(name)
            if name == self.failing:
                raise ValueError("told to fail")
            return ms * (1 + 0.01 * (self.runs.count(name) - 1))

        return milliseconds

    def read(self, gpus):
        last = self.runs[-1] if self.runs else context_parallel.ALONE
        assert gpus == (1 if last == context_parallel.ALONE else 2)
        return timing.Reading(1980, 300 + gpus, last == "gather")

    def rest(self, seconds):
        self.rested += seconds

    def run(self):
        plan = group.group_plan(LIBRARY, False)
        plan.rounds_least = plan.rounds_most = ROUNDS
        return group.lead(LIBRARY, self.works, plan, self.announced.append, self.read, self.rest)


class Rounds(unittest.TestCase):
    def test_each_once_a_round_in_random_order(self):
        told = Told()
        run = told.run()
        self.assertEqual(told.runs, [told.works[number].name for number in told.announced[:-1]])
        self.assertEqual(told.announced[-1], group.END)
        rounds = [tuple(told.announced[i : i + 3]) for i in range(3, len(told.announced) - 1, 3)]  # behind the warm-up
        self.assertEqual(len(rounds), ROUNDS)
        self.assertTrue(all(sorted(one) == [0, 1, 2] for one in rounds), rounds)
        self.assertGreater(len(set(rounds)), 2)
        places = [[burst.place for burst in run.bursts(work.name)] for work in told.works]
        self.assertEqual(list(zip(*places)), [tuple(one.index(number) for number in range(3)) for one in rounds])
        self.assertGreater(told.rested, 0)  # because the gather is held back

    def test_the_noise_decides_how_many(self):
        plan = group.group_plan(LIBRARY, False)
        self.assertEqual((plan.rounds_least, plan.rounds_most, plan.burst_ms, plan.graph_below_ms), (10, 30, 0, 0))
        self.assertEqual(plan.seconds_least, math.inf)
        plan = group.group_plan(LIBRARY, True)
        self.assertEqual((plan.rounds_least, plan.rounds_most), (1, 1))

    def test_the_plan_is_left_alone(self):
        plan = group.group_plan(LIBRARY, True)
        told = Told()
        group.lead(LIBRARY, told.works, plan, told.announced.append, told.read, told.rest)
        self.assertIsNone(plan.clock)

    def test_what_a_work_raises_is_raised_and_nothing_announced(self):
        told = Told(failing="ring")
        with self.assertRaisesRegex(ValueError, "told to fail"):
            told.run()
        self.assertNotIn(group.END, told.announced)

    def test_another_rank_does_its_part(self):
        told = Told()
        heard = iter([2, 0, 1, 0, 2, group.END])
        group.follow(told.works, 1, lambda: next(heard))
        self.assertEqual(told.runs, ["ring", "gather", "ring"])


class Record(unittest.TestCase):
    def rows(self):
        told = Told()
        run = told.run()
        known = {"check": "ok", "device": "NVIDIA H200", "commit": "c0ffee", "date": "2026-01-01T00:00:00Z"}
        return [group_row.make(LIBRARY, run, work, context_parallel.ALONE, SHAPE, known) for work in told.works]

    def test_efficiencies_are_of_pairs(self):
        (alone, _), (gather, samples), (ring, _) = self.rows()
        # All times grow together, so the ratio is the same in each round, and that of medians is not the point.
        ends = ("efficiency", "efficiency_low", "efficiency_high")
        self.assertEqual([alone[end] for end in ends], ["1", "1", "1"])
        self.assertEqual([gather[end] for end in ends], ["0.8", "0.8", "0.8"])
        self.assertEqual([ring[end] for end in ends], ["1", "1", "1"])
        self.assertEqual((gather["rounds"], gather["throttled_rounds"], gather["throttled"]), ("12", "12", "1"))
        self.assertEqual((alone["throttled"], ring["throttled"]), ("0", "0"))
        self.assertEqual((alone["run_power_w"], gather["run_power_w"], gather["run_clock_mhz"]), ("301", "302", "1980"))
        self.assertEqual((alone["gpus"], gather["gpus"], gather["launches_in_a_row"]), ("1", "2", "4"))
        self.assertEqual(gather["median_ms"], "5.325")  # the second launch to the thirteenth
        self.assertLess(float(gather["ci_low_ms"]), float(gather["ci_high_ms"]))
        self.assertEqual((gather["dtype"], gather["causal"], gather["step"]), ("bf16", "1", "gather"))
        self.assertEqual([one["round"] for one in samples], [str(i) for i in range(ROUNDS)])
        self.assertEqual([one["microseconds"] for one in samples[:2]], ["5050.000", "5100.000"])
        self.assertEqual({one["throttled"] for one in samples}, {"1"})
        self.assertIn("gather", group_row.in_words(gather))
        self.assertIn("80.0 % [80.0, 80.0], throttled", group_row.in_words(gather))

    def test_pairs_are_not_medians(self):
        """In a third of the rounds both take twice as long, and in another third the gather alone does."""
        told = Told()
        slower = {context_parallel.ALONE: (1, 1, 2), "gather": (1, 2, 2), "ring": (1, 1, 1)}

        def timer(name, ms):
            def milliseconds():
                told.runs.append(name)
                warmed_up = told.runs.count(name) > 1
                return ms * (slower[name][(told.runs.count(name) - 2) % 3] if warmed_up else 1)

            return milliseconds

        told.works = [group.Work(one.name, one.gpus, 3, timer(one.name, ms)) for one, ms in zip(told.works, (8, 5, 4))]
        row, _ = group_row.make(LIBRARY, told.run(), told.works[1], context_parallel.ALONE, SHAPE, {})
        self.assertEqual((row["median_ms"], row["efficiency"]), ("10", "0.8"))  # that of medians would be 8 / 10 / 2
        self.assertLess(float(row["efficiency_low"]), 0.8)

    def test_columns_are_those_of_the_steps(self):
        """common/tools/groups writes the same columns in the same order, with more between them."""
        words = Path("common/tests/scripts/recorded.h").read_text()
        text = words.partition("#define GROUPS_WITH_LINK")[2].partition("\\n")[0]
        names = "".join(text.replace('"', "").replace("\\", "").split()).split(",")
        common = [name for name in names if name in group_row.COLUMNS]
        self.assertGreater(len(common), 20)
        self.assertEqual([name for name in group_row.COLUMNS if name in names], common)

    def test_two_files(self):
        lines = [{"row": row, "samples": samples} for row, samples in self.rows()]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "torch.csv"
            group_row.write(path, lines)
            rows = list(csv.DictReader(path.read_text().splitlines()))
            samples = list(csv.DictReader(path.with_name("torch-samples.csv").read_text().splitlines()))
        self.assertEqual([row["step"] for row in rows], [context_parallel.ALONE, "gather", "ring"])
        self.assertEqual(len(samples), 3 * ROUNDS)
        self.assertEqual({row["commit"] for row in samples}, {"c0ffee"})


if __name__ == "__main__":
    unittest.main()
