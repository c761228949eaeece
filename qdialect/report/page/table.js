// One row for each node of the model as it was read, or for modules that fold: what it became, at what cost, and why not integers.
"use strict";

const total = report.multiply_adds.total || 1;
const measured = {time: report.layers.some((l) => l.seconds != null), noise: report.layers.some((l) => l.noise != null)};
const MODULES = report.layers.some((layer) => layer.module.length > 1);

// Operators of the nodes that a layer became, each with how often.
function became(layer) {
  const counts = new Map();
  for (const k of layer.became) counts.set(report.nodes[k].operator, (counts.get(report.nodes[k].operator) ?? 0) + 1);
  return [...counts].map(([operator, n]) => (n > 1 ? `${n} ${bare(operator)}` : bare(operator))).join(", ");
}

function fate(layer) {
  if (layer.became.length || !report.nodes.length) return became(layer);
  const into = layer.into && report.layers.find((one) => one.node === layer.into);
  return html("span", {class: "quiet"}, layer.into ? ["in ", html("code", {}, breakable(into ? title(into) : layer.into))] : "folded away");
}

// The node of the result that does a layer's work: the last that is no cast, on integers if there is one.
function mainNode(layer) {
  const nodes = layer.became.map((k) => report.nodes[k]);
  return nodes.findLast((n) => n.kind === "integer") ?? nodes.findLast((n) => n.kind !== "cast") ?? nodes[0];
}

const expectation = ({expected}) => expected && ` (${seconds(expected.float_seconds)} in float, ${
  seconds(expected.integer_seconds)} in integers${expected.batch === 1 ? "" : ` at a batch of ${expected.batch}`})`;

// What was measured goes before what was expected.
const otherwise = ({measured_seconds: taken, expected}) => taken != null && expected && taken > 1.5 * expected.integer_seconds
  && html("span", {class: "fix"}, `Measured otherwise: it takes ${seconds(taken)} in float here, longer than integers are expected to`);

const explained = (one, short) => [typeset(one.message), expectation(one), " ", html("code", {class: "id"}, one.id),
  otherwise(one), !short && one.fix && html("span", {class: "fix"}, typeset(one.fix))].filter(Boolean);

const bar = (part, kind) => [html("span", {class: `share ${kind}`, style: `--part:${100 * part}%`}),
  html("span", {class: "part"}, percent(part))];
const sum = (layers, of) => layers.reduce((all, layer) => all + (of(layer) ?? 0), 0);
const known = (layers, of) => layers.some((layer) => of(layer) != null);
const loudest = (layers) => layers.reduce((most, layer) =>
  layer.noise && (!most || (layer.noise.sqnr_db ?? 1e3) < (most.sqnr_db ?? 1e3)) ? layer.noise : most, null);

// Each column of a layer, or of the layers of a module: what it is sorted by, and what it shows.
const COLUMNS = [
  {name: "Layer", hint: "in the order of the model"},
  {name: "Became", key: (layers) => layers.map(became).join(), cell: (layers) => layers.length === 1 ? html("span", {class: "fate", title: became(layers[0])}, fate(layers[0])) : "",
    hint: "the nodes of the result", when: report.nodes.length > 0},
  {name: "Share", number: true, hint: "of all multiply-adds", key: (layers) => known(layers, (l) => l.multiply_adds) ? sum(layers, (l) => l.multiply_adds) : -1,
    cell: (layers) => known(layers, (l) => l.multiply_adds) && bar(sum(layers, (l) => l.multiply_adds) / total, kindOf(layers))},
  {name: "Time", number: true, when: measured.time, hint: "median of one run on one thread, before and after",
    key: (layers) => known(layers, (l) => l.seconds) ? sum(layers, (l) => l.seconds) : -1,
    cell: (layers) => [known(layers, (l) => l.seconds) && seconds(sum(layers, (l) => l.seconds)),
      known(layers, (l) => l.seconds_before) && html("span", {class: "quiet op"}, `was ${seconds(sum(layers, (l) => l.seconds_before))}`)].filter(Boolean)},
  {name: "Noise", number: true, when: measured.noise, hint: "signal to noise of its result, against the model as read",
    key: (layers) => { const noise = loudest(layers); return noise ? -(noise.sqnr_db ?? 1e3) : -1e4; },
    cell: (layers) => {
      const noise = loudest(layers);
      return noise && [decibels(noise), noise.steps ? html("span", {class: "quiet op"}, `${noise.steps.toPrecision(2)} steps`) : ""];
    }},
].filter((column) => column.when !== false);

