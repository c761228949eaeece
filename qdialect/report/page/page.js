// The parts of the page around graph and table.
"use strict";

const NUMBERS = [
  ["integer", "integers"], ["pairs", "between casts, up to the runtime"],
  ["weights", "floats with integer weights"], ["float", "floats"],
];

function stripe(name, parts) {
  const whole = parts.reduce((all, [, value]) => all + value, 0) || 1;
  const words = parts.filter(([, value]) => value)
    .map(([kind, value]) => `${percent(value / whole)} ${NUMBERS.find(([one]) => one === kind)[1]}`).join(", ");
  return html("div", {class: "row"}, html("span", {class: "quiet"}, name),
    html("div", {class: "bar", role: "img", "aria-label": `${name}: ${words}`}, parts.filter(([, value]) => value)
      .map(([kind, value]) => html("span", {class: kind, style: `width:${(100 * value) / whole}%`}))),
    html("span", {class: "words"}, words));
}

function bars() {
  const {as_read: read, integer, total: all, layers_not_counted: uncounted, open_sizes: open} = report.multiply_adds;
  if (!all) return at("bars").append(html("p", {class: "quiet"}, "No layer sums products."));
  at("bars").append(
    html("p", {class: "quiet"}, `${count(all)} multiply-adds in one run`,
      open ? ", axes of unknown size counted as 1" : "",
      uncounted ? `; ${several(uncounted, "layer")} could not be counted` : "", ", of"),
    stripe("Before", NUMBERS.map(([kind]) => [kind, read[kind] ?? 0])),
    stripe("After", [["integer", integer], ["float", all - integer]]));
}

// What the user asked for, the figure that matters most first: [figure, what it is].
function figuresOf({summary, multiply_adds: work}) {
  const {task, seconds: time, noise, bytes: size, layers} = summary;
  const faster = time && time.before / time.after, of = (value) => `${task.unit === "%" ? value.toFixed(1) : +value.toFixed(3)}${task.unit && ` ${task.unit}`}`;
  return {
    task: task && [`${of(task.before)} → ${of(task.after)}`,
      `${task.name}, ${several(task.samples, "sample")}${task.interval ? `, ±${+task.interval.toPrecision(2)}` : ""}`],
    time: time && [faster >= 1 ? `${faster.toFixed(2)}× faster` : `${(1 / faster).toFixed(2)}× slower`,
      `${seconds(time.before)} → ${seconds(time.after)} in ${time.engine}, one thread`],
    noise: noise && [decibels(noise), noise.sqnr_db == null ? "to the model as read" : "signal to noise of the outputs"],
    size: size.after > 0 && [`${bytes(size.after)} of ${bytes(size.before)}`, "the file, after and before"],
    integers: work.total > 0 && [percent(work.integer / work.total),
      `of multiply-adds in integers${layers.total ? `, ${layers.integer} of ${several(layers.total, "layer")}` : ""}`],
  };
}

function tiles(other) {
  const own = figuresOf(report), others = other && figuresOf(other);
  at("tiles").replaceChildren(...Object.entries(own).filter(([, one]) => one).map(([name, [figure, what]]) => html("div", {class: `tile ${name}`},
    html("strong", {}, figure), html("span", {class: "quiet"}, what),
    others && html("span", {class: "other-figure"}, others[name] ? `other: ${others[name][0]}` : "other: not measured"))));
}

function plain(heads, rows) {
  return html("table", {class: "plain"}, html("thead", {}, html("tr", {}, heads.map(([name, isNumber]) =>
    html("th", {scope: "col", class: isNumber ? "n" : null}, name)))),
  html("tbody", {}, rows.map((row) => html("tr", {}, row.map((cell, k) =>
    html("td", {class: heads[k][1] ? "n" : null}, cell))))));
}

// Equal reasons of several nodes as one row: its figure, the operators, the reason, and what else is to say.
function grouped(rows, key) {
  const found = new Map();
  for (const row of rows) {
    const one = found.get(key(row)) ?? {rows: [], operators: new Map()};
    one.rows.push(row);
    one.operators.set(row.operator, (one.operators.get(row.operator) ?? 0) + 1);
    found.set(key(row), one);
  }
  return [...found.values()];
}

