// What all charts share: scales, ticks, axes, a tip that follows the pointer, and keeping one as SVG.

import { el, replace, svg } from "./dom.js";

const NICE = [1, 2, 2.5, 5, 10];

export function ticks([low, high], wanted) {
  const raw = (high - low) / Math.max(1, wanted), size = 10 ** Math.floor(Math.log10(raw));
  const step = size * NICE.find((n) => n * size >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

export function scale([low, high], [from, to]) {
  const wide = high - low || 1;
  const at = (value) => from + (value - low) / wide * (to - from);
  at.back = (pixel) => low + (pixel - from) / (to - from) * wide;
  at.domain = [low, high];
  return at;
}

// The range of the estimates and of the ends that are not many times wider than all estimates.
export function extent(ranges, pad = 0.06) {
  const middles = ranges.map((r) => r[1]).filter((v) => v !== null);
  if (!middles.length) return [0, 1];
  let low = Math.min(...middles), high = Math.max(...middles);
  const wide = high - low || Math.abs(high) || 1;
  for (const [a, , b] of ranges) {
    if (a !== null && a >= low - wide) low = Math.min(low, a);
    if (b !== null && b <= high + wide) high = Math.max(high, b);
  }
  const room = (high - low || 1) * pad;
  return [low - room, high + room];
}

export const tickText = (value) => (Math.abs(value) >= 1e4 ? new Intl.NumberFormat("en", { notation: "compact" }).format(value) : String(value));

// Times of day, or days if the range is long.
export function timeTicks([low, high], wanted) {
  const steps = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 604800, 2592000, 7776000, 31536000];
  const step = steps.find((s) => (high - low) / s <= wanted) ?? steps.at(-1), away = new Date(low * 1000).getTimezoneOffset() * 60;
  const found = [];
  for (let t = Math.ceil((low - away) / step) * step + away; t <= high; t += step) found.push(t);
  return found;
}

export function timeText(at, [low, high]) {
  const when = new Date(at * 1000);
  if (high - low > 2 * 86400) return when.toLocaleDateString("en", { month: "short", day: "numeric" });
  return when.toLocaleTimeString("en", { hour: "2-digit", minute: "2-digit", second: high - low < 600 ? "2-digit" : undefined, hour12: false });
}

// A framed plot: returns its group, its scales and its size. `x` and `y` are { domain, title, time, better }.
export function frame(holder, { x, y, height, label, left = 60, right = 14, top = 12, bottom = 42 }) {
  const width = Math.max(260, holder.clientWidth), inner = { left, right: width - right, top, bottom: height - bottom };
  const sx = scale(x.domain, [inner.left, inner.right]), sy = scale(y.domain, [inner.bottom, inner.top]);
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": label });
  const across = x.time ? timeTicks(x.domain, (inner.right - inner.left) / 90) : ticks(x.domain, (inner.right - inner.left) / 85);
  for (const value of across) {
    root.append(svg("line", { class: "grid", x1: sx(value), x2: sx(value), y1: inner.top, y2: inner.bottom }),
      svg("text", { x: sx(value), y: inner.bottom + 16, "text-anchor": "middle" }, x.time ? timeText(value, x.domain) : tickText(value)));
  }
  for (const value of y.ticks ?? ticks(y.domain, (inner.bottom - inner.top) / 45)) {
    root.append(svg("line", { class: "grid", x1: inner.left, x2: inner.right, y1: sy(value), y2: sy(value) }),
      svg("text", { x: inner.left - 8, y: sy(value) + 4, "text-anchor": "end" }, tickText(value)));
  }
  root.append(svg("path", { class: "axis", fill: "none", d: `M${inner.left} ${inner.top}V${inner.bottom}H${inner.right}` }));
  if (x.title) root.append(axisTitle(x, (inner.left + inner.right) / 2, height - 6, ""));
  if (y.title) root.append(axisTitle(y, 0, 0, `translate(12 ${(inner.top + inner.bottom) / 2}) rotate(-90)`));
  const clip = `clip-${holder.id}`;
  root.append(svg("clipPath", { id: clip }, svg("rect", { x: inner.left, y: inner.top - 6, width: inner.right - inner.left, height: inner.bottom - inner.top + 6 })));
  const plot = svg("g", { "clip-path": `url(#${clip})` });
  root.append(plot);
  return { root, plot, sx, sy, inner, width, height };
}

// The name of a dim, with an arrow to where it is better.
function axisTitle({ title, better }, x, y, transform) {
  const text = svg("text", { class: "title", x, y, transform: transform || null, "text-anchor": "middle" });
  if (better === "low") text.append(svg("tspan", { class: "better" }, "← better  "));
  text.append(title);
  if (better === "high") text.append(svg("tspan", { class: "better" }, "  better →"));
  return text;
}

// Draws now and whenever the holder's width changes. `draw` is called with the holder.
export function draw(holder, work) {
  holder.work = work;
  if (!holder.watched) {
    let wide = holder.clientWidth;
    holder.watched = new ResizeObserver(() => {
      if (holder.clientWidth && holder.clientWidth !== wide) { wide = holder.clientWidth; holder.work(holder); }
    });
    holder.watched.observe(holder);
  }
  if (holder.clientWidth) work(holder);
}

// Puts a drawing in place of the last one, and keeps the holder's tip.
export function put(holder, root) {
  const tip = holder.querySelector(".tip") ?? el("div", { class: "tip", hidden: true });
  const tools = holder.querySelector(".chart-tools");
  replace(holder, [root, tip, tools]);
  return tip;
}

export function showTip(holder, x, y, lines) {
  const tip = holder.querySelector(".tip");
  replace(tip, lines.map((line, k) => el(k ? "span" : "b", {}, line)));
  tip.hidden = false;
  const wide = tip.offsetWidth, tall = tip.offsetHeight;
  tip.style.left = `${Math.max(0, Math.min(x + 14, holder.clientWidth - wide))}px`;
  tip.style.top = `${y - tall - 12 < 0 ? y + 16 : y - tall - 12}px`;
}

export function hideTip(holder) {
  const tip = holder.querySelector(".tip");
  if (tip) tip.hidden = true;
}

export const pointerAt = (root, event) => {
  const box = root.getBoundingClientRect(), view = root.viewBox.baseVal;
  return [(event.clientX - box.left) * view.width / box.width, (event.clientY - box.top) * view.height / box.height];
};

// A drawing as a file of its own: what the style sheets say is written into its elements.
const KEPT = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "font-size", "font-weight", "font-family", "paint-order", "text-anchor"];
export function keep(root, filename) {
  const copy = root.cloneNode(true), before = [root, ...root.querySelectorAll("*")], after = [copy, ...copy.querySelectorAll("*")];
  before.forEach((node, k) => {
    const style = getComputedStyle(node);
    for (const property of KEPT) if (style.getPropertyValue(property)) after[k].setAttribute(property, style.getPropertyValue(property));
    after[k].removeAttribute("class");
  });
  copy.setAttribute("width", root.viewBox.baseVal.width);
  const ground = svg("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.documentElement).getPropertyValue("--card") && getComputedStyle(root.closest(".card") ?? document.body).backgroundColor });
  copy.prepend(ground);
  const text = new XMLSerializer().serializeToString(copy);
  el("a", { href: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`, download: filename }).click();
}
