"use strict";
// The lab's documents: links between them become links of this page, and words of the glossary lead to it.

// "steps/14_pingpong" and "../15_persistent/README.md" give the path from the root of the repository.
function resolve(from, target) {
  const parts = from.split("/").slice(0, -1);
  for (const part of target.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}

// The address of the view that draws the data of a chart of the repository, or null where no view does.
function chartAddress(path) {
  const [, gpu, name] = /^plots\/([^/]+)\/(.*)\.svg$/.exec(path) || [];
  const record = (file) => `plots/data/${gpu}/${file}.csv`;
  if (/^timeline-/.test(name) && record(name) in lab.text) return address("timelines", [], {file: record(name)});
  const ladder = /^speedup(-bf16|-dim128|-one-head)?$/.exec(name);
  if (ladder && record("ladder" + (ladder[1] || "")) in lab.text)
    return address("ladder", [], {gpu, problem: "ladder" + (ladder[1] || "")});
  const curves = /^(scaling|speedup-by-length|ceiling-share|peers)-dim(\d+)-(\w+)$/.exec(name);
  if (!curves || !gpus().includes(gpu)) return null;
  const choice = {
    "speedup-by-length": {what: "speedup"},
    "ceiling-share": {what: "share"},
    peers: {what: "speedup", base: "sdpa_flash"}
  }[curves[1]];
  return address("curves", [], {gpu, dim: curves[2], dtype: curves[3], ...choice});
}

// The address in this page of a file or folder of the repository, or null.
function addressOf(path, anchor) {
  if (/\.svg$/.test(path)) return chartAddress(path);
  const at = anchor ? {at: anchor} : {};
  const step = /^steps\/([^/]+)(?:\/(README\.md|attention\.cu|bugs|variants|hints\.md))?$/.exec(path);
  const patch = /^steps\/([^/]+)\/(variants|substeps)\/([^/]+)\.patch$/.exec(path);
  if (patch && lab.step[patch[1]]) return address("step", [patch[1], patch[2]], {at: patch[3]});
  if (step && lab.step[step[1]]) {
    const tab = {"attention.cu": "source", bugs: "bugs", variants: "variants"}[step[2]];
    return address("step", tab ? [step[1], tab] : [step[1]], at);
  }
  if (path in lab.document) return address("page", [path], at);
  if (path + "/README.md" in lab.document) return address("page", [path + "/README.md"], at);
  if (path.replace(/^plots\/data\/.*/, "plots") === "plots") return address("curves");
  return null;
}

function slug(text) { return text.replace(/[^A-Za-z0-9 _-]/g, "").replace(/ /g, "-").toLowerCase(); }

function renderDocument(path) {
  const holder = document.createElement("template"); // whose images are not loaded
  holder.innerHTML = lab.document[path];
  for (const image of holder.content.querySelectorAll("img")) mendImage(image, path);
  const article = el("article", {class: "document"}, holder.content);
  const taken = {};
  for (const heading of article.querySelectorAll("h1,h2,h3,h4")) {
    const name = slug(heading.textContent);
    heading.id = taken[name] ? `${name}-${taken[name]}` : name;
    taken[name] = (taken[name] || 0) + 1;
  }
  for (const link of article.querySelectorAll("a[href]")) mendLink(link, path);
  for (const code of article.querySelectorAll("pre > code")) {
    const language = /language-(\S+)/.exec(code.className);
    if (language && /^(c|cpp|cuda|sh|bash)$/.test(language[1])) {
      const parts = colourLines(
          code.textContent.replace(/\n$/, ""), {c: "cuda", cpp: "cuda", cuda: "cuda"}[language[1]] || "bash");
      code.replaceChildren(...parts.flatMap((line, i) => [...(i ? ["\n"] : []), ...lineElements(line)]));
    }
    code.parentElement.tabIndex = 0; // it may be wider than the page, and is then moved with the keys
  }
  for (const wide of article.querySelectorAll("table")) {
    const box = el("div", {class: "wide", tabindex: "0", role: "region", "aria-label": "table"});
    wide.replaceWith(box);
    box.append(wide);
  }
  if (path !== "guide/glossary.md") linkTerms(article);
  return article;
}

function mendLink(link, path) {
  const target = link.getAttribute("href");
  if (target.startsWith("#/")) return; // a link that this page has made
  if (/^[a-z]+:/.test(target)) {
    link.rel = "noopener";
    return;
  }
  const [file, anchor] = target.split("#");
  const inside = addressOf(file ? resolve(path, file) : path, anchor);
  if (inside) {
    link.href = inside;
  } else { // a file that this page does not hold
    link.replaceWith(el("span", {class: "file", title: resolve(path, file)}, ...link.childNodes));
  }
}

function mendImage(image, path) {
  const file = resolve(path, image.getAttribute("src"));
  if (lab.image[file]) {
    image.src = "data:image/svg+xml;utf8," + encodeURIComponent(lab.image[file]);
    image.loading = "lazy";
  } else {
    const drawn = chartAddress(file);
    image.replaceWith(el("span", {class: "file"}, `[${image.alt}: the chart ${file} of the repository`,
        drawn ? ["; ", el("a", {href: drawn}, "this page draws its data"), ", too"] : null, "]"));
  }
}

// ---- The glossary -------------------------------------------------------------------------------

let terms = null;
// Words of the glossary, in small letters, with their explanation: those in front of the first full stop in bold. Of a
// word that has two entries the first one counts.
function glossary() {
  if (terms) return terms;
  terms = new Map();
  const holder = document.createElement("template");
  holder.innerHTML = lab.document["guide/glossary.md"] || "";
  for (const word of holder.content.querySelectorAll("p > strong:first-child")) {
    const text = word.parentElement.textContent.trim();
    for (const name of word.textContent.replace(/\.$/, "").split(/, | and |\(|\)/)) {
      const term = name.trim().toLowerCase();
      if (term.length > 2 && !terms.has(term)) terms.set(term, {id: "term-" + slug(term), text});
    }
  }
  return terms;
}

const TOO_COMMON = new Set(
    ["attention", "kernel", "block", "thread", "tile", "head", "value", "key", "query", "grid", "step", "lane"]);

// Links the first use of each word in a section.
function linkTerms(article) {
  const known = glossary();
  const names = [...known.keys()].filter((name) => !TOO_COMMON.has(name)).sort((a, b) => b.length - a.length);
  if (!names.length) return;
  const pattern = new RegExp(
      `(?<![\\w-])(${names.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})(?:s|es)?(?![\\w-])`,
      "i");
  let seen = new Set();
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, {
    acceptNode: (node) => node.nodeType === Node.TEXT_NODE   ? NodeFilter.FILTER_ACCEPT
        : /^(A|CODE|PRE|H1|H3|H4|TABLE)$/.test(node.tagName) ? NodeFilter.FILTER_REJECT
                                                             : NodeFilter.FILTER_ACCEPT
  });
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (let node of texts) {
    if (node.nodeType !== Node.TEXT_NODE) {
      if (node.tagName === "H2") seen = new Set();
      continue;
    }
    if (node.parentElement.tagName === "H2") continue;
    for (let found = pattern.exec(node.data); found; found = pattern.exec(node.data)) {
      const name = found[1].toLowerCase();
      const rest = node.splitText(found.index + found[0].length);
      if (!seen.has(name)) {
        seen.add(name);
        const word = node.splitText(found.index);
        word.replaceWith(el("a", {
          class: "term",
          href: address("page", ["guide/glossary.md"], {at: known.get(name).id}),
          title: known.get(name).text
        },
            found[0]));
      }
      node = rest;
    }
  }
}

