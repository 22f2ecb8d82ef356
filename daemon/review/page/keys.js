// What each key does: in the grid, in the large view, with two samples side by side.

import {closeCompare, different, isCompared, openCompare, sameAs} from './compare.js';
import {denyProposal, giveLabel, giveProposal, keep, undo} from './decisions.js';
import {go, layout, redraw, zoom} from './grid.js';
import {isKey, keyedLabels, SOMETHING_ELSE} from './labels.js';
import {closeLarge, isLarge, openLarge, turnLarge, zoomLarge} from './large.js';
import {listen} from './player.js';
import {selectRange, toggle} from './selection.js';
import {byId, state} from './state.js';

const grid = byId('grid'), input = byId('label');
const rowsOfPage = () => Math.max(1, Math.floor(grid.clientHeight / layout.height));

const MOVES = {
  ArrowLeft: () => -1, ArrowRight: () => 1, ArrowUp: () => -layout.columns, ArrowDown: () => layout.columns,
  PageUp: () => -layout.columns * rowsOfPage(), PageDown: () => layout.columns * rowsOfPage(),
  Home: () => -state.view.length, End: () => state.view.length,
};

export function select(position) {
  if (state.view.length === 0) return;
  toggle(position);
  state.anchor = position;
  redraw();
}

export function clear() {
  state.selected.clear();
  redraw();
}

export function selectAll() {
  if (state.view.length) selectRange(0, state.view.length - 1);
  redraw();
}

const DECISIONS = {
  'Enter': () => input.focus(), '/': () => input.focus(),
  'a': () => giveProposal(0), 's': () => giveProposal(1), 'd': () => giveProposal(2),
  'n': () => giveLabel(SOMETHING_ELSE), 'k': keep, 'u': undo, 'Delete': () => giveLabel(null), 'Backspace': () => giveLabel(null),
  'p': () => { if (state.view.length) listen(state.view[state.cursor]); },
  '?': () => byId('help').showModal(),
};
const IN_GRID = {
  ...DECISIONS,
  ' ': () => openLarge(), 'x': () => select(state.cursor), 'c': openCompare, 'Escape': clear,
  '+': () => zoom(1.25), '-': () => zoom(0.8),
};
const IN_LARGE = {
  ...DECISIONS,
  ' ': closeLarge, 'Escape': closeLarge,
  'ArrowLeft': () => turnLarge(-1), 'ArrowUp': () => turnLarge(-1), 'PageUp': () => turnLarge(-1),
  'ArrowRight': () => turnLarge(1), 'ArrowDown': () => turnLarge(1), 'PageDown': () => turnLarge(1),
  'Home': () => turnLarge(-state.view.length), 'End': () => turnLarge(state.view.length),
  '+': () => zoomLarge(1.5), '-': () => zoomLarge(1 / 1.5),
};
const IN_COMPARE = {
  'Escape': closeCompare, ' ': closeCompare, 'c': closeCompare,
  'ArrowLeft': () => sameAs(0), 'ArrowRight': () => sameAs(1), 'k': different, '?': () => byId('help').showModal(),
};

function withControl(key) {
  if (key === 'a') selectAll();
  else if (key === 'z') undo();
  else if (key === ' ') select(state.cursor);
  else return false;
  return true;
}

function labelKeyPressed(key) {
  const one = keyedLabels().find(([of]) => of === key);
  if (one) giveLabel(one[1]);
  return Boolean(one);
}

const DENIED = ['A', 'S', 'D'];

// Whether the key has a meaning here.
function use(key, event) {
  if (isCompared()) return IN_COMPARE[key] ? (IN_COMPARE[key](), true) : false;
  if (event.shiftKey && DENIED.includes(key)) return denyProposal(DENIED.indexOf(key)), true;
  if (isKey(key)) return labelKeyPressed(key);
  if (isLarge()) return IN_LARGE[key] ? (IN_LARGE[key](), true) : false;
  if (MOVES[key]) return go(state.cursor + MOVES[key](), event.shiftKey), true;
  return IN_GRID[key] ? (IN_GRID[key](), true) : false;
}

const AT_HOME = {'u': undo, '?': DECISIONS['?']};

export function pressed(event) {
  const {key} = event;
  if (state.over || byId('help').open || event.altKey) return;
  if (event.target.matches('input, select, audio')) return;
  if (event.target.matches('button') && (key === 'Enter' || key === ' ')) return;
  let used;
  if (event.target.matches('[role=tab]') && ['ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(key)) return;
  if (state.tab === 'home') used = AT_HOME[key] && !event.ctrlKey ? (AT_HOME[key](), true) : event.ctrlKey && key === 'z' && withControl(key);
  else if (event.ctrlKey || event.metaKey) used = !isCompared() && withControl(key);
  else used = use(key, event);
  if (used) event.preventDefault();
}
