"use strict";

const words = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

// Cells carry their plain value where what they show is more than that; empty ones come last.
function valueOf(row, column) {
  const cell = row.cells[column];
  return cell.dataset.value ?? cell.textContent.trim();
}

function compare(a, b, numeric) {
  if (a === "" || b === "") return a === b ? 0 : a === "" ? Infinity : -Infinity;
  return numeric ? Number(a) - Number(b) : words.compare(a, b);
}

const rowsOf = (tables) => tables.flatMap((table) => [...table.tBodies[0].rows]);

// The first rows are in one table, the others in a second one that is folded away.
function sort(tables, header) {
  const first = header.dataset.first ?? "ascending";
  const other = first === "ascending" ? "descending" : "ascending";
  const order = header.getAttribute("aria-sort") === first ? other : first;
  for (const each of tables.flatMap((table) => [...table.tHead.rows[0].cells])) {
    if (each.cellIndex === header.cellIndex) each.setAttribute("aria-sort", order);
    else each.removeAttribute("aria-sort");
  }
  const numeric = "numeric" in header.dataset;
  const keyed = rowsOf(tables).map((row) => [valueOf(row, header.cellIndex), row]);
  keyed.sort(([a], [b]) => {
    const sign = compare(a, b, numeric);
    return order === "ascending" || !Number.isFinite(sign) ? sign : -sign;
  });
  const sizes = tables.map((table) => table.tBodies[0].rows.length);
  for (const [k, table] of tables.entries())
    table.tBodies[0].append(...keyed.splice(0, sizes[k]).map(([, row]) => row));
}

function search(tables, text, said) {
  const wanted = text.trim().toLowerCase().split(/\s+/);
  const rows = rowsOf(tables);
  for (const row of rows) {
    const has = row.textContent.toLowerCase();
    row.hidden = !wanted.every((word) => has.includes(word));
  }
  said.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} found`;
}

for (const controls of document.querySelectorAll("[data-controls]")) {
  const name = controls.dataset.controls;
  const tables = [...document.querySelectorAll(`table[data-live="${name}"]`)];
  for (const button of tables.flatMap((table) => [...table.tHead.querySelectorAll("button")])) {
    button.disabled = false;
    button.addEventListener("click", () => sort(tables, button.closest("th")));
  }
  const [field, said] = [controls.querySelector("input"), controls.querySelector("output")];
  controls.hidden = false;
  field.addEventListener("input", () => {
    for (const table of tables.slice(1)) table.closest("details").open = true;
    search(tables, field.value, said);
  });
}
{% include "run_chart.js" %}
