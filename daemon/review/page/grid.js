// The grid of samples, and the frame around one of them. It holds as many elements as fit on the screen,
// whatever the samples' number.

import {drawProposals} from './labels.js';
import {pictures, picturesFor, wantPictures} from './pictures.js';
import {isSound, listen, seconds} from './player.js';
import {selectRange, summary} from './selection.js';
import {byId, percent, state, tell, word} from './state.js';

const CAPTION = 40, LEAST_CELL = 96;   // a caption's height, a cell's least width

const grid = byId('grid'), sheet = byId('sheet');
const cells = new Map();               // position -> element
const spare = [];
export const layout = {columns: 1, width: state.cell, height: state.cell};

function measure() {
  layout.columns = Math.max(2, Math.floor(grid.clientWidth / state.cell));
  layout.width = grid.clientWidth / layout.columns;
  layout.height = layout.width * 0.8 + CAPTION;
  sheet.style.height = Math.ceil(state.view.length / layout.columns) * layout.height + 'px';
}

// What was shown first is so again.
export function measureAnew() {
  const first = Math.round(grid.scrollTop / layout.height) * layout.columns;
  measure();
  grid.scrollTop = Math.floor(first / layout.columns) * layout.height;
  redraw();
}

export function zoom(factor) {
  state.cell = Math.min(grid.clientWidth / 2, Math.max(LEAST_CELL, state.cell * factor));
  measureAnew();
}

function shownRange() {
  const first = Math.max(0, Math.floor(grid.scrollTop / layout.height) - 1) * layout.columns;
  const rows = Math.ceil(grid.clientHeight / layout.height) + 3;
  return [first, Math.min(state.view.length, first + rows * layout.columns)];
}

function* shownPositions() {
  const [first, end] = shownRange();
  for (let position = first; position < end; ++position) yield position;
}

function newCell() {
  const cell = document.createElement('div'), frame = document.createElement('div');
  const picture = document.createElement('div'), caption = document.createElement('div');
  const play = document.createElement('button');
  cell.setAttribute('role', 'option');
  frame.className = 'frame';
  picture.className = 'picture';
  caption.className = 'caption';
  play.className = 'play';
  play.tabIndex = -1;   // the key p plays
  play.addEventListener('click', (event) => {
    event.stopPropagation();
    listen(state.view[cell.dataset.position]);
  });
  frame.append(picture, caption, play);
  cell.append(frame);
  sheet.append(cell);
  return cell;
}

// What it is said to be, or may be, comes first: names may be long.
function writeCaption(caption, item) {
  const parts = item.labels.length ? [word('b', item.labels.join(', '))] : [];
  if (item.proposals.length && !item.decided) {
    const first = item.proposals[0];
    const mark = (item.labels.length ? ' looks like ' : '') + first.label +
        (first.probability === null ? '' : ' ' + percent(first.probability)) + (item.notSure ? '?' : '');
    parts.push(word('span', mark, item.notSure ? 'unsure' : 'proposed'));
  }
  if (!item.labels.length) parts.push(word('span', ' ' + item.name.split('/').pop()));
  caption.replaceChildren(...parts);
}

function writePicture(place, item) {
  const picture = pictures.get(item.digest);
  if (!picture) return place.replaceChildren();
  if (picture.src === undefined) return place.replaceChildren(picture.why);
  const image = place.firstElementChild || new Image();
  image.alt = item.name;
  if (image.src !== picture.src) image.src = picture.src;
  if (!image.parentNode) place.replaceChildren(image);
}

function write(cell, position) {
  const item = state.view[position], [picture, caption, play] = cell.firstChild.children;
  const x = position % layout.columns * layout.width, y = Math.floor(position / layout.columns) * layout.height;
  cell.style.transform = `translate(${x}px,${y}px)`;
  cell.style.width = layout.width + 'px';
  cell.style.height = layout.height + 'px';
  cell.id = 'cell-' + position;
  cell.dataset.position = position;
  cell.className = 'cell' + (state.selected.has(item.digest) ? ' selected' : '') +
      (position === state.cursor ? ' cursor' : '') + (item.decided ? ' decided' : '');
  cell.title = item.name;
  cell.setAttribute('aria-posinset', position + 1);
  cell.setAttribute('aria-setsize', state.view.length);
  cell.setAttribute('aria-selected', state.selected.has(item.digest));
  writePicture(picture, item);
  play.hidden = !isSound(item);
  if (!play.hidden) play.textContent = '\u25b6 ' + seconds(item);
  writeCaption(caption, item);
}

let drawing = 0, stale = true;

function drawNow() {
  drawing = 0;
  const [first, end] = shownRange();
  for (const [position, cell] of cells) {
    if (position >= first && position < end) continue;
    cells.delete(position);
    cell.hidden = true;
    cell.removeAttribute('id');
    spare.push(cell);
  }
  for (let position = first; position < end; ++position) {
    let cell = cells.get(position);
    if (!cell) {
      cell = spare.pop() || newCell();
      cell.hidden = false;
      cells.set(position, cell);
      write(cell, position);
    } else if (stale) {
      write(cell, position);
    }
  }
  stale = false;
  grid.setAttribute('aria-activedescendant', state.view.length ? 'cell-' + state.cursor : '');
  wantPictures();
}

export function drawWhatCame() {
  if (!drawing) drawing = requestAnimationFrame(drawNow);
}

export function draw() {
  stale = true;
  drawWhatCame();
}

function tellSelection() {
  const at = state.view[state.cursor];
  tell(state.selected.size ? `${state.selected.size} of ${state.items.length} selected` :
       at ? summary() + ' · ' + at.name.split('/').slice(-2).join('/') : summary());
  drawProposals();
}

export function redraw() {
  measure();
  draw();
  tellSelection();
}

export function go(position, ranging) {
  if (state.view.length === 0) return;
  state.cursor = Math.min(state.view.length - 1, Math.max(0, position));
  if (ranging) selectRange(state.anchor, state.cursor);
  else state.anchor = state.cursor;
  const top = Math.floor(state.cursor / layout.columns) * layout.height;
  if (top < grid.scrollTop) grid.scrollTop = top;
  if (top + layout.height > grid.scrollTop + grid.clientHeight) grid.scrollTop = top + layout.height - grid.clientHeight;
  draw();
  tellSelection();
}

picturesFor(shownPositions, draw);
