"""Finds the phrases of claims in a page, with the numbers that stand in them."""

from __future__ import annotations

import re
import statistics
from dataclasses import dataclass

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NUMBER = r"(?<![\d.,])(-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\b(?:" + "|".join(WORDS) + r")\b)(?![.,]?\d)"


@dataclass
class Found:
    """A phrase in a page, and its numbers as the page shows them, each with its line."""

    line: int
    text: str
    numbers: list[tuple[int, str]]


def find(phrase: str, page: str) -> list[Found]:
    """Each place of the phrase. A {} of it stands for a number, and each blank for blanks and line breaks."""
    parts = [r"\s+".join(re.escape(word) for word in re.split(r"\s+", part)) for part in phrase.split("{}")]

    def line(offset: int) -> int:
        return page.count("\n", 0, offset) + 1

    return [
        Found(line(match.start()), " ".join(match[0].split()),
              [(line(match.start(group)), shown) for group, shown in enumerate(match.groups(), 1)])
        for match in re.finditer(NUMBER.join(parts), page)
    ]


def as_shown(value: float, shown: str) -> str:
    """The value with as many decimals as the page shows, or as a word if the page has one."""
    if shown in WORDS:
        rounded = round(value)
        return WORDS[rounded] if 0 <= rounded < len(WORDS) else str(rounded)
    decimals = len(shown.partition(".")[2])
    text = f"{value:,.{decimals}f}" if "," in shown else f"{value:.{decimals}f}"
    return text[1:] if float(text.replace(",", "")) == 0 and text.startswith("-") else text


def one_for_all(values: list[float], shown: str) -> str:
    """The one number that stands for all values, as the page shows it: their median, if the least and the most of them,
    rounded like it, differ by one unit of its last digit at most. If they differ by more, what a page can say instead."""
    least, most = min(values), max(values)
    decimals = 0 if shown in WORDS else len(shown.partition(".")[2])
    if round(most, decimals) - round(least, decimals) > 1.5 * 10**-decimals:
        return f"{as_shown(least, shown)} to {as_shown(most, shown)}"
    return as_shown(statistics.median(values), shown)
