// The review's page: a grid of samples that holds as many elements as fit on the screen, whatever
// their number, and decisions by keys, clicks and taps.
'use strict';

const CAPTION = 40, LEAST_CELL = 96;   // a caption's height, a cell's least width
const BATCH = 24, IN_FLIGHT = 2;       // small pictures of one request, requests at once
const PAUSE = 3000;                    // milliseconds, after a request for pictures that failed
const MOST_PICTURES = 1500;            // that are kept
const LABEL_KEYS = '1234567890', MOST_CHIPS = 40;

const byId = (id) => document.getElementById(id);
const grid = byId('grid'), sheet = byId('sheet'), input = byId('label');

const state = {
  tab: 'unlabelled', order: 'added', generation: 0,
  items: [], view: [],                 // all of the tab, and in the order in which they are shown
  cursor: 0, anchor: 0, selected: new Set(),
  cell: 124,                           // the width that a cell has at least
  labels: [],                          // names, those that are used most first
  made: [],                            // what was decided, the last at the end
};
const found = new Map();               // digest -> item of the tab

// --- the server ----------------------------------------------------------------------------------

// What the user is to read; all else that goes wrong is a mistake of ours.
class Refusal extends Error {}

async function call(name, body = {}) {
  const request = {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body)};
  const reply = await fetch('/api/' + name, request).catch(() => {
    throw new Refusal('the review has ended; begin anew with "moilctl label review"');
  });
  if (reply.status === 403) throw new Refusal(await reply.text());
  const answer = await reply.json();
  if (!reply.ok) throw new Refusal(answer.message || 'the review cannot do that');
  return answer;
}

// One after the other, in the order of the keys that asked for them.
let queue = Promise.resolve(), waiting = 0;
function inTurn(work) {
  ++waiting;
  const done = queue.then(work).finally(() => --waiting);
  queue = done.catch(() => {});
  return done;
}

function tell(text) { byId('status').textContent = text; }

// What goes wrong is told, and ends nothing.
function safely(work) {
  return async (...given) => {
    try { return await work(...given); } catch (error) {
      tell(error.message);
      if (!(error instanceof Refusal)) console.error(error);
    }
  };
}

// --- pictures ------------------------------------------------------------------------------------

const pictures = new Map();            // digest -> {src} or {why}, the oldest first
const asked = new Set();
let inFlight = 0, timer = 0, notBefore = 0;

function wantPictures() {
  if (timer) return;
  timer = setTimeout(askForPictures, Math.max(40, notBefore - performance.now()));
}

function askForPictures() {
  timer = 0;
  while (inFlight < IN_FLIGHT) {
    const wanted = [];
    for (const position of shownPositions()) {
      const digest = state.view[position].digest;
      if (!pictures.has(digest) && !asked.has(digest)) wanted.push(digest);
      if (wanted.length === BATCH) break;
    }
    if (wanted.length === 0) return;
    fetchPictures(wanted);
  }
}

async function fetchPictures(digests) {
  ++inFlight;
  digests.forEach((digest) => asked.add(digest));
  try {
    for (const preview of (await call('previews', {digests})).previews) {
      pictures.set(preview.digest, preview.jpeg ? {src: 'data:image/jpeg;base64,' + preview.jpeg}
                                                : {why: preview.error ? preview.error.message : ''});
      if (pictures.size > MOST_PICTURES) pictures.delete(pictures.keys().next().value);
    }
  } catch (error) {
    tell(error.message);
    notBefore = performance.now() + PAUSE;
  }
  digests.forEach((digest) => asked.delete(digest));
  --inFlight;
  draw();
}

// --- the grid ------------------------------------------------------------------------------------

const cells = new Map();               // position -> element
const spare = [];
let columns = 1, width = state.cell, height = state.cell;

function measure() {
  columns = Math.max(2, Math.floor(grid.clientWidth / state.cell));
  width = grid.clientWidth / columns;
  height = width * 0.8 + CAPTION;
  sheet.style.height = Math.ceil(state.view.length / columns) * height + 'px';
}

// What was shown first is so again.
function measureAnew() {
  const first = Math.round(grid.scrollTop / height) * columns;
  measure();
  grid.scrollTop = Math.floor(first / columns) * height;
  redraw();
}

