"use strict";
// Search over all documents, by section, and all sources, by line.
let searchIndex = null;
function sections() {
  if (searchIndex) return searchIndex;
  searchIndex = [];
  for (const path of Object.keys(lab.document)) {
    const holder = document.createElement("template");
    holder.innerHTML = lab.document[path];
    let now = null;
    const taken = {};
    let page = path;
    for (const node of holder.content.children) {
      if (/^H[1-4]$/.test(node.tagName)) {
        const name = slug(node.textContent);
        const id = taken[name] ? `${name}-${taken[name]}` : name;
        taken[name] = (taken[name] || 0) + 1;
        if (node.tagName === "H1") page = node.textContent;
        now = {
          title: node.tagName === "H1" ? page : `${page} · ${node.textContent}`,
          href: addressOf(path, id),
          text: "",
          weight: node.tagName === "H1" ? 2 : 1
        };
        searchIndex.push(now);
      } else if (now) {
        now.text += " " + node.textContent.replace(/\s+/g, " ");
      }
    }
  }
  for (const step of STEPS) {
    const numbers = lineNumbers(step);
    lines(step).forEach((text, i) => {
      if (text.trim())
        searchIndex.push({
          title: `${readable(step)}, line ${numbers[i]}`,
          href: address("step", [step, "source"], {at: `L${numbers[i]}`}),
          text,
          code: true,
          weight: 0
        });
    });
  }
  for (const path of Object.keys(lab.text).filter((name) => /\.(cuh|h)$/.test(name))) {
    lab.text[path].split("\n").forEach((text, i) => {
      if (text.trim()) searchIndex.push({title: `${path}, line ${i + 1}`, href: null, text, code: true, weight: -1});
    });
  }
  for (const entry of searchIndex) entry.small = (entry.title + " " + entry.text).toLowerCase();
  return searchIndex;
}

// The entries that hold all words: documents whose title has them first, then other sections, then lines of code.
function search(query) {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!wanted.length) return [];
  const found = sections().filter((entry) => wanted.every((word) => entry.small.includes(word)));
  const rank = (entry) => entry.weight + (wanted.every((word) => entry.title.toLowerCase().includes(word)) ? 4 : 0);
  return found.map((entry) => [rank(entry), entry]).sort((a, b) => b[0] - a[0]).map(([, entry]) => entry);
}

function snippet(entry, query) {
  const first = query.toLowerCase().split(/\s+/).filter(Boolean)[0];
  const at = entry.text.toLowerCase().indexOf(first);
  const from = Math.max(0, at - 60);
  const text = entry.text.slice(from, from + 200);
  const out = [];
  const pattern = new RegExp(
      query.split(/\s+/).filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "ig");
  let last = 0;
  for (const found of text.matchAll(pattern)) {
    out.push(text.slice(last, found.index), el("mark", {}, found[0]));
    last = found.index + found[0].length;
  }
  return [from > 0 ? "… " : "", out, text.slice(last), from + 200 < entry.text.length ? " …" : ""];
}

const MOST_FOUND = 60;
views.search = (none, values) => {
  const results = el("div", {class: "results"});
  const draw = (query) => {
    const found = search(query);
    results.replaceChildren(
        ...[el("p", {role: "status"},
                query.trim() ? `${found.length} places` +
                        (found.length > MOST_FOUND ? `, of which the first ${MOST_FOUND} are shown` : "")
                                                   : ""),
            ...found.slice(0, MOST_FOUND)
                .map((entry) => el("div", {class: "result"},
                         entry.href ? el("a", {href: entry.href}, entry.title) : el("span", {}, entry.title),
                         el("p", {class: entry.code ? "code" : ""}, snippet(entry, query))))]);
  };
  const box = el("input", {
    type: "search",
    id: "query",
    "data-name": "query",
    value: values.q || "",
    autocomplete: "off",
    placeholder: "for example: bank conflicts"
  });
  box.addEventListener("input", () => {
    history.replaceState(null, "", address("search", [], {q: box.value}));
    draw(box.value);
  });
  draw(values.q || "");
  setTimeout(() => box.focus());
  return [
    el("h1", {}, "Search"),
    el("p", {},
        el("label",
            {for: "query"
            },
            "Words in the documents and the sources: "),
        box),
    results
  ];
};
