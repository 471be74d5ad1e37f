// Telling by hand, and tables.

import { $, el, number, replace } from "./dom.js";
import { attempt, said } from "./notice.js";
import { call, post, Refused } from "./service.js";

let ticket = null;
let dims = [];

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

const upload = (refresh) => attempt("upload-said", async () => {
  said("upload-said", "Uploading…");
  const file = $("file").files[0];
  const found = await call("import", { method: "POST", headers: { "Content-Type": "text/csv" }, body: file });
  refresh();
  return found.new ? `${number(found.new)} observations are kept.` : "This table was uploaded before; nothing has changed.";
});

export function listenToWriting(refresh) {
  $("take").addEventListener("click", take);
  $("give-back").addEventListener("click", giveBack);
  $("hand").addEventListener("submit", (e) => { e.preventDefault(); tell(); });
  $("upload").addEventListener("submit", (e) => { e.preventDefault(); upload(refresh); });
}

export function setDims(all) {
  dims = all;
}
