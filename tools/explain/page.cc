// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/page.h"

namespace deputy::tools {

const char* const kPageStyle = R"(
:root { color-scheme: light dark; --paper: #fff; --ink: #1a1a1a; --soft: #555; --rule: #d5d5d5;
  --head: #f4f4f4; --mark: #fff6cc; --line: #8a8a8a; --cross: #c0392b; --ring: #0b57d0; }
body { font: 14px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  margin: 1.5rem; }
h1 { font-size: 1.3rem; overflow-wrap: anywhere; } h2 { font-size: 1.05rem; margin-top: 2rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin-top: .5rem; } td, th { padding: .15rem .6rem;
  text-align: left; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { background: var(--head); } td { overflow-wrap: anywhere; min-width: 3rem; }
td.number, th.number { text-align: right; white-space: nowrap; }
.swatch { display: inline-block; width: 1em; height: 1em; border: 1px solid #777;
  vertical-align: -.15em; margin-right: .4em; }
.muted { color: var(--soft); }
button { font: inherit; color: inherit; background: var(--head); border: 1px solid var(--rule);
  border-radius: 4px; padding: .1rem .5rem; margin: .1rem 0; cursor: pointer; }
button[aria-pressed=true] { background: var(--ring); color: #fff; }
.bar { display: flex; flex-wrap: wrap; gap: .3rem; align-items: center; margin-bottom: .4rem; }
.bar input { font: inherit; flex: 1 1 10rem; max-width: 22rem; min-width: 8rem; padding: .15rem .4rem;
  color: inherit; background: var(--paper); border: 1px solid var(--rule); border-radius: 4px; }
.bar .found { min-width: 4.5rem; } .scale i { display: inline-block; width: .9rem; height: .9rem;
  vertical-align: -.15em; }
.panes { display: flex; gap: 1rem; align-items: flex-start; }
.view { flex: 1 1 auto; min-width: 0; }
.graph { position: relative; height: 78vh; border: 1px solid var(--rule); overflow: hidden; }
.main { display: block; width: 100%; height: 100%; cursor: grab; touch-action: none; }
.main:focus { outline: none; } .main.moving { cursor: grabbing; }
.overview { position: absolute; right: 6px; bottom: 6px; width: 110px; height: 190px;
  background: var(--paper); border: 1px solid var(--rule); cursor: pointer;
  touch-action: none; }
.overview.across { width: 190px; height: 110px; }
.overview .window { fill: var(--ring); fill-opacity: .12; stroke: var(--ring); stroke-width: 2px;
  vector-effect: non-scaling-stroke; }
aside { flex: 0 0 20rem; max-height: 82vh; overflow: auto; overflow-wrap: anywhere; }
aside h3 { margin-top: 0; } dt { font-weight: 600; } dd { margin: 0 0 .4rem; }
.node { cursor: pointer; }
.node:hover rect, .node:focus rect, .node.chosen rect { stroke: #000; stroke-width: 2.5; }
.node.chosen rect { stroke: var(--ring); stroke-width: 4; }
.node:focus { outline: none; }
.searching .node:not(.hit), .searching .end { opacity: .25; } .node.hit rect { stroke-width: 3; }
.far .label { display: none; }
.edge { stroke: var(--line); } .arrow { fill: var(--line); }
.edge.boundary { stroke: var(--cross); } .arrow.boundary { fill: var(--cross); }
.end rect { fill: var(--paper); stroke: var(--line); } .end text { fill: var(--ink); }
.label { fill: var(--soft); stroke: var(--paper); }
tr.chosen td { background: var(--mark); } tr[data-node] { cursor: pointer; }
@media (max-width: 900px) {
  body { margin: .7rem; font-size: 13px; }
  .panes { flex-direction: column; } .view { width: 100%; }
  .graph { height: 62vh; } aside { flex: none; width: 100%; max-height: 45vh; }
  .overview { width: 64px; height: 120px; }
  .overview.across { width: 120px; height: 64px; } td, th { padding: .15rem .35rem; }
}
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181c; --ink: #e8e8e8; --soft: #a9adb5; --rule: #3a3e46; --head: #23262c;
    --mark: #3b3616; --line: #8b909a; --cross: #ff7b6b; --ring: #6ea8ff; }
  .node:hover rect, .node:focus rect { stroke: #fff; }
  .outline .inner { filter: brightness(.28) saturate(1.6); }
  .by-time .outline .inner { filter: none; }
  .label { paint-order: stroke; }
}
)";

const char* const kPageScript = R"(
const pane = (section) => {
  const main = section.querySelector('.main'), small = section.querySelector('.overview');
  const seen = small.querySelector('.window'), input = section.querySelector('input');
  const found = section.querySelector('.found');
  const whole = {w: +main.dataset.width, h: +main.dataset.height};
  small.classList.toggle('across', whole.w > whole.h);
  const size = () => ({w: Math.max(main.clientWidth, 1), h: Math.max(main.clientHeight, 1)});
  let x = 0, y = 0, scale = 1;  // upper left corner, pixels per unit

  const show = () => {
    const s = size(), w = s.w / scale, h = s.h / scale;
    // A graph that is smaller than the pane is centred, a larger one always fills the pane.
    x = w >= whole.w ? (whole.w - w) / 2 : Math.min(Math.max(x, -40), whole.w - w + 40);
    y = h >= whole.h ? (whole.h - h) / 2 : Math.min(Math.max(y, -40), whole.h - h + 40);
    main.setAttribute('viewBox', [x, y, w, h].join(' '));
    main.classList.toggle('far', scale < 0.6);
    for (const [name, value] of [['x', x], ['y', y], ['width', w], ['height', h]]) {
      seen.setAttribute(name, value);
    }
    small.style.display = w >= whole.w && h >= whole.h ? 'none' : '';
  };
  const fitted = () => Math.min(size().w / whole.w, size().h / whole.h, 1.5);
  const zoom = (factor, px, py) => {
    const s = size(), cx = px ?? s.w / 2, cy = py ?? s.h / 2;
    const next = Math.min(Math.max(scale * factor, Math.min(fitted(), 0.3) / 2), 4);
    x += cx / scale - cx / next;
    y += cy / scale - cy / next;
    scale = next;
    show();
  };
  const fit = () => { scale = fitted(); show(); };
  const center = (node) => {
    const box = node.getBBox();
    scale = Math.max(scale, 0.7);
    x = box.x + box.width / 2 - size().w / scale / 2;
    y = box.y + box.height / 2 - size().h / scale / 2;
    show();
  };
  // Shows the beginning of the graph at a readable size.
  const plain = () => {
    scale = Math.min(1, Math.max(size().w / whole.w, 0.85));
    const first = section.querySelector('.end, .node');
    if (first) center(first);
    y = -40;
    show();
  };
  const start = () => fitted() >= 0.6 ? fit() : plain();

  const fingers = new Map();
  let moved = 0;
  const spread = () => {
    const [a, b] = [...fingers.values()];
    return {d: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2};
  };
  main.addEventListener('pointerdown', (event) => {
    if (fingers.size === 0) moved = 0;
    fingers.set(event.pointerId, {x: event.clientX, y: event.clientY});
  });
  addEventListener('pointermove', (event) => {
    const old = fingers.get(event.pointerId);
    if (!old) return;
    const before = fingers.size === 2 ? spread() : null;
    fingers.set(event.pointerId, {x: event.clientX, y: event.clientY});
    moved += Math.abs(event.clientX - old.x) + Math.abs(event.clientY - old.y);
    if (before) {
      const now = spread(), corner = main.getBoundingClientRect();
      zoom(now.d / Math.max(before.d, 1), now.x - corner.left, now.y - corner.top);
    } else if (moved > 4) {
      main.classList.add('moving');
      x -= (event.clientX - old.x) / scale;
      y -= (event.clientY - old.y) / scale;
      show();
    }
  });
  for (const end of ['pointerup', 'pointercancel']) {
    addEventListener(end, (event) => {
      fingers.delete(event.pointerId);
      main.classList.remove('moving');
    });
  }
  main.addEventListener('click', (event) => {
    if (moved > 4) event.stopPropagation();
  }, true);
  main.addEventListener('wheel', (event) => {
    const corner = main.getBoundingClientRect();
    if (event.ctrlKey || event.metaKey) {
      zoom(Math.exp(-event.deltaY / 300), event.clientX - corner.left, event.clientY - corner.top);
      event.preventDefault();
      return;
    }
    const was = [x, y].join();
    x += event.deltaX / scale;
    y += event.deltaY / scale;
    show();
    if ([x, y].join() !== was) event.preventDefault();
  }, {passive: false});
  main.addEventListener('keydown', (event) => {
    const act = {'+': () => zoom(1.3), '=': () => zoom(1.3), '-': () => zoom(1 / 1.3),
                 '0': fit, '1': plain}[event.key];
    if (act) act();
  });
  const jump = (event) => {
    if (event.buttons === 0 && event.type !== 'pointerdown') return;
    const box = small.getBoundingClientRect(), s = size();
    x = (event.clientX - box.left) / box.width * whole.w - s.w / scale / 2;
    y = (event.clientY - box.top) / box.height * whole.h - s.h / scale / 2;
    show();
  };
  small.addEventListener('pointerdown', jump);
  small.addEventListener('pointermove', jump);

  const acts = {in: () => zoom(1.3), out: () => zoom(1 / 1.3), fit, plain, heat: (button) => {
    const on = main.classList.toggle('by-time');
    button.setAttribute('aria-pressed', on);
    section.querySelector('.scale').hidden = !on;
  }};
  for (const button of section.querySelectorAll('[data-do]')) {
    button.addEventListener('click', () => acts[button.dataset.do](button));
  }

  let hits = [], at = -1, words = null;
  const search = () => {
    const text = input.value.trim().toLowerCase();
    const nodes = [...section.querySelectorAll('.node')];
    words ??= nodes.map((node) => (node.querySelector('title').textContent + ' ' +
      document.getElementById('d' + node.dataset.node).textContent).toLowerCase());
    hits = nodes.filter((node, i) => {
      const hit = text !== '' && words[i].includes(text);
      node.classList.toggle('hit', hit);
      return hit;
    });
    at = -1;
    main.classList.toggle('searching', text !== '');
    found.textContent = text === '' ? '' : hits.length + ' of ' + nodes.length;
  };
  const next = (step) => {
    if (hits.length === 0) return;
    at = (at + step + hits.length) % hits.length;
    found.textContent = (at + 1) + ' of ' + hits.length;
    choose(hits[at].dataset.node, true);
  };
  input.addEventListener('input', search);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') next(event.shiftKey ? -1 : 1);
  });
  addEventListener('resize', show);
  start();
  return {center};
};

const panes = new Map();
for (const section of document.querySelectorAll('.subgraph')) panes.set(section, pane(section));

const choose = (key, fromTable) => {
  for (const old of document.querySelectorAll('.chosen')) old.classList.remove('chosen');
  for (const text of document.querySelectorAll('.details')) text.hidden = true;
  const hint = document.getElementById('hint');
  if (hint) hint.hidden = true;
  const row = document.getElementById('r' + key);
  // A node that is folded into another one has no box.
  const node = document.getElementById('n' + (row && row.dataset.in ? row.dataset.in : key));
  const details = document.getElementById('d' + key);
  if (node) node.classList.add('chosen');
  if (row) row.classList.add('chosen');
  if (details) details.hidden = false;
  if (node && fromTable) panes.get(node.closest('.subgraph')).center(node);
};
const take = (each, key) => {
  const inGraph = each.closest('svg') !== null;
  each.addEventListener('click', () => {
    choose(key, !inGraph);
    if (!inGraph) each.closest('.subgraph').querySelector('.graph').scrollIntoView({block: 'nearest'});
  });
  each.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') choose(key, !inGraph);
  });
};
for (const each of document.querySelectorAll('[data-node]')) take(each, each.dataset.node);
for (const each of document.querySelectorAll('[data-go]')) take(each, each.dataset.go);
if (location.hash) choose(location.hash.slice(1), true);
)";

}  // namespace deputy::tools
