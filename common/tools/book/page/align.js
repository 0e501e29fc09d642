"use strict";
// Which lines of two sources stand side by side. The hunks are git's; this file only pairs the lines within a hunk,
// and marks the words that differ in a pair, with jsdiff.

// The hunks from a to b; the page holds each pair of steps in one direction.
function changesBetween(a, b) {
  const found = lab.difference[a + "|" + b];
  if (found) return found;
  const turned = lab.difference[b + "|" + a];
  if (!turned) return {hunks: [], gone: [], come: []};
  return {
    hunks: turned.hunks.map(([from, count, to, lines_]) => [to, lines_, from, count]),
    gone: turned.come,
    come: turned.gone
  };
}

function words(text) { return text.match(/\w+|\s+|[^\w\s]/g) || []; }

// 1 for lines with the same words, 0 for lines that share none.
function likeness(a, b) {
  const left = words(a.trim()).filter((word) => /\S/.test(word));
  const right = words(b.trim()).filter((word) => /\S/.test(word));
  if (!left.length || !right.length) return 0;
  const counts = new Map();
  for (const word of left) counts.set(word, (counts.get(word) || 0) + 1);
  let shared = 0;
  for (const word of right) {
    if (counts.get(word) > 0) {
      shared++;
      counts.set(word, counts.get(word) - 1);
    }
  }
  return (2 * shared) / (left.length + right.length);
}

// Pairs those lines of a hunk that are most alike, in order: a list of [before or null, after or null].
function pairLines(before, after, mayPair) {
  const LEAST = 0.5;
  const m = before.length, n = after.length;
  const best = Array.from({length: m + 1}, () => new Float64Array(n + 1));
  const like = Array.from({length: m}, () => new Float64Array(n));
  for (let i = m - 1; i >= 0; i--) {
    for (let j = n - 1; j >= 0; j--) {
      const value = mayPair(i, j) ? likeness(before[i], after[j]) : 0;
      like[i][j] = value;
      best[i][j] = Math.max(best[i + 1][j], best[i][j + 1], value >= LEAST ? best[i + 1][j + 1] + value : 0);
    }
  }
  const pairs = [];
  let i = 0, j = 0;
  while (i < m || j < n) {
    if (i < m && j < n && like[i][j] >= LEAST && best[i][j] === best[i + 1][j + 1] + like[i][j]) pairs.push([i++, j++]);
    else if (i < m && (j === n || best[i][j] === best[i + 1][j])) pairs.push([i++, null]);
    else pairs.push([null, j++]);
  }
  return sideBySide(pairs);
}

// Lines without a partner stand beside each other where both sides have some, so that the table is not too long.
function sideBySide(pairs) {
  const out = [];
  let gone = [], come = [];
  const flush = () => {
    for (let i = 0; i < Math.max(gone.length, come.length); i++)
      out.push([i < gone.length ? gone[i] : null, i < come.length ? come[i] : null, false]);
    gone = [];
    come = [];
  };
  for (const [a, b] of pairs) {
    if (a !== null && b !== null) {
      flush();
      out.push([a, b, true]);
    } else if (a !== null) {
      gone.push(a);
    } else {
      come.push(b);
    }
  }
  flush();
  return out;
}

// Ranges of characters that differ, in both lines.
function wordMarks(a, b) {
  const Diff = library("jsdiff", "Diff");
  const marks = [[], []];
  const at = [0, 0];
  for (const part of Diff.diffArrays(words(a), words(b))) {
    const length = part.value.join("").length;
    const blank = !part.value.join("").trim();
    if (part.removed) {
      if (!blank) marks[0].push([at[0], at[0] + length]);
      at[0] += length;
    } else if (part.added) {
      if (!blank) marks[1].push([at[1], at[1] + length]);
      at[1] += length;
    } else {
      at[0] += length;
      at[1] += length;
    }
  }
  return marks;
}

// The rows of a diff: {before, after: index of a line or null, kind: same|change|gone|come|moved, marks, hunk}.
function diffRows(before, after, changes) {
  const rows = [];
  const goneMoved = new Set(changes.gone), comeMoved = new Set(changes.come);
  let i = 0, j = 0;
  changes.hunks.forEach(([from, count, to, added], hunk) => {
    const start = count ? from - 1 : from; // a hunk without lines begins behind that line
    while (i < start) rows.push({before: i++, after: j++, kind: "same", hunk: -1});
    const oldLines = before.slice(i, i + count), newLines = after.slice(j, j + added);
    const mayPair = (a, b) => !goneMoved.has(i + a + 1) && !comeMoved.has(j + b + 1);
    for (const [a, b, paired] of pairLines(oldLines, newLines, mayPair)) {
      const row = {
        before: a === null ? null : i + a,
        after: b === null ? null : j + b,
        hunk,
        kind: paired ? "change" : "apart"
      };
      if (paired) row.marks = wordMarks(oldLines[a], newLines[b]);
      row.goneMoved = a !== null && goneMoved.has(i + a + 1);
      row.comeMoved = b !== null && comeMoved.has(j + b + 1);
      rows.push(row);
    }
    i += count;
    j += added;
  });
  while (i < before.length || j < after.length) rows.push({before: i++, after: j++, kind: "same", hunk: -1});
  return rows;
}

// Where a moved line stands on the other side: line index to line index, by equal text, in order.
function movedPartners(before, after, changes) {
  const places = new Map();
  for (const line of changes.come) {
    const text = after[line - 1].trim();
    if (!places.has(text)) places.set(text, []);
    places.get(text).push(line - 1);
  }
  const to = new Map(), back = new Map();
  for (const line of changes.gone) {
    const list = places.get(before[line - 1].trim());
    if (!list || !list.length) continue;
    const other = list.length > 1 ? list.shift() : list[0];
    to.set(line - 1, other);
    if (!back.has(other)) back.set(other, line - 1);
  }
  return {to, back};
}
