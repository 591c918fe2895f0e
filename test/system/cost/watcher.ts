/**
 * An honest client in a separate process. It requests the height repeatedly, and reports on demand
 * the longest answer time since the last report, and how much of one such time the main thread of
 * the node spent working. Other programs of the machine make the first longer, and not the second.
 */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';

const PAUSE_MS = 5;
const [, , node, pid] = process.argv;
const { hostname, port, host } = new URL(node!);
const ANSWER = /^HTTP\/1\.1 (\d+) .*?\r\ncontent-length: (\d+)\r\n(?:.*?\r\n)?\r\n/is;
const REQUEST = `GET /blocks/height HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

/** Milliseconds for which the main thread of the node has had a processor. */
function spentMs(): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return Number.NaN;
  }
}

let longestMs = 0;
let heldMs = 0;
let served = 0;
let failed = 0;
let askedAt = 0;
let spentBefore = 0;

/** Where the system does not tell what a thread has spent, all the time counts. */
function ended(): void {
  const passedMs = performance.now() - askedAt;
  const workedMs = spentMs() - spentBefore;
  longestMs = Math.max(longestMs, passedMs);
  heldMs = Math.max(heldMs, Number.isNaN(workedMs) ? passedMs : Math.min(passedMs, workedMs));
}

process.on('message', () => {
  // A request that is still out counts as long as it has taken so far.
  if (askedAt !== 0) ended();
  process.send?.({ longestMs, heldMs, served, failed });
  longestMs = 0;
  heldMs = 0;
  served = 0;
  failed = 0;
});

/** The connection that is kept for the next request, and what waits for its answer. */
let kept: Socket | undefined;
let waiting:
  | { readonly resolve: (status: number) => void; readonly reject: () => void }
  | undefined;

function connected(): Socket {
  let text = '';
  const socket = connect(Number(port), hostname).setNoDelay(true).setEncoding('latin1');
  socket.on('data', (piece) => {
    text += piece;
    const [head, status, length] = ANSWER.exec(text) ?? [];
    if (head === undefined || text.length < head.length + Number(length)) return;
    text = '';
    waiting?.resolve(Number(status));
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    if (kept !== socket) return;
    kept = undefined;
    waiting?.reject();
  });
  return socket;
}

/** Status of an answer that is there as a whole. There are thousands, and `fetch` works longer for each. */
function answer(): Promise<number> {
  return new Promise((resolve, reject) => {
    waiting = { resolve, reject };
    kept ??= connected();
    kept.write(REQUEST);
  });
}

for (;;) {
  askedAt = performance.now();
  spentBefore = spentMs();
  try {
    if ((await answer()) === 200) served++;
    else failed++;
  } catch {
    failed++;
  }
  waiting = undefined;
  ended();
  askedAt = 0;
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