const kinds = ({operators}) => [...operators].sort((a, b) => b[1] - a[1]).map(([operator, n]) => `${n} ${operator}`).join(", ");
const listed = (rows) => html("div", {class: "list"}, rows.map((cells) => html("div", {class: "cause"}, cells.map((cell) => html("span", {}, cell)))));

// Why layers stay in float, the reasons that cost most first.
function causes() {
  const inFloat = (layer) => (layer.multiply_adds ?? 0) - layer.integer_multiply_adds;
  const layers = report.layers.filter((layer) => layer.reasons.length);
  const rows = grouped(layers, ({reasons: [reason]}) => `${reason.id} ${reason.message}`)
    .map((one) => ({...one, products: sum(one.rows, inFloat)}))
    .sort((a, b) => b.products - a.products || b.rows.length - a.rows.length);
  const who = (one) => html("button", {class: "link", title: "show the most expensive one", onclick: () => {
    const most = one.rows.reduce((a, b) => ((b.multiply_adds ?? 0) > (a.multiply_adds ?? 0) ? b : a));
    selection.set(report.layers.indexOf(most), null, "causes");
    at("work").scrollIntoView();
  }}, kinds(one));
  const unlike = (one) => {
    const n = one.rows.filter((layer) => otherwise(layer.reasons[0])).length;
    return n ? html("span", {class: "fix"}, `Measured otherwise of ${n} of them: see the layers`) : "";
  };
  at("causes").append(!rows.length ? html("p", {}, "Every layer with an integer form is integer.")
    : listed(rows.map((one) => [one.products ? percent(one.products / total) : "–", who(one),
      [...explained({...one.rows[0].reasons[0], expected: null}), unlike(one)]])));
}

// Which rules of the target nodes break; the nodes are folded.
function rules() {
  if (!report.breaches.length) return at("rules").parentElement.remove();
  const rows = grouped(report.breaches.map((one) => ({...one, operator: one.op})), (one) => `${one.read} ${one.id} ${one.message}`)
    .sort((a, b) => a.rows[0].read - b.rows[0].read || b.rows.length - a.rows.length);
  at("rules").append(listed(rows.map((one) => [one.rows.length, kinds(one), [
    one.rows[0].read ? "" : html("strong", {}, "The target refuses the model: "), ...explained(one.rows[0]),
    folded(several(one.rows.length, "node"), true, () => html("ul", {}, one.rows.map(({node}) => html("li", {}, html("code", {}, breakable(node)))))),
  ]])));
}

