"""What a contender finds in its outputs before it is checked. Needs PyTorch, no GPU."""

import os
import unittest
from pathlib import Path

try:
    import torch
except ImportError as error:
    raise unittest.SkipTest(f"without PyTorch ({error})") from error

from peers import cell
from peers.backends import StepContender
from peers.contender import Tensors
from peers.steps import Step

BUILD = Path(os.environ.get("LAB_BUILD", "build/cpu"))


class Poison(unittest.TestCase):
    def test_outputs_and_workspace_hold_no_right_result(self):
        q = torch.zeros((2, 1, 2, 3, 8), dtype=torch.float16)
        o, lse = torch.zeros_like(q), torch.zeros(q.shape[:4])
        contender = StepContender(Step(BUILD / "step01.so"))
        contender._workspace = torch.zeros(10, dtype=torch.uint8)
        cell._poison(contender, Tensors(q[1], q[1], q[1], o[1], lse[1]))
        self.assertTrue(o[1].isnan().all() and lse[1].isnan().all())
        self.assertTrue((contender._workspace == 0xFF).all())
        self.assertFalse(o[0].any() or lse[0].any() or q.any(), "another set was written")


if __name__ == "__main__":
    unittest.main()
