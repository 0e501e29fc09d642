"""Tests the arguments with which the contenders are called. Needs PyTorch and a C compiler, no GPU."""

import ctypes
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from peers.grid import Shape

try:
    import torch
except ImportError as error:
    raise unittest.SkipTest(f"without PyTorch ({error})") from error

from peers import backends, reference
from peers.contender import CannotTake, Tensors
from peers.inputs import make_inputs
from peers.only_reading import OnlyReading, exclusive_or

# Takes the arguments of FlashAttention-3's doors, keeps them, and answers what it is told to.
STUB = """
typedef struct { void *pointers[5]; int sizes[6]; long long strides[12]; float scale; int causal, multiprocessors; void *semaphore, *stream; } call;
call last; int answer;
#define DOOR(name) int name(void *q, void *k, void *v, void *o, float *lse, int B, int Sq, int Sk, int H, int Hk, int D, \\
  const long long *qs, const long long *ks, const long long *vs, const long long *os, float scale, int causal, \\
  int *semaphore, int multiprocessors, void *stream) { \\
  last = (call){{q, k, v, o, lse}, {B, Sq, Sk, H, Hk, D}, {qs[0], qs[1], qs[2], ks[0], ks[1], ks[2], vs[0], vs[1], vs[2], \\
    os[0], os[1], os[2]}, scale, causal, multiprocessors, semaphore, stream}; \\
  return answer; }
DOOR(fa3_fwd_fp16)
DOOR(fa3_fwd_bf16)
typedef struct { void *pointers[7]; int room, sizes[6]; long long strides[12]; float scale; int rest[3]; void *semaphore;
  int multiprocessors; void *used, *stream; } decode_call;
decode_call last_decode;
int fa3_decode_num_splits(int B, int Sq, int Sk, int H, int Hk, int D, int causal, int multiprocessors) {
  return B == 2 && Sk == 96 && causal && multiprocessors == 132 ? 5 : 0; }
int fa3_decode_bf16(void *q, void *k, void *v, void *o, float *lse, float *po, float *pl, int room, int B, int Sq, int Sk,
  int H, int Hk, int D, const long long *qs, const long long *ks, const long long *vs, const long long *os, float scale,
  int causal, int splits, int pack, int *semaphore, int multiprocessors, int *used, void *stream) {
  last_decode = (decode_call){{q, k, v, o, lse, po, pl}, room, {B, Sq, Sk, H, Hk, D}, {qs[0], qs[1], qs[2], ks[0], ks[1],
    ks[2], vs[0], vs[1], vs[2], os[0], os[1], os[2]}, scale, {causal, splits, pack}, semaphore, multiprocessors, used, stream};
  return answer; }
"""


class Call(ctypes.Structure):
    _fields_ = [
        ("pointers", ctypes.c_void_p * 5),
        ("sizes", ctypes.c_int * 6),
        ("strides", ctypes.c_longlong * 12),
        ("scale", ctypes.c_float),
        ("causal", ctypes.c_int),
        ("multiprocessors", ctypes.c_int),
        ("semaphore", ctypes.c_void_p),
        ("stream", ctypes.c_void_p),
    ]


class DecodeCall(ctypes.Structure):
    _fields_ = [
        ("pointers", ctypes.c_void_p * 7),
        ("room", ctypes.c_int),
        ("sizes", ctypes.c_int * 6),
        ("strides", ctypes.c_longlong * 12),
        ("scale", ctypes.c_float),
        ("rest", ctypes.c_int * 3),
        ("semaphore", ctypes.c_void_p),
        ("multiprocessors", ctypes.c_int),
        ("used", ctypes.c_void_p),
        ("stream", ctypes.c_void_p),
    ]


def make_sets(shape: Shape, count: int) -> list[Tensors]:
    sets = []
    for _ in range(count):
        q, k, v = make_inputs(shape, "cpu")
        sets.append(Tensors(q, k, v, torch.empty_like(q), torch.empty(q.shape[:3])))
    return sets


