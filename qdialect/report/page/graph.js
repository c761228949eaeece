// The drawing of the graph: the result or the model as it was read, coloured by what a node computes on, time or noise.
"use strict";

const SIZE = {width: 150, height: 38, gap: 22, between: 26};
const ENDS = {kind: "end", layer: null, name: ""};

// Nodes and edges of one of the two graphs, inputs and outputs among them, in an order in which edges lead forward.
function graphOf(view) {
  const read = view === "read", {edges, inputs, outputs} = read ? report.as_read : report;
  const inner = read
    ? report.layers.map((one, k) => ({...one, name: one.node, kind: layerKind(one), layer: k}))
    : report.nodes;
  const nodes = [...inner], links = [...edges];
  for (const input of inputs) {
    for (const user of input.nodes) links.push([nodes.length, user]);
    nodes.push({...ENDS, operator: "input", name: input.tensor.name, inputs: [], outputs: [input.tensor]});
  }
  for (const output of outputs) {
    for (const maker of output.nodes) links.push([maker, nodes.length]);
    nodes.push({...ENDS, operator: "output", name: output.tensor.name, inputs: [output.tensor], outputs: []});
  }
  return forward(nodes, links);
}

function forward(nodes, links) {
  const into = new Int32Array(nodes.length), out = nodes.map(() => []);
  for (const [from, to] of links) { into[to]++; out[from].push(to); }
  const ready = nodes.map((_, k) => k).filter((k) => !into[k]).reverse(), place = new Int32Array(nodes.length);
  const order = [];
  while (ready.length) {
    const k = ready.pop();
    place[k] = order.push(k) - 1;
    for (const next of out[k].reverse()) if (!--into[next]) ready.push(next);
  }
  return {nodes: order.map((k) => nodes[k]), edges: links.map(([from, to]) => [place[from], place[to]])};
}

function layerKind(layer) {
  if (layer.is_gone && report.nodes.length) return "other";
  if (layer.multiply_adds) {
    const integer = layer.integer_multiply_adds;
    return integer === layer.multiply_adds ? "integer" : integer ? "mixed" : "float";
  }
  const kinds = layer.became.map((k) => report.nodes[k].kind);
  return ["float", "integer", "cast"].find((kind) => kinds.includes(kind)) ?? "other";
}

// How much a node stands out, 0 to 1; null where nothing was measured.
function heatOf(node, colour) {
  if (colour === "time") return node.seconds == null ? null : Math.sqrt(node.seconds / mostSeconds());
  const noise = node.layer == null ? null : report.layers[node.layer].noise;
  return noise && Math.min(1, Math.max(0, (60 - (noise.sqnr_db ?? Infinity)) / 50));
}

const mostSeconds = () => Math.max(1e-12, ...report.nodes.map((n) => n.seconds ?? 0),
  ...report.layers.map((layer) => layer.seconds ?? 0));

// As much of the end of a name as fits.
function ending(name, length) {
  if (name.length <= length) return name;
  const tail = name.slice(-length), cut = tail.search(/[/.]/);
  return `…${cut > 0 && cut < length / 2 ? tail.slice(cut) : tail}`;
}

