// The figures: what the numbers of a view look like. A mark has a colour and a shape.

import { number, span } from "./dom.js";
import { axis, faded, plain, short } from "./plot.js";

const STATUS = { i: "in", u: "undecided", o: "out" };
const SYMBOLS = { in: "circle", undecided: "diamond", out: "x" };
const FAR = 1e3; // an end that is not finite lies so many times the range away

export const titled = (d) => `${d.name} (${d.direction}${d.unit ? `, ${d.unit}` : ""})`;

// The range of the estimates and of the ends that are not many times wider than all estimates.
function extent(ranges) {
  const middles = ranges.map((r) => r[1]).filter((v) => v !== null);
  if (!middles.length) return [0, 1];
  let low = Math.min(...middles), high = Math.max(...middles);
  const wide = high - low || Math.abs(high) || 1;
  for (const [a, , b] of ranges) {
    if (a !== null && a >= low - wide) low = Math.min(low, a);
    if (b !== null && b <= high + wide) high = Math.max(high, b);
  }
  const pad = (high - low || 1) * 0.06;
  return [low - pad, high + pad];
}

// Limits instead of a range: a range that somebody has zoomed to stays when the limits move.
const within = ([low, high]) => ({ autorange: true, autorangeoptions: { minallowed: low, maxallowed: high } });

function bounded([low, high]) {
  const far = FAR * (high - low);
  return (a, b) => [a ?? low - far, b ?? high + far];
}

// A point is [label, letter, x, x low, x high, y, y low, y high] with the ends of its group's box.
export function plane(view, dims, open) {
  const { x, y, front } = view;
  const points = view.points.filter((p) => p[2] !== null && p[5] !== null);
  const across = extent(points.map((p) => [p[3], p[2], p[4]])), up = extent(points.map((p) => [p[6], p[5], p[7]]));
  const of = Object.fromEntries(["in", "undecided", "out"].map((s) => [s, points.filter((p) => STATUS[p[1]] === s)]));
  const label = `Estimates and boxes of the groups, ${x} across and ${y} up: ` +
    `${of.in.length} groups in, ${of.undecided.length} undecided, ${of.out.length} out`;
  const title = (name) => plain(titled(dims.find((d) => d.name === name)));
  const order = ["out", "undecided", "in"]; // groups that are out lie below the others
  return (colours) => ({
    label,
    open: (point) => { if (point.customdata) open(point.customdata); },
    data: [
      ...order.map((s) => boxes(of[s], s, colours, points.length > 200, bounded(across), bounded(up))),
      { type: "scatter", uid: "front", name: "front", mode: "lines", x: front.map((c) => c[0]), y: front.map((c) => c[1]),
        line: { shape: "hv", color: colours.front, width: 2 }, hoverinfo: "skip" },
      ...order.map((s) => marks(of[s], s, colours, points.length, view, across)),
    ],
    layout: {
      xaxis: { ...axis(colours, title(x)), ...within(across) },
      yaxis: { ...axis(colours, title(y)), ...within(up) },
      legend: { orientation: "h", x: 0, y: 1.01, yanchor: "bottom", font: { color: colours.soft }, traceorder: "reversed" },
      margin: { l: 20, r: 20, t: 40, b: 20 }, uirevision: JSON.stringify([x, y]),
    },
  });
}

// All boxes of a status are one path with gaps: a thousand shapes would be slow.
function boxes(points, status, colours, many, acrossEnds, upEnds) {
  const x = [], y = [];
  for (const p of points) {
    const [a, b] = acrossEnds(p[3], p[4]), [c, d] = upEnds(p[6], p[7]);
    x.push(a, b, b, a, a, null);
    y.push(c, c, d, d, c, null);
  }
  const opacity = many ? 0.1 : status === "out" ? 0.4 : 0.8;
  return {
    type: "scatter", mode: "lines", uid: `boxes-${status}`, x, y, legendgroup: status, showlegend: false, hoverinfo: "skip",
    fill: many || status === "out" ? "none" : "toself", fillcolor: faded(colours[status], 0.1),
    line: { color: faded(colours[status], opacity), width: 1, dash: status === "undecided" && !many ? "dash" : "solid", simplify: false },
  };
}