@unittest.skipIf(shutil.which("cc") is None, "there is no C compiler")
class FlashAttention3(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "libfa3.so"
        command = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(path)]
        subprocess.run(command, input=STUB.replace("\\\\", "\\"), text=True, check=True)
        self.library = ctypes.CDLL(str(path))
        properties = SimpleNamespace(multi_processor_count=132)
        for name, value in (
            ("get_device_properties", lambda _: properties),
            ("current_stream", lambda: SimpleNamespace(cuda_stream=77)),
            ("synchronize", lambda: None),
        ):
            patch = mock.patch.object(torch.cuda, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.contender = backends.peers(path)[-1]
        self.decode = backends.peers(path, path)[-1]

    def test_arguments(self):
        shape = Shape("fp16", 2, 8, 32, 64, True, seq_kv=96, kv_heads=2)
        sets = make_sets(shape, 2)
        self.contender.prepare(shape, sets)
        with_lse = self.contender.launch_with_lse()
        self.assertIs(with_lse[0], sets[0].o)
        self.assertIs(with_lse[1], sets[0].lse)
        self.assertIs(self.contender.launch(1), sets[1].o)
        last = Call.in_dll(self.library, "last")
        tensors = (sets[1].q, sets[1].k, sets[1].v, sets[1].o, sets[1].lse)
        self.assertEqual(list(last.pointers), [tensor.data_ptr() for tensor in tensors])
        self.assertEqual(list(last.sizes), [2, 32, 96, 8, 2, 64])
        q, k = [8 * 32 * 64, 64, 32 * 64], [2 * 96 * 64, 64, 96 * 64]  # batch, row, head
        self.assertEqual(list(last.strides), [*q, *k, *k, *q])
        self.assertEqual((last.scale, last.causal, last.multiprocessors), (0.125, 1, 132))
        self.assertEqual((last.stream, bool(last.semaphore)), (77, True))
        self.assertEqual((self.contender.name, self.contender.is_step), ("flash_attention_3", False))

    def test_arguments_of_decode(self):
        shape = Shape("bf16", 2, 8, 4, 64, True, seq_kv=96, kv_heads=2)
        sets = make_sets(shape, 2)
        self.decode.prepare(shape, sets)
        self.assertIs(self.decode.launch(1), sets[1].o)
        last = DecodeCall.in_dll(self.library, "last_decode")
        tensors = (sets[1].q, sets[1].k, sets[1].v, sets[1].o, sets[1].lse)
        self.assertEqual(list(last.pointers)[:5], [tensor.data_ptr() for tensor in tensors])
        self.assertEqual((last.room, list(last.sizes)), (5, [2, 4, 96, 8, 2, 64]))
        q, k = [8 * 4 * 64, 64, 4 * 64], [2 * 96 * 64, 64, 96 * 64]  # batch, row, head
        self.assertEqual(list(last.strides), [*q, *k, *k, *q])
        self.assertEqual((last.scale, list(last.rest), last.multiprocessors), (0.125, [1, 5, -1], 132))
        self.assertEqual((last.stream, bool(last.semaphore), last.used), (77, True, None))
        rows = 5 * 2 * 8 * 4  # splits, batch, heads, queries
        self.assertEqual(self.decode.workspace_bytes(), 4 * (rows * 64 + rows + 1))
        with self.assertRaisesRegex(CannotTake, "bf16 alone"):
            self.decode.prepare(Shape("fp16", 1, 1, 1, 64, False), sets)

    def test_what_it_cannot_take(self):
        shape = Shape("bf16", 1, 1, 8, 32, False)
        ctypes.c_int.in_dll(self.library, "answer").value = -1
        with self.assertRaisesRegex(CannotTake, "head_dim 64 and 128"):
            self.contender.prepare(shape, make_sets(shape, 1))
        with self.assertRaisesRegex(RuntimeError, "FlashAttention-3 failed: it takes head_dim"):
            self.contender.launch(0)


class Reading(unittest.TestCase):
    """Which memory the kernel that only reads is given, and that a kernel that reads less is found out."""

    def test_all_of_k_and_v_is_read(self):
        shape = Shape("bf16", 1, 4, 1, 64, False, seq_kv=96, kv_heads=2)
        sets = make_sets(shape, 2)
        sets[1].k.mul_(2)
        calls = []

        def launch(first, second, size, mixed, stream):
            calls.append((first, second, size, stream))
            read = [torch.frombuffer((ctypes.c_char * used).from_address(at), dtype=torch.int32)
                    for at, used in ((first, size), (second, size - missing))]  # fmt: skip
            ctypes.c_int.from_address(mixed).value = exclusive_or(read[0]) ^ exclusive_or(read[1])

        library = SimpleNamespace(reading_blocks=lambda size: 3, reading_launch=launch)
        with (
            mock.patch.object(torch.cuda, "current_stream", lambda: SimpleNamespace(cuda_stream=77)),
            mock.patch.object(torch.cuda, "synchronize", lambda: None),
        ):
            for missing in (0, 4):
                reading = OnlyReading(library)
                reading.prepare(shape, sets)
                self.assertEqual(reading.has_read_all(), missing == 0)
            self.assertEqual(reading.workspace_bytes(), 2 * 3 * 4)
            reading.launch(1)
        self.assertEqual(calls[-1], (sets[1].k.data_ptr(), sets[1].v.data_ptr(), 2 * 96 * 64 * 2, 77))

    def test_exclusive_or(self):
        for words in ([5], [1, 2, 4], [7, 7, 3, 8, 9], list(range(1000))):
            expected = 0
            for word in words:
                expected ^= word
            self.assertEqual(exclusive_or(torch.tensor(words, dtype=torch.int32)), expected)


class Sdpa(unittest.TestCase):
    """PyTorch on the CPU, which has the flash and the math backend: which mask, and which heads."""

    def test_masks_and_heads(self):
        for shape in (
            Shape("fp16", 1, 4, 32, 16, True),
            Shape("fp16", 1, 4, 32, 16, True, seq_kv=80),
            Shape("fp16", 1, 4, 32, 16, False, kv_heads=2),
            Shape("fp16", 1, 4, 1, 16, False, seq_kv=80, kv_heads=2),
        ):
            inputs = make_inputs(shape, "cpu")
            right = reference.compute(*inputs, shape.causal, shape.scale)
            with self.subTest(shape=str(shape)):
                flash = backends._sdpa(backends.SDPBackend.FLASH_ATTENTION)
                found = reference.check(flash(*inputs, shape.causal, shape.scale), None, right)
                self.assertTrue(found.passed, f"{found.o_error} of {right.o_bound}")

    def test_who_gets_no_mask_of_the_lower_right(self):
        shape = Shape("fp16", 1, 4, 32, 16, True, seq_kv=80)
        cudnn = backends._sdpa(backends.SDPBackend.CUDNN_ATTENTION)
        with self.assertRaisesRegex(CannotTake, "bottom right"):
            cudnn(*make_inputs(shape, "cpu"), True, shape.scale)


if __name__ == "__main__":
    unittest.main()
