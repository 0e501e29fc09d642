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
DEVIATIONS = (1.0, 2.0, 4.0, 8.0, 16.0, 40.0)
QUICK_DEVIATIONS = (1.0, 8.0, 40.0)
DECODE_HEADS = ((32, 32), (32, 8), (32, 4), (64, 8))  # of Q, and of K and V
DECODE_BATCHES = (1, 4, 16, 64)
DECODE_KEYS = (1024, 4096, 16384, 65536)
DECODE_QUERIES = (1, 4)  # four with a mask, as when a model checks words that another one has guessed
# Heads, queries and keys: few tiles; tiles for one wave of an H100 or H200 and a part of another; one wave; several.
WAVES = (
    (1, 1024, 1024),
    (1, 2048, 2048),
    (1, 4096, 4096),
    (1, 8192, 8192),
    (4, 1024, 8192),
    (16, 128, 8192),
    (10, 2048, 2048),
    (12, 2048, 2048),
    (4, 1024, 1024),
    (20, 4096, 4096),
)
QUICK_WAVES = WAVES[2:7:2]
DECODE_MOST_BYTES = 4.4e9  # of a set of tensors: the reference needs several times as much


def shape_text(columns: dict[str, str]) -> str:
    """A shape in a few words, of the columns of a record; scores only where they are not standard normal."""
    sizes = "x".join(columns[column] for column in ("batch", "heads", "seq_q", "head_dim"))
    keys = "x".join(columns[column] for column in ("batch", "kv_heads", "seq_kv", "head_dim"))
    return (
        f"{sizes} {columns['dtype']}{' causal' if columns['causal'] == '1' else ''}"
        f"{'' if keys == sizes else f', kv {keys}'}"
        f"{' rising' if columns['rising'] == '1' else ''}"
        f"{'' if columns['score_deviation'] == '1' else ' deviation ' + columns['score_deviation']}"
    )


@dataclass(frozen=True)
class Shape:
    """Q and O are [batch, heads, seq, head_dim], K and V [batch, kv_heads, seq_kv, head_dim]; and how far the
    scores, scale * q.k, are spread.

    The mask is aligned to the bottom right: row i sees key j <= i + seq_kv - seq.
    """

    dtype: str  # "fp16" or "bf16"
    batch: int
    heads: int
    seq: int
    head_dim: int
    causal: bool
    score_deviation: float = 1.0  # standard deviation of the scores, in nats: what exp is taken of
    rising: bool = False  # along the keys the deviation grows from 0 to that, and so does the row max
    seq_kv: int = 0  # 0: as seq
    kv_heads: int = 0  # 0: as heads

    def __post_init__(self) -> None:
        object.__setattr__(self, "seq_kv", self.seq_kv or self.seq)
        object.__setattr__(self, "kv_heads", self.kv_heads or self.heads)

    @property
    def scale(self) -> float:
        return self.head_dim**-0.5

    @property
    def set_bytes(self) -> int:
        """Bytes of Q, K, V, O and lse."""
        rows = self.batch * self.heads * self.seq
        keys = self.batch * self.kv_heads * self.seq_kv
        return 2 * 2 * (rows + keys) * self.head_dim + 4 * rows

    def __str__(self) -> str:
        return shape_text(self.columns())

    def columns(self) -> dict[str, str]:
        """The columns of a record that hold the shape."""
        return {
            "dtype": self.dtype,
            "batch": str(self.batch),
            "heads": str(self.heads),
            "kv_heads": str(self.kv_heads),
            "seq_q": str(self.seq),
            "seq_kv": str(self.seq_kv),
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


def users(quick: bool) -> list[Shape]:
    """Shapes that users have and the grid lacks: one head; a length that no tile divides; grouped heads; some
    queries behind a long prefix; one query, as in decoding."""
    shapes = []
    for head_dim in (64,) if quick else (64, 128):
        heads = WIDTH // head_dim
        for causal in (False, True):
            shapes += [
                Shape("fp16", 1, 1, 4096, head_dim, causal),
                Shape("fp16", 4, heads, 4097, head_dim, causal),
                Shape("fp16", 4, 32, 4096, head_dim, causal, kv_heads=8),
            ]
        shapes += [
            Shape("fp16", 2, heads, 1024, head_dim, True, seq_kv=8192),
            Shape("fp16", 2, heads, 1, head_dim, False, seq_kv=8192),
            Shape("fp16", 8, 32, 1, head_dim, False, seq_kv=8192, kv_heads=8),
        ]
    return shapes


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


def waves(quick: bool) -> list[Shape]:
    """One batch entry and few heads, so that the tiles fill few waves: a short prompt, or one that is shared out among
    GPUs by heads; and a part of a prompt behind a long prefix. In bf16, which kernels that split the keys take."""
    return [
        Shape("bf16", 1, heads, queries, head_dim, causal, seq_kv=keys)
        for head_dim in ((64,) if quick else (64, 128))
        for causal in (False, True)
        for heads, queries, keys in (QUICK_WAVES if quick else WAVES)
    ]


def decode(quick: bool) -> list[Shape]:
    """One query, or four, against many keys, as in a model that writes; those whose tensors leave room for the
    reference."""
    heads_of = DECODE_HEADS[1:2] if quick else DECODE_HEADS
    batches = DECODE_BATCHES[::2] if quick else DECODE_BATCHES
    keys_of = DECODE_KEYS[:3] if quick else DECODE_KEYS
    shapes = [
        Shape("bf16", batch, heads, queries, 128, queries > 1, seq_kv=keys, kv_heads=kv_heads)
        for queries in DECODE_QUERIES[: 1 if quick else 2]
        for heads, kv_heads in heads_of
        for batch in batches
        for keys in keys_of
    ]
    return [shape for shape in shapes if shape.set_bytes <= DECODE_MOST_BYTES]
