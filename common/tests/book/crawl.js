// Opens each address once, and gathers those that its links name. A broken link leads to a view that says so, or
// names a place that the view does not have. Sources and diffs of all steps are views like these.
(async () => {
  const seen = new Set(), wrong = [],
        waiting = ['#/', '#/steps', '#/pages', '#/bugs', '#/curves', '#/about', '#/search'];
  const note = (fault) => {
    if (wrong.length < 20) wrong.push(fault);
  };
  while (waiting.length) {
    const next = waiting.pop();
    if (seen.has(next)) continue;
    seen.add(next);
    history.replaceState(null, '', next);
    show();
    const title = document.querySelector('#main h1');
    if (!title || /There is no|cannot be shown/.test(title.textContent))
      note(`${next} leads to: ${title && title.textContent}`);
    if (document.querySelectorAll('#main h1').length > 1) note(`${next} has more than one title`);
    const at = readAddress().values.at;
    if (at && !document.getElementById(at)) note(`${next} names a place that is not there`);
    for (const link of document.querySelectorAll('#main a[href], #top a[href]')) {
      const target = link.getAttribute('href');
      if (target.startsWith('#/')) waiting.push(target);
      else if (target !== '#' && !/^https?:/.test(target)) note(`${next} has a link to ${target}`);
    }
    for (const box of document.querySelectorAll('#main input, #main select')) {
      if (!box.labels || !box.labels.length) note(`${next} has a control without a label`);
    }
    for (const image of document.querySelectorAll('#main img'))
      if (!image.alt) note(`${next} has an image without words`);
  }
  return {count: seen.size, wrong};
})()
