// How the study came to where it stands: statuses, forecast and widths, against pulls or time; and the decisions.

import { $, count, el, fillBody, head, moment, number, replace, svg, switcher, ago, visible } from "./dom.js";
import { draw, frame, hideTip, pointerAt, put, showTip, tickText, timeText } from "./chart.js";
import { here, set } from "./place.js";
import { call } from "./service.js";
import { badge, cls, icon, STATUSES } from "./status.js";
import { whyLink } from "./why.js";

const STACK = ["in", "not needed", "out", "undecided"]; // from the ground up

export async function showCourse(signal) {
  const course = await call("course", { signal });
  if (here().view !== "course") return false;
  document.title = visible(`Course of ${$("crumb-name").textContent} – bestgroup`);
  const against = here().against === "time" ? "time" : "pulls", points = course.points;
  switcher($("against"), [["pulls", "Against pulls"], ["time", "Against time"]], against, (value) => set({ against: value === "pulls" ? "" : value }));
  $("course-said").textContent = course.complete ? "" : "The log is being read …";
  $("course-none").hidden = points.length > 0;
  $("course-some").hidden = !points.length;
  if (!points.length) return !course.complete;
  const axis = across(points, against);
  showStatuses(course.steps, axis, course.decisions);
  showForecast(points, axis);
  showWidths(points, axis, course.dims);
  showDecisions(course);
  return !course.complete;
}

// The axis along which things happened, and where a point lies on it.
function across(points, against) {
  const time = against === "time", at = (p) => (time ? p.at : p.pulls);
  const low = time ? at(points[0]) : 0, high = at(points.at(-1));
  return { time, at, domain: [low, high > low ? high + (high - low) * 0.015 : low + 1], title: time ? "time" : "observations" };
}

const xAxis = (axis) => ({ domain: axis.domain, title: axis.title, time: axis.time });
const where = (axis, p) => (axis.time ? `${timeText(p.at, [p.at, p.at])}, ${count(p.pulls, "observation")}` : count(p.pulls, "observation"));

// A line that follows the pointer, with the words of the point it is at.
function inspect(holder, { root, plot, sx, inner }, points, axis, words) {
  const cursor = svg("line", { class: "cursor", y1: inner.top, y2: inner.bottom, visibility: "hidden" });
  plot.append(cursor);
  root.addEventListener("pointermove", (event) => {
    const [x, y] = pointerAt(root, event);
    const point = points.reduce((best, p) => (Math.abs(sx(axis.at(p)) - x) < Math.abs(sx(axis.at(best)) - x) ? p : best));
    const px = sx(axis.at(point));
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, px);
    cursor.setAttribute("visibility", "visible");
    showTip(holder, px, y, [where(axis, point), ...words(point)]);
  });
  root.addEventListener("pointerleave", () => { cursor.setAttribute("visibility", "hidden"); hideTip(holder); });
}

function showStatuses(points, axis, decisions) {
  const holder = $("course-statuses"), all = STATUSES.reduce((sum, s) => sum + points[0].counts[s], 0);
  const used = STACK.filter((s) => points.some((p) => p.counts[s]));
  draw(holder, () => {
    const last = points.at(-1), words = used.map((s) => `${last.counts[s]} ${s}`).join(", ");
    const made = frame(holder, { x: xAxis(axis), y: { domain: [0, all], title: "groups" }, height: 240, label: `Status of the groups over the course; now ${words}` });
    const { plot, root, sx, sy } = made;
    // Statuses hold from one point to the next: steps, not slopes.
    let ground = points.map(() => 0);
    for (const s of used) {
      const roof = ground.map((g, k) => g + points[k].counts[s]);
      plot.append(svg("path", { class: `area ${cls(s)}`, d: `${steps(points, roof, axis, sx, sy)}${steps(points, ground, axis, sx, sy, true)}Z` }));
      ground = roof;
    }
    for (const d of decisions.filter((e) => e.group !== null).slice(-200)) {
      const x = sx(axis.time ? d.at : d.pulls);
      root.append(svg("path", { class: `event mark ${cls(d.kind)}`, d: "M0 -5L3.5 2H-3.5Z", transform: `translate(${x} ${made.inner.top})` }));
    }
    inspect(holder, made, points, axis, (p) => used.map((s) => `${p.counts[s]} ${s}`));
    put(holder, root);
  });
  replace($("course-key"), [...used.map((s) => el("span", {}, icon(s), s)), el("span", {}, svg("svg", { viewBox: "-7 -7 14 14", "aria-hidden": "true" }, svg("path", { class: "event mark in", d: "M0 -5L3.5 2H-3.5Z" })), "a decision")]);
}

