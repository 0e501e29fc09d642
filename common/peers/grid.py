"""The shapes that are measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

DTYPES = ("fp16", "bf16")
TOKENS = 16384  # batch * seq, so that every sequence length is as much work for the tensors
WIDTH = 2048  # heads * head_dim
LENGTHS = (128, 512, 1024, 2048, 4096, 8192, 16384)
QUICK_LENGTHS = (512, 2048, 8192)
SPREAD_LENGTH = 4096
DEVIATIONS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
QUICK_DEVIATIONS = (1.0, 8.0, 64.0)


def shape_text(columns: dict[str, str]) -> str:
    """A shape in a few words, of the columns of a record; scores only where they are not standard normal."""
    sizes = "x".join(columns[column] for column in ("batch", "heads", "seq_q", "head_dim"))
    return (
        f"{sizes} {columns['dtype']}{' causal' if columns['causal'] == '1' else ''}"
        f"{' rising' if columns['rising'] == '1' else ''}"
        f"{'' if columns['score_deviation'] == '1' else ' deviation ' + columns['score_deviation']}"
    )


@dataclass(frozen=True)
class Shape:
    """Q, K, V and O are [batch, heads, seq, head_dim]; and how far the scores, scale * q.k, are spread.

    There is one sequence length and one number of heads: SDPA's is_causal aligns the mask to the top left
    corner, the lab to the bottom right, and the two are one mask only where Q and K are equally long.
    """

    dtype: str  # "fp16" or "bf16"
    batch: int
    heads: int
    seq: int
    head_dim: int
    causal: bool
    score_deviation: float = 1.0  # standard deviation of the scores, in nats: what exp is taken of
    rising: bool = False  # along the keys the deviation grows from 0 to that, and so does the row max

    @property
    def scale(self) -> float:
        return self.head_dim**-0.5

    @property
    def tensor_bytes(self) -> int:
        """Bytes of one of Q, K, V and O."""
        return 2 * self.batch * self.heads * self.seq * self.head_dim

    def __str__(self) -> str:
        return shape_text(self.columns())

    def columns(self) -> dict[str, str]:
        """The columns of a record that hold the shape."""
        return {
            "dtype": self.dtype,
            "batch": str(self.batch),
            "heads": str(self.heads),
            "kv_heads": str(self.heads),
            "seq_q": str(self.seq),
            "seq_kv": str(self.seq),
            "head_dim": str(self.head_dim),
            "causal": str(int(self.causal)),
            "score_deviation": f"{self.score_deviation:g}",
            "rising": str(int(self.rising)),
        }


def _series(lengths: tuple[int, ...], dtypes: tuple[str, ...]) -> Iterator[Shape]:
    for head_dim in (64, 128):
        for dtype in dtypes:
            for causal in (False, True):
                for seq in lengths:
                    yield Shape(dtype, TOKENS // seq, WIDTH // head_dim, seq, head_dim, causal)


def full() -> list[Shape]:
    """Both types and head dimensions, causal and not, and the small shape of the lab's documents."""
    small = [Shape(dtype, 4, 8, 512, 64, causal) for dtype in DTYPES for causal in (False, True)]
    return small + list(_series(LENGTHS, DTYPES))


def quick() -> list[Shape]:
    """About a minute of the full grid."""
    return list(_series(QUICK_LENGTHS, ("fp16",)))


def spread(quick: bool) -> list[Shape]:
    """One length, without a mask, for scores that are spread more and more: random ones, and rising ones."""
    batch = TOKENS // SPREAD_LENGTH
    return [
        Shape(dtype, batch, WIDTH // head_dim, SPREAD_LENGTH, head_dim, False, deviation, rising)
        for head_dim in (64, 128)
        for dtype in (("fp16",) if quick else DTYPES)
        for rising in (False, True)
        for deviation in (QUICK_DEVIATIONS if quick else DEVIATIONS)
    ]
