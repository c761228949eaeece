// What is shown, in the page's address, so that a link leads to it: the selected layer, search, filters, colours.
"use strict";

const link = {
  isReady: false,

  write() {
    if (!this.isReady) return;
    const layer = report.layers[selection.layer], node = report.nodes.includes(selection.node) && selection.node;
    const parts = {
      layer: layer?.node, node: node && node.name, search: table.text, float: table.isFloat && "only", tree: table.isTree && "modules",
      view: drawing.view === initial.view ? "" : drawing.view, colour: drawing.colour === initial.colour ? "" : drawing.colour,
      sort: table.sorted === initial.sorted && table.down === initial.down ? "" : `${table.down ? "-" : ""}${table.sorted}`,
    };
    const words = new URLSearchParams(Object.entries(parts).filter(([, value]) => value)).toString();
    if (words === location.hash.slice(1)) return;
    history.replaceState(null, "", words ? `#${words}` : location.pathname + location.search);
  },

  read() {
    const words = new URLSearchParams(location.hash.slice(1)), get = (name) => words.get(name) ?? "";
    const [sign, sorted] = /^(-?)(.*)$/.exec(get("sort")).slice(1);
    if (COLUMNS.some((column) => column.name === sorted)) Object.assign(table, {sorted, down: !!sign});
    if (["read", "result"].includes(get("view")) && report.nodes.length) drawing.view = get("view");
    if (document.querySelector(`[data-colour="${CSS.escape(get("colour"))}"]`)) drawing.colour = get("colour");
    at("search").value = get("search");
    table.isTree = !!get("tree") && MODULES;
    drawing.draw();
    table.filter({text: get("search"), isFloat: !!get("float")});
    const layer = report.layers.findIndex((one) => one.node === get("layer"));
    const node = report.nodes.find((one) => one.name === get("node")) ?? null;
    if (layer >= 0 || node) selection.set(layer >= 0 ? layer : node.layer, node, "link");
    this.isReady = true;
    if (layer >= 0 || node) at("work").scrollIntoView();
  },

  start() {
    if (location.hash.length > 1) this.read();
    this.isReady = true;
    selection.listeners.push(() => this.write());
    window.addEventListener("hashchange", () => { this.isReady = false; this.read(); });
  },
};
