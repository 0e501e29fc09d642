"use strict";
// Planted bugs as a quiz: find the line, then read what the tools say, and the story.
function bugs() {
  return labSteps().flatMap(
      (step) => patchesOf("bug", step).map((bug, i) => ({step, index: i + 1, ...bug, head: patchHead(bug.patch)})));
}

const solved = {};
function solvedText(bug) { return solved[`${bug.step}/${bug.index}`] || ""; }

views.bugs = () => {
  const all = bugs();
  return [
    el("h1", {}, "Find the bug"),
    el("p", {},
        `Each of these ${
            all.length} sources is a step with one fault that a person could make. Look for the line; a click on its number says whether ` +
            "you are right. Then see what the tests and the sanitizer say of it, and how it came about. ",
        el("code", {}, "make hunt BUG=1"), " hands out such a bug to be mended."),
    labSteps().map((step) => {
      const here = all.filter((bug) => bug.step === step);
      return here.length ? el("section", {}, el("h2", {}, readable(step)),
                               el("ul", {class: "bugs"},
                                   here.map((bug) => el("li", {},
                                                el("a", {href: address("bug", [step, String(bug.index)])},
                                                    `Bug ${number(step)}.${bug.index}`),
                                                " ", solvedText(bug)))))
                         : null;
    })
  ];
};

function stepBugs(step) {
  const here = bugs().filter((bug) => bug.step === step);
  if (!here.length) return el("p", {}, "This step has no planted bugs.");
  return [
    el("p", {}, "Find the faulty line of each. The names of the bugs would tell too much, so they have numbers here."),
    el("ul", {class: "bugs"},
        here.map((bug) => el("li", {},
                     el("a", {href: address("bug", [step, String(bug.index)])}, `Bug ${number(step)}.${bug.index}`),
                     " ", solvedText(bug))))
  ];
}

// What each tool said of the bug, from the records.
function verdicts(bug) {
  return Object.keys(lab.text)
      .filter((path) => /\/bugs\.csv$/.test(path))
      .flatMap((path) => table(
                   path).filter((row) => row.step === bug.step && row.bug === bug.name)
                             .map((row) => ({row, gpu: path.split("/")[2]})));
}

views.bug = ([name, index]) => {
  const all = bugs();
  const at = all.findIndex((it) => it.step === name && it.index === +index);
  if (at < 0) return [el("h1", {}, "There is no such bug"), el("p", {}, el("a", {href: address("bugs")}, "All bugs"))];
  const bug = all[at];
  const source = patchedLines(bug.step, bug.changes);
  const faulty = new Set();
  for (const [, , to, count] of bug.changes.hunks) {
    // Where lines are missing, the lines on both sides of the gap count.
    for (let line = count ? to : Math.max(1, to); line < (count ? to + count : to + 2); line++) faulty.add(line);
  }
  let tries = 0;
  const answer = el("p", {role: "status", class: "answer"});
  const rows = new Map();
  const guess = (line) => {
    tries++;
    const right = faulty.has(line);
    rows.get(line).classList.add(right ? "right" : "wrong");
    answer.textContent = right ? `Right: line ${line}, after ${tries} ${tries === 1 ? "try" : "tries"}.`
                               : `Line ${line} is as it should be.`;
    answer.className = "answer " + (right ? "right" : "wrong");
    if (right) {
      solved[`${bug.step}/${bug.index}`] = `found after ${tries} ${tries === 1 ? "try" : "tries"}`;
      story.open = true;
    }
  };
  const said = verdicts(bug);
  const tools = el("details", {id: "tools"}, el("summary", {}, "What do the tools say?"),
      said.length
          ? said.map(
                ({row, gpu}) => [el("h2", {}, gpu.startsWith("emulated") ? "On the emulator" : `On a GPU, ${gpu}`),
                    el("dl", {},
                        ["check", "sanitize"].map((tool) => [el("dt", {}, `make step${number(bug.step)} ${tool}`),
                                                      el("dd", {},
                                                          row[tool] === "caught" ? row[`${tool}_message`] || "caught"
                                                              : row[tool] === "-" || !row[tool] ? "not run"
                                                                                                : row[tool])])),
                    el("p", {class: "note"}, origin([row]) + ".")])
          : el("p", {}, "Nothing has been recorded of this bug."));
  const story = el("details", {id: "story"}, el("summary", {}, "Where is it, and how did it come about?"),
      el("p", {}, el("strong", {}, bug.head.Title || bug.name), ". ", bug.head.Story || ""),
      el("div", {class: "story-diff"}));
  story.addEventListener("toggle", () => {
    const place = story.querySelector(".story-diff");
    if (story.open && !place.childNodes.length) place.append(patchDiff(bug.step, bug.changes, "with the bug", "s"));
  });
  const parts = colourLines(source.join("\n"));
  const next = all[(at + 1) % all.length];
  return [
    el("p", {class: "crumb"}, el("a", {href: address("bugs")}, "All bugs"),
        el("a", {href: address("bug", [next.step, String(next.index)])}, `Bug ${number(next.step)}.${next.index} →`)),
    el("h1", {}, `Bug ${number(bug.step)}.${bug.index}`),
    el("p", {}, `This is `, el("a", {href: address("step", [bug.step])}, readable(bug.step)),
        " with one fault. Click on the number of the line that you think is wrong."),
    answer,
    tools,
    story,
    el("table", {class: "source", "aria-label": "source with a bug"},
        el("colgroup", {}, el("col", {class: "line"}), el("col")), el("tbody", {}, source.map((text, i) => {
          const row = el("tr", {},
              el("td", {class: "line"},
                  button(String(i + 1), () => guess(i + 1), {"aria-label": `line ${i + 1} is wrong`})),
              el("td", {class: "code"}, lineElements(parts[i] || [])));
          rows.set(i + 1, row);
          return row;
        }))),
  ];
};
