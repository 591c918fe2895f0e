/** The content after kill -9: a commit boundary, and every acknowledged record. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { StoreLockedError } from '../../../src/adapters/folder-lock.ts';
import { openJournal } from '../../../src/adapters/journal.ts';
import { openLmdbStore, StoreCorruptError } from '../../../src/adapters/lmdb/store.ts';
import { END_OF_TABLE, START_OF_TABLE } from '../../../src/ledger/key-codecs.ts';
import { childEnvironment } from '../../child-environment.ts';
import { storeTables } from '../../compliance/store-tables.ts';

const root = mkdtempSync(join(tmpdir(), 'crash-'));
t.teardown(() => rmSync(root, { recursive: true }));
const script = new URL('crash-child.ts', import.meta.url).pathname;
const number = (bytes: Uint8Array | undefined): number =>
  bytes === undefined ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);

interface Child {
  readonly process: ChildProcess;
  /** Everything it has printed, line by line. */
  readonly lines: () => string[];
  readonly exit: Promise<unknown>;
}

async function start(what: string, folder: string): Promise<Child> {
  const child = spawn(process.execPath, [...process.execArgv, script, what, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: childEnvironment(),
  });
  let text = '';
  const exit = new Promise((resolve) => child.once('close', resolve));
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the child ended by itself')));
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.startsWith('open\n')) resolve();
    });
  });
  // A line cut off by the kill was never said.
  return { process: child, exit, lines: () => text.split('\n').slice(1, -1) };
}

async function runAndKill(what: string, folder: string, ms: number): Promise<number[]> {
  const child = await start(what, folder);
  await new Promise((resolve) => setTimeout(resolve, ms));
  child.process.kill('SIGKILL');
  await child.exit;
  return child.lines().map(Number);
}

const ROUNDS = 8;

t.test('a store killed during commits opens at a commit boundary', async (t) => {
  const folder = join(root, 'store');
  let last = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const acknowledged = await runAndKill('store', folder, 20 + round * 7.3);
    const store = await openLmdbStore({ folder, tables: storeTables });
    const height = number(store.get(7, new Uint8Array(4)));
    const least = acknowledged.at(-1) ?? last;
    t.ok(height >= least && height <= least + 1, `${least} acknowledged, ${height} there`);
    const rows = [...store.range(1, START_OF_TABLE, END_OF_TABLE, 1e6)];
    t.ok(rows.every(([, value]) => number(value) === height));
    const moving = [...store.range(2, START_OF_TABLE, END_OF_TABLE, 1e6)];
    t.equal(moving.length, 300 * Math.min(height, 3));
    await store.close();
    last = height;
  }
});

t.test('a journal that is killed keeps every acknowledged record', async (t) => {
  const folder = join(root, 'journal');
  let highest = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const acknowledged = await runAndKill('journal', folder, 20 + round * 11.7);
    const journal = openJournal({ path: join(folder, 'journal') });
    const found = new Set(journal.recovered.map(number));
    highest = Math.max(highest, ...acknowledged);
    // Older ones were dropped by a rewrite.
    const lost = acknowledged.filter((n) => n > highest - 400 && !found.has(n));
    t.strictSame(lost, []);
    // On a busy machine the first kill may come before the first record.
    t.ok(found.size > 0 || highest === 0);
    await journal.close();
  }
  t.ok(highest > 0);
});

t.test('one process for each folder', async (t) => {
  const folder = join(root, 'locked', 'x'.repeat(120));
  const child = await start('store', folder);
  const second = openLmdbStore({ folder, tables: storeTables });
  await t.rejects(second, StoreLockedError);
  await t.rejects(second, /another process uses the folder/);
  child.process.kill('SIGKILL');
  await child.exit;
  const store = await openLmdbStore({ folder, tables: storeTables });
  t.ok(number(store.get(7, new Uint8Array(4))) >= 0, 'kill -9 released it');
  await t.rejects(openLmdbStore({ folder, tables: storeTables }), StoreLockedError);
  t.ok(store.size() > 0, 'the refused ones leave the first alone');
  await store.close();
  t.strictSame(readdirSync(folder).sort(), ['checked.json', 'data.mdb', 'lock.mdb']);
});

t.test('two that start together: at most one gets it', async (t) => {
  const folder = join(root, 'race');
  for (let round = 0; round < 5; round++) {
    const opened = await Promise.allSettled(
      [1, 2, 3].map(() => openLmdbStore({ folder, tables: storeTables })),
    );
    const stores = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    t.ok(stores.length <= 1);
    for (const store of stores) await store.close();
    const later = await openLmdbStore({ folder, tables: storeTables });
    await later.close();
  }
});

t.test('a damaged file is reported as such', async (t) => {
  const open = (folder: string) => openLmdbStore({ folder, tables: storeTables });
  const filled = async (name: string): Promise<string> => {
    const folder = join(root, name);
    const store = await open(folder);
    const writes = Array.from({ length: 3000 }, (_, i) => {
      const key = new Uint8Array(4);
      new DataView(key.buffer).setUint32(0, i + 1);
      return { table: 1, key, value: new Uint8Array(100) };
    });
    await store.write(writes);
    await store.close();
    return folder;
  };

  const garbage = join(root, 'garbage');
  mkdirSync(garbage);
  writeFileSync(join(garbage, 'data.mdb'), Buffer.alloc(40_000, 'not a store'));
  await t.rejects(open(garbage), StoreCorruptError);
  writeFileSync(join(garbage, 'data.mdb'), 'short');
  await t.rejects(open(garbage), StoreCorruptError);
  writeFileSync(join(garbage, 'data.mdb'), '');
  await (await open(garbage)).close();
  t.pass('an empty file is a new store');

  for (const pages of [1, 2, 3, 6, 12]) {
    const folder = await filled(`cut-${pages}`);
    truncateSync(join(folder, 'data.mdb'), pages * 16384);
    let damage: unknown;
    let rows = 0;
    try {
      const store = await open(folder);
      try {
        rows = [...store.range(1, START_OF_TABLE, END_OF_TABLE, 1e6)].length;
      } finally {
        await store.close();
      }
    } catch (error) {
      damage = error;
    }
    t.ok(damage instanceof StoreCorruptError, `${pages} pages left, ${rows} rows: ${damage}`);
  }
});
