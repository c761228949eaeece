// What is selected: figures, why it is in float, its tensors, and how the values of its result are spread.
"use strict";

const arrow = (before, after, text) => before == null ? after == null ? null : text(after)
  : after == null ? text(before) : `${text(before)} → ${text(after)}`;

function figures(layer, node) {
  const {noise} = layer ?? {};
  const time = layer && arrow(layer.seconds_before, layer.seconds, seconds);
  return [
    ["Module", layer && layer.module.length > 0 && layer.module.join(".")],
    ["Multiply-adds", layer?.multiply_adds != null && `${count(layer.multiply_adds)}, ${percent(layer.multiply_adds / total)}`],
    ["Time", time || (node?.seconds != null && seconds(node.seconds))],
    ["Noise", noise && `${decibels(noise)}${noise.steps ? `, at most ${noise.steps.toPrecision(2)} steps` : ""}`],
    ["Constants", layer && layer.bytes_before + layer.bytes > 0 && `${bytes(layer.bytes_before)} → ${bytes(layer.bytes)}`],
    ["Became", layer && report.nodes.length > 0 && fate(layer)],
  ].filter(([, value]) => value);
}

// The values of a tensor on the samples; the range that its integers cover is marked.
function histogram(name) {
  const found = report.activations[name];
  if (!found || !found.counts.length) return null;
  const {counts, first, width, low, high, range} = found, most = Math.max(...counts), W = 320, H = 72;
  const start = Math.min(first, range?.[0] ?? first);
  const end = Math.max(first + width * counts.length, range?.[1] ?? first), x = (v) => ((v - start) / (end - start || 1)) * W;
  const bars = counts.map((n, k) => {
    const tall = n ? Math.max(1.5, Math.sqrt(n / most) * H) : 0;
    return svg("rect", {x: x(first + k * width), y: H - tall, width: Math.max(0.8, (W * width) / (end - start || 1) - 0.6), height: tall});
  });
  const said = `${number(low)} to ${number(high)}`;
  const covered = range && `integers cover ${number(range[0])} to ${number(range[1])}${
    found.outside ? `, ${percent(found.outside)} of the values are outside` : ""}`;
  return html("figure", {}, svg("svg", {class: "histogram", viewBox: `0 0 ${W} ${H + 3}`, preserveAspectRatio: "none", role: "img",
    "aria-label": `values of ${name}: ${said}`},
  range && svg("rect", {class: "range", x: x(range[0]), y: 0, width: Math.max(1, x(range[1]) - x(range[0])), height: H}), bars,
  svg("rect", {class: "axis", x: 0, y: H + 1, width: W, height: 1})),
  html("figcaption", {class: "quiet"}, html("code", {}, breakable(name)), ` on the samples: ${said}`, covered && `; ${covered}`,
    ". Heights are square roots of counts."));
}

const tensorLine = (t) => html("li", {}, html("code", {}, t.name ? breakable(t.name) : "·"), " ",
  html("span", {class: "quiet"}, `${t.element} ${shape(t)}${t.is_constant ? ", constant" : ""}${t.scale ? `, scale ${t.scale}` : ""}`));

function showDetails(node) {
  const layer = selection.layer == null ? null : report.layers[selection.layer], shown = node ?? layer;
  const pane = at("details");
  pane.hidden = !shown;
  if (!shown) return pane.replaceChildren();
  const outputs = [...(node?.outputs ?? []), ...(layer?.outputs ?? [])].map((t) => t.name);
  const drawn = [...new Set(outputs.flatMap((name) => [name, name.replace(/_quantized$/, "")]))]
    .map(histogram).find((one) => one);
  // Tensors state their scales: a kernel's operands that repeat them are left out.
  const isTold = (t) => t.is_constant && t.shape?.length === 0 && node && node.kind !== "float";
  const lists = [["Takes", shown.inputs.filter((t) => !isTold(t))], ["Makes", shown.outputs]].filter(([, list]) => list.length);
  const name = layer && (!node || node.layer === selection.layer) ? title(layer) : shown.name ?? shown.node;
  pane.replaceChildren(
    html("h3", {}, html("span", {class: `dot ${layer ? layerKind(layer) : node.kind}`}), html("code", {}, breakable(name)),
      html("span", {class: "quiet"}, bare(shown.operator), layer && layer.node !== name ? ` ${layer.node}` : "")),
    html("dl", {}, figures(layer, node).flatMap(([word, value]) => [html("dt", {}, word), html("dd", {}, value)])),
    ...(layer?.reasons ?? []).map((reason) => html("p", {class: "reason"}, explained(reason))),
    drawn ?? "",
    ...lists.map(([word, list]) => html("div", {class: "tensors"}, html("span", {class: "quiet"}, word), html("ul", {}, list.map(tensorLine)))),
    layer ? copying(`Copy --keep-float`, `--keep-float ${quoted(layer.node)}`) : "");
}
