/**
 * An honest client in a separate process. It requests the height repeatedly, and reports on demand
 * the longest answer time since the last report, and how much of one such time the main thread of
 * the node spent working. Other programs of the machine make the first longer, and not the second.
 */
import { readFileSync } from 'node:fs';

const PAUSE_MS = 5;
const [, , node, pid] = process.argv;
const url = `${node}/blocks/height`;

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

for (;;) {
  askedAt = performance.now();
  spentBefore = spentMs();
  try {
    const answer = await fetch(url);
    await answer.text();
    if (answer.status === 200) served++;
    else failed++;
  } catch {
    failed++;
  }
  ended();
  askedAt = 0;
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
