"use strict";
// A step may take lines of an earlier step from a header, whose first comment then names that step, `// From: NN_name`.
// In a diff such lines have gone from the step's file, and have only moved.

// The headers that a text includes and that hold lines of steps, and those that these include.
function takenHeaders(text, found = new Set()) {
  for (const [, file] of text.matchAll(/^#include "(.*)"/gm)) {
    const path = "common/kernel/" + file;
    if (found.has(path) || !/^\/\/ From: /m.test(lab.text[path] || "")) continue;
    found.add(path);
    takenHeaders(lab.text[path], found);
  }
  return found;
}

// The headers that step b takes lines from and step a does not.
function headersTaken(a, b) {
  const others = takenHeaders(lines(a).join("\n"));
  return [...takenHeaders(lines(b).join("\n"))].filter((path) => !others.has(path));
}

// Of those lines of a that have gone in b, the ones that stand in such a header, three or more in a row: number of the
// line, from 1, to the header's path.
function goneToHeaders(a, b, changes) {
  const found = new Map();
  const before = lines(a);
  for (const path of headersTaken(a, b)) {
    const known = new Set(lab.text[path].split("\n").map((text) => text.trim()));
    for (const [from, count] of changes.hunks) {
      let run = [];
      for (let line = from; line <= from + count; line++) {
        if (line < from + count && known.has(before[line - 1].trim())) {
          run.push(line);
          continue;
        }
        if (run.length > 2) run.forEach((it) => found.set(it, path));
        run = [];
      }
    }
  }
  return found;
}

function takenText(a, b) {
  return headersTaken(a, b).map((path) => {
    const from = lab.text[path].match(/^\/\/ From: (.*)/m)[1];
    return el("p", {class: "note"},
        `${readable(b)} takes lines of ${readable(from)} from ${path}. On the left side ` +
            "these lines are marked as moved. They do not count.");
  });
}
