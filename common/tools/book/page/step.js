"use strict";
// A step's own pages: its document, source, diff, variants, bugs and commands; substeps.js has its substeps.
const TABS = [
  ["", "Page"], ["source", "Source and counts"], ["diff", "Diff"], ["substeps", "Substeps"], ["variants", "Variants"],
  ["bugs", "Bugs"], ["exercise", "Exercise"]
];

views.steps = () => [el("h1", {}, "Steps"),
    el("ol", {class: "steps"},
        STEPS.map((name) => el(
                      "li", {}, el("a", {href: address("step", [name])}, readable(name)), ": ", sentence(name), ".")))];

views.step = ([name, tab], values) => {
  const step = STEPS.find((it) => it === name || number(it) === name);
  if (!step)
    return [
      el("h1", {}, "There is no such step"),
      el("p", {}, `The lab has no step ${name}. `, el("a", {href: "#/"}, "Go to the ladder."))
    ];
  const steps = labSteps();
  const at = isOwn(step) ? NaN : steps.indexOf(step); // a file of the reader's own has no neighbours
  const shown = TABS.find(([id]) => id === (tab || "")) ? tab || "" : "";
  const neighbour = (other, text, words_) =>
      other ? el("a", {href: address("step", shown ? [other, shown] : [other]), "aria-label": words_}, text) : null;
  const content = {
    "": stepPage,
    source: stepSource,
    diff: stepOwnDiff,
    substeps: stepSubsteps,
    variants: stepVariants,
    bugs: stepBugs,
    exercise: stepExercise
  }[shown];
  return [
    el("p", {class: "crumb"}, neighbour(steps[at - 1], `← ${readable(steps[at - 1] || "")}`, "previous step"),
        neighbour(steps[at + 1], `${readable(steps[at + 1] || "")} →`, "next step")),
    shown ? el("h1", {}, readable(step)) : null,
    el("nav", {class: "tabs", "aria-label": "Parts of this step"},
        TABS.map(([id, text]) => el("a",
                     {href: address("step", id ? [step, id] : [step]), "aria-current": id === shown ? "page" : null},
                     id === "diff" && lab.step[step].parent ? `Diff to ${number(lab.step[step].parent)}` : text)),
        hasTimelines(step) ? el("a", {href: address("timelines", [], {step})}, "Timeline") : null),
    content(step, values),
  ];
};

function stepPage(step) {
  const path = lab.step[step].path.replace("attention.cu", "README.md");
  if (!(path in lab.document)) return [el("h1", {}, readable(step)), el("p", {}, sentence(step) + ".")];
  return renderDocument(path);
}

function stepSource(step, values) {
  return [
    el("p", {}, el("code", {}, lab.step[step].path),
        ". The lines that mark the exercises are left out; the numbers are those of the file."),
    el("div", {class: "controls"}, chooseMetric(values)),
    values.count ? [countsNote(step, values.count), headerTable(step, values.count)] : null,
    sourceTable(step, values),
  ];
}

function stepOwnDiff(step, values) {
  const parent = lab.step[step].parent;
  if (!parent)
    return el("p", {}, "This step comes after no other. ",
        el("a", {href: address("diff", [step, labSteps()[1]])}, "Compare it with another step."));
  return [
    el("p", {}, el("a", {href: address("diff", [parent, step])}, "Compare it with another step")),
    stepDiff(parent, step, values)
  ];
}

// ---- Variants -----------------------------------------------------------------------------------

// The head of a patch: {Title: ..., Story: ...}; a value may go on in lines that are indented.
function patchHead(patch) {
  const head = {};
  let name = "";
  for (const line of patch.split("\n")) {
    if (line.startsWith("--- ")) break;
    const found = /^([A-Z][A-Za-z-]*): *(.*)/.exec(line);
    if (found) head[(name = found[1])] = found[2];
    else if (name && line.trim()) head[name] += " " + line.trim();
  }
  return head;
}

// The source with the changes of a patch.
function patchedLines(step, changes) { return changedLines(lines(step), changes); }

function changedLines(before, changes) {
  const out = [];
  let at = 0, text = 0;
  for (const [from, count, , added] of changes.hunks) {
    const start = count ? from - 1 : from;
    out.push(...before.slice(at, start), ...changes.text.slice(text, text + added));
    text += added;
    at = start + count;
  }
  return out.concat(before.slice(at));
}

function patchDiff(step, changes, title, prefix) {
  return diffTable(stepSide(step, {}), sideOf(patchedLines(step, changes), title), changes, prefix);
}

