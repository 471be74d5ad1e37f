// Arms that come and go: a form, and what has changed so far.

import { $, count, el, number, replace } from "./dom.js";
import { attempt } from "./notice.js";
import { post } from "./service.js";

let groups = [];

export function startComing(refresh) {
  $("coming").addEventListener("submit", (event) => { event.preventDefault(); change(refresh, "join"); });
  $("coming-leave").addEventListener("click", () => { if ($("coming").reportValidity()) change(refresh, "withdraw"); });
}

const change = (refresh, what) => attempt("coming-said", async () => {
  const group = $("coming-group").value.trim(), arm = $("coming-arm").value.trim();
  if (what === "join" && !arm) throw new Error("Name the arm that joins.");
  if (what === "withdraw" && !arm && !window.confirm(`Withdraw ${group} with all of its arms?`)) return "Nothing has changed.";
  const body = what === "join" ? { group, arms: [arm], new: !groups.includes(group) } : { group, arm: arm || null };
  const found = await post(what, body);
  $("coming-arm").value = "";
  refresh();
  return `Done; ${number(found.left)} more can join.`;
});

// `left` is null where arms cannot come or go.
export function showComing(left, changes, names) {
  groups = names;
  if (left === null) { $("coming").hidden = true; return; }
  const words = changes.map((c) => `${c.kind === "join" ? "Joined" : "Left"} ${c.group} after ${count(c.pulls, "pull")}: ${c.arms.join(", ")}`);
  replace($("coming-changes"), [...words, `${number(left)} more can join`].map((text) => el("li", {}, text)));
}
