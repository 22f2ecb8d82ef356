// What the page shows, and small words for its elements.

export const byId = (id) => document.getElementById(id);

export const state = {
  tab: 'home', order: 'added', generation: 0,
  items: [], view: [],                 // all of the tab, and in the order in which they are shown
  cursor: 0, anchor: 0, selected: new Set(),
  cell: 200,                           // the width that a cell has at least
  labels: [],                          // names, those that are used most first
  counts: {unlabelled: null, doubtful: null, labelled: null},  // null: not known yet
  tags: false,                         // a sample may have several labels
  made: [],                            // what was decided, the last at the end
  touched: new Map(),                  // digest -> {item, before}: what was decided at any time
  asks: '',                            // the new label that waits for one Enter more
  over: false,                         // the review has ended
};
export const found = new Map();        // digest -> item of the tab

export function word(tag, text, className = '') {
  const element = document.createElement(tag);
  element.textContent = text;
  element.className = className;
  return element;
}

export function button(text, act, className = '') {
  const element = word('button', text, className);
  element.type = 'button';
  element.addEventListener('click', act);
  return element;
}

export const percent = (share) => Math.round(100 * share) + '%';
export const number = (count) => count.toLocaleString('en');
export const several = (count, one, many = one + 's') => `${number(count)} ${count === 1 ? one : many}`;
export const shortName = (item) => item.name.split('/').slice(-2).join('/');

export function tell(text) { byId('status').textContent = text; }
