// The tabs, and how many samples are behind each.

import {byId, number, state} from './state.js';

const TITLES = {home: 'Home', unlabelled: 'Unlabelled', doubtful: 'Doubtful', labelled: 'Labelled'};

export function drawTabs() {
  for (const tab of byId('tabs').children) {
    const name = tab.dataset.tab, count = state.counts[name];
    tab.setAttribute('aria-selected', name === state.tab);
    tab.tabIndex = name === state.tab ? 0 : -1;
    const shown = tab.querySelector('.count');
    if (!shown) continue;
    shown.textContent = count === null ? '…' : number(count);
    tab.setAttribute('aria-label', TITLES[name] + (count === null ? '' : ', ' + count));
  }
}

export function countSamples(counts) {
  Object.assign(state.counts, counts);
  drawTabs();
}
