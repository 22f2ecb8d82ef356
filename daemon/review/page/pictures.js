// Small pictures of samples: those that are on the screen are asked for, some at a time.

import {call} from './server.js';
import {state, tell} from './state.js';

const BATCH = 24, IN_FLIGHT = 2;       // pictures of one request, requests at once
const PAUSE = 3000;                    // milliseconds, after a request that failed
const MOST = 1500;                     // that are kept

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
  timer = setTimeout(askForPictures, Math.max(40, notBefore - performance.now()));
}

function askForPictures() {
  timer = 0;
  while (inFlight < IN_FLIGHT) {
    const wanted = [];
    for (const position of shown()) {
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
      pictures.set(preview.digest, preview.jpeg ? {src: 'data:image/jpeg;base64,' + preview.jpeg, seconds: preview.seconds}
                                                : {why: preview.error ? preview.error.message : ''});
      if (pictures.size > MOST) pictures.delete(pictures.keys().next().value);
    }
  } catch (error) {
    tell(error.message);
    notBefore = performance.now() + PAUSE;
  }
  digests.forEach((digest) => asked.delete(digest));
  --inFlight;
  cameSome();
}