function steps(points, levels, axis, sx, sy, back = false) {
  const path = [], xs = points.map((p) => sx(axis.at(p)));
  points.forEach((_, k) => { path.push([k ? xs[k] : sx(axis.domain[0]), sy(levels[Math.max(0, k - 1)])], [xs[k], sy(levels[k])]); });
  path.push([sx(axis.domain[1]), sy(levels.at(-1))]); // what holds now holds on
  if (back) path.reverse();
  return path.map(([x, y], k) => `${k || back ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

function lineOf(points, value, axis, sx, sy) {
  let pen = "M";
  return points.map((p) => {
    const v = value(p);
    if (v === null || v === undefined) { pen = "M"; return ""; }
    const step = `${pen}${sx(axis.at(p)).toFixed(1)} ${sy(v).toFixed(1)}`;
    pen = "L";
    return step;
  }).join("");
}

function showForecast(points, axis) {
  const holder = $("course-forecast"), known = points.filter((p) => p.forecast !== null);
  draw(holder, () => {
    const most = Math.max(1, ...known.map((p) => p.pulls + p.forecast));
    const last = known.at(-1), label = last ? `Forecast over the course; now about ${number(last.forecast)} more` : "No forecast yet";
    const made = frame(holder, { x: xAxis(axis), y: { domain: [0, most * 1.05], title: "observations" }, height: 260, label });
    const { plot, root, sx, sy } = made;
    plot.append(svg("path", { class: "line total", d: lineOf(points, (p) => (p.forecast === null ? null : p.pulls + p.forecast), axis, sx, sy) }),
      svg("path", { class: "line", d: lineOf(points, (p) => p.forecast, axis, sx, sy) }));
    if (last) plot.append(svg("circle", { class: "spot", r: 4.5, cx: sx(axis.at(last)), cy: sy(last.forecast) }));
    inspect(holder, made, points, axis, (p) => [p.forecast === null ? "no forecast" : `about ${tickText(Math.round(p.forecast))} more`, p.forecast === null ? "" : `${tickText(Math.round(p.pulls + p.forecast))} in all`]);
    put(holder, root);
  });
}

function showWidths(points, axis, dims) {
  const holder = $("course-widths");
  if (holder.childElementCount !== Math.min(6, dims.length)) replace(holder, dims.slice(0, 6).map((_, k) => el("div", { id: `width-${k}`, class: "chart" })));
  dims.slice(0, 6).forEach((dim, k) => {
    const own = $(`width-${k}`), width = (p) => p.widths[k] ?? null, seen = points.map(width).filter((w) => w !== null);
    draw(own, () => {
      // The first widths may be many times the later ones, which are what one looks at.
      const sorted = [...seen].sort((a, b) => a - b), most = sorted.length ? Math.min(sorted.at(-1), sorted[Math.floor(sorted.length * 0.6)] * 3) : 1;
      const made = frame(own, { x: xAxis(axis), y: { domain: [0, most * 1.08], title: dim }, height: 190, label: `Median width of the intervals of ${dim} over the course${seen.length ? `; now ${number(seen.at(-1))}` : ""}` });
      made.plot.append(svg("path", { class: "line", d: lineOf(points, width, axis, made.sx, made.sy) }));
      inspect(own, made, points, axis, (p) => [`${dim}: ${width(p) === null ? "no end yet" : number(width(p))}`]);
      put(own, made.root);
    });
  });
}

function showDecisions(course) {
  const made = [...course.decisions].reverse();
  $("decisions-none").hidden = made.length > 0;
  $("decisions").hidden = !made.length;
  head($("decisions"), ["Group", "Decided", "Observations", "When"], [2]);
  const rows = made.map((d) => el("tr", {}, el("th", { scope: "row" }, d.group === null ? "the whole answer" : whyLink(d.group)),
    el("td", {}, d.group === null ? "final" : badge(d.kind)), el("td", { class: "number" }, number(d.pulls)), el("td", { class: "hint", title: d.at === null ? null : moment(d.at) }, d.at === null ? "–" : ago(d.at))));
  if (course.more_decisions) rows.push(el("tr", {}, el("td", { colspan: 4, class: "soft" }, `and ${number(course.more_decisions)} before these`)));
  fillBody($("decisions"), rows);
}
