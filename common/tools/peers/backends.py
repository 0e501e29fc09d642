"""Who takes part: the steps, PyTorch's scaled_dot_product_attention by each backend, FlashAttention-3.

FlashAttention-3 is its Python package where that is installed, or a shared object that `make peers FA3=path` names.
The lab holds neither.
"""

from __future__ import annotations

import ctypes
import importlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import scaled_dot_product_attention

from .grid import Shape
from .steps import SIZE_MAX, AttentionArgs, Step, c_shape


class CannotTake(Exception):
    """A contender cannot take the shape; the text says why."""


@dataclass
class Tensors:
    """One set of buffers, contiguous. Q and O: [batch, heads, seq, head_dim]; K and V: [batch, kv_heads, seq_kv,
    head_dim]."""

    q: Tensor
    k: Tensor
    v: Tensor
    o: Tensor  # written by the steps; the others make their own
    lse: Tensor  # float32 [batch, heads, seq], likewise


class Contender(Protocol):
    name: str  # what the column `step` holds
    cuda: str  # version of the CUDA runtime it uses
    is_step: bool

    def prepare(self, shape: Shape, sets: list[Tensors]) -> None:
        """Takes what launches on these buffers need. Raises CannotTake, or PyTorch's OutOfMemoryError."""

    def launch(self, number: int) -> Tensor:
        """Enqueues one launch on the current stream, on the set of that number, and returns O. This is timed. A step
        is asked for O alone, as in inference."""

    def launch_with_lse(self) -> tuple[Tensor, Tensor | None]:
        """The same on set 0, with lse where the contender tells it."""

    def workspace_bytes(self) -> int | None:
        """Device memory beside the tensors; None where the contender does not say."""

    def release(self) -> None:
        """Gives back what prepare took."""


class StepContender:
    is_step = True

    def __init__(self, step: Step) -> None:
        self.step = step
        self.name = step.name
        self.cuda = step.cuda_version()
        self._bytes = 0
        self._workspace: Tensor | None = None
        self._sets: list[Tensors] = []
        self._arguments: list[AttentionArgs] = []
        self._with_lse: AttentionArgs | None = None

    def prepare(self, shape: Shape, sets: list[Tensors]) -> None:
        reason = self.step.unsupported(c_shape(shape))
        if reason:
            raise CannotTake(reason)
        self._bytes = self.step.workspace_bytes(c_shape(shape))
        if self._bytes == SIZE_MAX:
            raise CannotTake("the bytes of its workspace cannot be counted in 64 bits")
        # PyTorch aligns to 512 bytes, the interface asks for 16.
        self._workspace = torch.empty(self._bytes, dtype=torch.uint8, device="cuda")
        workspace = self._workspace.data_ptr() if self._bytes else None
        self._sets = sets
        # Made once, so that a launch is one call.
        self._arguments = [self._arguments_of(shape, s, None, workspace) for s in sets]
        self._with_lse = self._arguments_of(shape, sets[0], sets[0].lse.data_ptr(), workspace)

    @staticmethod
    def _arguments_of(shape: Shape, s: Tensors, lse: int | None, workspace: int | None) -> AttentionArgs:
        return AttentionArgs(c_shape(shape), *(t.data_ptr() for t in (s.q, s.k, s.v, s.o)), lse, workspace)

    def launch(self, number: int) -> Tensor:
        self.step.forward(self._arguments[number], torch.cuda.current_stream().cuda_stream)
        return self._sets[number].o

    def launch_with_lse(self) -> tuple[Tensor, Tensor | None]:
        assert self._with_lse is not None
        self.step.forward(self._with_lse, torch.cuda.current_stream().cuda_stream)
        return self._sets[0].o, self._sets[0].lse

    def workspace_bytes(self) -> int | None:
        return self._bytes

    def release(self) -> None:
        self._workspace = None
        self._sets = []
        self._arguments = []
        self._with_lse = None


