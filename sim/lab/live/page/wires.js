// SPDX-License-Identifier: BSD-2-Clause
// The last moments on the wires: frames, drops, interrupt lines.
import { canvas2d } from "./draw.js";

const KEPT = 2000;    // moments
const PREAMBLE = 8;   // octet times before a frame

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

  // The replay went back to a cycle.
  rewind(cycle) { this.moments = this.moments.filter((moment) => moment[1] <= cycle); }

  // The cycle of the latest moment of some kinds before another; none is known: undefined.
  before(cycle, kinds) {
    const cycles = this.moments.filter((moment) => kinds.includes(moment[0]) && moment[1] < cycle).map((moment) => moment[1]);
    return cycles.length ? Math.max(...cycles) : undefined;
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
    // Moments that a state omits began before the first moment here.
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
