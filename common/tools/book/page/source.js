"use strict";
// Sources with syntax colours, and the counts of their lines.

// CUDA C is C++ with a few more words.
function highlighter() {
  window.Prism = window.Prism || {manual: true}; // it shall not look for sources in the page by itself
  const prism = library("Prism", "Prism");
  if (!prism.languages.cuda) {
    prism.languages.cuda = prism.languages.extend("cpp", {});
    prism.languages.insertBefore("cuda", "keyword", {
      qualifier: /\b__(?:global|device|host|shared|constant|grid_constant|forceinline|launch_bounds)__\b/,
      builtin:
          /\b(?:(?:thread|block)Idx|(?:block|grid)Dim|__(?:syncthreads|shfl_sync|shfl_xor_sync|half|nv_bfloat16)|half2?|u?int(?:32|64)_t|dim3|cuda(?:Stream|Error)_t)\b/
    });
  }
  return prism;
}

// The class of each kind of token that has a colour. A token of another kind has the colour of what it is in.
const TOKEN_CLASSES = {
  keyword: "keyword",
  qualifier: "keyword",
  directive: "keyword",
  string: "string",
  char: "string",
  comment: "comment",
  number: "literal",
  boolean: "literal",
  builtin: "literal",
  macro: "meta",
  function: "title",
  "class-name": "title"
};

// Each line of the code as a list of [class, text].
function colourLines(code, language) {
  const prism = highlighter();
  const result = [[]];
  const walk = (token, name) => {
    if (Array.isArray(token)) {
      for (const part of token) walk(part, name);
    } else if (typeof token === "string") {
      token.split("\n").forEach((text, i) => {
        if (i) result.push([]);
        const line = result[result.length - 1];
        const before = line[line.length - 1];
        if (before && before[0] === name) before[1] += text;
        else if (text) line.push([name, text]);
      });
    } else {
      walk(token.content, TOKEN_CLASSES[token.type] ? `code-${TOKEN_CLASSES[token.type]}` : name);
    }
  };
  walk(prism.tokenize(code, prism.languages[language || "cuda"]), "");
  return result;
}

const coloured = {};
function colouredStep(name) {
  if (!coloured[name]) coloured[name] = colourLines(lines(name).join("\n"));
  return coloured[name];
}

// The elements of a line. Marks are ranges of its characters, [from, to].
function lineElements(parts, marks) {
  const out = [];
  let at = 0;
  let next = 0;
  for (const [name, text] of parts) {
    let from = 0;
    while (from < text.length) {
      while (marks && next < marks.length && marks[next][1] <= at) next++;
      const mark = marks && marks[next];
      const inside = mark && mark[0] <= at;
      const left = text.length - from;
      const take = !mark ? left : Math.min(left, (inside ? mark[1] : mark[0] > at ? mark[0] : at + left) - at);
      const piece = text.slice(from, from + take);
      const node = name ? el("span", {class: name}, piece) : document.createTextNode(piece);
      out.push(inside ? el("mark", {}, node) : node);
      from += take;
      at += take;
    }
  }
  return out;
}

// ---- Counts -------------------------------------------------------------------------------------

const METRICS = [
  ["sectors", "sectors of global memory", (row) => sum(row, "global_load_sectors", "global_store_sectors")],
  ["wavefronts", "wavefronts of shared memory", (row) => sum(row, "shared_load_wavefronts", "shared_store_wavefronts")],
  [
    "conflicts", "wavefronts of shared memory beyond one a request",
    (row) => sum(row, "shared_load_wavefronts", "shared_store_wavefronts") -
        sum(row, "shared_load_requests", "shared_store_requests")
  ],
  ["tensor", "operations of the tensor cores", (row) => sum(row, "tensor_core_operations")],
  ["copied", "bytes copied by cp.async and the copy engine", (row) => sum(row, "async_copy_bytes")],
  ["barriers", "barriers of the block", (row) => sum(row, "block_barriers")],
  ["branches", "divergent branches", (row) => sum(row, "divergent_branches")],
];
function sum(row, ...names) { return names.reduce((total, name) => total + (+row[name] || 0), 0); }
function metric(id) { return METRICS.find((it) => it[0] === id); }

// Whether the file of a row has other lines than it had when they were counted.
function moved(row) { return `${row.file}|${row.commit}` in lab.moved; }

