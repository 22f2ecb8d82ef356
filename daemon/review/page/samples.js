// The samples of a tab: how they come, and in which order they are shown.

import {draw, redraw} from './grid.js';
import {drawLabels, drawProposals} from './labels.js';
import {model, modelText, said, wantOf} from './model.js';
import {summary} from './selection.js';
import {call, safely} from './server.js';
import {byId, found, state, tell} from './state.js';
import {countSamples, drawTabs} from './tabs.js';

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
  const touched = state.touched.get(item.digest);
  if (touched) touched.item = item;
  return item;
}

function propose(item) {
  const one = said.get(item.digest);
  if (!one) return;
  item.proposals = [{label: one.label, probability: one.probability},
                    ...one.others.map((label) => ({label, probability: null}))];
  item.notSure = one.not_sure;
  if (one.place !== undefined) item.useful = one.place;
}

async function loadSamples(generation, unlabelled) {
  for (let after = 0; after !== null;) {
    const page = await call('samples', {unlabelled, after});
    if (generation !== state.generation) return;
    page.samples.map((sample) => newItem(sample)).forEach((item) => unlabelled && propose(item));
    after = page.next;
    // Only a list that grows at its end is shown while it grows: each other place would change.
    if (state.order === 'added' || state.items.length <= page.samples.length) arrange();
  }
  arrange();
}

function listDoubts() {
  model.doubts.forEach((doubt, place) => {
    newItem(doubt, [{label: doubt.looks_like, probability: doubt.probability}]).useful = place;
  });
  arrange();
}

export async function loadLabels() {
  const {labels, unlabelled, labelled} = await call('labels');
  state.labels = [...state.labels.filter((label) => labels.includes(label)),
                  ...labels.filter((label) => !state.labels.includes(label))];
  countSamples({unlabelled, labelled});
  drawLabels();
}

const EMPTY = {
  unlabelled: 'No sample is unlabelled. More come with "moilctl label add --unlabelled" and "moilctl label watch".',
  doubtful: 'No label looks wrong.',
  labelled: 'No sample has a label yet.',
};

function drawModel() {
  const text = modelText(), bar = byId('progress');
  byId('model').textContent = text;
  bar.hidden = !text;
  bar.classList.toggle('endless', !model.total);
  bar.firstElementChild.style.transform = `scaleX(${model.total ? model.done / model.total : 1})`;
  if (model.total) bar.setAttribute('aria-valuenow', Math.round(100 * model.done / model.total));
  else bar.removeAttribute('aria-valuenow');
}

let told = {};

// As the model goes on: in the order in which they came, so that no place changes under the hand.
export function heard() {
  drawModel();
  for (const [what, why] of Object.entries(model.failed))
    if (told[what] !== why) tell(why);
  told = {...model.failed};
  if (state.tab === 'unlabelled') {
    const stay = state.order === 'added' || model.asking === 'proposals';
    state.items.forEach(propose);
    if (stay) draw(), drawProposals();
    else arrange();
  }
  if (state.tab === 'doubtful' && model.answered.has('doubts') && state.items.length === 0) {
    listDoubts();
    byId('empty').textContent = state.items.length ? '' : EMPTY.doubtful;
  }
}

async function load(tab, generation) {
  if (tab === 'doubtful') {
    wantOf('doubts', {first: true});
    if (model.answered.has('doubts')) listDoubts();
    else return tell('the model is asked which labels look wrong …');
  } else {
    await loadSamples(generation, tab === 'unlabelled');
  }
  if (generation !== state.generation) return;
  byId('empty').textContent = state.items.length ? '' : EMPTY[tab];
  const isNew = tab === 'unlabelled' && state.items.some(({digest}) => !said.has(digest));
  if (isNew) wantOf('proposals', {first: true, anew: true});
}

export const show = safely(async (tab) => {
  const generation = ++state.generation;
  Object.assign(state, {tab, items: [], view: [], cursor: 0, anchor: 0, order: tab === 'labelled' ? 'label' : 'added'});
  found.clear();
  state.selected.clear();
  drawTabs();
  document.body.dataset.tab = tab;
  byId('grid').hidden = tab === 'home';
  byId('home').hidden = tab !== 'home';
  if (tab === 'home') return loadLabels();
  byId('order').value = state.order;
  byId('order').options[0].textContent = tab === 'doubtful' ? 'Surest first' : 'As added';
  byId('empty').textContent = '';
  byId('grid').scrollTop = 0;
  byId('grid').focus({preventScroll: true});
  redraw();
  await loadLabels();
  if (generation === state.generation) await load(tab, generation);
});
