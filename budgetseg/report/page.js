"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);

// ---- small things ----------------------------------------------------------------------------------------------

function make(space, tag, attributes, children) {
  const node = space ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name.startsWith("aria-")) node.setAttribute(name, String(value));
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter(child => child !== null && child !== undefined));
  return node;
}
const h = (tag, attributes, ...children) => make(false, tag, attributes, children);
const s = (tag, attributes, ...children) => make(true, tag, attributes, children);
const percent = (share, digits = 1) => share === null || share === undefined ? "–" : (100 * share).toFixed(digits);
const short = number => String(Number(number.toPrecision(3)));
const seconds = x => x === null ? "no bound" : `${short(x)} s`;
const milli = x => x < 0.01 ? `${(1e3 * x).toFixed(2)} ms` : x < 1 ? `${(1e3 * x).toFixed(0)} ms` : `${x.toFixed(2)} s`;
const sum = list => list.reduce((a, b) => a + b, 0);
const unique = list => [...new Set(list)];
const fill = (node, ...children) => node.replaceChildren(...children.flat().filter(child => child !== null));
const options = (select, pairs, chosen) =>
  fill(select, pairs.map(([value, text]) => h("option", {value, selected: value === chosen}, text)));

// Okabe and Ito's colours, told apart by colour-blind people, and something else that differs beside each of them.
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C", "#B8A800"];
const MARKS = [
  (x, y) => s("circle", {cx: x, cy: y, r: 4.5}),
  (x, y) => s("rect", {x: x - 4, y: y - 4, width: 8, height: 8}),
  (x, y) => s("path", {d: `M${x} ${y - 5.5}l5.2 9h-10.4z`}),
  (x, y) => s("path", {d: `M${x} ${y - 6}l5 6l-5 6l-5-6z`}),
  (x, y) => s("path", {d: `M${x} ${y + 5.5}l5.2-9h-10.4z`}),
  (x, y) => s("path", {d: `M${x - 5} ${y - 2}h3v-3h4v3h3v4h-3v3h-4v-3h-3z`}),
  (x, y) => s("path", {d: `M${x - 5} ${y}l3-5h4l3 5l-3 5h-4z`}),
  (x, y) => s("rect", {x: x - 6, y: y - 2.5, width: 12, height: 5}),
];
const DASHES = ["", "7 4"];
const SEQUENCE = [[68, 1, 84], [62, 74, 137], [38, 130, 142], [53, 183, 121], [180, 222, 44], [253, 231, 37]];
const GREY = [130, 130, 130];

function heat(share) {
  const at = Math.min(Math.max(share, 0), 1) * (SEQUENCE.length - 1), k = Math.min(Math.floor(at), SEQUENCE.length - 2);
  return SEQUENCE[k].map((low, c) => Math.round(low + (at - k) * (SEQUENCE[k + 1][c] - low)));
}
const css = rgb => `rgb(${rgb.join(" ")})`;
const chip = rgb => h("span", {class: "chip", style: `background:${css(rgb)}`});

// Where a class has a mark on its colour, so that classes differ by more than their colours; the first has none.
const HATCH = [
  (x, y, n) => (x + y) % n === 0,
  (x, y, n) => x % n === 0 && y % n === 0 || (x + n / 2) % n === 0 && (y + n / 2) % n === 0,
  (x, y, n) => y % n === 0,
  (x, y, n) => (x - y + 1e4 * n) % n === 0,
  (x, y, n) => x % n === 0,
  (x, y, n) => x % n === 0 || y % n === 0,
  (x, y, n) => (x + y) % n === 0 || (x - y + 1e4 * n) % n === 0,
];
const isMarked = (k, x, y) => k > 0 && HATCH[(k - 1) % HATCH.length](x, y, 6 + 4 * Math.floor((k - 1) / HATCH.length));
const inkOn = ([red, green, blue]) => .3 * red + .59 * green + .11 * blue > 110 ? [0, 0, 0] : [255, 255, 255];
function hatchedChip(k, rgb) {
  const node = h("canvas", {class: "chip wide", width: 26, height: 13, "aria-hidden": true}), ink = node.getContext("2d");
  ink.fillStyle = css(rgb);
  ink.fillRect(0, 0, 26, 13);
  ink.fillStyle = css(inkOn(rgb));
  for (let y = 0; y < 13; y++) for (let x = 0; x < 26; x++) if (isMarked(k, x, y)) ink.fillRect(x, y, 1, 1);
  return node;
}

let nPatterns = 0;
function texture(k, colour) {  // a fill that differs by more than its colour
  const id = `texture${nPatterns++}`, kind = k % 4;
  const marks = [
    null,
    s("path", {d: "M-1 7L7 -1M-1 1L1 -1M5 7L7 5", stroke: "#fff", "stroke-width": 1.4, opacity: .75}),
    s("circle", {cx: 3, cy: 3, r: 1.3, fill: "#fff", opacity: .85}),
    s("path", {d: "M0 3H6", stroke: "#fff", "stroke-width": 1.5, opacity: .75}),
  ];
  const pattern = s("pattern", {id, width: 6, height: 6, patternUnits: "userSpaceOnUse"},
    s("rect", {width: 6, height: 6, fill: colour}), marks[kind]);
  return {fill: `url(#${id})`, pattern};
}

