// The arms as a table: pulls, estimates with intervals, and in which dims each one leads its group.

import { $, count, el, fillBody, name, number, pager, replace, say, visible } from "./dom.js";
import { columnScale, interval, pullBar, sortable } from "./cells.js";
import { showComing, startComing } from "./coming.js";
import { here, set } from "./place.js";
import { call } from "./service.js";
import { badge } from "./status.js";
import { whyLink } from "./why.js";

const SIZE = 25;

export function startArms(refresh) {
  let typing = 0;
  startComing(refresh);
  $("arms-search").addEventListener("input", (event) => {
    clearTimeout(typing);
    typing = setTimeout(() => set({ search: event.target.value, page: "" }, true), 250);
  });
}

export async function showArms(signal) {
  const { search = "", sort = "pulls", down = "", page = "" } = here();
  const found = await call("arms", { signal }, { search, sort, down, page, size: SIZE });
  if (here().view !== "arms") return false;
  document.title = visible(`Arms of ${$("crumb-name").textContent} – bestgroup`);
  if (document.activeElement !== $("arms-search")) $("arms-search").value = search;
  $("arms-count").textContent = `${count(found.matching, "arm")}, ${count(found.pulls, "pull")} of all arms${found.unpulled ? `; ${count(found.unpulled, "arm")} never pulled` : ""}`;
  const dims = Object.keys(found.rows[0]?.mean ?? {});
  const columns = [{ key: "arm", label: "Arm" }, { key: "group", label: "Group" }, { key: "status", label: "Group is" }, { key: "pulls", label: "Pulls", right: true, first: "descending" }, { label: "" },
    ...dims.map((d) => ({ label: d })), { label: "Leads its group in" }];
  sortable($("arms"), columns, sort, down === "true", (key, turned) => set({ sort: key === "pulls" ? "" : key, down: turned || "", page: "" }));
  const scales = Object.fromEntries(dims.map((d) => [d, columnScale(found.rows.map((r) => r.mean[d]))]));
  const rows = found.rows.map((row) => el("tr", {}, el("th", { scope: "row" }, name(row.arm)), el("td", {}, whyLink(row.group)), el("td", {}, badge(row.status)),
    el("td", { class: "number" }, number(row.pulls)), el("td", {}, pullBar(row.pulls, found.items?.count ?? found.most)),
    ...dims.map((d) => el("td", {}, interval(row.mean[d], row.status, scales[d]))), el("td", { class: "hint" }, row.leads.join(", "))));
  fillBody($("arms"), rows.length ? rows : [el("tr", {}, el("td", { colspan: columns.length, class: "soft" }, "No arm matches."))]);
  pager($("arms-pager"), found.page, SIZE, found.rows.length, found.matching, (to) => set({ page: to || "" }));
  showItems(found.items);
  showComing(found.left, found.changes, found.groups);
  return false;
}

// Shared items: what was saved, and which of them tell the contenders apart.
function showItems(items) {
  if (!items) {
    say($("items-text"), "This study has no shared items: every pull of an arm is a measurement of its own.");
    replace($("items-some"), []);
    return;
  }
  const percent = (share) => `${number(Math.round(1000 * share) / 10)} %`;
  const saved = items.share === null ? `${number(items.deepest)} items of an endless stream so far`
    : `${percent(items.share)} of the full table was evaluated, ${percent(Math.max(0, 1 - items.share))} was saved; ${count(items.complete, "arm")} did all ${number(items.count)} items`;
  say($("items-text"), `${saved}. Here ${items.question}.`);
  const dims = Object.keys(items.apart[0]?.spread ?? {});
  const table = el("table", { id: "items-table" }, el("thead", {}, el("tr", {}, ["Item", ...dims.flatMap((d) => [`Spread in ${d}`, "Best there"])].map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, items.apart.map((row) => el("tr", {}, el("th", { scope: "row" }, name(row.item)), dims.flatMap((d) => [el("td", { class: "number" }, number(row.spread[d])), el("td", {}, whyLink(row.best[d]))])))));
  const lead = `Items on which the ${number(items.contenders)} groups that are in or undecided differ most, by their best arms, of the ${number(items.common)} that these have all done:`;
  replace($("items-some"), items.apart.length ? [el("p", { class: "hint" }, lead), el("div", { class: "wide" }, table)] : []);
}
