// SPDX-License-Identifier: BSD-2-Clause
// The page: messages from the simulator to the views, controls back.
import { Boxes } from "./boxes.js";
import { livelock } from "./livelock.js";
import { Plots } from "./plots.js";
import { Wires } from "./wires.js";

const LONGEST = 20000;  // characters of the console that are kept
const BEFORE = 1000;    // cycles of a wave before its moment
const CHOSEN = /both ports: ([\w-]+)\s/g;  // as the guest's `variant` says it
const element = (id) => document.getElementById(id);
const wanted = () => Number(/^#cycle=(\d+)$/.exec(location.hash)?.[1] ?? NaN);

const page = {
  about: null, state: null, plots: null, boxes: null, wires: null, waiting: [], printed: "",

  control(message) {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  },
  // Waits for a state with a condition.
  until(reached) { return new Promise((resolve) => page.waiting.push({ reached, resolve })); },
  after(cycles) {
    const from = page.state.cycle;
    return page.until((state) => state.cycle >= from + cycles);
  },
  // Types the command at the console; done at the guest's next prompt. Under full load that takes long.
  async strategy(name) {
    const from = page.state.cycle, ended = new RegExp(`variant ${name}\\r?\\n(?:[^]*\\n)?# $`);
    page.printed = "";
    page.control({ do: "type", text: `variant ${name}\n` });
    const chosen = () => page.printed.includes(`both ports: ${name}`);
    await page.until(({ cycle }) => {
      element("choosing").textContent = `the guest is choosing ${name}: ${((cycle - from) / 1e6).toFixed(1)} M cycles`;
      return chosen() || ended.test(page.printed);
    });
    element("choosing").textContent = chosen() ? "" : `the guest did not choose ${name}; see its console`;
    if (chosen()) element("name").value = name;
  },
};

const socket = new WebSocket(new URL("socket", location.href.replace(/^http/, "ws").replace(/#.*/, "")));
socket.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  if (message.about) open(message.about);
  if (message.state && page.about) take(message.state);
  if (message.note) note(message.note);
  if (message.ended !== undefined) end("the session has ended");
};
socket.onclose = () => end("the session has ended");

function open(about) {
  if (page.about) return;  // another page was opened
  page.about = about;
  page.plots = new Plots(element("plots"), about);
  page.boxes = new Boxes(element("boxes"), about);
  page.wires = new Wires(element("wires"), about);
  const chosen = about.strategy ?? about.variant;
  strategy(chosen);
  element("name").replaceChildren(...about.variants.map((name) => new Option(name, name, false, name === chosen)));
  if (about.printed) print(about.printed);
  element("replaying").hidden = element("back").hidden = !about.replaying;
  if (about.replaying) Object.assign(element("position"), { min: about.start, max: about.until, value: about.start });
  for (const one of element("inputs").querySelectorAll("input, select, button")) one.disabled = about.replaying;
  if (about.replaying && wanted()) go(wanted());
  requestAnimationFrame(draw);
}

function take(state) {
  if (state.cycle < page.state?.cycle) rewind(state.cycle);
  if (!page.state) element("pace").value = state.ratio ?? 0;
  page.state = state;
  page.plots.take(state);
  page.boxes.take(state);
  page.wires.take(state);
  element("time").value = (state.cycle / page.about.sys_clk_hz).toFixed(6);
  element("cycle").value = state.cycle;
  element("moment").href = `#cycle=${state.cycle}`;
  if (page.about.replaying && document.activeElement !== element("position")) element("position").value = state.cycle;
  show(state.paused ? "paused" : "running", state.cycle === page.about.until);
  element("pause").textContent = state.paused ? "Run" : "Pause";
  if (state.printed) print(state.printed);
  page.waiting = page.waiting.filter(({ reached, resolve }) => {
    if (!reached(state)) return true;
    resolve(state);
    return false;
  });
}

// Later output is removed; the guest prints it again.
function rewind(cycle) {
  page.plots.rewind(cycle);
  page.wires.rewind(cycle);
  element("console").textContent = "";
  strategy(null);
}

// The current strategy, if it is known.
function strategy(name) { element("variant").textContent = name ? `· ${name}` : ""; }

function show(state, atEnd = false) {
  document.body.dataset.state = state;
  const recording = atEnd ? "the end of a recording" : "a recording";
  element("state").textContent = page.about?.replaying ? `${state}, ${recording}` : state;
}

function print(text) {
  page.printed = (page.printed + text).slice(-LONGEST);
  const chosen = [...page.printed.matchAll(CHOSEN)].at(-1);
  if (chosen) strategy(chosen[1]);
  const place = element("console"), atEnd = place.scrollHeight - place.scrollTop - place.clientHeight < 30;
  place.textContent = (place.textContent + text.replaceAll("\r", "")).slice(-LONGEST);
  if (atEnd) place.scrollTop = place.scrollHeight;
}

function note(text) {
  element("note").textContent = text;
  element("note").hidden = !text;
}

function end(text) {
  show("ended");
  note(text);
  for (const one of document.querySelectorAll("input, select:not(#span), button:not(#wave)")) one.disabled = true;
}

function draw() {
  page.wires.draw(Number(element("span").value));
  if (document.body.dataset.state !== "ended") requestAnimationFrame(draw);
}

// Controls --------------------------------------------------------------------------------------------

const go = (cycle) => page.control({ do: "goto", cycle });

function back(kinds, name) {
  const cycle = page.wires.before(page.state?.cycle, kinds);
  if (cycle !== undefined) return go(cycle);
  note(`The page knows no earlier ${name}: go to an earlier cycle first.`);
}

function on(id, kind, action) {
  element(id).addEventListener(kind, (event) => {
    event.preventDefault();
    note("");
    action(event);
  });
}

on("pause", "click", () => page.control({ do: page.state?.paused ? "run" : "pause" }));
on("step-frame", "click", () => page.control({ do: "step", to: "frame" }));
on("step-interrupt", "click", () => page.control({ do: "step", to: "interrupt" }));
on("pace", "change", () => page.control({ do: "pace", ratio: Number(element("pace").value) }));
on("goto", "submit", () => go(Number(element("goto-cycle").value)));
on("back-frame", "click", () => back("io", "frame"));
on("back-interrupt", "click", () => back("u", "interrupt"));
on("position", "change", () => {
  go(Number(element("position").value));
  element("position").blur();
});
on("wave", "click", () => {
  const { wave, start, replaying } = page.about, from = Math.max(start, page.state.cycle - BEFORE);
  const when = replaying || document.body.dataset.state === "ended" ? "" : "after the session: ";
  element("wave-command").textContent = wave ? `${when}${wave} --from ${from}`
    : "A wave needs a recording: begin the session with --record FILE.";
});
on("load", "submit", () => page.control({
  do: "load", port: Number(element("port").value), percent: Number(element("percent").value),
  octets: Number(element("octets").value) }));
on("unload", "click", () => page.about.lines.forEach((_, port) =>
  page.control({ do: "load", port, percent: 0, octets: 64 })));
on("strategy", "submit", () => page.strategy(element("name").value));
on("ethtool", "submit", () => page.control({ do: "type", text: `ethtool -C eth0 ${element("coalesce").value}\n` }));
on("livelock", "click", async () => {
  element("livelock").disabled = true;
  await livelock(page, (text) => { element("lesson").textContent = text; });
  element("livelock").disabled = document.body.dataset.state === "ended";
});
addEventListener("hashchange", () => {
  if (page.about?.replaying && wanted() !== page.state?.cycle) go(wanted());
});
addEventListener("resize", () => page.plots?.draw());
