
// A run chart: its points are the rows of the table below it.
function followRun(run) {
  const [plot, spot, drag, said, all] = ["plot", "spot", "drag", "said", "all"].map((name) => run.querySelector(`[data-${name}]`));
  const svg = plot.querySelector("[data-chart]");
  const { width, height } = svg.viewBox.baseVal;
  const ends = [...run.querySelectorAll("[data-ends] span")];
  const whole = ends.map((end) => end.textContent);
  const points = [...run.querySelectorAll(".run-points tbody tr")].map((row) => {
    const [name, ...cells] = [...row.cells].map((cell) => cell.textContent);
    const link = row.querySelector("a")?.getAttribute("href");
    return { row, x: Number(row.dataset.x), y: Number(row.dataset.y), text: `row ${name}: ${cells.join(", ")}`, end: cells.length > 2 ? cells[0] : `row ${name}`, link };
  });
  let [from, to] = [0, width];
  let chosen = -1;
  for (const hidden of run.querySelectorAll("[data-tools]")) hidden.hidden = false;
  plot.tabIndex = 0;
  plot.setAttribute("role", "group");
  plot.setAttribute("aria-label", "Run chart: arrows go from point to point, plus and minus zoom, Enter opens the row");

  const shown = (point) => point && point.x >= from && point.x <= to;
  const across = (event) => {
    const box = svg.getBoundingClientRect();
    return from + Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1) * (to - from);
  };
  function choose(index) {
    chosen = index;
    const point = points[index];
    spot.hidden = !shown(point);
    said.textContent = point ? point.text : "";
    svg.style.cursor = point?.link ? "pointer" : "";
    if (spot.hidden) return;
    spot.style.left = `${100 * (point.x - from) / (to - from)}%`;
    spot.style.top = `${100 * point.y / height}%`;
  }
  // The nearest on the screen: points stand far closer side by side than above each other.
  function nearest(event) {
    const box = svg.getBoundingClientRect();
    const y = event.clientY - box.top;
    const x = across(event);
    let [best, least] = [-1, Infinity];
    for (const [index, point] of points.entries()) {
      if (!shown(point)) continue;
      const away = ((point.x - x) / (to - from) * box.width) ** 2 + ((point.y / height * box.height - y) / 4) ** 2;
      if (away < least) [best, least] = [index, away];
    }
    return best;
  }
  function zoom(begin, end) {
    const least = width / Math.max(points.length, 2) * 4;
    const wide = Math.min(Math.max(end - begin, least), width);
    from = Math.min(Math.max((begin + end - wide) / 2, 0), width - wide);
    to = from + wide;
    svg.setAttribute("viewBox", `${from} 0 ${wide} ${height}`);
    all.hidden = wide === width;
    const inside = points.filter(shown);
    for (const point of points) point.row.hidden = !shown(point);
    for (const [k, end] of ends.entries()) end.textContent = all.hidden || !inside.length ? whole[k] : inside.at(-k).end;
    choose(shown(points[chosen]) ? chosen : -1);
  }
  function open(point) {
    if (!point?.link) return;
    const target = point.link.startsWith("#") && document.getElementById(point.link.slice(1));
    const folded = target && target.closest("details");
    if (folded) folded.open = true;
    location.assign(point.link);
  }

  let begun = null;
  plot.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.target === all) return;
    begun = { x: across(event), at: event.clientX };
    plot.setPointerCapture(event.pointerId);
  });
  plot.addEventListener("pointermove", (event) => {
    if (!begun || Math.abs(event.clientX - begun.at) < 6) return choose(nearest(event));
    const [left, right] = [begun.x, across(event)].sort((a, b) => a - b);
    drag.hidden = false;
    drag.style.left = `${100 * (left - from) / (to - from)}%`;
    drag.style.width = `${100 * (right - left) / (to - from)}%`;
  });
  plot.addEventListener("pointerup", (event) => {
    if (!begun) return;
    const [left, right] = [begun.x, across(event)].sort((a, b) => a - b);
    const dragged = Math.abs(event.clientX - begun.at) >= 6;
    begun = null;
    drag.hidden = true;
    if (dragged) return zoom(left, right);
    const index = nearest(event);
    choose(index);
    open(points[index]);
  });
  for (const name of ["pointercancel", "lostpointercapture"]) plot.addEventListener(name, () => { begun = null; drag.hidden = true; });
  plot.addEventListener("pointerleave", () => { if (!begun && document.activeElement !== plot) choose(-1); });
  all.addEventListener("click", () => { zoom(0, width); plot.focus(); });

  function step(by) {
    const places = [...points.keys()].filter((index) => shown(points[index]));
    if (!places.length) return;
    const here = places.indexOf(chosen);
    const next = here < 0 && Math.abs(by) === 1 ? (by > 0 ? 0 : Infinity) : here + by;
    choose(places[Math.min(Math.max(next, 0), places.length - 1)]);
  }
  function closer(factor) {
    const middle = shown(points[chosen]) ? points[chosen].x : (from + to) / 2;
    const half = (to - from) * factor / 2;
    zoom(middle - half, middle + half);
  }
  const keys = {
    ArrowRight: () => step(1), ArrowLeft: () => step(-1), Home: () => step(-points.length), End: () => step(points.length),
    PageUp: () => step(-10), PageDown: () => step(10), "+": () => closer(0.5), "=": () => closer(0.5), "-": () => closer(2),
    Escape: () => zoom(0, width), Enter: () => open(points[chosen]),
  };
  plot.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
}
for (const run of document.querySelectorAll("[data-run]")) followRun(run);
