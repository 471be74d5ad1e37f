// What the page says of its own doings: above everything, or beside a form.

import { $, say } from "./dom.js";

export function notice(text) {
  $("notice").hidden = !text;
  say($("notice"), text);
}

export function said(id, text, bad = false) {
  say($(id), text);
  $(id).classList.toggle("bad", bad);
}

export async function attempt(id, work) {
  try { said(id, await work()); } catch (error) { said(id, error.message, true); }
}
