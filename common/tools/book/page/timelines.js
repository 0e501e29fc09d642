"use strict";
// Timelines of the warps of a multiprocessor, where they have been recorded: a row for each warp, a box for each event
// that lasts, a stroke for each that does not.
function timelineFiles(step) {
  return Object.keys(lab.text).filter(
      (path) => /\/timeline-[^/]*\.csv$/.test(path) && (!step || table(path).some((row) => row.step === step)));
}
function hasTimelines(step) { return timelineFiles(step).length > 0; }

const KIND_HUES = {};
function kindColour(kind, dark) {
  if (!(kind in KIND_HUES)) KIND_HUES[kind] = (Object.keys(KIND_HUES).length * 137.5) % 360;
  return library("d3", "d3").hcl(KIND_HUES[kind], 55, dark ? 70 : 48).toString();
}

function lasts(row) { return +row.end > +row.begin; }

// Draws the events into the holder. The wheel and the buttons zoom, dragging moves, and the arrow keys go from event to
// event.
function drawTimeline(holder, rows, say) {
  const d3 = library("d3", "d3");
  const dark = isDark();
  const LINE = 20, LEFT = 112, RIGHT = 24, TOP = 24;
  const warps = [...new Set(rows.map((row) => `${row.block}|${row.warp}`))].sort(
      (a, b) => a.split("|")[0] - b.split("|")[0] || a.split("|")[1] - b.split("|")[1]);
  const width = Math.min(1400, holder.clientWidth || 900), height = TOP + warps.length * LINE + 8;
  const first = Math.max(0, d3.min(rows, (row) => +row.begin)),
        last = +rows[0].stretch || d3.max(rows, (row) => +row.end);
  const x = d3.scale.linear().domain([first, last]).range([LEFT, width - RIGHT]);
  const svg = d3.select(document.createElementNS("http://www.w3.org/2000/svg", "svg")).attr({
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "font-size": 12,
    "font-family": "sans-serif",
    "aria-label": "timeline of the warps; the table below it has the sums"
  });
  svg.append("clipPath")
      .attr("id", "stretch")
      .append("rect")
      .attr({x: LEFT, y: 0, width: width - RIGHT - LEFT, height});
  const axis = svg.append("g").attr("class", "axis").attr("transform", `translate(0,${TOP - 4})`);
  warps.forEach((warp, i) => {
    const [block, of] = warp.split("|");
    svg.append("text").attr({x: 0, y: TOP + i * LINE + 14, fill: "currentColor"}).text(`block ${block}, warp ${of}`);
  });
  const events =
      svg.append("g").attr("clip-path", "url(#stretch)").selectAll("rect").data(rows).enter().append("rect").attr({
        y: (row) => TOP + warps.indexOf(`${row.block}|${row.warp}`) * LINE + (lasts(row) ? 3 : 0),
        height: (row) => lasts(row) ? LINE - 6 : LINE - 2,
        fill: (row) => kindColour(row.kind, dark)
      });
  events.on("mouseenter", (row) => say(row));
  const draw = () => {
    events.attr({x: (row) => x(+row.begin), width: (row) => Math.max(1.5, x(+row.end) - x(+row.begin))});
    axis.call(d3.svg.axis().scale(x).orient("top").ticks(Math.max(3, width / 160)).tickSize(3));
    axis.selectAll("path").attr({fill: "none", stroke: "currentColor"});
    axis.selectAll("text").attr("fill", "currentColor");
  };
  const zoom = d3.behavior.zoom().x(x).scaleExtent([1, 200]).on("zoom", draw);
  svg.call(zoom);
  draw();
  holder.replaceChildren(svg.node());
  // Along a warp, and to what another warp does at that time. A file holds events before and after the stretch as well.
  const shown =
      rows.filter((row) => +row.end >= first && +row.begin <= last).sort((a, b) => a.begin - b.begin || a.end - b.end);
  const lanes =
      warps.map((warp) => shown.filter((row) => `${row.block}|${row.warp}` === warp)).filter((lane) => lane.length);
  let lane = 0, chosen = -1;
  holder.addEventListener("keydown", (key) => {
    const along = {ArrowLeft: -1, ArrowRight: 1}[key.key], across = {ArrowUp: -1, ArrowDown: 1}[key.key];
    if ((!along && !across) || !lanes.length || key.altKey || key.ctrlKey || key.metaKey) return;
    key.preventDefault();
    if (chosen < 0) {
      chosen = 0;
    } else if (along) {
      chosen = Math.max(0, Math.min(lanes[lane].length - 1, chosen + along));
    } else if (lanes[lane + across]) {
      const clock = +lanes[lane][chosen].begin;
      lane += across;
      chosen = Math.max(0, d3.bisector((row) => +row.begin).right(lanes[lane], clock) - 1);
    }
    const row = lanes[lane][chosen], place = x(Math.max(first, +row.begin));
    if (place < LEFT || place > width - RIGHT) { // of a chart that was zoomed
      zoom.translate([zoom.translate()[0] + (LEFT + width - RIGHT) / 2 - place, 0]);
      draw();
    }
    events.classed("chosen", (it) => it === row);
    say(row);
  });
  return (factor) => {
    const middle = (LEFT + width) / 2;
    const scale = Math.max(1, Math.min(200, zoom.scale() * factor));
    const shift = scale === 1 ? 0 : middle - ((middle - zoom.translate()[0]) * scale) / zoom.scale();
    zoom.scale(scale).translate([shift, 0]);
    draw();
  };
}

