"use strict";
// What the page knows: the JSON that the generator has put into it, and small functions that all views share.
const lab = JSON.parse(document.getElementById("lab").textContent);

// Each view is a function that gets the words and the values of the address (route.js), and returns the elements of
// the page.
const views = {};

// ---- Elements -----------------------------------------------------------------------------------

// el("a", {href: "#/"}, "text", other) makes an element; null children are left out.
function el(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

// A list of choices: [[value, text], ...].
function select(label, choices, chosen, change, id) {
  const box = el("select", {id, "data-name": id, onchange: () => change(box.value)},
      choices.map(([value, text]) => el("option", {value, selected: value === chosen}, text)));
  return el("label", {class: "choice"}, label + " ", box);
}

function checkbox(label, checked, change, attributes) {
  const box = el("input", {type: "checkbox", ...attributes, onchange: () => change(box.checked)});
  box.checked = checked;
  return el("label", {class: "choice"}, box, " ", label);
}

function button(text, click, attributes) { return el("button", {type: "button", onclick: click, ...attributes}, text); }

// Gives the reader a file of this page's own making; nothing leaves the machine.
function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  const link = el("a", {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// ---- Libraries ----------------------------------------------------------------------------------

const loaded = {};
function library(name, global) {
  if (!loaded[name]) {
    const script = document.createElement("script");
    script.textContent = document.querySelector(`script[data-library="${name}"]`).textContent;
    document.head.append(script);
    loaded[name] = true;
  }
  return window[global];
}

// ---- Names --------------------------------------------------------------------------------------

const PEERS = {
  flash_attention_3: "FlashAttention-3",
  sdpa_flash: "SDPA flash",
  sdpa_cudnn: "SDPA cuDNN",
  sdpa_efficient: "SDPA efficient",
  sdpa_math: "SDPA math"
};
const STEPS = Object.keys(lab.step);
const OWN = " (own)"; // behind the name of a reader's own file, or of a row of the reader's own CSV

function isStep(name) { return /^[0-9]+_/.test(name); }
function isOwn(name) { return name.endsWith(OWN); }
function readable(name) { return PEERS[name] || name.replace(/_/g, " "); }
function number(name) { return name.replace(/_.*/, "") + (isOwn(name) ? OWN : ""); }
function labSteps() { return STEPS.filter((name) => !isOwn(name)); }

// The step's own summary, which its source exports.
function summary(name) {
  const found = /attention_summary\(void\)\s*\{\s*return\s+((?:"[^"]*"\s*)+);/.exec(lab.step[name].text);
  return found ? found[1].replace(/"\s*"/g, "").replace(/"\s*$|^"/g, "") : "";
}

// The first sentence of the source's first comment.
function sentence(name) {
  const found = /^\/\/ [0-9A-Za-z_]+: (.*)/.exec(lab.step[name].text);
  return (found ? found[1] : summary(name)).replace(/\.$/, "");
}

// The numbers, in the file on the disk, of the lines that the page shows.
function lineNumbers(name) {
  const step = lab.step[name];
  if (!step.numbers) {
    const out = new Set(step.left_out);
    const count = step.text.split("\n").length - 1;
    step.numbers = [];
    for (let line = 1; step.numbers.length < count; line++)
      if (!out.has(line)) step.numbers.push(line);
  }
  return step.numbers;
}

function lines(name) {
  const text = lab.step[name].text;
  return text.replace(/\n$/, "").split("\n");
}

// ---- Records ------------------------------------------------------------------------------------

// The rows of a text of comma-separated values whose lines of comments begin with #.
function parseCsv(text) {
  const [names, ...rows] =
      library("d3", "d3").csv.parseRows(text.split("\n").filter((line) => !line.startsWith("#")).join("\n"));
  return rows.map((row) => Object.fromEntries((names || []).map((name, i) => [name, row[i]])));
}

// The rows of a record of the lab. Where scripts/book.sh has shortened it, a ~ stands for the
// value of the row above.
const tables = {};
function table(path) {
  if (!(path in lab.text)) return [];
  if (tables[path]) return tables[path];
  const rows = parseCsv(lab.text[path]);
  rows.forEach((row, i) => {
    for (const name in row)
      if (row[name] === "~") row[name] = rows[i - 1][name];
  });
  return tables[path] = rows;
}

// The folders of the record that hold times, one for each GPU. Those with a grid of shapes come first, because they
// have all steps at all lengths.
function gpus() {
  const found = Object.keys(lab.text).filter((path) => /^plots\/data\/[^/]+\/(ladder|bench|peers)\.csv$/.test(path));
  const rank = (gpu) => `plots/data/${gpu}/bench.csv` in lab.text ? 0 : 1;
  return [...new Set(found.map((path) => path.split("/")[2]))].sort((a, b) => rank(a) - rank(b));
}

// Rows that were right and timed, from all files of times of that GPU. Where several hold the same step and problem
// the newest counts.
const timesOf = {};
function times(gpu) {
  if (timesOf[gpu]) return timesOf[gpu];
  const newest = new Map();
  for (const path of Object.keys(lab.text)) {
    const found = /^plots\/data\/([^/]+)\/((?:ladder[^/]*|bench|peers)\.csv)$/.exec(path);
    if (!found || found[1] !== gpu) continue;
    for (const row of table(path)) {
      if (!(row.median_ms > 0) || (row.check && row.check !== "ok")) continue;
      const time = timed(row, row.step, found[2]);
      const key = [time.name, problem(time)].join("|");
      if (!newest.has(key) || newest.get(key).date < time.date) newest.set(key, time);
    }
  }
  return (timesOf[gpu] = [...newest.values()]);
}

// A row of a record as the views use it. Operations of a causal problem are those of the pairs that are visible.
function timed(row, name, file) {
  const time = {
    name,
    file,
    dtype: row.dtype || "fp16",
    commit: row.commit || "",
    date: row.date || "",
    throttled: row.throttled === "1"
  };
  for (const key of ["batch", "heads", "seq_q", "head_dim", "causal"]) time[key] = +row[key] || 0;
  time.kv_heads = +row.kv_heads || time.heads;
  time.seq_kv = +row.seq_kv || time.seq_q;
  time.ms = +row.median_ms;
  time.low = +row.ci_low_ms || time.ms;
  time.high = +row.ci_high_ms || time.ms;
  time.tflops = +row.tflops || operations(time) / time.ms / 1e9;
  // Ratios of pairs of one round, which are surer than those of two medians.
  time.baseName = row.base_step;
  time.baseRatio = +row.speedup;
  time.beforeName = row.before_step;
  [time.beforeRatio, time.beforeLow, time.beforeHigh] =
      [+row.speedup_before, +row.speedup_before_low, +row.speedup_before_high];
  return time;
}

function operations(time) {
  let pairs = time.seq_q * time.seq_kv;
  if (time.causal) {
    pairs = 0;
    for (let i = 0; i < time.seq_q; i++) pairs += Math.max(0, Math.min(time.seq_kv, i + 1 + time.seq_kv - time.seq_q));
  }
  return 4 * time.batch * time.heads * time.head_dim * pairs;
}

function problem(time) {
  return [time.dtype, time.batch, time.heads, time.kv_heads, time.seq_q, time.seq_kv, time.head_dim, time.causal].join(
      ",");
}

// "nvidia-h200" becomes "NVIDIA H200", as the driver writes it.
function gpuText(gpu) { return gpu.replace(/-/g, " ").toUpperCase(); }

function problemText(time) {
  return `batch ${time.batch}, heads ${time.heads}` + (time.kv_heads !== time.heads ? ` (keys ${time.kv_heads})` : "") +
      `, seq ${time.seq_q}` + (time.seq_kv !== time.seq_q ? ` (keys ${time.seq_kv})` : "") +
      `, head_dim ${time.head_dim}, ${time.dtype}` + (time.causal ? ", causal" : "");
}

// "NVIDIA H200, commit bc96708, 2026-11-22"; a commit that is not the page's is one the data is older than.
function origin(rows) {
  const commits = [...new Set(rows.map((row) => row.commit).filter(Boolean))].sort();
  const days = [...new Set(rows.map((row) => (row.date || "").slice(0, 10)).filter(Boolean))].sort();
  const stale = [...new Set(rows.filter((row) => `${row.name || row.step}|${row.commit}` in lab.stale)
                                .map((row) => number(row.name || row.step)))];
  const since =
      stale.length ? `; the code of ${stale.length > 1 ? "steps" : "step"} ${stale.join(", ")} has changed since` : "";
  return (commits.length ? `recorded at commit ${commits.join(", ")}` : "of no known commit") +
      (days.length ? `, ${days.length > 1 ? days[0] + " to " + days[days.length - 1] : days[0]}` : "") + since;
}

// A number with a number of significant digits, without an exponent.
function digits(value, count) {
  if (!isFinite(value)) return "";
  if (value === 0) return "0";
  const places = Math.max(0, (count || 4) - 1 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(places, 12));
}

// 161000 becomes 161 k.
function short(value) {
  for (const [unit, name] of [[1e9, " G"], [1e6, " M"], [1e3, " k"]]) {
    if (value >= unit) return digits(value / unit, 3) + name;
  }
  return String(value);
}