class TorchContender:
    """A function of q, k, v, causal and scale that returns O."""

    is_step = False

    def __init__(self, name: str, function: Callable[..., Tensor]) -> None:
        self.name = name
        self.cuda = torch.version.cuda or ""
        self._function = function
        self._shape: Shape | None = None
        self._sets: list[Tensors] = []
        self._recorded: list[Tensor] = []  # what the launches of a graph write to, which no other may get

    def prepare(self, shape: Shape, sets: list[Tensors]) -> None:
        self._shape, self._sets = shape, sets
        with warnings.catch_warnings(record=True) as reasons:
            warnings.simplefilter("always")
            try:
                self.launch(0)
                torch.cuda.synchronize()
            except torch.OutOfMemoryError:
                raise
            except RuntimeError as error:  # a backend that refuses says why in warnings
                words = [str(reason.message) for reason in reasons] or [str(error)]
                raise CannotTake(" ".join(" ".join(words).split())) from error

    def launch(self, number: int) -> Tensor:
        assert self._shape is not None
        tensors = self._sets[number]
        o = self._function(tensors.q, tensors.k, tensors.v, self._shape.causal, self._shape.scale)
        if torch.cuda.is_current_stream_capturing():
            self._recorded.append(o)
        return o

    def launch_with_lse(self) -> tuple[Tensor, Tensor | None]:
        return self.launch(0), None

    def workspace_bytes(self) -> int | None:
        return None

    def release(self) -> None:
        self._shape = None
        self._sets = []
        self._recorded = []


# Those to which PyTorch hands a mask that is aligned to the bottom right; the others would get one written out.
_LOWER_RIGHT = (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION)


def _sdpa(backend: SDPBackend) -> Callable[..., Tensor]:
    def attention(q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float) -> Tensor:
        grouped = q.shape[1] != k.shape[1]
        mask = None
        if causal and q.shape[2] != k.shape[2]:
            # is_causal begins at the top left, which is the lab's mask on equal lengths only.
            if backend not in _LOWER_RIGHT:
                raise CannotTake("PyTorch gives it no causal mask that ends at the bottom right")
            causal, mask = False, causal_lower_right(q.shape[2], k.shape[2])
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(
                q, k, v, attn_mask=mask, is_causal=causal, scale=scale, enable_gqa=grouped
            )

    return attention


def _flash_attention_3(function: Callable[..., Tensor | tuple[Tensor, ...]]) -> Callable[..., Tensor]:
    def attention(q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float) -> Tensor:
        # It takes [batch, seq, heads, head_dim] with any strides: the same memory, seen otherwise.
        result = function(*(t.transpose(1, 2) for t in (q, k, v)), softmax_scale=scale, causal=causal)
        o = result[0] if isinstance(result, tuple) else result  # some versions return lse as well
        return o.transpose(1, 2)

    return attention


class FlashAttention3:
    """FlashAttention-3's forward kernels behind two C functions, fa3_fwd_fp16 and fa3_fwd_bf16:

    int fa3_fwd_fp16(void *q, void *k, void *v, void *o, float *lse, int batch, int seq_q, int seq_kv,
                     int heads, int kv_heads, int head_dim, const long long *q_strides, *k_strides, *v_strides,
                     *o_strides,   // batch, row, head; in elements
                     float scale, int causal, int *semaphore, int multiprocessors, cudaStream_t stream);

    0 is success, below 0 a shape or a pointer it cannot take, above 0 a cudaError_t. The mask is aligned to the
    bottom right; the semaphore is 4 bytes on the GPU.
    """

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

    def __init__(self, path: Path) -> None:
        library = ctypes.CDLL(str(path.resolve()))
        self._functions = {"fp16": library.fa3_fwd_fp16, "bf16": library.fa3_fwd_bf16}
        pointer, number = ctypes.c_void_p, ctypes.c_int
        strides = ctypes.POINTER(ctypes.c_longlong)
        for function in self._functions.values():
            function.restype = number
            function.argtypes = [pointer] * 5 + [number] * 6 + [strides] * 4
            function.argtypes += [ctypes.c_float, number, pointer, number, pointer]
        self._semaphore: Tensor | None = None
        self._sets: list[Tensors] = []
        self._arguments: list[tuple[object, ...]] = []
        self._function = self._functions["fp16"]

    def prepare(self, shape: Shape, sets: list[Tensors]) -> None:
        self._function, self._sets = self._functions[shape.dtype], sets
        self._semaphore = torch.zeros(1, dtype=torch.int32, device=sets[0].q.device)
        multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count
        sizes = (shape.batch, shape.seq, shape.seq_kv, shape.heads, shape.kv_heads, shape.head_dim)
        rest = (shape.scale, int(shape.causal), self._semaphore.data_ptr(), multiprocessors)
        self._arguments = [
            (
                *(t.data_ptr() for t in (s.q, s.k, s.v, s.o, s.lse)),
                *sizes,
                *((ctypes.c_longlong * 3)(t.stride(0), t.stride(2), t.stride(1)) for t in (s.q, s.k, s.v, s.o)),
                *rest,
            )
            for s in sets
        ]
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
        return 4

    def release(self) -> None:
        self._semaphore = None
        self._sets = []
        self._arguments = []


