"""Compares the rule for errors with the C program on the same tensors. Needs PyTorch and NumPy, no GPU."""

import csv
import io
import itertools
import math
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from peers.grid import DTYPES

try:
    import numpy
    import torch
except ImportError as error:
    raise unittest.SkipTest(f"without PyTorch and NumPy ({error})") from error

from peers import reference

BUILD = Path(os.environ.get("LAB_BUILD", "build/cpu"))
TORCH_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16}


def make_inputs(dtype: str, q_factor: float) -> list[torch.Tensor]:
    # head_dim 48: its scale is no power of two, so that to round after it makes a difference.
    generator = torch.Generator().manual_seed(3)
    tensors = [torch.randn((2, 3, 96, 48), generator=generator) for _ in range(3)]
    tensors[0] *= q_factor
    return [tensor.to(TORCH_DTYPES[dtype]) for tensor in tensors]


class Reference(unittest.TestCase):
    def run_program(self, dtype: str, causal: bool, inputs: list[torch.Tensor]) -> dict[str, float]:
        """Returns the program's verdict on its result, and the result itself: O and lse."""
        with tempfile.TemporaryDirectory() as folder:
            command = [str(BUILD / "step04"), "--csv", "--no-time"]
            for name, tensor in zip("qkv", inputs):
                path = f"{folder}/{name}.npy"
                bits = tensor.view(torch.int16).numpy()
                numpy.save(path, bits.view(numpy.float16 if dtype == "fp16" else numpy.uint16))
                command += [f"--{name}", path]
            command += ["--dtype", dtype] if dtype == "bf16" else []
            command += ["--causal"] if causal else []
            command += ["--out", f"{folder}/o.npy", "--lse", f"{folder}/lse.npy"]
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            o = torch.from_numpy(numpy.load(f"{folder}/o.npy").view(numpy.int16)).view(TORCH_DTYPES[dtype])
            lse = torch.from_numpy(numpy.load(f"{folder}/lse.npy"))
        row = next(csv.DictReader(io.StringIO(done.stdout)))
        self.o, self.lse = o, lse
        return {name: float(row[name]) for name in ("o_error", "o_bound", "lse_error")}

    def test_errors_and_bound_are_those_of_the_program(self):
        for dtype in DTYPES:
            for causal in (False, True):
                for q_factor in (1.0, 8.0):
                    with self.subTest(dtype=dtype, causal=causal, q_factor=q_factor):
                        inputs = make_inputs(dtype, q_factor)
                        expected = self.run_program(dtype, causal, inputs)
                        right = reference.compute(*inputs, causal, 48**-0.5)
                        found = reference.check(self.o, self.lse, right)
                        self.assertTrue(found.passed)
                        self.assertAlmostEqual(found.o_error, expected["o_error"], delta=1e-7)
                        self.assertAlmostEqual(found.lse_error or 0, expected["lse_error"], delta=1e-7)
                        # float32 sums in another order may round a score the other way.
                        self.assertAlmostEqual(
                            right.o_bound, expected["o_bound"], delta=BOUND * expected["o_bound"]
                        )

    def test_chunks_do_not_matter(self):
        inputs = make_inputs("fp16", 1.0)
        for causal in (False, True):
            whole = reference.compute(*inputs, causal, 0.125)
            for scores in (1, 96 * 7, 96 * 96 * 4):
                with self.subTest(causal=causal, scores=scores), Chunk(scores):
                    parts = reference.compute(*inputs, causal, 0.125)
                    self.assertTrue(torch.allclose(parts.o, whole.o, rtol=0, atol=1e-12))
                    self.assertTrue(torch.allclose(parts.lse, whole.lse, rtol=0, atol=1e-12))
                    self.assertAlmostEqual(parts.o_bound, whole.o_bound, delta=BOUND * whole.o_bound)

    def test_grouped_heads_and_fewer_queries(self):
        """Compares it with the definition, row by row."""
        generator = torch.Generator().manual_seed(5)
        q = torch.randn((2, 4, 5, 8), generator=generator).half()
        k, v = (torch.randn((2, 2, 9, 8), generator=generator).half() for _ in range(2))
        for causal, elements in itertools.product((False, True), (1, 2 * 9 * 8, 1 << 27)):
            with Chunk(elements):
                found = reference.compute(q, k, v, causal, 0.5)
            for batch in range(2):
                for head in range(4):
                    for row in range(5):
                        keys = row + 1 + 9 - 5 if causal else 9
                        own_k, own_v = (t[batch, head // 2, :keys].double() for t in (k, v))
                        scores = 0.5 * own_k @ q[batch, head, row].double()
                        expected = torch.softmax(scores, 0) @ own_v
                        self.assertTrue(torch.allclose(found.o[batch, head, row], expected, atol=1e-12))
                        lse = torch.logsumexp(scores, 0).item()
                        self.assertAlmostEqual(found.lse[batch, head, row].item(), lse, places=10)

    def test_what_does_not_pass(self):
        inputs = make_inputs("fp16", 1.0)
        right = reference.compute(*inputs, True, 0.125)
        o, lse = right.o.half(), right.lse.float()
        self.assertTrue(reference.check(o, lse, right).passed)
        self.assertTrue(reference.check(o, None, right).passed)
        for spoil in (math.nan, math.inf, 2 * right.o_bound):
            wrong = o.clone()
            wrong[1, 2, 95, 47] += spoil
            self.assertFalse(reference.check(wrong, lse, right).passed, spoil)
        for spoil in (math.nan, -math.inf, 0.1):
            wrong = lse.clone()
            wrong[1, 2, 95] += spoil
            self.assertFalse(reference.check(o, wrong, right).passed, spoil)


BOUND = 1e-3


class Chunk:
    """Makes the reference compute with matrices of so many elements at once."""

    def __init__(self, scores: int) -> None:
        self.scores = scores

    def __enter__(self) -> None:
        self.kept, reference.CHUNK = reference.CHUNK, self.scores

    def __exit__(self, *_: object) -> None:
        reference.CHUNK = self.kept


if __name__ == "__main__":
    unittest.main()
