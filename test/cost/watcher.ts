/**
 * An honest client in a separate process. It requests the height repeatedly, and reports on demand
 * the longest answer time since the last report.
 */
const PAUSE_MS = 5;
const url = `${process.argv[2]}/blocks/height`;

let longestMs = 0;
let served = 0;
let failed = 0;
let askedAt = 0;

process.on('message', () => {
  // A request that is still out counts as long as it has taken so far.
  const pendingMs = askedAt === 0 ? 0 : performance.now() - askedAt;
  process.send?.({ longestMs: Math.max(longestMs, pendingMs), served, failed });
  longestMs = 0;
  served = 0;
  failed = 0;
});

for (;;) {
  askedAt = performance.now();
  try {
    const answer = await fetch(url);
    await answer.text();
    if (answer.status === 200) served++;
    else failed++;
  } catch {
    failed++;
  }
  longestMs = Math.max(longestMs, performance.now() - askedAt);
  askedAt = 0;
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
