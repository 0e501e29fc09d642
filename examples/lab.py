"""Finds the steps that are built, and calls one. from_numpy.py and from_pytorch.py share this code.

The functions of attention.h are called through ctypes by the lab's own loader, common/tools/peers/steps.py.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "common" / "tools"))

from peers.grid import DTYPES  # noqa: E402
from peers.steps import SIZE_MAX, AttentionArgs, AttentionShape, Step, StepError  # noqa: E402

__all__ = ["Step", "StepError", "forward", "load", "shape_of", "workspace_bytes"]


def load(number: str, build: str | Path) -> Step:
    """Opens the shared object of step `number`, such as "04", in the folder of a build: build/gpu, or build/cpu, which
    runs on the emulator. Raises FileNotFoundError when it is not built, and OSError when it cannot be opened."""
    path = ROOT / build / f"step{number}.so"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there yet: make step{number} build DEVICE={Path(build).name} builds it")
    return Step(path)


def shape_of(
    step: Step,
    dtype: str,
    q: tuple[int, ...],
    k: tuple[int, ...],
    v: tuple[int, ...],
    causal: bool,
    scale: float | None,
) -> AttentionShape:
    """The problem of tensors of these sizes: Q [batch, heads, seq_q, head_dim], K and V [batch, kv_heads, seq_kv,
    head_dim], "fp16" or "bf16". Without a scale it is 1 / sqrt(head_dim). Raises ValueError with a sentence when
    the tensors do not fit together, or when the step cannot take them."""
    for name, sizes in (("Q", q), ("K", k), ("V", v)):
        if len(sizes) != 4 or min(sizes) < 1:
            raise ValueError(
                f"{name} has the sizes {tuple(sizes)}: give it four, batch, heads, seq, head_dim, from 1 on"
            )
    if tuple(k) != tuple(v):
        raise ValueError(f"K has the sizes {tuple(k)} and V has {tuple(v)}: they must be the same")
    batch, heads, seq_q, head_dim = q
    kv_heads, seq_kv = k[1], k[2]
    if (k[0], k[3]) != (batch, head_dim) or heads % kv_heads != 0:
        raise ValueError(
            f"Q has the sizes {tuple(q)} and K has {tuple(k)}: batch and head_dim must be the same, and the heads of "
            "Q a multiple of those of K"
        )
    if dtype not in DTYPES:
        raise ValueError(f"the tensors hold {dtype}: a step takes {' and '.join(DTYPES)}")
    scale = 1 / math.sqrt(head_dim) if scale is None else scale
    shape = AttentionShape(DTYPES.index(dtype), batch, heads, kv_heads, seq_q, seq_kv, head_dim, causal, scale)
    reason = step.unsupported(shape)
    if reason:
        raise ValueError(f"step {step.name} cannot take these tensors: {reason}")
    return shape


def workspace_bytes(step: Step, shape: AttentionShape) -> int:
    """The device memory that the step needs beside its tensors. Raises ValueError when no memory is that large."""
    count = step.workspace_bytes(shape)
    if count == SIZE_MAX:
        raise ValueError(f"step {step.name} would need more workspace for these tensors than 64 bits can count")
    return count


def forward(
    step: Step,
    shape: AttentionShape,
    q: int,
    k: int,
    v: int,
    o: int,
    lse: int | None,
    workspace: int | None,
    stream: int | None,
) -> None:
    """Enqueues the step on `stream` and returns without waiting for it. The tensors are addresses in device memory.
    Raises StepError with CUDA's words when the launch fails."""
    step.forward(AttentionArgs(shape, q, k, v, o, lse, workspace), stream)
