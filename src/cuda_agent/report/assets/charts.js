// Scales and ticks.
function extent(values, isLog) {
  let low = Infinity, high = -Infinity;
  for (const value of values) if (value !== null && Number.isFinite(value) && (!isLog || value > 0)) { if (value < low) low = value; if (value > high) high = value; }
  if (low > high) return isLog ? [0.1, 10] : [0, 1];
  if (low === high) return isLog ? [low / 2, high * 2] : [low - Math.abs(low || 1) / 2, high + Math.abs(high || 1) / 2];
  return [low, high];
}
function ticks(low, high, isLog, wanted) {
  if (isLog) {
    for (const digits of [[1, 2, 5], [1, 3], [1]]) {
      const found = [];
      for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
        for (const digit of digits) { const value = digit * 10 ** power; if (value >= low * 0.999 && value <= high * 1.001) found.push(value); }
      if (found.length <= wanted + 2 || digits.length === 1) return found.length > wanted + 2 ? found.filter((_, index) => index % Math.ceil(found.length / wanted) === 0) : found;
    }
  }
  const raw = (high - low) / Math.max(1, wanted), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(each => each * power).find(each => each >= raw) || raw;
  const found = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-9; value += step) found.push(Math.abs(value) < step * 1e-9 ? 0 : Number(value.toPrecision(12)));
  return found;
}
function scale(low, high, start, end, isLog) {
  const place = isLog ? Math.log : each => each, a = place(low), b = place(high);
  return value => start + (place(value) - a) / (b - a) * (end - start);
}
function widen([low, high], isLog, share) {
  if (isLog) { const by = (high / low) ** share; return [low / by, high * by]; }
  const by = (high - low) * share; return [low >= 0 && low - by < 0 ? 0 : low - by, high + by];
}
const isThere = (value, isLog) => value !== null && value !== undefined && Number.isFinite(value) && (!isLog || value > 0);
const tone = index => index % 6;
// The colours come round after six; the second time lines are broken and dots are square.
const again = (chart, index) => index < 6 ? "" : chart.kind === "lines" ? " dash" : " square";
const shorten = (text, most) => { const all = Array.from(text); return all.length > most ? all.slice(0, most - 1).join("") + "…" : text; };
// The table under a chart, made when it is opened.
function chartTable(chart) {
  const withEnds = chart.series.some(each => each.lows.length), withNotes = chart.series.some(each => each.notes.length);
  const isBars = chart.kind === "bars";
  const head = [isBars ? "" : chart.x_label || "x", ...(chart.series.length > 1 ? ["series"] : []), isBars ? chart.series.length > 1 ? "value" : chart.series[0]?.name || "" : chart.y_label || "value", ...(withEnds ? ["low", "high"] : []), ...(withNotes ? [""] : [])];
  const body = h("tbody", {});
  for (const series of chart.series) series.xs.forEach((x, index) => {
    if (!isThere(series.ys[index])) return;
    body.append(h("tr", {}, isBars ? h("td", { text: chart.categories[x] }) : h("td", { class: "n", text: format(x) }),
      chart.series.length > 1 && h("td", { text: series.name }), h("td", { class: "n", text: format(series.ys[index], chart.unit) }),
      withEnds && h("td", { class: "n", text: format(series.lows[index]) }), withEnds && h("td", { class: "n", text: format(series.highs[index]) }),
      withNotes && h("td", { text: series.notes[index] || "" })));
  });
  return h("div", { class: "scroll", tabindex: 0 }, h("table", {}, h("thead", {}, h("tr", {}, ...head.map((text, index) => h("th", { class: index === 0 && isBars ? "" : text === "series" || text === "" ? "" : "n", text })))), body));
}
