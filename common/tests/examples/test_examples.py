"""Tests examples/: the calls from NumPy and from PyTorch. LAB_BUILD is the folder of the build, such as build/cpu.

Without PyTorch the operator runs on a stand-in (stand_in_torch.py), on the emulator; the class RealPyTorch is skipped.
"""

import importlib.util
import os
import sys
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "examples"))
BUILD = os.environ.get("LAB_BUILD", "build/cpu")
DEVICE = "cuda" if BUILD.endswith("gpu") else "cpu"
HAS_TORCH = importlib.util.find_spec("torch") is not None
if not HAS_TORCH:
    import stand_in_torch

    stand_in_torch.put_in_place()

import from_numpy  # noqa: E402
import from_pytorch  # noqa: E402
import lab  # noqa: E402
import numpy as np  # noqa: E402


def tensors(q, k, seed=1):
    random = np.random.default_rng(seed)
    return tuple(random.standard_normal(sizes).astype(np.float16) for sizes in (q, k, k))


class NumPy(unittest.TestCase):
    step = lab.load("04", BUILD)

    def test_against_float64(self):
        for q, k, causal, scale in (
            ((2, 4, 17, 64), (2, 2, 33, 64), False, None),
            ((1, 2, 33, 40), (1, 2, 17, 40), True, 0.5),  # the first 16 rows see no key
            ((1, 1, 1, 128), (1, 1, 200, 128), True, 0.01),
        ):
            with self.subTest(q=q, k=k, causal=causal, scale=scale):
                arrays = tensors(q, k)
                o, lse = from_numpy.attention(self.step, *arrays, causal, scale)
                exact_o, exact_lse = from_numpy.attention_in_float64(*arrays, causal, scale)
                self.assertEqual((o.shape, o.dtype, lse.dtype), (q, np.float16, np.float32))
                np.testing.assert_allclose(o, exact_o, rtol=0, atol=4 * 2.0**-11 * np.abs(arrays[2]).max())
                np.testing.assert_allclose(lse, exact_lse, rtol=0, atol=1e-3)

    def test_arrays_in_another_order_of_memory(self):
        q, k, v = tensors((1, 2, 20, 64), (1, 2, 20, 64))
        turned = tuple(np.ascontiguousarray(array.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3) for array in (q, k, v))
        self.assertFalse(turned[0].flags.c_contiguous)
        for found, expected in zip(from_numpy.attention(self.step, *turned), from_numpy.attention(self.step, q, k, v)):
            np.testing.assert_array_equal(found, expected)

    def test_a_step_with_a_workspace(self):
        arrays = tensors((1, 2, 20, 64), (1, 2, 20, 64))
        first, _ = from_numpy.attention(lab.load("01", BUILD), *arrays)
        exact, _ = from_numpy.attention_in_float64(*arrays)
        np.testing.assert_allclose(first, exact, rtol=0, atol=0.01)

    def test_what_cannot_be_taken_is_a_ValueError(self):
        q, k, v = tensors((1, 4, 8, 64), (1, 2, 8, 64))
        for words, arguments in (
            ("batch and head_dim must be the same", (q, k[:, :, :, :32], v[:, :, :, :32])),
            ("a multiple of those of K", (q[:, :3], k, v)),
            ("they must be the same", (q, k, v[:, :, :7])),
            ("give it four", (q[0], k, v)),
            ("give it four", (q, k[:, :, :0], v[:, :, :0])),
            ("hold float16, float32", (q, k, v.astype(np.float32))),
            ("step 04_online_softmax cannot take these tensors: .*head_dim", tensors((1, 1, 8, 129), (1, 1, 8, 129))),
        ):
            with self.subTest(words=words), self.assertRaisesRegex(ValueError, words):
                from_numpy.attention(self.step, *arguments)

    def test_an_error_of_CUDA_is_a_StepError_and_frees_the_memory(self):
        free = []
        arrays = tensors((1, 1, 8, 64), (1, 1, 8, 64))
        with mock.patch.object(from_numpy.lab, "forward", side_effect=lambda step, *_, **__: step.check(1)):
            with mock.patch.object(from_numpy.DeviceMemory, "__exit__", autospec=True) as left:
                left.side_effect = lambda memory, *_: free.extend(memory._pointers)
                with self.assertRaisesRegex(lab.StepError, "a CUDA call of step 04_online_softmax failed"):
                    from_numpy.attention(self.step, *arrays)
        self.assertEqual(len(free), 6)  # Q, K, V, O, lse, workspace

    def test_a_step_that_is_not_built(self):
        with self.assertRaisesRegex(FileNotFoundError, "step99.so is not there yet: make step99 build DEVICE=cpu"):
            lab.load("99", "build/cpu")


