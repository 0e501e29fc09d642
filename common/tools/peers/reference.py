"""What is right, and how wrong a result may be: common/reference and common/check, in PyTorch on the GPU.

The bound is FlashAttention's own (Dao, flash-attention, tests/test_flash_attn.py), as common/reference has it:

    max |O - ref| <= 2 max |low - ref| + 2 max |((ref + 0.3) - 0.3) - ref|

`ref` is attention in float64. `low` is attention that computes in float32 and rounds scores, probabilities and
output to the element type. The last term is evaluated in the element type.

Peers are judged by this one bound for all elements, since they may round where the lab's steps do not. Under a causal
mask the first rows set it, whose errors are the largest, and most other rows could be far more wrong. So the lab's
steps are judged as common/check does it: each element by the errors that a correct step can make there. The formula
is that of common/reference/allowance.c, and allowance.h beside it explains it. Rows that are ill-conditioned, as that
file has it, are left to the common bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

LSE_TOLERANCE = 1e-5  # CHECK_LSE_TOLERANCE of common/check
CHUNK = 1 << 27  # elements of a matrix that is computed with at once: 1 GiB in float64

# Those of common/reference/allowance.c and allowance.h.
FLOAT_ROUNDING = 2.0**-24
SCORE_ROUNDINGS = 8
EXP2_ERROR = 2.0**-21
MARGIN = 1.25
MATTERS = 20  # nats
ILL = 1 / 16  # nats
ROUNDING = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}  # relative to the value
SUBNORMAL_ROUNDING = {torch.float16: 2.0**-25, torch.bfloat16: 2.0**-134}


@dataclass(frozen=True)
class Reference:
    o: Tensor  # float64 [batch, heads, seq, head_dim]
    lse: Tensor  # float64 [batch, heads, seq]
    o_bound: float
    o_allowed: Tensor  # float32, as o: what an element of a step may be off by, o_bound at most

    def to(self, device: str) -> Reference:
        """The same in another memory, such as the host's while the GPU's is for the contenders."""
        return Reference(self.o.to(device), self.lse.to(device), self.o_bound, self.o_allowed.to(device))


@dataclass(frozen=True)
class Check:
    o_error: float | None  # NaN when O holds a NaN, None where there is no O
    lse_error: float | None  # None where there is no lse
    passed: bool


def _score_errors(scores: Tensor, errors: Tensor) -> Tensor:
    """[heads, rows, 1]: how far the scores of a row may be off, in nats, where more than one key matters
    (allowance_score_error)."""
    least = (scores - errors).amax(-1, keepdim=True).sub_(MATTERS)
    idle = (scores + errors).lt(least)
    rivals = idle.logical_not().sum(-1, keepdim=True)
    largest = errors.masked_fill(idle, 0.0).amax(-1, keepdim=True)
    return largest.masked_fill_(rivals <= 1, 0.0)


def _allowed(
    dtype: torch.dtype, weights: Tensor, errors: Tensor, keys: Tensor, v_sizes: Tensor, o: Tensor
) -> Tensor:
    """What each element of O may be off by (allowance_of_row), without the common bound. `errors`, which is
    overwritten, are those of the scores, `keys` [rows, 1] counts the visible ones, and `v_sizes` is |V|."""
    unit, least = ROUNDING[dtype], SUBNORMAL_ROUNDING[dtype]
    sums = FLOAT_ROUNDING * (32 + keys / 8) + EXP2_ERROR
    off = errors.clamp_(max=1.0).add_(sums).mul_(weights)
    in_all = off.sum(-1, keepdim=True)  # what the sum of the weights may be off by
    off.add_(weights, alpha=unit).add_(weights.clamp(max=least))
    return torch.matmul(off, v_sizes).add_(o.abs() * (unit + in_all)).add_(least).mul_(MARGIN)


def _exact(
    q: Tensor, k: Tensor, v: Tensor, hidden: Tensor | None, scale: float, keys: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """O, lse and the allowed errors of O in float64, of [heads, rows, head_dim] and keys of [heads, seq, head_dim].
    An error is infinite in a row that is ill-conditioned. Beside the scores there are two matrices of their size at
    most, one of them for a moment."""
    dtype, q, k = q.dtype, q.double(), k.double()
    scores = torch.matmul(q, k.transpose(1, 2)).mul_(scale)
    if hidden is not None:
        scores.masked_fill_(hidden, float("-inf"))
    factor = torch.linalg.vector_norm(q, dim=-1, keepdim=True) * (SCORE_ROUNDINGS * FLOAT_ROUNDING * abs(scale))
    errors = factor * torch.linalg.vector_norm(k, dim=-1).unsqueeze(1)
    del q, k
    uncertain = _score_errors(scores, errors)
    errors.mul_((uncertain > 0) & (uncertain <= ILL))  # a single key has the weight 1 for any score
    lse = torch.logsumexp(scores, dim=-1)
    weights = scores.sub_(lse.unsqueeze(-1)).exp_()
    v = v.double()
    o = torch.matmul(weights, v)
    allowed = _allowed(dtype, weights, errors, keys, v.abs_(), o)
    return o, lse, allowed.masked_fill_(uncertain > ILL, float("inf"))


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
    allowed = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    lse = torch.empty((batch, heads, seq), dtype=torch.float64, device=q.device)
    q_all, o_all, low_all, allowed_all = (
        tensor.reshape(batch * heads, -1, head_dim) for tensor in (q, o, low, allowed)
    )
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
        keys = (last_key[rows, None] + 1 if causal else torch.full_like(last_key[rows, None], seq_kv)).double()
        for first_head in range(0, batch * heads, heads_at_once):
            part = slice(first_head, min(batch * heads, first_head + heads_at_once))
            shared = torch.arange(part.start, part.stop, device=q.device) // group
            one = (q_all[part, rows], k_all[shared], v_all[shared], hidden, scale)
            o_all[part, rows], lse_all[part, rows], allowed_all[part, rows] = _exact(*one, keys)
            low_all[part, rows] = _low_precision(*one)
    bound = _bound(o, low)
    return Reference(o, lse, bound, allowed.clamp_(max=bound))


def check(o: Tensor, lse: Tensor | None, reference: Reference, is_step: bool = False) -> Check:
    """Every element of O against the bound, or in a step against what is allowed there, and every row of lse against
    the tolerance; NaN never passes."""
    errors = (o.double() - reference.o).abs_()
    o_error = errors.max().item()
    passed = bool((errors <= reference.o_allowed).all()) if is_step else o_error <= reference.o_bound
    if lse is None:
        return Check(o_error, None, passed)
    distance = (lse.double() - reference.lse).abs_() / (1 + reference.lse.abs())
    lse_error = distance.max().item()
    return Check(o_error, lse_error, passed and lse_error <= LSE_TOLERANCE)
