// Where one is: the view, its settings and the group that is explained are all in the address, so that
// every view can be sent to somebody, and Back leads back.

import { study } from "./service.js";

export const VIEWS = [["overview", "Overview"], ["groups", "Groups"], ["course", "Course"], ["arms", "Arms and items"], ["workers", "Workers"], ["data", "Data"]];

export function here() {
  const query = Object.fromEntries(new URLSearchParams(location.search));
  if (!VIEWS.some(([view]) => view === query.view)) query.view = "overview";
  return query;
}

// The address of a view; settings that are empty are left out.
export function addressOf(settings) {
  const query = new URLSearchParams();
  if (study !== null) query.set("study", study);
  for (const [key, value] of Object.entries(settings))
    if (key !== "study" && value !== "" && value !== null && value !== undefined && !(key === "view" && value === "overview")) query.set(key, value);
  const text = query.toString();
  return text ? `/?${text}` : "/";
}

export const to = (view, settings = {}) => addressOf({ view, ...settings });

let arrive = () => {};
export const whenMoved = (work) => { arrive = work; addEventListener("popstate", work); };

export function go(url) {
  if (url === location.pathname + location.search) return;
  history.pushState(null, "", url);
  arrive();
}

// A setting of the present view; typing replaces the address, choosing adds to the history.
export function set(changes, typing = false) {
  const url = addressOf({ ...here(), ...changes });
  if (typing) { history.replaceState(null, "", url); arrive(); } else go(url);
}

// Links inside the study change the view without loading the page again.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || link.target || link.download) return;
  const url = new URL(link.href);
  if (study === null || url.origin !== location.origin || url.pathname !== "/" || url.searchParams.get("study") !== study) return;
  event.preventDefault();
  go(url.pathname + url.search);
});
