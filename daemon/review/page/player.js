// Sounds are listened to, one at a time.

import {pictures} from './pictures.js';
import {call, safely} from './server.js';
import {byId, tell} from './state.js';

const LEAST_LIFE = 60000;              // milliseconds; an address that fails sooner is not too old

const player = byId('player');
let digest = '', loaded = 0;

// A player asks by an address alone, so each has its own, for a while.
async function load(wanted) {
  digest = wanted;
  const {address} = await call('sound', {digest: wanted});
  if (digest !== wanted) return false;  // another one is wanted by now
  player.src = address;
  loaded = performance.now();
  return true;
}

function play() {
  return player.play().catch((error) => {
    if (error.name !== 'AbortError') tell('the browser does not play it: ' + error.message);
  });
}

player.addEventListener('error', safely(async () => {
  if (!loaded || performance.now() - loaded < LEAST_LIFE) return;
  const at = player.currentTime;
  if (!await load(digest)) return;
  player.currentTime = at;
  await play();
}));

export const isSound = (item) => Boolean((pictures.get(item.digest) || {}).seconds);

export const seconds = (item) => {
  const all = pictures.get(item.digest).seconds;
  return all < 10 ? all.toFixed(1) + ' s' : Math.round(all) + ' s';
};

// The same once more: it stops, or goes on.
export const listen = safely(async (item) => {
  if (!isSound(item)) return tell('it is no sound');
  player.hidden = false;
  if (digest === item.digest && !player.paused) return player.pause();
  if (digest !== item.digest && !await load(item.digest)) return;
  await play();
});
