"""Reads files of claims, and checks each claim against its page and the records.

A file of claims:

    # A comment.
    page: README.md
    data: nvidia-h200

    step 13 is {} to {} % slower than step 12
      more(median_ms[ladder 13] / median_ms[ladder 12])
      less(tflops[peers 13 head_dim=64 seq_q=4096 causal=0 dtype=fp16] /
        tflops[peers 12 head_dim=64 seq_q=4096 causal=0 dtype=fp16])

A phrase begins in the first column and may have several lines. The indented expressions below it are, in their order,
those of its numbers. A comparison belongs to no number: it must hold, and if it has several values, all must. If another
expression has several values, its number stands for each of them (pages.one_for_all). An expression goes on in the next
line as long as a bracket is open.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from .expressions import Evaluation
from .pages import as_shown, find, one_for_all
from .records import Records, Refused


@dataclass
class Claim:
    """A phrase of a page, and the expressions that it comes from."""

    file: str
    line: int
    page: str
    device: str
    phrase: str
    expressions: list[str] = field(default_factory=list)


@dataclass
class Verdict:
    """What is wrong with a claim, in sentences, and how many numbers and comparisons were looked at."""

    wrong: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    checked: int = 0


def _is_open(expression: str) -> bool:
    return sum(map(expression.count, "([")) > sum(map(expression.count, ")]"))


def read(path: Path) -> list[Claim]:
    """The claims of a file; Refused with its line where it makes no sense."""
    claims: list[Claim] = []
    page = device = ""
    begun = False  # whether a phrase may go on in this line
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            begun = False
        elif line.startswith(("page: ", "data: ")):
            kind, _, name = text.partition(": ")
            page, device = (name, device) if kind == "page" else (page, name)
            begun = False
        elif line[0] != " " and begun and not claims[-1].expressions:
            claims[-1].phrase += " " + text
        elif line[0] != " ":
            if not page or not device:
                raise Refused(f"{path}:{number}: a phrase needs a line page: and a line data: above it")
            claims.append(Claim(str(path), number, page, device, text))
            begun = True
        elif not begun:
            raise Refused(f"{path}:{number}: an expression stands below its phrase, and here is none")
        elif claims[-1].expressions and _is_open(claims[-1].expressions[-1]):
            claims[-1].expressions[-1] += " " + text
        else:
            claims[-1].expressions.append(text)
    return claims


def _evaluate(expression: str, claim: Claim, records: Records) -> list[float]:
    """The values of an expression, or what a comparison says of each problem."""
    if "[" not in expression:
        raise Refused(f"this reads no record: {expression}")
    value = Evaluation(records, claim.device).value(expression)
    return value if isinstance(value, list) else [value]


def check(claim: Claim, page: str, records: Records) -> Verdict:
    """Compares the page's text with what the expressions say."""
    verdict = Verdict()
    here = f"{claim.file}:{claim.line}"
    places = find(claim.phrase, page)
    if len(places) != 1:
        often = "has no such phrase" if not places else f"has this phrase {len(places)} times"
        verdict.wrong.append(f"{here}: {claim.page} {often}: {claim.phrase}")
        return verdict
    found = places[0]
    shown = iter(found.numbers)
    try:
        for expression in claim.expressions:
            values = _evaluate(expression, claim, records)
            verdict.checked += 1
            if isinstance(values[0], bool):
                if not all(values):
                    verdict.wrong.append(f"{claim.page}:{found.line}: the records do not say that {expression}, "
                                         f"as the page claims: {found.text} ({here})")
                continue
            line, says = next(shown, (0, ""))
            if not says:
                raise Refused(f"the phrase has no number left for: {expression}")
            recorded = one_for_all(values, says)
            if recorded != says:
                verdict.wrong.append(f"{claim.page}:{line}: the page says {says} and the records say {recorded}: "
                                     f"{found.text} ({here})")
        if not claim.expressions or next(shown, None):
            raise Refused(f"each {{}} needs an expression, and each phrase one at least: {claim.phrase}")
    except Refused as error:
        verdict.refused.append(f"{here}: {error}")
    return verdict
