// What the page shows, and small words for its elements.

export const byId = (id) => document.getElementById(id);

export const state = {
  tab: 'unlabelled', order: 'added', generation: 0,
  items: [], view: [],                 // all of the tab, and in the order in which they are shown
  cursor: 0, anchor: 0, selected: new Set(),
  cell: 124,                           // the width that a cell has at least
  labels: [],                          // names, those that are used most first
  made: [],                            // what was decided, the last at the end
  over: false,                         // the review has ended
};
export const found = new Map();        // digest -> item of the tab

export function word(tag, text, className = '') {
  const element = document.createElement(tag);
  element.textContent = text;
  element.className = className;
  return element;
}

export const percent = (share) => Math.round(100 * share) + '%';

export function tell(text) { byId('status').textContent = text; }
