"""The lines of the record of contenders on several GPUs: some of the columns of groups.csv; needs no PyTorch."""

from __future__ import annotations

from pathlib import Path

from .grid import Shape
from .group import Work
from .record import COLUMNS as ROW_COLUMNS
from .record import SAMPLE_COLUMNS as ROUND_COLUMNS
from .record import Row, samples_rows, table_text, write_whole
from .row import ratio_columns, time_columns
from .timing import Library, Ratio, Run

KEY_COLUMNS = (
    *("step", "variant", "device", "gpus"),
    *("dtype", "batch", "heads", "kv_heads", "seq_q", "seq_kv", "head_dim", "causal"),
)
COLUMNS = (
    *(*KEY_COLUMNS, "check", "median_ms", "ci_low_ms", "ci_high_ms", "tflops", "launches_in_a_row"),
    *("rounds", "throttled_rounds", "throttled", "run_clock_mhz", "run_power_w"),
    *("efficiency", "efficiency_low", "efficiency_high"),
    *ROW_COLUMNS[ROW_COLUMNS.index("driver") :],
)
SAMPLE_COLUMNS = (
    *(*KEY_COLUMNS, "launches_in_a_row", "commit", "date"),
    *ROUND_COLUMNS[ROUND_COLUMNS.index("round") :],
)


def make(library: Library, run: Run, work: Work, alone: str, shape: Shape, known: Row) -> tuple[Row, list[Row]]:
    """The line of a contender, and one for each of its rounds. `alone` is the one on one GPU; `known` goes before what is
    found here."""
    over_one = library.speedup(run, work.name, alone)
    shares = Ratio(*(value / work.gpus for value in (over_one.ratio, over_one.low, over_one.high)))
    row = {
        **dict.fromkeys(COLUMNS, ""),
        "step": work.name,
        "gpus": str(work.gpus),
        "launches_in_a_row": str(work.launches),
        **shape.columns(),
        **time_columns(library, run, work.name, shape),
        **ratio_columns("efficiency", shares),
        **known,
    }
    samples = samples_rows(row, run.bursts(work.name), SAMPLE_COLUMNS)
    return {column: row[column] for column in COLUMNS}, samples


def in_words(row: Row) -> str:
    """A line of the record for the reader."""
    text = f"{row['seq_q']:>8} {'causal' if row['causal'] == '1' else 'full':6s} {row['step']:26s}"
    text += f" {float(row['median_ms']):9.4f} ms"
    if row["efficiency"]:
        text += f"  {100 * float(row['efficiency']):5.1f} %"
    if row["efficiency_low"] and row["efficiency_high"]:
        text += f" [{100 * float(row['efficiency_low']):.1f}, {100 * float(row['efficiency_high']):.1f}]"
    return text + (", throttled" if row["throttled"] == "1" else "")


def write(path: Path, lines: list[dict]) -> None:
    """Each file appears whole or not at all."""
    samples = [row for line in lines for row in line["samples"]]
    write_whole(path.with_name(f"{path.stem}-samples.csv"), table_text(SAMPLE_COLUMNS, samples, []))
    write_whole(path, table_text(COLUMNS, [line["row"] for line in lines], []))