class FlashAttention3Decode:
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

    name = FlashAttention3.name
    is_step = False
    cuda = ""

    _REASONS = FlashAttention3._REASONS | {-6: "it was given too little room for its partial results"}

    def __init__(self, path: Path) -> None:
        library = ctypes.CDLL(str(path.resolve()))
        self._splits_of, self._function = library.fa3_decode_num_splits, library.fa3_decode_bf16
        pointer, number = ctypes.c_void_p, ctypes.c_int
        strides = ctypes.POINTER(ctypes.c_longlong)
        self._splits_of.restype = self._function.restype = number
        self._splits_of.argtypes = [number] * 8
        self._function.argtypes = [pointer] * 7 + [number] * 7 + [strides] * 4
        self._function.argtypes += [ctypes.c_float, number, number, number, pointer, number, pointer, pointer]
        self._workspace: list[Tensor] = []
        self._sets: list[Tensors] = []
        self._arguments: list[tuple[object, ...]] = []

    def prepare(self, shape: Shape, sets: list[Tensors]) -> None:
        if shape.dtype != "bf16":
            raise CannotTake("it takes bf16 alone")
        multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count
        sizes = (shape.batch, shape.seq, shape.seq_kv, shape.heads, shape.kv_heads, shape.head_dim)
        splits = max(1, self._splits_of(*sizes, int(shape.causal), multiprocessors))
        rows = splits * shape.batch * shape.heads * shape.seq
        device = sets[0].q.device
        partial_o = torch.empty(rows * shape.head_dim, dtype=torch.float32, device=device)
        partial_lse = torch.empty(rows, dtype=torch.float32, device=device)
        semaphore = torch.zeros(1, dtype=torch.int32, device=device)
        self._workspace, self._sets = [partial_o, partial_lse, semaphore], sets
        self._arguments = [
            (
                *(t.data_ptr() for t in (s.q, s.k, s.v, s.o, s.lse, partial_o, partial_lse)),
                splits,
                *sizes,
                *((ctypes.c_longlong * 3)(t.stride(0), t.stride(2), t.stride(1)) for t in (s.q, s.k, s.v, s.o)),
                *(shape.scale, int(shape.causal), splits, -1, semaphore.data_ptr(), multiprocessors, None),
            )
            for s in sets
        ]
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


def peers(fa3: Path | None = None, fa3_decode: Path | None = None) -> list[Contender]:
    """The backends of PyTorch, and FlashAttention-3: the shared object of that path, or what is installed.
    fa3_decode, which splits the keys, stands in the place of fa3.

    Which shapes a backend takes shows when it is called. The math backend computes fp16 and bf16 in float32,
    as PyTorch does unless told otherwise.
    """
    contenders: list[Contender] = [
        TorchContender("sdpa_math", _sdpa(SDPBackend.MATH)),
        TorchContender("sdpa_efficient", _sdpa(SDPBackend.EFFICIENT_ATTENTION)),
        TorchContender("sdpa_flash", _sdpa(SDPBackend.FLASH_ATTENTION)),
        TorchContender("sdpa_cudnn", _sdpa(SDPBackend.CUDNN_ATTENTION)),
    ]
    if fa3_decode:
        return [*contenders, FlashAttention3Decode(fa3_decode)]
    if fa3:
        return [*contenders, FlashAttention3(fa3)]
    try:
        flash_attention_3 = importlib.import_module("flash_attn_interface")
    except (ImportError, OSError):
        return contenders
    return [
        *contenders,
        TorchContender("flash_attention_3", _flash_attention_3(flash_attention_3.flash_attn_func)),
    ]