function zoom(factor) {
  state.cell = Math.min(grid.clientWidth / 2, Math.max(LEAST_CELL, state.cell * factor));
  measureAnew();
}

function shownRange() {
  const first = Math.max(0, Math.floor(grid.scrollTop / height) - 1) * columns;
  const rows = Math.ceil(grid.clientHeight / height) + 3;
  return [first, Math.min(state.view.length, first + rows * columns)];
}

function* shownPositions() {
  const [first, end] = shownRange();
  for (let position = first; position < end; ++position) yield position;
}

function newCell() {
  const cell = document.createElement('div'), frame = document.createElement('div');
  const picture = document.createElement('div'), caption = document.createElement('div');
  cell.setAttribute('role', 'option');
  frame.className = 'frame';
  picture.className = 'picture';
  caption.className = 'caption';
  frame.append(picture, caption);
  cell.append(frame);
  sheet.append(cell);
  return cell;
}

function word(tag, text, className = '') {
  const element = document.createElement(tag);
  element.textContent = text;
  element.className = className;
  return element;
}

const percent = (share) => Math.round(100 * share) + '%';

function writeCaption(caption, item) {
  const parts = [item.labels.length ? word('b', item.labels.join(', ')) : word('span', item.name.split('/').pop())];
  if (item.proposals.length && !item.decided) {
    const first = item.proposals[0];
    const mark = (item.labels.length ? ' looks like ' : ' ') + first.label +
        (first.probability === null ? '' : ' ' + percent(first.probability)) + (item.notSure ? '?' : '');
    parts.push(word('span', mark, item.notSure ? 'unsure' : 'proposed'));
  }
  caption.replaceChildren(...parts);
}

function writePicture(place, item) {
  const picture = pictures.get(item.digest);
  if (!picture) return place.replaceChildren();
  if (picture.src === undefined) return place.replaceChildren(picture.why);
  const image = place.firstElementChild || new Image();
  image.alt = item.name;
  if (image.src !== picture.src) image.src = picture.src;
  if (!image.parentNode) place.replaceChildren(image);
}

function write(cell, position) {
  const item = state.view[position], [picture, caption] = cell.firstChild.children;
  const x = position % columns * width, y = Math.floor(position / columns) * height;
  cell.style.transform = `translate(${x}px,${y}px)`;
  cell.style.width = width + 'px';
  cell.style.height = height + 'px';
  cell.id = 'cell-' + position;
  cell.dataset.position = position;
  cell.className = 'cell' + (state.selected.has(item.digest) ? ' selected' : '') +
      (position === state.cursor ? ' cursor' : '') + (item.decided ? ' decided' : '');
  cell.title = item.name;
  cell.setAttribute('aria-posinset', position + 1);
  cell.setAttribute('aria-setsize', state.view.length);
  cell.setAttribute('aria-selected', state.selected.has(item.digest));
  writePicture(picture, item);
  writeCaption(caption, item);
}

let drawing = 0, stale = true;

function drawNow() {
  drawing = 0;
  const [first, end] = shownRange();
  for (const [position, cell] of cells) {
    if (position >= first && position < end) continue;
    cells.delete(position);
    cell.hidden = true;
    cell.removeAttribute('id');
    spare.push(cell);
  }
  for (let position = first; position < end; ++position) {
    let cell = cells.get(position);
    if (!cell) {
      cell = spare.pop() || newCell();
      cell.hidden = false;
      cells.set(position, cell);
      write(cell, position);
    } else if (stale) {
      write(cell, position);
    }
  }
  stale = false;
  grid.setAttribute('aria-activedescendant', state.view.length ? 'cell-' + state.cursor : '');
  wantPictures();
}

function drawWhatCame() {
  if (!drawing) drawing = requestAnimationFrame(drawNow);
}

function draw() {
  stale = true;
  drawWhatCame();
}

function redraw() {
  measure();
  draw();
  tellSelection();
}

// --- order ---------------------------------------------------------------------------------------

const {compare} = new Intl.Collator();
const proposed = (item) => (item.proposals.length ? item.proposals[0].label : '\uffff');
const ORDERS = {
  added: (a, b) => a.place - b.place,
  useful: (a, b) => a.useful - b.useful || a.place - b.place,
  proposal: (a, b) => compare(proposed(a), proposed(b)) ||
      ((b.proposals[0] || {}).probability || 0) - ((a.proposals[0] || {}).probability || 0) || a.place - b.place,
  label: (a, b) => compare(a.labels.join(), b.labels.join()) || a.place - b.place,
};

