// The page: asks the service for what the present view shows, again whenever something changes.

import { $, say, visible } from "./dom.js";
import { connected, lost, showSession, showTabs, signedOut } from "./header.js";
import { startList } from "./listing.js";
import { listenToRemoving } from "./making.js";
import { notice } from "./notice.js";
import { here, VIEWS, whenMoved } from "./place.js";
import { address, call, Refused, study } from "./service.js";
import { showArms, startArms } from "./arms.js";
import { showCourse } from "./course.js";
import { showData, startData } from "./data.js";
import { startProof } from "./proof.js";
import { showGroups, startGroups } from "./groups.js";
import { showOverview, startOverview } from "./overview.js";
import { showWorkers, startWorkers } from "./workers.js";
import { showWhy, startWhy } from "./why.js";

const REFRESH = 1000; // milliseconds between two updates, at least
const SHOW = { overview: showOverview, groups: showGroups, course: showCourse, arms: showArms, workers: showWorkers, data: showData };

const drawn = new Set(); // views
let running = false, again = false, last = 0, ended = false;
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
    const { view } = here(), behind = await SHOW[view](asked.signal);
    drawn.add(view);
    showWaiting();
    if (behind) again = true; // the certificate is a little behind
    notice("");
    if ($("live").classList.contains("off")) connected();
  } catch (error) {
    if (!asked.signal.aborted) report(error);
  } finally {
    running = false;
    if (again && !asked.signal.aborted) refresh();
  }
}

function report(error) {
  if (error instanceof TypeError || (error instanceof Refused && error.status >= 502)) lost();
  else if (error.status === 401) { ended = true; signedOut(); hush(); }
  else if (error.status === 404 && /no study/.test(error.message)) showGone("There is no such study", `${error.message[0].toUpperCase()}${error.message.slice(1)}. It may have been removed, or its name is written otherwise.`);
  else if (error.status === 409) showGone("This study cannot be shown here", error.message);
  else notice(error.message);
}

function showGone(title, text) {
  hush();
  $("study").hidden = true;
  for (const id of ["tabs", "live", "lost"]) $(id).hidden = true;
  $("gone").hidden = false;
  say($("gone-head"), title);
  say($("gone-text"), text);
  document.title = visible(`${title} – bestgroup`);
}

function follow() {
  source = new EventSource(address("events"));
  source.addEventListener("open", connected);
  source.addEventListener("head", refresh);
  source.addEventListener("error", () => {
    if (ended || asked.signal.aborted) return;
    if (source.readyState !== EventSource.CLOSED) { lost(); return; }
    refresh(); // refused, for there are too many streams, say: the page goes on by asking
    setTimeout(() => asked.signal.aborted || follow(), 3000);
  });
}

function hush() {
  asked.abort();
  source?.close();
}

function goOn() {
  asked = new AbortController();
  follow();
  refresh();
}

// A view is laid out, for its charts need their sizes, and seen once there is something in it.
function showWaiting() {
  const { view } = here();
  $("waiting").hidden = drawn.has(view);
  for (const [key] of VIEWS) $(`view-${key}`).classList.toggle("waiting", !drawn.has(key));
}

// The address has changed: another view, or other settings of it.
function moved() {
  const { view } = here();
  for (const [key] of VIEWS) $(`view-${key}`).hidden = key !== view;
  showWaiting();
  if ($("study").dataset.view !== view) { $("study").dataset.view = view; scrollTo(0, 0); }
  showTabs(study);
  showWhy();
  last = 0;
  return refresh();
}

async function startStudy(role) {
  $("study").hidden = false;
  for (const start of [startOverview, startGroups, startArms, startWorkers, startData, startProof, startWhy]) start(refresh);
  if (role === "writer") listenToRemoving(hush, goOn);
  whenMoved(moved);
  await moved();
  if (!asked.signal.aborted) follow();
  setInterval(() => { if (!document.hidden) refresh(); }, 10000);
}

async function start() {
  try {
    const session = await call("session");
    showSession(session);
    await (study === null ? startList() : startStudy(session.role));
  } catch (error) {
    report(error);
  }
}

start();
