"""The tensors of a cell."""

from __future__ import annotations

import torch
from torch import Tensor

from .grid import Shape

SEED = 1
TORCH_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16}


def make_inputs(shape: Shape, device: str) -> tuple[Tensor, Tensor, Tensor]:
    """Q, and K and V, of the shape's sizes and dtype, the same values in every call.

    K and V are standard normal, Q is that times the deviation that the scores shall have: scale * q.k is a sum
    of head_dim products, each of variance 1 / head_dim. For rising scores key j of 1 to seq is multiplied by
    j / seq_kv, and the row max grows from one block of keys to the next.
    """
    generator = torch.Generator(device=device).manual_seed(SEED)
    rows = (shape.batch, shape.heads, shape.seq, shape.head_dim)
    keys = (shape.batch, shape.kv_heads, shape.seq_kv, shape.head_dim)
    q, k, v = (torch.randn(sizes, generator=generator, device=device) for sizes in (rows, keys, keys))
    q *= shape.score_deviation
    if shape.rising:
        k *= torch.arange(1, shape.seq_kv + 1, device=device).unsqueeze(1) / shape.seq_kv
    dtype = TORCH_DTYPES[shape.dtype]
    return q.to(dtype), k.to(dtype), v.to(dtype)
