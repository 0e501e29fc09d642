// The least contrast of the texts' colours on their backgrounds (WCAG 2: 4.5 for text of this size).
(() => {
  const light = (colour) => {
    const canvas = document.createElement('canvas').getContext('2d');
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data]
                          .map((it) => it / 255)
                          .map((it) => it <= 0.03928 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue('--' + name).trim();
  const low = [];
  for (const on of ['paper', 'soft', 'gone', 'come', 'moved'])
    for (const text of ['ink', 'faint', 'link', 'keyword', 'string', 'comment', 'literal', 'meta', 'title']) {
      const [a, b] = [light(value(on)), light(value(text))].sort((x, y) => y - x);
      const contrast = (a + 0.05) / (b + 0.05);
      if (contrast < 4.5) low.push(`${text} on ${on}: ${contrast.toFixed(1)}`);
    }
  return low;
})()
