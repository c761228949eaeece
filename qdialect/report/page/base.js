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
const decibels = (noise) => noise.sqnr_db == null ? "none" : [`${noise.sqnr_db.toFixed(1)} dB`,
  noise.steps == null ? null : html("span", {class: "quiet op"}, `${noise.steps.toPrecision(2)} steps`)];
const percent = (part) => part > 0 && part < 0.0005 ? "< 0.1 %" : `${(100 * part).toFixed(1)} %`;

const shape = (tensor) => tensor.shape == null ? "…" : tensor.shape.length
  ? tensor.shape.map((size) => size ?? "?").join("×") : "scalar";
const bare = (operator) => operator.slice(operator.lastIndexOf(".") + 1);

// Names break behind their separators, not in the middle of a word.
const breakable = (name) => name.split(/(?<=[/.])/).flatMap((part, k) => (k ? [html("wbr"), part] : [part]));

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
