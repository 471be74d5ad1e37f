// The list of studies: what each asks, how far it is, when it last moved.

import { $, ago, copyable, count, el, fillBody, listed, moment, name, number, pager, switcher } from "./dom.js";
import { sortable } from "./cells.js";
import { connected, lost, signedOut } from "./header.js";
import { listenToMaking } from "./making.js";
import { notice } from "./notice.js";
import { here, set, whenMoved } from "./place.js";
import { call, pageOf, Refused } from "./service.js";
import { bar } from "./status.js";
import { workLine } from "./workers.js";

const SIZE = 20, EVERY = 3000;

export async function startList() {
  $("list").hidden = false;
  document.title = "Studies – bestgroup";
  listenToMaking();
  let typing = 0;
  $("list-search").addEventListener("input", (event) => {
    clearTimeout(typing);
    typing = setTimeout(() => set({ search: event.target.value, page: "" }, true), 250);
  });
  for (const pre of document.querySelectorAll("#list-none .copy pre:not([id])")) copyable(pre, `${pre.textContent} `.trim());
  copyable($("list-work"), workLine(null));
  whenMoved(refresh);
  await refresh();
  setInterval(() => { if (!document.hidden) refresh(); }, EVERY);
}

async function refresh() {
  try {
    await show();
    connected();
    notice("");
  } catch (error) {
    if (error.status === 401) signedOut();
    else if (error instanceof Refused) notice(error.message);
    else lost();
  }
}

async function show() {
  const { search = "", only = "", sort = "created", down = "", page = "" } = here();
  const found = await call("listing", {}, { search, only, sort, down, page, size: SIZE });
  $("list-none").hidden = found.all > 0;
  $("list-some").hidden = found.all === 0;
  $("make-demo").hidden = found.all === 0 || $("make-open").hidden;
  if (document.activeElement !== $("list-search")) $("list-search").value = search;
  switcher($("list-only"), [["", "All"], ["running", "Running"], ["done", "Done"], ["stuck", "Stuck"]], only, (value) => set({ only: value, page: "" }));
  $("list-count").textContent = found.matching < found.all ? `${number(found.matching)} of ${number(found.all)}` : count(found.all, "study", "studies");
  sortable($("studies"), [{ key: "name", label: "Study" }, { label: "Question" }, { key: "state", label: "State" }, { label: "Progress" },
    { key: "told", label: "Observations", right: true, first: "descending" }, { label: "Last activity" }, { key: "created", label: "Created", first: "descending" }],
  sort, down === "true", (key, turned) => set({ sort: key === "created" ? "" : key, down: turned || "", page: "" }));
  const rows = found.studies.map(row);
  fillBody($("studies"), rows.length ? rows : [el("tr", {}, el("td", { colspan: 7, class: "soft" }, "No study matches."))]);
  pager($("list-pager"), found.page, SIZE, found.studies.length, found.matching, (to) => set({ page: to || "" }));
}

function row(study) {
  const open = study.counts.undecided, all = study.groups;
  const asks = { pareto: "Pareto optimal groups", best: "best group", top: "best groups", map: "best group by weights" }[study.kind];
  return el("tr", {},
    el("th", { scope: "row" }, el("a", { href: pageOf(study.name), "data-key": study.name }, name(study.name))),
    el("td", {}, `${asks} of ${number(all)}`, el("div", { class: "hint" }, `${count(study.arms, "arm")}; ${listed(study.dims)}`)),
    el("td", {}, el("span", { class: `chip ${study.state}` }, study.state)),
    el("td", {}, bar(study.counts, true), el("span", { class: "interval-text" }, open ? `${number(all - open)} of ${number(all)} decided` : "all decided")),
    el("td", { class: "number" }, number(study.told)),
    el("td", { class: "hint", title: study.last === null ? null : moment(study.last) }, study.last === null ? "none yet" : ago(study.last)),
    el("td", { class: "hint", title: moment(study.created) }, ago(study.created)));
}
