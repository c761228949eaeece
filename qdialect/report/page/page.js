// The parts of the page around graph and table.
"use strict";

const NUMBERS = [
  ["integer", "integers"], ["pairs", "between casts, up to the runtime"],
  ["weights", "floats with integer weights"], ["float", "floats"],
];

function bar(title, parts) {
  const sum = parts.reduce((all, [, value]) => all + value, 0) || 1;
  const words = parts.filter(([, value]) => value)
    .map(([kind, value]) => `${percent(value / sum)} ${NUMBERS.find(([name]) => name === kind)[1]}`).join(", ");
  return html("div", {class: "row"}, html("span", {class: "quiet"}, title),
    html("div", {class: "bar", role: "img", "aria-label": `${title}: ${words}`}, parts.filter(([, value]) => value)
      .map(([kind, value]) => html("span", {class: kind, style: `width:${(100 * value) / sum}%`}))),
    html("span", {class: "words"}, words));
}

function bars() {
  const {as_read: read, integer, total: all, layers_not_counted: uncounted, open_sizes: open} = report.multiply_adds;
  if (!all) return at("bars").append(html("p", {class: "quiet"}, "No layer sums products."));
  at("bars").append(
    bar("Before", NUMBERS.map(([kind]) => [kind, read[kind] ?? 0])),
    bar("After", [["integer", integer], ["float", all - integer]]),
    html("p", {class: "quiet"}, `${count(all)} multiply-adds in one run`,
      open ? ", axes of unknown size counted as 1" : "",
      uncounted ? `; ${uncounted} layers could not be counted` : "", "."));
}

function plain(heads, rows) {
  return html("table", {}, html("thead", {}, html("tr", {}, heads.map(([name, number]) =>
    html("th", {scope: "col", class: number ? "n" : null}, name)))),
  html("tbody", {}, rows.map((row) => html("tr", {}, row.map((cell, k) =>
    html("td", {class: heads[k][1] ? "n" : null}, cell))))));
}

// Why layers stay in float, the reasons that cost most first.
function causes() {
  const found = new Map();
  report.layers.forEach((layer, k) => {
    const reason = layer.reasons[0];
    if (!reason) return;
    const key = `${reason.id} ${reason.message}`;
    const cause = found.get(key) ?? {reason, layers: [], products: 0, operators: new Map()};
    cause.layers.push(k);
    cause.products += (layer.multiply_adds ?? 0) - layer.integer_multiply_adds;
    cause.operators.set(layer.operator, (cause.operators.get(layer.operator) ?? 0) + 1);
    found.set(key, cause);
  });
  const rows = [...found.values()].sort((a, b) => b.products - a.products || b.layers.length - a.layers.length);
  const who = ({layers, operators}) => html("button", {class: "link", title: "show the most expensive one",
    onclick: () => {
      const cost = (k) => report.layers[k].multiply_adds ?? 0;
      selection.set(layers.reduce((most, k) => (cost(k) > cost(most) ? k : most)), null, "causes");
      at("work").scrollIntoView();
    }}, [...operators].sort((a, b) => b[1] - a[1]).map(([operator, n]) => `${n} ${operator}`).join(", "));
  at("causes").append(!rows.length ? html("p", {}, "Every layer with an integer form is integer.")
    : plain([["Share", true], ["Layers"], ["Reason and fix"]], rows.map((cause) =>
      [cause.products ? percent(cause.products / total) : "–", who(cause), explained(cause.reason)])));
}

function operators() {
  const {before, after} = report.operators, names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  at("operators").append(plain([["Operator"], ["Before", true], ["After", true]], names.map((name) =>
    [name, before[name] ?? "–", after[name] ?? "–"])));
}

function passes() {
  const heads = [["Pass"], ["Class"], ["Rewrites", true], ["Nodes after", true]];
  const row = (one) => [html("code", {}, one.name), one.exactness, one.rewrites, one.ops];
  const idle = report.passes.filter((one) => !one.rewrites), busy = report.passes.filter((one) => one.rewrites);
  at("passes").append(busy.length ? plain(heads, busy.map(row)) : html("p", {}, "No pass rewrote anything."),
    folded(`${idle.length} passes that found nothing to do`, idle.length, () => plain(heads, idle.map(row))));
}

const folded = (title, some, content) => some
  ? html("details", {}, html("summary", {}, title), content()) : null;

function rules() {
  if (!report.breaches.length) return at("rules").parentElement.remove();
  const rows = [...report.breaches].sort((a, b) => a.read - b.read);
  at("rules").append(plain([["Node"], ["Operator"], ["Read"], ["Rule and fix"]], rows.map((one) =>
    [html("code", {}, breakable(one.node)), one.op, one.read ? "yes" : "no: the model is refused", explained(one)])));
}

function remarks() {
  at("passes").append(folded(`${report.remarks.length} remarks: what else stood in the way`, report.remarks.length,
    () => plain([["Pass"], ["Node"], ["Remark"]], report.remarks.map((one) => [html("code", {}, one.pass),
      [one.op.replace("onnx.", ""), " ", html("code", {}, breakable(one.node))], explained(one)]))) ?? "");
}

function provenance() {
  const {command, files, versions} = report.provenance;
  const rows = [
    command && ["Command", html("code", {}, command)],
    ["Target", `${report.target}, form ${report.form}, exactness ${report.exactness}`],
    ...files.map((file) => [file.role, [html("code", {}, breakable(file.path)), ` ${bytes(file.bytes)}`, html("br"),
      html("code", {class: "quiet hash"}, `sha256 ${file.sha256}`)]]),
    ["Versions", Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(", ")],
  ].filter(Boolean);
  at("provenance").append(...rows.flatMap(([name, value]) => [html("dt", {}, name), html("dd", {}, value)]));
}

bars();
causes();
rules();
operators();
passes();
remarks();
provenance();
for (const [colour, there] of Object.entries(measured))
  if (!there) document.querySelector(`[data-colour=${colour}]`).remove();
if (!measured.time && !measured.noise) at("colours").remove();
table.start();
drawing.start();
