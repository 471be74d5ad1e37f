// The groups in two dims: a mark is an estimate, a box holds the truth, the line is the front of the estimates.

import { $, el, number, replace, span, svg, titled } from "./dom.js";
import { draw, extent, frame, hideTip, keep, pointerAt, put, showTip } from "./chart.js";
import { cls, icon, PLACES, shape } from "./status.js";

const FEW = 14; // groups of which every box is drawn; of more, only those of contenders
const NAMED = 30; // marks that get a name, at most
const CROWD = 300; // contenders; of more, only the boxes of those that are in are drawn
const MANY = 40; // contenders whose boxes are drawn as faint frames
const NEAR = 26; // pixels

let zoom = null; // { key, x, y }: what somebody has dragged a frame around
let near = -1; // the point under the pointer, or chosen by key

const crowded = (points) => points.filter(contends).length > CROWD;
const contends = (point) => PLACES[point.status] === "in" || PLACES[point.status] === "undecided";
const side = (dim) => (dim.direction === "min" ? "low" : "high");

export function showPlane(view, dims, open) {
  const plane = view.plane, key = `${plane.x}/${plane.y}`;
  if (zoom && zoom.key !== key) zoom = null;
  const points = plane.points.filter((p) => p.x[1] !== null && p.y[1] !== null);
  if (near >= points.length) near = -1;
  const holder = $("plane");
  holder.state = { view, plane, dims, open, points, key };
  // An update must not take the chart away from under somebody who drags a frame: it comes when that ends.
  holder.late = Boolean(holder.held);
  if (!holder.held) { draw(holder, paint); tools(holder); }
  showKey(points, plane);
}

function paint(holder) {
  const { plane, dims, points } = holder.state;
  const [dx, dy] = [plane.x, plane.y].map((n) => dims.find((d) => d.name === n));
  const count = (s) => points.filter((p) => PLACES[p.status] === s).length;
  const label = `Estimates and boxes of the groups, ${plane.x} across and ${plane.y} up: ${count("in")} in, ${count("undecided")} undecided, ${count("not needed")} not needed, ${count("out")} out. Arrow keys move from group to group, Enter explains one.`;
  const made = frame(holder, {
    x: { domain: zoom?.x ?? extent(points.map((p) => p.x)), title: titled(dx), better: side(dx) },
    y: { domain: zoom?.y ?? extent(points.map((p) => p.y)), title: titled(dy), better: side(dy) },
    height: holder.clientWidth < 480 ? 320 : 366, label,
  });
  const { root, plot } = made;
  root.setAttribute("tabindex", 0);
  root.setAttribute("role", "application");
  plot.classList.toggle("many", points.filter(contends).length > MANY);
  holder.made = made;
  const drawn = [...points.keys()].sort((a, b) => points[b].status - points[a].status); // those that are out lie below
  const kept = crowded(points) ? (p) => PLACES[p.status] === "in" : contends;
  const boxed = drawn.filter((k) => points.length <= FEW || kept(points[k]));
  for (const k of boxed) plot.append(box(points[k], made, `b${k}`));
  plot.append(front(plane.front, made));
  const over = svg("g", {});
  plot.append(over);
  holder.over = over;
  for (const k of drawn) plot.append(mark(points[k], made, points.length));
  cuts(boxed.map((k) => points[k]), points, made).forEach((node) => root.append(node));
  names(points, made).forEach((node) => root.append(node));
  listen(holder);
  put(holder, root);
  if (near >= 0) point(holder, near);
}

const clamp = (value, [low, high], room) => Math.max(low - room, Math.min(high + room, value));

// An end that is missing lies far outside.
function ends(range, at) {
  const [low, high] = at.domain, far = high - low;
  return [at(clamp(range[0] ?? -Infinity, at.domain, far)), at(clamp(range[2] ?? Infinity, at.domain, far))];
}

function box(p, { sx, sy }, id, near = false) {
  const [a, b] = ends(p.x, sx), [c, d] = ends(p.y, sy);
  return svg("rect", { class: `box ${cls(PLACES[p.status])}${near ? " near" : ""}`, x: a, width: Math.max(1, b - a), y: d, height: Math.max(1, c - d), "data-id": id });
}

function mark(p, { sx, sy }, all) {
  const size = all > 200 ? 0.7 : all > 60 ? 0.9 : 1.15;
  return shape(PLACES[p.status], { class: "point", transform: `translate(${sx(p.x[1])} ${sy(p.y[1])}) scale(${size})` });
}

function front(corners, { sx, sy, inner }) {
  if (!corners.length) return svg("g");
  // From the best in x to the best in y, in steps along the two dims.
  const d = corners.map(([x, y], k) => (k ? `H${sx(x)}V${sy(y)}` : `M${sx(x)} ${sy(y)}`)).join("");
  return svg("path", { class: "front", d });
}