function marks(points, status, colours, all, view, [low, high]) {
  const named = all <= 12;
  const words = (p) => [p[0], status, `${view.x} ${number(p[2])} (${span(p[3], p[4])})`, `${view.y} ${number(p[5])} (${span(p[6], p[7])})`];
  return {
    type: "scatter", mode: named ? "markers+text" : "markers", uid: status, name: status, legendgroup: status, showlegend: true,
    x: points.map((p) => p[2]), y: points.map((p) => p[5]), customdata: points.map((p) => p[0]),
    hovertext: points.map((p) => words(p).map(plain).join("<br>")), hoverinfo: "text",
    text: named ? points.map((p) => plain(short(p[0], 24))) : undefined, textfont: { color: colours.ink },
    // To the side where there is room for it.
    textposition: points.map((p) => (p[2] > (low + high) / 2 ? "top left" : "top right")),
    marker: { symbol: SYMBOLS[status], size: all > 200 ? 6 : 10, color: colours[status] }, cliponaxis: false,
  };
}

const rowsHeight = (rows, edges) => Math.max(rows, 3) * 20 + edges;

function names(colours, labels) {
  const narrow = window.innerWidth < 640;
  return { ...axis(colours, ""), autorange: "reversed", fixedrange: true, showgrid: false, ticks: "",
    tickmode: "array", tickvals: labels.map((_, k) => k), ticktext: labels.map((text) => plain(short(text, narrow ? 16 : 28))) };
}

// Intervals of one dim, a row of the table each.
export function intervals(rows, dim, open) {
  const ends = rows.map((row) => row.efficiency[dim.name]), scale = extent(ends), limits = bounded(scale);
  return (colours) => ({
    height: rowsHeight(rows.length, 75),
    label: `Intervals of ${dim.name} for ${rows.length} groups, with the estimates; the table above has the same numbers`,
    open: (point) => open(point.customdata),
    data: ["in", "undecided", "out"].map((status) => {
      const some = rows.map((row, k) => [row, k]).filter(([row, k]) => row.status === status && ends[k][1] !== null);
      const sides = some.map(([, k]) => limits(ends[k][0], ends[k][2]));
      const middle = some.map(([, k]) => ends[k][1]);
      return {
        type: "scatter", mode: "markers", name: status, x: middle, y: some.map(([, k]) => k), customdata: some.map(([row]) => row.group),
        error_x: { type: "data", symmetric: false, color: colours[status], thickness: 3, width: 0,
          array: sides.map((s, i) => s[1] - middle[i]), arrayminus: sides.map((s, i) => middle[i] - s[0]) },
        marker: { symbol: SYMBOLS[status], size: 9, color: colours[status], line: { color: colours.panel, width: 1 } },
        hoverinfo: "text",
        hovertext: some.map(([row, k]) => [short(row.group, 60), status, `${dim.name} ${number(ends[k][1])} (${span(ends[k][0], ends[k][2])})`].map(plain).join("<br>")),
      };
    }),
    layout: {
      xaxis: { ...axis(colours, plain(titled(dim))), ...within(scale) },
      yaxis: { ...names(colours, rows.map((row) => row.group)), range: [rows.length - 0.5, -0.5], autorange: false },
      margin: { l: 10, r: 15, t: 12, b: 10 }, showlegend: false, uirevision: dim.name,
    },
  });
}

// Pulls, a bar an arm.
export function arms(rows) {
  const counts = rows.map((row) => row.pulls);
  return (colours) => ({
    height: rowsHeight(rows.length, 20),
    label: `Pulls of the ${rows.length} arms with the most; the table below has the same numbers`,
    data: [{
      type: "bar", orientation: "h", name: "pulls", x: counts, y: rows.map((_, k) => k), marker: { color: faded(colours.in, 0.7) },
      text: counts.map((count) => number(count)), textposition: "outside", textfont: { color: colours.soft }, cliponaxis: false,
      hoverinfo: "text", hovertext: rows.map((row) => plain(`${row.arm} of ${row.group}: ${number(row.pulls)}`)),
    }],
    layout: {
      xaxis: { visible: false, range: [0, Math.max(...counts) * 1.1], fixedrange: true }, // the bars say how many
      yaxis: { ...names(colours, rows.map((row) => `${row.arm} (${row.group})`)), range: [rows.length - 0.5, -0.5], autorange: false },
      margin: { l: 10, r: 40, t: 10, b: 10 }, bargap: 0.25, showlegend: false, uirevision: "arms",
    },
  });
}
