// Decisions, and what takes them back.

import {draw, go, redraw} from './grid.js';
import {confirmed, denialOf, drawLabels, drawProposals, giveKey, isNew, SOMETHING_ELSE} from './labels.js';
import {labelsChanged, settle} from './model.js';
import {loadLabels, show} from './samples.js';
import {targets} from './selection.js';
import {call, inTurn, isIdle, safely} from './server.js';
import {found, several, state, tell} from './state.js';

function touch(items) {
  for (const item of items)
    if (!state.touched.has(item.digest)) state.touched.set(item.digest, {item, before: item.labels});
}

const waiting = new Map();             // digest -> decisions that are not answered yet

function wait(items, by) {
  for (const {digest} of items) waiting.set(digest, (waiting.get(digest) || 0) + by);
}

// An answer that comes after the next decision is of the past.
function take(changed, decided) {
  for (const {digest, labels} of changed) {
    const item = found.get(digest) || (state.touched.get(digest) || {}).item;
    if (item && !waiting.get(digest)) Object.assign(item, {labels, decided});
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

// Samples that get the same labels are one decision.
function grouped(items, labelsOf) {
  const groups = new Map();
  for (const item of items) {
    const labels = labelsOf(item), key = JSON.stringify(labels);
    if (!groups.has(key)) groups.set(key, {items: [], labels});
    groups.get(key).items.push(item);
  }
  return [...groups.values()];
}

// Shown before moild has answered: the next key may come sooner. stays: there may be more to decide of
// the same samples.
const decide = safely(async (decisions, stays = false) => {
  const entry = {items: decisions.flatMap(({items}) => items)};
  if (entry.items.length === 0) return;
  touch(entry.items);
  entry.before = entry.items.map(({labels, decided}) => ({labels, decided}));
  const fresh = new Set(decisions.flatMap(({labels}) => labels).filter(isNew));
  for (const {items, labels} of decisions) {
    items.forEach((item) => Object.assign(item, {labels, decided: true}));
    labels.forEach(giveKey);
  }
  state.made.push(entry);
  labelsChanged();
  settle(entry.items.map(({digest}) => digest), true);
  if (stays) redraw();
  else goOn(entry.items);
  const body = {decisions: decisions.map(({items, labels}) => (
    {digests: items.map((item) => item.digest), labels, as_spelled: labels.some((label) => confirmed.has(label))}))};
  wait(entry.items, 1);
  try {
    const {changed} = await inTurn(() => call('decide', body)).finally(() => wait(entry.items, -1));
    take(changed, true);
  } catch (error) {
    entry.items.forEach((item, i) => Object.assign(item, entry.before[i]));
    entry.failed = true;
    state.made = state.made.filter((other) => other !== entry);
    state.labels = state.labels.filter((label) => !fresh.has(label));
    drawLabels();
    draw();
    throw error;
  }
  if (isIdle()) await loadLabels();
  draw();
});

const joined = (labels, label) => [...new Set(
  [...labels.filter((other) => other !== SOMETHING_ELSE && other !== denialOf(label)), label])].sort();

// What has several labels gets one more, or one less if all have it.
function toggleLabel(items, label) {
  const all = items.every((item) => item.labels.includes(label));
  decide(grouped(items, ({labels}) => (all ? labels.filter((other) => other !== label) : joined(labels, label))), true);
}

export function giveLabel(label) {
  const items = targets();
  if (items.length === 0) return;
  if (state.tags && label !== null && label !== SOMETHING_ELSE) toggleLabel(items, label);
  else decide([{items, labels: label === null ? [] : [label]}]);
}

// To these alone, as one decision: for who shows some samples side by side.
export const giveLabels = (items, labels) => decide([{items, labels}]);

// Each its own.
export function giveProposal(number) {
  const items = targets().filter((item) => item.proposals[number]);
  if (items.length === 0) return tell('there is no proposal for it');
  const proposed = (item) => item.proposals[number].label;
  if (state.tags && items.length === 1) return toggleLabel(items, proposed(items[0]));
  decide(grouped(items, (item) => (state.tags ? joined(item.labels, proposed(item)) : [proposed(item)])));
}

// Each is not its own, and stays what else it is.
export function denyProposal(number) {
  const items = targets().filter((item) => item.proposals[number]);
  if (items.length === 0) return tell('there is no proposal for it');
  decide(grouped(items, ({labels, proposals}) => {
    const {label} = proposals[number];
    return joined(labels.filter((other) => other !== label), denialOf(label));
  }));
}

export function keep() {
  const items = targets().filter((item) => item.labels.length && !item.decided);
  if (items.length === 0) return;
  items.forEach((item) => { item.decided = true; });
  settle(items.map(({digest}) => digest), true);
  state.made.push({items, kept: true});
  goOn(items);
}

// What moild took back of it, as the page lists it then.
async function takeBack(entry) {
  const {changed} = entry && entry.failed ? {changed: []} : await call('undo');
  if (changed.length === 0) return changed;
  labelsChanged();
  take(changed, false);
  settle(changed.map(({digest}) => digest), false);
  const ofEntry = entry && new Set(entry.items.map(({digest}) => digest));
  if (entry && changed.every(({digest}) => ofEntry.has(digest)))
    entry.items.forEach((item, i) => { item.decided = entry.before[i].decided; });
  await loadLabels();
  // One of them may have to be listed again; doubts are not asked for again.
  if (state.tab !== 'doubtful' && changed.some(({digest}) => !found.has(digest))) await show(state.tab);
  return changed;
}

function keepNot(entry) {
  entry.items.forEach((item) => { item.decided = false; });
  settle(entry.items.map(({digest}) => digest), false);
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
  drawProposals();
  tell(`undone: ${several(items.length, 'sample')}`);
});