const tip = $("tip");
function showTip(text, x, y) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(6, Math.min(x + 14, innerWidth - box.width - 6))}px`;
  tip.style.top = `${y + 20 + box.height > innerHeight ? y - box.height - 12 : y + 18}px`;
}
const hideTip = () => { tip.hidden = true; };
document.addEventListener("pointerover", event => {
  const told = event.target.closest && event.target.closest("[data-tip]");
  if (told) showTip(told.dataset.tip, event.clientX, event.clientY);
  else if (event.target.id !== "canvas") hideTip();
});
addEventListener("scroll", hideTip, {passive: true});

const drawn = new Map();  // charts are as wide as their place, so that text keeps its size
const watcher = new ResizeObserver(entries => {
  for (const {target} of entries) {
    const chart = drawn.get(target.id);
    if (chart && target.clientWidth && target.clientWidth !== chart.width) redraw(target.id);
  }
});
function chart(id, draw) {
  if (!drawn.has(id)) watcher.observe($(id));
  drawn.set(id, {draw, width: 0});
  redraw(id);
}
function redraw(id) {
  const one = drawn.get(id);
  one.width = $(id).clientWidth;
  if (one.width) fill($(id), [one.draw(one.width)].flat());
}

function ticksOf(low, high, n) {
  const rough = (high - low) / n || 1, base = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(k => k * base).find(k => k >= rough);
  const ticks = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + 1e-9 * step; at += step) ticks.push(at);
  return ticks;
}

function figure(width, height, label) {
  return s("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label});
}

function leftAxis(svg, ticks, y, left, right, name) {
  for (const tick of ticks) {
    svg.append(s("line", {class: "grid", x1: left, x2: right, y1: y(tick), y2: y(tick)}),
      s("text", {x: left - 7, y: y(tick) + 4, "text-anchor": "end"}, name(tick)));
  }
}

// Columns of parts: side by side where each has its own height, else one on the other.
function columns(width, label, groups, parts, value, {stacked, name, tell, lines = [], ticks = null}) {
  const height = 210, left = 46, right = width - 14, top = lines.length ? 22 : 10, bottom = height - 30;
  const svg = figure(width, height, label), defs = s("defs", {});
  svg.append(defs);
  const totals = groups.flatMap((_, g) => stacked ? [sum(parts.map((_, p) => value(g, p)))] : parts.map((_, p) => value(g, p)));
  const most = Math.max(...totals, 1e-9), y = v => bottom - v / most * (bottom - top);
  leftAxis(svg, ticksOf(0, most, 4), y, left, right, name);
  const fills = parts.map((_, p) => {
    const made = texture(p, COLOURS[p % COLOURS.length]);
    defs.append(made.pattern);
    return made.fill;
  });
  const room = (right - left) / groups.length, every = Math.ceil(groups.length * 44 / (right - left));
  groups.forEach((group, g) => {
    const inner = Math.min(room * .82, 130), x0 = left + g * room + (room - inner) / 2;
    let base = 0;
    parts.forEach((part, p) => {
      const v = value(g, p), wide = stacked ? inner : inner / parts.length;
      if (v > 0) svg.append(s("rect", {
        x: stacked ? x0 : x0 + p * wide + .5, width: Math.max(stacked ? wide : wide - 1, 1), fill: fills[p],
        y: y(base + v), height: Math.max(y(base) - y(base + v), 0), "data-tip": `${part}, ${group}: ${tell(v, g, p)}`,
      }));
      if (stacked) base += v;
    });
    if (!ticks && g % every === 0) svg.append(s("text", {x: left + (g + .5) * room, y: bottom + 18, "text-anchor": "middle"}, group));
  });
  for (const [at, text] of ticks || []) svg.append(s("text", {x: left + at * (right - left), y: bottom + 18, "text-anchor": "middle"}, text));
  for (const [at, text] of lines) {
    const x = left + at * (right - left);
    svg.append(s("line", {class: "limit", x1: x, x2: x, y1: top, y2: bottom}),
      s("text", {class: "name", x, y: top - 7, "text-anchor": "middle"}, text));
  }
  return svg;
}

function partsKey(node, parts, styles = parts.map((_, p) => [p, COLOURS[p % COLOURS.length]])) {
  fill(node, parts.map((part, p) => {
    const made = texture(...styles[p]);
    return h("span", {}, s("svg", {width: 15, height: 13, "aria-hidden": "true"},
      s("defs", {}, made.pattern), s("rect", {width: 15, height: 13, rx: 3, fill: made.fill})), part);
  }));
}

function plainTable(head, rows, classes = []) {
  return h("table", {}, h("thead", {}, h("tr", {}, head.map(one => h("th", {scope: "col"}, one)))),
    h("tbody", {}, rows.map((row, k) => h("tr", {class: classes[k]}, row.map(cell => h("td", {}, cell))))));
}

// ---- a labelled video ------------------------------------------------------------------------------------------

const kinds = {Uint8Array, Uint16Array, Uint32Array, Int32Array, Float32Array};
async function unpacked(stored) {
  const bytes = Uint8Array.from(atob(stored.data), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new kinds[stored.type](await new Response(stream).arrayBuffer());
}

const VIEWS = {labels: "labels", computed: "what was computed", cost: "cost", confidence: "confidence"};
const VIEWS_OF_FRAMES = ["labels", "confidence"];
const UNKNOWN = 255;
let video = null, view = "labels", t = 0, b = 0, chosen = null, only = null, cursor = null, keyed = false, timer = null;
let other = null;  // what is compared: a video and a budget of it
const canvas = $("canvas"), pen = canvas.getContext("2d"), layer = document.createElement("canvas");
const otherCanvas = $("other-canvas"), otherPen = otherCanvas.getContext("2d"), otherLayer = document.createElement("canvas");

const unpackedVideos = new Map();
function loaded(k) {
  if (!unpackedVideos.has(k)) unpackedVideos.set(k, loadVideo(k));
  return unpackedVideos.get(k);
}
async function loadVideo(k) {
  const from = data.videos[k], whole = from.space === "frames";
  const arrays = await unpackedAll(from, whole ? ["ids", "labels", "sure"] : ["ids", "labels", "extent", "opinions", "confidence"]);
  const steps = whole ? {} : await unpackedAll(from.steps, Object.keys(from.steps));
  const images = from.frames.map(src => Object.assign(new Image(), {src}));
  await Promise.all(images.map(image => image.decode()));
  const n = from.labels.shape[1], nBudgets = from.budgets.length;
  const found = {...from, ...arrays, steps, images, n, nBudgets, whole, rows: from.ids.shape[1], columns: from.ids.shape[2], number: k, means: []};
  if (whole) found.cells = from.sure.shape.slice(2);
  else Object.assign(found, gathered(steps, n, nBudgets), {told: from.opinions.shape[0]});
  return found;
}

async function openVideo(k, moment = {}) {
  pause();
  video = await loaded(k);
  const from = data.videos[k], {whole, images, nBudgets} = video;
  if (whole && !VIEWS_OF_FRAMES.includes(view)) view = "labels";
  [canvas.width, canvas.height] = from.frame_size;
  canvas.style.aspectRatio = from.frame_size.join(" / ");
  [layer.width, layer.height] = [video.columns, video.rows];
  t = Math.min(Math.max(Math.round((moment.seconds || 0) * video.rate), 0), images.length - 1);
  const named = from.budgets.findIndex(one => one.name === moment.budget);
  b = named < 0 ? nBudgets - 1 : named;
  chosen = only = cursor = other = null;
  $("video").value = String(k);
  [...$("cards").children].forEach((card, j) => card.setAttribute("aria-pressed", j === k));
  $("cards").scrollLeft = $("cards").children[k].offsetLeft - $("cards").offsetLeft;
  listOthers();
  $("frame").max = images.length - 1;
  $("budget").max = nBudgets - 1;
  $("budget").disabled = nBudgets < 2;
  fill($("budget-ticks"), from.budgets.map((one, j) =>
    h("button", {type: "button", "aria-pressed": false, tabindex: -1, onclick: () => setBudget(j)}, one.name)));
  const every = from.numbers.length > 1 ? from.numbers[1] : 1;
  const about = every > 1 ? `every ${ordinal(every)} frame is shown` : "every frame is shown";
  $("player-about").textContent = `${from.name}: ${from.n_frames} frames of ${from.size.join("×")}, labelled by ${from.space} with model ` +
    `${from.model}; ${about}${from.frame_size[0] < from.size[0] ? `, ${from.frame_size[0]} pixels wide` : ""}.`;
  const names = Object.entries(VIEWS).filter(([value]) => !whole || VIEWS_OF_FRAMES.includes(value));
  fill($("views"), h("legend", {}, "Show"), names.map(([value, text]) => h("label", {},
    h("input", {type: "radio", name: "view", value, checked: value === view, onchange: () => { view = value; only = null; show(); }}), " ", text)));
  $("moments-title").textContent = whole ? "Frames that networks looked at" : "What was computed when";
  $("region").setAttribute("aria-label", whole ? "Place" : "Region");
  if (!whole) drawMoments();
  show();
  if (moment.seconds === undefined && !matchMedia("(prefers-reduced-motion: reduce)").matches) toggle();
}
async function unpackedAll(from, names) {
  return Object.fromEntries(await Promise.all(names.map(async name => [name, await unpacked(from[name])])));
}
function gathered(steps, n, nBudgets) {  // of every region at every budget
  const found = {subsets: [], costs: [], shared: []};
  for (let j = 0; j < nBudgets; j++) {
    const subset = new Uint32Array(n), cost = new Float32Array(n), shared = new Float32Array(n);
    steps.region.forEach((region, i) => {
      if (steps.budget[i] > j) return;
      subset[region] |= 1 << steps.descriptor[i];
      cost[region] += steps.spent_s[i];
      shared[region] += steps.shared_s[i];
    });
    found.subsets.push(subset);
    found.costs.push(cost);
    found.shared.push(shared);
  }
  return found;
}
const ordinal = k => `${k}${k % 100 > 10 && k % 100 < 14 ? "th" : ["th", "st", "nd", "rd"][k % 10] || "th"}`;

function mix(region, j) {
  const names = video.descriptors.filter((_, d) => video.subsets[j][region] >> d & 1);
  return names.length ? names.join(" + ") : "interpolated";
}
// H's opinion of a region depends on its own descriptors: while they are those of the last budget, so is the opinion.
function opinionAt(region, j) {
  const last = video.nBudgets - 1, nLabels = video.classes.names.length, subset = video.subsets[j][region];
  const k = video.told === video.nBudgets ? j : 0;
  if (video.told < video.nBudgets && j < last && !(subset && subset === video.subsets[last][region])) return null;
  const start = (k * video.n + region) * nLabels;
  const row = Array.from(video.opinions.subarray(start, start + nLabels));
  return row[0] === UNKNOWN && row.every(one => one === UNKNOWN) ? null : row.map(one => one / 254);
}
function confidenceAt(region, j) {
  const opinion = opinionAt(region, j);
  if (opinion) return Math.max(...opinion);
  const stored = video.confidence[region];
  return j === video.nBudgets - 1 && stored !== UNKNOWN ? stored / 254 : null;
}
const labelAt = (region, j) => video.labels[j * video.n + region];
const className = label => video.classes.names[label] || "no class";
const classColour = label => video.classes.colours[label] || [0, 0, 0];
const classChip = label => $("hatch").checked ? hatchedChip(label, classColour(label)) : chip(classColour(label));
const bits = subset => { let n = 0; for (; subset; subset &= subset - 1) n++; return n; };
const COST = [1e-4, 1e-1];  // seconds: the ends of the colours
const costShare = cost => Math.log(cost / COST[0]) / Math.log(COST[1] / COST[0]);

const COLOUR_OF = {
  labels: region => classColour(labelAt(region, b)),
  computed: region => countColour(bits(video.subsets[b][region])),
  cost: region => video.costs[b][region] > 0 ? heat(costShare(video.costs[b][region])) : GREY,
  confidence: region => { const sure = confidenceAt(region, b); return sure === null ? GREY : heat(sure); },
};
const countColour = count => count ? heat(video.descriptors.length > 1 ? (count - 1) / (video.descriptors.length - 1) : 1) : GREY;
const keyOf = region => view === "labels" ? labelAt(region, b) : view === "computed" ? bits(video.subsets[b][region]) : null;

function frameIds() {
  const size = video.rows * video.columns;
  return video.ids.subarray(t * size, (t + 1) * size);
}
function placeAt({x, y}) {  // in pixels of the canvas
  const row = Math.min(Math.floor(y * video.rows / canvas.height), video.rows - 1);
  const column = Math.min(Math.floor(x * video.columns / canvas.width), video.columns - 1);
  return row * video.columns + column;
}
function sureAt(place, j) {
  const [high, wide] = video.cells, {rows, columns} = video, row = Math.floor(place / columns);
  const cell = Math.floor(row * high / rows) * wide + Math.floor((place - row * columns) * wide / columns);
  return video.sure[(j * video.images.length + t) * high * wide + cell] / 255;
}
// What of the picture is chosen: a region wherever it is seen, or the area around a place that has its class now.
function chosenPart(ids) {
  if (!video.whole) return place => ids[place] === chosen;
  const {columns} = video, inside = new Uint8Array(ids.length), left = [], label = labelAt(ids[chosen], b);
  const visit = place => {
    if (inside[place] || labelAt(ids[place], b) !== label) return;
    inside[place] = 1;
    left.push(place);
  };
  visit(chosen);
  while (left.length) {
    const place = left.pop(), column = place % columns;
    if (column) visit(place - 1);
    if (column + 1 < columns) visit(place + 1);
    if (place >= columns) visit(place - columns);
    if (place + columns < ids.length) visit(place + columns);
  }
  return place => inside[place] === 1;
}

const packedColour = ([red, green, blue]) => 0xff000000 | blue << 16 | green << 8 | red;
function colourer(ids) {  // from a place to its colour, 0 for none
  if (video.whole && view === "confidence") {
    const heats = Array.from({length: 256}, (_, sure) => packedColour(heat(sure / 255)));
    return place => heats[Math.round(255 * sureAt(place, b))];
  }
  const table = new Uint32Array(video.n), marks = new Uint32Array(video.n), hatched = view === "labels" && $("hatch").checked;
  for (const region of new Set(ids)) {
    if (only !== null && keyOf(region) !== only) continue;
    const colour = COLOUR_OF[view](region);
    table[region] = packedColour(colour);
    marks[region] = packedColour(hatched ? inkOn(colour) : colour);
  }
  if (!hatched) return place => table[ids[place]];
  return (place, row, column) => (isMarked(labelAt(ids[place], b), column, row) ? marks : table)[ids[place]];
}

function paintLabels(pen, layer) {
  const {canvas} = pen, {rows, columns} = video, ids = frameIds(), outlines = $("outlines").checked, colourAt = colourer(ids);
  const parts = video.whole ? ids.map(number => labelAt(number, b)) : ids;
  const image = new ImageData(columns, rows), pixels = new Uint32Array(image.data.buffer);
  for (let row = 0, i = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, i++) {
      const colour = colourAt(i, row, column), part = parts[i];
      const edge = outlines && ((column + 1 < columns && parts[i + 1] !== part) || (row + 1 < rows && parts[i + columns] !== part));
      pixels[i] = edge && colour ? 0xff101010 : colour;
    }
  }
  layer.getContext("2d").putImageData(image, 0, 0);
  pen.globalAlpha = 1;
  pen.drawImage(video.images[t], 0, 0, canvas.width, canvas.height);
  pen.globalAlpha = $("opacity").value / 100;
  pen.imageSmoothingEnabled = false;
  pen.drawImage(layer, 0, 0, canvas.width, canvas.height);
  pen.globalAlpha = 1;
}
function paint() {
  const {rows, columns} = video, ids = frameIds();
  paintLabels(pen, layer);
  if (other) asOther(() => paintLabels(otherPen, otherLayer));
  if (chosen !== null) paintBorder(chosenPart(ids), rows, columns);
  if (chosen !== null && video.whole) paintCross((chosen % columns + .5) * canvas.width / columns, (Math.floor(chosen / columns) + .5) * canvas.height / rows);
  if (cursor && keyed && document.activeElement === canvas) paintCross(cursor.x, cursor.y);
}
function paintBorder(isInside, rows, columns) {
  const wide = canvas.width / columns, high = canvas.height / rows, path = new Path2D();
  for (let row = 0, i = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, i++) {
      const inside = isInside(i);
      if ((column ? isInside(i - 1) : false) !== inside) {
        path.moveTo(column * wide, row * high); path.lineTo(column * wide, (row + 1) * high);
      }
      if ((row ? isInside(i - columns) : false) !== inside) {
        path.moveTo(column * wide, row * high); path.lineTo((column + 1) * wide, row * high);
      }
    }
  }
  for (const [colour, width] of [["#000", 3.5], ["#fff", 1.6]]) {
    pen.strokeStyle = colour; pen.lineWidth = width * fine(); pen.stroke(path);
  }
}
const fine = () => Math.min(1, canvas.width / 480);  // small pictures are drawn large, and what is on them with them
function paintCross(x, y) {
  const arm = 9 * fine();
  for (const [colour, width] of [["#000", 4], ["#fff", 2]]) {
    pen.strokeStyle = colour; pen.lineWidth = width * fine();
    pen.beginPath();
    pen.moveTo(x - arm, y); pen.lineTo(x + arm, y); pen.moveTo(x, y - arm); pen.lineTo(x, y + arm);
    pen.stroke();
  }
}

const EVERY = 4;  // frames for which, while the video plays, what stands around the picture is drawn once
function show(whole = true) {
  if (!video) return;
  const {name, ledger} = video.budgets[b];
  $("frame").value = t;
  $("frame").setAttribute("aria-valuetext", `frame ${video.numbers[t]} of ${video.n_frames}`);
  $("frame-text").textContent = `${video.numbers[t]} / ${video.n_frames} · ${momentSeconds()} s`;
  $("budget").value = b;
  $("budget").setAttribute("aria-valuetext", `${name}, ${short(ledger.spent_s)} seconds spent`);
  $("budget-text").textContent = `${short(ledger.spent_s)} s spent`;
  [...$("budget-ticks").children].forEach((tick, j) => tick.setAttribute("aria-pressed", j === b));
  canvas.setAttribute("aria-label", `Frame ${video.numbers[t]}, ${VIEWS[view]} at ${name}`);
  $("canvas-name").textContent = `${name}, ${video.folder}`;
  paint();
  if (!whole && t % EVERY) return;
  showLegend();
  if (other) $("difference").textContent = `${percent(difference())} % of the pixels of this frame have another class.`;
  if (whole) { showSummary(); showLedger(); }
  if (!timer) keepMoment();
  chart("unsure", drawUnsure);
  if (video.whole) { showPlace(); drawKeys(); } else showRegion();
}

// ---- another budget or run beside it

function asOther(act) {  // the other video at its budget, in place of the one that is shown
  const kept = [video, b, view];
  [video, b] = [other.video, other.budget];
  if (video.whole && !VIEWS_OF_FRAMES.includes(view)) view = "labels";
  try { return act(); } finally { [video, b, view] = kept; }
}
const labelsNow = () => Uint8Array.from(frameIds(), region => labelAt(region, b));
function difference() {  // share of places of the frame that have a class of another name
  const {rows, columns, classes: {names}} = video, mine = labelsNow(), theirs = asOther(labelsNow);
  const {rows: high, columns: wide, classes: {names: theirNames}} = other.video;
  let differ = 0;
  for (let row = 0, i = 0; row < rows; row++) {
    const start = Math.floor((row + .5) * high / rows) * wide;
    for (let column = 0; column < columns; column++, i++) {
      if (names[mine[i]] !== theirNames[theirs[start + Math.floor((column + .5) * wide / columns)]]) differ++;
    }
  }
  return differ / (rows * columns);
}
function listOthers() {  // budgets of this run, and of runs with the same frames
  const pairs = [["", "nothing"]];
  data.videos.forEach((one, k) => {
    if (one.n_frames !== video.n_frames || String(one.size) !== String(video.size) || one.numbers.length !== video.numbers.length) return;
    one.budgets.forEach(({name}, j) => pairs.push([`${k} ${j}`, k === video.number ? name : `${name}, ${one.folder}`]));
  });
  options($("other"), pairs, "");
  $("other-label").hidden = pairs.length < 3;
  showOther();
}
async function chooseOther() {
  const [k, j] = $("other").value.split(" ").map(Number);
  other = $("other").value === "" ? null : {video: await loaded(k), budget: j};
  showOther();
  show();
}
function showOther() {
  $("screens").classList.toggle("two", other !== null);
  for (const id of ["other-stage", "canvas-name", "difference"]) $(id).hidden = other === null;
  if (!other) return;
  [otherCanvas.width, otherCanvas.height] = other.video.frame_size;
  [otherLayer.width, otherLayer.height] = [other.video.columns, other.video.rows];
  $("other-name").textContent = `${other.video.budgets[other.budget].name}, ${other.video.folder}`;
}

// ---- a moment: its link, its picture

const momentSeconds = () => (t / video.rate).toFixed(2);
let opened = false;
function keepMoment() {  // once somebody has chosen a moment, the address names it
  if (!opened) { opened = true; return; }
  const place = `#t=${momentSeconds()}&video=${video.number}&budget=${encodeURIComponent(video.budgets[b].name)}`;
  if (location.hash !== place) history.replaceState(null, "", place);
}
function momentOf(hash) {
  const words = new URLSearchParams(hash.slice(1)), seconds = Number.parseFloat(words.get("t"));
  if (!Number.isFinite(seconds)) return null;
  const k = Number(words.get("video") || 0);
  return {seconds, budget: words.get("budget"), video: Number.isInteger(k) && data.videos[k] ? k : 0};
}
function savePicture() {
  const whole = document.createElement("canvas"), [width, height] = [canvas.width, canvas.height];
  [whole.width, whole.height] = [other ? 2 * width + 8 : width, height];
  const ink = whole.getContext("2d");
  ink.drawImage(canvas, 0, 0);
  if (other) ink.drawImage(otherCanvas, width + 8, 0, width, height);
  const download = `${video.name}-${video.numbers[t]}-${video.budgets[b].name}.png`.replace(/[^\w.%-]+/g, "_");
  h("a", {href: whole.toDataURL("image/png"), download}).click();
}
async function copyLink() {
  pause();
  show();
  try { await navigator.clipboard.writeText(location.href); $("link").textContent = "Link copied"; }
  catch { $("link").textContent = "The address bar has the link"; }
  setTimeout(() => { $("link").textContent = "Copy link to this moment"; }, 2500);
}

