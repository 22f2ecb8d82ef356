// The review's page: keys, clicks and taps.

import {end, giveLabel, giveProposal, keep, undo} from './decisions.js';
import {drawWhatCame, go, layout, measureAnew, redraw, zoom} from './grid.js';
import {isKey, keyedLabels} from './labels.js';
import {listen} from './player.js';
import {arrange, show} from './samples.js';
import {selectRange, toggle} from './selection.js';
import {enter, safely} from './server.js';
import {byId, state} from './state.js';

const grid = byId('grid'), input = byId('label');

const MOVES = {
  ArrowLeft: () => -1, ArrowRight: () => 1, ArrowUp: () => -layout.columns, ArrowDown: () => layout.columns,
  PageUp: () => -layout.columns * Math.max(1, Math.floor(grid.clientHeight / layout.height)),
  PageDown: () => layout.columns * Math.max(1, Math.floor(grid.clientHeight / layout.height)),
  Home: () => -state.view.length, End: () => state.view.length,
};

const KEYS = {
  ' ': () => { if (state.view.length) { toggle(state.cursor); redraw(); } },
  'Enter': () => input.focus(), '/': () => input.focus(),
  'a': () => giveProposal(0), 's': () => giveProposal(1), 'd': () => giveProposal(2),
  'k': keep, 'u': undo, 'p': () => { if (state.view.length) listen(state.view[state.cursor]); }, 'Delete': () => giveLabel(null), 'Backspace': () => giveLabel(null),
  'Escape': () => { state.selected.clear(); redraw(); },
  '+': () => zoom(1.25), '-': () => zoom(0.8),
  '?': () => byId('help').showModal(),
};

function selectAll() {
  if (state.view.length) selectRange(0, state.view.length - 1);
  redraw();
}

function withControl(key) {
  if (key === 'a') selectAll();
  else if (key === 'z') undo();
  else return false;
  return true;
}

function labelKeyPressed(key) {
  const one = keyedLabels().find(([of]) => of === key);
  if (one) giveLabel(one[1]);
  return Boolean(one);
}

function pressed(event) {
  const {key} = event;
  if (state.over) return;
  if (event.target.matches('input, select, audio') || byId('help').open || event.altKey) return;
  if (event.target.matches('button') && (key === 'Enter' || key === ' ')) return;
  let used = true;
  if (event.ctrlKey || event.metaKey) used = withControl(key);
  else if (MOVES[key]) go(state.cursor + MOVES[key](), event.shiftKey);
  else if (isKey(key)) used = labelKeyPressed(key);
  else if (KEYS[key]) KEYS[key]();
  else used = false;
  if (used) event.preventDefault();
}

let pointer = '';  // the last one's type; a click does not tell it in every browser

function clicked(event) {
  const cell = event.target.closest('.cell');
  if (!cell) return;
  const position = Number(cell.dataset.position);
  if (event.shiftKey) return go(position, true);
  if (event.ctrlKey || event.metaKey || pointer === 'touch') toggle(position);
  else state.selected.clear();
  go(position, false);
}

document.addEventListener('keydown', pressed);
grid.addEventListener('click', clicked);
grid.addEventListener('pointerdown', (event) => { pointer = event.pointerType; }, {passive: true});
grid.addEventListener('scroll', drawWhatCame, {passive: true});
new ResizeObserver(measureAnew).observe(grid);
byId('tabs').addEventListener('click', (event) => event.target.closest('button') && show(event.target.closest('button').dataset.tab));
for (const [id, give] of [['labels', giveLabel], ['proposals', (number) => giveProposal(Number(number))]])
  byId(id).addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (!button) return;
    give(button.value);
    grid.focus({preventScroll: true});
  });
byId('order').addEventListener('change', (event) => { state.order = event.target.value; arrange(); grid.focus(); });
byId('form').addEventListener('submit', (event) => {
  event.preventDefault();
  const label = input.value.trim();
  if (label) giveLabel(label);
  input.value = '';
  grid.focus();
});
input.addEventListener('keydown', (event) => { if (event.key === 'Escape') grid.focus(); });
for (const [id, act] of [['undo', undo], ['done', end], ['keys', KEYS['?']], ['accept', () => giveProposal(0)],
                         ['keep', keep], ['none', () => giveLabel(null)], ['all', selectAll], ['clear', KEYS.Escape]])
  byId(id).addEventListener('click', () => act());

grid.focus();
safely(async () => {
  await enter();
  show('unlabelled');
})();