// Triangles at the edge of the plot where a box, or a mark that was zoomed away, goes on beyond it.
function cuts(boxed, points, { sx, sy, inner }) {
  const found = [];
  const at = (x, y, turn, status) => found.push(svg("path", { class: `cut ${cls(status)}`, d: "M-4 3L0 -4L4 3Z", transform: `translate(${x} ${y}) rotate(${turn})` }));
  const inside = (v, [low, high]) => v >= low && v <= high;
  for (const p of boxed) {
    const x = p.x[1], y = p.y[1], s = PLACES[p.status];
    if (!inside(x, sx.domain) || !inside(y, sy.domain)) continue;
    if ((p.x[0] ?? -Infinity) < sx.domain[0]) at(inner.left + 6, sy(y), -90, s);
    if ((p.x[2] ?? Infinity) > sx.domain[1]) at(inner.right - 6, sy(y), 90, s);
    if ((p.y[0] ?? -Infinity) < sy.domain[0]) at(sx(x), inner.bottom - 6, 180, s);
    if ((p.y[2] ?? Infinity) > sy.domain[1]) at(sx(x), inner.top + 6, 0, s);
  }
  return found;
}

// Names where there is room: contenders first, none over another or over a mark of a contender.
function names(points, { sx, sy, inner }) {
  const taken = [], found = [];
  const free = (box) => box[0] >= inner.left && box[2] <= inner.right && box[1] >= inner.top - 6 && box[3] <= inner.bottom &&
    taken.every((t) => box[2] < t[0] || box[0] > t[2] || box[3] < t[1] || box[1] > t[3]);
  const order = [...points].sort((a, b) => a.status - b.status);
  const shown = (p) => sx(p.x[1]) >= inner.left && sx(p.x[1]) <= inner.right && sy(p.y[1]) >= inner.top && sy(p.y[1]) <= inner.bottom;
  const contenders = order.filter(contends).filter(shown);
  const wanted = (points.length <= FEW ? order : contenders.length <= NAMED ? contenders : contenders.filter((p) => PLACES[p.status] === "in")).filter(shown).slice(0, NAMED);
  for (const p of wanted) taken.push([sx(p.x[1]) - 5, sy(p.y[1]) - 5, sx(p.x[1]) + 5, sy(p.y[1]) + 5]);
  for (const p of wanted) {
    const text = p.group.length > 24 ? `${p.group.slice(0, 23)}…` : p.group, wide = text.length * 6.9, x = sx(p.x[1]), y = sy(p.y[1]);
    for (const [dx, dy, anchor] of [[8, -7, "start"], [-8, -7, "end"], [8, 16, "start"], [-8, 16, "end"]]) {
      const left = anchor === "start" ? x + dx : x + dx - wide, area = [left, y + dy - 11, left + wide, y + dy + 3];
      if (!free(area)) continue;
      taken.push(area);
      found.push(svg("text", { class: "label", x: x + dx, y: y + dy, "text-anchor": anchor }, text));
      break;
    }
  }
  return found;
}

// ---- pointing, choosing, zooming ----------------------------------------------------------------

function nearest(holder, x, y) {
  const { sx, sy } = holder.made;
  let best = -1, least = NEAR ** 2;
  holder.state.points.forEach((p, k) => {
    const far = (sx(p.x[1]) - x) ** 2 + (sy(p.y[1]) - y) ** 2;
    if (far < least) { least = far; best = k; }
  });
  return best;
}

// Shows the box of a group, who beats it, and whom it beats.
function point(holder, k) {
  near = k;
  const { points, plane, view } = holder.state, p = points[k], made = holder.made;
  const winner = points.find((q) => q.number === p.beaten_by), losers = points.filter((q) => q.beaten_by === p.number);
  replace(holder.over, [box(p, made, "near", true), winner ? box(winner, made, "winner", true) : null,
    winner ? arrow(p, winner, made) : null, ...losers.slice(0, 60).map((q) => arrow(q, p, made))]);
  const lines = [p.group, PLACES[p.status], `${plane.x} ${number(p.x[1])} (${span(p.x[0], p.x[2])})`, `${plane.y} ${number(p.y[1])} (${span(p.y[0], p.y[2])})`];
  if (winner) lines.push(`${winner.group} ${p.sure ? "is" : "seems"} better in every dim`);
  if (losers.length) lines.push(`${losers.every((q) => q.sure) ? "" : "seems "}better in every dim than ${losers.length === 1 ? losers[0].group : `${losers.length} groups`}`);
  showTip(holder, made.sx(p.x[1]) * holder.clientWidth / made.width, made.sy(p.y[1]), lines);
}

// From a group to one that is better.
function arrow(from, to, { sx, sy }) {
  const [x1, y1, x2, y2] = [sx(from.x[1]), sy(from.y[1]), sx(to.x[1]), sy(to.y[1])], long = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [ux, uy] = [(x2 - x1) / long, (y2 - y1) / long], [ex, ey] = [x2 - ux * 9, y2 - uy * 9];
  return svg("g", {}, svg("line", { class: "beats", x1, y1, x2: ex, y2: ey }),
    svg("path", { class: "beats-head", d: "M0 0L-8 -3.5L-8 3.5Z", transform: `translate(${ex + ux * 2} ${ey + uy * 2}) rotate(${Math.atan2(uy, ux) * 180 / Math.PI})` }));
}

