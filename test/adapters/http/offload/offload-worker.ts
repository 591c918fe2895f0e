// A thread of the tests of the server that does its part of a route.
import { existsSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { parentPort, threadId, workerData } from 'node:worker_threads';
import { serveOffload } from '../../../../src/adapters/http/offload/offload-thread.ts';
import type { HttpReply, Prepared } from '../../../../src/base/ports/http.ts';
import { busyUntil } from '../busy-until.ts';

const text = (status: number, body: string): HttpReply => ({ status, type: 'text/plain', body });
const BUSY_UNTIL = 'be busy until ';

/** A folder: the first thread that starts with it leaves a file, later ones wait for another. */
const folder = workerData as string | undefined;
if (folder !== undefined) {
  const first = join(folder, 'first');
  if (existsSync(first)) busyUntil(join(folder, 'later'));
  else writeFileSync(first, '');
}

/** Messages that have come. */
let batches = 0;
parentPort!.on('message', () => batches++);

serveOffload(parentPort!, (bodies) => bodies.map(done));

function done(body: Uint8Array): Prepared | HttpReply | undefined {
  const asked = Buffer.from(body).toString();
  if (asked === 'die ahead') throw new Error('unexpected');
  if (asked.startsWith(BUSY_UNTIL)) busyUntil(asked.slice(BUSY_UNTIL.length));
  if (asked === 'pass on') return undefined;
  if (asked === 'priority') return text(200, String(getPriority()));
  if (asked.startsWith('batch')) {
    return { message: Uint8Array.of(), reply: () => text(200, `${threadId}, ${batches}`) };
  }
  if (asked === 'refuse') return text(400, 'refused by the thread');
  return { message: Uint8Array.from(body), reply: () => text(200, `own answer to ${asked}`) };
}