// ---- what was promised, spent and found; where it was unsure

const FOUND = .001;  // share of the pixels that a class must have to be listed, as on the terminal
function showSummary() {
  const {name, ledger} = video.budgets[b], shares = Object.entries(ledger.class_shares || {})
    .filter(([, share]) => share > FOUND).sort((x, y) => y[1] - x[1]);
  const late = ledger.overrun_s > 0, most = Math.max(...shares.map(([, share]) => share), 1e-9);
  fill($("summary"), h("h3", {}, `Budget ${name}`),
    h("h4", {}, "Promised"),
    h("p", {class: "said"}, ledger.expected?.words || "No accuracy was promised for this run."),
    h("h4", {}, "Spent"),
    h("p", {class: "said"}, `${short(ledger.spent_s)} s of ${ledger.budget_s === null ? "no bound" : `${short(ledger.budget_s)} s`}`,
      late ? h("span", {class: "late"}, `, ${milli(ledger.overrun_s)} late`) : ledger.budget_s === null ? "." : ", in time."),
    ledger.prior_only ? h("p", {class: "late"}, "Nothing was predicted: every pixel has the most frequent class.") : null,
    shares.length ? h("h4", {}, "Classes found") : null,
    shares.map(([one, share]) => h("div", {class: "share"},
      h("span", {}, chip(classColour(video.classes.names.indexOf(one))), one),
      h("span", {class: "bar"}, h("i", {style: `width:${100 * share / most}%;background:${css(classColour(video.classes.names.indexOf(one)))}`})),
      h("span", {}, `${percent(share)} %`))));
}

