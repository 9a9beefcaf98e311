// The reward of environment/reward.py; tests hold both to the same values.
const beats = (ratio, margin) => 1 - 1 / ratio > margin;
function computeReward(ratios, isRight, margin) {
  if (!isRight) return -1;
  const overEager = beats(ratios.eager, margin), overCompiled = beats(ratios.compiled, margin);
  return overEager && overCompiled ? 3 : overEager ? 2 : 1;
}
function explainReward(reward, ratios, isRight, margin) {
  if (!isRight) return "A check failed, so nothing else counts.";
  const more = `by more than ${format(100 * margin)} %`, both = `${ratios.eager.toFixed(2)}x over eager, ${ratios.compiled.toFixed(2)}x over torch.compile`;
  if (reward === 3) return `${both}: both beaten ${more}.`;
  if (reward === 2) return `${both}: eager is beaten ${more}, torch.compile is not.`;
  return `${both}: eager is not beaten ${more}${beats(ratios.compiled, margin) ? ", and to beat torch.compile alone earns nothing" : ""}.`;
}
// The same draws every time (mulberry32, Box and Muller), so that a slider moves the figure and chance does not.
function drawNormals(count) {
  let seed = 20260204; const found = [];
  const next = () => { seed = seed + 0x6d2b79f5 | 0; let t = Math.imul(seed ^ seed >>> 15, 1 | seed); t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t; return ((t ^ t >>> 14) >>> 0) / 4294967296; };
  while (found.length < count) { const radius = Math.sqrt(-2 * Math.log(1 - next())), angle = 2 * Math.PI * next(); found.push(radius * Math.cos(angle), radius * Math.sin(angle)); }
  return found;
}
const rewardPlace = document.querySelector("[data-reward-page]");
if (rewardPlace) {
  const { margin, dots } = PAGE.reward, normals = drawNormals(6000), edge = 1 / (1 - margin);
  const find = name => rewardPlace.querySelector(`[data-${name}]`);
  const sliders = ["candidate", "eager", "compiled", "noise"].map(name => find(`slider="${name}"`)), right = find('slider="right"');
  const read = () => {
    const [candidate, eager, compiled] = sliders.slice(0, 3).map(each => 10 ** Number(each.value));
    return { candidate, eager, compiled, noise: Number(sliders[3].value) / 100, ratios: { eager: eager / candidate, compiled: compiled / candidate } };
  };
  const plane = find("plane"), LOW = 0.1, HIGH = 100;
  function drawRewards({ ratios }, isRight) {
    const size = Math.max(280, Math.min(560, plane.clientWidth)), left = 46, bottom = size - 42, x = scale(LOW, HIGH, left, size - 8, true), y = scale(LOW, HIGH, bottom, 8, true);
    const svg = s("svg", { viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true" });
    const zone = (name, x0, x1, y0, y1) => svg.append(s("rect", { x: x(x0), y: y(y1), width: x(x1) - x(x0), height: y(y0) - y(y1), class: `zone ${name}` }));
    zone("z1", LOW, edge, LOW, HIGH); zone("z2", edge, HIGH, LOW, edge); zone("z3", edge, HIGH, edge, HIGH);
    for (const value of [0.1, 0.3, 1, 3, 10, 30, 100]) svg.append(s("line", { x1: x(value), x2: x(value), y1: 8, y2: bottom, class: "gridline" }), s("line", { x1: left, x2: size - 8, y1: y(value), y2: y(value), class: "gridline" }), s("text", { x: x(value), y: bottom + 17, "text-anchor": "middle", text: value }), s("text", { x: left - 7, y: y(value) + 4, "text-anchor": "end", text: value }));
    svg.append(s("line", { x1: x(edge), x2: x(edge), y1: 8, y2: bottom, class: "mark" }), s("line", { x1: x(edge), x2: size - 8, y1: y(edge), y2: y(edge), class: "mark" }),
      s("text", { x: x(0.13), y: y(70), class: "strong", text: "reward 1" }), s("text", { x: x(1.25), y: y(0.13), class: "strong", text: "reward 2" }), s("text", { x: x(1.25), y: y(70), class: "strong", text: "reward 3" }),
      s("text", { x: size - 8, y: size - 6, "text-anchor": "end", text: "times as fast as eager" }), s("text", { x: 12, y: 12, transform: `rotate(-90 12 12)`, "text-anchor": "end", text: "times as fast as torch.compile" }));
    const clamp = value => Math.min(HIGH, Math.max(LOW, value));
    const measured = s("g", {});
    dots.forEach(dot => measured.append(s("circle", { cx: x(clamp(dot.over_eager)), cy: y(clamp(dot.over_compiled)), r: 4, class: "f1", "fill-opacity": 0.8 }, s("title", { text: `${dot.task} (${dot.run}): ${dot.over_eager.toFixed(2)}x, ${dot.over_compiled.toFixed(2)}x, reward ${dot.reward}` }))));
    svg.append(measured); if (isRight) svg.append(s("circle", { cx: x(clamp(ratios.eager)), cy: y(clamp(ratios.compiled)), r: 8, class: "you" }));
    plane.replaceChildren(svg);
  }
  function drawNoise({ ratios, noise }, isRight) {
    const shares = { "-1": 0, 1: 0, 2: 0, 3: 0 }, speedups = [];
    for (let index = 0; index < 2000; index++) {
      const [a, b, c] = [0, 1, 2].map(each => Math.exp(noise * normals[3 * index + each]));
      const seen = { eager: ratios.eager * b / a, compiled: ratios.compiled * c / a };
      shares[computeReward(seen, isRight, margin)]++; speedups.push(isRight ? seen.compiled : -1);
    }
    speedups.sort((a, b) => a - b);
    find("shares").replaceChildren(...Object.entries(shares).sort((a, b) => a[0] - b[0]).map(([reward, count]) => h("tr", {}, h("td", { class: "n", text: reward.replace("-", "−") }), h("td", { class: "n", text: `${(count / 20).toFixed(1)} %` }))));
    const [low, middle, high] = [50, 1000, 1949].map(each => speedups[each]);
    find("spread").textContent = `In the middle ${middle.toFixed(2)}, and 95 % lie between ${low.toFixed(2)} and ${high.toFixed(2)}`;
    const most = Math.max(1e-9, speedups.at(-1)), least = Math.min(0, speedups[0]), bins = Array(40).fill(0);
    speedups.forEach(each => bins[Math.min(39, Math.floor((each - least) / (most - least) * 40))]++);
    const width = Math.max(260, find("histogram").clientWidth), bar = width / 40, x = scale(least, most, 0, width), tallest = Math.max(...bins);
    find("histogram").replaceChildren(s("svg", { viewBox: `0 0 ${width} 120`, "aria-hidden": "true" }, ...bins.map((count, index) => s("rect", { x: index * bar + 0.5, width: bar - 1, y: 95 - 90 * count / tallest, height: 90 * count / tallest, class: "f0", rx: 1 })), s("line", { x1: 0, x2: width, y1: 95, y2: 95, class: "axis" }), ...ticks(least, most, false, 5).map(value => s("text", { x: x(value), y: 112, "text-anchor": value === least ? "start" : "middle", text: format(value) }))));
  }
  function show() {
    const state = read(), isRight = right.checked, reward = computeReward(state.ratios, isRight, margin);
    for (const name of ["candidate", "eager", "compiled"]) find(`out="${name}"`).textContent = `${state[name].toPrecision(3)} ms`;
    find('out="noise"').textContent = `${(100 * state.noise).toFixed(1)} %`;
    find("number").textContent = String(reward).replace("-", "−"); find("why").textContent = explainReward(reward, state.ratios, isRight, margin);
    find("raw").textContent = isRight ? `${state.ratios.compiled.toFixed(2)}` : "−1";
    drawRewards(state, isRight); drawNoise(state, isRight);
  }
  [...sliders, right].forEach(each => each.addEventListener("input", show));
  new ResizeObserver(once(60, show)).observe(plane); show();
}
