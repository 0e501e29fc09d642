"use strict";
// The substeps of a step: the way from the step before to the step, one idea after the other.

function stepSubsteps(step) {
  const substeps = patchesOf("substep", step);
  if (!substeps.length) return el("p", {}, "This step is not divided into substeps: its diff is one idea.");
  const recorded = recordedSources("substeps", step);
  let text = lines(lab.step[step].parent);
  let before = stepSide(lab.step[step].parent, {});
  return [
    el("p", {},
        "Each substep brings one idea, and the source behind it is a whole program that gives the right result. Beside each stands what was expected " +
            "of it, and how many times as fast as the whole step this source was, with its 95 % interval."),
    substeps.map((substep, i) => {
      const head = patchHead(substep.patch);
      const last = i === substeps.length - 1;
      text = changedLines(text, substep.changes);
      const after = last ? stepSide(step, {}) : sideOf(text, `behind substep ${i + 1}`);
      const section = el("section", {}, el("h2", {id: substep.name}, `${i + 1}. ${head.Title}`),
          el("p", {}, "Expected: ", head.Expect || ""),
          i ? null : el("p", {class: "note"}, "The top comment is that of the finished step already."),
          last ? el("p", {class: "note"}, "Behind this substep stands the step itself.")
               : recordedTimes(substep.name, recorded, "substeps", step),
          diffTable(before, after, substep.changes, `s${i}`));
      before = after;
      return section;
    })
  ];
}
