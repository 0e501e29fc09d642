"""FlashAttention-3 as a shared object with C functions, which `make peers FA3=path` or FA3_DECODE=path names.

The lab does not hold it.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .contender import CannotTake, Tensors
from .grid import Shape

_POINTER, _NUMBER = ctypes.c_void_p, ctypes.c_int
_STRIDES = ctypes.POINTER(ctypes.c_longlong)


def _strides(tensors: Tensors) -> list[Any]:
    """Of Q, K, V and O: batch, row, head; in elements."""
    return [
        (ctypes.c_longlong * 3)(t.stride(0), t.stride(2), t.stride(1))
        for t in (tensors.q, tensors.k, tensors.v, tensors.o)
    ]


def _pointers(tensors: Tensors) -> list[int]:
    return [t.data_ptr() for t in (tensors.q, tensors.k, tensors.v, tensors.o, tensors.lse)]


def _sizes(shape: Shape) -> list[int]:
    return [shape.batch, shape.seq, shape.seq_kv, shape.heads, shape.kv_heads, shape.head_dim]


def _multiprocessors() -> int:
    return torch.cuda.get_device_properties(0).multi_processor_count


class _SharedObject:
    """A contender that calls a C function, whose answer 0 is success."""

    name = "flash_attention_3"
    is_step = False
    cuda = ""  # linked in; it does not tell which

    _REASONS = {
        -1: "it takes head_dim 64 and 128 alone",
        -2: "the heads of Q are no multiple of those of K",
        -3: "a size is below 1",
        -4: "a tensor is not aligned to 16 bytes",
        -5: "it was given no semaphore",
        -9: "a call of CUDA failed inside it",
    }

    def __init__(self) -> None:
        self._function: Any = None
        self._workspace: list[Tensor] = []
        self._sets: list[Tensors] = []
        self._arguments: list[tuple[object, ...]] = []

    def _try(self) -> None:
        """Calls the function on set 0. Raises CannotTake where it refuses."""
        status = self._call(0)
        torch.cuda.synchronize()
        if status != 0:
            raise CannotTake(self._REASONS.get(status, f"it answers {status}"))

    def _call(self, number: int) -> int:
        return self._function(*self._arguments[number], torch.cuda.current_stream().cuda_stream)

    def launch(self, number: int) -> Tensor:
        status = self._call(number)
        if status != 0:
            raise RuntimeError(f"FlashAttention-3 failed: {self._REASONS.get(status, f'CUDA error {status}')}")
        return self._sets[number].o

    def launch_with_lse(self) -> tuple[Tensor, Tensor | None]:
        return self.launch(0), self._sets[0].lse  # which it always writes

    def workspace_bytes(self) -> int | None:
        return sum(tensor.numel() * tensor.element_size() for tensor in self._workspace)

    def release(self) -> None:
        self._workspace = []
        self._sets = []
        self._arguments = []


class FlashAttention3(_SharedObject):
    """FlashAttention-3's forward kernels behind two C functions, fa3_fwd_fp16 and fa3_fwd_bf16:

    int fa3_fwd_fp16(void *q, void *k, void *v, void *o, float *lse, int batch, int seq_q, int seq_kv,
                     int heads, int kv_heads, int head_dim, const long long *q_strides, *k_strides, *v_strides,
                     *o_strides,   // batch, row, head; in elements
                     float scale, int causal, int *semaphore, int multiprocessors, cudaStream_t stream);

    0 is success, below 0 a shape or a pointer it cannot take, above 0 a cudaError_t. The mask is aligned to the
    bottom right; the semaphore is 4 bytes on the GPU.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        library = ctypes.CDLL(str(path.resolve()))
        self._functions = {"fp16": library.fa3_fwd_fp16, "bf16": library.fa3_fwd_bf16}
        for function in self._functions.values():
            function.restype = _NUMBER
            function.argtypes = [_POINTER] * 5 + [_NUMBER] * 6 + [_STRIDES] * 4
            function.argtypes += [ctypes.c_float, _NUMBER, _POINTER, _NUMBER, _POINTER]

    def prepare(self, shape: Shape, sets: list[Tensors]) -> None:
        self._function, self._sets = self._functions[shape.dtype], sets
        semaphore = torch.zeros(1, dtype=torch.int32, device=sets[0].q.device)
        self._workspace = [semaphore]
        rest = (shape.scale, int(shape.causal), semaphore.data_ptr(), _multiprocessors())
        self._arguments = [(*_pointers(s), *_sizes(shape), *_strides(s), *rest) for s in sets]
        self._try()


class FlashAttention3Decode(_SharedObject):
    """FlashAttention-3's kernels that split the keys, behind two C functions, in bf16 alone:

    int fa3_decode_num_splits(int batch, int seq_q, int seq_kv, int heads, int kv_heads, int head_dim, int causal,
                              int multiprocessors);   // its own choice
    int fa3_decode_bf16(void *q, void *k, void *v, void *o, float *lse,
                        float *partial_o, float *partial_lse, int partial_splits,   // room for so many splits
                        int batch, int seq_q, int seq_kv, int heads, int kv_heads, int head_dim,
                        const long long *q_strides, *k_strides, *v_strides, *o_strides,   // batch, row, head
                        float scale, int causal, int splits,   // 0: its own choice
                        int pack_heads,   // -1: its own choice
                        int *semaphore, int multiprocessors, int *used, cudaStream_t stream);

    partial_o is float32 [splits, batch, heads, seq_q, head_dim], partial_lse the same without head_dim. Answers are
    those of FlashAttention3, and -6 where there is too little room for the partial results.
    """

    _REASONS = _SharedObject._REASONS | {-6: "it was given too little room for its partial results"}

    def __init__(self, path: Path) -> None:
        super().__init__()
        library = ctypes.CDLL(str(path.resolve()))
        self._splits_of, self._function = library.fa3_decode_num_splits, library.fa3_decode_bf16
        self._splits_of.restype = self._function.restype = _NUMBER
        self._splits_of.argtypes = [_NUMBER] * 8
        self._function.argtypes = [_POINTER] * 7 + [_NUMBER] * 7 + [_STRIDES] * 4
        self._function.argtypes += [ctypes.c_float, _NUMBER, _NUMBER, _NUMBER, _POINTER, _NUMBER, _POINTER, _POINTER]

    def prepare(self, shape: Shape, sets: list[Tensors]) -> None:
        if shape.dtype != "bf16":
            raise CannotTake("it takes bf16 alone")
        causal, multiprocessors = int(shape.causal), _multiprocessors()
        splits = max(1, self._splits_of(*_sizes(shape), causal, multiprocessors))
        rows = splits * shape.batch * shape.heads * shape.seq
        device = sets[0].q.device
        partial_o = torch.empty(rows * shape.head_dim, dtype=torch.float32, device=device)
        partial_lse = torch.empty(rows, dtype=torch.float32, device=device)
        semaphore = torch.zeros(1, dtype=torch.int32, device=device)
        self._workspace, self._sets = [partial_o, partial_lse, semaphore], sets
        partial = (partial_o.data_ptr(), partial_lse.data_ptr(), splits)
        rest = (shape.scale, causal, splits, -1, semaphore.data_ptr(), multiprocessors, None)
        self._arguments = [(*_pointers(s), *partial, *_sizes(shape), *_strides(s), *rest) for s in sets]
        self._try()
