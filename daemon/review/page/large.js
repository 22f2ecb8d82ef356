// One sample in the whole window, for what is too small in the grid; and what is decided there is for it.

import {go, writeCaption} from './grid.js';
import {largePicture, pictures} from './pictures.js';
import {byId, number, shortName, state} from './state.js';

const MOST = 8;                        // times as large as it fits
const view = byId('large'), stage = byId('stage'), image = byId('large-picture');
let digest = '', scale = 1, x = 0, y = 0;
const held = new Map();                // pointers on the stage, by their number

export const isLarge = () => !view.hidden;

function place() {
  const room = (extent) => Math.max(0, extent * (scale - 1) / 2);
  x = Math.min(room(stage.clientWidth), Math.max(-room(stage.clientWidth), x));
  y = Math.min(room(stage.clientHeight), Math.max(-room(stage.clientHeight), y));
  image.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
  stage.classList.toggle('zoomed', scale > 1);
  byId('large-zoom').textContent = scale > 1 ? Math.round(100 * scale) + '%' : '';
}

// What is under the pointer stays there; the middle without one.
export function zoomLarge(factor, at = null) {
  const before = scale, box = stage.getBoundingClientRect();
  scale = Math.min(MOST, Math.max(1, scale * factor));
  const [dx, dy] = at ? [at.clientX - box.x - box.width / 2, at.clientY - box.y - box.height / 2] : [0, 0];
  x = dx - (dx - x) * scale / before;
  y = dy - (dy - y) * scale / before;
  place();
}

// The small one at once, and then the one that is as large as the window.
async function load(item) {
  digest = item.digest;
  [scale, x, y] = [1, 0, 0];
  place();
  const small = pictures.get(digest);
  image.alt = item.name;
  image.hidden = !(small && small.src);
  if (small && small.src) image.src = small.src;
  byId('large-why').textContent = small && small.src === undefined ? small.why : '';
  const picture = await largePicture(item.digest).catch((error) => ({why: error.message}));
  if (digest !== item.digest || view.hidden) return;
  if (picture.src !== undefined) {
    image.hidden = false;
    image.src = picture.src;
  }
  byId('large-why').textContent = image.hidden ? picture.why : '';
}

export function drawLarge() {
  if (view.hidden) return;
  const item = state.view[state.cursor];
  if (!item) return closeLarge();
  if (digest !== item.digest) load(item);
  byId('large-name').textContent = shortName(item);
  byId('large-place').textContent = `${number(state.cursor + 1)} of ${number(state.view.length)}`;
  writeCaption(byId('large-caption'), item);
  for (const next of [1, -1]) {
    const beside = state.view[state.cursor + next];
    if (beside && image.complete) largePicture(beside.digest).catch(() => {});
  }
}

export function openLarge(position = state.cursor) {
  if (state.view.length === 0) return;
  state.selected.clear();
  view.hidden = false;
  document.body.classList.add('covered');
  go(position, false);
  drawLarge();
}

export function closeLarge() {
  view.hidden = true;
  digest = '';
  document.body.classList.remove('covered');
  byId('grid').focus({preventScroll: true});
}

export const turnLarge = (by) => go(state.cursor + by, false);

function spread() {
  const [one, two] = [...held.values()];
  return {wide: Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY),
          middle: {clientX: (one.clientX + two.clientX) / 2, clientY: (one.clientY + two.clientY) / 2}};
}

let swiped = 0;

function moved(event) {
  const before = held.get(event.pointerId);
  if (!before) return;
  const apart = held.size === 2 ? spread() : null;
  held.set(event.pointerId, event);
  if (apart) return zoomLarge(spread().wide / Math.max(1, apart.wide), spread().middle);
  if (scale === 1) { swiped += event.clientX - before.clientX; return; }
  x += event.clientX - before.clientX;
  y += event.clientY - before.clientY;
  place();
}

function released(event) {
  const LEAST_SWIPE = 60;
  if (!held.delete(event.pointerId)) return;
  if (scale === 1 && held.size === 0 && event.pointerType === 'touch' && Math.abs(swiped) > LEAST_SWIPE) turnLarge(swiped < 0 ? 1 : -1);
  if (held.size === 0) swiped = 0;
}

stage.addEventListener('pointerdown', (event) => {
  held.set(event.pointerId, event);
  stage.setPointerCapture(event.pointerId);
});
stage.addEventListener('pointermove', moved);
for (const end of ['pointerup', 'pointercancel']) stage.addEventListener(end, released);
stage.addEventListener('wheel', (event) => {
  event.preventDefault();
  zoomLarge(Math.exp(-event.deltaY / 300), event);
}, {passive: false});
stage.addEventListener('dblclick', (event) => zoomLarge(scale > 1 ? 1 / MOST : 2.5, event));
byId('large-close').addEventListener('click', closeLarge);
byId('large-previous').addEventListener('click', () => turnLarge(-1));
byId('large-next').addEventListener('click', () => turnLarge(1));
