// The proof file: "verified" is shown when the verifier has run on the server, and not before.

import { $, el, replace, visible } from "./dom.js";
import { said } from "./notice.js";
import { address, call } from "./service.js";

const FILES = [["proof", "The proof (JSON)", "proof.json"], ["export", "Its observations (CSV)", "rows.csv"], ["links", "The links of the log (CSV)", "links.csv"]];

export function startProof() {
  replace($("proof-files"), FILES.map(([path, label, file]) => el("li", {}, el("a", { href: address(path), download: file }, label))));
  $("prove").addEventListener("click", prove);
}

async function prove() {
  $("prove").disabled = true;
  $("proof-lines").hidden = $("proof-files").hidden = true;
  said("proof-said", "The verifier is running…");
  try {
    const found = await call("verified");
    $("proof-lines").textContent = found.lines.map(visible).join("\n");
    $("proof-lines").hidden = false;
    $("proof-files").hidden = !found.verified;
    said("proof-said", found.verified ? `verified ${found.digest}` : `NOT verified: ${found.failed}: ${found.why}`, !found.verified);
  } catch (error) {
    said("proof-said", error.message, true);
  } finally {
    $("prove").disabled = false;
  }
}
