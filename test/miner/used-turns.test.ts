// The turns that a miner has used are on disk before it signs, and are known after its next start.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openJournal } from '../../src/adapters/journal.ts';
import { ApiError } from '../../src/base/errors.ts';
import type { Journal } from '../../src/base/ports.ts';
import { createUsedTurns } from '../../src/miner/used-turns.ts';
import { quiet } from '../chain/chain-harness.ts';
import { emptyRecords, memoryJournal } from '../node/memory-ports.ts';

const KEPT = 1_500;

function fileOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'turns-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'turns.journal');
}

t.test('a claimed turn is used, in this life and the next', async (t) => {
  const path = fileOf(t);
  const first = openJournal({ path });
  const turns = createUsedTurns(first, quiet);
  t.notOk(turns.has('round 7'));
  await turns.claim('round 7');
  t.ok(turns.has('round 7'));
  await t.rejects(
    turns.claim('round 7'),
    new ApiError('Invalid', 'This node has used its turn: round 7'),
  );
  await first.close();

  const second = openJournal({ path });
  const again = createUsedTurns(second, quiet);
  t.ok(again.has('round 7'));
  await t.rejects(again.claim('round 7'), ApiError);
  await again.claim('round 6');
  await second.close();
});

t.test('a turn is claimed only once it is on disk', async (t) => {
  const disk = Promise.withResolvers<void>();
  const records = { ...emptyRecords(), disk: disk.promise };
  let claimed = false;
  const claim = createUsedTurns(memoryJournal(records), quiet)
    .claim('round 1')
    .then(() => {
      claimed = true;
    });
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(claimed);
  disk.resolve();
  await claim;
  t.equal(records.list.length, 1);
});

t.test('kill -9 between the note and the broadcast', async (t) => {
  const path = fileOf(t);
  const script = join(import.meta.dirname, 'turn-child.ts');
  const child = spawn(process.execPath, [script, path, 'round 9'], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const journal = openJournal({ path });
  const turns = createUsedTurns(journal, quiet);
  t.ok(turns.has('round 9'), 'the next life knows of it');
  await t.rejects(turns.claim('round 9'), ApiError);
  await journal.close();
});

t.test('without a disk there is no turn', async (t) => {
  const full = async (): Promise<never> => {
    throw new Error('the disk is full');
  };
  const broken: Journal = { recovered: [], append: full, rewrite: full, close: async () => {} };
  const turns = createUsedTurns(broken, quiet);
  await t.rejects(turns.claim('round 1'), /cannot be noted on disk/);
});

t.test('the newest turns are kept, and the file stays short', async (t) => {
  const records = emptyRecords();
  const turns = createUsedTurns(memoryJournal(records), quiet);
  for (let i = 1; i <= 5 * KEPT; i++) await turns.claim(`round ${i}`);
  t.ok(records.list.length <= 2 * KEPT, `${records.list.length} records`);
  const again = createUsedTurns(memoryJournal(records), quiet);
  t.ok(again.has(`round ${5 * KEPT}`) && again.has(`round ${4 * KEPT + 1}`));
  t.notOk(again.has(`round ${KEPT}`));
});
