// Makes cells of the Python blocks of a page: edit, run, read what they print.
const blocks = [...document.querySelectorAll("div.highlight-python")];
const cells = [];
let worker = null;
let waiting = null;

function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function button(text, label, action) {
  const made = make("button", { type: "button", "aria-label": label }, text);
  made.addEventListener("click", action);
  return made;
}

const state = make("span", { role: "status" });
const all = button("Run all", "Run all cells", () => runTo(cells.length));
const stop = button("Start over", "Stop Python, and forget what the cells have done", startOver);
const bar = make("div", { class: "live-bar", role: "group", "aria-label": "Python in this page" }, all, stop, state);
const say = (text) => { state.textContent = text; };

function ended(error) {
  worker?.terminate();
  worker = null;
  const interrupted = waiting;
  waiting = null;
  interrupted?.reject(new Error(error));
  for (const cell of cells) cell.hasRun = false;
}

function startOver() {
  ended("stopped");
  for (const cell of cells) show(cell, null);
  say("Nothing has run.");
}

function python() {
  if (worker) return;
  say("Loading Python: 13 MB, once …");
  worker = new Worker(new URL("./live-worker.mjs", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => {
    if (data.broken) ended(data.broken);
    else if (data.ready) say(`Python ${data.ready} runs in this page.`);
    else { const done = waiting; waiting = null; done.resolve(data); }
  };
  worker.onerror = (event) => ended(event.message || "Python could not be loaded");
}

function show(cell, answer) {
  cell.output.hidden = answer === null;
  cell.output.classList.toggle("failed", Boolean(answer?.failed));
  cell.output.textContent = answer === null ? "" : answer.text || "(It printed nothing.)";
}

function run(cell) {
  python();
  return new Promise((resolve, reject) => {
    waiting = { resolve, reject };
    worker.postMessage({ number: cell.number, source: cell.code.innerText });
  });
}

// A cell needs what those above it have made: they run first.
async function runTo(last) {
  if (waiting) return;
  const wanted = cells.filter((each) => each.number <= last && (each.number === last || !each.hasRun));
  for (const cell of wanted) {
    cell.element.setAttribute("aria-busy", "true");
    try {
      const answer = await run(cell);
      show(cell, answer);
      cell.hasRun = !answer.failed;
      if (answer.failed) {
        say(`Cell ${cell.number} raised an error.`);
        break;
      }
      say(`Cell ${cell.number} has run.`);
    } catch (error) {
      say(`Python has ended: ${error.message}`);
      break;
    } finally {
      cell.element.removeAttribute("aria-busy");
    }
  }
}

function makeCell(element, place) {
  const number = place + 1;
  const code = element.querySelector("pre");
  const markup = code.innerHTML;
  try {
    code.contentEditable = "plaintext-only";
  } catch {
    code.contentEditable = "true";
  }
  for (const [name, value] of Object.entries({
    role: "textbox", "aria-multiline": "true", "aria-label": `Code of cell ${number}`, tabindex: "0",
    spellcheck: "false", autocapitalize: "off", autocorrect: "off",
  })) code.setAttribute(name, value);
  const output = make("pre", { class: "live-output", "aria-live": "polite", "aria-label": `Output of cell ${number}`, role: "region" });
  output.hidden = true;
  const cell = { number, element, code, output, hasRun: false };
  const reset = button("Reset", `Take back the changes of cell ${number}`, () => {
    code.innerHTML = markup;
    cell.hasRun = false;
    show(cell, null);
    reset.hidden = true;
  });
  reset.hidden = true;
  const start = button("Run", `Run cell ${number}`, () => runTo(number));
  code.addEventListener("input", () => { cell.hasRun = false; reset.hidden = false; });
  code.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey || event.shiftKey)) {
      event.preventDefault();
      runTo(number);
    }
  });
  element.classList.add("live-cell");
  element.after(make("div", { class: "live-controls" }, start, reset), output);
  return cell;
}

cells.push(...blocks.map(makeCell));
const intro = make("p", {}, "The Python blocks of this page can be edited and run here, in your browser: "
  + "Run, or Ctrl+Enter in a block. Blocks above that have not run go first. Nothing is sent anywhere.");
document.querySelector("article h1")?.after(make("div", { class: "live-intro" }, intro, bar));
say("Nothing has run.");
