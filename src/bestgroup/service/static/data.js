// What the study is pinned to, its data to take away, and tables to bring.

import { $, el, number, replace, visible } from "./dom.js";
import { attempt, said } from "./notice.js";
import { here } from "./place.js";
import { address, call } from "./service.js";

let pinned = false;

export function startData(refresh) {
  $("report").href = address("report");
  const files = [["export", "All observations (CSV)", "observations.csv"], ["report", "The report (HTML)", "report.html"], ["decisions", "Decisions (JSON)", "decisions.json"],
    ["answer", "Answer (JSON)", "answer.json"], ["study", "The study's description (JSON)", "study.json"]];
  replace($("downloads"), files.map(([path, label, file]) => el("li", {}, el("a", { href: address(path), download: file }, label))));
  $("upload").addEventListener("submit", (event) => { event.preventDefault(); upload(refresh); });
}

export async function showData(signal) {
  document.title = visible(`Data of ${$("crumb-name").textContent} – bestgroup`);
  const { notes } = await call("view", { signal }, { size: 1 });
  $("checks").hidden = !notes.length;
  replace($("checks-list"), notes.map((note) => el("li", {}, note)));
  if (pinned) return false;
  const study = await call("study", { signal });
  if (here().view !== "data") return false;
  const noise = (n) => Object.entries(n).map(([k, v]) => (k === "kind" ? v : `${k} ${Array.isArray(v) ? v.map((x) => number(x)).join(", ") : typeof v === "number" ? number(v) : JSON.stringify(v)}`)).join(", ");
  const rows = [["Question", { pareto: "the Pareto optimal groups", best: "the best group", top: `the ${study.goal.m} best groups`, map: "the best group for every weight" }[study.goal.kind]],
    study.goal.weights ? ["Weights", study.goal.kind === "map" ? study.goal.weights.map((v) => v.map((w) => number(w)).join(", ")).join("; ") : study.goal.weights.join(", ")] : null,
    ["Slack (epsilon)", [study.goal.epsilon].flat().join(", ")], ["Error probability (delta)", String(study.delta)],
    ["Dims", study.dims.map((d) => `${d.name} (${d.direction}${d.unit ? `, ${d.unit}` : ""})`).join(", ")],
    ["Noise", noise(study.problem.noise ?? {})],
    ["Groups and arms", `${number(Object.keys(study.problem.groups).length)} groups, ${number(Object.values(study.problem.groups).reduce((n, arms) => n + Object.keys(arms).length, 0))} arms`],
    ["Algorithm", `${study.algorithm}${Object.keys(study.options).length ? ` (${Object.entries(study.options).map(([k, v]) => `${k} ${v}`).join(", ")})` : ""}`],
    ["Look-ahead (horizon)", number(study.horizon)], ["Seed", String(study.seed)], ["Made by", `bestgroup ${study.library}`]];
  replace($("pinned"), rows.filter((row) => row).flatMap(([term, text]) => [el("dt", {}, term), el("dd", {}, text)]));
  pinned = true;
  return false;
}

const upload = (refresh) => attempt("upload-said", async () => {
  said("upload-said", "Uploading…");
  const found = await call("import", { method: "POST", headers: { "Content-Type": "text/csv" }, body: $("file").files[0] });
  refresh();
  return found.new ? `${number(found.new)} observations are kept.` : "This table was uploaded before; nothing has changed.";
});
