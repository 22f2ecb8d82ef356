// Two samples side by side: are they the same, or different?

import {giveLabels, keep} from './decisions.js';
import {redraw, writeCaption} from './grid.js';
import {spokenLabel} from './labels.js';
import {largePicture, pictures} from './pictures.js';
import {targets} from './selection.js';
import {byId, shortName, state, tell, word} from './state.js';

const view = byId('compare');
let pair = [];

export const isCompared = () => !view.hidden;

// What it is said to be, else what it looks like.
const nameOf = (item) => (item.labels.length ? item.labels : item.proposals.slice(0, 1).map(({label}) => label));

async function side(item) {
  const figure = document.createElement('figure'), image = new Image(), why = word('p', '', 'why');
  const caption = word('figcaption', ''), said = word('div', '', 'caption');
  writeCaption(said, item);
  caption.append(said, word('span', shortName(item), 'quiet'));
  image.alt = item.name;
  const small = pictures.get(item.digest);
  if (small && small.src) image.src = small.src;
  figure.append(image, why, caption);
  largePicture(item.digest).then((picture) => {
    if (picture.src) image.src = picture.src;
    else why.textContent = picture.why;
  }).catch((error) => { why.textContent = error.message; });
  return figure;
}

function drawChoice(id, item) {
  const labels = nameOf(item), choice = byId(id);
  choice.disabled = labels.length === 0;
  choice.querySelector('span').textContent = labels.length ? 'Both are ' + labels.map(spokenLabel).join(', ') : 'Both are …';
}

export async function openCompare() {
  pair = targets();
  if (pair.length !== 2) return tell('select two to see them side by side');
  byId('sides').replaceChildren(...await Promise.all(pair.map(side)));
  drawChoice('both-left', pair[0]);
  drawChoice('both-right', pair[1]);
  view.hidden = false;
  document.body.classList.add('covered');
}

export function closeCompare() {
  view.hidden = true;
  document.body.classList.remove('covered');
  byId('grid').focus({preventScroll: true});
  redraw();
}

// Both get what the left one is (0), or the right one (1).
export function sameAs(which) {
  const labels = nameOf(pair[which]);
  if (labels.length === 0) return tell('nobody has said yet what that one is');
  closeCompare();
  giveLabels(pair, labels);
}

// Labels that they have stay; they are not asked about again.
export function different() {
  closeCompare();
  if (pair.some((item) => item.labels.length)) keep();
  else state.selected.clear(), redraw(), tell('they stay as they are');
}

byId('both-left').addEventListener('click', () => sameAs(0));
byId('both-right').addEventListener('click', () => sameAs(1));
byId('different').addEventListener('click', different);
byId('compare-close').addEventListener('click', closeCompare);
