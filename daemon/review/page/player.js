// Sounds are listened to, one at a time.

import {pictures} from './pictures.js';
import {byId, tell} from './state.js';

const player = byId('player');
let digest = '';

export const isSound = (item) => Boolean((pictures.get(item.digest) || {}).seconds);

export const seconds = (item) => {
  const all = pictures.get(item.digest).seconds;
  return all < 10 ? all.toFixed(1) + ' s' : Math.round(all) + ' s';
};

// The same once more: it stops, or goes on.
export function listen(item) {
  if (!isSound(item)) return tell('it is no sound');
  player.hidden = false;
  if (digest === item.digest && !player.paused) return player.pause();
  if (digest !== item.digest) player.src = '/sound?digest=' + item.digest;
  digest = item.digest;
  player.play().catch((error) => { if (error.name !== 'AbortError') tell('the browser does not play it: ' + error.message); });
}
