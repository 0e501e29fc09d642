"""Tests what is written: the state of the machine, the record, and the table. Needs neither PyTorch nor a GPU."""

import ctypes
import math
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from peers import grid, machine, record, table, timing

class Machine(unittest.TestCase):
    def test_state(self):
        before = machine.parse_state("580.1, 345, 2619, 120.5, 700.00, 42")
        after = machine.parse_state("580.1, 1980, 3201, [N/A], 700.00, 51")
        columns = machine.state_columns(before, after)
        self.assertEqual(columns["driver"], "580.1")
        self.assertEqual((columns["sm_clock_before_mhz"], columns["sm_clock_after_mhz"]), ("345", "1980"))
        self.assertEqual((columns["power_before_w"], columns["power_after_w"]), ("120.5", ""))
        self.assertEqual((columns["memory_clock_mhz"], columns["power_limit_w"]), ("3201", "700.00"))
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
    row.update(check="ok", samples="2", o_error="0.5", o_bound="2", median_ms="2", tflops="10")
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
        self.assertEqual(again.comments, ["a comment"])
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
        self.assertEqual(self.resumed(commit="another")[0].comments, [])  # where nothing is kept
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

    def test_floors_of_another_commit_or_machine(self):
        # They have no row that would tell, and would be published beside the rows of this one.
        self.saved(make_row("04_x"))
        self.assertEqual(len(self.resumed()[0].samples), 1 + 1)
        self.assertEqual(len(self.resumed(device="another GPU")[0].samples), 0)
        self.assertEqual(len(self.resumed(commit="another")[0].samples), 0)

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
            make_row("only_reading", share_flash="4", share_best="2", o_error="", o_bound="", tflops=""),
        ]
        expected = [
            ["0.49", "0.24", "stop", "and", "profile"],
            ["1.00", "0.50", "ahead"],
            ["1.00", "0.50", "keep", "going", "(throttled)"],
            ["-", "-"],
            ["0.20", "0.10"],
            ["1.00", "0.50"],
            ["2.00", "1.00"],
            ["-", "4.00", "2.00"],
        ]
        found = table.lines(rows)
        self.assertEqual(len(found), 2 + len(rows))
        self.assertEqual(found[2].split()[4:7], ["ok", "0.250", "2.0000"])  # the error as a share of the allowed one
        for line, row, words in zip(found[2:], rows, expected):
            self.assertTrue(line.startswith("4x8x512x64 fp16 causal  " + row["step"]))
            self.assertEqual(line.split()[-len(words) :], words)

    def test_verdicts_at_their_ends(self):
        advice = [table.verdict(share) for share in (0.4999, 0.5, 0.9999, 1)]
        self.assertEqual(advice, ["stop and profile", "keep going", "keep going", "ahead"])

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
