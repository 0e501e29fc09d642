"""Tests what PyTorch's context parallelism is timed with, as far as that goes without GPUs. Without PyTorch a sentence says
so; with it, two processes on the CPU go through the whole program."""

import contextlib
import csv
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from peers import context_parallel, processes

BUILD = Path(os.environ.get("LAB_BUILD", "build/cpu"))


def said(*arguments):
    """The exit status and standard error of the program, without processes of its own."""
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        status = context_parallel.main(list(arguments))
    return status, err.getvalue()


class Refuses(unittest.TestCase):
    def test_without_pytorch(self):
        with mock.patch("importlib.util.find_spec", return_value=None):
            status, text = said("x.csv", "1024")
        self.assertEqual((status, text.count("\n")), (2, 1))
        self.assertIn("error: PyTorch was not found", text)

    def test_too_few_gpus_and_lengths_that_cannot_be_shared(self):
        with mock.patch("importlib.util.find_spec", return_value=True):
            with mock.patch.object(context_parallel, "count_gpus", return_value=1):
                self.assertIn("needs two GPUs, and there are 1", said("x.csv", "1024")[1])
            self.assertEqual(
                said("x.csv", "1026", "--gpus", "2"),
                (2, "error: the length 1026 is not a multiple of 4, twice the number of GPUs\n"),
            )
            self.assertEqual(
                said("--library", "none.so", "x.csv", "1024", "--gpus", "2"),
                (2, "error: there is no none.so: make groups builds it\n"),
            )


class Ends(unittest.TestCase):
    def test_it_says_that_it_has_finished(self):
        with tempfile.TemporaryDirectory() as folder:
            mark = Path(folder) / "finished"
            done = subprocess.run(
                [sys.executable, "-m", "peers.context_parallel", "x.csv", "1026", "--gpus", "2"],
                env={**os.environ, "LAB_FINISHED": str(mark)},
                capture_output=True,
            )
            self.assertEqual((done.returncode, mark.read_text()), (2, "finished\n"))

    def test_a_process_that_is_ended_does_not(self):
        with tempfile.TemporaryDirectory() as folder:
            mark = Path(folder) / "finished"
            code = "import os; from peers import finish; finish.run(lambda: os._exit(0))"
            done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "LAB_FINISHED": str(mark)})
            self.assertEqual((done.returncode, mark.exists()), (0, False))


class Processes(unittest.TestCase):
    def start(self, *codes):
        return [subprocess.Popen([sys.executable, "-c", code]) for code in codes]

    def test_one_that_fails_ends_the_others(self):
        reason = processes.wait(self.start("import time; time.sleep(60)", "import sys; sys.exit(3)"), 50)
        self.assertEqual(reason, "rank 1 has failed (exit status 3)")

    def test_the_limit_ends_all(self):
        self.assertIn("0.2 s have passed", processes.wait(self.start("import time; time.sleep(60)"), 0.2))


@unittest.skipUnless(importlib.util.find_spec("torch"), "needs PyTorch")
class Rehearsal(unittest.TestCase):
    def test_two_processes_on_the_cpu(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "torch.csv"
            done = subprocess.run(
                [
                    *(sys.executable, "-m", "peers.context_parallel", "--library", str(BUILD / "libpeers.so"), str(path), "512"),
                    *("--rehearse", "--limit", "100"),
                ],
                capture_output=True,
                text=True,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("connected", done.stderr)
            rows = list(csv.DictReader(path.read_text().splitlines()))
            samples = list(csv.DictReader(path.with_name("torch-samples.csv").read_text().splitlines()))
        self.assertEqual(
            [(row["step"], row["gpus"], row["check"]) for row in rows],
            [("sdpa_cudnn", "1", "ok"), ("context_parallel_gather", "2", "ok"), ("context_parallel_ring", "2", "ok")],
        )
        self.assertTrue(all(float(row["median_ms"]) > 0 for row in rows))
        self.assertEqual([row["rounds"] for row in rows], ["1"] * 3)
        self.assertEqual(rows[0]["efficiency"], "1")
        self.assertAlmostEqual(
            float(rows[1]["efficiency"]), float(rows[0]["median_ms"]) / 2 / float(rows[1]["median_ms"]), places=3
        )
        self.assertEqual([row["step"] for row in samples], [row["step"] for row in rows])
        self.assertEqual(sorted(row["place"] for row in samples), ["0", "1", "2"])


if __name__ == "__main__":
    unittest.main()
