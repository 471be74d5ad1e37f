// The first screen: the answer in words, how far it is, the groups in a chart and as a list, and what blocks.

import { $, about, ago, copyable, count, duration, el, fillBody, head, listed, name, number, replace, switcher, titled, say, visible } from "./dom.js";
import { columnScale, interval } from "./cells.js";
import { showPlane } from "./plane.js";
import { go, here, set, to } from "./place.js";
import { call, study } from "./service.js";
import { badge, bar, cls, icon, STATUSES } from "./status.js";
import { whyAddress, whyLink } from "./why.js";
import { workLine } from "./workers.js";
import { showDots } from "./worth.js";
import { showWeights, weighed } from "./weights.js";

export function startOverview() {
  for (const id of ["x", "y"]) $(id).addEventListener("change", (event) => set({ [id]: event.target.value }));
  $("to-hand").href = to("workers");
  $("to-upload").href = to("data");
  $("all-groups").href = to("groups");
}

export const decided = (view) => view.dims.filter((d) => d.direction !== "watch");

export async function showOverview(signal) {
  const { x, y } = here();
  const view = await call("view", { signal }, { x, y, size: 50 });
  if (here().view !== "overview") return false;
  document.title = visible(`${view.name} – bestgroup`);
  showVerdict(view);
  showProgress(view);
  const some = view.observed > 0;
  $("start").hidden = view.status.told > 0;
  $("measured").hidden = !some;
  $("reading").hidden = some || view.status.told === 0;
  if (!view.status.told) copyable($("work-line"), workLine());
  if (some) { showFigure(view); showShortList(view); }
  showWeights(view);
  showTaking(view);
  showBlockers(view);
  showGuarantee(view);
  Object.assign($("study").dataset, { told: view.status.told, observed: view.observed, state: view.status.state });
  return view.observed < view.status.told;
}

// ---- the verdict --------------------------------------------------------------------------------

const QUESTIONS = { pareto: "Which groups are Pareto optimal?", best: "Which group is the best?", top: "Which groups are the best ones?", map: "Which group is best for which weights?" };
const asks = (view) => QUESTIONS[view.goal.kind];

function headline(view) {
  const few = view.answer.slice(0, 6), rest = view.answer.length + view.more_answers - few.length;
  const some = listed(rest ? [...few, `${number(rest)} more`] : few);
  const sole = view.answer.length + view.more_answers === 1, slack = [view.goal.epsilon].flat().some((e) => e > 0);
  if (view.final && !view.answer.length) return "No group has an arm that keeps the limits";
  if (view.final && view.goal.kind === "best") return slack ? `${some} is the best group, or within the slack of it` : `${some} is the best group`;
  if (view.final && view.goal.kind === "top") return `${some} ${sole ? "is the best group" : `are the ${view.goal.m} best groups`}${slack ? ", or within the slack of it" : ""}`;
  if (view.final && view.goal.kind === "map") return `${view.weights?.always.length ? `${listed(view.weights.always)} is best for all weights` : `${some} ${sole ? "is" : "are each"} best for some weights`}${slack ? ", or within the slack of it" : ""}`;
  if (view.final) return view.answer.length === 1 ? `${some} is the Pareto set${slack ? ", up to the slack" : ""}` : `${some} are the Pareto set${slack ? ", up to the slack" : ""}`;
  if (view.status.state === "stuck") return `No further pull can decide this: ${view.stuck}`;
  if (!view.status.told) return "Nothing is known yet";
  const { counts } = view, sure = counts.out + counts["not needed"];
  if (view.answer.length) return `${some} ${sole ? "is" : "are"} in; ${counts.undecided ? `${count(counts.undecided, "group")} still undecided` : `${view.algorithm} has yet to stop`}`;
  return sure ? `No group is in yet; ${number(counts.undecided)} of ${count(view.groups, "group")} still undecided` : `All ${number(view.groups)} groups are undecided so far`;
}

