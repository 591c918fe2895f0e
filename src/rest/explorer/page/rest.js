/** The REST API of the node that serves this page, or for which a data service serves it. */
import { parse } from './json.js';

const ROOT = new URL(document.body.dataset.node ?? '.', new URL('../', import.meta.url));

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export const path = (strings, ...values) =>
  String.raw({ raw: strings }, ...values.map((value) => encodeURIComponent(value)));

async function request(where, init) {
  let response;
  try {
    response = await fetch(new URL(where, ROOT), init);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Refused(0, 'The node does not answer.');
  }
  const text = await response.text();
  let body;
  try {
    body = parse(text);
  } catch {
    throw new Refused(response.status, `The node gave an unreadable answer (${response.status}).`);
  }
  if (response.ok && body?.status !== 'error') return body;
  const missing = body?.status === 'error';
  throw new Refused(
    missing ? 404 : response.status,
    body?.message ?? body?.details ?? `The node answered ${response.status}.`,
  );
}

export const get = (where, signal) => request(where, { signal });

export const post = (where, body, signal) =>
  request(where, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });

/** The answer, or `otherwise` where the node refuses. An unreachable node is still an error. */
export async function maybe(promise, otherwise) {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof Refused && error.status !== 0) return otherwise;
    throw error;
  }
}

const kept = new Map();
const KEPT_MAX = 500;

/** Data that never change, or not while a page is open. */
function keep(key, ask) {
  if (kept.has(key)) return kept.get(key);
  if (kept.size >= KEPT_MAX) kept.clear();
  const answer = ask().catch((error) => {
    kept.delete(key);
    throw error;
  });
  kept.set(key, answer);
  return answer;
}

export const config = () => keep('config', () => get('node/config'));

/** Name and decimals of an asset; undefined where it is unknown. */
export const asset = (id) =>
  keep(`asset ${id}`, () => maybe(get(path`assets/details/${id}`), undefined));
