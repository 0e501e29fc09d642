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
                        self.assertTrue(reference.check(self.o, self.lse, right, is_step=True).passed)
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
                    self.assertTrue(torch.allclose(parts.o_allowed, whole.o_allowed, rtol=BOUND, atol=0))

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

    def test_allowed_errors_are_those_of_the_lab(self):
        """Compares them with the formula of common/reference/allowance.c, element by element. Where Q is large, one key
        alone matters in most rows, unless it is one of the last four, which are the same. Such rows are
        ill-conditioned where the scale is large as well, and have the common bound."""
        cases = [("fp16", 1.0, 0.5), ("bf16", 1.0, 0.5), ("fp16", 8000.0, 0.5), ("bf16", 8000.0, 8.0)]
        kinds = set()
        for (dtype, q_factor, scale), causal in itertools.product(cases, (False, True)):
            generator = torch.Generator().manual_seed(7)
            q, k, v = (torch.randn((1, 2, 12, 8), generator=generator) for _ in range(3))
            k[:, :, 9:] = k[:, :, 8:9]
            q, k, v = (tensor.to(TORCH_DTYPES[dtype]) for tensor in (q * q_factor, k, v))
            right = reference.compute(q, k, v, causal, scale)
            for head, row in itertools.product(range(2), range(12)):
                keys = row + 1 if causal else 12
                one = (tensor[0, head].double() for tensor in (q[:, :, row], k[:, :, :keys], v[:, :, :keys]))
                allowed, kind = allowed_of_row(dtype, *one, scale)
                kinds.add(kind)
                expected = allowed.clamp(max=right.o_bound).float()
                found = right.o_allowed[0, head, row]
                with self.subTest(dtype=dtype, q_factor=q_factor, causal=causal, head=head, row=row):
                    self.assertTrue(torch.allclose(found, expected, rtol=1e-5, atol=0), (found, expected))
        self.assertEqual(kinds, {"ill", "alone", "usual"})

    def test_a_step_is_judged_by_element(self):
        """Under a causal mask the common bound is that of the first rows."""
        right = reference.compute(*make_inputs("fp16", 1.0), True, 0.125)
        o, lse = right.o.half(), right.lse.float()
        self.assertTrue(reference.check(o, lse, right, is_step=True).passed)
        o[1, 2, 95, 47] += 0.9 * right.o_bound
        self.assertTrue(reference.check(o, lse, right).passed)
        self.assertFalse(reference.check(o, lse, right, is_step=True).passed)
        o[1, 2, 95, 47] = math.nan
        self.assertFalse(reference.check(o, None, right, is_step=True).passed)

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


def allowed_of_row(
    dtype: str, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float
) -> tuple[torch.Tensor, str]:
    """The allowance of a row's elements, in plain numbers, and of which kind the row is."""
    unit, least = (2**-11, 2**-25) if dtype == "fp16" else (2**-8, 2**-134)
    scores = (scale * (k @ q)).tolist()
    errors = [8 * 2**-24 * scale * q.norm().item() * key.norm().item() for key in k]
    surely = max(score - error for score, error in zip(scores, errors)) - 20
    rivals = [error for score, error in zip(scores, errors) if score + error >= surely]
    uncertain = max(rivals) if len(rivals) > 1 else 0
    if uncertain > 1 / 16:
        return torch.full(q.shape, math.inf), "ill"
    weights = torch.softmax(scale * (k @ q), 0).tolist()
    o = torch.tensor(weights, dtype=torch.float64) @ v
    sums = 2**-24 * (32 + len(scores) / 8) + 2**-21
    in_float = [(min(error, 1) if uncertain > 0 else 0) + sums for error in errors]
    in_all = sum(weight * part for weight, part in zip(weights, in_float))
    total = torch.zeros_like(o)
    for weight, part, value in zip(weights, in_float, v):
        total += (weight * (unit + part) + min(weight, least)) * value.abs()
    return 1.25 * (total + o.abs() * (unit + in_all) + least), "usual" if uncertain > 0 else "alone"


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
