// A fault of the disk under the turns of the miner, as health, metrics and log show it.
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { httpListener } from '../../src/adapters/http/listener.ts';
import { openJournal } from '../../src/adapters/journal.ts';
import { processReadings } from '../../src/adapters/process-readings.ts';
import { servePrometheus } from '../../src/adapters/prometheus.ts';
import type { Journal } from '../../src/base/ports/journal.ts';
import { breakFile, breaksFiles } from '../adapters/broken-file.ts';
import { temporaryFolder } from '../system/e2e/dev-node.ts';
import { ROUND_MS, wholeNode } from './in-process.ts';

const STEP_MS = 100;

/** A node with a journal in a file, which `around` may change. */
async function nodeWithTurns(t: Test, around = (journal: Journal): Journal => journal) {
  const { port, metrics, close } = await servePrometheus({ host: '127.0.0.1', port: 0 });
  t.teardown(close);
  const path = join(temporaryFolder(t), 'turns.journal');
  const file = openJournal({ path });
  t.teardown(file.close);
  const telemetry = { metrics, process: processReadings() };
  const whole = await wholeNode(t, {
    http: httpListener,
    around: (ports) => ({ ...ports, telemetry, turns: around(file) }),
  });
  const health = async (kind: 'live' | 'ready') => {
    const answer = await fetch(`http://127.0.0.1:${whole.node.rest!.port}/health/${kind}`);
    const { reasons } = (await answer.json()) as { reasons: { code: string; message: string }[] };
    return { status: answer.status, reasons };
  };
  const scraped = async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return {
      healthy: /^node_healthy (\d)$/m.exec(text)?.[1],
      miner: /^node_miner_state\{state="([a-z-]+)"\} 1$/m.exec(text)?.[1],
    };
  };
  const height = (): number => whole.node.blockchain.tip().height;
  /** Lets rounds pass until something holds. The disk needs time that the clock of the node does not know. */
  async function until(holds: () => boolean): Promise<void> {
    while (!holds()) await whole.clock.advance(STEP_MS);
    await whole.node.blockchain.idle();
  }
  return { whole, path, health, scraped, height, until };
}

t.test(
  'a journal out of use stops the miner, and everybody hears of it',
  {
    skip: !breaksFiles && 'only Linux names the open files',
  },
  async (t) => {
    const { whole, path, health, scraped, height, until } = await nodeWithTurns(t);
    await until(() => height() === 2);
    t.strictSame(await health('live'), { status: 200, reasons: [] });
    t.equal((await scraped()).healthy, '1');

    breakFile(path);
    await until(() => whole.log.of('miner.no-journal').length > 0);
    // A block whose turn was noted before may have come meanwhile.
    const stopped = height();
    await whole.clock.advance(3 * ROUND_MS);
    t.equal(height(), stopped);
    t.strictSame(await scraped(), { healthy: '0', miner: 'no-journal' });
    for (const kind of ['live', 'ready'] as const) {
      const { status, reasons } = await health(kind);
      t.equal(status, 503, kind);
      t.match(reasons, [
        { code: 'miner-journal', message: /turns of the miner.*restart.*out of use/ },
      ]);
    }
    t.equal(whole.log.of('miner.note-failed').length, 1, 'it is not tried again in vain');
    t.equal(whole.log.of('miner.no-journal').length, 1);
  },
);

t.test('a journal without room is tried again', async (t) => {
  let isFull = false;
  const { whole, health, scraped, height, until } = await nodeWithTurns(t, (journal) => ({
    ...journal,
    append: (record, isNeeded) =>
      isFull ? Promise.reject(new Error('ENOSPC')) : journal.append(record, isNeeded),
  }));
  isFull = true;
  await until(() => whole.log.of('miner.failed').length > 0);
  t.equal(height(), 1);
  t.match(await health('live'), { status: 200 }, 'a restart would not help');
  t.equal((await scraped()).healthy, '1');
  isFull = false;
  await until(() => height() === 2);
  t.strictSame(await health('live'), { status: 200, reasons: [] });
  t.equal((await scraped()).healthy, '1');
});
