"use strict";
// A chart of lines, drawn as SVG with d3's scales and axes. Colours stand in the elements themselves, so that an
// exported file looks as on the page.

// Steps go round the circle of hues in their order, and neighbours differ in lightness and shape; peers are grey and
// dotted.
function lineColour(name, order, dark) {
  if (!isStep(name)) return dark ? "#b5b9c0" : "#5b6068";
  const d3 = library("d3", "d3");
  const at = order.indexOf(name.replace(OWN, ""));
  if (at < 0) return dark ? "#c7a58e" : "#8a6248"; // a step that the lab no longer has
  return d3.hcl(290 - (310 * at) / Math.max(1, order.length - 1), 62, (dark ? 66 : 42) + (at % 2 ? 9 : 0)).toString();
}

function lineShape(name, order) {
  const shapes = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross"];
  const at = order.indexOf(name.replace(OWN, ""));
  return shapes[(at >= 0 ? at : Object.keys(PEERS).indexOf(name) + 1) % shapes.length];
}

// Beside the name of a line: a piece of it with its mark. It tells lines of one colour, or of colours that look alike,
// apart.
function lineSign(name, order, dark) {
  const d3 = library("d3", "d3");
  const colour = lineColour(name, order, dark);
  const svg = d3.select(document.createElementNS("http://www.w3.org/2000/svg", "svg"))
                  .attr({class: "line-sign", width: 26, height: 14, "aria-hidden": "true"});
  svg.append("path").attr({d: "M0,7H26", stroke: colour, "stroke-width": 2, "stroke-dasharray": lineDash(name)});
  svg.append("path").attr(
      {d: d3.svg.symbol().type(lineShape(name, order)).size(50)(), transform: "translate(13,7)", fill: colour});
  return svg.node();
}

function lineDash(name) { return isOwn(name) ? "7 3" : isStep(name) ? null : "2 3"; }

