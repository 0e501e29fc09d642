"""Who takes part: the steps, PyTorch's scaled_dot_product_attention by each backend, FlashAttention-3."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from .grid import Shape
from .steps import SIZE_MAX, AttentionArgs, Step, c_shape


class CannotTake(Exception):
    """A contender cannot take the shape; the text says why."""


@dataclass
class Tensors:
    """One set of buffers. Q, K, V and O: [batch, heads, seq, head_dim], contiguous."""

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

    def launch(self, number: int) -> tuple[Tensor, Tensor | None]:
        """Enqueues one launch on the current stream, on the set of that number; O, and lse where told."""

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

    def prepare(self, shape: Shape, sets: list[Tensors]) -> None:
        reason = self.step.unsupported(shape)
        if reason:
            raise CannotTake(reason)
        self._bytes = self.step.workspace_bytes(shape)
        if self._bytes == SIZE_MAX:
            raise CannotTake("the bytes of its workspace cannot be counted in 64 bits")
        # PyTorch aligns to 512 bytes, the interface asks for 16.
        self._workspace = torch.empty(self._bytes, dtype=torch.uint8, device="cuda")
        workspace = self._workspace.data_ptr() if self._bytes else None
        self._sets = sets
        # Made once, so that a launch is one call.
        self._arguments = [
            AttentionArgs(c_shape(shape), *(t.data_ptr() for t in (s.q, s.k, s.v, s.o, s.lse)), workspace)
            for s in sets
        ]

    def launch(self, number: int) -> tuple[Tensor, Tensor | None]:
        self.step.forward(self._arguments[number], torch.cuda.current_stream().cuda_stream)
        return self._sets[number].o, self._sets[number].lse

    def workspace_bytes(self) -> int | None:
        return self._bytes

    def release(self) -> None:
        self._workspace = None
        self._sets = []
        self._arguments = []


class TorchContender:
    """A function of q, k, v, causal and scale that returns O."""

    is_step = False

    def __init__(self, name: str, function: Callable[..., Tensor]) -> None:
        self.name = name
        self.cuda = torch.version.cuda or ""
        self._function = function
        self._shape: Shape | None = None
        self._sets: list[Tensors] = []

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

    def launch(self, number: int) -> tuple[Tensor, Tensor | None]:
        assert self._shape is not None
        tensors = self._sets[number]
        o = self._function(tensors.q, tensors.k, tensors.v, self._shape.causal, self._shape.scale)
        return o, None

    def workspace_bytes(self) -> int | None:
        return None

    def release(self) -> None:
        self._shape = None
        self._sets = []


def _sdpa(backend: SDPBackend) -> Callable[..., Tensor]:
    def attention(q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float) -> Tensor:
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)

    return attention


def _flash_attention_3(function: Callable[..., Tensor | tuple[Tensor, ...]]) -> Callable[..., Tensor]:
    def attention(q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float) -> Tensor:
        # It takes [batch, seq, heads, head_dim] with any strides: the same memory, seen otherwise.
        result = function(*(t.transpose(1, 2) for t in (q, k, v)), softmax_scale=scale, causal=causal)
        o = result[0] if isinstance(result, tuple) else result  # some versions return lse as well
        return o.transpose(1, 2)

    return attention


def peers() -> list[Contender]:
    """The backends of PyTorch, and FlashAttention-3 where it is installed.

    Which shapes a backend takes shows when it is called. The math backend computes fp16 and bf16 in float32,
    as PyTorch does unless told otherwise.
    """
    contenders: list[Contender] = [
        TorchContender("sdpa_math", _sdpa(SDPBackend.MATH)),
        TorchContender("sdpa_efficient", _sdpa(SDPBackend.EFFICIENT_ATTENTION)),
        TorchContender("sdpa_flash", _sdpa(SDPBackend.FLASH_ATTENTION)),
        TorchContender("sdpa_cudnn", _sdpa(SDPBackend.CUDNN_ATTENTION)),
    ]
    try:
        flash_attention_3 = importlib.import_module("flash_attn_interface")
    except (ImportError, OSError):
        return contenders
    return [
        *contenders,
        TorchContender("flash_attention_3", _flash_attention_3(flash_attention_3.flash_attn_func)),
    ]