function meanConfidence() {  // of every frame shown, null where nothing is known
  if (video.means[b]) return video.means[b];
  const size = video.rows * video.columns;
  video.means[b] = video.images.map((_, k) => {
    let total = 0, known = 0;
    if (video.whole) {
      const [high, wide] = video.cells, cells = high * wide, start = (b * video.images.length + k) * cells;
      for (const sure of video.sure.subarray(start, start + cells)) total += sure / 255;
      known = cells;
    } else {
      for (const region of video.ids.subarray(k * size, (k + 1) * size)) {
        const sure = confidenceAt(region, b);
        if (sure !== null) { total += sure; known++; }
      }
    }
    return known ? total / known : null;
  });
  return video.means[b];
}
function drawUnsure(width) {
  const means = meanConfidence(), known = means.map((sure, k) => [sure, k]).filter(([sure]) => sure !== null);
  const least = [], away = Math.max(Math.floor(means.length / 12), 1);  // frames beside each other are unsure together
  for (const one of [...known].sort((p, q) => p[0] - q[0])) {
    if (least.length < 5 && least.every(([, k]) => Math.abs(k - one[1]) >= away)) least.push(one);
  }
  fill($("least"), least.length ? h("span", {}, "Least sure:") : null, least.map(([sure, k]) =>
    h("button", {type: "button", "aria-current": k === t, onclick: () => { pause(); setFrame(k); }}, `frame ${video.numbers[k]}`, h("small", {}, `${percent(sure, 0)} %`))));
  if (!known.length) return h("p", {class: "help"}, "Confidence is not in the files for this budget.");
  const left = 54, right = width - 10, top = 8, bottom = 96, n = means.length;
  const low = Math.min(...known.map(([sure]) => sure)), high = Math.max(...known.map(([sure]) => sure)), pad = Math.max((high - low) * .1, .01);
  const x = k => n > 1 ? left + k / (n - 1) * (right - left) : (left + right) / 2;
  const y = sure => bottom - (sure - low + pad) / (high - low + 2 * pad) * (bottom - top);
  const svg = figure(width, bottom + 24, "Mean confidence of every frame");
  leftAxis(svg, ticksOf(low - pad, high + pad, 3), y, left, right, sure => `${percent(sure, high - low < .05 ? 1 : 0)} %`);
  for (const tick of ticksOf(0, n - 1, 6).filter(Number.isInteger)) svg.append(s("text", {x: x(tick), y: bottom + 17, "text-anchor": "middle"}, String(video.numbers[tick])));
  svg.append(s("polyline", {points: known.map(([sure, k]) => `${x(k)},${y(sure)}`).join(" "), fill: "none", stroke: "var(--accent)", "stroke-width": 2}));
  for (const [sure, k] of least) svg.append(s("circle", {cx: x(k), cy: y(sure), r: 4, fill: "var(--focus)", "data-tip": `frame ${video.numbers[k]}: ${percent(sure)} %`}));
  svg.append(s("line", {class: "limit", x1: x(t), x2: x(t), y1: top, y2: bottom}));
  svg.addEventListener("click", event => {
    const share = (event.clientX - svg.getBoundingClientRect().left - left) / (right - left);
    pause();
    setFrame(Math.min(Math.max(Math.round(share * (n - 1)), 0), n - 1));
  });
  return svg;
}

function showLegend() {
  const counts = new Map(), ids = frameIds();
  if (view === "labels" || view === "computed") {
    const keys = new Int32Array(video.n).fill(-1);
    for (const region of ids) {
      if (keys[region] < 0) keys[region] = keyOf(region);
      counts.set(keys[region], (counts.get(keys[region]) || 0) + 1);
    }
    const order = [...counts.keys()].sort(view === "labels" ? (x, y) => counts.get(y) - counts.get(x) : (x, y) => x - y);
    fill($("legend"), order.map(key => {
      const text = view === "labels" ? className(key) : key ? `${key} descriptor${key > 1 ? "s" : ""}` : "none: interpolated";
      const colour = view === "labels" ? classColour(key) : countColour(key);
      return h("button", {type: "button", "aria-pressed": only === null || only === key, "data-tip": "show only this",
        onclick: () => { only = only === key ? null : key; show(); $("legend").children[order.indexOf(key)].focus(); }},
        view === "labels" ? classChip(key) : chip(colour), text, h("small", {}, `${percent(counts.get(key) / ids.length, 0)} %`));
    }));
    return;
  }
  const scale = view === "cost" ? [1e-4, 1e-3, 1e-2, 1e-1].map(cost => [heat(costShare(cost)), milli(cost)])
    : [0, .25, .5, .75, 1].map(sure => [heat(sure), percent(sure, 0) + " %"]);
  if (!video.whole) scale.unshift([GREY, view === "cost" ? "nothing computed" : "not known at this budget"]);
  fill($("legend"), scale.map(([colour, text]) => h("span", {}, chip(colour), text)));
}

