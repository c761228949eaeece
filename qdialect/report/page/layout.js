// A layered drawing of a graph without circles whose nodes come in an order in which edges lead forward.
//
// Sugiyama's steps: ranks by longest path, one chain of bends for each tensor, orders by barycentres, and positions as
// a least-squares fit that keeps the order (isotonic regression, solved exactly by pooling adjacent violators).
"use strict";

function ranks(count, edges) {
  const into = Array.from({length: count}, () => []), out = Array.from({length: count}, () => []);
  for (const [from, to] of edges) { into[to].push(from); out[from].push(to); }
  const rank = new Int32Array(count);
  for (let k = 0; k < count; k++) for (const p of into[k]) rank[k] = Math.max(rank[k], rank[p] + 1);
  // What takes less than it feeds goes down to its first user: its few long edges were many.
  for (let k = count - 1; k >= 0; k--)
    if (out[k].length > into[k].length) rank[k] = Math.min(...out[k].map((s) => rank[s])) - 1;
  return {rank, out};
}

// A tensor is one line: a chain of bends down to its last user, from which the others branch off.
function layered(count, edges) {
  const {rank, out} = ranks(count, edges);
  const layers = [], up = [], down = [], at = [], source = [];
  const add = (r, from) => {
    const k = at.length;
    at.push(r); up.push([]); down.push([]); source.push(from);
    return k;
  };
  for (let k = 0; k < count; k++) add(rank[k], k);
  for (let k = 0; k < count; k++) {
    const users = [...new Set(out[k])].sort((a, b) => rank[a] - rank[b]);
    let end = k;
    for (const user of users) {
      while (at[end] < rank[user] - 1) {
        const bend = add(at[end] + 1, k);
        down[end].push(bend); up[bend].push(end);
        end = bend;
      }
      down[end].push(user); up[user].push(end);
    }
  }
  // Depth first, so that a branch starts as one column.
  const seen = new Uint8Array(at.length), stack = [];
  for (let root = 0; root < count; root++) {
    stack.push(root);
    while (stack.length) {
      const k = stack.pop();
      if (seen[k]) continue;
      seen[k] = 1;
      (layers[at[k]] ??= []).push(k);
      stack.push(...down[k].filter((d) => !seen[d]).reverse());
    }
  }
  return {layers, up, down, source, real: (k) => k < count};
}

function crossings(layers, up, place) {
  let sum = 0;
  for (const layer of layers) {
    const ends = layer.flatMap((k) => up[k].map((p) => place[p]).sort((a, b) => a - b));
    const size = 1 + Math.max(0, ...ends), tree = new Int32Array(size + 1);
    ends.forEach((end, n) => {
      let before = 0;
      for (let i = end + 1; i > 0; i -= i & -i) before += tree[i];
      sum += n - before;
      for (let i = end + 1; i <= size; i += i & -i) tree[i]++;
    });
  }
  return sum;
}

function order({layers, up, down}, sweeps) {
  const place = new Int32Array(up.length);
  const settle = () => layers.forEach((layer) => layer.forEach((k, n) => (place[k] = n)));
  settle();
  let best = layers.map((layer) => [...layer]), least = crossings(layers, up, place);
  for (let sweep = 0; sweep < sweeps && least > 0; sweep++) {
    const near = sweep % 2 ? down : up;
    for (const layer of sweep % 2 ? [...layers].reverse() : layers) {
      const wish = new Map(layer.map((k) => [k, near[k].length
        ? near[k].reduce((sum, n) => sum + place[n], 0) / near[k].length : place[k]]));
      layer.sort((a, b) => wish.get(a) - wish.get(b) || place[a] - place[b]);
      layer.forEach((k, n) => (place[k] = n));
    }
    const now = crossings(layers, up, place);
    if (now < least) { least = now; best = layers.map((layer) => [...layer]); }
  }
  best.forEach((layer, n) => (layers[n] = layer));
}

// x nearest to the wishes, by weight, with x[n + 1] - x[n] >= gap[n]: pools of nodes that touch move as one.
function spread(wishes, weights, gaps) {
  const pools = [];
  let offset = 0;
  const offsets = wishes.map((_, n) => (n ? (offset += gaps[n - 1]) : 0));
  wishes.forEach((wish, n) => {
    pools.push({sum: (wish - offsets[n]) * weights[n], weight: weights[n], count: 1});
    while (pools.length > 1) {
      const last = pools[pools.length - 1], before = pools[pools.length - 2];
      if (before.sum / before.weight <= last.sum / last.weight) break;
      pools.pop();
      before.sum += last.sum; before.weight += last.weight; before.count += last.count;
    }
  });
  return pools.flatMap((p) => Array(p.count).fill(p.sum / p.weight)).map((y, n) => y + offsets[n]);
}

function median(positions) {
  const sorted = [...positions].sort((a, b) => a - b), middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function positions({layers, up, down, real}, width, gap, rounds) {
  const x = new Float64Array(up.length);
  const space = (a, b) => ((real(a) ? width : 0) + (real(b) ? width : 0)) / 2 + gap;
  // What stands below another node stands right below it: weights, casts of them and lines that pass give way.
  const isLeaf = (k) => !up[k].length || !down[k].length;
  const columns = (near) => near.map((some) => [(n) => real(n) && !isLeaf(n), (n) => !isLeaf(n), () => true]
    .map((wanted) => some.filter(wanted)).find((found) => found.length) ?? some);
  const fit = (layer, near) => {
    const wishes = layer.map((k) => (near[k].length ? median(near[k].map((n) => x[n])) : x[k]));
    const weights = layer.map((k) => (!near[k].length ? 0.001 : isLeaf(k) ? 0.002 : real(k) ? 20 : 1));
    const gaps = layer.slice(1).map((k, n) => space(layer[n], k));
    spread(wishes, weights, gaps).forEach((at, n) => (x[layer[n]] = at));
  };
  for (const layer of layers)
    layer.forEach((k, n) => (x[k] = n ? x[layer[n - 1]] + space(layer[n - 1], k) : 0));
  const above = columns(up), below = columns(down);
  for (let round = 0; round < rounds; round++) {
    for (const layer of layers) fit(layer, above);
    for (const layer of [...layers].reverse()) fit(layer, below);
  }
  return x;
}

// Centres [x, y] of `count` nodes of one size, for each node the parts of its line, and how far all of it reaches.
function layout(count, edges, {width, height, gap, between}) {
  const graph = layered(count, edges);
  order(graph, 16);
  const x = positions(graph, width, gap, 4), y = new Float64Array(x.length);
  graph.layers.forEach((layer, n) => layer.forEach((k) => (y[k] = n * (height + between))));
  const left = x.reduce((least, at) => Math.min(least, at), Infinity) - width / 2;
  const points = Array.from(x, (at, k) => [Math.round(at - left), Math.round(y[k])]);
  const lines = Array.from({length: count}, () => []);
  graph.source.forEach((from, k) => {
    for (const next of graph.down[k]) lines[from].push([points[k], points[next], k < count, next < count]);
  });
  const far = (axis) => points.reduce((most, point) => Math.max(most, point[axis]), 0);
  return {places: points.slice(0, count), lines, reach: [far(0) + width / 2, far(1) + height / 2]};
}
