// Small pictures of samples: those that are on the screen are asked for, some at a time.

import {call} from './server.js';
import {state, tell} from './state.js';

const BATCH = 24, FIRST_BATCH = 8, IN_FLIGHT = 2;  // pictures of one request, requests at once
const PAUSE = 3000;                    // milliseconds, after a request that failed
const MOST = 1000, MOST_LARGE = 8;     // that are kept

export const pictures = new Map();     // digest -> {src} or {why}, the oldest first
const asked = new Set();
let inFlight = 0, timer = 0, notBefore = 0;
let shown = () => [], cameSome = () => {};

// `positions` gives those on the screen, `came` hears when there are new pictures.
export function picturesFor(positions, came) {
  shown = positions;
  cameSome = came;
}

export function wantPictures() {
  if (timer) return;
  timer = setTimeout(askForPictures, pictures.size ? Math.max(40, notBefore - performance.now()) : 0);
}

function askForPictures() {
  timer = 0;
  while (inFlight < IN_FLIGHT) {
    const wanted = [], most = pictures.size ? BATCH : FIRST_BATCH;
    for (const position of shown()) {
      const digest = state.view[position].digest;
      if (!pictures.has(digest) && !asked.has(digest)) wanted.push(digest);
      if (wanted.length === most) break;
    }
    if (wanted.length === 0) return;
    fetchPictures(wanted);
  }
}

const pictureOf = (preview) => (preview.jpeg ? {src: 'data:image/jpeg;base64,' + preview.jpeg, seconds: preview.seconds}
                                             : {why: preview.error ? preview.error.message : ''});

function keep(map, most, digest, value) {
  map.set(digest, value);
  if (map.size > most) map.delete(map.keys().next().value);
}

async function fetchPictures(digests) {
  ++inFlight;
  digests.forEach((digest) => asked.add(digest));
  try {
    for (const preview of (await call('previews', {digests})).previews) keep(pictures, MOST, preview.digest, pictureOf(preview));
  } catch (error) {
    if (error.name !== 'AbortError') tell(error.message);
    notBefore = performance.now() + PAUSE;
  }
  digests.forEach((digest) => asked.delete(digest));
  --inFlight;
  cameSome();
}

// One for the whole window; it is asked for once.
const large = new Map();

export function largePicture(digest) {
  if (!large.has(digest)) {
    const wanted = call('large', {digest}).then(({previews}) => pictureOf(previews[0]));
    wanted.catch(() => large.delete(digest));
    keep(large, MOST_LARGE, digest, wanted);
  }
  return large.get(digest);
}
