"""Takes pictures of the lab book's main views, and looks whether anything overlaps, is cut off or is too wide."""

from browser import read_script

VIEWS = {
    "ladder": "#/",
    "step": "#/step/02_tiled",
    "source": "#/step/05_wmma/source?count=wavefronts",
    "diff": "#/diff/13_softmax_overlap/14_pingpong",
    "counted": "#/diff/01_naive/02_tiled?count=sectors",
    "curves": "#/curves?steps=05,09,17,sdpa_flash,flash_attention_3&dim=128&causal=1",
    "bug": "#/bug/14_pingpong/1",
    "search": "#/search?q=bank conflicts",
}
WIDTHS = (390, 820, 1440)

FAULTS = read_script("layout_faults.js")

CONTRAST = read_script("low_contrast.js")


def pictures(check):
    folder = check.folder / "pictures"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.png"):
        old.unlink()
    taken = 0
    for dark in (False, True):
        for width in WIDTHS:
            check.browser.size(width, 900, dark)
            check.expect(
                check.run("isDark()") == dark, f"the page is not {'dark' if dark else 'light'} as the system asks"
            )
            for fault in check.run(CONTRAST):
                check.expect(False, f"{'dark' if dark else 'light'}: the contrast is low: {fault}")
            for name, address in VIEWS.items():
                check.go(address)
                for fault in check.run(FAULTS):
                    check.expect(False, f"{name} at {width} pixels: {fault}")
                check.browser.picture(folder / f"{name}-{width}-{'dark' if dark else 'light'}.png")
                taken += 1
    check.browser.size(1000, 1400)
    check.go(VIEWS["step"])
    check.browser.call("Emulation.setEmulatedMedia", media="print", features=[])
    check.expect(
        check.run("getComputedStyle(document.getElementById('top')).display") == "none", "the navigation is printed"
    )
    # On paper the page is light whatever the screen is, and bars and the marks of a diff, which are grounds, are printed.
    check.run("setTheme('dark')")
    paper = check.run(
        "[getComputedStyle(document.documentElement).getPropertyValue('--ink').trim(),"
        " getComputedStyle(document.body).printColorAdjust].join()"
    )
    check.expect(paper == "#1d2126,exact", f"the colours on paper are {paper}")
    check.run("setTheme('')")
    check.browser.size(1440, 900)
    return f"{taken} pictures of {len(VIEWS)} views at {len(WIDTHS)} widths, light and dark"
