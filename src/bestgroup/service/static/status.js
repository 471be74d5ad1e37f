// A status has a colour, a shape and a word: a disc is in, a diamond undecided, a cross out, a ring not needed.

import { el, number, svg } from "./dom.js";

export const STATUSES = ["in", "out", "not needed", "undecided"];
export const PLACES = ["in", "undecided", "not needed", "out"]; // what the plane's numbers stand for
export const cls = (status) => status.replace(" ", "-");

const SHAPES = {
  in: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z", undecided: "M0 -5L5 0L0 5L-5 0Z",
  out: "M-4 -4L4 4M-4 4L4 -4", "not needed": "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z",
};

export const shape = (status, attributes = {}) => svg("path", { d: SHAPES[status], ...attributes, class: `mark ${cls(status)} ${attributes.class ?? ""}` });

export const icon = (status) => svg("svg", { viewBox: "-7 -7 14 14", "aria-hidden": "true" }, shape(status));
export const badge = (status) => el("span", { class: `status ${cls(status)}` }, icon(status), status);

// Who proved a status.
export function provenBy(row, algorithm) {
  if (row.by === "algorithm") return row.since === null || row.since === undefined ? algorithm : `${algorithm}, after ${number(row.since)} pulls`;
  return row.by === "observations" ? "the observations alone" : "";
}

// Shares of a whole, side by side.
export function bar(counts, thin = false) {
  const all = STATUSES.reduce((sum, s) => sum + counts[s], 0) || 1;
  let at = 0;
  const parts = STATUSES.filter((s) => counts[s]).map((s) => {
    const wide = counts[s] / all * 100, part = svg("rect", { class: `share ${cls(s)}`, x: `${at}%`, width: `${wide}%`, y: 0, height: "100%" });
    at += wide;
    return part;
  });
  const words = STATUSES.filter((s) => counts[s]).map((s) => `${counts[s]} ${s}`).join(", ");
  return svg("svg", { class: `share-bar${thin ? " thin" : ""}`, role: "img", "aria-label": words || "no groups" }, ...parts);
}