const kindOf = (layers) => {
  const kinds = new Set(layers.filter((l) => l.multiply_adds).map(layerKind));
  return kinds.size > 1 ? "mixed" : [...kinds][0] ?? layerKind(layers[0]);
};

// The modules of the exporter as a tree; a module in a module of nothing else is one with it.
function modules() {
  const root = {name: "", parts: [], layers: []}, found = new Map([["", root]]);
  report.layers.forEach((layer, k) => {
    let node = root, path = "";
    for (const part of layer.module) {
      path += `\0${part}`;
      let next = found.get(path);
      if (!next) found.set(path, (next = {name: part, path, parts: [], layers: []})), node.parts.push(next);
      node = next;
      node.layers.push(k);
    }
    node.parts.push(k);
  });
  const joined = (node) => {
    node.parts = node.parts.map((part) => typeof part === "number" ? part : joined(part));
    if (node.path && node.parts.length === 1) {
      const [only] = node.parts;
      return typeof only === "number" ? only : {...only, name: `${node.name}.${only.name}`};
    }
    return node;
  };
  root.parts = joined(root).parts;
  return root;
}

const table = {
  sorted: report.multiply_adds.total ? "Share" : "Layer", down: !!report.multiply_adds.total, text: "", isFloat: false, isTree: false,
  opened: new Set(), hits: [],

  start() {
    this.rows = report.layers.map((layer, k) => html("tr", {id: `layer-${k}`, class: layerKind(layer)},
      this.cells([layer], html("div", {class: "who"}, html("span", {class: `dot ${layerKind(layer)}`}), html("div", {},
        html("button", {class: "link", onclick: () => selection.set(k, null, "table")}, breakable(title(layer))),
        html("span", {class: "quiet op"}, layer.operator, title(layer) === layer.node ? "" : ` ${layer.node}`),
        layer.reasons.slice(0, 1).map((reason) => html("span", {class: "why"}, explained(reason, true))))))));
    this.heads = COLUMNS.map((column) => html("th", {scope: "col", class: column.number ? "n" : null, title: column.hint},
      html("button", {onclick: () => this.sort(column)}, column.name)));
    at("layers").append(html("thead", {}, html("tr", {}, this.heads)), (this.body = html("tbody")));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row?.id && !getSelection().toString()) selection.set(+row.id.slice(6), null, "table");
    });
    at("search").addEventListener("input", () => this.filter({text: at("search").value}));
    at("search").addEventListener("keydown", (event) => event.key === "Enter" && this.next(event.shiftKey ? -1 : 1));
    at("float-only").addEventListener("click", () => this.filter({isFloat: !this.isFloat}));
    at("tree").hidden = !MODULES;
    at("tree").addEventListener("click", () => { this.isTree = !this.isTree; this.arrange(); });
    selection.listeners.push((source) => this.show(source));
    this.arrange();
  },

  cells(layers, who) {
    return COLUMNS.map((column) => html("td", {class: column.number ? "n" : null, "data-name": column.name},
      column.cell ? column.cell(layers) || "" : who));
  },

  sort(column) {
    this.down = this.sorted === column.name ? !this.down : !!column.number;
    this.sorted = column.name;
    this.arrange();
  },

  moduleRow(node, depth) {
    const layers = node.layers.map((k) => report.layers[k]), isOpen = this.opened.has(node.path) || this.isFiltered;
    const floats = layers.filter((layer) => layer.is_float).length;
    const row = html("tr", {class: `module ${kindOf(layers)}`}, this.cells(layers, html("div", {class: "who"},
      html("button", {class: "link", "aria-expanded": String(isOpen), onclick: () => {
        isOpen ? this.opened.delete(node.path) : this.opened.add(node.path);
        this.arrange();
      }}, isOpen ? "▾ " : "▸ ", breakable(node.name)),
      html("span", {class: "quiet"}, ` ${several(layers.length, "layer")}${floats ? `, ${floats} with floats` : ""}`))));
    row.style.setProperty("--depth", depth);
    return [row, ...(isOpen ? this.ordered(node, depth + 1) : [])];
  },

  ordered(node, depth) {
    const column = COLUMNS.find((one) => one.name === this.sorted);
    const layersOf = (part) => (typeof part === "number" ? [part] : part.layers);
    const shown = node.parts.filter((part) => layersOf(part).some((k) => this.isShown[k]));
    const keyed = shown.map((part) => {
      const places = layersOf(part), layers = places.map((k) => report.layers[k]);
      return [part, column.key ? column.key(layers) : places[0], places[0]];
    });
    keyed.sort(([, a, i], [, b, j]) => {
      const less = typeof a === "number" ? a - b : String(a).localeCompare(String(b));
      return (this.down ? -less : less) || i - j;
    });
    return keyed.flatMap(([part]) => {
      if (typeof part !== "number") return this.moduleRow(part, depth);
      this.rows[part].style.setProperty("--depth", depth);
      return [this.rows[part]];
    });
  },

  get isFiltered() { return !!this.text || this.isFloat; },

  arrange() {
    this.isShown = report.layers.map((layer) => (!this.isFloat || layer.is_float)
      && (!this.text || matches(layer, this.text) || layer.became.some((n) => matches(report.nodes[n], this.text))));
    this.hits = report.layers.map((_, k) => k).filter((k) => this.isShown[k]);
    const column = COLUMNS.find((one) => one.name === this.sorted);
    this.heads.forEach((head, k) => head.setAttribute("aria-sort",
      COLUMNS[k] !== column ? "none" : this.down ? "descending" : "ascending"));
    this.tree ??= modules();
    const whole = this.isTree ? this.tree : {parts: report.layers.map((_, k) => k)};
    const rows = this.ordered(whole, 0);
    this.body.replaceChildren(...(rows.length ? rows : [html("tr", {}, html("td", {colspan: COLUMNS.length, class: "quiet"},
      this.isFloat && !this.text ? "No layer with an integer form is in float." : "No layer matches."))]));
    at("hits").replaceChildren(...(this.isFiltered ? [`${this.hits.length} of ${several(report.layers.length, "layer")}`] : []),
      ...(this.isFloat && this.hits.length ? [copying("Copy --keep-float",
        `--keep-float ${quoted(this.hits.map((k) => report.layers[k].node).join(","))}`)] : []));
    at("float-only").setAttribute("aria-pressed", this.isFloat);
    at("tree").setAttribute("aria-pressed", this.isTree);
    link.write();
  },

  filter(change) {
    Object.assign(this, change);
    this.arrange();
    drawing.find(this.isFiltered ? this.isShown : null, this.text);
  },

  next(step) {
    const {hits} = this, length = hits.length;
    if (!length) return;
    const k = hits.indexOf(selection.layer);
    selection.set(hits[k < 0 ? 0 : (k + step + length) % length], null, "search");
  },

  show(source) {
    this.rows.forEach((row, k) => row.classList.toggle("selected", k === selection.layer));
    if (selection.layer == null || source === "table") return;
    const row = this.rows[selection.layer], box = at("scroll");
    if (this.isTree && !row.isConnected) {
      const {module} = report.layers[selection.layer];
      module.forEach((_, k) => this.opened.add(module.slice(0, k + 1).map((part) => `\0${part}`).join("")));
      this.arrange();
    }
    if (!row.isConnected) return;
    const top = row.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop;
    box.scrollTop = top - box.clientHeight / 3;
  },
};
