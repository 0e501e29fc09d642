"""Checks all claims of plots/claims: exit status 1 when one is wrong, 2 when one makes no sense."""

from __future__ import annotations

import sys
from pathlib import Path

from .claim import check, read
from .records import Records, Refused


def main() -> int:
    """Prints what is wrong, and the count of what is right."""
    records = Records(Path("plots/data"))
    wrong: list[str] = []
    refused: list[str] = []
    pages: dict[str, str] = {}
    checked = 0
    for path in sorted(Path("plots/claims").glob("*.txt")):
        try:
            for claim in read(path):
                if claim.page not in pages:
                    if not Path(claim.page).is_file():
                        raise Refused(f"{path}:{claim.line}: there is no page {claim.page}")
                    pages[claim.page] = Path(claim.page).read_text(encoding="utf-8")
                verdict = check(claim, pages[claim.page], records)
                wrong += verdict.wrong
                refused += verdict.refused
                checked += verdict.checked
        except Refused as error:
            refused.append(str(error))
    for sentence in refused:
        print(f"error: {sentence}", file=sys.stderr)
    for sentence in wrong:
        print(sentence)
    if wrong:
        print("claims: mend the page where its number is old, and plots/claims where the page was reworded")
    if refused or wrong:
        return 2 if refused else 1
    print(f"claims: {checked} numbers and comparisons of the pages are what plots/data says")
    return 0


sys.exit(main())
