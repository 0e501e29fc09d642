"""The rows of plots/data, and the choice of some of them by words such as "ladder 05 dtype=fp16 seq_q=512..4096"."""

from __future__ import annotations

import csv
import functools
import math
from collections.abc import Callable
from pathlib import Path

from .tables import rows_of

Row = dict[str, str]
Problem = tuple[str, ...]

# The columns that make a problem, with the value of files that lack the column.
PROBLEM = {"batch": "", "heads": "", "kv_heads": "", "seq_q": "", "seq_kv": "", "head_dim": "", "dtype": "",
           "causal": "", "score_deviation": "1", "rising": "0", "gpus": "1"}


class Refused(Exception):
    """What a claim asks for is not there, or makes no sense; the text is a sentence about it."""


def number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def is_named(step: str, wanted: str) -> bool:
    """Whether the step is 05_wmma where 05 or 05_wmma is wanted, or one of several, such as 18|20."""
    return any(step == name or step.startswith(f"{name}_") for name in wanted.split("|") if name)


def megabytes(row: Row) -> str:
    """Of K and V together, in 16 bits; empty for a row that is of no problem."""
    sizes = [number(row.get(column) or "") for column in ("batch", "kv_heads", "seq_kv", "head_dim")]
    return "" if None in sizes else str(4 * math.prod(sizes) / 1e6)


def problem_of(row: Row) -> Problem:
    return tuple(row.get(column, default) for column, default in PROBLEM.items())


def _is_in(wanted: str) -> Callable[[str], bool]:
    """Whether a value is "64", in the range "512..4096", "512.." or "..4096", or with "*" any but none."""
    low, dots, high = wanted.partition("..")
    if not dots:
        return lambda value: value == wanted or wanted == "*" and value != ""
    least, most = number(low or "-inf"), number(high or "inf")
    if least is None or most is None:
        raise Refused(f"this is no range of numbers: {wanted}")
    return lambda value: least <= (number(value) or 0) <= most


def _is_one_of(values: str) -> Callable[[str], bool]:
    """The same for one of several, such as "64|128"."""
    tests = [_is_in(wanted) for wanted in values.split("|")]
    return lambda value: any(test(value) for test in tests)


class Records:
    """The files of plots/data, each of which is read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Path, list[Row]] = {}

    def _rows(self, path: Path) -> list[Row]:
        if path not in self._read:
            with path.open(newline="", encoding="utf-8") as file:
                lines = (line for line in file if not line.startswith("#"))
                self._read[path] = [{**row, "kv_mb": megabytes(row)} for row in csv.DictReader(lines)]
        return self._read[path]

    def _named(self, name: str) -> list[Row]:
        """All rows of "nvidia-h200/ladder", or of "nvidia-h200/ladder*", which are all ladders but no samples."""
        paths = [path for path in sorted(self._folder.glob(f"{name}.csv")) if not path.stem.endswith("-samples")]
        if not paths:
            raise Refused(f"there is no record {self._folder}/{name}.csv")
        return [row for path in paths for row in self._rows(path)]

    def _of_table(self, page: str, table: str, device: str) -> list[Row]:
        try:
            return rows_of(page, table, device)
        except LookupError as error:
            raise Refused(str(error)) from None

    def rows(self, words: str, device: str, needed: str = "") -> list[tuple[Problem, Row]]:
        """The chosen rows, with the problem of each. The needed column and those of the words must be there.

        The first word is a file of the device, DEVICE/FILE, or PAGE.md:TABLE for a generated table. A word without
        "=" is a step, by its number or its whole name; 18|20 are two of them. Rows of variants count only where a
        word names the variant.
        """
        file, *conditions = words.split() or [""]
        tests: dict[str, Callable[[str], bool]] = {"variant": lambda value: value == ""}
        for condition in conditions:
            name, equals, values = condition.partition("=")
            if equals:
                tests[name] = _is_one_of(values)
            else:
                tests["step"] = lambda value, wanted=name: is_named(value, wanted)
        page, of_table, table = file.partition(".md:")
        if of_table:
            rows = self._of_table(f"{page}.md", table, device)
        else:
            rows = self._named(file if "/" in file else f"{device}/{file}")
        for name in filter(None, (needed, *tests)):
            if name != "variant" and not any(name in row for row in rows):
                raise Refused(f"{file if of_table else file + '.csv'} has no column {name}")
        for name, test in tests.items():
            fits = functools.cache(test)  # a column has few different values
            rows = [row for row in rows if fits(row.get(name) or "")]
        return [(problem_of(row), row) for row in rows]

    def values(self, column: str, words: str, device: str) -> list[tuple[Problem, float]]:
        """What the column holds in the chosen rows, with the problem of each; empty cells are left out."""
        found = [(problem, number(row.get(column) or "")) for problem, row in self.rows(words, device, column)]
        known = [(problem, value) for problem, value in found if value is not None]
        if not known:
            raise Refused(f"no row holds {column}[{words}]")
        return known
