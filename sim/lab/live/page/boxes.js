// SPDX-License-Identifier: BSD-2-Clause
// The state of each port of the box: rings as rings, moderation, counts.

const SVG = "http://www.w3.org/2000/svg";
const CROWDED = 0.9;  // of a ring

const VALUES = ["Frames in, out", "Wait before the box", "In the Rx FIFO", "Dropped inside", "Rx, Tx line"];
// The progress of a queue's moderation as [count, limit, unit], or null while it is off.
const MODERATION = {
  "Unreported": (way) => [way.unreported, way.frames, ""],
  "Packet timer": (way, us) => timer(way.packet, us),
  "Delay": (way, us) => timer(way.absolute, us),
  "Gap": (way, us) => timer(way.gap, us),
};
const timer = ([count, limit], us) => (limit ? [us(count), us(limit), " µs"] : null);

// A queue is not in use if nothing can raise its Rx line; its ring has no descriptors.
export const unused = ({ rx }) => !rx.armed && !rx.frames && [rx.packet, rx.absolute].every(([, limit]) => !limit);

export class Boxes {
  constructor(place, about) {
    this.about = about;
    this.us = (cycles) => Math.round(1e7 * cycles / about.sys_clk_hz) / 10;
    this.boxes = about.lines.map((_, port) => box(place, port, about.queues[port]));
  }

  take(state) {
    state.ports.forEach((port, number) => {
      const { values, queues } = this.boxes[number], lines = this.about.lines[number];
      const level = (way) => (state.lines << 1 & lines[way] ? "raised" : "low");
      const dropped = this.about.events.map((name, at) => (name.startsWith("rx_drop") ? port.events[at] : 0));
      values["Frames in, out"].textContent = `${port.in}, ${port.out}`;
      values["Wait before the box"].textContent = `${port.waiting}, dropped ${port.dropped}`;
      values["In the Rx FIFO"].textContent = port.fill ? `${port.fill.fifo}` : "unknown";
      values["Dropped inside"].textContent = `${dropped.reduce((a, b) => a + b, 0)}`;
      values["Rx, Tx line"].textContent = `${level("rx")}, ${level("tx")}`;
      values["Rx, Tx line"].className = state.lines << 1 & (lines.rx | lines.tx) ? "raised" : "";
      port.fill?.queues.forEach((queue, at) => this.show(queues[at], queue));
    });
  }

  show(place, queue) {
    const part = unused(queue) ? 0 : Math.min(queue.ring / queue.size, 1);
    place.full.setAttribute("stroke-dasharray", `${(100 * part).toFixed(2)} 100`);
    place.label.textContent = unused(queue) ? "not in use" : `${queue.ring} / ${queue.size}`;
    place.element.toggleAttribute("data-crowded", part > CROWDED);
    for (const way of ["rx", "tx"]) {
      place[way].armed.textContent = queue[way].armed ? "armed" : "masked";
      for (const [name, of] of Object.entries(MODERATION)) {
        const { text, meter } = place[way][name], now = of(queue[way], this.us);
        text.textContent = !now ? "off" : now[1] ? `${now[0]} of ${now[1]}${now[2]}` : `${now[0]}`;
        meter.hidden = !now?.[1];
        if (!meter.hidden) [meter.max, meter.value] = [now[1], now[0]];
      }
    }
  }
}

function add(place, name, attributes = {}) {
  const made = place.appendChild(document.createElement(name));
  return Object.assign(made, attributes);
}

function box(place, port, queues) {
  const element = add(place, "div", { className: "box", id: `box-${port}` }), values = {};
  add(element, "h3", { textContent: `Port ${port}, eth${port}` });
  const list = add(element, "dl");
  for (const name of VALUES) {
    add(list, "dt", { textContent: name });
    values[name] = add(list, "dd", { textContent: "–" });
  }
  return { values, queues: Array.from({ length: queues }, (_, number) => queue(element, port, number, queues)) };
}

function queue(place, port, number, queues) {
  const element = add(place, "div", { className: "queue", id: `queue-${port}-${number}` });
  const name = queues > 1 ? `Queue ${number}` : "The queue";
  const made = { element, ...ring(element, `Fill of port ${port}'s Rx ring ${number}`), rx: {}, tx: {} };
  const table = add(element, "table"), head = add(table, "tr");
  add(head, "th", { textContent: name });
  for (const way of ["Rx", "Tx"]) add(head, "th", { textContent: way, scope: "col" });
  const row = (title, cell) => {
    const line = add(table, "tr");
    add(line, "th", { textContent: title, scope: "row" });
    for (const way of ["rx", "tx"]) made[way][title] = cell(add(line, "td"));
  };
  row("Interrupt", (cell) => cell);
  for (const title of Object.keys(MODERATION)) {
    row(title, (cell) => ({ text: add(cell, "span"), meter: add(cell, "meter", { hidden: true, ariaLabel: title }) }));
  }
  for (const way of ["rx", "tx"]) made[way].armed = made[way].Interrupt;
  return made;
}

function ring(place, title) {
  const svg = place.appendChild(document.createElementNS(SVG, "svg"));
  const set = (element, attributes) => Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
  set(svg, { viewBox: "0 0 100 100", role: "img", "aria-label": title });
  const shape = (name, attributes) => {
    const made = svg.appendChild(document.createElementNS(SVG, name));
    set(made, attributes);
    return made;
  };
  const circle = { cx: 50, cy: 50, r: 40, pathLength: 100, transform: "rotate(-90 50 50)" };
  shape("circle", { ...circle, class: "slot" });
  const full = shape("circle", { ...circle, class: "full", "stroke-dasharray": "0 100" });
  return { full, label: shape("text", { x: 50, y: 54 }) };
}
