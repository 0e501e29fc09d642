"""Who takes part: the steps, PyTorch's scaled_dot_product_attention by each backend, FlashAttention-3.

FlashAttention-3 is its Python package where that is installed, or a shared object that `make peers FA3=path` names.
The lab holds neither.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import scaled_dot_product_attention

from .contender import CannotTake, Contender, Tensors
from .flash_attention_3 import FlashAttention3, FlashAttention3Decode
from .grid import Shape
from .steps import SIZE_MAX, AttentionArgs, Step, c_shape


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

    def poison_workspace(self) -> None:
        """Fills it with NaN, on the stream of the launches: a step reads there only what it has written."""
        if self._workspace is not None:
            self._workspace.fill_(0xFF)

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
        installed = importlib.import_module("flash_attn_interface")
    except (ImportError, OSError):
        return contenders
    return [
        *contenders,
        TorchContender("flash_attention_3", _flash_attention_3(installed.flash_attn_func)),
    ]
