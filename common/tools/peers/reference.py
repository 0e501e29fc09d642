"""What is right, and how wrong a result may be: common/reference and common/check, in PyTorch on the GPU.

The bound is FlashAttention's own (Dao, flash-attention, tests/test_flash_attn.py), as common/reference has it:

    max |O - ref| <= 2 max |low - ref| + 2 max |((ref + 0.3) - 0.3) - ref|

The lab's own check is stricter, element by element (common/reference/allowance.h): peers are judged by the
common bound alone, since they may round where the lab's steps do not. `ref` is attention in float64. `low` is attention that computes in float32 and rounds scores, probabilities and
output to the element type. The last term is evaluated in the element type.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

LSE_TOLERANCE = 2e-5  # CHECK_LSE_TOLERANCE of common/check
CHUNK = 1 << 27  # elements of a matrix that is computed with at once: 1 GiB in float64


@dataclass(frozen=True)
class Reference:
    o: Tensor  # float64 [batch, heads, seq, head_dim]
    lse: Tensor  # float64 [batch, heads, seq]
    o_bound: float

    def to(self, device: str) -> Reference:
        """The same in another memory, such as the host's while the GPU's is for the contenders."""
        return Reference(self.o.to(device), self.lse.to(device), self.o_bound)


@dataclass(frozen=True)
class Check:
    o_error: float | None  # NaN when O holds a NaN, None where there is no O
    lse_error: float | None  # None where there is no lse
    passed: bool


def _exact(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor | None, scale: float) -> tuple[Tensor, Tensor]:
    """O and lse in float64, of [heads, rows, head_dim] and keys of [heads, seq, head_dim]."""
    scores = torch.matmul(q.double(), k.double().transpose(1, 2)).mul_(scale)
    if hidden is not None:
        scores.masked_fill_(hidden, float("-inf"))
    lse = torch.logsumexp(scores, dim=-1)
    weights = scores.sub_(lse.unsqueeze(-1)).exp_()
    return torch.matmul(weights, v.double()), lse


def _low_precision(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor | None, scale: float) -> Tensor:
    """O rounded to the element type, as a framework's unfused path computes it."""
    dtype = q.dtype
    scores = torch.matmul(q.float(), k.float().transpose(1, 2)).to(dtype)
    scores = scores.float().mul_(scale).to(dtype).float()
    if hidden is not None:
        scores.masked_fill_(hidden, float("-inf"))
    weights = torch.softmax(scores, dim=-1).to(dtype)
    return torch.matmul(weights.float(), v.float()).to(dtype)


def _finite_max(values: Tensor) -> float:
    return torch.where(values.isfinite(), values, 0.0).max().item()


def _bound(exact: Tensor, low: Tensor) -> float:
    dtype = low.dtype
    rounded = exact.float().to(dtype)
    there = (rounded.float() + 0.3).to(dtype)
    back = (there.float() - 0.3).to(dtype)
    low_error = _finite_max((low.double() - exact).abs_())
    rounding = _finite_max((back.double() - rounded.double()).abs_())
    return 2 * low_error + 2 * rounding


def compute(q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float) -> Reference:
    """The reference for Q [batch, heads, seq, head_dim] and K, V [batch, kv_heads, seq_kv, head_dim], fp16 or
    bf16; the mask is aligned to the bottom right."""
    batch, heads, seq, head_dim = q.shape
    seq_kv = k.shape[2]
    group = heads // k.shape[1]  # heads of Q that share one of K and V
    o = torch.empty(q.shape, dtype=torch.float64, device=q.device)
    low = torch.empty_like(q)
    lse = torch.empty((batch, heads, seq), dtype=torch.float64, device=q.device)
    q_all, o_all, low_all = (tensor.reshape(batch * heads, -1, head_dim) for tensor in (q, o, low))
    k_all, v_all = (tensor.reshape(-1, seq_kv, head_dim) for tensor in (k, v))
    lse_all = lse.reshape(batch * heads, seq)
    rows_at_once = min(seq, max(1, CHUNK // seq_kv))
    # A head has a matrix of scores, and K and V, which are larger where there are few queries.
    heads_at_once = max(1, CHUNK // (seq_kv * max(rows_at_once, head_dim)))
    key = torch.arange(seq_kv, device=q.device)
    last_key = torch.arange(seq, device=q.device) + seq_kv - seq
    for first_row in range(0, seq, rows_at_once):
        rows = slice(first_row, min(seq, first_row + rows_at_once))
        hidden = key[None, :] > last_key[rows, None] if causal else None
        for first_head in range(0, batch * heads, heads_at_once):
            part = slice(first_head, min(batch * heads, first_head + heads_at_once))
            shared = torch.arange(part.start, part.stop, device=q.device) // group
            one = (q_all[part, rows], k_all[shared], v_all[shared], hidden, scale)
            o_all[part, rows], lse_all[part, rows] = _exact(*one)
            low_all[part, rows] = _low_precision(*one)
    return Reference(o, lse, _bound(o, low))


def check(o: Tensor, lse: Tensor | None, reference: Reference) -> Check:
    """Every element of O against the bound, every row of lse against the tolerance; NaN never passes."""
    o_error = (o.double() - reference.o).abs_().max().item()
    passed = o_error <= reference.o_bound
    if lse is None:
        return Check(o_error, None, passed)
    distance = (lse.double() - reference.lse).abs_() / (1 + reference.lse.abs())
    lse_error = distance.max().item()
    return Check(o_error, lse_error, passed and lse_error <= LSE_TOLERANCE)
