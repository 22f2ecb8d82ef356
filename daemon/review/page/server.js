// The server's calls.

import {state, tell} from './state.js';

// What the user is to read; all else that goes wrong is a mistake of ours.
export class Refusal extends Error {}

// What shows that a request is this page's. In its memory alone: a cookie would go to every server of
// this machine.
let secret = '';
const leaving = new AbortController();

// The address holds what is exchanged for it, once; and then what loads the page once more.
export async function enter() {
  const opened = await call('open', {token: location.hash.slice(1)}).catch((error) => {
    history.replaceState(null, '', '/');
    throw error;
  });
  secret = opened.secret;
  history.replaceState(null, '', '/#' + opened.token);
}

async function send(name, body, type, signal) {
  const headers = {'Content-Type': type, 'Moil-Review': secret};
  const reply = await fetch('/api/' + name, {method: 'POST', headers, body, signal}).catch((error) => {
    if (error.name === 'AbortError') throw error;
    throw new Refusal('the review has ended; begin anew with "moilctl label review"');
  });
  if (reply.status === 403) throw new Refusal(await reply.text());
  return reply;
}

async function answerOf(reply) {
  if (reply.status === 413) throw new Refusal(await reply.text());
  const answer = await reply.json();
  if (!reply.ok) throw new Refusal(answer.message || 'the review cannot do that');
  return answer;
}

// What is asked last is not given up with the rest.
export const call = async (name, body = {}, signal = leaving.signal) =>
  answerOf(await send(name, JSON.stringify(body), 'application/json', signal));
export const upload = async (name, file) =>
  answerOf(await send(name, file, 'application/octet-stream', leaving.signal));

// Gives up all that is asked.
export function leave() { leaving.abort(); }

// `tell` gets what is known so far; the result, when it is there. Who aborts it is not told further.
export async function stream(name, told, signal) {
  const reply = await send(name, '{}', 'application/json', AbortSignal.any([signal, leaving.signal]));
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) throw new Refusal('the answer broke off');
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const known = JSON.parse(line);
      if (known.message !== undefined) throw new Refusal(known.message);
      if (known.result !== undefined) return known.result;
      told(known);
    }
  }
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
      if (state.over || error.name === 'AbortError') return;  // what was asked last has no answer
      tell(error.message);
      if (!(error instanceof Refusal)) console.error(error);
    }
  };
}

export const isIdle = () => waiting === 0;