@unittest.skipIf(HAS_TORCH, "PyTorch is here")
class Operator(unittest.TestCase):
    """from_pytorch.py on the stand-in."""

    def setUp(self):
        for change in (
            mock.patch.dict(from_pytorch.BUILDS, {"cpu": BUILD, "cuda": BUILD}),
            mock.patch.object(from_pytorch, "load", lambda number, device: lab.load(number, BUILD)),
        ):
            change.start()
            self.addCleanup(change.stop)

    @staticmethod
    def tensors(device="cpu", **sizes):
        arrays = tensors(sizes.get("q", (1, 4, 20, 64)), sizes.get("k", (1, 2, 30, 64)))
        return [stand_in_torch.Tensor(array, None, device) for array in arrays]

    @unittest.skipUnless(BUILD.endswith("cpu"), "arrays of NumPy are no memory of a GPU")
    def test_on_the_emulator(self):
        q, k, v = self.tensors()
        o, lse = from_pytorch.attention(q, k, v, True, 0.25, "01")
        exact_o, exact_lse = from_numpy.attention_in_float64(q.array, k.array, v.array, True, 0.25)
        np.testing.assert_allclose(o.array, exact_o, rtol=0, atol=0.01)
        np.testing.assert_allclose(lse.array, exact_lse, rtol=0, atol=1e-3)

    def test_the_stream_and_the_addresses(self):
        for device, stream in (("cuda", stand_in_torch.CURRENT_STREAM), ("cpu", None)):
            q, k, v = self.tensors(device)
            with mock.patch.object(lab.Step, "forward") as forward:
                o, lse = from_pytorch.attention(q, k, v, False, None, "01")
            (arguments, given), _ = forward.call_args
            pointers = (arguments.q, arguments.k, arguments.v, arguments.o, arguments.lse)
            self.assertEqual(pointers, tuple(tensor.data_ptr() for tensor in (q, k, v, o, lse)))
            self.assertTrue(arguments.workspace)  # of step 01
            self.assertEqual(given, stream)
            self.assertEqual((arguments.shape.kv_heads, arguments.shape.seq_kv), (2, 30))
            self.assertAlmostEqual(arguments.shape.scale, 0.125)

    def test_what_cannot_be_taken_is_a_ValueError(self):
        q, k, v = self.tensors()
        with self.assertRaisesRegex(ValueError, "must have one type and lie on one device"):
            from_pytorch.attention(q, k, self.tensors("cuda")[2])
        with self.assertRaisesRegex(ValueError, "cannot take these tensors: .*head_dim"):
            from_pytorch.attention(*self.tensors(q=(1, 1, 8, 256), k=(1, 1, 8, 256)))
        for tensor in (q, k, v):
            tensor.dtype = "float32"
        with self.assertRaisesRegex(ValueError, "the tensors hold float32: a step takes fp16 and bf16"):
            from_pytorch.attention(q, k, v)

    def test_the_fake_has_the_sizes_and_types_of_the_results(self):
        q, k, v = self.tensors()
        for fake, real in zip(from_pytorch.attention.fake(q, k, v), from_pytorch.attention(q, k, v)):
            self.assertEqual((fake.shape, fake.dtype), (real.shape, real.dtype))


@unittest.skipUnless(HAS_TORCH, "without PyTorch")
class RealPyTorch(unittest.TestCase):
    def test_against_sdpa(self):
        with mock.patch.object(sys, "argv", ["from_pytorch.py", "--step", "04", "--device", DEVICE]):
            self.assertEqual(from_pytorch.main(), 0)

    def test_the_operator_keeps_pytorchs_rules(self):
        """That it changes no argument, and that its fake has the sizes and types of its results."""
        import torch

        q, k, v = (torch.from_numpy(array).to(DEVICE) for array in tensors((1, 4, 20, 64), (1, 2, 30, 64)))
        arguments = (q, k, v, True, 0.25, "04")
        torch.library.opcheck(from_pytorch.attention, arguments, test_utils=("test_schema", "test_faketensor"))


if __name__ == "__main__":
    unittest.main()