// A side of a diff that is no source of the lab.
function sideOf(text, title) {
  return {name: title, title, lines: text, numbers: text.map((line, i) => i + 1), parts: colourLines(text.join("\n"))};
}

function patchesOf(kind, step) {
  return Object.keys(lab[kind])
      .filter((key) => key.startsWith(step + "|"))
      .map((key) => ({name: key.split("|")[1], ...lab[kind][key]}));
}

function stepVariants(step) {
  const variants = patchesOf("variant", step);
  if (!variants.length) return el("p", {}, "This step has no variants.");
  const recorded = recordedSources("variants", step);
  return [
    el("p", {},
        "A variant changes one part of the step, and its results stay right. Beside each stands what was expected of it, and how many times as fast " +
            "as the step it was, with its 95 % interval."),
    variants.map((variant, i) => {
      const head = patchHead(variant.patch);
      return el("section", {}, el("h2", {id: variant.name}, head.Title || variant.name),
          el("p", {}, "Expected: ", head.Expect || ""), recordedTimes(variant.name, recorded, "variants", step),
          patchDiff(step, variant.changes, `with ${variant.name}`, `v${i}`));
    })
  ];
}

// The rows of the record for variants or substeps of a step.
function recordedSources(kind, step) {
  return Object.keys(lab.text)
      .filter((path) => new RegExp(`/${kind}[^/]*\\.csv$`).test(path))
      .flatMap((path) => table(path).filter((row) => row.step === step && row.median_ms > 0));
}

function recordedTimes(name, recorded, kind, step) {
  const rows = recorded.filter((row) => row.variant === name);
  if (!rows.length)
    return el("p", {class: "note"}, `Not timed yet: make step${number(step)} ${kind} RECORD=1 on a GPU times it.`);
  return el("ul", {},
      rows.map((row) => el("li", {"data-variant": name},
                   `${problemText(timed(row, row.step, ""))}: ${variantTime(row)}, ${origin([row])}`)));
}

// How fast a variant was beside its step. A record of several GPUs that is older than that ratio has the time alone.
function variantTime(row) {
  if (!(row.speedup > 0)) return `${digits(+row.median_ms, 4)} ms`;
  return `${digits(+row.speedup, 3)} × the speed of the step ` +
      `[${digits(+row.speedup_low, 3)}, ${digits(+row.speedup_high, 3)}]`;
}

// ---- Exercise -----------------------------------------------------------------------------------

function stepExercise(step) {
  const folder = lab.step[step].path.replace("attention.cu", "");
  const n = number(step);
  const goals = (lab.text[folder + "goals.txt"] || "")
                    .split("\n")
                    .filter((line) => line && !line.startsWith("#"))
                    .map((line) => line.split("|").map((part) => part.trim()));
  const commands = [
    ["exercise", "your file, with holes to fill"],
    ["check PART=1", "tests your part 1, with the lab's lines in the other parts"],
    ["hint PART=1", "one of three hints for a part"], ["check", "tests your file"],
    ["solution", "shows your lines and the lab's"], ["run", "runs the step on one problem"],
    ["count", "sectors, bank conflicts and more, by source line"], ["sanitize", "races, wild accesses, missing waits"],
    ["diff", "what it changes in the step before"], ["substeps", "the same in several ideas, and what each brings"],
    ["variants", "what each of its parts brings"], ["bugs", "its planted bugs, and which tool catches each"]
  ];
  return [
    el("h2", {}, "Commands"),
    el("table", {class: "commands"}, el("tbody", {}, commands.map(([verb, text]) => el("tr", {}, el("td", {}, el("code", {}, `make step${n} ${verb}`)), el("td", {}, text))))),
    goals.length ? [el("h2", {}, "Goals"), el("p", {}, "Your file is this step, and not only right, when the tools count what these goals say."),
      el("ul", {}, goals.map((goal) => el("li", {}, goal[2] || "", " ", el("code", {}, goal[1] || ""))))] : null,
    folder + "hints.md" in lab.text ? [el("h2", {}, "Hints"), hints(lab.text[folder + "hints.md"])] : null,
  ];
}

// "## Part 1: ..." with hints 1 to 3 below it, each behind a summary, so that a reader opens one at a time.
function hints(text) {
  return text.split(/^## /m).slice(1).map((part) => {
    const [title, ...rest] = part.split("\n");
    return el("section", {}, el("h3", {}, title), rest.join("\n").split(/^### /m).slice(1).map((hint) => {
      const [which, ...body] = hint.split("\n");
      return el("details", {}, el("summary", {}, `Hint ${which}`),
          el("pre", {class: "plain"}, body.join("\n").trim().replace(/^    /gm, "  ")));
    }));
  });
}