function showVerdict(view) {
  const dims = view.dims.map((d) => `${d.name} (${d.direction}${d.unit ? `, ${d.unit}` : ""})`).join(", ");
  say($("question"), `${asks(view)} ${count(view.groups, "group")}, ${count(view.arms, "arm")}; ${dims}`);
  $("state").textContent = view.status.state;
  $("state").className = `chip ${view.status.state}`;
  say($("headline"), headline(view));
  replace($("bar"), [bar(view.counts)]);
  replace($("counts"), STATUSES.map((s) => el("li", {}, el("a", { href: to("groups", { only: s }), class: `status ${cls(s)}` }, icon(s), el("b", {}, number(view.counts[s])), s))));
  if (view.ahead) $("counts").append(el("li", { class: "hint" }, `${number(view.ahead)} of them by the observations alone, ahead of ${view.algorithm}`));
  $("contradiction").hidden = !view.notes.length;
  replace($("contradiction"), view.notes.map((note) => el("span", { class: "line-of" }, `${note}.`)));
}

// The best guess stands beside what is proven, and so do the arms that make a group what it is.
function showTaking(view) {
  $("guess").hidden = !view.guess;
  say($("guess"), view.guess ? `${view.guess[0].toUpperCase()}${view.guess.slice(1)}.` : "");
  $("taking").hidden = !view.observed || !(view.arms_to_take.length || view.all_ties);
  replace($("arms-to-take"), view.arms_to_take.map((text) => el("li", {}, visible(text))));
  $("ties").hidden = !view.all_ties;
  const pairs = view.ties.map(([one, other]) => `${one} and ${other}`);
  say($("ties"), view.all_ties ? `Proven within the slack of each other: ${pairs.join("; ")}${view.all_ties > pairs.length ? `; ${number(view.all_ties - pairs.length)} more pairs` : ""}.` : "");
}

function showProgress(view) {
  const { told, state } = view.status, more = view.forecast;
  const known = state === "running" && more !== null && view.observed > 0;
  const share = view.final ? 1 : known ? told / (told + Math.max(more, 1)) : 0;
  $("progress-share").textContent = view.final ? "Proven" : state === "stuck" ? "Stuck" : known ? `${Math.min(99, Math.floor(share * 100))} %` : told ? "Under way" : "Not begun";
  $("progress-meter").style.width = `${share * 100}%`;
  const ahead = known && view.counts.undecided === 0 ? `${view.algorithm} goes on until its own rule stops` : known ? `about ${about(more)} more, if gaps are as they look` : "";
  $("progress-text").textContent = `${count(told, "observation")}${ahead && !view.final ? `; ${ahead}` : ""}`;
  const time = known && view.seconds !== null && view.counts.undecided ? `${duration(view.seconds)} left at ${number(Number(view.rate.toPrecision(3)))} a second` : view.rate && !view.final ? `${number(Number(view.rate.toPrecision(3)))} a second` : "";
  const seen = view.last === null ? "" : `last one ${ago(view.last)}`;
  replace($("progress-time"), [time, seen].filter((t) => t).map((t) => el("span", { class: "line-of" }, t)));
}

function showGuarantee({ guarantee, delta, ahead, algorithm, goal }) {
  const proven = guarantee.level === "proven", risk = number(ahead && proven ? 2 * delta : delta);
  say($("worth-of-it"), proven ? `Error probability at most ${risk}, by ${algorithm}${ahead ? " and the observations" : ""}; slack ${[goal.epsilon].flat().join(", ")}.` : "This carries no guarantee; see below.");
  say($("guarantee-text"), `${proven ? "Proven" : "No guarantee"}: ${guarantee.statement}.`);
  replace($("assumptions"), guarantee.assumptions.map((text) => el("li", {}, text)));
}

// ---- the chart and the list -----------------------------------------------------------------------

