"""The generated tables of the pages as records, for numbers that no file of plots/data holds, such as how much of a
softmax lies under a product (scripts/timeline.awk computes it from the stamps of a timeline)."""

from __future__ import annotations

import re
from pathlib import Path

NUMBER = re.compile(r"-?[0-9.]+(?= |$)")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _column(title: str) -> str:
    """The title of a column as a name: "waits for a tile" is waits_for_a_tile."""
    return re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")


def _value(column: str, cell: str) -> str:
    """The number that a cell begins with, in its unit: "13 %" is 13. A step has its whole name, as in plots/data."""
    if column == "step":
        return cell.replace(" ", "_")
    number = NUMBER.match(cell)
    return number[0] if number else cell


def rows_of(page: str, table: str, device: str) -> list[dict[str, str]]:
    """The rows of the table that the page has of this device, such as `overlap` of guide/timeline.md.

    LookupError, with a sentence, where there is none.
    """
    if not Path(page).is_file():
        raise LookupError(f"there is no page {page}")
    text = Path(page).read_text(encoding="utf-8")
    block = re.search(rf"^<!-- table: {re.escape(table)} {re.escape(device)}\b.*?-->\n(.*?)^<!-- end of table -->", text,
                      re.DOTALL | re.MULTILINE)
    if not block:
        raise LookupError(f"{page} has no table {table} of {device}")
    titles, _, *lines = [line for line in block[1].splitlines() if line.startswith("|")]
    columns = [_column(title) for title in _cells(titles)]
    return [{column: _value(column, cell) for column, cell in zip(columns, _cells(line))} for line in lines]
