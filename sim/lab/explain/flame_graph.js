// SPDX-License-Identifier: BSD-2-Clause
// An interactive flame graph, in a file of its own and in the report: boxes that zoom, a search for functions.
"use strict";

const LETTER = 6.6;  // pixels, as in flame_graph.py

// Makes an SVG's graph interactive; its boxes are groups with a <title>, or data-tip instead.
function flame(svg) {
  let whole = svg.viewBox.baseVal.width, shown = [0, 1];  // the part that is seen, of 1
  const boxes = [...svg.querySelectorAll("g[data-tip], g:has(> title)")].map(group => {
    const rect = group.querySelector("rect"), text = group.querySelector("text")
      ?? group.appendChild(document.createElementNS(svg.namespaceURI, "text"));
    text.setAttribute("y", rect.y.baseVal.value + 12);
    const name = (group.dataset.tip ?? group.querySelector("title").textContent).split(": ")[0];
    return { group, rect, text, at: rect.x.baseVal.value / whole, width: rect.width.baseVal.value / whole, name };
  });
  function draw() {
    const [from, width] = shown, scale = whole / width;
    for (const box of boxes) {
      const start = Math.max(0, (box.at - from) * scale);
      const end = Math.min(whole, (box.at + box.width - from) * scale);
      box.group.style.display = end - start > 0.3 ? "" : "none";
      box.rect.setAttribute("x", start);
      box.rect.setAttribute("width", Math.max(0, end - start));
      const letters = Math.floor((end - start - 4) / LETTER);
      box.text.setAttribute("x", start + 2);
      box.text.textContent = box.name.length <= letters ? box.name : letters > 4 ? `${box.name.slice(0, letters - 2)}..` : "";
    }
  }
  const zoomed = [];  // listeners: whether the whole is seen
  function zoom(from, width) {
    shown = [from, width];
    draw();
    for (const tell of zoomed) tell(width < 1);
  }
  for (const box of boxes) {
    box.group.style.cursor = "zoom-in";
    box.group.addEventListener("click", () => zoom(box.at, box.width));
  }
  return {
    zoomed, back: () => zoom(0, 1),
    // As many pixels wide, whatever is seen of it.
    fit(width) {
      whole = width;
      draw();
    },
    // Marks the boxes of functions with these letters in their names; returns their number.
    find(letters) {
      const hits = boxes.filter(box => {
        const hit = letters !== "" && box.name.includes(letters);
        box.group.classList.toggle("hit", hit);
        return hit;
      });
      return letters && ` ${hits.length} boxes of ${new Set(hits.map(box => box.name)).size} functions`;
    },
  };
}
