// The server's calls.

import {tell} from './state.js';

// What the user is to read; all else that goes wrong is a mistake of ours.
class Refusal extends Error {}

export async function call(name, body = {}) {
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
      tell(error.message);
      if (!(error instanceof Refusal)) console.error(error);
    }
  };
}

export const isIdle = () => waiting === 0;
