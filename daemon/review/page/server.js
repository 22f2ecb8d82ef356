// The server's calls.

import {state, tell} from './state.js';

// What the user is to read; all else that goes wrong is a mistake of ours.
class Refusal extends Error {}

// What shows that a request is this page's. In its memory alone: a cookie would go to every server of
// this machine.
let secret = '';

// The address holds what is exchanged for it, once; and then what loads the page once more.
export async function enter() {
  const opened = await call('open', {token: location.hash.slice(1)}).catch((error) => {
    history.replaceState(null, '', '/');
    throw error;
  });
  secret = opened.secret;
  history.replaceState(null, '', '/#' + opened.token);
}

export async function call(name, body = {}) {
  const headers = {'Content-Type': 'application/json', 'Moil-Review': secret};
  const request = {method: 'POST', headers, body: JSON.stringify(body)};
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

export function inTurn(work) {
  ++waiting;
  const done = queue.then(work).finally(() => --waiting);
  queue = done.catch(() => {});
  return done;
}

// What goes wrong is told, and ends nothing.
export function safely(work) {
  return async (...given) => {
    try { return await work(...given); } catch (error) {
      if (state.over) return;  // what was asked last has no answer
      tell(error.message);
      if (!(error instanceof Refusal)) console.error(error);
    }
  };
}

export const isIdle = () => waiting === 0;
