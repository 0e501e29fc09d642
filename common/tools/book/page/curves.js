"use strict";
// The view of speed against sequence length.
const QUANTITIES = {
  tflops: "TFLOP/s",
  ms: "time, ms",
  speedup: "speed-up",
  share: "share of a ceiling"
};
let ownTimes = []; // rows of the reader's own file; they stay in this page
let ownNote = "";

// The rows that the choices leave, as one line for each step or peer. At a length that was timed with several batches,
// that with the most heads counts.
function curveRows(gpu, values) {
  const wanted = (time) => time.dtype === values.dtype && String(time.head_dim) === values.dim &&
      String(time.causal) === values.causal && time.seq_q === time.seq_kv && time.kv_heads === time.heads;
  const byName = new Map();
  for (const time of times(gpu).concat(ownTimes).filter(wanted)) {
    if (!byName.has(time.name)) byName.set(time.name, new Map());
    const at = byName.get(time.name);
    const there = at.get(time.seq_q);
    if (!there || there.batch * there.heads < time.batch * time.heads) at.set(time.seq_q, time);
  }
  return byName;
}

function ceilings(gpu) { return table(`plots/data/${gpu}/ceilings.csv`).filter((row) => row.unit === "TFLOP/s"); }

// The value of a row, with its interval: {y, low, high}; null where it cannot be told.
function quantity(time, values, base, ceiling) {
  if (values.what === "ms") return {y: time.ms, low: time.low, high: time.high};
  const speed = {y: time.tflops, low: (time.tflops * time.ms) / time.high, high: (time.tflops * time.ms) / time.low};
  if (values.what === "share")
    return ceiling ? {y: speed.y / ceiling, low: speed.low / ceiling, high: speed.high / ceiling} : null;
  if (values.what !== "speedup") return speed;
  const other = base && base.get(time.seq_q);
  if (!other || problem(other) !== problem(time)) return null;
  return {y: other.ms / time.ms, low: other.low / time.high, high: other.high / time.low};
}

