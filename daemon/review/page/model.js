// What the model says of samples. It is asked one thing at a time, in the background; what is on the
// screen comes first. What it has said is kept while the page is open.

import {Refusal, stream} from './server.js';
import {state} from './state.js';
import {countSamples} from './tabs.js';

export const said = new Map();         // digest -> what it proposes
export const model = {
  doubts: null,                        // null: not known
  answered: new Set(),                 // of 'proposals', 'doubts'
  failed: {},                          // what went wrong, by what was asked
  asking: '', done: 0, total: 0, stage: '',
};
const settled = new Set();             // doubts that were decided here
let hears = () => {}, under = null;

// Hears of everything that is new.
export function whenModelSpeaks(hear) { hears = hear; }

function take(suggestions) {
  for (const one of suggestions) said.set(one.digest, {...said.get(one.digest), ...one});
}

const ASK = {
  async proposals(signal) {
    const result = await stream('proposals', (known) => {
      if (known.suggestions) take(known.suggestions);
      else Object.assign(model, known);
      hears();
    }, signal);
    state.tags = result.tags;
    take(result.suggestions);
    result.suggestions.forEach((one, place) => { said.get(one.digest).place = place; });
  },
  async doubts(signal) {
    const result = await stream('doubts', (known) => { Object.assign(model, known); hears(); }, signal);
    model.doubts = result.doubts;
    settled.clear();
    countDoubts();
  },
};

export function countDoubts() {
  const left = model.doubts && model.doubts.filter(({digest}) => !settled.has(digest)).length;
  countSamples({doubtful: left});
}

export function settle(digests, isSettled) {
  digests.forEach((digest) => (isSettled ? settled.add(digest) : settled.delete(digest)));
  countDoubts();
}

async function ask(what) {
  const stop = new AbortController();
  Object.assign(model, {asking: what, done: 0, total: 0, stage: ''});
  delete model.failed[what];
  const done = ASK[what](stop.signal);
  under = {stop, done};
  try {
    await done;
    model.answered.add(what);
  } catch (error) {
    if (error.name === 'AbortError') return;
    model.failed[what] = error.message;
    if (what === 'doubts' && model.doubts === null) model.doubts = [], countDoubts();
    if (!(error instanceof Refusal)) console.error(error);
  } finally {
    if (under && under.stop === stop) Object.assign(model, {asking: ''}), under = null;
    hears();
  }
}

// What was begun goes on afterwards: what was found out of it is in moild's cache.
let queue = [], goingOn = false;

async function goOn() {
  if (goingOn) return;
  goingOn = true;
  while (queue.length && !state.over) {
    const next = queue[0];
    await ask(next);
    if (queue[0] === next && (model.answered.has(next) || model.failed[next])) queue.shift();
  }
  goingOn = false;
}

export function wantOf(what, {first = false, anew = false} = {}) {
  if (anew && model.asking !== what) model.answered.delete(what);
  if (model.answered.has(what)) return;
  if (first && queue[0] !== what) {
    queue = [what, ...queue.filter((other) => other !== what)];
    if (under) under.stop.abort();
  } else if (!queue.includes(what)) {
    queue.push(what);
  }
  goOn();
}

// What labels others have now is no longer what the doubts were of.
export function labelsChanged() { model.answered.delete('doubts'); }

export function modelText() {
  if (!model.asking) return '';
  const what = model.asking === 'doubts' ? 'Looking for doubtful labels' : 'Asking the model';
  if (model.stage === 'measure') return `${what}: measuring this device, once …`;
  return model.total ? `${what}: ${model.done.toLocaleString('en')} of ${model.total.toLocaleString('en')}` : what + ' …';
}
