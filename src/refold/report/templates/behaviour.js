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

function sort(table, header) {
  const first = header.dataset.first ?? "ascending";
  const other = first === "ascending" ? "descending" : "ascending";
  const order = header.getAttribute("aria-sort") === first ? other : first;
  for (const each of header.parentElement.cells) each.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", order);
  const numeric = "numeric" in header.dataset;
  const body = table.tBodies[0];
  const keyed = [...body.rows].map((row) => [valueOf(row, header.cellIndex), row]);
  keyed.sort(([a], [b]) => {
    const sign = compare(a, b, numeric);
    return order === "ascending" || !Number.isFinite(sign) ? sign : -sign;
  });
  body.append(...keyed.map(([, row]) => row));
}

function search(table, text, said) {
  const wanted = text.trim().toLowerCase().split(/\s+/);
  let shown = 0;
  for (const row of table.tBodies[0].rows) {
    const has = row.textContent.toLowerCase();
    row.hidden = !wanted.every((word) => has.includes(word));
    if (!row.hidden) shown += 1;
  }
  said.textContent = `${shown} of ${table.tBodies[0].rows.length} shown`;
}

for (const table of document.querySelectorAll("table[data-live]")) {
  for (const button of table.tHead.querySelectorAll("button")) {
    button.disabled = false;
    button.addEventListener("click", () => sort(table, button.closest("th")));
  }
  const controls = document.querySelector(`[data-controls="${table.id}"]`);
  const [field, said] = [controls.querySelector("input"), controls.querySelector("output")];
  controls.hidden = false;
  field.addEventListener("input", () => search(table, field.value, said));
  search(table, field.value, said);
}