// Steps in their order, then peers; steps that the lab no longer has stand behind those that it has.
function contenders(byName) {
  const rank = (name) => (isStep(name) ? (lab.step[name.replace(OWN, "")] ? 0 : 1) : 2);
  return [...byName.keys()].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

function curveChoices(values) {
  const gpu = values.gpu || gpus()[0];
  const all = {
    gpu,
    dtype: "fp16",
    dim: "64",
    causal: "0",
    what: "tflops",
    x: "log",
    y: values.what === "ms" ? "log" : "linear",
    ...values
  };
  const byName = curveRows(gpu, all);
  const names = contenders(byName);
  const usual = names.filter(
      (name) => byName.get(name).size >= 3 && (!isStep(name) || lab.step[name.replace(OWN, "")] || isOwn(name)));
  const list = values.steps !== undefined
      ? values.steps.split(",").map((it) => names.find((name) => name === it || number(name) === it)).filter(Boolean)
      : usual.length ? usual
                     : names;
  const chosen = new Set(list);
  for (const name of names)
    if (isOwn(name) && values.own !== "0") chosen.add(name);
  all.base = values.base || (byName.has("01_naive") ? "01_naive" : names[0]);
  const limits = ceilings(gpu);
  all.ceiling = values.ceiling ||
      (limits.find((row) => row.name === `tensor_wgmma_${all.dtype}`) || limits[limits.length - 1] || {name: ""}).name;
  return {all, byName, names, chosen, limits};
}

function curveSeries({all, byName, names, chosen, limits}) {
  const ceiling = limits.find((row) => row.name === all.ceiling);
  return names.filter((name) => chosen.has(name))
      .map((name) => ({
        name,
        points:
            [...byName.get(name).values()]
                .sort((a, b) => a.seq_q - b.seq_q)
                .map(
                    (time) => (
                        {x: time.seq_q, time, ...quantity(time, all, byName.get(all.base), ceiling && +ceiling.value)}))
                .filter((point) => point.y !== undefined)
      }))
      .filter((line) => line.points.length);
}

function curveText(all) {
  return {
    tflops: "TFLOP/s, higher is faster",
    ms: "milliseconds, lower is faster",
    speedup: `times as fast as ${readable(all.base)}`,
    share: `share of ${readable(all.ceiling)}`
  }[all.what];
}

function curveTitle(all) {
  return `${QUANTITIES[all.what]} by sequence length, head_dim ${all.dim}, ${all.dtype}${
      all.causal === "1" ? ", causal" : ""}`;
}

views.curves = (none, values) => {
  if (!gpus().length)
    return [el("h1", {}, "Curves"), el("p", {}, "No times have been recorded: make bench on a GPU records them.")];
  const choice = curveChoices(values);
  const {all, names, chosen, limits} = choice;
  const series = curveSeries(choice);
  const holder = el("div", {class: "chart"});
  const numbers = el("div", {class: "pointer", "aria-hidden": "true", hidden: true});
  const options = (width, dark) => ({
    series,
    width,
    height: Math.max(360, Math.min(560, width * 0.62)),
    xLog: all.x === "log",
    yLog: all.y === "log",
    intervals: all.intervals !== "0",
    xText: "sequence length",
    yText: curveText(all),
    title: `${curveTitle(all)}. The table below the chart has the numbers.`,
    dark,
    order: labSteps()
  });
  const over = (x, event) => {
    numbers.hidden = x === null;
    if (x === null) return;
    const here =
        series
            .flatMap(
                (line) => line.points.filter((point) => point.x === x).map((point) => ({...point, name: line.name})))
            .sort((a, b) => b.y - a.y);
    numbers.replaceChildren(el("strong", {}, `seq ${x}`),
        el("table", {},
            here.map(
                (point) => el("tr", {},
                    el("td", {style: `color:${lineColour(point.name, labSteps(), isDark())}`}, readable(point.name)),
                    el("td", {class: "number"}, digits(point.y, 4)),
                    el("td", {class: "number"},
                        `[${digits(point.low, 4)}, ${digits(point.high, 4)}]${
                            point.time.throttled ? " throttled" : ""}`)))));
    const box = holder.getBoundingClientRect();
    const left = event.clientX - box.left;
    numbers.style.left = left < box.width / 2 ? `${left + 16}px` : "auto";
    numbers.style.right = left < box.width / 2 ? "auto" : `${box.width - left + 16}px`;
  };
  const draw = () => {
    const width = Math.min(1100, holder.clientWidth || 900);
    holder.replaceChildren(series.length ? drawChart(options(width, isDark()), over)
                                         : el("p", {}, "Nothing of this choice has been timed."),
        numbers);
  };
  requestAnimationFrame(draw);
  curves_redraw = draw;
  const toggle = (name, on) => {
    const now = new Set(chosen);
    if (on) now.add(name);
    else now.delete(name);
    setValues({
      steps: names.filter((it) => now.has(it) && !isOwn(it)).map((it) => (lab.step[it] ? number(it) : it)).join(",") ||
          "none"
    });
  };
  const pick = (id) => (value) => setValues({[id]: value});
  const rows = series.flatMap((line) => line.points.map((point) => point.time));
  return [
    el("h1", {}, "Curves"),
    el("div", {class: "controls"},
      gpus().length > 1 ? select("GPU", gpus().map((name) => [name, name]), all.gpu, pick("gpu"), "gpu") : null,
      select("Draw", Object.entries(QUANTITIES), all.what, pick("what"), "what"),
      all.what === "speedup" ? select("over", names.map((name) => [name, readable(name)]), all.base, pick("base"), "base") : null,
      all.what === "share" ? select("of", limits.map((row) => [row.name, `${readable(row.name)}, ${digits(+row.value, 3)} TFLOP/s`]), all.ceiling, pick("ceiling"), "ceiling") : null,
      select("type", [["fp16", "fp16"], ["bf16", "bf16"]], all.dtype, pick("dtype"), "dtype"),
      select("head_dim", [["64", "64"], ["128", "128"]], all.dim, pick("dim"), "dim"),
      select("mask", [["0", "none"], ["1", "causal"]], all.causal, pick("causal"), "causal"),
      select("length axis", [["log", "logarithmic"], ["linear", "linear"]], all.x, pick("x"), "x"),
      select("value axis", [["linear", "linear"], ["log", "logarithmic"]], all.y, pick("y"), "y"),
      checkbox("95 % intervals", all.intervals !== "0", (on) => setValues({intervals: on ? "" : "0"}), {"data-name": "intervals"})),
    el("fieldset", {class: "contenders"}, el("legend", {}, "Steps and peers"), names.map((name) => el("span", {class: "contender"},
      lineSign(name, labSteps(), isDark()),
      checkbox(readable(name) + (isStep(name) && !isOwn(name) && !lab.step[name] ? " (no longer a step)" : ""), chosen.has(name), (on) => toggle(name, on), {"data-name": "on-" + name}))),
      button("All", () => setValues({steps: names.filter((name) => !isOwn(name)).join(",")}), {id: "all"}),
      button("None", () => setValues({steps: "none"}), {id: "none"}),
      button("Usual", () => setValues({steps: undefined}), {id: "usual"})),
    holder,
    el("div", {class: "controls"},
      button("Save as SVG", () => save("curves.svg", "image/svg+xml", new XMLSerializer().serializeToString(drawChart(options(900, false)))), {id: "save-svg"}),
      button("Save as CSV", () => save("curves.csv", "text/csv", curveCsv(series, all)), {id: "save-csv"}),
      el("label", {class: "choice"}, "Your own results, a CSV file of make bench or make ladder: ",
        el("input", {type: "file", accept: ".csv,text/csv", id: "own-file", onchange: (event) => readOwn(event.target.files[0])}))),
    ownNote ? el("p", {role: "status", class: "own-note"}, ownNote, " ", ownTimes.length ? button("Remove it", () => { ownTimes = []; ownNote = ""; show(true); }, {id: "own-remove"}) : null) : null,
    el("p", {class: "note"}, `${curveTitle(all)}. Where several records hold the same step and problem, the newest counts; ${origin(rows)}. ` +
      "A step that was timed at one length alone is a point. The interval of a speed-up is the widest that both intervals allow. The address of this page holds these choices."),
    curveTable(series, all),
  ];
};
let curves_redraw = null;
addEventListener("resize", () => {
  if (readAddress().view === "curves" && curves_redraw) curves_redraw();
});

function curveTable(series, all) {
  return el("details", {open: true}, el("summary", {}, "The numbers"),
      el("div", {class: "wide", tabindex: "0", role: "region", "aria-label": "numbers of the chart"},
          el("table", {class: "numbers"}, el("caption", {}, curveTitle(all)),
              el("thead", {}, el("tr", {}, ["step", "seq", "batch × heads", QUANTITIES[all.what], "95 %",
                "recorded"].map((text, i) => el("th", {scope: "col", class: i > 0 && i < 5 ? "number" : null}, text)))),
              el("tbody", {},
                  series.flatMap(
                      (line) =>
                          line.points.map((point) => el("tr", {
                            "data-step": line.name,
                            "data-seq": point.x,
                            "data-problem": problem(point.time),
                            "data-ms": point.time.ms,
                            "data-value": point.y
                          },
                                              el("th", {scope: "row"}, readable(line.name)),
                                              el("td", {class: "number"}, String(point.x)),
                                              el("td", {class: "number"}, `${point.time.batch} × ${point.time.heads}`),
                                              el("td", {class: "number"}, digits(point.y, 4)),
                                              el("td", {class: "number"},
                                                  `[${digits(point.low, 4)}, ${digits(point.high, 4)}]${
                                                      point.time.throttled ? ", throttled" : ""}`),
                                              el("td", {},
                                                  `${point.time.file}${
                                                      point.time.commit ? " at " + point.time.commit : ""}`))))))));
}

function curveCsv(series, all) {
  const out = ["step,dtype,batch,heads,seq,head_dim,causal,quantity,value,ci_low,ci_high,median_ms,file,commit"];
  for (const line of series)
    for (const {time, y, low, high} of line.points) {
      out.push([
        line.name, time.dtype, time.batch, time.heads, time.seq_q, time.head_dim, time.causal, all.what, y, low, high,
        time.ms, time.file, time.commit
      ].join(","));
    }
  return out.join("\n") + "\n";
}

// Changes the choices to those of the reader's first time, if they show none of them.
function showOwn() {
  const {all, byName} = curveChoices(readAddress().values);
  if ([...byName.keys()].some(isOwn)) return;
  const [{dtype, head_dim: dim, causal}] = ownTimes;
  ownNote += ` The choices above were changed to show it; they were head_dim ${all.dim}, ${all.dtype}${
      all.causal === "1" ? ", causal" : ""}.`;
  setValues({dtype, dim, causal});
}

// ---- The reader's own file ----------------------------------------------------------------------

async function readOwn(file) {
  if (!file) return;
  ownTimes = [];
  try {
    const rows = parseCsv(await file.text());
    const missing = ["step", "seq_q", "head_dim", "median_ms"].filter((name) => !rows.length || !(name in rows[0]));
    if (!rows.length) throw new Error("it has no rows below a line with the names of its columns");
    if (missing.length)
      throw new Error(`it lacks the column${missing.length > 1 ? "s" : ""} ${
          missing.join(", ")}, which a file of make bench or make ladder has`);
    ownTimes = rows.filter((row) => row.median_ms > 0)
                   .map((row) => timed({batch: 1, heads: 1, ...row}, row.step + OWN, file.name));
    if (!ownTimes.length) throw new Error("none of its rows has a time in median_ms");
    const of = [...new Set(
        ownTimes.map((time) => `head_dim ${time.head_dim}, ${time.dtype}${time.causal ? ", causal" : ""}`))];
    ownNote = `${file.name}: ${ownTimes.length} times, drawn with long dashes. It has ${of.join("; ")}.`;
    showOwn();
  } catch (failure) { ownNote = `${file.name} cannot be drawn: ${failure.message}.`; }
  show(true);
}
