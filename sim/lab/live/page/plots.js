// SPDX-License-Identifier: BSD-2-Clause
// Rates over simulated time, from counters that only grow.

const BIN = 1 << 18;  // cycles between two points, at least: 2.6 ms of 100 MHz
const KEPT = 0.5;     // seconds

const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);
const event = (about, port, name) => port.events[about.events.indexOf(name)];
const events = (about, state, name) => sum(state.ports.map((port) => event(about, port, name)));

const COLOURS = ["in", "out", "line", "bad"];

// What each figure shows: of two states and the seconds between them.
const figures = (about) => [
  ...about.lines.map((_, port) => ({
    id: `frames-${port}`, title: `Port ${port}, frames/s`, series: [
      { name: "in", colour: "in", of: (a, b, s) => (b.ports[port].in - a.ports[port].in) / s },
      { name: "out", colour: "out", of: (a, b, s) => (b.ports[port].out - a.ports[port].out) / s }],
  })),
  { id: "ring", title: "Rx rings, descriptors with a frame", series: about.queues.flatMap((queues, port) =>
      Array.from({ length: queues }, (_, queue) => ({
        name: queues > 1 ? `port ${port} queue ${queue}` : `port ${port}`, colour: COLOURS[port + 2 * queue],
        of: (a, b) => b.ports[port].fill.queues[queue].ring }))) },
  { id: "interrupts", title: "Interrupts/s, both ports", series: ["rx", "tx"].map((way) => ({
      name: way, colour: way === "rx" ? "in" : "out",
      of: (a, b, s) => (events(about, b, `${way}_interrupt`) - events(about, a, `${way}_interrupt`)) / s })) },
  { id: "drops", title: "Received frames dropped/s", series: [["ring", "no descriptor", "bad"], ["fifo", "FIFO full", "out"]].map(
      ([cause, name, colour]) => ({ name, colour,
        of: (a, b, s) => (events(about, b, `rx_drop_${cause}`) - events(about, a, `rx_drop_${cause}`)) / s })) },
  { id: "idle", title: "CPU idle, %", most: 100, series: [{ name: "idle", colour: "line",
      of: (a, b) => 100 * (sum(b.idle) - sum(a.idle)) / (b.idle.length * (b.cycle - a.cycle)) }] },
];

export const number = (value) => Math.round(value).toLocaleString("en").replaceAll(",", "\u202f");

export class Plots {
  constructor(place, about) {
    this.about = about;
    this.last = null;
    this.points = [];
    this.figures = figures(about).map((figure) => ({ ...figure, ...build(place, figure) }));
  }

  take(state) {
    if (!this.last) this.last = state;
    const cycles = state.cycle - this.last.cycle;
    if (cycles < BIN) return;
    const seconds = cycles / this.about.sys_clk_hz;
    const values = this.figures.map((figure) => figure.series.map((one) => one.of(this.last, state, seconds)));
    this.points.push({ time: state.cycle / this.about.sys_clk_hz, values });
    while (this.points.at(-1).time - this.points[0].time > KEPT) this.points.shift();
    this.last = state;
    this.draw();
  }

  // The latest values of a figure, by its name.
  now(id) { return this.points.at(-1)?.values[this.figures.findIndex((figure) => figure.id === id)] ?? []; }

  draw() {
    this.figures.forEach((figure, at) => {
      const lines = figure.series.map((one, n) => this.points.map((point) => [point.time, point.values[at][n]]));
      draw(figure, lines);
      figure.series.forEach((one, n) => { figure.keys[n].textContent = `${one.name} ${number(lines[n].at(-1)?.[1] ?? 0)}`; });
    });
  }
}

function build(place, figure) {
  const element = document.createElement("figure");
  const caption = element.appendChild(document.createElement("figcaption"));
  caption.append(figure.title, " ");
  const keys = figure.series.map((one) => {
    const key = caption.appendChild(document.createElement("span"));
    key.className = `key ${one.colour}`;
    key.textContent = one.name;
    return key;
  });
  const canvas = element.appendChild(document.createElement("canvas"));
  element.id = `plot-${figure.id}`;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", figure.title);
  place.append(element);
  return { canvas, keys };
}

// A context in CSS pixels, cleared, and the colours of the page.
export function canvas2d(canvas) {
  const scale = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "12px system-ui, sans-serif";
  return { context, width, height, colour: (name) => style.getPropertyValue(`--${name}`) };
}

function draw(figure, lines) {
  const { context, width, height, colour } = canvas2d(figure.canvas);
  const all = lines.flat(), left = 4, right = width - 4, bottom = height - 16, top = 16;
  if (!all.length) return;
  const most = figure.most ?? Math.max(1, ...all.map(([, value]) => value));
  const first = all[0][0], span = Math.max(all.at(-1)[0] - first, 1e-9);
  const x = (time) => left + (time - first) / span * (right - left);
  const y = (value) => bottom - value / most * (bottom - top);
  context.strokeStyle = colour("rule");
  context.strokeRect(left, top, right - left, bottom - top);
  context.fillStyle = colour("ink");
  context.textAlign = "left";
  context.fillText(number(most), left, 12);
  context.fillText(`${first.toFixed(3)} s`, left, height - 3);
  context.textAlign = "right";
  context.fillText(`${(first + span).toFixed(3)} s`, right, height - 3);
  lines.forEach((points, n) => {
    context.strokeStyle = colour(figure.series[n].colour);
    context.lineWidth = 1.5;
    context.beginPath();
    points.forEach(([time, value], at) => (at ? context.lineTo(x(time), y(value)) : context.moveTo(x(time), y(value))));
    context.stroke();
  });
}