// draw({series: [{name, points: [{x, y, low, high, ...}]}], xLog, yLog, xText, yText, intervals, width, height, dark,
// order}) returns the element. `over` is called with the x under the pointer, or null.
function drawChart(it, over) {
  const d3 = library("d3", "d3");
  const ink = it.dark ? "#e4e6ea" : "#1d2126", faint = it.dark ? "#3a3f47" : "#dcdfe4",
        paper = it.dark ? "#16181c" : "#ffffff";
  const narrow = it.width < 560;
  const room = {top: 12, right: narrow ? 12 : 150, bottom: 46, left: 58};
  const wide = it.width - room.left - room.right, high = it.height - room.top - room.bottom;
  const points = it.series.flatMap((line) => line.points);
  const xs = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b);
  const ends = [d3.min(points, (point) => point.y), d3.max(points, (point) => it.intervals ? point.high : point.y)];
  const x =
      (it.xLog ? d3.scale.log() : d3.scale.linear()).domain([xs[0] || 1, xs[xs.length - 1] || 10]).range([0, wide]);
  if (xs.length === 1) x.domain([xs[0] / 2, xs[0] * 2]);
  const y = (it.yLog ? d3.scale.log() : d3.scale.linear())
                .domain(it.yLog ? [ends[0] / 1.2, ends[1] * 1.2] : [0, ends[1] * 1.05])
                .range([high, 0]);
  const svg = d3.select(document.createElementNS("http://www.w3.org/2000/svg", "svg")).attr({
    xmlns: "http://www.w3.org/2000/svg",
    width: it.width,
    height: it.height,
    viewBox: `0 0 ${it.width} ${it.height}`,
    role: "img",
    "aria-label": it.title,
    "font-family": "sans-serif",
    "font-size": 12
  });
  svg.append("rect").attr({width: it.width, height: it.height, fill: paper});
  const plot = svg.append("g").attr("transform", `translate(${room.left},${room.top})`);
  const yTicks = it.yLog ? y.ticks().filter((value) => /^[125]/.test(value.toExponential())) : y.ticks(6);
  for (const value of yTicks) {
    plot.append("line").attr({x1: 0, x2: wide, y1: y(value), y2: y(value), stroke: faint});
    plot.append("text")
        .attr({x: -8, y: y(value), dy: "0.35em", "text-anchor": "end", fill: ink})
        .text(String(+value.toPrecision(6)));
  }
  let last = -100;
  for (const value of xs) {
    const place = x(value);
    plot.append("line").attr({x1: place, x2: place, y1: high, y2: high + 5, stroke: ink});
    if (place - last < 44) continue; // the numbers would touch
    last = place;
    plot.append("text").attr({x: place, y: high + 18, "text-anchor": "middle", fill: ink}).text(String(value));
  }
  plot.append("line").attr({x1: 0, x2: wide, y1: high, y2: high, stroke: ink});
  svg.append("text")
      .attr({x: room.left + wide / 2, y: it.height - 8, "text-anchor": "middle", fill: ink})
      .text(it.xText);
  svg.append("text")
      .attr({transform: `translate(13,${room.top + high / 2}) rotate(-90)`, "text-anchor": "middle", fill: ink})
      .text(it.yText);
  const path = d3.svg.line().x((point) => x(point.x)).y((point) => y(point.y));
  const labels = [];
  for (const line of it.series) {
    const colour = lineColour(line.name, it.order, it.dark);
    const group = plot.append("g").attr("data-series", line.name);
    if (it.intervals) {
      for (const point of line.points) {
        group.append("line").attr({
          x1: x(point.x),
          x2: x(point.x),
          y1: y(point.low),
          y2: y(point.high),
          stroke: colour,
          "stroke-width": 5,
          "stroke-opacity": 0.35
        });
      }
    }
    group.append("path").attr({
      d: path(line.points),
      fill: "none",
      stroke: colour,
      "stroke-width": 2,
      "stroke-dasharray": lineDash(line.name)
    });
    const mark = d3.svg.symbol().type(lineShape(line.name, it.order)).size(38)();
    for (const point of line.points)
      group.append("path").attr(
          {class: "mark", d: mark, transform: `translate(${x(point.x)},${y(point.y)})`, fill: colour});
    const end = line.points[line.points.length - 1];
    labels.push({text: readable(line.name), at: y(end.y), from: y(end.y), x: x(end.x), colour});
  }
  if (!narrow)
    spreadLabels(labels, high).forEach((label) => {
      plot.append("path").attr({
        d: `M${label.x + 5},${label.from} L${wide + 14},${label.at}`,
        stroke: label.colour,
        "stroke-opacity": 0.5,
        fill: "none"
      });
      plot.append("text").attr({x: wide + 17, y: label.at, dy: "0.35em", fill: label.colour}).text(label.text);
    });
  const cursor = plot.append("line").attr({y1: 0, y2: high, stroke: ink, "stroke-opacity": 0}).attr("class", "cursor");
  if (over) {
    const nearest = (event) => {
      const box = svg.node().getBoundingClientRect();
      const place = ((event.clientX - box.left) * it.width) / box.width - room.left;
      return xs.reduce((best, value) => Math.abs(x(value) - place) < Math.abs(x(best) - place) ? value : best, xs[0]);
    };
    svg.node().addEventListener("pointermove", (event) => {
      const value = nearest(event);
      cursor.attr({x1: x(value), x2: x(value), "stroke-opacity": 0.4});
      over(value, event);
    });
    svg.node().addEventListener("pointerleave", () => {
      cursor.attr("stroke-opacity", 0);
      over(null);
    });
  }
  return svg.node();
}

// Moves labels apart, from the top on, and back up where they would leave the chart.
function spreadLabels(labels, high) {
  const STEP = 14;
  labels.sort((a, b) => a.at - b.at);
  for (let i = 1; i < labels.length; i++) labels[i].at = Math.max(labels[i].at, labels[i - 1].at + STEP);
  let most = high;
  for (let i = labels.length - 1; i >= 0; i--) {
    labels[i].at = Math.min(labels[i].at, most);
    most = labels[i].at - STEP;
  }
  return labels;
}