function showFigure(view) {
  const dims = decided(view), best = weighed(view.goal), flat = dims.length < 2;
  const figure = flat || (best && here().figure !== "plane") ? "worth" : "plane";
  $("figure-switch").hidden = flat || !best;
  if (best) switcher($("figure-switch"), [["worth", "Weighted worth"], ["plane", "Two dims"]], figure, (value) => set({ figure: value === "worth" ? "" : value }));
  say($("figure-head"), figure === "plane" ? "Two dims" : best ? "Weighted worth" : titled(dims[0]));
  for (const id of ["plane", "plane-key", "axes"]) $(id).hidden = figure !== "plane";
  for (const id of ["worth", "worth-key"]) $(id).hidden = figure !== "worth";
  const open = (number, label) => go(whyAddress(label, number));
  if (figure === "plane") {
    for (const axis of ["x", "y"]) {
      if ($(axis).options.length !== dims.length) replace($(axis), dims.map((d) => el("option", { value: d.name }, d.name)));
      $(axis).value = view.plane[axis];
    }
    showPlane(view, dims, open);
    return;
  }
  const rows = best ? view.worths.map((w) => ({ group: w.group, status: w.status, range: w.worth }))
    : view.rows.map((r) => ({ group: r.group, status: r.status, range: r.efficiency[dims[0].name] })).sort((a, b) => (dims[0].direction === "min" ? 1 : -1) * (a.range[1] - b.range[1]));
  const weights = best ? dims.map((d, k) => `${number(view.goal.weights[k])} × ${d.direction === "min" ? "−" : ""}${d.name}`).join(" + ") : titled(dims[0]);
  showDots($("worth"), rows.slice(0, 30), { title: weights, better: best || dims[0].direction === "max" ? "high" : "low", open: (group) => open(null, group),
    label: `${best ? "Weighted worth" : dims[0].name} of ${rows.length} groups, with intervals; the table of groups has the same numbers` });
}

function showShortList(view) {
  const dims = decided(view), best = weighed(view.goal);
  const shown = best ? [] : [view.plane.x, view.plane.y].filter((n, k, all) => all.indexOf(n) === k);
  const scales = shown.map((d) => columnScale(view.rows.map((r) => r.efficiency[d])));
  head($("short-groups"), ["Group", "Status", ...(best ? ["Worth"] : shown)]);
  const worth = best ? columnScale(view.rows.map((r) => r.worth)) : null;
  fillBody($("short-groups"), view.rows.map((row) => el("tr", {},
    el("th", { scope: "row" }, whyLink(row.group)), el("td", {}, badge(row.status)),
    ...(best ? [el("td", {}, interval(row.worth, row.status, worth, false))] : shown.map((d, k) => el("td", {}, interval(row.efficiency[d], row.status, scales[k], false)))))));
  $("all-groups").textContent = view.groups > view.rows.length ? `All ${number(view.groups)} groups` : "As a table";
}

// ---- what blocks --------------------------------------------------------------------------------

function showBlockers(view) {
  const none = view.final ? "" : !view.status.told ? "Nothing is measured yet." : view.blockers.length ? "" : `Nothing that the observations leave open; ${view.algorithm} goes on until its own rule stops.`;
  $("blocking").hidden = view.final || !view.observed;
  $("blocking-none").hidden = !none;
  say($("blocking-none"), none);
  $("blockers").hidden = !view.blockers.length;
  head($("blockers"), ["Group", "What is missing", "Hardest rival", "In", "Difference", "Needs about"], [4, 5]);
  fillBody($("blockers"), view.blockers.map((b) => el("tr", {},
    el("th", { scope: "row" }, whyLink(b.group)), el("td", {}, b.text.startsWith(b.group) ? b.text.slice(b.group.length).replace(/^ is undecided(: |, )/, "") : b.text),
    el("td", {}, b.rival === null ? "–" : whyLink(b.rival)), el("td", {}, b.dim ?? "–"), el("td", { class: "number" }, number(b.margin, 3)),
    el("td", { class: "number" }, b.needs === null ? "not foreseen" : `${about(b.needs)} pulls`))));
}
