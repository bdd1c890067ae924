"""The style sheet and the small script of a comparison page."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #16191d; --soft: #5a636e; --line: #e2e5ea; --cell: #f2f3f6;
  --accent: #1f5fd6; --best: #e3edff; --warm: 214, 88, 30; --shadow: 0 1px 2px #0001;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #121417; --ink: #e9ebef; --soft: #98a2ae; --line: #2a2f36; --cell: #1c2025;
    --accent: #86b0ff; --best: #1c2f52; --warm: 240, 128, 44; --shadow: none;
  }
}
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100% }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main { max-width: 1240px; margin: 0 auto; padding: 44px 28px 80px }
h1 { font-size: 44px; line-height: 1.08; letter-spacing: -.025em; font-weight: 680; margin: 0 }
h2 { font-size: 23px; letter-spacing: -.012em; font-weight: 640; margin: 64px 0 4px }
h3 { font-size: 15px; font-weight: 640; margin: 28px 0 8px }
p { margin: 6px 0 14px; max-width: 78ch }
.eyebrow {
  color: var(--accent); font-size: 12.5px; font-weight: 640; letter-spacing: .07em;
  text-transform: uppercase; margin: 0 0 10px
}
.facts, .lead { color: var(--soft) }
.facts { margin-top: 12px; font-size: 16px }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(230px, 1fr)); gap: 14px;
  margin-top: 30px }
.card { border: 1px solid var(--line); border-radius: 12px; padding: 16px 18px;
  box-shadow: var(--shadow) }
.card dt { color: var(--soft); font-size: 13px }
.card dd { margin: 0 }
.card .value { font-size: 30px; font-weight: 660; letter-spacing: -.02em; line-height: 1.25;
  font-variant-numeric: tabular-nums }
.card .who { font-weight: 600 }
.card .beside { color: var(--soft); font-size: 13px }

.controls { display: flex; flex-wrap: wrap; gap: 18px; align-items: center;
  margin: 16px 0 14px }
.switch { display: inline-flex; border: 1px solid var(--line); border-radius: 9px;
  overflow: hidden }
.switch label { padding: 5px 14px; cursor: pointer; font-size: 14px; color: var(--soft) }
.view-radio { position: absolute; opacity: 0; pointer-events: none }
#view-0:checked ~ .controls label[for=view-0], #view-1:checked ~ .controls label[for=view-1] {
  background: var(--cell); color: var(--ink); font-weight: 600 }
.view-radio:focus-visible ~ .controls .switch { outline: 2px solid var(--accent) }
#view-0:checked ~ * .v1, #view-1:checked ~ * .v0 { display: none }
.legend { display: flex; align-items: center; gap: 10px; font-size: 13px; color: var(--soft) }
.legend svg { display: block }
.legend text { fill: currentColor; font-size: 11px }

.sheet { display: grid; gap: 6px; overflow-x: auto; padding-bottom: 4px }
.sheet .head { font-size: 12.5px; color: var(--soft); align-self: end; padding: 2px 4px }
.sheet .who { align-self: center; padding-right: 10px; position: sticky; left: 0;
  background: var(--paper); z-index: 1; height: 100%; display: flex; flex-direction: column;
  justify-content: center }
.sheet .who b { font-weight: 620; line-height: 1.25 }
.sheet .who span { font-size: 12.5px; color: var(--soft); line-height: 1.4; margin-top: 3px }
.sheet .who small { font-size: 11.5px; color: var(--soft); line-height: 1.35; margin-top: 5px }
.row { display: contents }
.sheet .others { grid-column: 1 / -1; margin-top: 14px; padding-top: 14px;
  border-top: 1px solid var(--line); color: var(--soft); font-size: 13px }
.shot { margin: 0; background: var(--cell); border-radius: 9px; overflow: hidden; min-width: 104px }
.shot img, .duel img { display: block; width: 100%; height: auto }
.reference .who b::after { content: " reference"; font-weight: 500; color: var(--accent);
  font-size: 12px }

.duel { display: grid; grid-template-columns: minmax(0, 440px) minmax(220px, 1fr); gap: 30px;
  margin-top: 16px; align-items: center }
.duel[hidden] { display: none }
.stage { position: relative; background: var(--cell); border-radius: 12px; overflow: hidden;
  touch-action: none; cursor: ew-resize }
.stage img + img { position: absolute; inset: 0 }
.stage i { position: absolute; top: 0; bottom: 0; width: 2px; margin-left: -1px;
  background: var(--accent) }
.duel label { display: block; margin-bottom: 14px; font-size: 13px; color: var(--soft) }
select, input[type=range] { display: block; width: 100%; margin-top: 5px; font: inherit;
  accent-color: var(--accent) }
select { color: var(--ink); background: var(--paper); border: 1px solid var(--line);
  border-radius: 8px; padding: 7px 9px }

.wide { overflow-x: auto; margin: 10px 0 6px }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums;
  font-size: 14px }
th, td { padding: 8px 10px; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap }
th { font-weight: 560; color: var(--soft); font-size: 12.5px; vertical-align: bottom;
  line-height: 1.3; white-space: normal }
thead th { border-bottom: 1px solid var(--soft) }
td:first-child, th:first-child { text-align: left; padding-left: 0 }
tbody th { color: var(--ink); vertical-align: middle; font-size: 14px; font-weight: 560;
  white-space: nowrap }
td.best { font-weight: 680; position: relative }
td.best span { background: var(--best); border-radius: 6px; padding: 2px 7px; margin-right: -7px }
tr.rest th, tr.rest td { border-top: 2px solid var(--soft) }
tr.reference th, tr.reference td { color: var(--soft); font-style: italic }
td.none { color: var(--soft) }
.parts td { background: rgba(var(--warm), var(--heat, 0)); border-left: 2px solid var(--paper) }
.parts td.best span { background: none; box-shadow: inset 0 -2px var(--accent); border-radius: 0;
  padding: 0; margin: 0 }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); gap: 26px;
  margin-top: 14px }
.plots figure { margin: 0 }
figcaption { font-size: 13px; color: var(--soft) }
.plot { width: 100%; height: auto; display: block; overflow: visible }
.plot text { fill: var(--ink); font-size: 12px }
.plot .axis { fill: var(--soft) }
.plot .grid { stroke: var(--line); stroke-width: 1 }
.plot .dot { fill: var(--accent) }
.plot .dot.present { fill: var(--paper); stroke: var(--ink); stroke-width: 2 }
.plot .dot.ours { fill: #d65a1e }
.plot .bound { stroke: var(--soft); stroke-dasharray: 5 4 }
.reasons dt { font-weight: 600 }
.reasons dd { margin: 0 0 10px; color: var(--soft) }
.columns { columns: 2 380px; column-gap: 44px }
.columns dl { margin: 0 }
.columns dt { font-weight: 620; break-after: avoid }
.columns dd { margin: 0 0 12px; color: var(--soft); break-inside: avoid }
footer { margin-top: 64px; padding-top: 16px; border-top: 1px solid var(--line);
  color: var(--soft); font-size: 13px }
.vh { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
@media (max-width: 760px) {
  main { padding: 26px 16px 60px } h1 { font-size: 32px }
  .duel { grid-template-columns: 1fr } .plots { grid-template-columns: 1fr }
}
@media print {
  @page { size: A4 landscape; margin: 11mm }
  :root { --paper: #fff; --ink: #000; --soft: #444; --line: #ccc; --cell: #f3f3f5;
    --accent: #1f5fd6; --best: #e3edff; --warm: 214, 88, 30 }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact }
  main { max-width: none; padding: 0 } h2 { margin-top: 26px; break-after: avoid }
  .switch, .duel { display: none !important } .sheet, .wide { overflow: visible }
  .shot, tr, .card, figure { break-inside: avoid }
  body { font-size: 12px } table, td, tbody th { font-size: 11px }
}
"""