let countRows = null;
// The rows of the step in the record of counts by line; a row's line is one of the file on the disk. There are none
// if the step's own lines have moved since.
function countsOf(step) {
  if (!countRows) {
    countRows = {};
    for (const path of Object.keys(lab.text).filter((name) => /\/counts-lines\.csv$/.test(name))) {
      for (const row of table(path)) (countRows[row.step] = countRows[row.step] || []).push(row);
    }
  }
  const rows = countRows[step] || [];
  return rows.some((row) => row.file === lab.step[step].path && moved(row)) ? [] : rows;
}

// What a metric counts in each shown line of the step, and in other files; null where nothing was recorded.
function countsByLine(step, id) {
  const rows = countsOf(step);
  if (!rows.length) return null;
  const value = metric(id)[2];
  const here = new Map();
  let most = 0, total = 0, elsewhere = 0;
  for (const row of rows) {
    const amount = value(row);
    total += amount;
    if (row.file === lab.step[step].path) {
      here.set(+row.line, (here.get(+row.line) || 0) + amount);
      most = Math.max(most, here.get(+row.line));
    } else {
      elsewhere += amount;
    }
  }
  return {here, most, total, elsewhere, rows};
}

function countCell(counts, line, most) {
  const value = (counts && counts.here.get(line)) || 0;
  const share = most ? (100 * value) / most : 0;
  return el("td", {
    class: "count",
    style: value ? `--share:${share.toFixed(1)}%` : null,
    title: value ? `${value}, ${digits((100 * value) / counts.total, 3)} % of the step's` : null
  },
      value ? short(value) : "");
}

function chooseMetric(values) {
  return select("Counts", [["none", "none"], ...METRICS.map(([id, text]) => [id, text])], values.count || "none",
      (count) => setValues({count: count === "none" ? "" : count}), "count");
}

function countsNote(step, id) {
  const counts = countsByLine(step, id);
  if (!counts) {
    return el("p", {class: "note"},
        `No counts by line have been recorded of ${readable(step)} as it is now: make step${number(step)} count ` +
            "records them on the emulator, and make publish puts them here.");
  }
  const row = counts.rows[0];
  return el("p", {class: "note"},
      `${readable(step)}: ${short(counts.total)} ${metric(id)[1]}` +
          (counts.elsewhere ? `, of which ${short(counts.elsewhere)} in the headers that it includes` : "") +
          `; batch ${row.batch}, heads ${row.heads}, seq ${row.seq_q}, head_dim ${row.head_dim}, ${
              row.dtype}, counted by the ` +
          `emulator, ${origin([row])}.`);
}

// The lines of other files, such as common/kernel/hopper.cuh, that count for a step.
function headerTable(step, id) {
  const value = metric(id)[2];
  const rows = countsOf(
      step).filter((row) => row.file !== lab.step[step].path && !moved(row) && value(row) > 0)
                   .sort((a, b) => value(b) - value(a));
  if (!rows.length) return null;
  const most = value(rows[0]);
  return el("details", {open: true}, el("summary", {}, "In the headers that the step includes"),
      el("table", {class: "source counted"},
          el("colgroup", {}, el("col", {class: "file"}), el("col", {class: "count"}), el("col")),
          el("tbody", {}, rows.slice(0, 20).map((row) => {
            const text = (lab.text[row.file] || "").split("\n")[row.line - 1] || "";
            return el("tr", {},
                el("td", {class: "line"},
                    row.file ? `${row.file.replace("common/", "")}:${row.line}` : "no line known"),
                el("td", {class: "count", style: `--share:${((100 * value(row)) / most).toFixed(1)}%`},
                    short(value(row))),
                el("td", {class: "code"}, lineElements(colourLines(text.trim())[0] || [])));
          }))));
}

// A table of the whole source. `click` gets the number of a line of the file.
function sourceTable(name, values, click) {
  const counts = values.count ? countsByLine(name, values.count) : null;
  const numbers = lineNumbers(name);
  const parts = colouredStep(name);
  return el("table", {class: "source" + (counts ? " counted" : ""), "aria-label": `source of ${readable(name)}`},
      el("colgroup", {}, el("col", {class: "line"}), counts ? el("col", {class: "count"}) : null, el("col")),
      el("tbody", {},
          numbers.map(
              (line, i) => el("tr", {id: `L${line}`},
                  el("td", {class: "line"},
                      click ? button(String(line), () => click(line), {"aria-label": `line ${line}`}) : String(line)),
                  counts ? countCell(counts, line, counts.most) : null,
                  el("td", {class: "code"}, lineElements(parts[i] || []))))));
}
