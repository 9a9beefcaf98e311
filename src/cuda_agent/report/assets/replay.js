// An episode's turns one after another: buttons, arrow keys, or by itself.
document.querySelectorAll("[data-replay]").forEach(place => {
  const turns = [...place.querySelectorAll(".turn")], told = place.querySelector("[data-told]");
  const button = name => place.querySelector(`[data-do="${name}"]`);
  let at = turns.length, timer = 0;
  function show() {
    turns.forEach((turn, index) => { turn.hidden = index >= at; turn.classList.toggle("now", index === at - 1 && at < turns.length); });
    const rewards = turns.slice(0, at).flatMap(turn => [...turn.querySelectorAll("[data-reward]")].map(each => each.dataset.reward));
    told.textContent = `turn ${at} of ${turns.length}${rewards.length ? ` · last reward ${rewards.at(-1)}` : ""}`;
    button("back").disabled = at <= 1; button("next").disabled = at >= turns.length;
    button("play").textContent = timer ? "Pause" : "Play";
  }
  function step(by) { at = Math.min(turns.length, Math.max(1, at + by)); if (at === turns.length && timer) stop(); show(); }
  function stop() { clearInterval(timer); timer = 0; show(); }
  button("first").addEventListener("click", () => { stop(); at = 1; show(); });
  button("back").addEventListener("click", () => { stop(); step(-1); });
  button("next").addEventListener("click", () => { stop(); step(1); });
  button("all").addEventListener("click", () => { stop(); at = turns.length; show(); });
  button("play").addEventListener("click", () => { if (timer) { stop(); return; } if (at >= turns.length) at = 0; timer = setInterval(() => step(1), 1500); step(1); });
  place.addEventListener("keydown", event => {
    if (event.target.closest("pre, input, select, .plot, .scroll")) return;
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by) { event.preventDefault(); stop(); step(by); }
  });
  show();
});
