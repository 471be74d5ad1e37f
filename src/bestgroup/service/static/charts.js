// The charts: plain SVG, made of elements and attributes, never of text with markup in it.

const SVG = "http://www.w3.org/2000/svg";
export const SHAPES = { i: "in", u: "undecided", o: "out" };

// Return an element; names of users only ever become text nodes.
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  return fill(node, attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
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

// A mark has a colour and a shape: a disc is in, a diamond undecided, a cross out.
export function mark(letter, x, y, r = 4) {
  const name = `mark ${SHAPES[letter]}`;
  if (letter === "i") return svg("circle", { class: name, cx: x, cy: y, r });
  const d = letter === "u"
    ? `M${x} ${y - r * 1.2}L${x + r * 1.2} ${y}L${x} ${y + r * 1.2}L${x - r * 1.2} ${y}Z`
    : `M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}`;
  return svg("path", { class: name, d });
}

export function badge(status) {
  const letter = status[0];
  const icon = svg("svg", { class: "badge", viewBox: "0 0 14 14", "aria-hidden": "true" }, mark(letter, 7, 7));
  return el("span", { class: `status ${status}` }, icon, status);
}

// Round steps between low and high: 1, 2 or 5 times a power of ten.
function ticks(low, high, count = 5) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= raw);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k++) found.push(Number((k * step).toPrecision(10)));
  return found;
}

// The range of the estimates and of the boxes that are not many times wider than all estimates.
function range(points, at) {
  const middles = points.map((p) => p[at]).filter((v) => v !== null);
  if (!middles.length) return [0, 1];
  let low = Math.min(...middles), high = Math.max(...middles);
  const span = high - low || Math.abs(high) || 1;
  for (const p of points) {
    if (p[at + 1] !== null && p[at + 1] > low - span) low = Math.min(low, p[at + 1]);
    if (p[at + 2] !== null && p[at + 2] < high + span) high = Math.max(high, p[at + 2]);
  }
  const pad = (high - low || 1) * 0.05;
  return [low - pad, high + pad];
}

// A point is [label, letter, x, x low, x high, y, y low, y high]; `open(label)` is called on a click.
export function plane(data, directions, open) {
  const width = 640, height = 420, left = 56, right = 12, top = 10, bottom = 44;
  const [x0, x1] = range(data.points, 2), [y0, y1] = range(data.points, 5);
  const px = (v) => left + ((v - x0) / (x1 - x0)) * (width - left - right);
  const py = (v) => height - bottom - ((v - y0) / (y1 - y0)) * (height - top - bottom);
  const counts = { i: 0, u: 0, o: 0 };
  for (const p of data.points) counts[p[1]]++;
  const label = `${data.x} across, ${data.y} up: ${counts.i} groups in, ${counts.u} undecided, ${counts.o} out`;
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label,
    class: data.points.length > 200 ? "chart many" : "chart" });
  for (const v of ticks(x0, x1)) root.append(
    svg("line", { class: "grid", x1: px(v), x2: px(v), y1: top, y2: height - bottom }),
    svg("text", { class: "tick", x: px(v), y: height - bottom + 16, "text-anchor": "middle" }, number(v)));
  for (const v of ticks(y0, y1)) root.append(
    svg("line", { class: "grid", x1: left, x2: width - right, y1: py(v), y2: py(v) }),
    svg("text", { class: "tick", x: left - 6, y: py(v) + 4, "text-anchor": "end" }, number(v)));
  root.append(
    svg("text", { class: "axis", x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, `${data.x} ${directions[data.x]}`),
    svg("text", { class: "axis", x: 14, y: (top + height - bottom) / 2, "text-anchor": "middle",
      transform: `rotate(-90 14 ${(top + height - bottom) / 2})` }, `${data.y} ${directions[data.y]}`));
  const inside = svg("g", { "clip-path": "url(#plot)" });
  root.append(svg("clipPath", { id: "plot" }, svg("rect", { x: left, y: top, width: width - left - right, height: height - top - bottom })), inside);
  // Groups that are out lie below the others.
  const order = [...data.points].sort((a, b) => "oui".indexOf(a[1]) - "oui".indexOf(b[1]));
  for (const p of order) {
    if (p[2] === null || p[5] === null) continue;
    const a = p[3] === null ? left - 5 : px(p[3]), b = p[4] === null ? width : px(p[4]);
    const c = p[7] === null ? -5 : py(p[7]), d = p[6] === null ? height : py(p[6]);
    inside.append(svg("rect", { class: `box ${SHAPES[p[1]]}`, x: a, y: c, width: Math.max(b - a, 0), height: Math.max(d - c, 0) }));
  }
  if (data.front.length) inside.append(svg("path", { class: "front", d: staircase(data.front, px, py) }));
  for (const p of order) {
    if (p[2] === null || p[5] === null) continue;
    const words = `${p[0]}: ${SHAPES[p[1]]}; ${data.x} ${number(p[2])}, ${data.y} ${number(p[5])}`;
    const dot = svg("g", { class: "dot", click: () => open(p[0]) }, mark(p[1], px(p[2]), py(p[5]), data.points.length > 200 ? 2.5 : 4), svg("title", {}, words));
    inside.append(dot);
  }
  if (data.points.length <= 12) for (const p of order) if (p[2] !== null && p[5] !== null)
    root.append(svg("text", { class: "name", x: Math.min(px(p[2]) + 8, width - 70), y: py(p[5]) - 8 }, p[0].slice(0, 24)));
  return root;
}

// From corner to corner by way of the worse of both, so that what lies beyond beats no estimate.
function staircase(front, px, py) {
  let path = "", last = null;
  for (const [x, y] of front) {
    path += last === null ? `M${px(x)} ${py(y)}` : `L${px(x)} ${py(last)}L${px(x)} ${py(y)}`;
    last = y;
  }
  return path;
}

// One interval [low, estimate, high] on the scale [from, to], with its numbers as text.
export function interval(ends, from, to, letter) {
  const [low, middle, high] = ends;
  const at = (v, other) => v === null ? other : Math.max(0, Math.min(120, ((v - from) / (to - from || 1)) * 120));
  const words = `${number(low, 3)} … ${number(high, 3)}`;
  const a = at(low, 0), b = at(high, 120);
  const bar = svg("svg", { class: "interval", viewBox: "0 0 120 12", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("line", { class: "grid", x1: 0, x2: 120, y1: 6, y2: 6 }),
    svg("rect", { class: `bar ${SHAPES[letter]}`, x: a, y: 3, width: Math.max(b - a, 1), height: 6 }),
    middle === null ? null : svg("line", { class: "middle", x1: at(middle), x2: at(middle), y1: 0, y2: 12 }));
  return el("div", { class: "range" }, bar, el("span", {}, words));
}

// Horizontal bars, a row an arm.
export function bars(rows) {
  const most = Math.max(1, ...rows.map((row) => row.pulls));
  const list = el("ul", { class: "bars" });
  for (const row of rows) list.append(el("li", {},
    el("span", { class: "label" }, `${row.arm} (${row.group})`),
    svg("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: "bar plain", x: 0, y: 0, width: (row.pulls / most) * 100, height: 8 })),
    el("span", { class: "count" }, number(row.pulls))));
  return list;
}
