// Making studies and removing them.

import { $, say } from "./dom.js";
import { attempt, said } from "./notice.js";
import { call, pageOf, post, Refused, study } from "./service.js";

function parsed(text) {
  try { return JSON.parse(text); } catch (error) { throw new Refused(`This is not valid JSON: ${error.message}`); }
}

const make = () => attempt("make-said", async () => {
  const text = $("make-text").value, name = $("make-name").value.trim();
  const made = text.trimStart().startsWith("{")
    ? await post("studies", { ...parsed(text), ...(name && { name }) })
    : await post("studies/file", { text, ...(name && { name }) });
  location.assign(pageOf(made.name));
  return "";
});

const demo = () => attempt("list-said", async () => {
  const made = await post("demo", {});
  location.assign(pageOf(made.name));
  return "";
});

export function listenToMaking() {
  $("make-open").addEventListener("click", () => $("make-dialog").showModal());
  $("make-shut").addEventListener("click", () => $("make-dialog").close());
  $("make-file").addEventListener("change", async (e) => { $("make-text").value = await e.target.files[0]?.text() ?? ""; });
  $("make").addEventListener("submit", (e) => { e.preventDefault(); make(); });
  for (const id of ["make-demo", "make-demo-first"]) $(id).addEventListener("click", demo);
}

const remove = (hush, goOn) => attempt("remove-said", async () => {
  hush();
  try { await call("study", { method: "DELETE" }); } catch (error) { goOn(); throw error; }
  location.assign("/");
  return "";
});

export function listenToRemoving(hush, goOn) {
  const same = () => $("remove-name").value.trim() === study.trim();
  $("remove").addEventListener("click", () => {
    say($("remove-which"), study);
    $("remove-name").value = "";
    $("remove-sure").disabled = true;
    said("remove-said", "");
    $("remove-dialog").showModal();
  });
  $("remove-name").addEventListener("input", () => { $("remove-sure").disabled = !same(); });
  $("remove-not").addEventListener("click", () => $("remove-dialog").close());
  $("remove-form").addEventListener("submit", (e) => { e.preventDefault(); if (same()) remove(hush, goOn); });
}
