// Finds text that stands on other text, that leaves its box or the window, or that is hard to see.
(() => {
  const faults = [];
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) faults.push(`the page is ${wide} pixels wider than the window`);
  const seen = (node) => node.checkVisibility({opacityProperty: true, visibilityProperty: true}) &&
      !node.closest('.sign, .skip, .pointer, [aria-hidden=true]');
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && boxes.length < 1500) {
    const parent = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || /^(SCRIPT|STYLE|NOSCRIPT|OPTION|TEMPLATE)$/.test(parent.tagName) ||
        !seen(parent))
      continue;
    if (parent.closest('#top') && getComputedStyle(document.getElementById('top')).position === 'sticky' && scrollY)
      continue;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const scrolls = parent.closest('.wide, pre');
    for (const box of range.getClientRects()) {
      if (box.width < 1 || box.height < 1) continue;
      if (!scrolls && (box.right > innerWidth + 1 || box.left < -1))
        faults.push(`"${walker.currentNode.data.trim().slice(0, 40)}" leaves the window`);
      if (!scrolls)
        boxes.push({
          left: box.left,
          right: box.right,
          top: box.top,
          bottom: box.bottom,
          text: walker.currentNode.data.trim().slice(0, 40),
          node: parent
        });
    }
  }
  boxes.sort((a, b) => a.top - b.top);
  for (let i = 0; i < boxes.length; i++) {
    for (let j = i + 1; j < boxes.length && boxes[j].top < boxes[i].bottom - 3; j++) {
      const a = boxes[i], b = boxes[j];
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
          Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5) {
        faults.push(`"${a.text}" and "${b.text}" overlap`);
      }
    }
  }
  for (const node of document.querySelectorAll('#main *, #top *')) {
    const style = getComputedStyle(node);
    if (seen(node) && /hidden|clip/.test(style.overflowX) && node.scrollWidth > node.clientWidth + 1)
      faults.push(`${node.tagName} ${node.className} is cut off`);
    if (node.tagName === 'BUTTON' && node.scrollWidth > node.clientWidth + 1)
      faults.push(`the button ${node.textContent} is cut off`);
  }
  return [...new Set(faults)].slice(0, 8);
})()
