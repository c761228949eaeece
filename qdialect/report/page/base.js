// What all parts of the page share: elements, numbers as people read them, what is selected.
"use strict";

const report = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  element.append(...children.flat().filter((child) => child != null && child !== ""));
  return element;
}

const html = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

function scaled(value, units, step) {
  let k = 0;
  while (k < units.length - 1 && Math.abs(value) >= step) { value /= step; k++; }
  const digits = k === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)}${units[k] && ` ${units[k]}`}`;
}

const count = (value) => scaled(value, ["", "k", "M", "G", "T"], 1000);
const bytes = (value) => scaled(value, ["B", "kB", "MB", "GB"], 1000);
const seconds = (value) => value >= 0.1 ? `${value.toPrecision(3)} s`
  : value >= 1e-3 ? `${(value * 1e3).toPrecision(3)} ms` : `${(value * 1e6).toFixed(value < 1e-5 ? 1 : 0)} µs`;
const decibels = (noise) => noise.sqnr_db == null ? "identical" : `${noise.sqnr_db.toFixed(1)} dB`;
const percent = (part) => part > 0 && part < 0.0005 ? "< 0.1 %" : part < 1 && part > 0.9995 ? "> 99.9 %"
  : `${(100 * part).toFixed(part === 0 || part === 1 ? 0 : 1)} %`;
const number = (value) => Math.abs(value) >= 1e4 || (value && Math.abs(value) < 1e-3)
  ? value.toExponential(2) : String(+value.toPrecision(4));
const several = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

const shape = (tensor) => tensor.shape == null ? "…" : tensor.shape.length
  ? tensor.shape.map((size) => size ?? "?").join("×") : "scalar";
const bare = (operator) => operator.slice(operator.lastIndexOf(".") + 1);

// Lines that the command prints on any terminal, as a page may show them.
const typeset = (line) => line.replaceAll(" -> ", " → ").replace(/(\d)x\b/g, "$1×").replace(/(\d) us\b/g, "$1 µs");

// Names break behind their separators, not in the middle of a word.
const breakable = (name) => name.split(/(?<=[/._])/).flatMap((part, k) => (k ? [html("wbr"), part] : [part]));

// A layer is called after its module where the exporter numbers its nodes: `body.0.conv` says more than `node_Conv_7`.
const title = (layer) => !layer.node.includes("/") && layer.module.length ? layer.module.join(".") : layer.node;

const quoted = (name) => /^[\w./:-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`;

// A button that copies a text, also from a file, where the clipboard may be out of reach.
function copying(words, text) {
  const button = html("button", {class: "copy", title: text, onclick: async (event) => {
    event.stopPropagation();
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = html("textarea", {}, text);
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = words; }, 1200);
  }}, words);
  return button;
}

const selection = {
  layer: null,
  node: null,
  listeners: [],
  set(layer, node, source) {
    this.layer = layer;
    this.node = node;
    for (const listener of this.listeners) listener(source);
  },
};
