// The page: asks the service for aggregates and shows them. All text from users is set as text.

import { $, el, number, replace } from "./dom.js";
import { listenToMaking, listenToRemoving } from "./making.js";
import { notice } from "./notice.js";
import { load } from "./plot.js";
import { address, call, page, Refused, settings, study } from "./service.js";
import { showStudy } from "./study.js";
import { listenToWriting, setDims } from "./writing.js";

const REFRESH = 1000; // milliseconds between two updates, at least

// ---- the list -------------------------------------------------------------------------------

async function showList() {
  const { studies } = await call("studies");
  replace($("studies").tBodies[0], studies.map((row) => el("tr", {},
    el("th", { scope: "row" }, el("a", { href: page(row.name) }, row.name)),
    el("td", {}, el("span", { class: `state ${row.state}` }, row.state)),
    el("td", { class: "number" }, number(row.told)),
    el("td", { class: "number" }, number(row.pulls)),
    el("td", {}, new Date(row.created * 1000).toLocaleString()))));
  $("no-studies").hidden = studies.length > 0;
}

// ---- updates --------------------------------------------------------------------------------

let running = false, again = false, last = 0;
let source = null, asked = new AbortController(); // nothing is asked of a study that is being removed

async function refresh() {
  if (running) { again = true; return; }
  running = true;
  try {
    const wait = last + REFRESH - Date.now();
    if (wait > 0) await new Promise((done) => setTimeout(done, wait));
    again = false;
    last = Date.now();
    if (asked.signal.aborted) return;
    const view = await call("view", { signal: asked.signal }, settings);
    setDims(view.dims);
    showStudy(view);
    if (view.observed < view.status.told) again = true; // the certificate is a little behind
    notice("");
  } catch (error) {
    if (asked.signal.aborted) return;
    notice(error instanceof Refused ? error.message : "The server does not answer; trying again.");
  } finally {
    running = false;
    if (again && !asked.signal.aborted) refresh();
  }
}

function follow() {
  source = new EventSource(address("events"));
  source.addEventListener("open", () => { $("live").textContent = "live"; $("live").className = "on"; });
  source.addEventListener("head", refresh);
  source.addEventListener("error", () => {
    $("live").textContent = "not connected"; $("live").className = "";
    if (source.readyState === EventSource.CLOSED && !asked.signal.aborted) setTimeout(follow, 3000);
  });
}

function hush() {
  asked.abort();
  source.close();
}

function goOn() {
  asked = new AbortController();
  follow();
  refresh();
}

function set(key, value) {
  settings[key] = value;
  if (key !== "page") settings.page = "";
  const query = new URLSearchParams({ study });
  for (const [k, v] of Object.entries(settings)) if (v !== "") query.set(k, v);
  history.replaceState(null, "", `/?${query}`);
  last = 0;
  refresh();
}

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
  for (const id of ["only", "sort", "search"]) if (settings[id]) $(id).value = settings[id];
  const files = [["export", "All observations (CSV)", "observations.csv"], ["decisions", "Decisions (JSON)", "decisions.json"],
    ["answer", "Answer (JSON)", "answer.json"], ["study", "The study's description (JSON)", "study.json"]];
  replace($("downloads"), files.map(([path, label, file]) =>
    el("li", {}, el("a", { href: address(path), download: file }, label))));
}

async function startStudy(role) {
  $("study").hidden = false;
  $("writing").hidden = role !== "writer";
  listen();
  listenToWriting(refresh);
  if (role === "writer") listenToRemoving(hush, goOn);
  await refresh();
  follow();
  setInterval(() => { if (!document.hidden) refresh(); }, 10000);
  requestAnimationFrame(() => setTimeout(load)); // texts and tables are painted first
  await showGuarantee();
}

async function startList(role) {
  $("list").hidden = false;
  if (role === "writer") listenToMaking();
  await showList();
  setInterval(() => { if (!document.hidden) showList().catch((error) => notice(error.message)); }, 3000);
}

async function start() {
  try {
    const { role } = await call("session");
    await (study === null ? startList(role) : startStudy(role));
  } catch (error) {
    if (asked.signal.aborted) return;
    notice(error instanceof Refused ? error.message : `The page cannot be shown: ${error.message}`);
  }
}

start();
