"""What takes part in a comparison, and the buffers that it works on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from .grid import Shape


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
