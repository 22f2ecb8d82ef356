// The end: what changed, and when it will be learned.

import {dayText, lastKnown, nextNight} from './home.js';
import {call, inTurn, leave, safely} from './server.js';
import {byId, several, state, word} from './state.js';

function changes() {
  const all = [...state.touched.values()];
  return all.filter(({item, before}) => item.labels.join('\n') !== before.join('\n'));
}

function countsOf(changed) {
  const counts = new Map();
  for (const {item} of changed)
    for (const label of item.labels.length ? item.labels : ['no label']) counts.set(label, (counts.get(label) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

function whenLearned() {
  const night = nextNight();
  if (!lastKnown() || !lastKnown().model) return 'There is no model yet that could learn it.';
  if (night) return `The next night learns it: ${dayText(night.at)}.`;
  return 'No night is planned: "moilctl learn" learns it at once, "moilctl schedule add" each night.';
}

function page() {
  const changed = changes(), kept = state.made.filter((entry) => entry.kept).reduce((sum, {items}) => sum + items.length, 0);
  const place = word('section', '', 'over'), card = word('div', '', 'card');
  card.append(word('h1', changed.length ? `${several(changed.length, 'sample has', 'samples have')} new labels` : 'Nothing changed'));
  if (changed.length) {
    const MOST = 12, counts = countsOf(changed), list = word('ul', '', 'changes');
    list.append(...counts.slice(0, MOST).map(([label, count]) => {
      const entry = word('li', '');
      entry.append(word('b', String(count)), word('span', label));
      return entry;
    }));
    card.append(list);
    if (counts.length > MOST) card.append(word('p', `and ${several(counts.length - MOST, 'label')} more`, 'quiet'));
    card.append(word('p', whenLearned()));
  }
  if (kept) card.append(word('p', `${several(kept, 'label was', 'labels were')} found right.`));
  const left = state.counts.unlabelled;
  if (left) card.append(word('p', `${several(left, 'sample is', 'samples are')} still without a label.`, 'quiet'));
  card.append(word('p', 'The review has ended. This page can be closed.', 'quiet'));
  place.append(card);
  return place;
}

// Decisions come to their end. What is there stays, out of sight.
export const end = safely(async () => {
  await inTurn(() => {});
  state.over = true;
  leave();
  byId('player').pause();
  const shown = page();
  await call('end', {}, null).catch(() => {});  // it may be gone already
  document.body.classList.add('ended');
  document.body.append(shown);
});
