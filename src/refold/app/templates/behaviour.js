"use strict";

const progress = new URL("../progress", document.currentScript.src);
const job = document.getElementById("job");
const working = Boolean(job && !job.hidden);

// Files go to the server as they are; nothing else on this page needs them.
function send(form, file) {
  const problem = form.querySelector("[data-problem]");
  const say = (text) => { problem.textContent = text; problem.hidden = !text; };
  const most = Number(form.dataset.most);
  if (file.size > most) {
    say(`${file.name} has ${Math.ceil(file.size / 1048576)} MB; a file may have ${Math.floor(most / 1048576)} MB here. The commands refold fit and refold score have no such limit.`);
    return;
  }
  say("");
  form.classList.add("sending");
  fetch(`${form.dataset.upload}?name=${encodeURIComponent(file.name)}&version=${form.dataset.version}`, { method: "PUT", body: file })
    .then(async (answer) => [answer.ok, await answer.json()])
    .then(([ok, found]) => { if (ok) location.assign(found.next); else say(found.error); })
    .catch(() => say("The file could not be sent. Is refold app still running?"))
    .finally(() => form.classList.remove("sending"));
}

for (const form of document.querySelectorAll("[data-upload]")) {
  const input = form.querySelector("input[type=file]");
  input.addEventListener("change", () => { if (input.files.length) send(form, input.files[0]); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("dragover", (event) => { event.preventDefault(); form.classList.add("over"); });
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    form.classList.remove("over");
    const [file] = event.dataTransfer.files;
    if (file && !input.disabled) send(form, file);
  });
  input.disabled = working; // from here on somebody listens
}

// A file that misses its place must not replace the page.
for (const name of ["dragover", "drop"]) window.addEventListener(name, (event) => event.preventDefault());

async function watch() {
  try {
    const now = await (await fetch(progress)).json();
    if (String(now.finished) !== job.dataset.finished) return location.reload();
    const rows = now.rows ? `, ${now.rows.toLocaleString("en")} rows` : "";
    const bar = job.querySelector("progress");
    if (now.share === null) bar.removeAttribute("value"); else bar.value = now.share;
    if (now.what) job.querySelector("[data-what]").textContent = `${now.what} … ${Math.round(now.seconds)} s${rows}`;
  } catch { /* it is asked again */ }
  setTimeout(watch, 400);
}
if (working) setTimeout(watch, 200);

// The counts of all rates are here already: the slider answers at once.
const rate = document.querySelector("form.rate");
if (rate) {
  const choices = JSON.parse(rate.dataset.rates);
  const slider = rate.querySelector("[type=range]");
  const [rejected, expected] = ["[data-rejected]", "[data-expected]"].map((found) => document.querySelector(found));
  const use = rate.querySelector("button");
  use.disabled = true;
  slider.addEventListener("input", () => {
    const now = choices[slider.value];
    use.disabled = slider.value === slider.defaultValue || working;
    rate.querySelector("[data-rate]").textContent = now.rate;
    slider.setAttribute("aria-valuetext", now.rate);
    rejected.textContent = now.rejected;
    expected.textContent = now.expected;
  });
}

// Who begins something by the keyboard is at the same place when it is done.
for (const form of document.querySelectorAll("form[data-stay]")) {
  form.addEventListener("submit", () => sessionStorage.setItem("stay", form.dataset.stay));
}
const stay = document.getElementById(sessionStorage.getItem("stay"));
if (stay && !working) {
  sessionStorage.removeItem("stay");
  stay.focus();
}

const ready = document.querySelector("[data-ready]");
if (ready) {
  history.replaceState(null, "", location.pathname); // to come back is not to ask again
  ready.click();
}
{% include "report/run_chart.js" %}
// The chart of many rows comes after the page, so that this is small.
for (const place of document.querySelectorAll("[data-fetch]")) {
  fetch(place.dataset.fetch)
    .then(async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-run]"))
    .then((run) => {
      if (!run) return;
      for (const link of run.querySelectorAll("a")) link.href = `${place.dataset.fetch}/../${link.getAttribute("href")}`;
      place.replaceChildren(document.adoptNode(run));
      followRun(run);
    })
    .catch(() => { /* the link to it stays */ });
}