views.timelines = (none, values) => {
  const files = timelineFiles();
  if (!files.length) return [el("h1", {}, "Timelines"), el("p", {}, "No timelines have been recorded.")];
  const ofStep = values.step ? timelineFiles(values.step) : [];
  const file = files.includes(values.file) ? values.file : ofStep[0] || files[0];
  const rows = table(file).filter((row) => row.begin !== "" && row.end !== "");
  const kinds = [...new Set(rows.map((row) => row.kind))].sort();
  // Arrow keys are the chart's own also where a screen reader has a use for them, which then reads what the event is.
  const holder = el("div", {
    class: "timeline",
    tabindex: "0",
    role: "application",
    "aria-label": "events of the warps: the left and right arrow keys go along a warp, up and down to another warp"
  });
  const words_ = el("p", {role: "status", class: "note"},
      "Point at an event to read what it is, or go from one to the next with the arrow keys once the chart has the focus.");
  const say = (row) => {
    words_.replaceChildren(
        `block ${row.block}, warp ${row.warp}: ${row.kind.replace(/_/g, " ")}, clocks ${row.begin} to ${row.end}` +
        (row.key_block ? `, key block ${row.key_block}` : "") + (row.file ? `, ${row.file}:${row.line}` : ""));
  };
  let zoom = () => {};
  requestAnimationFrame(() => { zoom = drawTimeline(holder, rows, say); });
  const name = (path) => {
    const row = table(path)[0];
    const gpu = path.split("/").slice(-2)[0]; // the folder of its record
    const mask = row.causal === "1" ? ", causal" : "";
    return `${readable(row.step)}, head_dim ${row.head_dim}, ${row.dtype}${mask}, ${gpu}`;
  };
  const clocks = (kind) =>
      rows.filter((row) => row.kind === kind).reduce((total, row) => total + (row.end - row.begin), 0);
  return [
    el("h1", {}, "Timelines"),
    el("p", {},
        "What each warp of one multiprocessor did during a few key blocks, in clocks. Turn the wheel over the chart to zoom, and drag to move."),
    el("div", {class: "controls"},
        select("Recording", files.map((path) => [path, name(path)]), file, (path) => setValues({file: path, step: ""}),
            "file"),
        button("Zoom in", () => zoom(2)), button("Zoom out", () => zoom(0.5))),
    el("p", {class: "kinds"},
        kinds.map((kind) => el("span", {class: "contender"},
                      el("span", {class: "swatch", style: `background:${kindColour(kind, isDark())}`}),
                      kind.replace(/_/g, " ")))),
    holder,
    words_,
    el("table", {class: "numbers"}, el("thead", {}, el("tr", {}, ["event", "times",
      "clocks, all warps together"].map((text, i) => el("th", {scope: "col", class: i ? "number" : null}, text)))),
        el("tbody", {},
            kinds.map((kind) => el("tr", {"data-kind": kind}, el("th", {scope: "row"}, kind.replace(/_/g, " ")),
                          el("td", {class: "number"}, String(rows.filter((row) => row.kind === kind).length)),
                          el("td", {class: "number"}, String(clocks(kind))))))),
    el("p", {class: "note"},
        `${name(file)}, batch ${rows[0].batch}, heads ${rows[0].heads}, seq ${rows[0].seq_q}. ` +
            (rows[0].commit ? origin([rows[0]]) + "." : "")),
  ];
};