const drawing = {
  view: report.nodes.length ? "result" : "read", colour: "kind", scale: 1, current: null,

  start() {
    for (const name of ["view", "colour"])
      for (const button of document.querySelectorAll(`[data-${name}]`))
        button.addEventListener("click", () => {
          this[name] = button.dataset[name];
          name === "view" ? this.draw() : this.paint();
          link.write();
        });
    document.querySelector("[data-view=result]").disabled = !report.nodes.length; // upstream MLIR has no ONNX nodes
    at("zoom-in").addEventListener("click", () => this.zoom(1.3));
    at("zoom-out").addEventListener("click", () => this.zoom(1 / 1.3));
    at("zoom-fit").addEventListener("click", () => this.isWhole ? this.fit() : this.whole());
    const pane = at("pane");
    pane.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 300), event);
    }, {passive: false});
    pane.addEventListener("scroll", () => this.frame());
    pane.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("resize", () => this.frame());
    this.drag(pane);
    this.drag(at("map"), true);
    selection.listeners.push((source) => this.show(source));
    this.draw();
  },

  // The mouse takes the drawing along; in the small map it is where the view goes.
  drag(element, isMap) {
    let last = null;
    const go = (event) => {
      const pane = at("pane");
      if (isMap) {
        const box = element.getBoundingClientRect();
        pane.scrollTop = ((event.clientY - box.top) / box.height) * pane.scrollHeight - pane.clientHeight / 2;
      } else if (last) {
        pane.scrollLeft -= event.clientX - last.clientX;
        pane.scrollTop -= event.clientY - last.clientY;
      }
      last = event;
    };
    element.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse" || event.button) return;
      last = event;
      if (isMap) go(event);
      const up = () => { window.removeEventListener("pointermove", go); element.classList.remove("dragged"); };
      window.addEventListener("pointermove", go);
      window.addEventListener("pointerup", up, {once: true});
      element.classList.add("dragged");
    });
  },

  draw() {
    const {nodes, edges} = (this.current = graphOf(this.view)), {width, height} = SIZE;
    const {places, lines, reach} = layout(nodes.length, edges, SIZE);
    this.places = places;
    this.size = [reach[0] + 24, reach[1] + height / 2 + 24];
    this.lines = lines.map((parts, k) => svg("path", {d: this.path(parts), "data-k": k}));
    this.boxes = nodes.map((node, k) => this.box(node, k));
    this.marks = places.map(([x, y]) => svg("rect", {x: x - width / 2, y: y - 13, width, height: height + 26}));
    const viewBox = `-12 ${-height / 2 - 12} ${this.size[0]} ${this.size[1]}`;
    at("pane").replaceChildren(fill(svg("svg", {id: "graph", viewBox, role: "img", "aria-label":
      `${nodes.length} nodes of ${this.view === "read" ? "the model as read" : "the result"}`}), {},
    [svg("g", {class: "lines"}, this.lines), svg("g", {}, this.boxes)]));
    this.window = svg("rect", {class: "window"});
    at("map").replaceChildren(svg("svg", {viewBox, preserveAspectRatio: "none", "aria-hidden": "true"},
      this.marks, this.window));
    this.index = new Map();
    const main = new Set(this.view === "read" ? nodes : report.layers.map(mainNode));
    nodes.forEach((node, k) => node.layer != null && main.has(node) && this.index.set(node.layer, k));
    this.paint();
    this.fit();
    this.show();
  },

  path(parts) {
    const half = SIZE.height / 2;
    return parts.map(([[x, y], [u, v], , toNode]) => {
      const from = y + half, to = v - half, middle = (from + to) / 2;
      const curve = x === u ? `V${to}` : `C${x} ${middle} ${u} ${middle} ${u} ${to}`;
      return `M${x} ${from}${curve}${toNode ? "" : `V${v + half}`}`;
    }).join("");
  },

  box(node, k) {
    const [x, y] = this.places[k], {width, height} = SIZE;
    const place = {x: x - width / 2, y: y - height / 2, width, height, rx: node.kind === "end" ? height / 2 : 5};
    return svg("g", {"data-k": k, onclick: () => selection.set(node.layer, node, "graph")},
      svg("title", {}, `${node.operator} ${node.name}`), svg("rect", place),
      svg("text", {x, y: y - 3, class: "operator"}, ending(bare(node.operator), 17)),
      svg("text", {x, y: y + 11, class: "name"}, ending(node.layer == null ? node.name : title(report.layers[node.layer]), 24)));
  },

  // Colours, and which buttons are pressed.
  paint() {
    for (const name of ["view", "colour"])
      for (const button of document.querySelectorAll(`[data-${name}]`))
        button.setAttribute("aria-pressed", button.dataset[name] === this[name]);
    const byKind = this.colour === "kind";
    this.current.nodes.forEach((node, k) => {
      const heat = byKind || node.kind === "end" ? null : heatOf(node, this.colour);
      const name = byKind || node.kind === "end" ? node.kind : heat == null ? "cold" : "heat";
      for (const mark of [this.boxes[k], this.marks[k]]) {
        mark.setAttribute("class", name);
        mark.style.setProperty("--heat", `${Math.round(100 * (heat ?? 0))}%`);
      }
    });
    at("legend").dataset.by = byKind ? "kind" : "heat";
    at("heat-name").textContent = this.colour === "time" ? `time, up to ${seconds(mostSeconds())}` : "noise, from 60 to 10 dB";
    if (table.isShown) this.find(table.isFiltered ? table.isShown : null, table.text);
  },

  // A readable size: as wide as the pane, but nodes neither tiny nor huge.
  fit() {
    const pane = at("pane");
    this.scale = Math.min(1.1, Math.max(0.55, (pane.clientWidth - 8) / this.size[0]));
    this.resize(false);
    if (this.at >= 0) this.centre(this.at);
    else pane.scrollTo((this.places[0][0] + 12) * this.scale - pane.clientWidth / 2, 0);
  },

  // All of the graph at once, however small: its colours and its outline.
  whole() {
    const pane = at("pane");
    this.scale = Math.min((pane.clientWidth - 4) / this.size[0], (pane.clientHeight - 4) / this.size[1]);
    this.resize(true);
  },

  zoom(factor, event) {
    const pane = at("pane"), box = pane.getBoundingClientRect();
    const x = event ? event.clientX - box.left : box.width / 2, y = event ? event.clientY - box.top : box.height / 2;
    const scale = Math.min(3, Math.max(0.01, this.scale * factor)), grown = scale / this.scale;
    const [left, top] = [(pane.scrollLeft + x) * grown - x, (pane.scrollTop + y) * grown - y];
    this.scale = scale;
    this.resize(false);
    pane.scrollTo(left, top);
  },

  resize(isWhole) {
    const graph = at("graph");
    this.isWhole = isWhole;
    graph.classList.toggle("far", this.scale < 0.3);
    at("zoom-fit").textContent = isWhole ? "Readable" : "Whole";
    graph.setAttribute("width", this.size[0] * this.scale);
    graph.setAttribute("height", this.size[1] * this.scale);
    this.frame();
  },

  // Where the view is, in the small map.
  frame() {
    const pane = at("pane"), part = this.size[1] / Math.max(1, pane.scrollHeight);
    fill(this.window, {x: -12, y: pane.scrollTop * part - SIZE.height / 2 - 12, width: this.size[0],
      height: pane.clientHeight * part}, []);
  },

  // The node that is selected, or the first that its layer became.
  show(source) {
    const k = selection.node ? this.current.nodes.indexOf(selection.node) : -1;
    const found = k >= 0 ? k : this.index.get(selection.layer) ?? -1;
    this.at = found;
    const near = new Set(this.current.edges.filter(([, to]) => to === found).map(([from]) => from));
    this.boxes.forEach((box, n) => {
      const layer = this.current.nodes[n].layer;
      box.classList.toggle("selected", n === found);
      box.classList.toggle("same", layer != null && layer === selection.layer);
    });
    this.lines.forEach((line, n) => line.classList.toggle("selected", n === found || near.has(n)));
    showDetails(found >= 0 ? this.current.nodes[found] : null);
    if (found >= 0 && source !== "graph") this.centre(found);
  },

  centre(k) {
    const pane = at("pane"), [x, y] = this.places[k].map((value) => value * this.scale);
    pane.scrollTo(x + 12 - pane.clientWidth / 2, y + 30 - pane.clientHeight / 2);
  },

  // Up and down along edges, left and right along a rank.
  key(event) {
    const {edges, nodes} = this.current, k = this.at ?? -1;
    const rank = () => nodes.map((_, n) => n).filter((n) => this.places[n][1] === this.places[k][1])
      .sort((a, b) => this.places[a][0] - this.places[b][0]);
    const row = k >= 0 && event.key.startsWith("Arrow") ? rank() : [];
    const next = {
      ArrowDown: () => edges.filter(([from]) => from === k).map(([, to]) => to)[0],
      ArrowUp: () => edges.filter(([, to]) => to === k).map(([from]) => from)[0],
      ArrowLeft: () => row[row.indexOf(k) - 1],
      ArrowRight: () => row[row.indexOf(k) + 1],
    }[event.key];
    if (!next || event.ctrlKey) return;
    event.preventDefault();
    const found = k < 0 ? 0 : next();
    if (found !== undefined) {
      selection.set(nodes[found].layer, nodes[found], "keys");
    }
  },

  // What is not found fades, and the first node that is found comes into view. layers: which are shown; null for all.
  find(layers, text) {
    const isFound = this.current.nodes.map((node) => !layers || (node.layer == null ? !!text && matches(node, text)
      : layers[node.layer] && (!text || matches(node, text) || matches(report.layers[node.layer], text))));
    this.boxes.forEach((box, k) => box.classList.toggle("dim", !isFound[k]));
    const first = layers ? isFound.indexOf(true) : -1;
    if (first >= 0) this.centre(first);
  },
};

const matches = (one, text) => {
  const words = [one.operator, one.name ?? one.node, (one.module ?? []).join("."), ...(one.outputs ?? []).map((t) => t.name),
    ...(one.reasons ?? []).map((reason) => reason.id)].join(" ");
  return words.toLowerCase().includes(text.toLowerCase());
};
