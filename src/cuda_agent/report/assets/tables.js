// Large tables: sorted, filtered, and shown a page at a time.
const ROWS_SHOWN = 25;
const CELLS = {
  text: value => h("td", { dir: "auto", class: String(value ?? "").length > 34 ? "long" : "", text: value ?? "" }),
  long: value => h("td", { dir: "auto", class: "long", text: value ?? "" }),
  number: value => h("td", { class: "n", text: format(value) }),
  ratio: value => h("td", { class: "n", text: value === null ? "–" : `${value.toFixed(2)}x` }),
  percent: value => h("td", { class: "n", text: value === null ? "–" : `${(100 * value).toFixed(0)} %` }),
  link: value => h("td", {}, value && h("a", { href: value, text: "open" })),
};
function compareCells(a, b) {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
}
function showTable(place, table) {
  const state = { sort: -1, isDown: false, page: 0, query: "", picked: {} };
  const texts = table.rows.map(row => row.filter(cell => typeof cell === "string").join(" ").toLowerCase());
  const counts = table.columns.map((column, index) => column.form === "text" ? new Set(table.rows.map(row => row[index])) : new Set());
  const search = h("input", { type: "search", placeholder: "Filter", "aria-label": "Filter rows by text", oninput: once(80, event => { state.query = event.target.value.toLowerCase().trim(); state.page = 0; show(); }) });
  const picks = table.columns.map((column, index) => counts[index].size > 1 && counts[index].size <= 12 && h("select", { "aria-label": `Only this ${column.title}`, "data-pick": column.key, onchange: event => { state.picked[index] = event.target.value; state.page = 0; show(); } },
    h("option", { value: "", text: `${column.title}: all` }), ...[...counts[index]].sort().map(text => h("option", { value: text, text: shorten(String(text), 40) }))));
  const told = h("output", {}), body = h("tbody", {});
  const heads = table.columns.map((column, index) => h("th", { class: ["text", "long", "link"].includes(column.form) ? "" : "n", "data-key": column.key, scope: "col" }, h("button", { type: "button", text: column.title, onclick: () => { state.isDown = state.sort === index ? !state.isDown : !["text", "long"].includes(column.form); state.sort = index; state.page = 0; show(); } })));
  const before = h("button", { type: "button", text: "Previous", onclick: () => { state.page--; show(); } });
  const after = h("button", { type: "button", text: "Next", onclick: () => { state.page++; show(); } });
  function show() {
    const words = state.query.split(/\s+/).filter(Boolean), picked = Object.entries(state.picked).filter(([, text]) => text);
    let chosen = [];
    for (let row = 0; row < table.rows.length; row++)
      if (words.every(word => texts[row].includes(word)) && picked.every(([index, text]) => String(table.rows[row][index]) === text)) chosen.push(row);
    if (state.sort >= 0) {
      const at = state.sort, side = state.isDown ? -1 : 1, rows = table.rows, isEmpty = value => value === null || value === "";
      // What has no value stays last, whichever way.
      chosen.sort((a, b) => isEmpty(rows[a][at]) !== isEmpty(rows[b][at]) ? (isEmpty(rows[a][at]) ? 1 : -1) : side * compareCells(rows[a][at], rows[b][at]) || a - b);
    }
    const last = Math.max(0, Math.ceil(chosen.length / ROWS_SHOWN) - 1); state.page = Math.min(Math.max(0, state.page), last);
    const from = state.page * ROWS_SHOWN, part = chosen.slice(from, from + ROWS_SHOWN);
    body.replaceChildren(...part.map(row => h("tr", {}, ...table.columns.map((column, index) => CELLS[column.form](table.rows[row][index])))));
    told.textContent = chosen.length ? `${from + 1} to ${from + part.length} of ${chosen.length.toLocaleString("en")}${chosen.length < table.rows.length ? ` (of ${table.rows.length.toLocaleString("en")})` : ""}` : `none of ${table.rows.length.toLocaleString("en")}`;
    heads.forEach((head, index) => { if (index === state.sort) head.setAttribute("aria-sort", state.isDown ? "descending" : "ascending"); else head.removeAttribute("aria-sort"); });
    before.disabled = state.page === 0; after.disabled = state.page === last;
  }
  show();
  place.replaceChildren(h("div", { class: "controls" }, search, ...picks), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table" }, h("table", {}, h("thead", {}, h("tr", {}, ...heads)), body)), h("div", { class: "controls" }, before, after, told));
}
document.querySelectorAll("[data-table]").forEach(place => showTable(place, PAGE.tables[place.dataset.table]));
