"use strict";

const form = document.querySelector("#score");
const [model, rows, curl, said, verdicts] = ["#model", "#rows", "#curl", "#said", "#verdicts"].map(
  (name) => document.querySelector(name),
);
const answer = document.querySelector("#answer");
const defaults = new Map([...new FormData(form)]);

// Addresses are beside this page, wherever a proxy puts it.
const near = (path) => new URL(`.${path}`, location.href);

function headers(more) {
  const token = form.elements.token?.value;
  return token ? { ...more, Authorization: `Bearer ${token}` } : more;
}

function query() {
  const asked = new URLSearchParams();
  for (const [name, value] of new FormData(form))
    if (!["model", "rows", "token"].includes(name) && value !== defaults.get(name)) asked.set(name, value);
  return asked.size ? `?${asked}` : "";
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function showCommand() {
  const at = `${form.dataset.address}/v1/models/${model.value}/score${query()}`;
  const safe = /^[\w@%+=:,./-]+$/.test(at) ? at : quoted(at);
  let body = rows.value;
  try {
    body = JSON.stringify(JSON.parse(body));
  } catch {
    // What is no JSON is sent as it is: the service says what is wrong with it.
  }
  const token = form.elements.token ? ` -H "Authorization: Bearer $REFOLD_TOKEN"` : "";
  curl.textContent = `curl ${safe} \\\n  -H 'Content-Type: application/json'${token} -d ${quoted(body)}`;
}

function showExample() {
  rows.value = model.selectedOptions[0].dataset.example;
  showCommand();
}

async function ask(path, options) {
  const begin = performance.now();
  const got = await fetch(near(path), options);
  const text = await got.text();
  const ms = `${Math.max(1, Math.round(performance.now() - begin))} ms`;
  return [got, text, `${got.status} ${got.statusText}, ${ms}`];
}

function sentence(row, number) {
  const item = document.createElement("li");
  const because = row.reasons.map((reason) => reason.feature ?? reason).join(", ");
  const p = row.p_value === null ? "" : `, p-value ${row.p_value.toPrecision(2)}`;
  if (row.label === null) item.textContent = `Row ${number}: not judged. ${row.problem ?? ""}`;
  else if (row.label === 1) item.textContent = `Row ${number}: normal${p}`;
  else item.textContent = `Row ${number}: not normal${p}${because ? `, because of ${because}` : ""}`;
  item.classList.toggle("not", row.label !== 1);
  return item;
}

async function score(event) {
  event.preventDefault();
  const button = form.querySelector(".go");
  button.disabled = true;
  verdicts.replaceChildren();
  try {
    const options = { method: "POST", headers: headers({ "Content-Type": "application/json" }), body: rows.value };
    const [got, text, status] = await ask(`/v1/models/${model.value}/score${query()}`, options);
    const document_ = JSON.parse(text);
    said.textContent = status;
    if (got.ok) verdicts.append(...document_.rows.slice(0, 20).map(sentence));
    else said.textContent += `: ${document_.error}`;
    answer.hidden = false;
    answer.querySelector("pre").textContent = JSON.stringify(document_, null, 2);
  } catch (error) {
    said.textContent = `No answer: ${error.message}`;
  }
  button.disabled = false;
}

async function tryAddress(event) {
  event.preventDefault();
  const { currentTarget: at } = event;
  const output = at.querySelector("output");
  try {
    const { verb: method, path } = at.dataset;
    const [got, text, status] = await ask(path, { method, headers: headers({ Accept: "application/json, text/plain" }) });
    let shown = text;
    if (got.headers.get("content-type")?.includes("json")) shown = JSON.stringify(JSON.parse(text), null, 2);
    const pre = document.createElement("pre");
    pre.tabIndex = 0;
    pre.textContent = shown;
    output.replaceChildren(status, ...(shown ? [pre] : []));
  } catch (error) {
    output.textContent = `No answer: ${error.message}`;
  }
}

model.addEventListener("change", showExample);
form.addEventListener("input", showCommand);
form.addEventListener("submit", score);
for (const other of document.querySelectorAll("form[data-path]")) other.addEventListener("submit", tryAddress);
for (const button of document.querySelectorAll("button")) button.disabled = false;
