// One study: its numbers as texts, tables and charts.

import { arms, intervals, plane } from "./charts.js";
import { $, badge, duration, el, number, replace, span, table } from "./dom.js";
import { forget, show } from "./plot.js";
import { why } from "./why.js";

const SIZE = 25; // rows of a page
const MOST_DIMS = 6; // of which intervals are drawn

export const decided = (view) => view.dims.filter((d) => d.direction !== "watch");

export function showStudy(view) {
  for (const part of [showSummary, showGroups, showWorkers, showPlane, showIntervals, showArms]) part(view);
  $("study").dataset.told = view.status.told;
  $("study").dataset.observed = view.observed;
}

function showSummary(view) {
  document.title = `${view.name} – bestgroup`;
  $("title").textContent = view.name;
  $("summary-head").textContent = view.name;
  const words = view.goal.kind === "pareto" ? "Which groups are Pareto optimal?" : "Which group is best?";
  const directions = view.dims.map((d) => `${d.name} (${d.direction}${d.unit ? `, ${d.unit}` : ""})`).join(", ");
  $("question").textContent = `${words} ${number(view.groups)} groups, ${number(view.arms)} arms; ${directions}; ` +
    `error probability ${view.delta}, slack ${[view.goal.epsilon].flat().join(", ")}; algorithm ${view.algorithm}.`;
  const s = view.status;
  const entries = [["state", s.state], ["in", s.groups_in], ["out", s.groups_out], ["undecided", s.undecided],
    ["observations", s.told], ["used", s.pulls], ["a second", view.rate ? Number(view.rate.toPrecision(3)) : 0]];
  replace($("numbers"), entries.map(([label, value]) => el("li", { class: `n-${label.replace(" ", "-")}` },
    el("strong", {}, typeof value === "number" ? number(value) : value), el("span", {}, label))));
  $("forecast").textContent = forecast(view);
  const more = view.more_answers ? ` and ${view.more_answers} more` : "";
  const proven = view.answer.length ? `${view.answer.join(", ")}${more}` : "no group yet";
  $("answer").textContent = view.final ? `Final: ${proven}.` : `So far in for certain: ${proven}.`;
  $("blocking").hidden = view.final;
  const nothing = view.status.told ? "The observations are being looked at." : "Nothing is measured yet.";
  replace($("blockers"), (view.blockers.length ? view.blockers.map((b) => b.text) : [nothing]).map((text) => el("li", {}, text)));
}

function forecast(view) {
  if (view.final) return "Nothing is missing: the answer is final.";
  if (view.status.state === "stuck") return "No further pull can decide this: groups are tied, and the slack is too small.";
  if (view.forecast === null) return "How much longer it takes cannot be foreseen yet.";
  if (view.certificate.undecided === 0) return `The observations prove every group by themselves; ${view.algorithm} goes on until its own rule stops.`;
  if (view.forecast < 10) return "A few more observations should prove every group, if gaps are as they look.";
  if (view.observed === 0) return "How much longer it takes can be said once something is measured.";
  const time = view.seconds === null ? "" : `, ${duration(view.seconds)} at the present rate`;
  return `About ${number(Math.round(view.forecast))} more observations would prove every group, if gaps are as they look${time}.`;
}

function showPlane(view) {
  const dims = decided(view);
  $("plane-section").hidden = dims.length < 2;
  if (dims.length < 2) return;
  for (const axis of ["x", "y"]) {
    if ($(axis).options.length !== dims.length) replace($(axis), dims.map((d) => el("option", { value: d.name }, d.name)));
    $(axis).value = view.plane[axis];
  }
  const empty = view.observed === 0;
  $("plane").hidden = empty;
  $("plane-none").hidden = !empty;
  if (!empty) show("plane", JSON.stringify(view.plane), plane(view.plane, dims, (label) => { if (label.length < 40) why(label, view.dims); }));
  $("left-out").textContent = view.plane.left_out ? `${number(view.plane.left_out)} groups that are out are not drawn. ` : "";
}

