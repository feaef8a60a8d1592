// SPDX-License-Identifier: BSD-2-Clause
// How a plot over simulated time is drawn.

export const number = (value) => Math.round(value).toLocaleString("en").replaceAll(",", "\u202f");

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

// The frame of a figure, and where its points are; null without any.
function axes(figure, times, highest) {
  const { context, width, height, colour } = canvas2d(figure.canvas);
  const left = 4, right = width - 4, bottom = height - 16, top = 16;
  if (!times.length) return null;
  const most = figure.most ?? Math.max(1, highest), first = times[0], span = Math.max(times.at(-1) - first, 1e-9);
  context.strokeStyle = colour("rule");
  context.strokeRect(left, top, right - left, bottom - top);
  context.fillStyle = colour("ink");
  context.textAlign = "left";
  context.fillText(number(most), left, 12);
  context.fillText(`${first.toFixed(3)} s`, left, height - 3);
  context.textAlign = "right";
  context.fillText(`${(first + span).toFixed(3)} s`, right, height - 3);
  const x = (time) => left + (time - first) / span * (right - left);
  const y = (value) => bottom - Math.min(value / most, 1) * (bottom - top);
  return { context, colour, x, y };
}

// Lines: each series has points [time, value]; a value can be missing.
export function lines(figure, series) {
  const all = series.flat();
  const plot = axes(figure, all.map(([time]) => time).sort((a, b) => a - b), Math.max(...all.map(([, value]) => value ?? 0)));
  if (!plot) return;
  const { context, colour, x, y } = plot;
  series.forEach((points, n) => {
    context.strokeStyle = colour(figure.series[n].colour);
    context.lineWidth = 1.5;
    context.beginPath();
    let gap = true;
    for (const [time, value] of points) {
      if (value !== null) context[gap ? "moveTo" : "lineTo"](x(time), y(value));
      gap = value === null;
    }
    context.stroke();
  });
}

// One series upon the other, the first one at the bottom; a point shows the time before it.
export function pile(figure, series) {
  const times = series[0].map(([time]) => time);
  const plot = axes(figure, times, 0);
  if (!plot) return;
  const { context, colour, x, y } = plot;
  times.forEach((time, at) => {
    const from = x(times[Math.max(at - 1, 0)]), wide = x(time) - from + 0.5;
    let below = 0;
    series.forEach((points, n) => {
      const value = points[at][1];
      context.fillStyle = colour(figure.series[n].colour);
      context.fillRect(from, y(below + value), wide, y(below) - y(below + value));
      below += value;
    });
  });
}
