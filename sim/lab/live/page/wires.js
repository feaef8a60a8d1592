// SPDX-License-Identifier: BSD-2-Clause
// What the box does now: rings as rings, frames on the wires, drops, interrupt lines.
import { canvas2d } from "./plots.js";

const SVG = "http://www.w3.org/2000/svg";
const KEPT = 2000;    // moments
const PREAMBLE = 8;   // octet times before a frame

export class Boxes {
  constructor(place, about) {
    this.about = about;
    this.boxes = about.lines.map((_, port) => box(place, port));
  }

  take(state) {
    state.ports.forEach((port, number) => {
      const { element, full, label, values } = this.boxes[number], fill = port.fill;
      const raised = (way) => (state.lines << 1 & this.about.lines[number][way]) !== 0;
      const part = fill ? Math.min(fill.ring / fill.size, 1) : 0;
      full.setAttribute("stroke-dasharray", `${(100 * part).toFixed(2)} 100`);
      label.textContent = fill ? `${fill.ring} / ${fill.size}` : "";
      element.toggleAttribute("data-crowded", part > 0.9);
      const dropped = this.about.events.map((name, at) => (name.startsWith("rx_drop") ? port.events[at] : 0));
      const texts = {
        "Frames in, out": `${port.in}, ${port.out}`,
        "Wait before the box": `${port.waiting}, dropped ${port.dropped}`,
        "In the Rx FIFO": fill ? `${fill.fifo}` : "unknown",
        "Unreported": fill ? `${fill.unreported}` : "unknown",
        "Dropped inside": `${dropped.reduce((a, b) => a + b, 0)}`,
        "Rx, Tx line": `${raised("rx") ? "raised" : "low"}, ${raised("tx") ? "raised" : "low"}`,
      };
      for (const [name, text] of Object.entries(texts)) values[name].textContent = text;
      values["Rx, Tx line"].className = raised("rx") || raised("tx") ? "raised" : "";
    });
  }
}

function box(place, port) {
  const element = document.createElement("div");
  element.className = "box";
  element.id = `box-${port}`;
  const svg = element.appendChild(document.createElementNS(SVG, "svg"));
  svg.setAttribute("viewBox", "0 0 100 100");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `Fill of port ${port}'s Rx ring`);
  const circle = (name) => {
    const made = svg.appendChild(document.createElementNS(SVG, "circle"));
    made.setAttribute("class", name);
    for (const [key, value] of Object.entries({ cx: 50, cy: 50, r: 40, pathLength: 100, transform: "rotate(-90 50 50)" }))
      made.setAttribute(key, value);
    return made;
  };
  circle("slot");
  const full = circle("full");
  full.setAttribute("stroke-dasharray", "0 100");
  const label = svg.appendChild(document.createElementNS(SVG, "text"));
  label.setAttribute("x", 50);
  label.setAttribute("y", 54);
  const side = element.appendChild(document.createElement("div"));
  side.appendChild(document.createElement("h3")).textContent = `Port ${port}, eth${port}`;
  const list = side.appendChild(document.createElement("dl")), values = {};
  for (const name of ["Frames in, out", "Wait before the box", "In the Rx FIFO", "Unreported", "Dropped inside", "Rx, Tx line"]) {
    list.appendChild(document.createElement("dt")).textContent = name;
    values[name] = list.appendChild(document.createElement("dd"));
    values[name].textContent = "–";
  }
  place.append(element);
  return { element, full, label, values };
}

export class Wires {
  constructor(canvas, about) {
    this.canvas = canvas;
    this.about = about;
    this.moments = [];
    this.state = null;
  }

  take(state) {
    this.moments.push(...state.moments);
    if (this.moments.length > KEPT) this.moments.splice(0, this.moments.length - KEPT);
    this.state = state;
  }

  draw(cycles) {
    if (!this.state) return;
    const { context, width, height, colour } = canvas2d(this.canvas);
    const lanes = this.about.lines.flatMap((lines, port) => [
      { name: `${port} in`, kind: "i", port, colour: "in" }, { name: `${port} out`, kind: "o", port, colour: "out" },
      { name: `${port} rx`, source: lines.rx, colour: "line" }, { name: `${port} tx`, source: lines.tx, colour: "line" }]);
    const left = 44, high = height / lanes.length, end = this.state.cycle, start = end - cycles;
    const x = (cycle) => left + Math.max(0, (cycle - start) / cycles) * (width - left);
    const octet = 8 * this.about.sys_clk_hz / (1e6 * this.about.mbps);
    // What was left out of a state began before the first moment that is here.
    const known = Math.max(start, this.moments[0]?.[1] ?? start);
    lanes.forEach((lane, at) => {
      const top = at * high + 4, bottom = (at + 1) * high - 4;
      context.fillStyle = colour("ink");
      context.textAlign = "left";
      context.fillText(lane.name, 4, bottom - high / 2 + 8);
      context.strokeStyle = colour("rule");
      context.strokeRect(left, bottom, width - left, 0);
      context.fillStyle = context.strokeStyle = colour(lane.colour);
      if (lane.source !== undefined) this.level(context, lane, { x, top, bottom, known, end });
      else this.frames(context, lane, { x, top, bottom, start, end, octet, bad: colour("bad") });
    });
  }

  frames(context, lane, { x, top, bottom, start, end, octet, bad }) {
    for (const [kind, cycle, port, octets] of this.moments) {
      if (port !== lane.port || cycle > end) continue;
      const last = cycle + octets * octet;
      if (kind === lane.kind && last >= start) {
        const begin = x(cycle - PREAMBLE * octet);
        context.fillRect(begin, top, Math.max(1, x(Math.min(last, end)) - begin - 0.5), bottom - top);
      }
      if (kind === "x" && lane.kind === "i" && cycle >= start) {
        context.save();
        context.fillStyle = bad;
        context.fillRect(x(cycle) - 1, top - 3, 2, bottom - top + 6);
        context.restore();
      }
    }
  }

  // An interrupt line of one source, or of several.
  level(context, lane, { x, top, bottom, known, end }) {
    const changes = this.moments.filter(([kind, cycle, source]) =>
      (kind === "u" || kind === "d") && lane.source >> source & 1 && cycle >= known && cycle <= end);
    let up = changes.length ? changes[0][0] === "d" : (this.state.lines << 1 & lane.source) !== 0;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x(known), up ? top : bottom);
    for (const [kind, cycle] of changes) {
      context.lineTo(x(cycle), up ? top : bottom);
      up = kind === "u";
      context.lineTo(x(cycle), up ? top : bottom);
    }
    context.lineTo(x(end), up ? top : bottom);
    context.stroke();
  }
}
