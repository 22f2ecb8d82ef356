// Which samples are selected, and for which a decision is.

import {several, state} from './state.js';

export function targets() {
  if (state.selected.size) return state.view.filter((item) => state.selected.has(item.digest));
  return state.view.length ? [state.view[state.cursor]] : [];
}

export function summary() {
  const decided = state.items.filter((item) => item.decided).length;
  return several(state.items.length, 'sample') + (decided ? `, ${decided} decided` : '');
}

export function selectRange(from, to) {
  state.selected.clear();
  for (let i = Math.min(from, to); i <= Math.max(from, to); ++i) state.selected.add(state.view[i].digest);
}

export function toggle(position) {
  const digest = state.view[position].digest;
  if (!state.selected.delete(digest)) state.selected.add(digest);
}
