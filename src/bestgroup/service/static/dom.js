// Elements of the page. Names of users only ever become text nodes, with nothing hidden in them.

const SVG = "http://www.w3.org/2000/svg";
export const $ = (id) => document.getElementById(id);
export const replace = (node, children) => node.replaceChildren(...children.filter((child) => child !== null));

// Control characters, those of writing direction too, are shown by their codes.
export const visible = (text) => String(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (c) => ("\n\t".includes(c) ? c : coded(c.codePointAt(0))));
const coded = (code) => (code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : code < 65536 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`);
const SPOKEN = ["title", "aria-label", "placeholder"];

export const say = (node, text) => { node.textContent = visible(text); };

export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false)
      node.setAttribute(name, value === true ? "" : SPOKEN.includes(name) ? visible(value) : value);
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) node.append(child instanceof Node ? child : visible(child));
  return node;
}

// A table's body, filled anew; whoever had the focus on a link or button keeps it.
export function fillBody(table, rows) {
  const held = document.activeElement, key = table.contains(held) ? held.dataset.key : undefined;
  replace(table.tBodies[0], rows);
  if (key !== undefined) [...table.querySelectorAll("[data-key]")].find((node) => node.dataset.key === key)?.focus();
}

export const head = (table, names, right = []) =>
  replace(table.tHead, [el("tr", {}, names.map((name, k) => el("th", { scope: "col", class: right.includes(k) ? "number" : null }, name)))]);

export const name = (text) => el("span", { class: text.length > 20 ? "name" : "name short", title: text.length > 24 ? text : null }, text);

// Buttons of which one is pressed. `choices` are [value, label] pairs.
export function switcher(holder, choices, value, choose) {
  const key = JSON.stringify(choices);
  if (holder.dataset.choices !== key) {
    holder.dataset.choices = key;
    replace(holder, choices.map(([v, label]) => el("button", { type: "button", "data-value": v, click: () => holder.choose(v) }, label)));
  }
  holder.choose = choose;
  for (const button of holder.children) button.setAttribute("aria-pressed", String(button.dataset.value === value));
}

export function pager(holder, page, size, shown, all, go) {
  const first = page * size;
  replace(holder, all <= size && page === 0 ? [] : [
    el("span", { class: "hint" }, all ? `${number(first + 1)} to ${number(first + shown)} of ${number(all)}` : "none"),
    el("button", { type: "button", "data-key": "before", disabled: page === 0, click: () => go(page - 1) }, "Previous"),
    el("button", { type: "button", "data-key": "after", disabled: first + shown >= all, click: () => go(page + 1) }, "Next")]);
}

// A line to copy.
export function copyable(pre, text) {
  if (pre.textContent === visible(text)) return;
  say(pre, text);
  pre.tabIndex = 0;
  pre.nextElementSibling?.remove();
  const button = el("button", { type: "button", class: "icon", click: async () => {
    try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch { getSelection().selectAllChildren(pre); button.textContent = "Selected"; }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  } }, "Copy");
  pre.after(button);
}

// ---- numbers and times ------------------------------------------------------------------------

export function number(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (Math.abs(value) >= 1e5 || Number.isInteger(value)) return Math.round(value).toLocaleString("en");
  return Number(value.toPrecision(digits)).toLocaleString("en", { maximumSignificantDigits: digits });
}

export const count = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;
export const about = (n) => number(n >= 100 ? Number(n.toPrecision(2)) : Math.max(1, Math.round(n)));
export const span = (low, high) => `${low === null ? "−∞" : number(low, 3)} … ${high === null ? "∞" : number(high, 3)}`;

export function duration(s) {
  if (s < 90) return `${Math.max(1, Math.round(s))} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  return s < 172800 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86400)} days`;
}

export const ago = (at) => { const s = Date.now() / 1000 - at; return s < 3 ? "just now" : `${duration(s)} ago`; };
export const moment = (at) => new Date(at * 1000).toLocaleString();
export const listed = (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);
export const titled = (d) => `${d.name}${d.unit ? ` (${d.unit})` : ""}`;
