// The review's page: what its parts do with each other, and with clicks and taps.

import {isCompared, openCompare} from './compare.js';
import {giveLabel, giveProposal, keep, undo} from './decisions.js';
import './drop.js';
import {end} from './ending.js';
import {drawWhatCame, go, measureAnew, whenChecked, whenMoved} from './grid.js';
import {drawHome, look, whenAsked} from './home.js';
import {clear, pressed, select, selectAll} from './keys.js';
import {confirmed, isNew} from './labels.js';
import {closeLarge, drawLarge, isLarge, openLarge} from './large.js';
import {whenModelSpeaks} from './model.js';
import {arrange, heard, show} from './samples.js';
import {enter, Refusal, safely} from './server.js';
import {byId, state, tell, word} from './state.js';

const grid = byId('grid'), input = byId('label');
let pointer = '';  // the last one's type; a click does not tell it in every browser

// A finger opens a sample; once one is selected, it selects others.
function tapped(position) {
  if (state.selected.size) select(position);
  else openLarge(position);
}

function clicked(event) {
  const cell = event.target.closest('.cell');
  if (!cell) return;
  const position = Number(cell.dataset.position);
  if (event.shiftKey) return go(position, true);
  if (event.ctrlKey || event.metaKey) return go(position, false), select(position);
  if (pointer === 'touch') return tapped(position);
  state.selected.clear();
  go(position, false);
}

// A finger that stays selects.
function heldDown(event) {
  const cell = event.target.closest('.cell');
  if (!cell || pointer !== 'touch') return;
  event.preventDefault();
  select(Number(cell.dataset.position));
}

// The same name once more makes a label that is new.
function askedForNew(label) {
  if (!isNew(label)) return false;
  if (state.asks === label) return confirmed.add(label), false;
  state.asks = label;
  const like = state.labels.find((known) => known.toLowerCase() === label.toLowerCase());
  tell(`new label "${label}"${like ? `, beside "${like}"` : ''}? Enter again makes it, Escape does not`);
  byId('form').classList.add('asks');
  return true;
}

function forget() {
  state.asks = '';
  byId('form').classList.remove('asks');
}

function named(event) {
  event.preventDefault();
  const label = input.value.trim();
  if (label && askedForNew(label)) return;
  forget();
  input.value = '';
  grid.focus({preventScroll: true});
  if (label) giveLabel(label);
}

function typed(event) {
  if (event.key !== 'Escape') return;
  input.value = '';
  forget();
  tell('');
  grid.focus({preventScroll: true});
}

function turnTab(event) {
  const tabs = [...byId('tabs').children], at = tabs.indexOf(event.target.closest('button'));
  const next = {ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1}[event.key];
  if (next === undefined || !tabs[next]) return;
  event.preventDefault();
  open(tabs[next].dataset.tab);
  tabs[next].focus();
}

function open(tab) {
  if (isLarge()) closeLarge();
  if (isCompared()) return;
  show(tab).then(drawHome);
  if (tab === 'home') look();
}

function showClosed(message) {
  const place = word('section', '', 'over'), card = word('div', '', 'card');
  card.append(word('h1', 'This page is closed'), word('p', message, 'quiet'), word('code', 'moilctl label review'));
  place.append(card);
  document.body.classList.add('ended');
  document.body.append(place);
  state.over = true;
}

document.addEventListener('keydown', pressed);
grid.addEventListener('click', clicked);
grid.addEventListener('dblclick', (event) => {
  const cell = event.target.closest('.cell');
  if (cell && pointer !== 'touch' && !event.target.closest('button')) openLarge(Number(cell.dataset.position));
});
grid.addEventListener('contextmenu', heldDown);
grid.addEventListener('pointerdown', (event) => { pointer = event.pointerType; }, {passive: true});
grid.addEventListener('scroll', drawWhatCame, {passive: true});
new ResizeObserver(measureAnew).observe(grid);
whenChecked(select);
whenMoved(drawLarge);
whenAsked(open);
whenModelSpeaks(() => { heard(); drawHome(); });
byId('tabs').addEventListener('click', (event) => event.target.closest('button') && open(event.target.closest('button').dataset.tab));
byId('tabs').addEventListener('keydown', turnTab);
for (const [id, give] of [['labels', giveLabel], ['proposals', (number) => giveProposal(Number(number))]])
  byId(id).addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (!button) return;
    give(button.value);
    grid.focus({preventScroll: true});
  });
byId('order').addEventListener('change', (event) => { state.order = event.target.value; arrange(); grid.focus({preventScroll: true}); });
byId('form').addEventListener('submit', named);
input.addEventListener('keydown', typed);
input.addEventListener('input', forget);
for (const [id, act] of [['undo', undo], ['done', end], ['keys', () => byId('help').showModal()], ['accept', () => giveProposal(0)],
                         ['keep', keep], ['none', () => giveLabel(null)], ['all', selectAll], ['clear', clear], ['beside', openCompare]])
  byId(id).addEventListener('click', () => act());

safely(async () => {
  try {
    await enter();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return showClosed(error.message);
  }
  await show('home');
  drawHome();
  await look();
})();
