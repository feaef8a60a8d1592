// SPDX-License-Identifier: BSD-2-Clause
// The tools of a flame graph that is a file of its own, which is as wide as its window. flame_graph.js comes before this.
const graph = document.documentElement, made = flame(graph), tools = graph.querySelector(".tools");
const [input, back, found] = ["input", "button", "output"].map(name => tools.querySelector(name));
input.addEventListener("input", () => { found.textContent = made.find(input.value); });
back.addEventListener("click", made.back);
made.zoomed.push(zoomed => { back.disabled = !zoomed; });
back.disabled = true;

const { height } = graph.viewBox.baseVal;
const ENTRY = 134, LINE = 17;  // pixels of an entry of the legend; from one line to the next
const title = graph.querySelector(".title"), paper = graph.querySelector(".paper");
const entries = [...graph.querySelectorAll("rect.legend")].map(box => [box, box.nextElementSibling]);

// The title, the tools and the rows of the legend are above the graph, one below the other if the window is narrow.
function fit() {
  const width = Math.max(320, innerWidth), columns = Math.max(1, Math.floor(width / ENTRY));
  const rows = Math.ceil(entries.length / columns), beside = width >= 1200;
  const top = 30 - LINE * (rows - 1), first = beside ? top : top - 26;
  title.setAttribute("y", first - 12);
  tools.setAttribute("y", beside ? first - 28 : top - 26);
  tools.setAttribute("x", beside ? width - tools.width.baseVal.value : 2);
  entries.forEach(([box, text], number) => {
    const x = (number % columns) * ENTRY + 4, y = top + LINE * Math.floor(number / columns);
    box.setAttribute("x", x);
    box.setAttribute("y", y);
    text.setAttribute("x", x + 16);
    text.setAttribute("y", y + 10);
  });
  const above = 30 - first;
  graph.setAttribute("viewBox", `0 ${-above} ${width} ${height + above}`);
  paper.setAttribute("y", -above);
  for (const each of [graph, paper]) {
    each.setAttribute("width", width);
    each.setAttribute("height", height + above);
  }
  made.fit(width);
}
addEventListener("resize", fit);
fit();
