// The samples of a tab: how they come, and in which order they are shown.

import {redraw} from './grid.js';
import {drawLabels} from './labels.js';
import {summary} from './selection.js';
import {call, safely} from './server.js';
import {byId, found, state, tell} from './state.js';

const {compare} = new Intl.Collator();
const proposed = (item) => (item.proposals.length ? item.proposals[0].label : '\uffff');
const ORDERS = {
  added: (a, b) => a.place - b.place,
  useful: (a, b) => a.useful - b.useful || a.place - b.place,
  proposal: (a, b) => compare(proposed(a), proposed(b)) ||
      ((b.proposals[0] || {}).probability || 0) - ((a.proposals[0] || {}).probability || 0) || a.place - b.place,
  label: (a, b) => compare(a.labels.join(), b.labels.join()) || a.place - b.place,
};

export function arrange() {
  const at = state.view[state.cursor];
  state.view = [...state.items].sort(ORDERS[state.order]);
  state.cursor = Math.max(0, state.view.indexOf(at));
  state.anchor = state.cursor;
  redraw();
}

function newItem(sample, proposals = []) {
  const item = {digest: sample.digest, name: sample.name || sample.digest, labels: sample.labels,
                proposals, notSure: false, decided: false, place: state.items.length, useful: Infinity};
  state.items.push(item);
  found.set(item.digest, item);
  return item;
}

async function loadSamples(generation, unlabelled) {
  for (let after = 0; after !== null;) {
    const page = await call('samples', {unlabelled, after});
    if (generation !== state.generation) return;
    page.samples.forEach((sample) => newItem(sample));
    after = page.next;
    // Only a list that grows at its end is shown while it grows: each other place would change.
    if (state.order === 'added' || state.items.length <= page.samples.length) arrange();
  }
  arrange();
}

// Asked once: it may take minutes.
let suggestions = null;
function askForSuggestions() {
  suggestions ||= call('proposals').catch((error) => { suggestions = null; throw error; });
  return suggestions;
}

async function loadProposals(generation) {
  if (state.items.length === 0) return;
  tell(summary() + '; the model is asked what they are …');
  const all = (await askForSuggestions()).suggestions;
  if (generation !== state.generation) return;
  all.forEach((said, place) => {
    const item = found.get(said.digest);
    if (!item) return;
    item.proposals = [{label: said.label, probability: said.probability},
                      ...said.others.map((label) => ({label, probability: null}))];
    item.notSure = said.not_sure;
    item.useful = place;
  });
  arrange();
}

async function loadDoubts(generation) {
  tell('the model is asked which labels look wrong …');
  const {doubts} = await call('doubts');
  if (generation !== state.generation) return;
  doubts.forEach((doubt, place) => {
    newItem(doubt, [{label: doubt.looks_like, probability: doubt.probability}]).useful = place;
  });
  arrange();
}

export async function loadLabels() {
  const {labels, unlabelled} = await call('labels');
  state.labels = [...state.labels.filter((label) => labels.includes(label)),
                  ...labels.filter((label) => !state.labels.includes(label))];
  byId('unlabelled-count').textContent = unlabelled;
  drawLabels();
}

const EMPTY = {
  unlabelled: 'No sample is unlabelled. More come with "moilctl label add --unlabelled" and "moilctl label watch".',
  doubtful: 'No label looks wrong.',
  labelled: 'No sample has a label yet.',
};

export const show = safely(async (tab) => {
  const generation = ++state.generation;
  Object.assign(state, {tab, items: [], view: [], cursor: 0, anchor: 0, order: tab === 'labelled' ? 'label' : 'added'});
  found.clear();
  state.selected.clear();
  byId('order').value = state.order;
  byId('order').options[0].textContent = tab === 'doubtful' ? 'surest first' : 'as added';
  for (const button of byId('tabs').children) button.setAttribute('aria-selected', button.dataset.tab === tab);
  byId('empty').textContent = '';
  byId('grid').scrollTop = 0;
  redraw();
  await loadLabels();
  if (tab === 'doubtful') await loadDoubts(generation);
  else await loadSamples(generation, tab === 'unlabelled');
  if (generation !== state.generation) return;
  if (state.items.length === 0) byId('empty').textContent = EMPTY[tab];
  if (tab === 'unlabelled') await loadProposals(generation);
});