function arrange() {
  const at = state.view[state.cursor];
  state.view = [...state.items].sort(ORDERS[state.order]);
  state.cursor = Math.max(0, state.view.indexOf(at));
  state.anchor = state.cursor;
  redraw();
}

// --- what is shown -------------------------------------------------------------------------------

function newItem(sample, proposals = []) {
  const item = {digest: sample.digest, name: sample.name || sample.digest, labels: sample.labels,
                proposals, notSure: false, decided: false, place: state.items.length, useful: Infinity};
  state.items.push(item);
  found.set(item.digest, item);
  return item;
}

async function loadSamples(generation, unlabelled) {
  for (let after = 0; after !== null;) {
    const page = await call('samples', {unlabelled, after});
    if (generation !== state.generation) return;
    page.samples.forEach((sample) => newItem(sample));
    after = page.next;
    // Only a list that grows at its end is shown while it grows: each other place would change.
    if (state.order === 'added' || state.items.length <= page.samples.length) arrange();
  }
  arrange();
}

// Asked once: it may take minutes.
let suggestions = null;
function askForSuggestions() {
  suggestions ||= call('proposals').catch((error) => { suggestions = null; throw error; });
  return suggestions;
}

async function loadProposals(generation) {
  if (state.items.length === 0) return;
  tell(summary() + '; the model is asked what they are …');
  const all = (await askForSuggestions()).suggestions;
  if (generation !== state.generation) return;
  all.forEach((said, place) => {
    const item = found.get(said.digest);
    if (!item) return;
    item.proposals = [{label: said.label, probability: said.probability},
                      ...said.others.map((label) => ({label, probability: null}))];
    item.notSure = said.not_sure;
    item.useful = place;
  });
  arrange();
}

async function loadDoubts(generation) {
  tell('the model is asked which labels look wrong …');
  const {doubts} = await call('doubts');
  if (generation !== state.generation) return;
  doubts.forEach((doubt, place) => {
    newItem(doubt, [{label: doubt.looks_like, probability: doubt.probability}]).useful = place;
  });
  arrange();
}

async function loadLabels() {
  const {labels, unlabelled} = await call('labels');
  state.labels = [...state.labels.filter((label) => labels.includes(label)),
                  ...labels.filter((label) => !state.labels.includes(label))];
  byId('unlabelled-count').textContent = unlabelled;
  drawLabels();
}

const EMPTY = {
  unlabelled: 'No sample is unlabelled. More come with "moilctl label add --unlabelled" and "moilctl label watch".',
  doubtful: 'No label looks wrong.',
  labelled: 'No sample has a label yet.',
};

const show = safely(async (tab) => {
  const generation = ++state.generation;
  Object.assign(state, {tab, items: [], view: [], cursor: 0, anchor: 0, order: tab === 'labelled' ? 'label' : 'added'});
  found.clear();
  state.selected.clear();
  byId('order').value = state.order;
  byId('order').options[0].textContent = tab === 'doubtful' ? 'surest first' : 'as added';
  for (const button of byId('tabs').children) button.setAttribute('aria-selected', button.dataset.tab === tab);
  byId('empty').textContent = '';
  grid.scrollTop = 0;
  redraw();
  await loadLabels();
  if (tab === 'doubtful') await loadDoubts(generation);
  else await loadSamples(generation, tab === 'unlabelled');
  if (generation !== state.generation) return;
  if (state.items.length === 0) byId('empty').textContent = EMPTY[tab];
  if (tab === 'unlabelled') await loadProposals(generation);
});

// --- selection -----------------------------------------------------------------------------------

function targets() {
  if (state.selected.size) return state.view.filter((item) => state.selected.has(item.digest));
  return state.view.length ? [state.view[state.cursor]] : [];
}

function summary() {
  const decided = state.items.filter((item) => item.decided).length;
  return `${state.items.length} samples` + (decided ? `, ${decided} decided` : '');
}

function tellSelection() {
  const at = state.view[state.cursor];
  tell(state.selected.size ? `${state.selected.size} of ${state.items.length} selected` :
       at ? summary() + ' · ' + at.name.split('/').slice(-2).join('/') : summary());
  drawProposals();
}

