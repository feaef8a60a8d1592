// SPDX-License-Identifier: BSD-2-Clause
// The lesson: interrupts per frame under full load, then NAPI.
import { number } from "./draw.js";

const WATCHED = 6e6;   // cycles of load in a measurement: 60 ms at 100 MHz
const DRAINED = 2e6;   // and afterwards

// window: {control, strategy, after, plots, load}. Returns the sentence at the end.
export async function livelock(window, say) {
  const measured = [];
  for (const name of ["original", "napi"]) {
    say(`choosing ${name} …`);
    await window.strategy(name);
    say(`${name}: 148 810 frames/s enter port 0 …`);
    window.control({ do: "load", port: 0, percent: 100, octets: 64 });
    const before = await window.after(WATCHED / 2), after = await window.after(WATCHED / 2);
    const seconds = (after.cycle - before.cycle) / window.about.sys_clk_hz;
    measured.push(`${name}: ${number((after.ports[1].out - before.ports[1].out) / seconds)} frames/s left port 1`);
    say(measured.join("; "));
    if (name === "napi") break;  // the load stays, to look at
    window.control({ do: "load", port: 0, percent: 0, octets: 64 });
    await window.after(DRAINED);
  }
  return measured.join("; ");
}