views.page = (names) => {
  const path = names.join("/");
  if (!(path in lab.document))
    return [el("h1", {}, "There is no such page"), el("p", {}, `The lab has no document ${path}.`)];
  const article = renderDocument(path);
  if (path === "guide/glossary.md") {
    const taken = new Set();
    for (const word of article.querySelectorAll("p > strong:first-child")) {
      const first =
          word.textContent.replace(/\.$/, "").split(/, | and |\(|\)/).map((name) => name.trim().toLowerCase());
      word.replaceChildren(...first.filter((name) => name.length > 2 && !taken.has(name)).map((name) => {
        taken.add(name);
        return el("span", {id: "term-" + slug(name)});
      }),
          word.textContent);
    }
  }
  return [el("p", {class: "crumb"}, el("a", {href: address("pages")}, "Pages"), " / ", path), article];
};

views.pages = () => {
  const groups = [
    ["Begin here", /^(README|GUIDE)\.md$/], ["The guide", /^guide\//], ["The record", /^plots\//],
    ["How the lab is built", /^(common|examples)/], ["The steps", /^steps\//]
  ];
  const title = (path) => {
    const found = /<h1>(.*?)<\/h1>/.exec(lab.document[path]);
    const holder = document.createElement("template");
    holder.innerHTML = found ? found[1] : path;
    return holder.content.textContent;
  };
  const rest = (path) => groups.findIndex(([, pattern]) => pattern.test(path));
  return [
    el("h1", {}, "Pages"),
    groups.map(([name], at) => [el("h2", {}, name),
                   el("ul", {},
                       Object.keys(lab.document)
                           .filter((path) => rest(path) === at || (at === 3 && rest(path) < 0))
                           .map((path) => el("li", {}, el("a", {href: addressOf(path)}, title(path)), " ",
                                    el("span", {class: "note"}, path))))])
  ];
};
