// The page: asks the service for aggregates and shows them. All text from users is set as text.

import { badge, bars, el, interval, mark, number, plane, svg } from "./charts.js";

const $ = (id) => document.getElementById(id);
const place = new URLSearchParams(location.search);
const name = place.get("study");
const settings = Object.fromEntries(["x", "y", "only", "search", "sort", "page"].map((k) => [k, place.get(k) ?? ""]));
let ticket = null;
let dims = [];
const REFRESH = 1000; // milliseconds between two updates, at least

class Refused extends Error {}

async function call(path, options = {}, query = {}) {
  const address = new URL(`/api/v1/${path}`, location.href);
  if (name !== null) address.searchParams.set("study", name);
  for (const [key, value] of Object.entries(query)) if (value !== "") address.searchParams.set(key, value);
  const response = await fetch(address, { ...options, cache: "no-store" });
  if (response.ok) return response.json();
  let detail = `the server answered with ${response.status}`;
  try { detail = (await response.json()).detail; } catch { /* no problem JSON: the number must do */ }
  throw new Refused(detail);
}

const post = (path, body) =>
  call(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

function notice(text) {
  $("notice").hidden = !text;
  $("notice").textContent = text;
}

const replace = (node, children) => node.replaceChildren(...children);
const duration = (s) => s < 90 ? `${Math.max(1, Math.round(s))} s` : s < 5400 ? `${Math.round(s / 60)} min` : s < 172800 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86400)} days`;

// ---- the list -------------------------------------------------------------------------------

async function showList() {
  const { studies } = await call("studies");
  replace($("studies").tBodies[0], studies.map((study) => el("tr", {},
    el("th", { scope: "row" }, el("a", { href: `/?${new URLSearchParams({ study: study.name })}` }, study.name)),
    el("td", {}, el("span", { class: `state ${study.state}` }, study.state)),
    el("td", { class: "number" }, number(study.told)),
    el("td", { class: "number" }, number(study.pulls)),
    el("td", {}, new Date(study.created * 1000).toLocaleString()))));
  $("no-studies").hidden = studies.length > 0;
}

// ---- one study ------------------------------------------------------------------------------

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
  const time = view.seconds === null ? "" : `, ${duration(view.seconds)} at the present rate`;
  if (view.observed === 0) return "How much longer it takes can be said once something is measured.";
  return `About ${number(Math.round(view.forecast))} more observations would prove every group, if gaps are as they look${time}.`;
}

function showPlane(view) {
  const decided = view.dims.filter((d) => d.direction !== "watch");
  $("plane-section").hidden = decided.length < 2;
  for (const axis of ["x", "y"]) {
    if ($(axis).options.length !== decided.length) replace($(axis), decided.map((d) => el("option", { value: d.name }, d.name)));
    $(axis).value = view.plane[axis];
  }
  const directions = Object.fromEntries(decided.map((d) => [d.name, `(${d.direction}${d.unit ? `, ${d.unit}` : ""})`]));
  replace($("plane"), [plane(view.plane, directions, (label) => { if (label.length < 40) why(label); })]);
  const left = view.plane.left_out ? [el("span", {}, `${number(view.plane.left_out)} groups that are out are not drawn`)] : [];
  replace($("legend"), [..."iuo"].map((letter) => el("span", {},
    svg("svg", { class: "badge", viewBox: "0 0 14 14", "aria-hidden": "true" }, mark(letter, 7, 7)),
    { i: "in", u: "undecided", o: "out" }[letter])).concat(left));
}

function showGroups(view) {
  const decided = view.dims.filter((d) => d.direction !== "watch").map((d) => d.name);
  const head = el("tr", {}, el("th", { scope: "col" }, "Group"), el("th", { scope: "col" }, "Status"),
    el("th", { scope: "col", title: "what the observations prove by themselves" }, "Certificate"),
    el("th", { scope: "col", class: "number" }, "Pulls"), el("th", { scope: "col", class: "number" }, "Needs about"),
    ...decided.map((d) => el("th", { scope: "col" }, d)));
  replace($("groups").tHead, [head]);
  const scale = {};
  for (const d of decided) {
    const ends = view.rows.flatMap((row) => row.efficiency[d]).filter((v) => v !== null);
    scale[d] = ends.length ? [Math.min(...ends), Math.max(...ends)] : [0, 1];
  }
  const focused = document.activeElement?.dataset?.group;
  replace($("groups").tBodies[0], view.rows.map((row) => el("tr", {},
    el("th", { scope: "row" }, el("button", { type: "button", class: "link", "data-group": row.group, click: () => why(row.group) }, row.group)),
    el("td", {}, badge(row.status)), el("td", {}, badge(row.certificate)),
    el("td", { class: "number" }, number(row.pulls)),
    el("td", { class: "number" }, row.status === "undecided" && row.certificate === "undecided" ? number(row.needs === null ? null : Math.round(row.needs)) : ""),
    ...decided.map((d) => el("td", {}, interval(row.efficiency[d], ...scale[d], row.status[0]))))));
  if (focused !== undefined) [...$("groups").querySelectorAll("button")].find((b) => b.dataset.group === focused)?.focus();
  const size = 25, first = view.page * size;
  $("where").textContent = view.matching ? `${first + 1} to ${first + view.rows.length} of ${number(view.matching)}` : "no group";
  $("back").disabled = view.page === 0;
  $("on").disabled = first + view.rows.length >= view.matching;
}

function showWorkers(view) {
  const s = view.status;
  $("leases").textContent = `${number(s.free)} observations wait for a worker, ${number(s.leased)} are being made` +
    (s.overdue ? `, ${number(s.overdue)} are overdue and handed out again.` : ".");
  replace($("workers").tBodies[0], view.workers.map((w) => el("tr", {}, el("th", { scope: "row" }, w.owner || "unnamed"),
    el("td", { class: "number" }, number(w.leased)), el("td", { class: "number" }, number(w.told)),
    el("td", {}, w.ago === null ? "before this server started" : w.ago < 2 ? "now" : `${duration(w.ago)} ago`))));
  if (!view.workers.length) $("workers").tBodies[0].append(el("tr", {}, el("td", { colspan: 4 }, "No worker has asked yet.")));
  if (view.more_workers) $("workers").tBodies[0].append(el("tr", {}, el("td", { colspan: 4 }, `and ${view.more_workers} more`)));
  replace($("failures"), s.failures.map((f) => el("li", {}, `${f.arm} of ${f.group} failed ${f.times === 1 ? "once" : `${f.times} times`}: ${f.reason || "no reason given"}`)));
  replace($("arms"), view.top_arms.length ? [bars(view.top_arms)] : ["Nothing is measured yet."]);
}

// ---- updates --------------------------------------------------------------------------------

let running = false, again = false, last = 0;

async function refresh() {
  if (running) { again = true; return; }
  running = true;
  try {
    const wait = last + REFRESH - Date.now();
    if (wait > 0) await new Promise((done) => setTimeout(done, wait));
    again = false;
    last = Date.now();
    const view = await call("view", {}, settings);
    dims = view.dims;
    for (const show of [showSummary, showPlane, showGroups, showWorkers]) show(view);
    $("study").dataset.told = view.status.told;
    $("study").dataset.observed = view.observed;
    if (view.observed < view.status.told) again = true; // the certificate is a little behind
    notice("");
  } catch (error) {
    notice(error instanceof Refused ? error.message : "The server does not answer; trying again.");
  } finally {
    running = false;
    if (again) refresh();
  }
}

function follow() {
  const source = new EventSource(`/api/v1/events?${new URLSearchParams({ study: name })}`);
  source.addEventListener("open", () => { $("live").textContent = "live"; $("live").className = "on"; });
  source.addEventListener("head", refresh);
  source.addEventListener("error", () => {
    $("live").textContent = "not connected"; $("live").className = "";
    if (source.readyState === EventSource.CLOSED) setTimeout(follow, 3000);
  });
  setInterval(() => { if (!document.hidden) refresh(); }, 10000);
}

function set(key, value) {
  settings[key] = value;
  if (key !== "page") settings.page = "";
  const query = new URLSearchParams({ study: name });
  for (const [k, v] of Object.entries(settings)) if (v !== "") query.set(k, v);
  history.replaceState(null, "", `/?${query}`);
  last = 0;
  refresh();
}

// ---- why ------------------------------------------------------------------------------------

async function why(group) {
  try {
    const found = await call("explain", {}, { group });
    const certificate = found.certificate;
    $("why-head").textContent = found.group;
    replace($("why-status"), ["Decided: ", badge(found.status), "  Certificate: ", badge(certificate.status)]);
    $("why-text").textContent = certificate.text;
    $("why-sentence").textContent = found.sentence;
    const names = dims.filter((d) => d.direction !== "watch").map((d) => d.name);
    replace($("why-arms"), [table(["Arm", "Pulls", ...names, "Still matters in"], found.arms.map((arm) =>
      [arm.arm, number(arm.pulls), ...names.map((d) => arm.mean === null ? "–" : number(arm.mean[d])), (arm.dims ?? []).join(", ")]))]);
    replace($("why-reasons"), certificate.reasons.length ? [table(["Against", "In", "Difference", "Proven", "Needs about"],
      certificate.reasons.map((r) => [r.rival, r.dim, number(r.margin), r.proven ? "yes" : "no", r.more === null ? "" : number(Math.round(r.more))]))] : []);
    if (!$("why").open) $("why").showModal();
  } catch (error) {
    notice(error.message);
  }
}

function table(head, rows) {
  return el("table", {}, el("thead", {}, el("tr", {}, ...head.map((h) => el("th", { scope: "col" }, h)))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell) => el("td", {}, cell))))));
}

// ---- telling --------------------------------------------------------------------------------

function showTicket() {
  for (const id of ["tell", "give-back"]) $(id).hidden = ticket === null;
  $("take").hidden = ticket !== null;
  $("ticket").textContent = ticket === null ? "Take a ticket: it says which arm to measure."
    : `Measure ${ticket.arm} of ${ticket.group} (its pull ${ticket.index}, seed ${ticket.seed}) and enter the values.`;
  replace($("values"), ticket === null ? [] : dims.map((d, k) => el("label", {}, `${d.name}${d.unit ? ` (${d.unit})` : ""} `,
    el("input", { type: "text", inputmode: "decimal", required: true, autocomplete: "off", id: `value-${k}` }))));
  if (ticket !== null) $("value-0").focus();
}

function said(id, text, bad = false) {
  $(id).textContent = text;
  $(id).className = bad ? "bad" : "";
}

async function attempt(id, work) {
  try { said(id, await work()); } catch (error) { said(id, error.message, true); }
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

const upload = () => attempt("upload-said", async () => {
  said("upload-said", "Uploading…");
  const file = $("file").files[0];
  const found = await call("import", { method: "POST", headers: { "Content-Type": "text/csv" }, body: file });
  refresh();
  return found.new ? `${number(found.new)} observations are kept.` : "This table was uploaded before; nothing has changed.";
});

// ---- start ----------------------------------------------------------------------------------

async function showGuarantee() {
  const { guarantee } = await call("answer");
  $("guarantee").querySelector("p").textContent = `${guarantee.level}: ${guarantee.statement}.`;
  replace($("guarantee").querySelector("ul"), guarantee.assumptions.map((text) => el("li", {}, text)));
}

function listen() {
  for (const id of ["x", "y", "only", "sort"]) $(id).addEventListener("change", (e) => set(id, e.target.value));
  let typing = 0;
  $("search").addEventListener("input", (e) => { clearTimeout(typing); typing = setTimeout(() => set("search", e.target.value), 250); });
  $("back").addEventListener("click", () => set("page", String(Math.max(0, Number(settings.page) - 1))));
  $("on").addEventListener("click", () => set("page", String(Number(settings.page) + 1)));
  $("take").addEventListener("click", take);
  $("give-back").addEventListener("click", giveBack);
  $("hand").addEventListener("submit", (e) => { e.preventDefault(); tell(); });
  $("upload").addEventListener("submit", (e) => { e.preventDefault(); upload(); });
  for (const id of ["only", "sort", "search"]) if (settings[id]) $(id).value = settings[id];
  const files = [["export", "All observations (CSV)", "observations.csv"], ["decisions", "Decisions (JSON)", "decisions.json"],
    ["answer", "Answer (JSON)", "answer.json"], ["study", "The study's description (JSON)", "study.json"]];
  replace($("downloads"), files.map(([path, label, file]) =>
    el("li", {}, el("a", { href: `/api/v1/${path}?${new URLSearchParams({ study: name })}`, download: file }, label))));
}

async function start() {
  try {
    const { role } = await call("session");
    if (name === null) {
      $("list").hidden = false;
      await showList();
      setInterval(() => { if (!document.hidden) showList().catch((error) => notice(error.message)); }, 3000);
      return;
    }
    $("study").hidden = false;
    $("writing").hidden = role !== "writer";
    listen();
    await refresh();
    follow();
    await showGuarantee();
  } catch (error) {
    notice(error instanceof Refused ? error.message : `The page cannot be shown: ${error.message}`);
  }
}

start();