function showGroups(view) {
  const names = decided(view).map((d) => d.name);
  const head = el("tr", {}, el("th", { scope: "col" }, "Group"), el("th", { scope: "col" }, "Status"),
    el("th", { scope: "col", title: "what the observations prove by themselves" }, "Certificate"),
    el("th", { scope: "col", class: "number" }, "Pulls"), el("th", { scope: "col", class: "number" }, "Needs about"),
    ...names.map((d) => el("th", { scope: "col", title: "the estimate, and an interval for it" }, d)));
  replace($("groups").tHead, [head]);
  const focused = document.activeElement?.dataset?.group;
  replace($("groups").tBodies[0], view.rows.map((row) => el("tr", {},
    el("th", { scope: "row" }, el("button", { type: "button", class: "link", "data-group": row.group, click: () => why(row.group, view.dims) }, row.group)),
    el("td", {}, badge(row.status)), el("td", {}, badge(row.certificate)),
    el("td", { class: "number" }, number(row.pulls)),
    el("td", { class: "number" }, row.status === "undecided" && row.certificate === "undecided" ? number(row.needs === null ? null : Math.round(row.needs)) : ""),
    ...names.map((d) => el("td", { class: "range" }, estimate(row.efficiency[d]))))));
  if (focused !== undefined) [...$("groups").querySelectorAll("button")].find((b) => b.dataset.group === focused)?.focus();
  const first = view.page * SIZE;
  $("where").textContent = view.matching ? `${first + 1} to ${first + view.rows.length} of ${number(view.matching)}` : "no group";
  $("back").disabled = view.page === 0;
  $("on").disabled = first + view.rows.length >= view.matching;
}

const estimate = ([low, middle, high]) => (middle === null ? "–" : `${number(middle, 3)} (${span(low, high)})`);

// A chart a dim, of the groups that the table shows.
function showIntervals(view) {
  const dims = decided(view).slice(0, MOST_DIMS), seen = view.rows.length > 0 && view.observed > 0;
  const holder = $("intervals");
  if (holder.childElementCount !== dims.length)
    replace(holder, dims.map((_, k) => el("div", { id: `intervals-${k}`, class: "chart" })));
  holder.hidden = !seen;
  dims.forEach((dim, k) => {
    if (!seen) { forget(`intervals-${k}`); return; }
    const key = JSON.stringify([dim, view.rows.map((row) => [row.group, row.status, row.efficiency[dim.name]])]);
    show(`intervals-${k}`, key, intervals(view.rows, dim, (group) => why(group, view.dims)));
  });
}

function showArms(view) {
  const rows = view.top_arms;
  $("arms-some").hidden = !rows.length;
  $("arms-none").hidden = rows.length > 0;
  if (!rows.length) return;
  show("arms", JSON.stringify(rows), arms(rows));
  replace($("arms-table"), [table(["Arm", "Group", "Pulls"], rows.map((row) => [row.arm, row.group, number(row.pulls)]), [2])]);
}

function showWorkers(view) {
  const s = view.status;
  $("leases").textContent = `${number(s.free)} observations wait for a worker, ${number(s.leased)} are being made` +
    (s.overdue ? `, ${number(s.overdue)} are overdue and handed out again.` : ".");
  const rows = view.workers.map((w) => el("tr", {}, el("th", { scope: "row" }, w.owner || "unnamed"),
    el("td", { class: "number" }, number(w.leased)), el("td", { class: "number" }, number(w.told)),
    el("td", {}, w.ago === null ? "before this server started" : w.ago < 2 ? "now" : `${duration(w.ago)} ago`)));
  if (!rows.length) rows.push(el("tr", {}, el("td", { colspan: 4 }, "No worker has asked yet.")));
  if (view.more_workers) rows.push(el("tr", {}, el("td", { colspan: 4 }, `and ${view.more_workers} more`)));
  replace($("workers").tBodies[0], rows);
  replace($("failures"), s.failures.map((f) => el("li", {}, `${f.arm} of ${f.group} failed ${f.times === 1 ? "once" : `${f.times} times`}: ${f.reason || "no reason given"}`)));
}
