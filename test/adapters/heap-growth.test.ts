// A process with the limit collects its old generation earlier than one without.
import { spawnSync } from 'node:child_process';
import t from 'tap';
import { growthPercent } from '../../src/adapters/heap-growth.ts';

const MODULE = new URL('../../src/adapters/heap-growth.ts', import.meta.url).href;

/** Objects that live for a while, as those of transactions do until their block is written. */
const PROGRAM = `
  const queue = new Array(200_000);
  let most = 0;
  for (let i = 0; i < 4_000_000; i++) {
    queue[i % queue.length] = { text: 'entry ' + i, list: [i, i, i, i] };
    if (i % 10_000 !== 0) continue;
    // The limit takes effect after the first collections.
    if (i > 2_000_000) most = Math.max(most, process.memoryUsage().heapUsed);
    await new Promise((resolve) => setImmediate(resolve));
  }
  console.log(most);
`;

function mostUsed(before: string): number {
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e'];
  const { stdout, stderr } = spawnSync(process.execPath, [...args, before + PROGRAM]);
  const most = Number(String(stdout));
  if (!(most > 0)) throw new Error(String(stderr));
  return most;
}

t.test('garbage is collected earlier', async (t) => {
  const limited = mostUsed(`(await import('${MODULE}')).limitHeapGrowth();`);
  const usual = mostUsed('');
  t.ok(limited < 0.9 * usual, `${limited} and ${usual} bytes at most`);
});

t.test('a large heap grows by a smaller share', async (t) => {
  const mib = 1024 * 1024;
  t.equal(growthPercent(20 * mib), 150);
  t.equal(growthPercent(64 * mib), 75, 'by 48 MiB');
  t.equal(growthPercent(1000 * mib), 40);
});
