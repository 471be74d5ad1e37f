// A map of weights: a bar for two dims, a triangle for three, and a table of shares.

import { $, el, fillBody, head, number, replace, say, svg } from "./dom.js";
import { whyLink } from "./why.js";

// Okabe and Ito's palette, which colour-blind readers can tell apart; after it colours come again.
const COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442"];
const WIDE = 420, HIGH = 380, SIDE = 340, LEFT = 40, TOP = 28;

export const weighed = (goal) => goal.kind === "best" || goal.kind === "top";

export function showWeights(view) {
  const map = view.weights, some = map !== null && view.observed > 0;
  $("weights").hidden = !some;
  if (!some) return;
  const percent = (share) => `${number(100 * share, 3)} %`;
  const near = view.goal.epsilon > 0 ? ", up to the slack" : "";
  say($("weights-said"), map.always.length ? `Proven best for all weights${near}: ${map.always.join(", ")}.` : `${percent(map.share)} of the weights are mapped to a group that is proven best there${near}; grey is open.`);
  const ranked = [...map.regions].sort((a, b) => b.share - a.share);
  const colour = (k) => COLOURS[k % COLOURS.length];
  replace($("weights-map"), map.dims.length === 2 || map.dims.length === 3 ? [draw(map, ranked, colour)] : []);
  head($("weights-table"), ["Group", "Share of the weights"], [1]);
  fillBody($("weights-table"), ranked.map((region, k) => el("tr", {},
    el("th", { scope: "row" }, swatch(colour(k)), " ", whyLink(region.group)), el("td", { class: "number" }, percent(region.share)))));
}

const swatch = (fill) => svg("svg", { width: 12, height: 12, viewBox: "0 0 12 12", "aria-hidden": "true" }, svg("rect", { width: 12, height: 12, fill }));

// Where weights stand: on a line by the first dim, or in a triangle whose corners are the dims.
const onLine = ([w]) => [LEFT + SIDE * w, TOP];
const inTriangle = ([, b, c]) => [LEFT + SIDE * (b + c / 2), TOP + SIDE * Math.sqrt(3) / 2 * (1 - c)];

function draw(map, ranked, colour) {
  const flat = map.dims.length === 2, at = flat ? onLine : inTriangle;
  const root = svg("svg", { viewBox: `0 0 ${WIDE} ${flat ? 110 : HIGH}`, role: "img", "aria-label": "Which group is proven best for which weights; the table has the shares" });
  const corners = (points) => points.map((p) => at(p).map((v) => v.toFixed(1)).join(" "));
  const bar = (x1, x2) => `M${x1} ${TOP}H${x2}V${TOP + 34}H${x1}Z`;
  root.append(svg("path", { class: "open-weights", d: flat ? bar(LEFT, LEFT + SIDE) : `M${corners([[1, 0, 0], [0, 1, 0], [0, 0, 1]]).join("L")}Z` }));
  ranked.forEach((region, k) => {
    const d = (region.pieces ?? []).map((piece) => (flat ? bar(at(piece[0])[0].toFixed(1), at(piece.at(-1))[0].toFixed(1)) : `M${corners(piece).join("L")}Z`)).join("");
    if (d) root.append(svg("path", { d, fill: colour(k), stroke: colour(k), "stroke-width": map.vertices.length === 2 && !flat ? 5 : 0.6 }, svg("title", {}, `${region.group}: ${number(100 * region.share, 3)} %`)));
  });
  const label = (x, y, anchor, text) => root.append(svg("text", { class: "label", x, y, "text-anchor": anchor }, text.length > 20 ? `${text.slice(0, 19)}…` : text));
  if (flat) {
    label(LEFT, TOP + 54, "start", `all on ${map.dims[1]}`);
    label(LEFT + SIDE, TOP + 54, "end", `all on ${map.dims[0]}`);
  } else {
    label(LEFT - 30, TOP + SIDE * Math.sqrt(3) / 2 + 22, "start", `all on ${map.dims[0]}`);
    label(LEFT + SIDE + 30, TOP + SIDE * Math.sqrt(3) / 2 + 22, "end", `all on ${map.dims[1]}`);
    label(LEFT + SIDE / 2, TOP - 10, "middle", `all on ${map.dims[2]}`);
  }
  return root;
}