function showRegion() {
  const place = $("region");
  if (chosen === null) {
    fill(place, h("h3", {}, "A region"), h("p", {class: "help"},
      "Choose a region of the picture to see what was computed for it, when and at what cost, and what the classifier predicts."));
    return;
  }
  const last = video.nBudgets - 1, budget = video.budgets[b].name, label = labelAt(chosen, b);
  const [first, end, size] = video.extent.subarray(3 * chosen, 3 * chosen + 3);
  const sure = confidenceAt(chosen, b), opinion = opinionAt(chosen, b), computed = video.subsets[b][chosen] !== 0;
  const told = opinion || opinionAt(chosen, last);
  fill(place,
    h("h3", {}, classChip(label), className(label)),
    h("p", {class: `state${computed ? "" : " guess"}`}, size === 0 ? "No time was left for this part of the video: it has the most frequent class."
      : computed ? `Computed within ${budget}: ${mix(chosen, b)}.`
      : `Nothing was computed within ${budget}: the opinion is interpolated from its neighbours.`),
    h("dl", {}, ...[
      ["Region", `${chosen}, frames ${first}–${end}, ${size.toLocaleString("en")} pixels`],
      ["Cost", video.costs[b][chosen] ? costText(video.costs[b][chosen], video.shared[b][chosen]) : "nothing"],
      ["Confidence", sure === null ? `not known at ${budget}` : `${percent(sure, 0)} %`],
      ["Label", h("span", {class: "way"}, video.budgets.map((one, j) =>
        h("span", {class: j === b ? "now" : ""}, `${one.name}:`, classChip(labelAt(chosen, j)), className(labelAt(chosen, j)))))],
    ].flatMap(([term, what]) => [h("dt", {}, term), h("dd", {}, what)])),
    stepsTable(), opinionBars(told, opinion ? null : video.budgets[last].name));
}
const costText = (all, shared) => shared > 0 ? `${milli(all)}: ${milli(all - shared)} of its own, ${milli(shared)} shared` : `${milli(all)}, all its own`;
function stepsTable() {
  const rows = [], classes = [];
  video.steps.region.forEach((region, i) => {
    if (region !== chosen) return;
    const late = video.steps.budget[i] > b;
    rows.push([video.descriptors[video.steps.descriptor[i]], late ? `from ${video.budgets[video.steps.budget[i]].name}` : "",
      `${video.steps.at_s[i].toFixed(2)} s`, milli(video.steps.spent_s[i] - video.steps.shared_s[i]),
      video.steps.shared_s[i] > 0 ? milli(video.steps.shared_s[i]) : "–"]);
    classes.push(late ? "later" : "");
  });
  if (!rows.length) return null;
  return h("div", {}, plainTable(["descriptor", "", "at", "own", "shared"], rows, classes),
    h("p", {class: "help"}, "Shared: what others can use too, such as the flow of a frame; it is paid by the region that needs it first."));
}
function opinionBars(opinion, late) {
  if (!opinion) return h("p", {class: "help"}, "Class probabilities are not in the files for this region.");
  const order = opinion.map((_, k) => k).sort((x, y) => opinion[y] - opinion[x]).filter((k, i) => i < 6 && opinion[k] > .004);
  const rest = sum(opinion) - sum(order.map(k => opinion[k])), rows = order.map(k => [className(k), opinion[k]]);
  if (rest > .005) rows.push(["others", rest]);
  return h("div", {}, h("h4", {}, late ? `Class probabilities at ${late}, before the CRF` : "Class probabilities, before the CRF"),
    rows.map(([name, share]) => h("div", {class: "probability"}, h("span", {}, name),
      h("span", {class: "bar"}, h("i", {style: `width:${100 * share}%`})), h("span", {}, `${percent(share, 0)} %`))),
    late ? h("p", {class: "help"}, "Its earlier prediction is not in the files: it knew fewer descriptors.") : null);
}

// ---- of a video that was labelled by whole frames

const listed = list => list.length > 1 ? `${list.slice(0, -1).join(", ")} and ${list[list.length - 1]}` : String(list[0]);
const framesText = numbers => `${numbers.length > 1 ? "frames" : "frame"} ${listed(numbers)}`;
const away = distance => distance ? `${distance} away` : "here";
function sourceText(j) {
  const {carry, late, keys} = video.sources[j][t], budget = video.budgets[j].name, frame = video.numbers[t];
  if (!keys.length) return `No network was asked within ${budget}: the most frequent class is everywhere.`;
  const predictions = listed(unique(keys.map(([network]) => network)).map(network =>
    `the prediction of ${video.networks[network]} for ${framesText(keys.filter(([other]) => other === network).map(([, key]) => key))}`));
  if (late !== null) return `Within ${budget} there was no time for this frame: it has the labels of frame ${late}, from ${predictions}.`;
  if (keys.every(([, key]) => key === frame)) return `From ${predictions}, this one.`;
  if (carry === "copy") return `Copied from ${predictions}: ${budget} left no time for more.`;
  return `From ${predictions}, carried here along optical flow.`;
}
function lookCosts(keys) {
  if (!keys.length) return "nothing";
  const entries = keys.map(([network]) => video.budgets[b].ledger.sources[video.networks[network]]);
  if (!entries.every(Boolean)) return "not in the ledger, which is of what came after an earlier run, or of doing it again";
  const each = keys.map(([network], i) => [video.networks[network], entries[i].spent_s / entries[i].count]);
  return `about ${milli(sum(each.map(([, cost]) => cost)))} for ${each.length} look${each.length > 1 ? "s" : ""}, each of a whole frame: ` +
    unique(each.map(([name, cost]) => `${name} ${milli(cost)}`)).join(", ");
}
function showPlace() {
  const place = $("region");
  if (chosen === null) {
    fill(place, h("h3", {}, "A place"), h("p", {class: "help"},
      "Choose a place in the picture to see its class and confidence at every budget, and which frames networks looked at for it."));
    return;
  }
  const ids = frameIds(), label = labelAt(ids[chosen], b), {rows, columns, size: [width, height]} = video;
  const isInside = chosenPart(ids), share = sum(Array.from(ids, (_, i) => isInside(i))) / ids.length;
  const x = Math.floor((chosen % columns + .5) * width / columns), y = Math.floor((Math.floor(chosen / columns) + .5) * height / rows);
  const {keys} = video.sources[b][t];
  const nearest = j => Math.min(...video.sources[j][t].keys.map(([, key]) => Math.abs(key - video.numbers[t])));
  fill(place,
    h("h3", {}, classChip(label), className(label)),
    h("p", {class: `state${keys.length ? "" : " guess"}`}, sourceText(b)),
    h("dl", {}, ...[
      ["Place", `x ${x}, y ${y}, frame ${video.numbers[t]}`],
      ["Area", `${percent(share, share < .1 ? 1 : 0)} % of the picture, of one class`],
      ["Cost", lookCosts(keys)],
    ].flatMap(([term, what]) => [h("dt", {}, term), h("dd", {}, what)])),
    plainTable(["budget", "class", "confidence", "look"], video.budgets.map((one, j) => [one.name,
      h("span", {class: "way"}, h("span", {}, classChip(labelAt(ids[chosen], j)), className(labelAt(ids[chosen], j)))),
      `${percent(sureAt(chosen, j), 0)} %`, video.sources[j][t].keys.length ? away(nearest(j)) : "none"]),
      video.budgets.map((_, j) => j === b ? "now" : "")),
    h("p", {class: "help"}, "Confidence is the share of the likeliest class in the fused predictions. Look: how many frames away is the nearest that a network looked at."));
}
function drawKeys() {
  const {networks, asks, budgets} = video, lanes = budgets.flatMap((_, j) => networks.map((_, k) => [j, k]));
  chart("moments", width => {
    const left = 24 + 7 * Math.max(...lanes.map(([j, k]) => `${budgets[j].name} ${networks[k]}`.length), 0), right = width - 14;
    const high = 22, bottom = 8 + lanes.length * high, x = frame => left + (frame + .5) / video.n_frames * (right - left);
    const svg = figure(width, bottom + 30, "Frames that networks looked at, at every budget");
    lanes.forEach(([j, k], lane) => {
      const y = 8 + (lane + .5) * high, own = asks.filter(([network, , first]) => network === k && first <= j);
      svg.append(s("line", {class: "grid", x1: left, x2: right, y1: y, y2: y}),
        s("text", {class: j === b ? "name now" : "", x: left - 8, y: y + 4, "text-anchor": "end"}, `${budgets[j].name} ${networks[k]}`));
      for (const [, frame, first] of own) svg.append(s("rect", {x: x(frame) - 1, width: 2, y: y - 7, height: 14,
        fill: j === b ? "var(--accent)" : "var(--soft)", "data-tip": `${networks[k]} looked at frame ${frame}, within ${budgets[first].name}`}));
    });
    for (const tick of ticksOf(0, video.n_frames - 1, 6)) svg.append(s("text", {x: x(tick), y: bottom + 18, "text-anchor": "middle"}, String(Math.round(tick))));
    svg.append(s("line", {class: "limit", x1: x(video.numbers[t]), x2: x(video.numbers[t]), y1: 4, y2: bottom}));
    return lanes.length ? svg : h("p", {class: "help"}, "No network was asked.");
  });
}

