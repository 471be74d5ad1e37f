// Why a group has its status: a dialog with an address of its own.

import { $, about, el, name, number, replace, span, say } from "./dom.js";
import { addressOf, go, here, set } from "./place.js";
import { notice } from "./notice.js";
import { call } from "./service.js";
import { badge } from "./status.js";

const CUT = 40; // names in charts are cut after so many characters; then the group's number must do

let shown = null;

export const whyAddress = (group, place = null) =>
  addressOf({ ...here(), ...(group.length < CUT || place === null ? { why: group, place: "" } : { why: "", place }) });

export const whyLink = (group) => el("a", { href: whyAddress(group), "data-key": `why-${group}` }, name(group));

export function startWhy() {
  const away = () => set({ why: "", place: "" });
  $("why-shut").addEventListener("click", away);
  $("why").addEventListener("cancel", (event) => { event.preventDefault(); away(); });
  $("why").addEventListener("click", (event) => { if (event.target === $("why")) away(); });
}

// Opens, changes or closes the dialog, as the address says.
export async function showWhy() {
  const { why = "", place = "" } = here(), wanted = why || place ? JSON.stringify([why, place]) : null;
  if (wanted === shown && $("why").open === (wanted !== null)) return;
  shown = wanted;
  if (wanted === null) { if ($("why").open) $("why").close(); return; }
  try {
    const found = await call("explain", {}, why ? { group: why } : { number: place });
    if (shown !== wanted) return;
    fill(found);
    if (!$("why").open) $("why").showModal();
  } catch (error) {
    shown = null;
    set({ why: "", place: "" }, true);
    notice(error.message);
  }
}

const table = (names, rows, right = []) => el("table", {},
  el("thead", {}, el("tr", {}, names.map((n, k) => el("th", { scope: "col", class: right.includes(k) ? "number" : null }, n)))),
  el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, k) => el("td", { class: right.includes(k) ? "number" : null }, cell))))));

function fill(found) {
  say($("why-head"), found.group);
  const by = found.by === "algorithm" ? ` – decided by the algorithm` : found.by === "observations" ? " – by the observations alone" : "";
  replace($("why-status"), [badge(found.status), by]);
  say($("why-text"), found.text);
  say($("why-sentence"), found.sentence);
  const dims = Object.keys(found.intervals);
  replace($("why-intervals"), [table(["Dim", "Estimate", "Interval", "Best arm"], dims.map((d) => {
    const [low, middle, high] = found.intervals[d], [arm, sure] = found.best_arms[d] ?? ["–", false];
    return [d, number(middle), span(low, high), `${arm}${sure ? " (proven)" : ""}`];
  }))]);
  const many = [1, ...dims.map((_, k) => k + 2)];
  replace($("why-arms"), [table(["Arm", "Pulls", ...dims, "Still matters in"], found.arms.map((arm) =>
    [name(arm.arm), number(arm.pulls), ...dims.map((d) => (arm.mean === null ? "–" : number(arm.mean[d]))), (arm.dims ?? []).join(", ")]), many)]);
  $("why-compared").hidden = !found.reasons.length;
  replace($("why-reasons"), [table(["Against", "In", "Difference", "Proven", "Needs about"], found.reasons.map((r) =>
    [el("a", { href: addressOf({ ...here(), why: r.rival, place: "" }) }, name(r.rival)), r.dim, number(r.margin, 3), r.proven ? "yes" : "not yet", r.more === null ? "" : `${about(r.more)} pulls`]), [2, 4])]);
}
