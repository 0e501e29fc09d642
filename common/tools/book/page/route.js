"use strict";
// Which view the address asks for: #/view/words?name=value. Its state is in the address alone.
const VIEWS_IN_HEADER = [
  ["ladder", "Ladder"], ["steps", "Steps"], ["diff", "Diffs"], ["curves", "Curves"], ["bugs", "Bugs"],
  ["pages", "Pages"], ["search", "Search"]
];

function readAddress() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const words = path.split("/").filter(Boolean).map(decodeURIComponent);
  const values = {};
  for (const part of (query || "").split("&").filter(Boolean)) {
    const [name, value] = part.split("=");
    values[decodeURIComponent(name)] = decodeURIComponent(value || "");
  }
  return {view: words.shift() || "ladder", words, values};
}

function address(view, words, values) {
  const query =
      Object.entries(values || {}).filter(([, value]) => value !== "" && value !== null && value !== undefined).map(([
        name, value
      ]) => encodeURIComponent(name) + "=" + encodeURIComponent(value).replace(/%2C/g, ",").replace(/%2F/g, "/"));
  return "#/" + [view, ...(words || [])].map((word) => encodeURIComponent(word).replace(/%2F/g, "/")).join("/") +
      (query.length ? "?" + query.join("&") : "");
}

// Changes values of the address without a new entry in the browser's history, and shows the view again.
function setValues(values) {
  const now = readAddress();
  history.replaceState(null, "", address(now.view, now.words, {...now.values, ...values}));
  show(true);
}

function go(view, words, values) { location.hash = address(view, words, values); }

let shown = "";
function show(same) {
  const now = readAddress();
  const main = document.getElementById("main");
  const place = window.scrollY;
  const focused = document.activeElement && document.activeElement.getAttribute("data-name");
  const view = views[now.view];
  let content;
  try {
    content = view ? view(now.words, now.values) : [
      el("h1", {}, "There is no such page"),
      el("p", {}, "The address names the page ", el("code", {}, now.view), ". ",
          el("a", {href: "#/"}, "Go to the ladder."))
    ];
  } catch (failure) {
    console.error(failure);
    content = [el("h1", {}, "This page cannot be shown"), el("p", {}, String(failure.message))];
  }
  main.replaceChildren(...[content].flat(Infinity).filter(Boolean));
  main.className = "view-" + now.view;
  document.title = (main.querySelector("h1") || {textContent: ""}).textContent + " · The attention lab book";
  for (const link of document.querySelectorAll("#top nav a")) {
    const here = link.dataset.view === now.view || (link.dataset.view === "steps" && now.view === "step") ||
        (link.dataset.view === "bugs" && now.view === "bug") || (link.dataset.view === "pages" && now.view === "page");
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const path = now.view + "/" + now.words.join("/");
  if (same === true) {
    window.scrollTo(0, place);
    const again = focused && main.querySelector(`[data-name="${CSS.escape(focused)}"]`);
    if (again) again.focus({preventScroll: true});
  } else {
    const target = now.values.at && document.getElementById(now.values.at);
    if (target) target.scrollIntoView();
    else window.scrollTo(0, 0);
    if (shown) main.focus({preventScroll: true}); // a screen reader then begins at the new content
  }
  shown = path;
}

// ---- Header, footer, colours --------------------------------------------------------------------

function theme() {
  try {
    return localStorage.getItem("book-theme") || "";
  } catch (refused) { return ""; }
}
function setTheme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  try {
    localStorage.setItem("book-theme", name);
  } catch (refused) { /* the choice lasts as long as the page */
  }
}
function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function drawFrame() {
  setTheme(theme());
  document.getElementById("top").append(el("a", {href: "#/", class: "name"}, "The attention lab"),
      el("nav", {"aria-label": "Views"},
          VIEWS_IN_HEADER.concat(hasTimelines() ? [["timelines", "Timelines"]] : []).map(([view,
            text]) => el("a", {href: address(view), "data-view": view}, text))),
      button("Light or dark", () => {
        setTheme(isDark() ? "light" : "dark");
        show(true);
      }, {class: "theme", id: "theme"}));
  document.getElementById("foot").append(el("p", {},
      `Written by make book at commit ${lab.fact.commit}, ${lab.fact.date.slice(0, 10)}, from the sources and the ` +
          "published record. Keys: ",
      el("kbd", {}, "/"), " search, ", el("kbd", {}, "n"), " and ", el("kbd", {}, "p"), " next and previous change, ",
      el("kbd", {}, "]"), " and ", el("kbd", {}, "["), " next and previous step. ",
      el("a", {href: address("about")}, "About this page, and the licences of what it contains"), "."));
}

views.about = () => [el("h1", {}, "About this page"),
    el("p", {},
        "The lab book is one file. It asks for nothing from anywhere, and works without a network. Everything in it was " +
            `generated at commit ${
                lab.fact.commit} from the sources and the published record. Each table and each chart says at ` +
            "which commit its data was recorded; where that is an older one, the code may have changed since."),
    el("p", {}, "The lab is under the MIT licence. The page contains these libraries, which are Debian's packages:"),
    Object.entries(lab.library).map(([name,
      licence]) => el("details", {}, el("summary", {}, name), el("pre", {class: "plain"}, licence))),
];

// ---- Keyboard -----------------------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  const now = readAddress();
  if (event.key === "/") go("search");
  else if (event.key === "n" || event.key === "p") nextChange(event.key === "n" ? 1 : -1);
  else if (event.key === "]" || event.key === "[") nextStep(now, event.key === "]" ? 1 : -1);
  else return;
  event.preventDefault();
});

// In a diff both sides go on by a step if one is the other's parent, else the right side alone.
function nextStep(now, by) {
  const steps = labSteps();
  const at = (name) => steps[Math.max(0, Math.min(steps.length - 1, steps.indexOf(name) + by))];
  if (now.view === "step") go("step", [at(now.words[0]), ...now.words.slice(1)], now.values);
  if (now.view === "diff") {
    const [a, b] = chosenPair(now.words);
    const next = at(b);
    go("diff", [lab.step[b].parent === a ? lab.step[next].parent || a : a, next], now.values);
  }
}
