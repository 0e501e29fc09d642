"""Tests a step through ctypes. LAB_BUILD is the folder of the build, such as build/cpu."""

import ctypes
import math
import os
import struct
import unittest
from pathlib import Path

from peers import grid, steps

BUILD = Path(os.environ.get("LAB_BUILD", "build/cpu"))


class Steps(unittest.TestCase):
    """A step through ctypes, on whatever the build runs on."""

    step = steps.Step(BUILD / "step04.so")

    def test_what_it_says_of_itself(self):
        self.assertEqual(self.step.name, "04_online_softmax")
        self.assertRegex(self.step.cuda_version(), r"^\d+\.\d$")
        self.assertIsNone(self.step.unsupported(steps.c_shape(grid.Shape("bf16", 1, 2, 64, 64, True))))
        self.assertIn("head_dim", self.step.unsupported(steps.c_shape(grid.Shape("fp16", 1, 1, 64, 129, True))) or "")
        self.assertEqual(self.step.workspace_bytes(steps.c_shape(grid.Shape("fp16", 1, 1, 64, 64, True))), 0)
        first = steps.Step(BUILD / "step01.so")
        self.assertGreater(first.workspace_bytes(steps.c_shape(grid.Shape("fp16", 1, 1, 64, 64, True))), 0)

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


if __name__ == "__main__":
    unittest.main()