function leave(holder) {
  near = -1;
  holder.over.replaceChildren();
  hideTip(holder);
}

function listen(holder) {
  const { root, inner, sx, sy } = holder.made;
  const coarse = matchMedia("(pointer: coarse)").matches; // a finger scrolls the page, and zooms nothing
  let from = null, zone = null;
  const within = (x, y) => [Math.max(inner.left, Math.min(inner.right, x)), Math.max(inner.top, Math.min(inner.bottom, y))];
  const release = () => {
    from = zone = null;
    holder.held = false;
    if (!holder.late) return;
    holder.late = false;
    paint(holder);
    tools(holder);
  };
  root.addEventListener("pointerdown", (event) => {
    if (event.button || coarse) return;
    from = within(...pointerAt(root, event));
    holder.held = true;
    root.setPointerCapture(event.pointerId);
  });
  root.addEventListener("pointermove", (event) => {
    const at = pointerAt(root, event);
    if (from && Math.hypot(at[0] - from[0], at[1] - from[1]) > 6) {
      leave(holder);
      const [x, y] = within(...at);
      zone ??= root.appendChild(svg("rect", { class: "zone" }));
      for (const [name, value] of Object.entries({ x: Math.min(x, from[0]), y: Math.min(y, from[1]), width: Math.abs(x - from[0]), height: Math.abs(y - from[1]) })) zone.setAttribute(name, value);
    } else if (!from) {
      const k = nearest(holder, ...at);
      if (k !== near) { if (k < 0) leave(holder); else point(holder, k); }
      root.classList.toggle("over", k >= 0);
    }
  });
  root.addEventListener("pointerup", (event) => {
    if (zone) {
      const at = within(...pointerAt(root, event)), xs = [from[0], at[0]].sort((a, b) => a - b), ys = [from[1], at[1]].sort((a, b) => b - a);
      if (xs[1] - xs[0] > 8 && ys[0] - ys[1] > 8) zoom = { key: holder.state.key, x: xs.map(sx.back), y: ys.map(sy.back) };
      holder.late = true;
    } else {
      const k = nearest(holder, ...pointerAt(root, event));
      if (k >= 0) holder.state.open(holder.state.points[k].number, holder.state.points[k].group);
    }
    release();
  });
  root.addEventListener("lostpointercapture", release);
  root.addEventListener("pointerleave", () => { if (!from) leave(holder); });
  root.addEventListener("dblclick", () => { zoom = null; paint(holder); tools(holder); });
  root.addEventListener("blur", () => leave(holder));
  root.addEventListener("keydown", (event) => step(holder, event));
}

// From group to group by key: across the plot, from left to right.
function step(holder, event) {
  const { points, open } = holder.state, move = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
  if (event.key === "Escape" && zoom) { zoom = null; paint(holder); tools(holder); return; }
  if (event.key === "Enter" && near >= 0) { open(points[near].number, points[near].group); return; }
  if (!move || !points.length) return;
  event.preventDefault();
  const order = [...points.keys()].sort((a, b) => points[a].x[1] - points[b].x[1]);
  const at = order.indexOf(near);
  point(holder, order[at < 0 ? 0 : (at + move + order.length) % order.length]);
}

function tools(holder) {
  const bar = holder.querySelector(".chart-tools") ?? holder.appendChild(el("div", { class: "chart-tools" }));
  replace(bar, [zoom ? el("button", { type: "button", click: () => { zoom = null; paint(holder); tools(holder); } }, "Whole plane") : null,
    el("button", { type: "button", class: "icon", title: "Keep the chart as a file", "aria-label": "Keep the chart as SVG", click: () => keep(holder.querySelector("svg"), "bestgroup-plane.svg") }, "⤓")]);
}

function showKey(points, plane) {
  const line = (children) => svg("svg", { viewBox: "0 0 22 12", "aria-hidden": "true" }, children);
  const there = PLACES.filter((s, k) => points.some((p) => p.status === k));
  replace($("plane-key"), [...there.map((s) => el("span", {}, icon(s), s)),
    el("span", {}, line([svg("path", { class: "front", d: "M1 10H11V2H21" })]), "front of the estimates"),
    el("span", {}, line([svg("rect", { class: "box in", x: 2, y: 1, width: 18, height: 10 })]), points.length <= FEW ? "box that holds the truth" : crowded(points) ? "box of a group that is in; others on hover" : "box of a group that is in or undecided; others on hover"),
    el("span", {}, line([svg("path", { class: "cut", d: "M7 9L11 2L15 9Z" })]), "goes on"),
    plane.left_out ? el("span", {}, `${number(plane.left_out)} groups that are out are not drawn`) : null]);
}
