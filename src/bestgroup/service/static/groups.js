// All groups as a table: headings sort, intervals are drawn in the cells.

import { $, about, count, el, fillBody, number, pager, switcher, titled, visible } from "./dom.js";
import { columnScale, interval, sortable } from "./cells.js";
import { decided } from "./overview.js";
import { here, set } from "./place.js";
import { call } from "./service.js";
import { badge, provenBy, STATUSES } from "./status.js";
import { whyLink } from "./why.js";
import { weighed } from "./weights.js";

const SIZE = 25;

export function startGroups() {
  let typing = 0;
  $("groups-search").addEventListener("input", (event) => {
    clearTimeout(typing);
    typing = setTimeout(() => set({ search: event.target.value, page: "" }, true), 250);
  });
}

export async function showGroups(signal) {
  const { search = "", only = "", sort = "status", down = "", page = "" } = here();
  const view = await call("view", { signal }, { search, only, sort, down, page, size: SIZE });
  if (here().view !== "groups") return false;
  document.title = visible(`Groups of ${view.name} – bestgroup`);
  if (document.activeElement !== $("groups-search")) $("groups-search").value = search;
  $("groups-count").textContent = `${count(view.matching, "group")}${view.matching < view.groups ? ` of ${number(view.groups)}` : ""}`;
  const choices = [["", "All"], ...STATUSES.map((s) => [s, `${s[0].toUpperCase()}${s.slice(1)} ${number(view.counts[s])}`])];
  switcher($("groups-only"), choices, only, (value) => set({ only: value, page: "" }));
  showTable(view, sort, down === "true");
  pager($("groups-pager"), view.page, SIZE, view.rows.length, view.matching, (to) => set({ page: to || "" }));
  Object.assign($("study").dataset, { told: view.status.told, observed: view.observed });
  return view.observed < view.status.told;
}

function showTable(view, sort, down) {
  const dims = decided(view), best = weighed(view.goal);
  const columns = [{ key: "name", label: "Group" }, { key: "status", label: "Status" }, { label: "Proven by" },
    { key: "pulls", label: "Pulls", right: true, first: "descending" }, { key: "needs", label: "Needs about", right: true, first: "descending", title: "pulls until it is decided, if gaps are as they look" },
    ...(best ? [{ key: "worth", label: "Weighted worth", first: "descending" }] : []),
    ...dims.map((d) => ({ key: `dim:${d.name}`, label: titled(d), first: d.direction === "min" ? "ascending" : "descending", title: `${d.direction === "min" ? "less" : "more"} is better` }))];
  sortable($("groups"), columns, sort, down, (key, turned) => set({ sort: key === "status" ? "" : key, down: turned || "", page: "" }));
  const scales = Object.fromEntries(dims.map((d) => [d.name, columnScale(view.rows.map((r) => r.efficiency[d.name]))]));
  const worth = best ? columnScale(view.rows.map((r) => r.worth)) : null;
  const rows = view.rows.map((row) => el("tr", {},
    el("th", { scope: "row" }, whyLink(row.group)), el("td", {}, badge(row.status)), el("td", { class: "hint" }, provenBy(row, view.algorithm)),
    el("td", { class: "number" }, number(row.pulls)), el("td", { class: "number" }, row.status !== "undecided" ? "" : row.needs === null ? "not foreseen" : about(row.needs)),
    ...(best ? [el("td", {}, interval(row.worth, row.status, worth))] : []),
    ...dims.map((d) => el("td", {}, interval(row.efficiency[d.name], row.status, scales[d.name])))));
  fillBody($("groups"), rows.length ? rows : [el("tr", {}, el("td", { colspan: columns.length, class: "soft" }, "No group matches."))]);
}
