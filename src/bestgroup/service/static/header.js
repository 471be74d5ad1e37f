// The head of the page: where one is, who one is, and whether the server is there.

import { $, el, replace, say } from "./dom.js";
import { here, to, VIEWS } from "./place.js";

let lostAt = 0;

export function showSession({ role, version }) {
  $("role").hidden = false;
  $("role").textContent = role;
  $("role").title = role === "writer" ? "You may look and change things" : "You may look, and change nothing";
  replace($("foot"), [el("span", {}, `bestgroup ${version} · you are a ${role} · `), el("a", { href: "/openapi.json" }, "API")]);
  for (const node of document.querySelectorAll("[data-writer]")) node.hidden = role !== "writer";
}

export function showTabs(study) {
  $("crumb").hidden = false;
  say($("crumb-name"), study);
  $("tabs").hidden = false;
  const { view } = here(), tabs = $("tabs");
  replace(tabs, VIEWS.map(([key, label]) => el("a", { href: to(key), "aria-current": key === view ? "page" : null }, label)));
  const now = tabs.querySelector("[aria-current]"); // on a phone not all tabs are in sight
  if (now) tabs.scrollLeft = now.offsetLeft - (tabs.clientWidth - now.offsetWidth) / 2;
}

export function connected() {
  lostAt = 0;
  $("lost").hidden = true;
  $("live").hidden = false;
  $("live").textContent = "live";
  $("live").className = "chip on";
}

// A stream that breaks for a moment is no news; a server that stays away is.
export function lost() {
  if (!lostAt) lostAt = Date.now();
  $("live").hidden = false;
  $("live").textContent = "not connected";
  $("live").className = "chip off";
  $("lost").textContent = `The server does not answer since ${new Date(lostAt).toLocaleTimeString()}; trying again. What is shown may be old.`;
  $("lost").hidden = false;
}

export function signedOut() {
  replace($("lost"), ["This server does not know you any more; it may have been started anew. ", el("a", { href: location.pathname + location.search }, "Sign in again"), "."]);
  $("lost").querySelector("a").addEventListener("click", (event) => { event.preventDefault(); location.reload(); });
  $("lost").hidden = false;
  $("live").className = "chip off";
  $("live").textContent = "signed out";
}
