// The first page: what there is, what is best done next, and how the nights went.

import {modelText, wantOf} from './model.js';
import {call, safely} from './server.js';
import {byId, button, number, percent, several, state, word} from './state.js';

const AGAIN = 3000;                    // milliseconds, while something runs
const SELDOM = 30000;                  // else
let known = null, timer = 0, goTo = () => {};

// What a button of the page leads to: a tab's name.
export function whenAsked(hear) { goTo = hear; }
export const lastKnown = () => known;

export const dayText = (at) => new Date(at).toLocaleString([], {weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit'});
const dateText = (at) => new Date(at).toLocaleDateString([], {day: 'numeric', month: 'short'});

export function nextNight() {
  const nights = known ? known.overview.next_nights.filter(({at}) => at) : [];
  return nights.length ? nights.reduce((first, night) => (night.at < first.at ? night : first)) : null;
}

const quality = (value, night) => (night.is_fraction === false ? String(Math.round(1000 * value) / 1000) : percent(value));

function nightText(night) {
  if (!night) return 'No night has run yet.';
  if (night.state === 'failed') return `It failed: ${night.message}`;
  const took = night.seconds ? ` It took ${durationText(night.seconds)}.` : '';
  if (typeof night.local_after !== 'number') return (night.message || 'It trained.') + took;
  const {local_before: before, local_after: after} = night, metric = night.metric || 'accuracy';
  const change = typeof before === 'number' && quality(before, night) !== quality(after, night)
    ? `went from ${quality(before, night)} to ${quality(after, night)}` : `is ${quality(after, night)}`;
  return `On your own samples, ${metric} ${change}.` + (night.in_service === false ? ' The model before it stays in service.' : '') + took;
}

function durationText(seconds) {
  if (seconds < 100) return several(Math.max(1, Math.round(seconds)), 'second');
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? several(minutes, 'minute') : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// --- what is best done next ---------------------------------------------------------------------

function command(text) {
  const code = word('code', text);
  code.tabIndex = 0;
  return code;
}

function whenLearned() {
  const night = nextNight();
  return night ? `The next night learns it: ${dayText(night.at)}.` : 'No night is planned; "Train now" learns it at once.';
}

function best() {
  const {unlabelled, doubtful, labelled} = state.counts;
  if (unlabelled === null) return {title: 'One moment …', text: ''};
  if (unlabelled + labelled === 0)
    return {title: 'Nothing is here yet', text: 'Photos, sounds or tables come with', code: 'moilctl label add --unlabelled FOLDER'};
  if (unlabelled > 0)
    return {title: `${several(unlabelled, 'sample waits', 'samples wait')} for a label`,
            text: known && known.model ? 'The model says what it takes them for. One key is a decision.' : 'One key is a decision.',
            does: 'Label them', tab: 'unlabelled'};
  if (doubtful)
    return {title: `${several(doubtful, 'label looks', 'labels look')} wrong`,
            text: 'The model takes these samples for something else.', does: 'Look at them', tab: 'doubtful'};
  return {title: 'All is labelled', text: known && known.model ? whenLearned() : '', does: 'Look through the labels', tab: 'labelled'};
}

function drawBest() {
  const {title, text, code, does, tab} = best();
  const parts = [word('h1', title), word('p', text, 'quiet')];
  if (code) parts.push(command(code));
  if (does) parts.push(button(does, () => goTo(tab), 'main'));
  byId('best').replaceChildren(...parts);
}

const FIGURES = [['unlabelled', 'unlabelled'], ['doubtful', 'doubtful'], ['labelled', 'labelled']];

function drawFigures() {
  const figures = FIGURES.map(([tab, text]) => {
    const count = state.counts[tab];
    const figure = button('', () => goTo(tab), 'figure');
    figure.append(word('b', count === null ? '…' : number(count)), word('span', text));
    return figure;
  });
  const labels = word('div', '', 'figure');
  labels.append(word('b', number(state.labels.length)), word('span', state.labels.length === 1 ? 'label' : 'labels'));
  byId('figures').replaceChildren(...figures, labels);
  byId('home-model').textContent = modelText();
}

// --- accuracy over nights -----------------------------------------------------------------------

const BOX = {wide: 560, high: 180, left: 44, right: 16, top: 16, bottom: 28};

function shape(kind, attributes, text = '') {
  const element = document.createElementNS(byId('chart').namespaceURI, kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = text;
  return element;
}

// Before the first night, and after each: of the model in service then.
function pointsOf(nights) {
  const first = nights[0];
  const points = nights.map((night) => ({value: night.local, night}));
  if (typeof first.before === 'number') points.unshift({value: first.before, night: null});
  return points;
}

function scaleOf(points, isFraction) {
  const values = points.map(({value}) => value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (!isFraction) return [least - (most - least || 1) * 0.1, most + (most - least || 1) * 0.1];
  return [Math.max(0, Math.floor((least - 0.02) * 10) / 10), Math.min(1, Math.max(Math.ceil((most + 0.001) * 10) / 10, 0.1))];
}

function drawChart() {
  const nights = known ? known.nights.filter(({local}) => typeof local === 'number') : [], chart = byId('chart');
  byId('chart-card').hidden = nights.length === 0;
  if (nights.length === 0) return;
  const points = pointsOf(nights), isFraction = nights[0].is_fraction, [low, high] = scaleOf(points, isFraction);
  const x = (i) => BOX.left + (points.length === 1 ? 0.5 : i / (points.length - 1)) * (BOX.wide - BOX.left - BOX.right);
  const y = (value) => BOX.top + (high - value) / (high - low || 1) * (BOX.high - BOX.top - BOX.bottom);
  const lines = [low, (low + high) / 2, high].flatMap((value) => [
    shape('line', {x1: BOX.left, x2: BOX.wide - BOX.right, y1: y(value), y2: y(value), class: 'rule'}),
    shape('text', {x: BOX.left - 8, y: y(value) + 4, class: 'tick end'}, quality(value, nights[0]))]);
  const line = shape('polyline', {class: 'curve', points: points.map(({value}, i) => `${x(i)},${y(value)}`).join(' ')});
  const dots = points.map(({value, night}, i) => {
    const dot = shape('circle', {cx: x(i), cy: y(value), r: i === points.length - 1 ? 5 : 3.5, class: 'dot'});
    dot.append(shape('title', {}, night ? `${dateText(night.at)}: ${quality(value, night)}${night.kept_back ? ', kept back' : ''}` : `before: ${quality(value, nights[0])}`));
    return dot;
  });
  const last = nights[nights.length - 1];
  const dates = [shape('text', {x: BOX.left, y: BOX.high - 6, class: 'tick'}, typeof nights[0].before === 'number' ? 'before' : dateText(nights[0].at)),
                 shape('text', {x: BOX.wide - BOX.right, y: BOX.high - 6, class: 'tick end'}, dateText(last.at))];
  chart.replaceChildren(...lines, line, ...dots, ...dates);
  byId('chart-now').textContent = quality(last.local, last);
  byId('chart-text').textContent = `${last.metric} of the model in service on your own samples that no night was trained on, ` + (nights.length === 1 ? 'over one night' : `over ${nights.length} nights`);
  chart.setAttribute('aria-label', points.map(({value}) => quality(value, nights[0])).join(', '));
}

// --- train now ----------------------------------------------------------------------------------

const MAY_OPERATE = ['operate', 'admin'];
let refusal = '', submitted = false;

const train = safely(async () => {
  submitted = true;
  refusal = '';
  drawTraining();
  try {
    await call('learn');
  } catch (error) {
    refusal = error.message.replace(/^.* is wrong: \/\S*: /, '');  // what was asked is not the reader's matter
  }
  submitted = false;
  await look();
});

function trainingText() {
  const {running, waiting_count: waiting} = known.overview;
  if (refusal) return refusal;
  if (submitted) return 'It is handed over …';
  if (running) {
    const {stage, done, total, seconds_left: left} = running;
    const share = total ? ` ${percent(done / total)}` : '';
    return `Training: ${stage || 'beginning'}${share}` + (left ? `, ${durationText(left)} left` : '');
  }
  if (waiting) return `${several(waiting, 'job waits', 'jobs wait')}.`;
  if (!known.model) return known.why_no_model;
  const night = nextNight();
  return night ? `The next night: ${dayText(night.at)}.` : 'No night is planned: "moilctl schedule add" makes one.';
}

function drawTraining() {
  if (!known) return;
  const may = MAY_OPERATE.includes(known.role), {running} = known.overview;
  byId('train-text').textContent = trainingText();
  byId('train').hidden = !may || !known.model;
  byId('train').disabled = Boolean(running) || submitted;
  const bar = byId('train-bar');
  bar.hidden = !running;
  bar.firstElementChild.style.transform = `scaleX(${running && running.total ? running.done / running.total : 0})`;
}

function drawNight() {
  if (!known) return;
  byId('night').textContent = nightText(known.overview.last_night);
  const news = known.overview.attention;
  byId('attention').hidden = news.length === 0;
  byId('attention').replaceChildren(...news.map((sentence) => word('p', sentence)));
  byId('ask').hidden = !known.model;
}

export function drawHome() {
  if (byId('home').hidden) return;
  drawBest();
  drawFigures();
  drawNight();
  drawChart();
  drawTraining();
}

// Again and again while the page is seen.
export const look = safely(async () => {
  clearTimeout(timer);
  known = await call('home');
  if (state.over) return;
  drawHome();
  if (known.model && state.counts.unlabelled + state.counts.labelled > 0) {
    if (state.counts.unlabelled) wantOf('proposals');
    if (state.counts.labelled) wantOf('doubts');
  }
  if (!state.counts.labelled || !known.model) state.counts.doubtful ??= 0;
  timer = setTimeout(() => { if (!byId('home').hidden && !document.hidden) look(); }, known.overview.running || known.overview.waiting_count ? AGAIN : SELDOM);
});

byId('train').addEventListener('click', train);
document.addEventListener('visibilitychange', () => { if (!document.hidden && !byId('home').hidden) look(); });
