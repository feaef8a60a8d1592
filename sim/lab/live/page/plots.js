// SPDX-License-Identifier: BSD-2-Clause
// Running plots over simulated time, of counters that only grow, and of current values.
import { unused } from "./boxes.js";
import { lines, number, pile } from "./draw.js";

const BIN = 1 << 18;  // cycles between two points, at least: 2.6 ms of 100 MHz
const KEPT = 0.5;     // seconds

const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);
const event = (about, port, name) => port.events[about.events.indexOf(name)];
const events = (about, state, name) => sum(state.ports.map((port) => event(about, port, name)));

const COLOURS = ["in", "out", "line", "bad"];

// The figures' values, from two states and the seconds between them.
const figures = (about) => [
  ...about.lines.map((_, port) => ({
    id: `frames-${port}`, title: `Port ${port}, frames/s`, series: [
      { name: "in", colour: "in", of: (a, b, s) => (b.ports[port].in - a.ports[port].in) / s },
      { name: "out", colour: "out", of: (a, b, s) => (b.ports[port].out - a.ports[port].out) / s }],
  })),
  { id: "ring", title: "Rx rings, descriptors with a frame", series: about.queues.flatMap((queues, port) =>
      Array.from({ length: queues }, (_, queue) => ({
        name: queues > 1 ? `port ${port} queue ${queue}` : `port ${port}`, colour: COLOURS[port + 2 * queue],
        of: (a, b) => full(b.ports[port].fill.queues[queue]) }))) },
  { id: "interrupts", title: "Interrupts/s, both ports", series: ["rx", "tx"].map((way) => ({
      name: way, colour: way === "rx" ? "in" : "out",
      of: (a, b, s) => (events(about, b, `${way}_interrupt`) - events(about, a, `${way}_interrupt`)) / s })) },
  { id: "drops", title: "Received frames dropped/s", series: [["ring", "no descriptor", "bad"], ["fifo", "FIFO full", "out"]].map(
      ([cause, name, colour]) => ({ name, colour,
        of: (a, b, s) => (events(about, b, `rx_drop_${cause}`) - events(about, a, `rx_drop_${cause}`)) / s })) },
  { id: "latency", title: "Latency of forwarded frames, µs", series: [
      { name: "median", colour: "in", of: (a, b) => us(about, b.latencies[b.latencies.length >> 1]) },
      { name: "longest", colour: "bad", of: (a, b) => us(about, b.latencies.at(-1)) }],
    note: "The plot has frames that left with a router's changes only. Frames that the guest sent itself, merged, cut " +
      "or fragmented are not in it." },
  { id: "terms", title: "What the CPU does, %", most: 100, piled: true, series: [
      ...about.terms.map(({ name, meaning }) => ({ name, meaning, colour: `term-${name}`,
        of: (a, b) => 100 * (b.terms[name] ?? 0) / cpu(a, b) })),
      { name: "idle", meaning: "waiting for an interrupt", colour: "idle",
        of: (a, b) => 100 * (sum(b.idle) - sum(a.idle)) / cpu(a, b) }] },
];
const full = (queue) => (unused(queue) ? 0 : queue.ring);
const us = (about, cycles) => (cycles === undefined ? null : 1e6 * cycles / about.sys_clk_hz);
const cpu = (a, b) => b.idle.length * (b.cycle - a.cycle);  // cycles of all harts

export class Plots {
  constructor(place, about) {
    this.about = about;
    this.last = null;
    this.points = [];
    this.clear();
    this.figures = figures(about).map((figure) => ({ ...figure, ...build(place, figure) }));
  }

  take(state) {
    for (const [name, cycles] of Object.entries(state.terms ?? {})) this.terms[name] = (this.terms[name] ?? 0) + cycles;
    for (const [kind, , , , latency] of state.moments) if (kind === "o" && latency !== undefined) this.latencies.push(latency);
    if (!this.last) {
      this.last = state;
      this.clear();
    }
    const cycles = state.cycle - this.last.cycle;
    if (cycles < BIN) return;
    const seconds = cycles / this.about.sys_clk_hz;
    const now = { ...state, terms: this.terms, latencies: this.latencies.sort((a, b) => a - b) };
    const values = this.figures.map((figure) => figure.series.map((one) => one.of(this.last, now, seconds)));
    this.points.push({ time: state.cycle / this.about.sys_clk_hz, values });
    while (this.points.at(-1).time - this.points[0].time > KEPT) this.points.shift();
    this.last = state;
    this.clear();
    this.draw();
  }

  // The values for the next point.
  clear() {
    this.terms = {};
    this.latencies = [];
  }

  // The replay went back to a cycle.
  rewind(cycle) {
    this.points = this.points.filter(({ time }) => time <= cycle / this.about.sys_clk_hz);
    this.last = null;
    this.draw();
  }

  // The latest values of a figure, by its name.
  now(id) { return this.points.at(-1)?.values[this.figures.findIndex((figure) => figure.id === id)] ?? []; }

  draw() {
    this.figures.forEach((figure, at) => {
      const points = figure.series.map((_, n) => this.points.map((point) => [point.time, point.values[at][n]]));
      (figure.piled ? pile : lines)(figure, points);
      figure.series.forEach((one, n) => { figure.keys[n].textContent = `${one.name} ${shown(points[n].at(-1)?.[1])}`; });
    });
  }
}

const shown = (value) => (value === null || value === undefined ? "–" : number(value));

function build(place, figure) {
  const element = document.createElement("figure");
  const caption = element.appendChild(document.createElement("figcaption"));
  caption.append(figure.title, " ");
  const keys = figure.series.map((one) => {
    const key = caption.appendChild(document.createElement("span"));
    key.className = "key";
    key.style.setProperty("--key", `var(--${one.colour})`);
    key.textContent = one.name;
    if (one.meaning) key.title = one.meaning;
    return key;
  });
  const canvas = element.appendChild(document.createElement("canvas"));
  element.id = `plot-${figure.id}`;
  element.className = figure.piled ? "piled" : "";
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", figure.title);
  if (figure.note) element.appendChild(document.createElement("p")).textContent = figure.note;
  place.append(element);
  return { canvas, keys };
}
