"""The kernel that only reads K and V (common/timing/reading.h), timed beside the steps in `make decode`: attention of a few
queries and many keys has to read the same tensors."""

from __future__ import annotations

import torch
from torch import Tensor

from .contender import Tensors
from .grid import Shape
from .table import ONLY_READING
from .timing import Library


def exclusive_or(tensor: Tensor) -> int:
    """Of all 32-bit words of a contiguous tensor."""
    words = tensor.flatten().view(torch.int32)
    while len(words) > 1:  # one half is combined with the other one
        half = len(words) // 2
        words = torch.cat((words[:half] ^ words[half : 2 * half], words[2 * half :]))
    return int(words[0])


class OnlyReading:
    name = ONLY_READING
    cuda = ""
    is_step = False

    def __init__(self, library: Library) -> None:
        self._library = library
        self._sets: list[Tensors] = []
        self._mixed: Tensor | None = None  # what the kernel writes

    def prepare(self, shape: Shape, sets: list[Tensors]) -> None:
        self._sets = sets
        blocks = 2 * self._library.reading_blocks(sets[0].k.nbytes)
        self._mixed = torch.zeros(blocks, dtype=torch.int32, device=sets[0].k.device)

    def launch(self, number: int) -> Tensor:
        assert self._mixed is not None
        own = self._sets[number]
        self._library.reading_launch(
            *(own.k.data_ptr(), own.v.data_ptr(), own.k.nbytes, self._mixed.data_ptr()),
            torch.cuda.current_stream().cuda_stream,
        )
        return self._mixed

    def has_read_all(self) -> bool:
        """Whether a launch on set 0 finds the exclusive or of all words of K and V."""
        mixed = self.launch(0)
        torch.cuda.synchronize()
        return exclusive_or(mixed) == exclusive_or(self._sets[0].k) ^ exclusive_or(self._sets[0].v)

    def launch_with_lse(self) -> tuple[Tensor, Tensor | None]:
        return self.launch(0), None

    def workspace_bytes(self) -> int | None:
        return None if self._mixed is None else self._mixed.nbytes

    def release(self) -> None:
        self._sets = []
        self._mixed = None
