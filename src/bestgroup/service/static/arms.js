// The arms as a table: pulls, estimates with intervals, and in which dims each one leads its group.

import { $, count, el, fillBody, name, number, pager } from "./dom.js";
import { columnScale, interval, pullBar, sortable } from "./cells.js";
import { here, set } from "./place.js";
import { call } from "./service.js";
import { badge } from "./status.js";
import { whyLink } from "./why.js";

const SIZE = 25;

export function startArms() {
  let typing = 0;
  $("arms-search").addEventListener("input", (event) => {
    clearTimeout(typing);
    typing = setTimeout(() => set({ search: event.target.value, page: "" }, true), 250);
  });
}

export async function showArms(signal) {
  const { search = "", sort = "pulls", down = "", page = "" } = here();
  const found = await call("arms", { signal }, { search, sort, down, page, size: SIZE });
  if (here().view !== "arms") return false;
  document.title = `Arms of ${$("crumb-name").textContent} – bestgroup`;
  if (document.activeElement !== $("arms-search")) $("arms-search").value = search;
  $("arms-count").textContent = `${count(found.matching, "arm")}, ${count(found.pulls, "pull")} of all arms${found.unpulled ? `; ${count(found.unpulled, "arm")} never pulled` : ""}`;
  const dims = Object.keys(found.rows[0]?.mean ?? {});
  const columns = [{ key: "arm", label: "Arm" }, { key: "group", label: "Group" }, { key: "status", label: "Group is" }, { key: "pulls", label: "Pulls", right: true, first: "descending" }, { label: "" },
    ...dims.map((d) => ({ label: d })), { label: "Leads its group in" }];
  sortable($("arms"), columns, sort, down === "true", (key, turned) => set({ sort: key === "pulls" ? "" : key, down: turned || "", page: "" }));
  const scales = Object.fromEntries(dims.map((d) => [d, columnScale(found.rows.map((r) => r.mean[d]))]));
  const rows = found.rows.map((row) => el("tr", {}, el("th", { scope: "row" }, name(row.arm)), el("td", {}, whyLink(row.group)), el("td", {}, badge(row.status)),
    el("td", { class: "number" }, number(row.pulls)), el("td", {}, pullBar(row.pulls, found.most)),
    ...dims.map((d) => el("td", {}, interval(row.mean[d], row.status, scales[d]))), el("td", { class: "hint" }, row.leads.join(", "))));
  fillBody($("arms"), rows.length ? rows : [el("tr", {}, el("td", { colspan: columns.length, class: "soft" }, "No arm matches."))]);
  pager($("arms-pager"), found.page, SIZE, found.rows.length, found.matching, (to) => set({ page: to || "" }));
  $("items-text").textContent = "This study has no shared items: every pull of an arm is a measurement of its own.";
  return false;
}
