// Light or dark, and news from a run that goes on.
const THEMES = ["auto", "light", "dark"], themeButton = document.getElementById("theme");
// A browser may forbid storage to files; the choice then lasts for the page.
const remembered = { read() { try { return localStorage.getItem("theme"); } catch { return null; } }, keep(value) { try { localStorage.setItem("theme", value); } catch { /* for this page only */ } } };
function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = theme;
  themeButton.textContent = { auto: "◐ Auto", light: "○ Light", dark: "● Dark" }[theme];
  themeButton.setAttribute("aria-label", `Colours: ${theme}. Change`);
}
let theme = THEMES.includes(remembered.read()) ? remembered.read() : "auto";
setTheme(theme);
themeButton.addEventListener("click", () => { theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]; remembered.keep(theme); setTheme(theme); });
document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
const live = document.getElementById("live");
if (live && location.protocol.startsWith("http")) {
  let version = null;
  const ask = async () => {
    try {
      const found = await (await fetch("version", { cache: "no-store" })).text();
      if (version !== null && found !== version) { sessionStorage.setItem(`at ${location.pathname}`, String(scrollY)); location.reload(); return; }
      version = found; live.textContent = "live";
    } catch { live.textContent = "server gone"; }
    setTimeout(ask, 2000);
  };
  const at = sessionStorage.getItem(`at ${location.pathname}`);
  if (at !== null) { scrollTo(0, Number(at)); sessionStorage.removeItem(`at ${location.pathname}`); }
  ask();
}
