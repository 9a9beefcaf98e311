// Draws every <figure data-chart="NAME"> from the chart of that name.
function drawBars(chart, width) {
  const narrow = width < 560, nameWidth = narrow ? 0 : Math.min(240, width * 0.34), many = chart.series.length;
  const bar = many > 1 ? 11 : 16, group = (narrow ? 20 : 6) + many * (bar + 2) + 6, right = 64;
  const values = chart.series.flatMap(each => [...each.ys, ...each.highs]).filter(each => isThere(each));
  const high = Math.max(1e-12, ...values), x = scale(0, high, nameWidth, width - right);
  const svg = s("svg", { viewBox: `0 0 ${width} ${chart.categories.length * group + 4}` }), spots = [];
  chart.categories.forEach((name, row) => {
    const top = row * group + (narrow ? 18 : 4);
    svg.append(narrow ? s("text", { x: 0, y: row * group + 12, class: "strong", text: shorten(name, 48) }) : s("text", { x: nameWidth - 10, y: top + many * (bar + 2) / 2 + 4, "text-anchor": "end", class: "strong", text: shorten(name, 34) }));
    chart.series.forEach((series, index) => {
      const value = series.ys[row]; if (!isThere(value)) return;
      const y = top + index * (bar + 2), length = Math.max(value > 0 ? 1.5 : 0, x(value) - nameWidth);
      svg.append(s("rect", { x: nameWidth, y, width: length, height: bar, rx: 2, class: `f${tone(index)}` }), s("text", { x: nameWidth + length + 7, y: y + bar / 2 + 4, text: format(value, chart.unit) }));
      spots.push({ x: nameWidth + length, y: y + bar / 2, lines: [name, `${many > 1 ? series.name + ": " : ""}${format(value, chart.unit)}`] });
    });
  });
  return { svg, spots, byRow: true };
}
function drawPlane(chart, width) {
  const left = 58, right = width - 14, top = chart.y_label ? 30 : 14, bottom = Math.round(Math.min(340, Math.max(220, width * 0.5)));
  const xs = chart.series.flatMap(each => each.xs.filter((_, index) => isThere(each.ys[index], chart.y_log)));
  const ys = chart.series.flatMap(each => [...each.ys, ...each.lows, ...each.highs]);
  const own = axis => chart.marks.filter(each => each.axis === axis).map(each => each.value);
  const isLines = chart.kind === "lines";
  const xr = isLines ? extent(xs, chart.x_log) : widen(extent([...xs, ...own("x")], chart.x_log), chart.x_log, 0.05);
  const yr = widen(extent([...ys, ...own("y")], chart.y_log), chart.y_log, 0.06);
  const x = scale(...xr, left, right, chart.x_log), y = scale(...yr, bottom, top, chart.y_log);
  const svg = s("svg", { viewBox: `0 0 ${width} ${bottom + 40}` });
  for (const value of ticks(...yr, chart.y_log, 5)) svg.append(s("line", { x1: left, x2: right, y1: y(value), y2: y(value), class: "gridline" }), s("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end", text: format(value) }));
  for (const value of ticks(...xr, chart.x_log, width < 500 ? 4 : 8)) svg.append(s("text", { x: x(value), y: bottom + 18, "text-anchor": "middle", text: format(value) }));
  svg.append(s("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "axis" }), s("text", { x: right, y: bottom + 36, "text-anchor": "end", text: chart.x_label }), s("text", { x: 0, y: 12, text: chart.y_label }));
  for (const mark of chart.marks) {
    if (mark.axis === "y") svg.append(s("line", { x1: left, x2: right, y1: y(mark.value), y2: y(mark.value), class: "mark" }), s("text", { x: right, y: y(mark.value) - 5, "text-anchor": "end", text: mark.label }));
    else if (mark.axis === "x") svg.append(s("line", { x1: x(mark.value), x2: x(mark.value), y1: top, y2: bottom, class: "mark" }), s("text", { x: x(mark.value) + 4, y: top + 10, text: mark.label }));
    else { const a = Math.max(xr[0], yr[0]), b = Math.min(xr[1], yr[1]); if (a < b) svg.append(s("line", { x1: x(a), y1: y(a), x2: x(b), y2: y(b), class: "mark" }), s("text", { x: x(b) - 12, y: y(b) + 4, "text-anchor": "end", text: mark.label })); }
  }
  const spots = [];
  chart.series.forEach((series, index) => {
    let path = "", whiskers = "", pen = "M";
    series.xs.forEach((value, at) => {
      const up = series.ys[at];
      if (!isThere(value, chart.x_log) || !isThere(up, chart.y_log)) { pen = "M"; return; }
      const px = x(value).toFixed(1), py = y(up).toFixed(1);
      path += isLines ? `${pen}${px} ${py}` : `M${px} ${py}h0`; pen = "L";
      if (chart.series.length <= 4 && isThere(series.lows[at], chart.y_log) && isThere(series.highs[at], chart.y_log)) whiskers += `M${px} ${y(series.lows[at]).toFixed(1)}V${y(series.highs[at]).toFixed(1)}`;
      const ends = isThere(series.lows[at]) ? ` (${format(series.lows[at])} to ${format(series.highs[at], chart.unit)})` : "";
      spots.push({ x: +px, y: +py, value, name: series.name, index, lines: isLines ? [`${series.name}: ${format(up, chart.unit)}${ends}`] : [series.notes[at] || series.name, `${format(value)} · ${format(up, chart.unit)}${ends}`] });
    });
    if (whiskers) svg.append(s("path", { d: whiskers, class: `whisker t${tone(index)}` }));
    svg.append(s("path", { d: path, class: `${isLines ? "line" : "dots"} t${tone(index)}${again(chart, index)}` }));
  });
  return { svg, spots, byX: isLines, top, bottom };
}
function drawChart(figure, chart) {
  const plot = figure.querySelector(".plot"), tip = h("div", { class: "tip", hidden: true, role: "status" });
  let drawn = null, at = -1, order = [];
  const draw = () => {
    const width = Math.max(260, Math.round(plot.clientWidth));
    drawn = (chart.kind === "bars" ? drawBars : drawPlane)(chart, width);
    drawn.svg.setAttribute("aria-hidden", "true"); drawn.width = width;
    drawn.hover = s("g", {}); drawn.svg.append(drawn.hover);
    order = drawn.byX ? [...new Map(drawn.spots.map(each => [each.value, each])).values()].sort((a, b) => a.value - b.value) : drawn.spots;
    plot.replaceChildren(drawn.svg, tip); tip.hidden = true;
  };
  const show = spot => {
    const same = drawn.byX ? drawn.spots.filter(each => each.value === spot.value) : [spot];
    const lines = drawn.byX ? [`${chart.x_label} ${format(spot.value)}`, ...same.slice(0, 9).map(each => each.lines[0])] : spot.lines;
    tip.replaceChildren(...lines.map(text => h("div", { text: shorten(text, 160) }))); tip.hidden = false;
    drawn.hover.replaceChildren(...(drawn.byX ? [s("line", { x1: spot.x, x2: spot.x, y1: drawn.top, y2: drawn.bottom, class: "cross" })] : []), ...(drawn.byRow ? [] : same.map(each => s("circle", { cx: each.x, cy: each.y, r: 6, class: `halo t${tone(each.index)}` }))));
    const ratio = plot.clientWidth / drawn.width, left = spot.x * ratio + 14;
    tip.style.left = `${Math.max(0, left + tip.offsetWidth > plot.clientWidth ? spot.x * ratio - tip.offsetWidth - 14 : left)}px`;
    tip.style.top = `${Math.max(0, spot.y * ratio - tip.offsetHeight / 2)}px`;
  };
  const hide = () => { tip.hidden = true; at = -1; drawn.hover.replaceChildren(); };
  plot.addEventListener("pointermove", event => {
    const box = plot.getBoundingClientRect(), ratio = drawn.width / box.width, px = (event.clientX - box.left) * ratio, py = (event.clientY - box.top) * ratio;
    let best = null, least = Infinity;
    order.forEach(each => { const far = drawn.byX ? Math.abs(each.x - px) : drawn.byRow ? Math.abs(each.y - py) : Math.hypot(each.x - px, each.y - py); if (far < least) { least = far; best = each; } });
    if (best && (drawn.byX || drawn.byRow || least < 40)) show(best); else hide();
  });
  plot.addEventListener("pointerleave", hide); plot.addEventListener("blur", hide);
  plot.addEventListener("keydown", event => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") hide();
    if (!by || !order.length) return;
    event.preventDefault(); at = (at + by + order.length) % order.length; show(order[at]);
  });
  draw();
  let width = plot.clientWidth;
  new ResizeObserver(once(60, () => { if (plot.clientWidth !== width) { width = plot.clientWidth; draw(); } })).observe(plot);
  if (chart.series.length > 1) figure.querySelector(".plot").after(h("ul", { class: "legend" }, ...chart.series.map((each, index) => h("li", {}, h("i", { class: `b${tone(index)} ${chart.kind}${again(chart, index)}` }), document.createTextNode(shorten(each.name, 60))))));
  const details = figure.querySelector("details");
  details.addEventListener("toggle", () => { if (details.open && !details.querySelector("table")) details.append(chartTable(chart)); });
}
// Charts are drawn when they come near the window: a page of thirty curves opens at once.
const undrawn = new Set(document.querySelectorAll("figure[data-chart]"));
const drawOnce = figure => { if (undrawn.delete(figure)) drawChart(figure, PAGE.charts[figure.dataset.chart]); };
const nearby = new IntersectionObserver(entries => {
  for (const entry of entries) if (entry.isIntersecting) { nearby.unobserve(entry.target); drawOnce(entry.target); }
}, { rootMargin: "400px" });
undrawn.forEach(figure => nearby.observe(figure));
addEventListener("beforeprint", () => undrawn.forEach(drawOnce));
