// SPDX-License-Identifier: BSD-2-Clause
// The report's interaction: values by touch, too, choice of variants, downloads of data and pictures, flame graphs.
// Without it, the page has the same content.

const each = (selector, act, root = document) => root.querySelectorAll(selector).forEach(act);

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// Values -----------------------------------------------------------------------------------------

// A <title> needs a mouse, and appears late.
const balloon = element("div", { className: "balloon", role: "status", hidden: true });
document.body.append(balloon);
each("svg title", title => {
  const owner = title.parentNode;
  owner.dataset.tip = title.textContent;
  owner.setAttribute("aria-label", title.textContent);
  title.remove();
});

function show(event) {
  const owner = event.target.closest?.("[data-tip]");
  balloon.hidden = !owner;
  if (!owner) return;
  balloon.textContent = owner.dataset.tip;
  const left = Math.min(event.clientX + 12, innerWidth - balloon.offsetWidth - 4);
  const below = event.clientY + 16 + balloon.offsetHeight < innerHeight;
  balloon.style.left = `${Math.max(4, left)}px`;
  balloon.style.top = `${event.clientY + (below ? 16 : -12 - balloon.offsetHeight)}px`;
}
for (const kind of ["pointermove", "pointerdown"]) addEventListener(kind, show);
addEventListener("keydown", event => { if (event.key === "Escape") balloon.hidden = true; });
addEventListener("scroll", () => { balloon.hidden = true; }, true);

// Variants ---------------------------------------------------------------------------------------

const variants = new Set();
each("[data-variant]", line => variants.add(line.dataset.variant));
if (variants.size > 1) {
  const box = element("fieldset", { className: "variants" }, element("legend", { textContent: "In the figures" }));
  for (const variant of variants) {
    const input = element("input", { type: "checkbox", checked: true, name: variant });
    input.addEventListener("change", () => each(`[data-variant="${CSS.escape(variant)}"]`, line => {
      line.style.display = input.checked ? "" : "none";
    }));
    box.append(element("label", {}, input, ` ${variant}`));
  }
  document.querySelector("main").prepend(box);
  // The box stays at the top: a link's target has to stop below it, however many rows it has.
  new ResizeObserver(() => {
    document.documentElement.style.scrollPaddingTop = `${box.offsetHeight + 8}px`;
  }).observe(box);
}

// Downloads --------------------------------------------------------------------------------------

function button(text, act) {
  const made = element("button", { type: "button", textContent: text });
  made.addEventListener("click", act);
  return made;
}

function download(name, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// RFC 4180.
const quoted = text => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
each(".table", table => table.append(button("CSV", () => {
  const rows = [...table.querySelectorAll("tr")].map(row =>
    [...row.cells].map(cell => quoted(cell.textContent)).join(","));
  download(`${table.id}.csv`, new Blob([rows.join("\r\n") + "\r\n"], { type: "text/csv" }));
})));

function picture(svg) {
  const copy = svg.cloneNode(true), view = svg.viewBox.baseVal;
  const { color, backgroundColor } = getComputedStyle(document.body);
  copy.setAttribute("width", view.width);
  copy.setAttribute("height", view.height);
  copy.querySelector("style")?.append(`svg{color:${color}!important}`);
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
  return image.decode().then(() => {
    const canvas = element("canvas", { width: 2 * view.width, height: 2 * view.height });
    const context = canvas.getContext("2d");
    context.fillStyle = backgroundColor;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(image.src);
    return new Promise(made => canvas.toBlob(made, "image/png"));
  });
}
each("figure", figure => figure.append(button("PNG", async () => {
  download(`${figure.id}.png`, await picture(figure.querySelector("svg")));
})));

// Flame graphs: explain/flame_graph.js comes before this ----------------------------------------

each(".flame", graph => {
  const made = flame(graph.querySelector("svg"));
  const back = button("Whole graph", made.back), found = element("output");
  const input = element("input", { type: "search", placeholder: "Find functions" });
  input.addEventListener("input", () => { found.textContent = made.find(input.value); });
  made.zoomed.push(zoomed => { back.disabled = !zoomed; });
  back.disabled = true;
  graph.before(element("p", { className: "tools" }, input, " ", back, found));
});
