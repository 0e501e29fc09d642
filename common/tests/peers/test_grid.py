"""Tests which shapes are measured, and which words on the command line. Needs neither PyTorch nor a GPU."""

import contextlib
import io
import itertools
import unittest

import peers.__main__
from peers import grid


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

    def test_waves(self):
        shapes = grid.waves(False)
        self.assertEqual((len(set(shapes)), len(shapes)), (40, 40))
        self.assertEqual({(s.dtype, s.batch) for s in shapes}, {("bf16", 1)})
        own = [s for s in shapes if s.head_dim == 64 and s.causal]
        self.assertTrue(any((s.heads, s.seq, s.seq_kv) == (1, 4096, 4096) for s in own))
        self.assertTrue(any(s.seq < s.seq_kv for s in own))
        tiles = {s.heads * (s.seq // 128) for s in own}
        self.assertTrue(min(tiles) < 66 and any(132 < number < 264 for number in tiles) and max(tiles) > 264)
        self.assertLess(set(grid.waves(True)), set(shapes))

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
        self.assertEqual(self.shapes("--waves", "--quick"), grid.waves(True))
        chosen = self.shapes("--spread", "--shapes", "64 bf16 rising deviation 8")
        self.assertEqual(chosen, [grid.Shape("bf16", 4, 32, 4096, 64, False, 8, True)])

    def test_what_is_refused(self):
        self.assertEqual(self.options("--seconds", "0.2", "--without", "sdpa_math").without, ["sdpa_math"])
        for arguments in (
            ["--seconds", "0"],
            ["--seconds", "nan"],
            ["--seconds", "inf"],
            ["--without", "sdpa_maths"],
            ["--fa3", "no/such/libfa3.so"],
            ["--fa3-decode", "no/such/libfa3.so", "--decode"],
        ):
            with self.assertRaises(SystemExit) as raised, contextlib.redirect_stderr(io.StringIO()) as said:
                self.options(*arguments)
            self.assertEqual(raised.exception.code, 2)
            self.assertIn(arguments[1], said.getvalue())

    def test_kernels_for_few_tiles_are_not_for_other_shapes(self):
        library = __file__  # any file
        for shapes in ([], ["--users"], ["--spread"]):
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as said:
                self.options("--fa3-decode", library, *shapes)
            self.assertIn("--fa3-decode is for few tiles: give --decode or --waves as well", said.getvalue())
        for shapes in ("--decode", "--waves"):
            self.assertEqual(str(self.options("--fa3-decode", library, shapes).fa3_decode), library)


if __name__ == "__main__":
    unittest.main()
