// Intervals of one number for many groups, the best on top: weighted worth, or the only dim there is.

import { number, span, svg } from "./dom.js";
import { draw, extent, frame, hideTip, pointerAt, put, showTip } from "./chart.js";
import { cls, shape } from "./status.js";

const ROW = 24;

// `rows` are { group, status, range }; `better` says which end is the good one.
export function showDots(holder, rows, { title, better, label, open }) {
  holder.state = { rows, title, better, label, open };
  draw(holder, paint);
}

function paint(holder) {
  const { rows, title, better, label, open } = holder.state;
  const left = Math.min(210, Math.max(70, 20 + 8 * Math.max(...rows.map((r) => Math.min(24, r.group.length)))));
  const height = Math.max(4, rows.length) * ROW + 58;
  const made = frame(holder, { x: { domain: extent(rows.map((r) => r.range)), title, better }, y: { domain: [rows.length, 0], ticks: [] }, height, label, left });
  const { root, plot, sx, inner } = made, [low, high] = sx.domain;
  const row = (k) => inner.top + (k + 0.5) * (inner.bottom - inner.top) / Math.max(4, rows.length);
  const seen = rows.filter((r) => r.range[1] !== null);
  if (seen.length) plot.append(leaderLine(seen[0], better, sx, inner));
  rows.forEach(({ group, status, range: [a, m, b] }, k) => {
    const y = row(k);
    root.append(svg("text", { class: "label", x: inner.left - 10, y: y + 4, "text-anchor": "end" }, group.length > 24 ? `${group.slice(0, 23)}…` : group));
    if (m === null) return;
    const x1 = sx(Math.max(a ?? low, low)), x2 = sx(Math.min(b ?? high, high));
    plot.append(svg("line", { class: `range-line stroke ${cls(status)}`, x1, x2, y1: y, y2: y }), shape(status, { class: "point", transform: `translate(${sx(m)} ${y}) scale(1.15)` }));
    if (a === null || a < low) plot.append(svg("path", { class: `cut ${cls(status)}`, d: "M-4 3L0 -4L4 3Z", transform: `translate(${inner.left + 6} ${y}) rotate(-90)` }));
    if (b === null || b > high) plot.append(svg("path", { class: `cut ${cls(status)}`, d: "M-4 3L0 -4L4 3Z", transform: `translate(${inner.right - 6} ${y}) rotate(90)` }));
  });
  const under = (event) => { const k = Math.floor((pointerAt(root, event)[1] - inner.top) / (inner.bottom - inner.top) * Math.max(4, rows.length)); return rows[k]; };
  root.addEventListener("pointermove", (event) => {
    const hit = under(event), [x, y] = pointerAt(root, event);
    if (hit) showTip(holder, x, y, [hit.group, hit.status, `${number(hit.range[1])} (${span(hit.range[0], hit.range[2])})`]); else hideTip(holder);
  });
  root.addEventListener("pointerleave", () => hideTip(holder));
  root.addEventListener("click", (event) => { const hit = under(event); if (hit) open(hit.group); });
  put(holder, root);
}

// Where the leader's interval ends on its bad side: what lies beyond it cannot be better.
function leaderLine({ range }, better, sx, inner) {
  const end = better === "low" ? range[2] : range[0];
  if (end === null || end < sx.domain[0] || end > sx.domain[1]) return svg("g");
  return svg("line", { class: "leader", x1: sx(end), x2: sx(end), y1: inner.top, y2: inner.bottom });
}
