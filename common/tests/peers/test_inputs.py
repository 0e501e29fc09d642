"""Tests how far the scores of a cell are spread. Needs PyTorch, no GPU."""

import math
import unittest

from peers.grid import DTYPES, Shape

try:
    import torch
except ImportError as error:
    raise unittest.SkipTest(f"without PyTorch ({error})") from error

from peers.inputs import make_inputs


def scores_of(shape: Shape) -> torch.Tensor:
    q, k, _ = make_inputs(shape, "cpu")
    return q.float() @ k.float().transpose(2, 3) * shape.scale


class Inputs(unittest.TestCase):
    def test_deviation(self):
        for dtype in DTYPES:
            for head_dim in (64, 128):
                for deviation in (1, 8, 64):
                    shape = Shape(dtype, 1, 2, 512, head_dim, False, deviation)
                    with self.subTest(shape=str(shape)):
                        scores = scores_of(shape)
                        self.assertAlmostEqual(scores.std().item() / deviation, 1, delta=0.03)
                        self.assertAlmostEqual(scores.mean().item() / deviation, 0, delta=0.03)

    def test_only_the_scores_are_spread(self):
        plain = make_inputs(Shape("bf16", 2, 3, 64, 8, False), "cpu")
        spread = make_inputs(Shape("bf16", 2, 3, 64, 8, False, 8, True), "cpu")
        for tensor in (*plain, *spread):
            self.assertEqual((tensor.shape, tensor.dtype), ((2, 3, 64, 8), torch.bfloat16))
            self.assertTrue(tensor.is_contiguous())
        self.assertTrue(torch.equal(8 * plain[0], spread[0]))
        self.assertTrue(torch.equal(plain[1][:, :, 63], spread[1][:, :, 63]))
        self.assertTrue(torch.equal(plain[2], spread[2]))

    def test_rising_scores_reach_the_deviation_at_the_last_keys(self):
        shape = Shape("fp16", 1, 4, 1024, 64, False, 16, True)
        blocks = scores_of(shape).unflatten(3, (8, 128))
        for block in range(8):  # of 128 keys: the root of the mean square of a line from block / 8 on
            expected = 16 * math.sqrt(block**2 + block + 1 / 3) / 8
            self.assertAlmostEqual(blocks[..., block, :].std().item() / expected, 1, delta=0.08)
        highest = blocks.amax(-1).mean((0, 1, 2))
        self.assertTrue((highest.diff() > 0).all())


if __name__ == "__main__":
    unittest.main()
