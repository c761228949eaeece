// One row for each node of the model as it was read: what it became, at what cost, and why it is not in integers.
"use strict";

const total = report.multiply_adds.total || 1;
const measured = {time: report.layers.some((l) => l.seconds != null), noise: report.layers.some((l) => l.noise != null)};

// Operators of the nodes that a layer became, each with how often.
function became(layer) {
  const counts = new Map();
  for (const k of layer.became) counts.set(report.nodes[k].operator, (counts.get(report.nodes[k].operator) ?? 0) + 1);
  return [...counts].map(([operator, n]) => (n > 1 ? `${n} ${bare(operator)}` : bare(operator))).join(", ");
}

function fate(layer) {
  if (layer.became.length || !report.nodes.length) return became(layer);
  return html("span", {class: "quiet"}, layer.into ? ["in ", html("code", {}, breakable(layer.into))] : "folded away");
}

// The node of the result that does a layer's work: the last that is no cast, on integers if there is one.
function mainNode(layer) {
  const nodes = layer.became.map((k) => report.nodes[k]);
  return nodes.findLast((n) => n.kind === "integer") ?? nodes.findLast((n) => n.kind !== "cast") ?? nodes[0];
}

const data = (tensors) => tensors.filter((t) => t.shape == null || t.shape.length > 1 || !t.is_constant);

function types(layer) {
  const node = mainNode(layer);
  return node ? `${[...new Set(data(node.inputs).map((t) => t.element))].join(" × ")} → ${node.outputs[0]?.element ?? ""}` : "";
}

const scales = (layer) => {
  const node = mainNode(layer), all = node ? [...node.inputs, ...node.outputs] : [];
  return [...new Set(all.map((t) => t.scale).filter(Boolean))].join(" → ");
};

const explained = (one) => [one.message, " ", html("code", {class: "id"}, one.id),
  one.fix && html("span", {class: "fix"}, one.fix)];

const COLUMNS = [
  {name: "#", key: (layer, k) => k, cell: (layer, k) => k + 1, number: true},
  {name: "Layer", key: (layer) => layer.node, cell: (layer, k) => html("div", {class: "who"},
    html("span", {class: `dot ${layerKind(layer)}`}), html("div", {},
      html("button", {class: "link", onclick: () => selection.set(k, null, "table")}, breakable(layer.node)),
      html("span", {class: "quiet op"}, layer.operator)))},
  {name: "Became", key: became, cell: fate},
  {name: "Share", key: (layer) => layer.multiply_adds ?? -1, number: true, cell: (layer) => layer.multiply_adds == null ? "" : [
    html("span", {class: `share ${layerKind(layer)}`, style: `--part:${(100 * layer.multiply_adds) / total}%`}),
    html("span", {class: "part"}, percent(layer.multiply_adds / total))]},
  {name: "Multiply-adds", key: (layer) => layer.multiply_adds ?? -1, cell: (layer) => layer.multiply_adds == null ? "" : count(layer.multiply_adds),
    number: true},
  {name: "Time", key: (layer) => layer.seconds ?? -1, number: true, when: measured.time,
    cell: (layer) => layer.seconds == null ? "" : seconds(layer.seconds)},
  {name: "Noise", key: (layer) => layer.noise ? -(layer.noise.sqnr_db ?? 1e3) : -1e4, number: true, when: measured.noise,
    cell: (layer) => layer.noise && decibels(layer.noise)},
  {name: "Why not integer, and fix", key: (layer) => layer.reasons[0]?.message ?? "", wide: true,
    cell: (layer) => layer.reasons.map((reason) => html("div", {}, explained(reason))),
    when: report.layers.some((layer) => layer.reasons.length)},
  {name: "Types", key: types, cell: types, line: true},
  {name: "Shape", key: (layer) => layer.outputs[0] ? shape(layer.outputs[0]) : "",
    cell: (layer) => layer.outputs[0] ? shape(layer.outputs[0]) : "", line: true},
  {name: "Scales", key: scales, cell: scales, line: true},
].filter((column) => column.when !== false);

const table = {
  sorted: report.multiply_adds.total ? "Share" : "#", down: !!report.multiply_adds.total,

  start() {
    this.rows = report.layers.map((layer, k) => html("tr", {id: `layer-${k}`, class: layerKind(layer)},
      COLUMNS.map((column) => html("td", {class: column.number ? "n" : column.line ? "line" : column.wide ? "wide" : null},
        column.cell(layer, k)))));
    this.heads = COLUMNS.map((column) => html("th", {scope: "col", class: column.number ? "n" : null},
      html("button", {onclick: () => this.sort(column)}, column.name)));
    at("layers").append(html("thead", {}, html("tr", {}, this.heads)), (this.body = html("tbody")));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row && !getSelection().toString()) selection.set(+row.id.slice(6), null, "table");
    });
    at("search").addEventListener("input", () => this.find(at("search").value));
    at("search").addEventListener("keydown", (event) => event.key === "Enter" && this.next(event.shiftKey ? -1 : 1));
    selection.listeners.push((source) => this.show(source));
    this.arrange();
  },

  sort(column) {
    this.down = this.sorted === column.name ? !this.down : !!column.number && column.name !== "#";
    this.sorted = column.name;
    this.arrange();
  },

  arrange() {
    const column = COLUMNS.find((one) => one.name === this.sorted), keys = report.layers.map(column.key);
    const order = keys.map((_, k) => k).sort((a, b) => {
      const less = typeof keys[a] === "number" ? keys[a] - keys[b] : String(keys[a]).localeCompare(String(keys[b]));
      return (this.down ? -less : less) || a - b;
    });
    this.heads.forEach((head, k) => head.setAttribute("aria-sort",
      COLUMNS[k] !== column ? "none" : this.down ? "descending" : "ascending"));
    this.body.append(...order.map((k) => this.rows[k]));
  },

  find(text) {
    this.hits = [];
    report.layers.forEach((layer, k) => {
      const hit = !text || matches(layer, text) || layer.became.some((n) => matches(report.nodes[n], text));
      this.rows[k].hidden = !hit;
      if (hit && text) this.hits.push(k);
    });
    at("hits").textContent = text ? `${this.hits.length} of ${report.layers.length}` : "";
    drawing.find(text);
  },

  next(step) {
    const {hits} = this, length = hits?.length;
    if (!length) return;
    const k = hits.indexOf(selection.layer);
    selection.set(hits[k < 0 ? 0 : (k + step + length) % length], null, "search");
  },

  show(source) {
    this.rows.forEach((row, k) => row.classList.toggle("selected", k === selection.layer));
    if (selection.layer == null || source === "table") return;
    const row = this.rows[selection.layer], box = at("scroll");
    box.scrollTop = row.offsetTop - box.clientHeight / 3;
  },
};