function showLedger() {
  const {name, ledger} = video.budgets[b];
  const rows = [...Object.entries(ledger.stages), ...Object.entries(ledger.sources)];
  const most = Math.max(...rows.map(([, entry]) => entry.spent_s), 1e-9), cores = video.settings.threads;
  const over = ledger.overrun_s > 0 ? `, ${milli(ledger.overrun_s)} over` : "";
  const table = plainTable(["", "times", "planned", "spent", ""], rows.map(([what, entry]) => [what, String(entry.count),
    milli(entry.planned_s), milli(entry.spent_s), h("div", {class: "bar meter"}, h("i", {style: `width:${100 * entry.spent_s / most}%`}))]));
  fill($("ledger"), h("p", {class: "help"}, `Budget ${name} (${ledger.scope}): ${short(ledger.spent_s)} s spent${over}. ` +
    (cores > 1 ? `${video.whole ? "Networks" : "Descriptors"} are seconds of work, which ${cores} cores shared.` : "")), h("div", {class: "scroll"}, table),
    (ledger.notes || []).map(note => h("p", {class: "help"}, `Note: ${note}`)));
}

function drawMoments() {
  const {steps, descriptors} = video, nBins = 24, end = Math.max(...steps.at_s, 1e-9) * 1.0001;
  const counts = Array.from({length: nBins}, () => new Array(descriptors.length).fill(0));
  steps.at_s.forEach((at, i) => counts[Math.floor(at / end * nBins)][steps.descriptor[i]]++);
  const groups = counts.map((_, g) => `${short(end * g / nBins)} to ${short(end * (g + 1) / nBins)} s`);
  const ticks = ticksOf(0, end, 6).map(at => [at / end, `${short(at)} s`]);
  const lines = video.budgets.map(one => [one.ledger.spent_s / end, one.name]).filter(([at]) => at <= 1.02);
  const key = h("div", {class: "legend"});
  partsKey(key, descriptors);
  const about = video.n_windows > 1 ? h("p", {class: "help"}, `The video was labelled in ${video.n_windows} windows, one after the other, each with its share of every budget.`) : null;
  chart("moments", width => [about, key.cloneNode(true), columns(width, "Descriptors computed over time", groups, descriptors, (g, d) => counts[g][d],
    {stacked: true, name: String, tell: v => `${v} computed`, ticks, lines: video.settings.scope === "total" && video.n_windows === 1 ? lines : []})]);
}

function setFrame(k) { t = (k + video.images.length) % video.images.length; show(); }
function setBudget(k) { b = Math.min(Math.max(k, 0), video.nBudgets - 1); show(); }
function choose(point) {
  const place = point && placeAt(point);
  chosen = point === null || video.whole ? place : frameIds()[place];
  show();
}
function pause() {
  const was = timer;
  clearInterval(timer); timer = null; $("play").textContent = "▶"; $("play").setAttribute("aria-label", "Play");
  if (was) show();
}
function toggle() {
  if (timer) { pause(); return; }
  timer = setInterval(() => { t = (t + 1) % video.images.length; show(false); }, 1000 / Math.min(Math.max(video.rate, 1), 25));
  $("play").textContent = "❚❚";
  $("play").setAttribute("aria-label", "Pause");
}

function pointAt(event) {  // the picture may be narrower than its place
  const box = canvas.getBoundingClientRect(), scale = Math.min(box.width / canvas.width, box.height / canvas.height);
  // Whole pixels: a move knows fractions of them, and a click does not, so that they would name different places.
  const x = (Math.floor(event.clientX) + .5 - box.left - (box.width - scale * canvas.width) / 2) / scale;
  const y = (Math.floor(event.clientY) + .5 - box.top - (box.height - scale * canvas.height) / 2) / scale;
  return x >= 0 && y >= 0 && x < canvas.width && y < canvas.height ? {x, y} : null;
}
const tell = point => {
  const place = placeAt(point), region = frameIds()[place];
  if (video.whole) return `${className(labelAt(region, b))}\nconfidence ${percent(sureAt(place, b), 0)} %`;
  const sure = confidenceAt(region, b);
  return `${className(labelAt(region, b))}\n${mix(region, b)}${sure === null ? "" : `\nconfidence ${percent(sure, 0)} %`}`;
};
const MOVES = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
const KEYS = {
  ",": () => setFrame(t - 1), ".": () => setFrame(t + 1), "[": () => setBudget(b - 1), "]": () => setBudget(b + 1),
};

function startPlayer() {
  $("player").hidden = false;
  const titles = data.videos.map(one => one.name);
  options($("video"), data.videos.map((one, k) => [String(k), titles.indexOf(one.name) === titles.lastIndexOf(one.name) ? one.name : `${one.name}, ${one.folder}`]), "0");
  $("video").hidden = data.videos.length < 2;
  $("video").addEventListener("change", () => openVideo(Number($("video").value)));
  startGallery(titles);
  $("other").addEventListener("change", chooseOther);
  $("save").addEventListener("click", savePicture);
  $("link").addEventListener("click", copyLink);
  addEventListener("hashchange", () => { const moment = momentOf(location.hash); if (moment) openVideo(moment.video, moment); });
  $("play").addEventListener("click", toggle);
  $("frame").addEventListener("input", () => { pause(); setFrame(Number($("frame").value)); });
  $("budget").addEventListener("input", () => setBudget(Number($("budget").value)));
  $("opacity").addEventListener("input", show);
  $("outlines").addEventListener("change", show);
  $("hatch").addEventListener("change", show);
  document.addEventListener("keydown", () => { keyed = true; }, true);
  document.addEventListener("pointerdown", () => { keyed = false; }, true);
  canvas.addEventListener("click", event => { const at = pointAt(event); cursor = at || cursor; if (at) choose(at); });
  canvas.addEventListener("pointermove", event => {
    const at = video && pointAt(event);
    if (at) showTip(tell(at), event.clientX, event.clientY); else hideTip();
  });
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("focus", () => { cursor = cursor || {x: canvas.width / 2, y: canvas.height / 2}; if (video) paint(); });
  canvas.addEventListener("blur", () => { if (video) paint(); });
  canvas.addEventListener("keydown", event => {
    if (MOVES[event.key]) {
      const by = event.shiftKey ? 1 : 8, [right, down] = MOVES[event.key];
      cursor.x = Math.min(Math.max(cursor.x + right * by, 0), canvas.width - 1);
      cursor.y = Math.min(Math.max(cursor.y + down * by, 0), canvas.height - 1);
      paint();
    } else if (event.key === "Enter") choose(cursor);
    else if (event.key === "Escape") choose(null);
    else if (event.key === " ") toggle();
    else return;
    event.preventDefault();
  });
  $("player").addEventListener("keydown", event => {
    if (KEYS[event.key] && video && !event.ctrlKey && !event.metaKey && event.target.tagName !== "SELECT") KEYS[event.key]();
  });
  if (!("DecompressionStream" in window)) {
    $("player-about").textContent = "This browser is too old for the player; one from 2023 or later shows it.";
    return;
  }
  const moment = momentOf(location.hash);
  openVideo(moment ? moment.video : 0, moment || {});
}

function startGallery(titles) {
  $("gallery").hidden = data.videos.length < 2;
  fill($("cards"), data.videos.map((one, k) => {
    const {name, ledger} = one.budgets[one.budgets.length - 1];
    return h("button", {type: "button", "aria-pressed": false, onclick: () => { openVideo(k); $("player").scrollIntoView(); }},
      h("img", {src: one.thumbnail, alt: ""}),
      h("div", {}, h("strong", {}, titles.indexOf(one.name) === titles.lastIndexOf(one.name) ? one.name : `${one.name}, ${one.folder}`),
        `${one.n_frames} frames, ${short(ledger.spent_s)} s of ${name}`, h("br"), promised(ledger.expected)));
  }));
}
function promised(expected) {  // in a few words
  if (!expected || expected.accuracy === null) return "no promise";
  return expected.in_domain === false ? `under ${percent(expected.high, 0)} % right` : `about ${percent(expected.accuracy, 0)} % right`;
}

// ---- results ---------------------------------------------------------------------------------------------------

const FIGURES = {class_average: "Avg", global: "Global", miou: "mIoU"};
let table = null, shown = new Set();
const base = method => method.replace(/-full$/, "");
const isFull = method => method.endsWith("-full");
const shareText = share => `${short(100 * share)} %`;
const budgetText = budget => budget === null ? "∞" : table.unit === "budget_s" ? seconds(budget) : shareText(budget);
const tellMean = ([mean, within]) => `${percent(mean)}${within === null ? "" : ` ± ${percent(within)}`} %`;

