// Draws figures with plotly.js, which the server takes from the installed package and which is loaded
// after the first view is shown. Its rules of style go into the sheet charts.css through the CSSOM: the
// page's policy allows no style sheets as text.

import { $ } from "./dom.js";

const coarse = matchMedia("(pointer: coarse)").matches; // a finger scrolls the page, and zooms nothing
const figures = new Map(); // id of an element -> the function that makes its figure
let drawing = null; // the library, once it is there

// Plotly reads some HTML in texts: names must show as they are.
export const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
export const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

export function load() {
  const address = document.querySelector('meta[name="plotly"]')?.content;
  if (!address) {
    without("The charts need the package plotly, which the extra server brings: pip install 'bestgroup[server]'.");
    return;
  }
  const script = document.createElement("script");
  script.src = address;
  script.addEventListener("load", () => {
    drawing = window.Plotly;
    for (const id of figures.keys()) render(id);
  });
  script.addEventListener("error", () => without("The charts could not be loaded; reload the page to try again."));
  document.head.append(script);
}

function without(sentence) {
  $("no-charts").textContent = sentence;
  $("no-charts").hidden = false;
  document.body.classList.add("no-charts");
  $("arms-details").open = true;
}

// `make(colours)` returns { data, layout, label, open, height }; `key` tells whether anything has changed.
export function show(id, key, make) {
  const before = figures.get(id);
  if (before?.key === key) return;
  figures.set(id, { key, make });
  render(id);
}

export function forget(id) {
  figures.delete(id);
}

function render(id) {
  if (drawing === null || !figures.has(id)) return;
  const node = $(id), colours = palette();
  const { data, layout, label, open, height } = figures.get(id).make(colours);
  if (height) node.style.height = `${height}px`; // one in the layout is lost when the window is resized
  node.setAttribute("role", "figure");
  node.setAttribute("aria-label", label);
  const first = !node.classList.contains("js-plotly-plot");
  drawing.react(node, data, { ...base(colours), ...layout }, config(id));
  node.open = open;
  if (first) node.on("plotly_click", (event) => node.open?.(event.points[0]));
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const id of figures.keys()) render(id);
});

function palette() {
  const style = getComputedStyle(document.documentElement);
  const names = ["paper", "panel", "ink", "soft", "line", "in", "undecided-fill", "out", "front"];
  const found = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  return { ...found, undecided: found["undecided-fill"] };
}

// #rrggbb with an opacity.
export function faded(colour, opacity) {
  const [r, g, b] = [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
  return `rgba(${r},${g},${b},${opacity})`;
}

export function axis(colours, title) {
  return {
    title: { text: title, standoff: 8, font: { color: colours.soft } },
    gridcolor: colours.line, linecolor: colours.line, tickcolor: colours.line, zeroline: false,
    tickfont: { color: colours.soft }, automargin: true, fixedrange: coarse,
  };
}

function base(colours) {
  return {
    font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: colours.ink },
    paper_bgcolor: colours.panel, plot_bgcolor: colours.panel,
    hoverlabel: { bgcolor: colours.paper, bordercolor: colours.soft, align: "left", font: { color: colours.ink, size: 13 } },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colours.soft, activecolor: colours.ink },
    dragmode: coarse ? false : "zoom", hovermode: "closest", autosize: true,
  };
}

// A download is an SVG: a PNG would be painted by way of a blob, which the page's policy forbids.
const config = (id) => ({
  responsive: true, displaylogo: false, displayModeBar: coarse ? false : "hover", showTips: false,
  modeBarButtons: [["toImage", ...(id === "plane" ? ["zoom2d", "pan2d", "resetScale2d"] : [])]],
  toImageButtonOptions: { format: "svg", filename: `bestgroup-${id}` },
});
