"""The rows of a record for the terminal: each contender against PyTorch's flash backend and the best peer."""

from __future__ import annotations

from collections.abc import Iterable

from .grid import shape_text
from .record import Row

FLASH = "sdpa_flash"
PEERS = ("sdpa_math", "sdpa_efficient", FLASH, "sdpa_cudnn", "flash_attention_3")
ONLY_READING = "only_reading"  # of K and V, by a kernel that computes no attention


def is_peer(row: Row) -> bool:
    return row["step"] in PEERS


def is_step(row: Row) -> bool:
    """The steps' names begin with their number."""
    return row["step"][:1].isdigit()


def verdict(share: float) -> str:
    """What the lab's documents advise for a kernel that reaches this share of SDPA's speed."""
    if share < 0.5:
        return "stop and profile"
    return "keep going" if share < 1 else "ahead"


def _speed(row: Row) -> float:
    return float(row["tflops"]) if row["tflops"] else 0.0


def _share(row: Row, column: str) -> str:
    """Of pairs of one round, as the record has it."""
    return f"{float(row[column]):.2f}" if row[column] else "-"


def shape_lines(rows: list[Row], width: int) -> list[str]:
    """The lines of one shape, whose text takes that many columns. The verdict is by the share of SDPA flash, where that took the shape."""
    lines = []
    for row in rows:
        advice = verdict(float(row["share_flash"])) if is_step(row) and row["share_flash"] else ""
        if row["throttled"] == "1":
            advice += " (throttled)"
        error = f"{float(row['o_error']) / float(row['o_bound']):.3f}" if row["o_error"] else "-"
        median = f"{float(row['median_ms']):.4f}" if row["median_ms"] else "-"
        speed = f"{_speed(row):.1f}" if row["tflops"] else "-"
        line = (
            f"{shape_text(row):{width}}  {row['step']:20}  {row['check']:7}  {error:>11}  {median:>10}  {speed:>8}  "
            f"{_share(row, 'share_flash'):>8}  {_share(row, 'share_best'):>12}  {advice}"
        )
        lines.append(line.rstrip())
    return lines


def lines(rows: Iterable[Row]) -> list[str]:
    """The whole table: a header, then the shapes in the order of the rows."""
    shapes: dict[str, list[Row]] = {}
    for row in rows:
        shapes.setdefault(shape_text(row), []).append(row)
    width = max([len("shape"), *map(len, shapes)])
    table = [
        f"{'shape':{width}}  {'contender':20}  {'check':7}  {'error/bound':>11}  {'median ms':>10}  {'TFLOP/s':>8}  "
        f"{'of flash':>8}  {'of best peer':>12}  verdict"
    ]
    for own in shapes.values():
        table += ["", *shape_lines(own, width)]
    return table