function openTable(k) {
  table = {...data.tables[k]};
  table.methods = unique(table.lines.map(line => line.method));
  table.bases = unique(table.methods.map(base));
  table.budgets = unique(table.lines.map(line => line.budget)).sort((x, y) => (x ?? Infinity) - (y ?? Infinity));
  const seeds = Math.max(...table.lines.map(line => line.seeds));
  $("results-about").textContent = `${table.dataset}, ${table.split}: ${table.lines[0].supervoxels.toLocaleString("en")} supervoxels; the budget ` +
    `covers ${table.scope === "total" ? "everything" : "descriptors"}, costs are ${table.costs}, by the ${table.clock} clock; ` +
    `${seeds > 1 ? `means over ${seeds} seeds` : "one seed"}.`;
  const full = table.methods.filter(isFull), crowded = table.methods.length > 6 && full.length > 1;
  shown = new Set(table.methods.filter(one => base(one) !== "unary" && (!crowded || isFull(one) || !table.methods.includes(`${one}-full`))));
  if (!shown.size) shown = new Set(table.methods);
  const bounded = table.budgets.filter(one => one !== null);
  const pairs = table.budgets.map(one => [String(one), budgetText(one)]);
  options($("bars-budget"), pairs, String(bounded.length ? bounded[Math.floor(bounded.length / 2)] : null));
  const choosing = unique(table.lines.filter(line => line.over_time.length).map(line => line.method));
  options($("choices-method"), (choosing.length ? choosing : table.methods).map(one => [one, one]), [...shown].find(one => choosing.includes(one)));
  options($("choices-budget"), pairs, $("bars-budget").value);
  $("axis").value = table.unit === "budget_s" ? "s" : "share";
  showMethods();
  drawFigures(null, 1);
  drawResults();
}

const styleOf = method => {
  const k = table.bases.indexOf(base(method));
  return {k, colour: COLOURS[k % COLOURS.length], mark: MARKS[k % MARKS.length], dash: DASHES[isFull(method) || !table.methods.includes(`${method}-full`) ? 0 : 1]};
};
function swatch(method) {
  const {colour, mark, dash} = styleOf(method), point = mark(15, 7);
  point.setAttribute("fill", dash ? "var(--card)" : colour);
  point.setAttribute("stroke", colour);
  return s("svg", {width: 30, height: 14, "aria-hidden": "true"},
    s("line", {x1: 0, x2: 30, y1: 7, y2: 7, stroke: colour, "stroke-width": 2, "stroke-dasharray": dash}), point);
}
function showMethods() {
  fill($("methods"), table.methods.map((method, k) => h("button", {type: "button", "aria-pressed": shown.has(method), onclick: () => {
    if (shown.has(method)) shown.delete(method); else shown.add(method);
    showMethods();
    drawResults();
    $("methods").children[k].focus();
  }}, swatch(method), method)));
}
function drawResults() {
  chart("curve", drawCurve);
  chart("bars", drawBars);
  showChoices();
}

function drawCurve(width) {
  const kind = $("figure").value, axis = $("axis").value, height = Math.round(Math.min(Math.max(width * .48, 260), 400));
  const left = 44, top = 12, bottom = height - 40, right = width - 12;
  const lines = table.lines.filter(line => shown.has(line.method) && line.figures[kind][0] !== null);
  const svg = figure(width, height, `${FIGURES[kind] || kind} against budget, ${[...shown].join(", ")}`);
  if (!lines.length) return h("p", {class: "help"}, "No method is chosen.");
  const sizeOf = line => axis === "share" ? line.budget_fraction : line.budget_s;
  const sizes = unique(lines.map(sizeOf).filter(one => one !== null)).sort((x, y) => x - y);
  const low = sizes[0], high = sizes[sizes.length - 1], log = high / low > 6, edge = right - (sizes.length ? 54 : (right - left) / 2);
  const place = one => one === null ? right - 20 : low === high ? (left + edge) / 2
    : left + 16 + (edge - left - 32) * (log ? Math.log(one / low) / Math.log(high / low) : (one - low) / (high - low));
  const clamp = v => Math.min(Math.max(v, 0), 1);
  const ends = lines.flatMap(line => [-1, 1].map(sign => clamp(line.figures[kind][0] + sign * (line.figures[kind][1] || 0))));
  const pad = Math.max((Math.max(...ends) - Math.min(...ends)) * .06, .005);
  const [floor, ceiling] = [Math.max(Math.min(...ends) - pad, 0), Math.min(Math.max(...ends) + pad, 1)];
  const y = v => bottom - (v - floor) / (ceiling - floor) * (bottom - top);
  leftAxis(svg, ticksOf(floor, ceiling, 6), y, left, right, v => percent(v, ceiling - floor < .05 ? 1 : 0));
  let free = -Infinity;
  for (const one of sizes) {
    svg.append(s("line", {class: "grid", x1: place(one), x2: place(one), y1: bottom, y2: bottom + 5}));
    if (place(one) - free < 44) continue;
    free = place(one);
    svg.append(s("text", {x: free, y: bottom + 18, "text-anchor": "middle"}, axis === "share" ? shareText(one) : seconds(one)));
  }
  svg.append(s("text", {x: right - 20, y: bottom + 18, "text-anchor": "middle"}, "∞"),
    s("text", {x: (left + edge) / 2, y: height - 4, "text-anchor": "middle"}, axis === "share" ? "budget, share of full cost" : "budget, seconds"));
  for (const method of table.methods) {
    const own = lines.filter(line => line.method === method).sort((p, q) => (sizeOf(p) ?? Infinity) - (sizeOf(q) ?? Infinity));
    if (!own.length) continue;
    const {k, colour, mark, dash} = styleOf(method), points = own.map(line => [place(sizeOf(line)), y(line.figures[kind][0]), line]);
    const group = s("g", {stroke: colour, fill: "none", "stroke-width": 2});
    if (own.length === 1 && sizeOf(own[0]) === null) {  // no budget: a line to measure the others by
      group.append(s("line", {x1: left, x2: right, y1: points[0][1], y2: points[0][1], "stroke-dasharray": "2 4", "stroke-width": 1.6}));
    } else group.append(s("polyline", {points: points.map(([px, py]) => `${px},${py}`).join(" "), "stroke-dasharray": dash}));
    for (const [px, py, line] of points) {
      const [mean, within] = line.figures[kind], shift = (k - (table.bases.length - 1) / 2) * 1.5;
      if (within) {
        const [up, down] = [y(clamp(mean + within)), y(clamp(mean - within))];
        group.append(s("path", {d: `M${px + shift} ${up}V${down}M${px + shift - 3} ${up}h6M${px + shift - 3} ${down}h6`, "stroke-width": 1.2}));
      }
      const point = mark(px, py);
      point.setAttribute("fill", dash ? "var(--card)" : colour);
      point.setAttribute("data-tip", `${method}\n${budgetText(line.budget)}${line.budget_s === null ? "" : ` = ${table.unit === "budget_s" ? shareText(line.budget_fraction) : seconds(line.budget_s)}`}\n${tellMean(line.figures[kind])}`);
      group.append(point);
    }
    svg.append(group);
  }
  return svg;
}

function drawFigures(column, direction) {
  const keys = [...table.classes.map(name => `class ${name}`), ...Object.keys(FIGURES)];
  const titles = [...table.classes, ...Object.values(FIGURES)];
  const rows = [...table.lines], rank = line => table.methods.indexOf(line.method);
  const valueOf = {budget: line => line.budget ?? Infinity, method: line => line.method, spent: line => line.spent_s};
  const get = valueOf[column] || (line => line.figures[column][0] ?? -1);
  rows.sort(column === null ? (p, q) => (p.budget ?? -1) - (q.budget ?? -1) || rank(p) - rank(q)
    : (p, q) => direction * (get(p) < get(q) ? -1 : get(p) > get(q) ? 1 : 0));
  const best = new Map();
  for (const line of rows) for (const key of keys) {
    const at = `${line.budget} ${key}`;
    best.set(at, Math.max(best.get(at) ?? -1, line.figures[key][0] ?? -1));
  }
  const head = (key, text) => h("th", {scope: "col", "aria-sort": column !== key ? "none" : direction > 0 ? "ascending" : "descending"},
    h("button", {type: "button", "data-key": key, onclick: () => {
      drawFigures(key, column === key ? -direction : key === "budget" || key === "method" ? 1 : -1);
      $("figures").querySelector(`[data-key="${CSS.escape(key)}"]`).focus();
    }}, text));
  const cell = (line, key) => {
    const [mean, within] = line.figures[key], isBest = mean && mean === best.get(`${line.budget} ${key}`);
    const wide = key in FIGURES && within !== null;
    return h("td", {class: isBest ? "best" : null, "data-tip": within === null ? null : tellMean([mean, within])}, percent(mean),
      wide ? h("small", {}, ` ± ${percent(within)}`) : null);
  };
  fill($("figures"),
    h("thead", {}, h("tr", {}, head("budget", "B"), head("method", "Method"), titles.map((title, k) => head(keys[k], title)), head("spent", "spent"))),
    h("tbody", {}, rows.map((line, k) => h("tr", {class: column === null && k && rows[k - 1].budget !== line.budget ? "group" : null},
      h("td", {"data-tip": line.budget_s === null ? "no bound" : seconds(line.budget_s)}, budgetText(line.budget)),
      h("th", {scope: "row", class: "text", style: "color:inherit"}, line.method), keys.map(key => cell(line, key)), h("td", {}, seconds(line.spent_s))))));
}

