// The grid of samples, and the frame around one of them. It holds as many elements as fit on the screen,
// whatever the samples' number.

import {drawProposals, spokenLabel} from './labels.js';
import {pictures, picturesFor, wantPictures} from './pictures.js';
import {isSound, listen, seconds} from './player.js';
import {selectRange, summary} from './selection.js';
import {byId, percent, shortName, state, tell, word} from './state.js';

// A caption's height, if it is no longer; of a label and what it looks like, too.
const CAPTION = 44, CAPTION_OF_TWO = 82;
const LEAST_CELL = 96;                 // a cell's least width

const grid = byId('grid'), sheet = byId('sheet');
const cells = new Map();               // position -> element
const spare = [];
export const layout = {columns: 1, width: state.cell, height: state.cell};

function measure() {
  const wide = sheet.clientWidth;
  layout.columns = Math.max(2, Math.floor(wide / state.cell));
  layout.width = wide / layout.columns;
  layout.height = layout.width + (state.tab === 'doubtful' ? CAPTION_OF_TWO : CAPTION);
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
  state.cell = Math.min(sheet.clientWidth / 2, Math.max(LEAST_CELL, state.cell * factor));
  measureAnew();
}

function shownRange() {
  const first = Math.max(0, Math.floor(grid.scrollTop / layout.height) - 1) * layout.columns;
  const rows = Math.ceil(grid.clientHeight / layout.height) + 3;
  return [first, Math.min(state.view.length, first + rows * layout.columns)];
}

// What is seen, and then what comes next.
function* shownPositions() {
  const [first, end] = shownRange();
  const top = Math.max(first, Math.floor(grid.scrollTop / layout.height) * layout.columns);
  for (let position = top; position < end; ++position) yield position;
  for (let position = first; position < top; ++position) yield position;
}

function smallButton(className, text, act) {
  const button = word('button', text, className);
  button.tabIndex = -1;   // a key does the same
  button.addEventListener('click', (event) => {
    event.stopPropagation();
    act();
  });
  return button;
}

let checked = () => {};
// Hears of a position whose mark of selection was clicked.
export function whenChecked(hear) { checked = hear; }

function newCell() {
  const cell = word('div', ''), frame = word('div', '', 'frame');
  const play = smallButton('play', '', () => listen(state.view[cell.dataset.position]));
  const check = smallButton('check', '\u2713', () => checked(Number(cell.dataset.position)));
  cell.setAttribute('role', 'option');
  check.setAttribute('aria-label', 'select');
  const picture = word('div', '', 'picture');
  picture.append(word('div', '', 'name'), play);
  frame.append(picture, word('div', '', 'caption'), check);
  cell.append(frame);
  sheet.append(cell);
  return cell;
}

export function proposalText({label, probability}, notSure = false) {
  return label + (probability === null ? '' : ' ' + percent(probability)) + (notSure ? '?' : '');
}

const spokenLabels = ({labels}) => labels.map(spokenLabel).join(', ');

// What it is said to be, and what it looks like: whole, however long.
export function writeCaption(caption, item) {
  const parts = item.labels.length ? [word('b', spokenLabels(item))] : [];
  if (item.proposals.length && !item.decided) {
    const text = (item.labels.length ? 'looks like ' : '') + proposalText(item.proposals[0], item.notSure);
    parts.push(word('span', text, item.notSure ? 'unsure' : 'proposed'));
  }
  if (parts.length === 0) parts.push(word('span', item.decided ? 'no label' : ''));
  caption.replaceChildren(...parts);
}

function writePicture(place, item) {
  const picture = pictures.get(item.digest), [name, play] = [place.querySelector('.name'), place.querySelector('.play')];
  let shown = place.firstElementChild;
  if (shown === name) place.prepend(shown = word('div', ''));
  const wanted = picture && picture.src !== undefined ? 'IMG' : 'DIV';
  if (shown.tagName !== wanted) {
    const other = document.createElement(wanted);
    shown.replaceWith(other);
    shown = other;
  }
  if (wanted === 'IMG') {
    shown.alt = item.name;
    shown.draggable = false;
    if (shown.src !== picture.src) shown.src = picture.src;
  } else {
    shown.className = picture ? 'why' : 'coming';
    shown.textContent = picture ? picture.why : '';
  }
  name.textContent = shortName(item);
  play.hidden = !isSound(item);
  if (!play.hidden) play.textContent = '\u25b6 ' + seconds(item);
}

function spoken(item) {
  const said = item.labels.length ? spokenLabels(item) : 'no label';
  const looks = item.proposals.length && !item.decided ? ', looks like ' + proposalText(item.proposals[0]) : '';
  return `${shortName(item)}: ${said}${looks}`;
}

function write(cell, position) {
  const item = state.view[position], [picture, caption] = cell.firstChild.children;
  const x = position % layout.columns * layout.width, y = Math.floor(position / layout.columns) * layout.height;
  cell.style.transform = `translate(${x}px,${y}px)`;
  cell.style.width = layout.width + 'px';
  cell.style.height = layout.height + 'px';
  cell.id = 'cell-' + position;
  cell.dataset.position = position;
  cell.dataset.name = item.name;
  cell.className = 'cell' + (state.selected.has(item.digest) ? ' selected' : '') +
      (position === state.cursor ? ' cursor' : '') + (item.decided ? ' decided' : '');
  cell.setAttribute('aria-label', spoken(item));
  cell.setAttribute('aria-posinset', position + 1);
  cell.setAttribute('aria-setsize', state.view.length);
  cell.setAttribute('aria-selected', state.selected.has(item.digest));
  writePicture(picture, item);
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
  sheet.classList.toggle('selecting', state.selected.size > 0);
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

let moved = () => {};
// Hears when another sample has the frame, or the samples change.
export function whenMoved(hear) { moved = hear; }

function tellSelection() {
  drawProposals();
  moved();
  if (state.asks) return;              // what is told asks for an answer
  const at = state.view[state.cursor];
  tell(state.selected.size ? `${state.selected.size} of ${state.items.length} selected` :
       at ? summary() + ' · ' + shortName(at) : summary());
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
