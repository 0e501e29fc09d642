"""peers.csv and peers-samples.csv, spread.csv and its own: read back what an interrupted run has left, and written after each cell."""

from __future__ import annotations

import csv
import io
import itertools
import math
import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from .grid import Shape, shape_text
from .timing import FLOORS, Burst

SHAPE_COLUMNS = (
    *("dtype", "batch", "heads", "kv_heads", "seq_q", "seq_kv", "head_dim", "causal"),
    *("score_deviation", "rising"),
)
KEY_COLUMNS = ("step", "configuration", "device", *SHAPE_COLUMNS)


def _with_interval(name: str) -> tuple[str, ...]:
    return (name, f"{name}_low", f"{name}_high")


# Those of common/result, but for the deviation of the scores in place of inputs and scale, and the shares of the
# peers' speed in place of the comparison in one configuration, which the ladder alone makes. `gpu` is the beginning
# of the GPU's UUID: the shapes of a published file may be of several GPUs of one kind.
COLUMNS = (
    *KEY_COLUMNS,
    *("check", "o_error", "o_bound", "lse_error", "workspace_bytes", "samples", "median_ms"),
    *("ci_low_ms", "ci_high_ms", "p5_ms", "p95_ms", "tflops"),
    *("rounds", "throttled_rounds", "throttled", "run_clock_mhz", "run_power_w"),
    *("graph_ms", "graph_ci_low_ms", "graph_ci_high_ms", "floor_ms", "floor_graph_ms", "floor_nothing_ms"),
    *("base_step", *_with_interval("speedup"), "before_step", *_with_interval("speedup_before")),
    *(*_with_interval("share_flash"), "best_peer", *_with_interval("share_best")),
    *("driver", "cuda", "sm_clock_before_mhz"),
    *("sm_clock_after_mhz", "memory_clock_mhz", "power_before_w", "power_after_w", "power_limit_w"),
    *("temperature_before_c", "temperature_after_c", "gpu", "commit", "date"),
)
SAMPLE_COLUMNS = (
    *(*KEY_COLUMNS, "commit", "date", "round", "place", "throttled", "sm_clock_mhz", "power_w"),
    *("graph_microseconds", "microseconds"),
)

Row = dict[str, str]


class RecordError(Exception):
    """A file of records cannot be read or written; the text is a sentence."""


def key(row: Row) -> tuple[str, ...]:
    """What tells the rows of one file apart."""
    return tuple(row[column] for column in KEY_COLUMNS)


def _read_table(path: Path, columns: tuple[str, ...]) -> tuple[list[Row], list[str]]:
    """Rows and comment lines of a file; both empty when there is no file."""
    if not path.exists():
        return [], []
    if not path.is_file():
        raise RecordError(f"{path} is a folder, a pipe or a device: move it away, or give NAME=")
    csv.field_size_limit(1 << 24)
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(f"cannot read {path}: {error}") from error
    comments = [line for line in lines if line.startswith("#")]
    table = csv.DictReader([line for line in lines if line and not line.startswith("#")])
    if tuple(table.fieldnames or ()) != columns:
        raise RecordError(
            f"{path} has other columns than this program writes: FRESH=1 begins anew, NAME=... writes another file"
        )
    rows = list(table)
    for row in rows:
        if None in row or None in row.values():
            raise RecordError(f"{path} has a row with more or fewer fields than its header: move it away")
    return rows, comments


