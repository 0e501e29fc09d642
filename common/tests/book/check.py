"""Tests the lab book in a browser: check.py build/book/index.html build/cpu/book

Looks at every view as a reader would: follows each link, uses each control, compares numbers with the record, and takes
pictures of the main views, which it leaves beside the page, with checks of their layout. Exit status 1 when something
is wrong, with a line for each fault.
"""

import pathlib
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
# pylint: disable=wrong-import-position
import controls
import grown
import layout
import numbers_of
from browser import Browser

DRAWN_MS = 500


class Check:
    """A page in a browser, and the faults that were found in it."""

    def __init__(self, page, program):
        self.page = pathlib.Path(page).resolve()
        self.program = pathlib.Path(program).resolve()
        self.folder = self.page.parent
        self.faults = []
        self.looked_at = 0
        self.browser = Browser()

    def expect(self, right, fault):
        self.looked_at += 1
        if not right:
            self.faults.append(fault)
            print(f"FAIL  {fault}", flush=True)
        return right

    def open(self, address="#/"):
        """Opens the page anew from the disk."""
        self.browser.call("Page.navigate", url="about:blank")
        self.browser.call("Page.navigate", url=self.page.as_uri() + address)
        for _ in range(400):
            if self.browser.run("document.readyState === 'complete' && typeof shown === 'string' && shown !== ''"):
                return
            time.sleep(0.05)
        self.expect(False, "the page does not open from the disk")

    def go(self, address):
        """Shows a view, and waits until it is drawn."""
        self.browser.run(
            "(history.replaceState(null, '', address_), show(), new Promise(requestAnimationFrame)"
            ".then(() => new Promise(requestAnimationFrame)))",
            address_=address,
        )

    def run(self, script, **values):
        return self.browser.run(script, **values)


def drawing(check):
    """Loads the page up to five times, and takes its time on the processor, which other programs hardly change."""
    check.browser.call("Performance.enable", timeDomain="threadTicks")
    best = 1e9
    for _ in range(5):
        check.open()
        metrics = check.browser.call("Performance.getMetrics")["metrics"]  # since the page began to load
        best = min(best, 1e3 * next(it["value"] for it in metrics if it["name"] == "TaskDuration"))
        if best < DRAWN_MS:
            break
    check.browser.call("Performance.disable")
    check.expect(best < DRAWN_MS, f"the page is drawn after {best:.0f} ms of the browser's time")
    return f"the page is drawn after {best:.0f} ms of the browser's time"


def main():
    if len(sys.argv) != 3 or not all(pathlib.Path(it).is_file() for it in sys.argv[1:]):
        print(
            "error: give the page and the program that wrote it: check.py build/book/index.html build/cpu/book",
            file=sys.stderr,
        )
        return 2
    check = Check(*sys.argv[1:])
    try:
        for part in (
            drawing,
            controls.links,
            controls.charts,
            controls.keys,
            controls.all_controls,
            controls.own_file,
            controls.quiz,
            numbers_of.ladder,
            numbers_of.curves,
            numbers_of.variants,
            numbers_of.substeps,
            numbers_of.counts,
            numbers_of.diffs,
            numbers_of.stale,
            layout.pictures,
            grown.book,
        ):
            began = time.monotonic()
            said = part(check)
            print(f"  {part.__name__:14} {said} ({time.monotonic() - began:.1f} s)", flush=True)
        for complaint in sorted(set(check.browser.complaints)):
            check.expect(False, f"the console says: {complaint}")
        for url in sorted(set(check.browser.requests)):
            own = url.startswith(("about:", "data:", "blob:")) or (url.startswith("file:") and "/index.html" in url)
            check.expect(own, f"the page asks for {url}")
    finally:
        check.browser.close()
    if check.faults:
        print(f"book-check: {len(check.faults)} of {check.looked_at} checks failed")
        return 1
    print(f"book-check: all {check.looked_at} checks pass; the pictures lie in {check.folder.name}/pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
