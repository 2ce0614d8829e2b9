(() => {
  "use strict";

  // Strings become text nodes: nothing here parses HTML.
  function make(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "text") made.textContent = value;
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  const dataOf = (id) => JSON.parse(document.getElementById(`${id}-data`).textContent);
  const labelled = (text, control) => make("label", {}, text, control);
  const options = (select, values) =>
    select.append(...values.map(([value, text]) => make("option", { value, text })));
  const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  const shortOf = (name) => name.toLowerCase();

  // The matrix of functions and backends

  const CELLS = 6000; // the most cells on a page of the matrix
  const ROWS = 25; // the fewest rows on a page
  const WORDS = { y: "yes", a: "asks", "-": "" };
  const KEEPS = {
    all: () => true,
    some: (letters, own) => [...letters].some((each, place) => each !== "-" && place !== own),
    none: (letters, own) => ![...letters].some((each, place) => each !== "-" && place !== own),
    asks: (letters) => letters.includes("a"),
  };

  function showMatrix(home, id, data) {
    const { backends, rows } = data.matrix;
    const own = backends.indexOf("default");
    const shown = (name) => (name === "default" ? data.default : name);
    const words = make("input", { type: "search", autocomplete: "off", spellcheck: "false" });
    const names = make("input", { type: "search", autocomplete: "off", spellcheck: "false" });
    const kind = make("select");
    options(kind, [
      ["all", "all functions"],
      ["some", "functions that a backend implements"],
      ["none", "functions that no backend implements"],
      ["asks", "functions with a should_run"],
    ]);
    const status = make("p", { role: "status", class: "quiet" });
    const table = make("table", { class: "matrix" });
    const region = make("div", {
      class: "scroll", tabindex: "0", role: "region",
      "aria-label": `Functions of ${data.library} by backend`,
    }, table);
    const back = make("button", { type: "button", text: "Previous functions" });
    const forth = make("button", { type: "button", text: "Next functions" });
    const pages = make("div", { class: "controls pages" }, back, forth);
    let page = 0;

    function chosen() {
      const wanted = shortOf(names.value).split(/[\s,]+/).filter(Boolean);
      const columns = backends.map((_, place) => place).filter((place) =>
        !wanted.length || wanted.some((each) => shortOf(shown(backends[place])).includes(each)));
      const parts = shortOf(words.value).split(/\s+/).filter(Boolean);
      const place = columns.indexOf(own);
      const found = rows.filter(([name, letters]) => {
        const seen = columns.map((each) => letters[each]).join("");
        return parts.every((each) => shortOf(name).includes(each)) && KEEPS[kind.value](seen, place);
      });
      return [columns, found];
    }

    function draw(everything = false) {
      const [columns, found] = chosen();
      const size = everything ? Math.max(1, found.length)
        : Math.max(ROWS, Math.floor(CELLS / Math.max(1, columns.length)));
      const last = Math.max(0, Math.ceil(found.length / size) - 1);
      page = Math.min(page, last);
      const start = page * size;
      const visible = found.slice(start, start + size);
      const head = make("tr", {}, make("th", { scope: "col", text: "Function" }),
        ...columns.map((each) => make("th", { scope: "col", text: shown(backends[each]) })));
      const body = visible.map(([name, letters, known]) => make("tr", {},
        make("th", { scope: "row", text: known ? name : `${name} (not a function of the library)` }),
        ...columns.map((each) =>
          make("td", { class: letters[each] === "-" ? "no" : letters[each], text: WORDS[letters[each]] }))));
      table.replaceChildren(make("thead", {}, head), make("tbody", {}, ...body));
      const part = visible.length < found.length
        ? `, ${start + 1} to ${start + visible.length} of them below` : "";
      status.textContent = `${found.length} of ${counted(rows.length, "function")}${part}; `
        + `${columns.length} of ${counted(backends.length, "backend")}. `
        + "“asks”: its should_run decides with the arguments.";
      pages.hidden = last === 0;
      back.disabled = page === 0;
      forth.disabled = page === last;
    }

    for (const each of [words, names, kind]) {
      each.addEventListener("input", () => { page = 0; draw(); });
    }
    back.addEventListener("click", () => { page -= 1; draw(); (back.disabled ? forth : back).focus(); });
    forth.addEventListener("click", () => { page += 1; draw(); (forth.disabled ? back : forth).focus(); });
    // Print all pages of the matrix, unless it would fill too many sheets.
    const fits = () => chosen().map((each) => each.length).reduce((a, b) => a * b) <= 10 * CELLS;
    window.addEventListener("beforeprint", () => { if (fits()) draw(true); });
    window.addEventListener("afterprint", () => draw());
    home.append(
      make("div", { class: "controls" }, labelled("Search functions", words),
        labelled("Search backends", names), labelled("Show", kind)),
      status, region, pages);
    draw();
  }

  // What would run

  const OFFERED = 1000; // the most names in the list of suggestions

  function showWhat(home, id, data) {
    const { calls } = data.what;
    const functions = Object.keys(calls);
    const shown = (name) => (name === "default" ? data.default : name);
    const list = make("datalist", { id: `${id}-names` });
    options(list, functions.slice(0, OFFERED).map((each) => [each, ""]));
    const name = make("input", {
      type: "text", list: `${id}-names`, autocomplete: "off", spellcheck: "false",
    });
    const told = make("div", { role: "status" });
    const lines = make("div");
    name.value = (data.matrix && interesting(data.matrix, functions)) || functions[0];

    function draw() {
      const wanted = shortOf(name.value.trim());
      const found = functions.find((each) => shortOf(each) === wanted)
        ?? (wanted && functions.find((each) => shortOf(each).endsWith(wanted)))
        ?? (wanted && functions.find((each) => shortOf(each).includes(wanted)));
      lines.replaceChildren();
      if (!found) {
        told.replaceChildren(make("p", { class: "outcome", text: "No function has this name." }));
        return;
      }
      const number = counted(calls[found].length, "type");
      told.replaceChildren(make("p", { class: "outcome" }, make("code", { text: found }),
        `: what runs for ${number}`));
      const body = calls[found].map((each) => make("tr", { role: "row" },
        make("th", { role: "rowheader", scope: "row", text: each.type }),
        make("td", { role: "cell", text: each.selected !== null ? shown(each.selected)
          : each.refused ? "refused" : "depends on the arguments" }),
        make("td", { role: "cell", text: each.reason })));
      const head = make("tr", { role: "row" }, ...["Type", "What runs", "Reason"].map((text) =>
        make("th", { role: "columnheader", scope: "col", text })));
      lines.append(make("table", {
        class: "stacked", role: "table", "aria-label": `What runs for each type in ${found}`,
      }, make("thead", { role: "rowgroup" }, head), make("tbody", { role: "rowgroup" }, ...body)));
      const standing = calls[found].filter((each) => each.note).map((each) => each.type);
      if (standing.length) {
        lines.append(make("p", { class: "quiet", text:
          `Not importable here, so classes of the same name stand in: ${standing.join(", ")}.` }));
      }
    }

    name.addEventListener("input", draw);
    home.append(list, make("div", { class: "controls" }, labelled("Function", name)), told, lines);
    draw();
  }

  // The function with the most backends is the best first example.
  function interesting({ rows }, functions) {
    const known = new Set(functions);
    const number = (letters) => [...letters].filter((each) => each !== "-").length;
    let best = null;
    for (const [name, letters] of rows) {
      if (known.has(name) && (!best || number(letters) > best[1])) best = [name, number(letters)];
    }
    return best && best[0];
  }

  // The arrows of an order

  function joinArrows(table) {
    const arrows = table.closest("section").querySelectorAll("svg.order .arrow");
    for (const button of table.querySelectorAll("button.number")) {
      button.addEventListener("click", () => {
        const pressed = button.getAttribute("aria-pressed") === "true";
        for (const each of table.querySelectorAll("button.number")) {
          each.setAttribute("aria-pressed", "false");
        }
        button.setAttribute("aria-pressed", String(!pressed));
        for (const each of arrows) {
          const chosen = !pressed && each.dataset.number === button.dataset.number;
          each.classList.toggle("chosen", chosen);
          if (chosen) each.scrollIntoView({ block: "nearest", inline: "nearest" });
        }
      });
    }
  }

  // Closed details would not be printed.
  const closed = new Set();
  window.addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll("details:not([open])")) {
      closed.add(each);
      each.open = true;
    }
  });
  window.addEventListener("afterprint", () => {
    for (const each of closed) each.open = false;
    closed.clear();
  });

  const parsed = new Map();
  const cached = (id) => {
    if (!parsed.has(id)) parsed.set(id, dataOf(id));
    return parsed.get(id);
  };
  for (const each of document.querySelectorAll("[data-matrix]")) {
    showMatrix(each, each.dataset.matrix, cached(each.dataset.matrix));
  }
  for (const each of document.querySelectorAll("[data-what]")) {
    showWhat(each, each.dataset.what, cached(each.dataset.what));
  }
  document.querySelectorAll("[data-edges]").forEach(joinArrows);
})();
