"use strict";
// The first view: every step and peer with its speed, one sentence a step.

// The problems of the ladder's recordings: [id of the file, words].
function ladderProblems(gpu) {
  return Object.keys(lab.text)
      .map((path) => /^plots\/data\/([^/]+)\/(ladder[^/]*)\.csv$/.exec(path))
      .filter((found) => found && found[1] === gpu && !found[2].endsWith("samples"))
      .map((found) => found[2])
      .sort();
}

function ladderRows(gpu, file) {
  const rows = table(`plots/data/${gpu}/${file}.csv`)
                   .filter((row) => row.median_ms > 0 && row.check === "ok")
                   .map((row) => timed(row, row.step, file + ".csv"));
  if (!rows.length) return {rows, peers: [], problem: null};
  const same = problem(rows[0]);
  const peers = times(gpu).filter((time) => !isStep(time.name) && problem(time) === same);
  return {rows, peers, problem: rows[0]};
}

views.ladder = (none, values) => {
  const gpu = values.gpu || gpus()[0];
  const files = gpu ? ladderProblems(gpu) : [];
  const file = files.includes(values.problem) ? values.problem : files.includes("ladder") ? "ladder" : files[0];
  const {rows, peers, problem: chosen} = file ? ladderRows(gpu, file) : {rows: [], peers: []};
  const linear = values.scale === "linear";
  const byName = new Map(rows.map((row) => [row.name, row]));
  const fastest = Math.max(...rows.concat(peers).map((row) => row.tflops), 1);
  const slowest = Math.min(...rows.concat(peers).map((row) => row.tflops), 1);
  const share = (value) => linear
      ? value / fastest
      : (Math.log(value) - Math.log(slowest) + 0.15) / (Math.log(fastest) - Math.log(slowest) + 0.15);
  const base = rows[0];
  const bar = (time) => time ? el("td", {class: "bar"}, el("span", {
    class: "fill" + (isStep(time.name) ? "" : " peer"),
    style: `width:${(100 * share(time.tflops)).toFixed(2)}%`
  }))
                             : el("td", {class: "bar"}, el("span", {class: "note"}, "not timed"));
  const cells =
      (time) => [el("td",
                     {class: "number", "data-step": time ? time.name : null, "data-tflops": time ? time.tflops : null},
                     time ? digits(time.tflops, 3) : ""),
          el("td", {class: "number faster"},
              time && base ? digits(time.baseName === base.name ? time.baseRatio : base.ms / time.ms, 3) : "")];
  const stepRow = (name) =>
      el("tr", {}, el("th", {scope: "row"}, el("a", {href: address("step", [name])}, readable(name))),
          el("td", {class: "adds"}, summary(name)), bar(byName.get(name)), cells(byName.get(name)),
          el("td", {class: "lesson"},
              lab.step[name].parent
                  ? el("a", {
                      href: address("diff", [lab.step[name].parent, name]),
                      title: `what ${readable(name)} changes in ${readable(lab.step[name].parent)}`
                    },
                        `${lessonSize(name)} lines`)
                  : ""));
  const stale = rows.filter((row) => !lab.step[row.name]);
  return [
    el("h1", {}, "One kernel, step by step"),
    el("p", {class: "lead"}, "Forward attention, ", el("code", {}, "O = softmax(scale · Q Kᵀ + mask) V"),
        ", computed again and again. Each step adds " +
            "one optimisation to the step before, so the difference between two steps is the lesson. Choose a step to read it, or the number of " +
            "its lines to see what it changes. ",
        el("a", {href: address("page", ["README.md"])}, "The lab's README"), " and ",
        el("a", {href: address("page", ["GUIDE.md"])}, "the workshop"), " say how to run all this."),
    files.length ? el("div", {class: "controls"},
                       gpus().length > 1 ? select("GPU", gpus().map((name) => [name, name]), gpu,
                                               (name) => setValues({gpu: name}), "gpu")
                                         : null,
                       select("Problem", files.map((name) => [name, problemText(ladderRows(gpu, name).problem || {})]),
                           file, (name) => setValues({problem: name === "ladder" ? "" : name}), "problem"),
                       select("Bars", [["log", "logarithmic"], ["linear", "linear"]], linear ? "linear" : "log",
                           (scale) => setValues({scale: scale === "log" ? "" : scale}), "scale"),
                       el("a", {href: address("curves")}, "All lengths: the curves"))
                 : null,
    el("table", {class: "ladder"},
        el("caption", {},
            chosen ? `${gpuText(gpu)}: ${problemText(chosen)}; ${origin(rows.concat(peers))}.`
                   : "No times have been recorded."),
        el("thead", {},
            el("tr", {}, el("th", {scope: "col"}, "step"), el("th", {scope: "col"}, "adds"),
                el("th", {scope: "col"}, "speed"), el("th", {scope: "col", class: "number"}, "TFLOP/s"),
                el("th", {scope: "col", class: "number faster"}, base ? `× ${number(base.name)}` : ""),
                el("th", {scope: "col", class: "number"}, "changes"))),
        el("tbody", {}, STEPS.map(stepRow)),
        el("tbody", {class: "peers"},
            peers.sort((a, b) => a.tflops - b.tflops)
                .map((peer) => el("tr", {}, el("th", {scope: "row"}, readable(peer.name)),
                         el("td", {class: "adds"}, "not of this lab: a peer"), bar(peer), cells(peer), el("td", {}))))),
    stale.length ? el("p", {class: "note"},
                       `The record also has steps that the lab no longer has: ${
                           stale.map((row) => readable(row.name)).join(", ")}.`)
                 : null,
  ];
};

function lessonSize(name) {
  const size = lab.size[lab.step[name].parent + "|" + name];
  return size === undefined ? lab.size[name + "|" + lab.step[name].parent] : size;
}
