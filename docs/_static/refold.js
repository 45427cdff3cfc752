"use strict";

// A table that scrolls in its own box can be scrolled by the keyboard too.
addEventListener("load", () => {
  for (const table of document.querySelectorAll("table.table"))
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
});
