"use strict";
// Texts reach the page through textContent and setAttribute alone.
const SVG = "http://www.w3.org/2000/svg";
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") node.textContent = value;
    else if (name === "class") node.setAttribute("class", value);
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children || []) if (child) node.append(child);
  return node;
}
const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const PAGE = JSON.parse(document.getElementById("page-data").textContent);
function format(value, unit) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  const whole = Number.isInteger(value) && size < 1e7;
  const text = whole ? value.toLocaleString("en") : size !== 0 && (size < 1e-3 || size >= 1e7) ? Number(value.toPrecision(3)).toExponential() : Number(value.toPrecision(4)).toString();
  return text.replace("-", "−") + (unit || "");
}
function once(wait, action) {
  let timer = 0;
  return (...given) => { clearTimeout(timer); timer = setTimeout(() => action(...given), wait); };
}