const linesAt = value => table.lines.filter(line => String(line.budget) === value);

function drawBars(width) {
  const chosenBudget = $("bars-budget").value;
  // A method without a budget is there to measure the others by, whatever the budget.
  const own = table.methods.filter(method => shown.has(method)).map(method => linesAt(chosenBudget).find(line => line.method === method)
    || table.lines.find(line => line.method === method && line.budget === null && !line.over_time.length)).filter(Boolean);
  if (!own.length) return h("p", {class: "help"}, "No method that is chosen above has this budget.");
  const keys = ["class_average", ...table.classes.map(name => `class ${name}`)], titles = ["Avg", ...table.classes];
  const thick = own.length > 6 ? 6 : 9, room = own.length * thick + 12, top = 4, left = Math.min(Math.max(...titles.map(one => one.length)) * 7.4 + 12, width * .3), right = width - 34;
  const height = top + keys.length * room + 24, svg = figure(width, height, `Accuracy of each class at ${budgetText(JSON.parse(chosenBudget))}`);
  const x = v => left + v * (right - left), defs = s("defs", {});
  svg.append(defs);
  for (const tick of [0, .25, .5, .75, 1]) svg.append(s("line", {class: "grid", x1: x(tick), x2: x(tick), y1: top, y2: height - 20}),
    s("text", {x: x(tick), y: height - 5, "text-anchor": "middle"}, percent(tick, 0)));
  const styles = own.map(({method}) => [styleOf(method).k + (styleOf(method).dash ? 1 : 0), styleOf(method).colour]);
  const fills = styles.map(style => {
    const made = texture(...style);
    defs.append(made.pattern);
    return made.fill;
  });
  const key = h("div", {class: "legend"});
  partsKey(key, own.map(line => line.method), styles);
  keys.forEach((key, c) => {
    svg.append(s("text", {class: "name", x: left - 8, y: top + c * room + own.length * thick / 2 + 8, "text-anchor": "end"}, titles[c]));
    own.forEach((line, m) => {
      const [mean, within] = line.figures[key], y = top + c * room + m * thick + 4;
      if (mean === null) return;
      svg.append(s("rect", {x: left, y, width: Math.max(x(mean) - left, 1), height: thick - 1.5, fill: fills[m], "data-tip": `${titles[c]}, ${line.method}: ${tellMean(line.figures[key])}`}));
      if (within) svg.append(s("line", {x1: x(Math.max(mean - within, 0)), x2: x(Math.min(mean + within, 1)), y1: y + thick / 2 - .7, y2: y + thick / 2 - .7, stroke: "var(--ink)", "stroke-width": 1.3}));
    });
    const top1 = Math.max(...own.map(line => line.figures[key][0] ?? 0));
    svg.append(s("text", {x: width, y: top + c * room + own.length * thick / 2 + 8, "text-anchor": "end"}, percent(top1)));
  });
  return [key, svg];
}

function showChoices() {
  const method = $("choices-method").value, own = table.lines.filter(line => line.method === method)
    .sort((p, q) => (p.budget ?? Infinity) - (q.budget ?? Infinity));
  if (!own.length) return;
  const names = own[0].descriptors;
  partsKey($("choices-key"), names);
  chart("choices", width => columns(width, `Share of supervoxels with each descriptor, ${method}`, own.map(line => budgetText(line.budget)), names,
    (g, d) => own[g].counts[d] / own[g].supervoxels, {name: v => `${percent(v, 0)}`, tell: v => `${percent(v)} % of supervoxels`}));
  const line = own.find(one => String(one.budget) === $("choices-budget").value);
  if (!line || !line.over_time.length) {
    drawn.delete("choices-time");
    fill($("choices-time"), h("p", {class: "help"}, "Not known for this method at this budget."));
    return;
  }
  const parts = line.over_time.length, tenths = line.over_time.map((_, g) => `${Math.round(100 * (g + 1) / parts)} %`);
  chart("choices-time", width => columns(width, `Descriptors computed by ${method} over time`, tenths, names, (g, d) => line.over_time[g][d],
    {stacked: true, name: v => short(v), tell: v => `${short(v)} computed`}));
}

function startResults() {
  $("results").hidden = false;
  options($("table"), data.tables.map((one, k) => [String(k), `${one.dataset} ${one.split}, ${one.costs} costs`]), "0");
  $("table").hidden = data.tables.length < 2;
  $("table").addEventListener("change", () => openTable(Number($("table").value)));
  const kinds = [["class_average", "class average"], ["global", "global accuracy"], ["miou", "mean IoU"], ["temporal_consistency", "temporal consistency"]];
  const known = kinds.filter(([kind]) => data.tables.some(one => one.lines.some(line => line.figures[kind][0] !== null)));
  options($("figure"), known, "class_average");
  for (const id of ["figure", "axis", "bars-budget", "choices-method", "choices-budget"]) $(id).addEventListener("change", drawResults);
  openTable(0);
}

// ---- deadlines -------------------------------------------------------------------------------------------------

function startDeadlines() {
  $("deadlines").hidden = false;
  const {rows, summary} = data.deadlines[0], loads = unique(rows.map(row => row.load));
  fill($("deadline-key"), loads.map((load, k) => {
    const point = MARKS[2 * k % MARKS.length](9, 7);
    point.setAttribute("fill", COLOURS[k]);
    return h("span", {}, s("svg", {width: 18, height: 14, "aria-hidden": "true"}, point), load);
  }));
  const steps = unique(rows.map(row => row.times_floor)).sort((x, y) => x - y);
  chart("deadline", width => {
    const height = 260, left = 48, right = width - 8, top = 10, bottom = height - 38;
    const svg = figure(width, height, "Share of the budget used, by budget"), used = rows.map(row => row.used_share);
    const low = Math.min(...used, .9), high = Math.max(...used, 1.02), y = v => bottom - (v - low) / (high - low) * (bottom - top);
    leftAxis(svg, ticksOf(low, high, 5), y, left, right, v => `${percent(v, 0)} %`);
    svg.append(s("line", {class: "limit", x1: left, x2: right, y1: y(1), y2: y(1)}),
      s("text", {x: (left + right) / 2, y: height - 4, "text-anchor": "middle"}, "budget, times the floor"));
    const room = (right - left) / steps.length, seen = new Map();
    steps.forEach((step, k) => svg.append(s("text", {x: left + (k + .5) * room, y: bottom + 17, "text-anchor": "middle"}, `${step}×`)));
    rows.forEach(row => {
      const k = loads.indexOf(row.load), key = `${row.load} ${row.times_floor}`, count = seen.get(key) || 0;
      seen.set(key, count + 1);
      const x = left + (steps.indexOf(row.times_floor) + (k + .5) / loads.length) * room + ((count * 0.618 % 1) - .5) * room / loads.length * .7;
      const point = MARKS[2 * k % MARKS.length](x, y(row.used_share));
      for (const [name, value] of [["fill", COLOURS[k]], ["opacity", .75], ["data-tip", `${row.video}, ${row.load}\n${seconds(row.budget_s)} given, ${seconds(row.spent_s)} used`]]) point.setAttribute(name, value);
      svg.append(point);
    });
    return svg;
  });
  const share = value => value === null ? "–" : `${percent(value)} %`;
  if (summary.length) fill($("deadline-table"), plainTable(["load", "runs", "late, 95th percentile", "late at most", "used where work was left, at least"],
    summary.map(row => [row.load, String(row.runs), share(row.overrun_p95), share(row.overrun_max), share(row.used_min)])));
}

// ---- the page --------------------------------------------------------------------------------------------------

const parts = [["videos", "player", "Labelled video", startPlayer], ["tables", "results", "Results", startResults], ["deadlines", "deadlines", "Deadlines", startDeadlines]]
  .filter(([name]) => data[name].length);
fill($("nav"), parts.length > 1 ? parts.map(([, id, title]) => h("a", {href: `#${id}`}, title)) : []);
const counted = (list, one) => list.length ? [`${list.length} ${one}${list.length > 1 ? "s" : ""}`] : [];
$("lede").textContent = [...counted(data.videos, "labelled video"), ...counted(data.tables, "table"), ...counted(data.deadlines, "deadline test")].join(", ") + ".";
$("footer").textContent = Object.entries(data.environment).map(([name, value]) => `${name} ${value}`).join(" · ");
for (const [, , , start] of parts) start();
})();
