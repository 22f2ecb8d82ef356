// Decisions, and what takes them back.

import {draw, go} from './grid.js';
import {giveKey} from './labels.js';
import {loadLabels, show} from './samples.js';
import {targets} from './selection.js';
import {call, inTurn, isIdle, safely} from './server.js';
import {byId, found, state, tell, word} from './state.js';

function take(changed, decided) {
  for (const {digest, labels} of changed) {
    const item = found.get(digest);
    if (item) Object.assign(item, {labels, decided});
  }
}

function lastOf(items) {
  const all = new Set(items);
  return state.view.findLastIndex((item) => all.has(item));
}

// On from what was decided, to what is not.
function goOn(items) {
  const last = lastOf(items);
  state.selected.clear();
  const next = state.view.findIndex((item, i) => i > last && !item.decided);
  go(next < 0 ? last : next, false);
}

// Shown before moild has answered: the next key may come sooner.
const decide = safely(async (decisions) => {
  const entry = {items: decisions.flatMap(({items}) => items)};
  if (entry.items.length === 0) return;
  entry.before = entry.items.map(({labels, decided}) => ({labels, decided}));
  for (const {items, label} of decisions) {
    items.forEach((item) => Object.assign(item, {labels: label === null ? [] : [label], decided: true}));
    giveKey(label);
  }
  state.made.push(entry);
  goOn(entry.items);
  const body = {decisions: decisions.map(({items, label}) => ({digests: items.map((item) => item.digest), label}))};
  try {
    take((await inTurn(() => call('decide', body))).changed, true);
  } catch (error) {
    entry.items.forEach((item, i) => Object.assign(item, entry.before[i]));
    entry.failed = true;
    state.made = state.made.filter((other) => other !== entry);
    draw();
    throw error;
  }
  if (isIdle()) await loadLabels();
  draw();
});

export function giveLabel(label) {
  const items = targets();
  if (items.length) decide([{items, label}]);
}

// Each its own.
export function giveProposal(number) {
  const groups = new Map();
  for (const item of targets()) {
    const proposal = item.proposals[number];
    if (!proposal) continue;
    if (!groups.has(proposal.label)) groups.set(proposal.label, []);
    groups.get(proposal.label).push(item);
  }
  if (groups.size === 0) return tell('there is no proposal for it');
  decide([...groups].map(([label, items]) => ({items, label})));
}

export function keep() {
  const items = targets().filter((item) => item.labels.length && !item.decided);
  if (items.length === 0) return;
  items.forEach((item) => { item.decided = true; });
  state.made.push({items, kept: true});
  goOn(items);
}

// What moild took back of it, as the page lists it then.
async function takeBack(entry) {
  const {changed} = entry && entry.failed ? {changed: []} : await call('undo');
  if (changed.length === 0) return changed;
  take(changed, false);
  if (entry) entry.items.forEach((item, i) => { item.decided = entry.before[i].decided; });
  await loadLabels();
  // One of them may have to be listed again; doubts are not asked for again.
  if (state.tab !== 'doubtful' && changed.some(({digest}) => !found.has(digest))) await show(state.tab);
  return changed;
}

function keepNot(entry) {
  entry.items.forEach((item) => { item.decided = false; });
  return entry.items;
}

// In turn to its end: of two, the cursor stands where the second one put it.
export const undo = safely(async () => {
  state.selected.clear();
  const entry = state.made.pop();
  const items = entry && entry.kept ? keepNot(entry) : await inTurn(() => takeBack(entry));
  if (items.length === 0) return tell('there is nothing to undo');
  const digests = new Set(items.map(({digest}) => digest));
  const first = state.view.findIndex(({digest}) => digests.has(digest));
  if (state.selected.size === 0) go(first < 0 ? state.cursor : first, false);  // what was selected since is next
  tell(`undone: ${items.length} ${items.length === 1 ? 'sample' : 'samples'}`);
});

// What is there stays, out of sight: answers that are on their way have a place to go to.
export const end = safely(async () => {
  await inTurn(() => call('end'));
  state.over = true;
  byId('player').pause();
  document.body.className = 'ended';
  document.body.append(word('p', 'The review has ended. This page can be closed.', 'over'));
});
