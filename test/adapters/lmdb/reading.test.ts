// A reader that ends holds back no pages of the store, however it ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type LmdbStore, openLmdbStore } from '../../../src/adapters/lmdb/store.ts';
import { childEnvironment } from '../../child-environment.ts';
import { storeTables as tables } from '../../compliance/store-tables.ts';

const CHILD = join(import.meta.dirname, 'compact-child.ts');
const BYTES = 100_000;
const WRITES = 60;

async function opened(t: Test): Promise<{ readonly folder: string; readonly store: LmdbStore }> {
  const folder = mkdtempSync(join(tmpdir(), 'reading-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const store = await openLmdbStore({ folder, tables });
  t.teardown(() => store.close());
  await growthOf(store);
  return { folder, store };
}

/** Bytes by which the file grows while the same row is written again and again. */
async function growthOf(store: LmdbStore): Promise<number> {
  const before = store.size();
  for (let i = 0; i < WRITES; i++) {
    await store.write([{ table: 1, key: Buffer.from('key'), value: Buffer.alloc(BYTES, i) }]);
  }
  return store.size() - before;
}

t.test('one that is killed', async (t) => {
  const { folder, store } = await opened(t);
  const args = ['--disable-warning=ExperimentalWarning', CHILD, 'read', folder];
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: childEnvironment(),
  });
  await once(child.stdout, 'data');
  t.ok((await growthOf(store)) > (WRITES / 2) * BYTES, 'what it reads stays');
  child.kill('SIGKILL');
  await once(child, 'exit');
  t.ok((await growthOf(store)) < (WRITES / 2) * BYTES, 'its pages are used again');
});

t.test('one that is abandoned', async (t) => {
  const { folder, store } = await opened(t);
  const program = `
    import { openReading } from ${JSON.stringify(join(import.meta.dirname, '../../../src/adapters/lmdb/reading.ts'))};
    const reading = await openReading(${JSON.stringify({ folder, tables })});
    process.stdout.write('open');
    process.stdin.once('data', () => {
      reading.abandon();
      process.stdout.write('abandoned');
    });
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: childEnvironment(),
  });
  await once(child.stdout, 'data');
  t.ok((await growthOf(store)) > (WRITES / 2) * BYTES, 'what it reads stays');
  child.stdin.write('go');
  await once(child.stdout, 'data');
  t.ok((await growthOf(store)) < (WRITES / 2) * BYTES, 'its pages are used again while it lives');
  child.kill('SIGKILL');
  await once(child, 'exit');
});
