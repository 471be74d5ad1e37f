// The dialog that says why a group is in, out or undecided.

import { $, badge, number, replace, table } from "./dom.js";
import { notice } from "./notice.js";
import { call } from "./service.js";

export async function why(group, dims) {
  try {
    const found = await call("explain", {}, { group });
    const certificate = found.certificate;
    $("why-head").textContent = found.group;
    replace($("why-status"), ["Decided: ", badge(found.status), "  Certificate: ", badge(certificate.status)]);
    $("why-text").textContent = certificate.text;
    $("why-sentence").textContent = found.sentence;
    const names = dims.filter((d) => d.direction !== "watch").map((d) => d.name);
    replace($("why-arms"), [table(["Arm", "Pulls", ...names, "Still matters in"], found.arms.map((arm) =>
      [arm.arm, number(arm.pulls), ...names.map((d) => (arm.mean === null ? "–" : number(arm.mean[d]))), (arm.dims ?? []).join(", ")]))]);
    replace($("why-reasons"), certificate.reasons.length ? [table(["Against", "In", "Difference", "Proven", "Needs about"],
      certificate.reasons.map((r) => [r.rival, r.dim, number(r.margin), r.proven ? "yes" : "no", r.more === null ? "" : number(Math.round(r.more))]))] : []);
    if (!$("why").open) $("why").showModal();
  } catch (error) {
    notice(error.message);
  }
}
