// Who measures: leases, workers, failures, and telling by hand.

import { $, copyable, count, duration, el, fillBody, head, name, number, replace, visible } from "./dom.js";
import { attempt } from "./notice.js";
import { here } from "./place.js";
import { call, post, Refused, study } from "./service.js";

let ticket = null, dims = [];

// A name as a shell takes it.
const quoted = (text) => (/^[\w.:/=+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
export const workLine = (which = study) => `bestgroup work '${location.origin}/?token=TOKEN' --study ${which === null ? "NAME" : quoted(which)} --python my_module:evaluate`;

export async function showWorkers(signal) {
  const view = await call("view", { signal }, { size: 1 });
  if (here().view !== "workers") return false;
  document.title = visible(`Workers of ${view.name} – bestgroup`);
  dims = view.dims;
  const s = view.status, tile = (value, label, title) => el("div", { class: "card", title }, el("p", { class: "big-number" }, value), el("p", { class: "hint" }, label));
  replace($("leases"), [tile(number(s.leased), "being measured", "leased to a worker"), tile(number(s.free), "wait for a worker", "wanted by the plan, and free"),
    tile(number(s.overdue), "overdue", "leases that have ended; they are handed out again"), tile(view.rate ? number(Number(view.rate.toPrecision(3))) : "0", "observations a second", "over the last minute")]);
  head($("workers"), ["Worker", "Has", "Told", "Seen"], [1, 2]);
  const rows = view.workers.map((w) => el("tr", {}, el("th", { scope: "row" }, name(w.owner || "unnamed")), el("td", { class: "number" }, number(w.leased)),
    el("td", { class: "number" }, number(w.told)), el("td", {}, w.ago === null ? "before this server started" : w.ago < 3 ? "just now" : `${duration(w.ago)} ago`)));
  if (!rows.length) rows.push(el("tr", {}, el("td", { colspan: 4, class: "soft" }, "No worker has asked since this server started.")));
  if (view.more_workers) rows.push(el("tr", {}, el("td", { colspan: 4, class: "soft" }, `and ${number(view.more_workers)} more`)));
  fillBody($("workers"), rows);
  $("failures-card").hidden = !s.failures.length;
  head($("failures"), ["Arm", "Group", "Times", "Reason"], [2]);
  fillBody($("failures"), s.failures.map((f) => el("tr", {}, el("th", { scope: "row" }, name(f.arm)), el("td", {}, name(f.group)), el("td", { class: "number" }, number(f.times)), el("td", {}, f.reason || "none given"))));
  copyable($("work-line-2"), workLine());
  const demo = await call("demo/work", { signal });
  $("demo-again").hidden = !demo.demo || demo.working || view.final;
  Object.assign($("study").dataset, { told: s.told, observed: view.observed });
  return false;
}

// ---- by hand --------------------------------------------------------------------------------------

function showTicket() {
  for (const id of ["tell", "give-back"]) $(id).hidden = ticket === null;
  $("take").hidden = ticket !== null;
  $("ticket").textContent = ticket === null ? "Take a ticket: it says which arm to measure."
    : `Measure ${ticket.arm} of ${ticket.group} (its pull ${ticket.index}, seed ${ticket.seed}) and enter the values.`;
  replace($("values"), ticket === null ? [] : dims.map((d, k) => el("label", {}, `${d.name}${d.unit ? ` (${d.unit})` : ""} `,
    el("input", { type: "text", inputmode: "decimal", required: true, autocomplete: "off", id: `value-${k}` }))));
  if (ticket !== null) $("value-0").focus();
}

const take = () => attempt("hand-said", async () => {
  if (!dims.length) ({ dims } = await call("study"));
  const asked = await post("ask", { n: 1, lease: 3600, owner: "page" });
  ticket = asked.tickets[0] ?? null;
  showTicket();
  return ticket ? "" : asked.state === "running" ? "There is no free ticket now: workers have them all." : "The study has ended.";
});

const tell = () => attempt("hand-said", async () => {
  const values = dims.map((d, k) => {
    const text = $(`value-${k}`).value.trim().replace(",", ".");
    if (text === "" || !Number.isFinite(Number(text))) throw new Refused(`${d.name} must be a number.`);
    return Number(text);
  });
  const told = await post("tell", { results: [{ ticket, values }] });
  ticket = null;
  showTicket();
  $("take").focus();
  return told.new ? "Thank you, it is kept." : "This was told before.";
});

const giveBack = () => attempt("hand-said", async () => {
  await post("fail", { ticket, reason: "given back by hand" });
  ticket = null;
  showTicket();
  return "It is handed out again.";
});

export function startWorkers(refresh) {
  $("take").addEventListener("click", take);
  $("give-back").addEventListener("click", giveBack);
  $("hand").addEventListener("submit", (event) => { event.preventDefault(); tell(); });
  $("demo-start").addEventListener("click", () => attempt("demo-said", async () => { await post("demo/work", {}); refresh(); return "It is at work."; }));
}
