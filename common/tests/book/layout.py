"""Takes pictures of the lab book's main views, and looks whether anything overlaps, is cut off or is too wide."""

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

# Finds text that stands on other text, that leaves its box or the window, or that is hard to see.
FAULTS = """(() => {
  const faults = [];
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) faults.push(`the page is ${wide} pixels wider than the window`);
  const seen = (node) => node.checkVisibility({opacityProperty: true, visibilityProperty: true}) && !node.closest('.sign, .skip, .pointer, [aria-hidden=true]');
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && boxes.length < 1500) {
    const parent = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || /^(SCRIPT|STYLE|NOSCRIPT|OPTION|TEMPLATE)$/.test(parent.tagName) || !seen(parent)) continue;
    if (parent.closest('#top') && getComputedStyle(document.getElementById('top')).position === 'sticky' && scrollY) continue;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const scrolls = parent.closest('.wide, pre');
    for (const box of range.getClientRects()) {
      if (box.width < 1 || box.height < 1) continue;
      if (!scrolls && (box.right > innerWidth + 1 || box.left < -1)) faults.push(`"${walker.currentNode.data.trim().slice(0, 40)}" leaves the window`);
      if (!scrolls) boxes.push({left: box.left, right: box.right, top: box.top, bottom: box.bottom, text: walker.currentNode.data.trim().slice(0, 40), node: parent});
    }
  }
  boxes.sort((a, b) => a.top - b.top);
  for (let i = 0; i < boxes.length; i++) {
    for (let j = i + 1; j < boxes.length && boxes[j].top < boxes[i].bottom - 3; j++) {
      const a = boxes[i], b = boxes[j];
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5) {
        faults.push(`"${a.text}" and "${b.text}" overlap`);
      }
    }
  }
  for (const node of document.querySelectorAll('#main *, #top *')) {
    const style = getComputedStyle(node);
    if (seen(node) && /hidden|clip/.test(style.overflowX) && node.scrollWidth > node.clientWidth + 1) faults.push(`${node.tagName} ${node.className} is cut off`);
    if (node.tagName === 'BUTTON' && node.scrollWidth > node.clientWidth + 1) faults.push(`the button ${node.textContent} is cut off`);
  }
  return [...new Set(faults)].slice(0, 8);
})()"""

# The least contrast of the texts' colours on their backgrounds (WCAG 2: 4.5 for text of this size).
CONTRAST = """(() => {
  const light = (colour) => {
    const canvas = document.createElement('canvas').getContext('2d');
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((it) => it / 255).map((it) => it <= 0.03928 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue('--' + name).trim();
  const low = [];
  for (const on of ['paper', 'soft', 'gone', 'come', 'moved']) for (const text of ['ink', 'faint', 'link', 'keyword', 'string', 'comment', 'literal', 'meta', 'title']) {
    const [a, b] = [light(value(on)), light(value(text))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) low.push(`${text} on ${on}: ${contrast.toFixed(1)}`);
  }
  return low;
})()"""


def pictures(check):
    folder = check.folder / "pictures"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.png"):
        old.unlink()
    taken = 0
    for dark in (False, True):
        for width in WIDTHS:
            check.browser.size(width, 900, dark)
            check.expect(check.run("isDark()") == dark, f"the page is not {'dark' if dark else 'light'} as the system asks")
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
    check.expect(check.run("getComputedStyle(document.getElementById('top')).display") == "none", "the navigation is printed")
    check.browser.size(1440, 900)
    return f"{taken} pictures of {len(VIEWS)} views at {len(WIDTHS)} widths, light and dark"