// The candidates as points: noise against the time that is expected, the front of those that no other beats, the chosen one.
function candidates() {
  const all = report.candidates.filter((one) => one.sqnr_db != null && one.time > 0);
  if (all.length < 2) return at("candidates").parentElement.remove();
  const W = Math.min(800, Math.max(280, at("candidates").clientWidth)), H = 260, pad = {left: 46, right: 14, top: 24, bottom: 38};
  const times = [...all.map((one) => one.time), 1], dbs = all.map((one) => one.sqnr_db);
  const [t0, t1] = [Math.min(...times) - 0.03, Math.max(...times) + 0.03], [d0, d1] = [Math.min(...dbs) - 2, Math.max(...dbs) + 2];
  const x = (t) => pad.left + ((t - t0) / (t1 - t0)) * (W - pad.left - pad.right);
  const y = (d) => H - pad.bottom - ((d - d0) / (d1 - d0)) * (H - pad.top - pad.bottom);
  const front = all.filter((a) => !all.some((b) => b.time <= a.time && b.sqnr_db >= a.sqnr_db && (b.time < a.time || b.sqnr_db > a.sqnr_db)))
    .sort((a, b) => a.time - b.time);
  const ticks = (low, high, step) => Array.from({length: Math.max(0, Math.floor(high / step) - Math.ceil(low / step) + 1)}, (_, k) => (Math.ceil(low / step) + k) * step);
  const step = (span) => [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50].find((one) => span / one <= 8) ?? 100;
  const said = (one) => `${one.name}: ${one.sqnr_db.toFixed(1)} dB, ${percent(one.time)} of the float time expected`;
  const drawn = svg("svg", {class: "front", width: W, height: H, role: "img", "aria-label": `${all.length} candidates, noise against expected time`},
    ticks(t0, t1, step(t1 - t0)).flatMap((t) => [svg("path", {class: "grid", d: `M${x(t)} ${pad.top}V${H - pad.bottom}`}),
      svg("text", {x: x(t), y: H - pad.bottom + 15, "text-anchor": "middle"}, `${Math.round(100 * t)} %`)]),
    ticks(d0, d1, step(d1 - d0)).flatMap((d) => [svg("path", {class: "grid", d: `M${pad.left} ${y(d)}H${W - pad.right}`}),
      svg("text", {x: pad.left - 6, y: y(d) + 4, "text-anchor": "end"}, `${+d.toFixed(1)}`)]),
    svg("path", {class: "float-time", d: `M${x(1)} ${pad.top}V${H - pad.bottom}`}),
    svg("text", {x: x(1) - 5, y: pad.top + 10, "text-anchor": "end"}, "float model"),
    svg("text", {x: (W + pad.left) / 2, y: H - 5, "text-anchor": "middle"}, "expected time, of the float model's: left is faster"),
    svg("text", {x: pad.left - 6, y: 12, "text-anchor": "end"}, "dB"),
    svg("path", {class: "line", d: front.map((one, k) => `${k ? "L" : "M"}${x(one.time)} ${y(one.sqnr_db)}`).join("")}),
    all.map((one) => svg("circle", {cx: x(one.time), cy: y(one.sqnr_db), r: one.chosen ? 7 : 4.5,
      class: one.chosen ? "chosen" : front.includes(one) ? "best" : "tried"}, svg("title", {}, said(one)))));
  const rows = [...report.candidates].sort((a, b) => a.time - b.time).map((one) => [one.chosen ? html("strong", {}, `${one.name} (chosen)`) : one.name,
    one.sqnr_db == null ? "–" : `${one.sqnr_db.toFixed(1)} dB`, percent(one.time), one.layers]);
  at("candidates").append(drawn, html("p", {class: "quiet legend"}, html("i", {class: "dot chosen"}), "chosen ", html("i", {class: "dot best"}),
    "no other is both faster and quieter ", html("i", {class: "dot tried"}), "tried"),
  folded(`${report.candidates.length} candidates as a table`, true, () => plain([["Candidate"], ["Signal to noise", true], ["Expected time", true], ["Layers in integers", true]], rows)));
}

function operators() {
  const {before, after} = report.operators, names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  at("operators").append(plain([["Operator"], ["Before", true], ["After", true]], names.map((name) =>
    [name, before[name] ?? "–", after[name] ?? "–"])));
}

function passes() {
  const heads = [["Pass"], ["Class"], ["Rewrites", true], ["Nodes after", true]];
  const row = (one) => [html("code", {}, breakable(one.name)), one.exactness, one.rewrites, one.ops];
  const idle = report.passes.filter((one) => !one.rewrites), busy = report.passes.filter((one) => one.rewrites);
  at("passes").append(busy.length ? plain(heads, busy.map(row)) : html("p", {}, "No pass rewrote anything."),
    folded(`${idle.length} passes that found nothing to do`, idle.length, () => plain(heads, idle.map(row))) ?? "");
}

const folded = (words, some, content) => some
  ? html("details", {}, html("summary", {}, words), content()) : null;

function remarks() {
  at("passes").append(folded(`${several(report.remarks.length, "remark")}: what else stood in the way`, report.remarks.length,
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

function download() {
  const data = new Blob([JSON.stringify(report, null, 2), "\n"], {type: "application/json"});
  const name = document.title.replace(/\.onnx$/, "");
  const anchor = html("a", {download: `${name}.report.json`});
  anchor.href = URL.createObjectURL(data);
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 1000);
}

for (const line of document.querySelectorAll("#verdict li span:last-child, #verdict li:not(:has(span))"))
  line.textContent = typeset(line.textContent);
tiles();
bars();
causes();
rules();
candidates();
operators();
passes();
remarks();
provenance();
for (const [colour, there] of Object.entries(measured))
  if (!there) document.querySelector(`[data-colour=${colour}]`).remove();
if (!measured.time && !measured.noise) at("colours").remove();
at("noise-legend").hidden = !measured.noise;
at("download").addEventListener("click", download);
at("take-other").addEventListener("change", (event) => event.target.files[0] && takeOther(event.target.files[0]));
table.start();
drawing.start();
const initial = {view: drawing.view, colour: drawing.colour, sorted: table.sorted, down: table.down};
link.start();