# Two overlaid methods, with pictures that the page already contains.
SCRIPT = """
(() => {
  const duel = document.querySelector(".duel");
  if (!duel) return;
  const [left, right] = duel.querySelectorAll("img");
  const pick = name => duel.querySelector(`[name=${name}]`);
  const line = duel.querySelector(".stage i"), stage = duel.querySelector(".stage");
  const shot = (method, view) => document.querySelector(
    `.sheet img[data-method="${method}"][data-pose="${pick("pose").value}"].v${view}`);
  const show = () => {
    const view = document.getElementById("view-1").checked ? 1 : 0;
    for (const [image, name] of [[left, "left"], [right, "right"]]) {
      const source = shot(pick(name).value, view);
      image.src = source.src;
      image.alt = source.alt;
    }
    const at = pick("at").value;
    right.style.clipPath = `inset(0 0 0 ${at}%)`;
    line.style.left = `${at}%`;
  };
  duel.addEventListener("input", show);
  document.querySelectorAll(".view-radio").forEach(each => each.addEventListener("change", show));
  stage.addEventListener("pointermove", event => {
    if (event.pointerType === "mouse" || event.buttons) {
      const box = stage.getBoundingClientRect();
      pick("at").value = 100 * (event.clientX - box.left) / box.width;
      show();
    }
  });
  duel.hidden = false;
  show();
})();
"""
