"use strict";
// The view of two sources side by side.
const CONTEXT = 3; // unchanged lines around a change
const FOLD = 4;    // fewer lines than these are not worth folding

function isComment(text) { return /^\s*\/\//.test(text); }

// Marks the rows that are shown: changes, their context, and the whole comment above a change.
function markShown(rows, after) {
  rows.forEach((row, at) => {
    if (row.kind === "same") return;
    for (let i = Math.max(0, at - CONTEXT); i <= Math.min(rows.length - 1, at + CONTEXT); i++) rows[i].shown = true;
    let i = at - CONTEXT;
    while (i >= 0 && rows[i].kind === "same" && isComment(after[rows[i].after]) && at - i < 16) rows[i--].shown = true;
  });
}

// One table of a diff. A side is {name, lines, numbers, parts, counts}; anchors begin with `prefix`.
function diffTable(left, right, changes, prefix) {
  const rows = diffRows(left.lines, right.lines, changes);
  const moved = movedPartners(left.lines, right.lines, changes);
  const inHeader = changes.toHeaders || new Map();
  markShown(rows, right.lines);
  const counted = left.counts || right.counts;
  const most = Math.max(left.counts ? left.counts.most : 0, right.counts ? right.counts.most : 0);
  const side = (it, index, kind, marks, letter, other, path) => {
    if (index === null)
      return [el("td", {class: "line"}), counted ? el("td", {class: "count"}) : null, el("td", {class: "code none"})];
    const line = it.numbers[index];
    const text = lineElements(it.parts[index] || [], marks);
    const from = other !== undefined &&
        el("a", {
          class: "moved-to",
          href: "#",
          "data-target": `${prefix}${letter === "a" ? "b" : "a"}${other.line}`,
          onclick: jump
        },
            letter === "a" ? `moved to line ${other.line}` : `moved from line ${other.line}`);
    return [
      el("td", {class: "line", id: `${prefix}${letter}${line}`}, String(line)),
      counted ? countCell(it.counts, line, most) : null,
      el("td", {class: "code " + kind},
          kind && !kind.startsWith("same") ? el("span", {class: "sign"}, SIGN[kind]) : null, text, from || null,
          path && el("span", {class: "moved-to"}, `in ${path}`))
    ];
  };
  const row = (it) => {
    const same = it.kind === "same";
    const leftKind = same ? "" : it.goneMoved ? "moved gone" : it.kind === "change" ? "changed gone" : "gone";
    const rightKind = same ? "" : it.comeMoved ? "moved come" : it.kind === "change" ? "changed come" : "come";
    const to = it.goneMoved && moved.to.has(it.before) ? {line: right.numbers[moved.to.get(it.before)]} : undefined;
    const from = it.comeMoved && moved.back.has(it.after) ? {line: left.numbers[moved.back.get(it.after)]} : undefined;
    return el("tr", {class: same ? "same" : "differs", "data-hunk": it.hunk >= 0 ? it.hunk : null},
        side(left, it.before, leftKind, it.marks && it.marks[0], "a", to, headerBegins(inHeader, it.before)),
        side(right, it.after, rightKind, it.marks && it.marks[1], "b", from));
  };
  const bodies = [];
  let at = 0;
  while (at < rows.length) {
    let end = at;
    while (end < rows.length && !!rows[end].shown === !!rows[at].shown) end++;
    const hidden = !rows[at].shown && end - at >= FOLD;
    const body = el("tbody", {hidden}, rows.slice(at, end).map(row));
    if (hidden) bodies.push(fold(body, end - at, counted ? 6 : 4));
    bodies.push(body);
    at = end;
  }
  return el("table", {
    class: "diff" + (counted ? " counted" : ""),
    "aria-label": `${readable(left.name)} on the left, ${readable(right.name)} on the right`
  },
      [0, 1].map(() => el("colgroup", {}, el("col", {class: "line"}), counted ? el("col", {class: "count"}) : null,
                     el("col"))),
      el("thead", {},
          el("tr", {}, el("th", {colspan: counted ? 3 : 2, scope: "colgroup"}, left.title),
              el("th", {colspan: counted ? 3 : 2, scope: "colgroup"}, right.title))),
      bodies);
}
// The header that a line has moved to, if the line before it has not moved there.
function headerBegins(inHeader, index) {
  const path = index === null ? undefined : inHeader.get(index + 1);
  return path !== inHeader.get(index) ? path : undefined;
}
const SIGN = {
  "moved gone": "moved away: ",
  "moved come": "moved here: ",
  "changed gone": "before: ",
  "changed come": "after: ",
  gone: "removed: ",
  come: "added: "
};

function fold(body, count, columns) {
  const open = button(`${count} unchanged lines`, () => {
    body.hidden = !body.hidden;
    open.setAttribute("aria-expanded", String(!body.hidden));
  }, {"aria-expanded": "false"});
  return el("tbody", {class: "fold"}, el("tr", {}, el("td", {colspan: columns}, open)));
}

// Goes to a line by its id, and opens the fold around it.
function jump(event) {
  event.preventDefault();
  const target = document.getElementById(event.currentTarget.dataset.target);
  if (!target) return;
  const body = target.closest("tbody");
  if (body && body.hidden) body.previousElementSibling.querySelector("button").click();
  target.scrollIntoView({block: "center"});
  flash(target.closest("tr"));
}
function flash(row) {
  row.classList.add("flash");
  setTimeout(() => row.classList.remove("flash"), 1500);
}

let atChange = -1;
function nextChange(by) {
  const hunks = [...new Set([...document.querySelectorAll("tr[data-hunk]")].map((row) => row.dataset.hunk))];
  if (!hunks.length) return;
  atChange = Math.max(0, Math.min(hunks.length - 1, atChange + by));
  const row = document.querySelector(`tr[data-hunk="${hunks[atChange]}"]`);
  row.scrollIntoView({block: "center"});
  flash(row);
  const place = document.getElementById("at-change");
  if (place) place.textContent = `change ${atChange + 1} of ${hunks.length}`;
}

// ---- The view -----------------------------------------------------------------------------------

function chosenPair(chosen) {
  const known = (name) => STEPS.find((step) => step === name || number(step) === name);
  const b = known(chosen[1]) || (chosen[1] === undefined && known(chosen[0])) || labSteps()[1];
  const a = (chosen[1] !== undefined && known(chosen[0])) || lab.step[b].parent || labSteps()[0];
  return [a, b];
}

function sizeText(a, b) {
  const size = lab.size[a + "|" + b] !== undefined ? lab.size[a + "|" + b] : lab.size[b + "|" + a] || 0;
  const changes = changesBetween(a, b);
  const gone = changes.hunks.reduce((total, hunk) => total + hunk[1], 0);
  const come = changes.hunks.reduce((total, hunk) => total + hunk[3], 0);
  return el("p", {class: "size"}, el("strong", {}, `${size} lines of code change`), ", in ",
      String(changes.hunks.length),
      " places. Comments and " +
          `layout do not count, and a line that moves counts once. In all ${gone} lines go and ${come} come, with ${
              changes.come.length} of them moved.`);
}

// How fast both are, at the problems at which the ladder was recorded.
function speedText(a, b) {
  const found = gpus()
                    .flatMap((gpu) => ladderProblems(gpu).map((file) => {
                      const rows = ladderRows(gpu, file).rows;
                      const before = rows.find((row) => row.name === a), after = rows.find((row) => row.name === b);
                      return before && after ? {gpu, before, after} : null;
                    }))
                    .filter(Boolean);
  if (!found.length) return el("p", {class: "note"}, "These two have not been timed in the same run.");
  return el("table", {class: "numbers speeds"},
      el("caption", {}, `Both timed in the same run, ${origin(found.flatMap((it) => [it.before, it.after]))}`),
      el("thead", {}, el("tr", {}, ["GPU", "problem", readable(a), readable(b),
        "× as fast"].map((text, i) => el("th", {scope: "col", class: i > 1 ? "number" : null}, text)))),
      el("tbody", {}, found.map(({gpu, before, after}) => {
        const [low, high] = after.beforeName === a ? [after.beforeLow, after.beforeHigh]
                                                   : [before.low / after.high, before.high / after.low];
        const ratio = after.beforeName === a ? after.beforeRatio : before.ms / after.ms;
        return el("tr", {}, el("td", {}, gpuText(gpu)), el("th", {scope: "row"}, problemText(after)),
            el("td", {class: "number"}, `${digits(before.ms, 4)} ms`),
            el("td", {class: "number"}, `${digits(after.ms, 4)} ms`),
            el("td", {class: "number"}, `${digits(ratio, 3)} [${digits(low, 3)}, ${digits(high, 3)}]`));
      })));
}

// The changes between two steps, in which lines that have gone to a header count among the moved ones.
function stepChanges(a, b) {
  const changes = changesBetween(a, b);
  const toHeaders = goneToHeaders(a, b, changes);
  return {...changes, toHeaders, gone: [...new Set([...changes.gone, ...toHeaders.keys()])]};
}

function stepSide(name, values) {
  return {
    name,
    lines: lines(name),
    numbers: lineNumbers(name),
    parts: colouredStep(name),
    title: el("a", {href: address("step", [name])}, readable(name)),
    counts: values.count ? countsByLine(name, values.count) : null
  };
}

function stepDiff(a, b, values) {
  atChange = -1;
  if (a === b) return el("p", {}, "Both sides are the same step: choose another one.");
  return [
    sizeText(a, b),
    takenText(a, b),
    speedText(a, b),
    gpus().length && !isOwn(a) && !isOwn(b)
        ? el("p", {},
              el("a", {href: address("curves", [], {steps: `${number(a)},${number(b)}`})}, "Curves of both, by length"))
        : null,
    el("div", {class: "controls"}, chooseMetric(values), button("Previous change (p)", () => nextChange(-1)),
        button("Next change (n)", () => nextChange(1)),
        button("Show all lines",
            () => document.querySelectorAll(".fold button[aria-expanded=false]").forEach((it) => it.click()),
            {id: "unfold"}),
        el("span", {id: "at-change", role: "status"})),
    values.count ? [countsNote(a, values.count), countsNote(b, values.count)] : null,
    diffTable(stepSide(a, values), stepSide(b, values), stepChanges(a, b), "d"),
  ];
}

views.diff = (chosen, values) => {
  const [a, b] = chosenPair(chosen);
  const choices = STEPS.map((name) => [name, readable(name)]);
  const parent = lab.step[b].parent;
  return [
    el("h1", {}, `${readable(a)} → ${readable(b)}`),
    el("div", {class: "controls"}, select("From", choices, a, (name) => go("diff", [name, b], values), "from"),
        select("to", choices, b,
            (name) => go("diff", [lab.step[b].parent === a ? lab.step[name].parent || a : a, name], values), "to"),
        button("Previous step ([)", () => nextStep(readAddress(), -1)),
        button("Next step (])", () => nextStep(readAddress(), 1)),
        button("Swap", () => go("diff", [b, a], values), {id: "swap"}),
        parent && parent !== a ? el("a", {href: address("diff", [parent, b], values)},
                                     `What ${readable(b)} changes in its parent, ${readable(parent)}`)
                               : null),
    lab.step[b].parent === a ? el("p", {}, `${readable(b)}: ${sentence(b)}. `,
                                   el("a", {href: address("step", [b])}, `Read the page of ${readable(b)}`), ".")
                             : null,
    stepDiff(a, b, values),
  ];
};
