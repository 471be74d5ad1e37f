// Elements of the page. Names of users only ever become text nodes.

const SVG = "http://www.w3.org/2000/svg";
export const $ = (id) => document.getElementById(id);
export const replace = (node, children) => node.replaceChildren(...children);

export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false)
      node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children) if (child !== null) node.append(child);
  return node;
}

export function number(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (Math.abs(value) >= 1e5 || Number.isInteger(value)) return Math.round(value).toLocaleString("en");
  return Number(value.toPrecision(digits)).toLocaleString("en", { maximumSignificantDigits: digits });
}

export const span = (low, high) => `${number(low, 3)} … ${number(high, 3)}`;

export function duration(s) {
  if (s < 90) return `${Math.max(1, Math.round(s))} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  return s < 172800 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86400)} days`;
}

// A status has a colour, a shape and a word: a disc is in, a diamond undecided, a cross out.
const SHAPES = {
  in: "M3 7a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
  undecided: "M7 2L12 7L7 12L2 7Z",
  out: "M3 3L11 11M3 11L11 3",
};

export function badge(status) {
  const icon = svg("svg", { class: "badge", viewBox: "0 0 14 14", "aria-hidden": "true" },
    svg("path", { class: `mark ${status}`, d: SHAPES[status] }));
  return el("span", { class: `status ${status}` }, icon, status);
}

// A table of texts; the columns in `right` hold numbers.
export function table(head, rows, right = []) {
  const style = (k) => (right.includes(k) ? { class: "number" } : {});
  return el("table", {},
    el("thead", {}, el("tr", {}, ...head.map((h, k) => el("th", { scope: "col", ...style(k) }, h)))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell, k) => el("td", style(k), cell))))));
}
