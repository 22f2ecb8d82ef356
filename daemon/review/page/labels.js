// Labels and proposals that a key or a click gives. A button's value is the label, or the proposal's number.

import {targets} from './selection.js';
import {byId, percent, state, word} from './state.js';

const LABEL_KEYS = '1234567890', MOST_CHIPS = 40;

// Of none of the other labels: a sample's only one.
export const SOMETHING_ELSE = 'something else';

// What a sample is not: never a choice for others.
export const denialOf = (label) => '!' + label;
export const isDenial = (label) => label.startsWith('!');
export const spokenLabel = (label) => (isDenial(label) ? 'not ' + label.slice(1) : label);

const isChoice = (label) => label !== SOMETHING_ELSE && !isDenial(label);
export const isNew = (label) => !state.labels.includes(label) && isChoice(label);
// New labels that were confirmed, also beside one that differs in case alone.
export const confirmed = new Set();
export const isKey = (label) => label.length === 1 && LABEL_KEYS.includes(label);

// A label that is a digit has its own key; the others have what is left, in their order.
export function keyedLabels() {
  const keys = new Map(state.labels.filter(isKey).map((label) => [label, label]));
  const others = state.labels.filter((label) => !isKey(label) && label !== SOMETHING_ELSE);
  for (const key of LABEL_KEYS) if (!keys.has(key) && others.length) keys.set(key, others.shift());
  return [...LABEL_KEYS].filter((key) => keys.has(key)).map((key) => [key, keys.get(key)]);
}

// A label that is used has a key from then on.
export function giveKey(label) {
  if (!isChoice(label) || keyedLabels().some(([, keyed]) => keyed === label)) return;
  const digits = state.labels.filter(isKey);
  const others = state.labels.filter((known) => known !== label && !isKey(known));
  others.splice(Math.max(0, Math.min(others.length, LABEL_KEYS.length - digits.length - 1)), 0, label);
  state.labels = [...digits, ...others];
  drawLabels();
}

function chip({key, text, value}) {
  const button = document.createElement('button');
  if (key) button.append(word('kbd', key));
  button.append(text);
  button.value = value;
  return button;
}

// What is there stays: a button that is replaced between press and release of a mouse gets no click.
function showChips(place, chips) {
  const shown = JSON.stringify(chips);
  if (place.dataset.shown === shown) return;
  place.dataset.shown = shown;
  place.replaceChildren(...chips.map(chip));
}

export function drawLabels() {
  const keyed = [...keyedLabels(), ['n', SOMETHING_ELSE]], names = new Set(keyed.map(([, label]) => label));
  const others = state.labels.filter((label) => !names.has(label)).map((label) => ['', label]);
  showChips(byId('labels'), [...keyed, ...others].slice(0, MOST_CHIPS).map(
    ([key, label]) => ({key, text: label, value: label})));
  byId('known').replaceChildren(...state.labels.map((label) => {
    const option = document.createElement('option');
    option.value = label;
    return option;
  }));
}

// Draws those of the one sample that a key would decide.
export function drawProposals() {
  const proposals = state.selected.size > 1 ? [] : targets().flatMap((item) => item.proposals);
  showChips(byId('proposals'), proposals.slice(0, 3).map(({label, probability}, i) => ({
    key: 'asd'[i],
    text: label + (probability === null ? '' : ' ' + percent(probability)),
    value: i,
  })));
}