function selectRange(from, to) {
  state.selected.clear();
  for (let i = Math.min(from, to); i <= Math.max(from, to); ++i) state.selected.add(state.view[i].digest);
}

function toggle(position) {
  const digest = state.view[position].digest;
  if (!state.selected.delete(digest)) state.selected.add(digest);
}

function go(position, ranging) {
  if (state.view.length === 0) return;
  state.cursor = Math.min(state.view.length - 1, Math.max(0, position));
  if (ranging) selectRange(state.anchor, state.cursor);
  else state.anchor = state.cursor;
  const top = Math.floor(state.cursor / columns) * height;
  if (top < grid.scrollTop) grid.scrollTop = top;
  if (top + height > grid.scrollTop + grid.clientHeight) grid.scrollTop = top + height - grid.clientHeight;
  draw();
  tellSelection();
}

// --- decisions -----------------------------------------------------------------------------------

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
    state.made = state.made.filter((other) => other !== entry);
    draw();
    throw error;
  }
  if (waiting === 0) await loadLabels();
  draw();
});

function giveLabel(label) {
  const items = targets();
  if (items.length) decide([{items, label}]);
}

// Each its own.
function giveProposal(number) {
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

function keep() {
  const items = targets().filter((item) => item.labels.length && !item.decided);
  if (items.length === 0) return;
  items.forEach((item) => { item.decided = true; });
  state.made.push({items, kept: true});
  goOn(items);
}

const undo = safely(async () => {
  state.selected.clear();
  const entry = state.made.pop();
  let items = entry ? entry.items : [];
  if (entry && entry.kept) {
    items.forEach((item) => { item.decided = false; });
  } else {
    const {changed} = await inTurn(() => call('undo'));
    if (changed.length === 0) return tell('there is nothing to undo');
    take(changed, false);
    if (entry) entry.items.forEach((item, i) => { item.decided = entry.before[i].decided; });
    await loadLabels();
    // One of them may have to be listed again; doubts are not asked for again.
    if (state.tab !== 'doubtful' && changed.some(({digest}) => !found.has(digest))) await show(state.tab);
    items = changed;
  }
  const digests = new Set(items.map(({digest}) => digest));
  const first = state.view.findIndex(({digest}) => digests.has(digest));
  if (state.selected.size === 0) go(first < 0 ? state.cursor : first, false);  // what was selected since is next
  tell(`undone: ${items.length} ${items.length === 1 ? 'sample' : 'samples'}`);
});

const end = safely(async () => {
  await inTurn(() => call('end'));
  document.body.replaceChildren(word('p', 'The review has ended. This page can be closed.', 'over'));
});

// --- labels --------------------------------------------------------------------------------------

const isKey = (label) => label.length === 1 && LABEL_KEYS.includes(label);

// A label that is a digit has its own key; the others have what is left, in their order.
function keyedLabels() {
  const keys = new Map(state.labels.filter(isKey).map((label) => [label, label]));
  const others = state.labels.filter((label) => !isKey(label));
  for (const key of LABEL_KEYS) if (!keys.has(key) && others.length) keys.set(key, others.shift());
  return [...LABEL_KEYS].filter((key) => keys.has(key)).map((key) => [key, keys.get(key)]);
}

// A label that is used has a key from then on.
function giveKey(label) {
  if (label === null || keyedLabels().some(([, keyed]) => keyed === label)) return;
  const digits = state.labels.filter(isKey);
  const others = state.labels.filter((known) => known !== label && !isKey(known));
  others.splice(Math.max(0, Math.min(others.length, LABEL_KEYS.length - digits.length - 1)), 0, label);
  state.labels = [...digits, ...others];
  drawLabels();
}

function chip(key, label, act) {
  const button = document.createElement('button');
  if (key) button.append(word('kbd', key));
  button.append(label);
  button.addEventListener('click', () => { act(); grid.focus({preventScroll: true}); });
  return button;
}

function drawLabels() {
  const keyed = keyedLabels(), names = new Set(keyed.map(([, label]) => label));
  const others = state.labels.filter((label) => !names.has(label)).map((label) => ['', label]);
  byId('labels').replaceChildren(...[...keyed, ...others].slice(0, MOST_CHIPS).map(
    ([key, label]) => chip(key, label, () => giveLabel(label))));
  byId('known').replaceChildren(...state.labels.map((label) => {
    const option = document.createElement('option');
    option.value = label;
    return option;
  }));
}

// Of the one sample that a key would decide.
function drawProposals() {
  const proposals = state.selected.size > 1 ? [] : targets().flatMap((item) => item.proposals);
  byId('proposals').replaceChildren(...proposals.slice(0, 3).map(({label, probability}, i) =>
    chip('asd'[i], label + (probability === null ? '' : ' ' + percent(probability)), () => giveProposal(i))));
}

// --- events --------------------------------------------------------------------------------------

const MOVES = {
  ArrowLeft: () => -1, ArrowRight: () => 1, ArrowUp: () => -columns, ArrowDown: () => columns,
  PageUp: () => -columns * Math.max(1, Math.floor(grid.clientHeight / height)),
  PageDown: () => columns * Math.max(1, Math.floor(grid.clientHeight / height)),
  Home: () => -state.view.length, End: () => state.view.length,
};

const KEYS = {
  ' ': () => { if (state.view.length) { toggle(state.cursor); redraw(); } },
  'Enter': () => input.focus(), '/': () => input.focus(),
  'a': () => giveProposal(0), 's': () => giveProposal(1), 'd': () => giveProposal(2),
  'k': keep, 'u': undo, 'Delete': () => giveLabel(null), 'Backspace': () => giveLabel(null),
  'Escape': () => { state.selected.clear(); redraw(); },
  '+': () => zoom(1.25), '-': () => zoom(0.8),
  '?': () => byId('help').showModal(),
};

function selectAll() {
  if (state.view.length) selectRange(0, state.view.length - 1);
  redraw();
}

function withControl(key) {
  if (key === 'a') selectAll();
  else if (key === 'z') undo();
  else return false;
  return true;
}

function keyPressed(key) {
  const one = keyedLabels().find(([of]) => of === key);
  if (one) giveLabel(one[1]);
  return Boolean(one);
}

function pressed(event) {
  const {key} = event;
  if (event.target.matches('input, select') || byId('help').open || event.altKey) return;
  if (event.target.matches('button') && (key === 'Enter' || key === ' ')) return;
  let used = true;
  if (event.ctrlKey || event.metaKey) used = withControl(key);
  else if (MOVES[key]) go(state.cursor + MOVES[key](), event.shiftKey);
  else if (isKey(key)) used = keyPressed(key);
  else if (KEYS[key]) KEYS[key]();
  else used = false;
  if (used) event.preventDefault();
}

let pointer = '';  // the last one's type; a click does not tell it in every browser

function clicked(event) {
  const cell = event.target.closest('.cell');
  if (!cell) return;
  const position = Number(cell.dataset.position);
  if (event.shiftKey) return go(position, true);
  if (event.ctrlKey || event.metaKey || pointer === 'touch') toggle(position);
  else state.selected.clear();
  go(position, false);
}

document.addEventListener('keydown', pressed);
grid.addEventListener('click', clicked);
grid.addEventListener('pointerdown', (event) => { pointer = event.pointerType; }, {passive: true});
grid.addEventListener('scroll', drawWhatCame, {passive: true});
new ResizeObserver(measureAnew).observe(grid);
byId('tabs').addEventListener('click', (event) => event.target.closest('button') && show(event.target.closest('button').dataset.tab));
byId('order').addEventListener('change', (event) => { state.order = event.target.value; arrange(); grid.focus(); });
byId('form').addEventListener('submit', (event) => {
  event.preventDefault();
  const label = input.value.trim();
  if (label) giveLabel(label);
  input.value = '';
  grid.focus();
});
input.addEventListener('keydown', (event) => { if (event.key === 'Escape') grid.focus(); });
for (const [id, act] of [['undo', undo], ['done', end], ['keys', KEYS['?']], ['accept', () => giveProposal(0)],
                         ['keep', keep], ['none', () => giveLabel(null)], ['all', selectAll], ['clear', KEYS.Escape]])
  byId(id).addEventListener('click', () => act());

history.replaceState(null, '', '/');  // the token has served
grid.focus();
show('unlabelled');