def table_text(columns: tuple[str, ...], rows: Iterable[Row], comments: Iterable[str]) -> str:
    text = io.StringIO()
    for comment in comments:
        text.write(f"{comment}\n")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write_whole(path: Path, text: str) -> None:
    """The file appears whole or not at all, with the mode of the one that it replaces."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
        try:
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666 if mode is None else mode)
            with open(descriptor, "w") as file:
                file.write(text)
            if mode is not None:
                partial.chmod(mode)
            partial.replace(path)
        finally:  # also when a signal ends the program, which is an exception here (see __main__.py)
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise RecordError(f"cannot write {path}: {error.strerror}") from error


@dataclass
class Record:
    """The rows measured so far, and for each timed one its samples, a line for each round, in the order they were
    measured. What every time of a cell holds has samples and no row."""

    path: Path
    comments: list[str] = field(default_factory=list)  # without "# " in front
    rows: dict[tuple[str, ...], Row] = field(default_factory=dict)
    samples: dict[tuple[str, ...], list[Row]] = field(default_factory=dict)
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)  # why (step, shape) was skipped

    @property
    def samples_path(self) -> Path:
        return self.path.with_name(f"{self.path.stem}-samples.csv")

    def resume(self, device: str, driver: str, commit: str) -> int:
        """Takes over the rows of this device, driver and commit from the files; how many were left out.

        None is taken of a commit that does not tell what was measured: with changes on top ("-dirty"), or
        unknown. A row is kept only together with its samples.
        """
        rows, comments = _read_table(self.path, COLUMNS)
        sample_rows, _ = _read_table(self.samples_path, SAMPLE_COLUMNS)
        if commit.endswith("-dirty") or commit == "unknown":
            return len(rows)
        samples: dict[tuple[str, ...], list[Row]] = {}
        for row in sample_rows:
            if row["commit"] != commit:
                continue
            samples.setdefault((*key(row), row["date"]), []).append(row)
            if row["step"] in FLOORS and row["device"] == device:
                self.samples.setdefault(key(row), []).append(row)
        here = (device, driver, commit)
        for row in rows:
            own_samples = samples.get((*key(row), row["date"]))
            if (row["device"], row["driver"], row["commit"]) != here:
                continue
            if row["samples"] and own_samples is None:
                continue
            self.add(row, own_samples if row["samples"] else None)
        for comment in comments:
            skipped = re.match(r"# skipped: (\S+), ([^:]*): (.*)", comment)
            if skipped:
                self.reasons[skipped[1], skipped[2]] = skipped[3]
            elif self.rows:  # of the machine that measured them
                self.comments.append(comment.removeprefix("# "))
        return len(rows) - len(self.rows)

    def add(self, row: Row, samples: list[Row] | None) -> None:
        """A row takes the place of an older one."""
        self.rows[key(row)] = row
        self.samples.pop(key(row), None)
        if samples is not None:
            self.samples[key(row)] = samples

    def add_floor(self, samples: list[Row]) -> None:
        """What every time of a cell holds."""
        if samples:
            self.samples[key(samples[0])] = samples

    def row(self, step: str, device: str, shape: Shape) -> Row | None:
        return self.rows.get((step, "", device, *shape.columns().values()))

    def save(self) -> None:
        """Samples first: a row without its samples is measured again, samples without a row do no harm."""
        comments = [f"# {comment}" for comment in self.comments]
        for row in self.rows.values():
            reason = self.reasons.get((row["step"], shape_text(row)))
            if row["check"] == "skipped" and reason:
                comments.append(f"# skipped: {row['step']}, {shape_text(row)}: {reason}")
        write_whole(self.samples_path, table_text(SAMPLE_COLUMNS, itertools.chain(*self.samples.values()), []))
        write_whole(self.path, table_text(COLUMNS, self.rows.values(), comments))


def _value(number: float) -> str:
    return "" if math.isnan(number) else f"{number:.6g}"


def samples_rows(row: Row, bursts: Iterable[Burst], columns: tuple[str, ...] = SAMPLE_COLUMNS) -> list[Row]:
    """The samples of a row, a line for each round: microseconds, to the nanosecond, and the GPU's state."""
    own = {column: row.get(column, "") for column in columns}
    return [
        {
            **own,
            "round": str(number),
            "place": str(burst.place),
            "throttled": str(int(burst.throttled)),
            "sm_clock_mhz": _value(burst.state.sm_clock_mhz),
            "power_w": _value(burst.state.power_w),
            "graph_microseconds": "" if math.isnan(burst.graph_ms) else f"{1000 * burst.graph_ms:.3f}",
            "microseconds": " ".join(f"{1000 * one:.3f}" for one in burst.milliseconds[: burst.launches]),
        }
        for number, burst in enumerate(bursts)
    ]
