// Opens each view once, and gathers the addresses that its links name. A broken link leads to a view that says so, or
// names a place (`at`) that the view does not have. Sources and diffs of all steps are views like these.
(async () => {
  const seen = new Map(), named = new Map(), wrong = [], // the places that a view has, and those that links name
      waiting = ['#/', '#/steps', '#/pages', '#/bugs', '#/curves', '#/about', '#/search'];
  const note = (fault) => {
    if (wrong.length < 20) wrong.push(fault);
  };
  const viewOf = (target) => {
    history.replaceState(null, '', target);
    const {view, words, values: {at, ...values}} = readAddress();
    return [address(view, words, values), at];
  };
  const asked = new Set(); // addresses, as they are
  while (waiting.length) {
    const target = waiting.pop();
    if (asked.has(target)) continue;
    asked.add(target);
    const [next, place] = viewOf(target);
    if (place) named.set(`${next} ${place}`, [next, place]);
    if (seen.has(next)) continue;
    history.replaceState(null, '', next);
    show();
    const title = document.querySelector('#main h1');
    if (!title || /There is no|cannot be shown/.test(title.textContent))
      note(`${next} leads to: ${title && title.textContent}`);
    if (document.querySelectorAll('#main h1').length > 1) note(`${next} has more than one title`);
    const ids = [...document.querySelectorAll('[id]')].map((it) => it.id);
    seen.set(next, new Set(ids));
    const levels = [...document.querySelectorAll('#main :is(h1, h2, h3, h4)')].map((it) => +it.tagName[1]);
    if (levels.some((level, at) => level > (levels[at - 1] || 0) + 1)) note(`${next} leaves out a level of titles`);
    for (const id of new Set(ids.filter((it, at) => ids.indexOf(it) !== at))) note(`${next} has two places ${id}`);
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
  for (const [view, place] of named.values())
    if (!seen.get(view).has(place)) note(`a link names the place ${place} of ${view}, which is not there`);
  return {count: seen.size, places: named.size, wrong};
})()
