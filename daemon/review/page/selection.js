// The sample with the frame, those that are selected, and what a decision is for.

import {draw, layout} from './grid.js';
import {drawProposals} from './labels.js';
import {byId, state, tell} from './state.js';

export function targets() {
  if (state.selected.size) return state.view.filter((item) => state.selected.has(item.digest));
  return state.view.length ? [state.view[state.cursor]] : [];
}

export function summary() {
  const decided = state.items.filter((item) => item.decided).length;
  return `${state.items.length} samples` + (decided ? `, ${decided} decided` : '');
}

export function tellSelection() {
  const at = state.view[state.cursor];
  tell(state.selected.size ? `${state.selected.size} of ${state.items.length} selected` :
       at ? summary() + ' · ' + at.name.split('/').slice(-2).join('/') : summary());
  drawProposals();
}

export function selectRange(from, to) {
  state.selected.clear();
  for (let i = Math.min(from, to); i <= Math.max(from, to); ++i) state.selected.add(state.view[i].digest);
}

export function toggle(position) {
  const digest = state.view[position].digest;
  if (!state.selected.delete(digest)) state.selected.add(digest);
}

export function go(position, ranging) {
  if (state.view.length === 0) return;
  state.cursor = Math.min(state.view.length - 1, Math.max(0, position));
  if (ranging) selectRange(state.anchor, state.cursor);
  else state.anchor = state.cursor;
  const grid = byId('grid'), top = Math.floor(state.cursor / layout.columns) * layout.height;
  if (top < grid.scrollTop) grid.scrollTop = top;
  if (top + layout.height > grid.scrollTop + grid.clientHeight) grid.scrollTop = top + layout.height - grid.clientHeight;
  draw();
  tellSelection();
}
