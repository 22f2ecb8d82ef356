// What the model says of a file that is dropped onto the page. Nothing of it is kept.

import {safely, upload} from './server.js';
import {byId, percent, word} from './state.js';

const place = byId('drop'), input = byId('file');

function bar({label, probability}) {
  const row = word('div', '', 'bar'), track = word('div', '', 'track'), filled = word('div', '');
  filled.style.transform = `scaleX(${probability})`;
  track.append(filled);
  row.append(word('span', label), word('b', percent(probability)), track);
  return row;
}

function answerOf(said) {
  if (said.error) return [word('p', said.error.message, 'unsure')];
  if (said.values) return said.values.map(({name, value}) => word('p', `${name}: ${Math.round(1000 * value) / 1000}`));
  const parts = said.top.map(bar);
  if (said.not_sure) parts.unshift(word('p', 'It is not sure.', 'unsure'));
  if (said.remark) parts.push(word('p', said.remark, 'quiet'));
  return parts;
}

function show(file) {
  const shown = byId('dropped');
  shown.replaceChildren();
  if (!file.type.startsWith('image/')) return shown.append(word('span', file.name, 'quiet'));
  const reader = new FileReader();
  reader.addEventListener('load', () => {
    const image = new Image();
    image.alt = file.name;
    image.src = reader.result;
    shown.replaceChildren(image);
  });
  reader.readAsDataURL(file);
}

const ask = safely(async (file) => {
  if (!file) return;
  show(file);
  byId('answer').replaceChildren(word('p', 'One moment …', 'quiet'));
  try {
    byId('answer').replaceChildren(...answerOf(await upload('predict', file)));
  } catch (error) {
    byId('answer').replaceChildren(word('p', error.message, 'unsure'));
  }
});

// Anywhere on the page: a file that misses the place would be opened in its stead.
let inside = 0;
function over(by) {
  inside = Math.max(0, inside + by);
  place.classList.toggle('over', inside > 0);
}
document.addEventListener('dragenter', () => over(1));
document.addEventListener('dragleave', () => over(-1));
document.addEventListener('dragover', (event) => event.preventDefault());
document.addEventListener('drop', (event) => {
  event.preventDefault();
  over(-inside);
  if (!byId('home').hidden && !byId('ask').hidden) ask(event.dataTransfer.files[0]);
});
input.addEventListener('change', () => ask(input.files[0]));
