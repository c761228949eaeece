// Another report beside this one: its figures under this one's, and the layers that differ. It is read from a file that the reader chooses.
"use strict";

// The data of a report, as JSON or in a page.
function dataIn(text) {
  const inside = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(text);
  const data = JSON.parse(inside ? inside[1] : text);
  if (data.format !== report.format) throw new Error("no report");
  return data;
}

async function takeOther(file) {
  try {
    showOther(dataIn(await file.text()), file.name);
  } catch {
    at("other").replaceChildren(html("p", {role: "alert"}, `${file.name} is not a report of qdialect, neither a page nor JSON.`));
    at("other").parentElement.hidden = false;
  }
}

const kindIn = (layer) => layer.is_gone ? "folded away" : layer.multiply_adds
  ? layer.integer_multiply_adds === layer.multiply_adds ? "integers" : layer.integer_multiply_adds ? "in part" : "float"
  : layer.is_float ? "float" : "";

function showOther(other, name) {
  at("other").parentElement.hidden = false;
  tiles(other);
  const before = new Map(other.layers.map((layer) => [layer.node, layer]));
  const pairs = report.layers.flatMap((one) => before.has(one.node) ? [[one, before.get(one.node)]] : []);
  const least = 0.01 * sum(report.layers, (layer) => layer.seconds);
  const apart = ([a, b]) => kindIn(a) !== kindIn(b) || a.reasons[0]?.id !== b.reasons[0]?.id
    || (a.seconds != null && b.seconds != null && Math.abs(a.seconds - b.seconds) > Math.max(least, 0.2 * b.seconds))
    || (a.noise && b.noise && Math.abs((a.noise.sqnr_db ?? 200) - (b.noise.sqnr_db ?? 200)) >= 1);
  const weight = ([a, b]) => Math.abs((a.seconds ?? 0) - (b.seconds ?? 0)) * 1e15 + (a.multiply_adds ?? 0);
  const found = pairs.filter(apart).sort((a, b) => weight(b) - weight(a));
  const both = (a, b) => a === b ? [a] : [html("span", {class: "quiet"}, b || "–"), " → ", a || "–"];
  const time = (layer) => layer.seconds == null ? "" : seconds(layer.seconds);
  const noise = (layer) => layer.noise ? decibels(layer.noise) : "";
  const rows = found.slice(0, 200).map(([a, b]) => [
    html("button", {class: "link", onclick: () => { selection.set(report.layers.indexOf(a), null, "other"); at("work").scrollIntoView(); }},
      html("code", {}, breakable(title(a)))), both(kindIn(a), kindIn(b)), both(time(a), time(b)), both(noise(a), noise(b)),
    both(a.reasons[0]?.id ?? "", b.reasons[0]?.id ?? "")]);
  at("other").replaceChildren(
    html("p", {}, html("code", {}, name), ` (${other.target}, form ${other.form}): `,
      !pairs.length ? "no layer has a name of this one's; they are reports of different models."
        : found.length ? `${found.length} of ${several(pairs.length, "layer")} in common differ, from that report → to this one.`
          : `none of the ${several(pairs.length, "layer")} in common differs.`),
    ...(rows.length ? [html("div", {class: "wide"}, plain([["Layer"], ["Numbers"], ["Time", true], ["Noise", true], ["Reason"]], rows))] : []));
}
