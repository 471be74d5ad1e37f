// Drawings inside the cells of tables: intervals to one scale for each column, and bars of pulls.

import { el, number, span, svg } from "./dom.js";
import { extent } from "./chart.js";
import { cls, shape } from "./status.js";

const WIDE = 120, TALL = 15; // of the drawing, which is stretched to its cell

// The scale of a column, from all its intervals.
export const columnScale = (ranges) => extent(ranges.filter((r) => r), 0.03);

export function interval(range, status, [low, high], words = true) {
  if (!range || range[1] === null) return el("span", { class: "soft" }, "–");
  const at = (v) => 4 + (v - low) / (high - low || 1) * (WIDE - 8), [a, m, b] = range;
  const left = a === null || a < low, right = b === null || b > high, y = TALL / 2;
  const line = (x1, x2, open) => svg("line", { class: `range stroke ${cls(status)}${open ? " open" : ""}`, x1, x2, y1: y, y2: y });
  const drawn = svg("svg", { class: "interval", viewBox: `0 0 ${WIDE} ${TALL}`, preserveAspectRatio: "xMinYMid meet", role: "img", "aria-label": `${number(m)}, between ${number(a, 3)} and ${number(b, 3)}` },
    svg("line", { class: "track", x1: 2, x2: WIDE - 2, y1: y, y2: y }),
    line(left ? 2 : at(a), at(m), left), line(at(m), right ? WIDE - 2 : at(b), right),
    shape(status, { transform: `translate(${at(m)} ${y}) scale(.85)` }));
  return words ? el("div", {}, drawn, el("span", { class: "interval-text" }, `${number(m, 3)} (${span(a, b)})`)) : drawn;
}

export function pullBar(pulls, most) {
  return svg("svg", { class: "pull-bar", "aria-hidden": "true", preserveAspectRatio: "none", viewBox: "0 0 100 10" },
    svg("rect", { class: "ground", width: 100, height: 10, rx: 2 }), svg("rect", { width: 100 * pulls / Math.max(1, most), height: 10, rx: 2 }));
}

// Headings that sort: a click sorts, a second one turns the order round.
export function sortable(table, columns, sort, down, choose) {
  const row = el("tr", {}, columns.map(({ key, label, right, title, first = "ascending" }) => {
    const active = key === sort, order = active ? (down ? (first === "ascending" ? "descending" : "ascending") : first) : null;
    const text = key ? el("button", { type: "button", class: "sort", "data-key": `sort-${key}`, title: title ?? null, click: () => choose(key, active ? !down : false) }, label) : label;
    return el("th", { scope: "col", class: right ? "number" : null, "aria-sort": order, title: key ? null : title }, text);
  }));
  const held = document.activeElement, key = table.tHead.contains(held) ? held.dataset.key : undefined;
  table.tHead.replaceChildren(row);
  if (key) table.tHead.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
}
