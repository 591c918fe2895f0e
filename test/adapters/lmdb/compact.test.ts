// A compaction loses no row, whenever it ends, and whoever reads meanwhile.
import { type ChildProcess, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { StoreLockedError } from '../../../src/adapters/folder-lock.ts';
import { checkFile, useOfFile } from '../../../src/adapters/lmdb/check.ts';
import { compactStore } from '../../../src/adapters/lmdb/compact.ts';
import { copyStore } from '../../../src/adapters/lmdb/copy.ts';
import { openReading } from '../../../src/adapters/lmdb/reading.ts';
import { openLmdbStore, StoreCorruptError } from '../../../src/adapters/lmdb/store.ts';
import type { StoreWrite } from '../../../src/base/ports/store.ts';
import { END_OF_TABLE, START_OF_TABLE } from '../../../src/ledger/key-codecs.ts';
import { childEnvironment } from '../../child-environment.ts';
import { storeTables as tables } from '../../compliance/store-tables.ts';

const root = mkdtempSync(join(tmpdir(), 'compact-'));
t.teardown(() => rmSync(root, { recursive: true }));
const script = join(import.meta.dirname, 'compact-child.ts');
const ROWS = 3000;
const LEFT = 400;
const LONG = 9000;
const file = (folder: string): string => join(folder, 'data.mdb');

const row = (i: number, table: number, value: Uint8Array | undefined): StoreWrite => ({
  table,
  key: Buffer.from(String(i).padStart(6, '0')),
  value,
});
const lasting = (i: number): Uint8Array => new Uint8Array(i % 50 === 0 ? LONG : 90).fill(i % 251);

/** A store of which most is free again. */
const base = join(root, 'base');
{
  const store = await openLmdbStore({ folder: base, tables });
  const each = (value: (i: number) => Uint8Array | undefined, from: number) =>
    Array.from({ length: ROWS - from }, (_, i) => row(i + from, 1, value(i + from)));
  await store.write(each(lasting, 0));
  await store.write(each(() => undefined, LEFT));
  await store.write([row(1, 7, lasting(1))]);
  await store.close();
}

let made = 0;
function copyOfBase(): string {
  const folder = join(root, String(made++));
  cpSync(base, folder, { recursive: true });
  return folder;
}

type Rows = readonly (readonly [table: number, key: string, value: Buffer])[];

function rowsIn(view: { range: Awaited<ReturnType<typeof openReading>>['view']['range'] }): Rows {
  return tables.flatMap(({ id }) =>
    [...view.range(id, START_OF_TABLE, END_OF_TABLE, 1e9)].map(
      ([key, value]) => [id, Buffer.from(key).toString(), Buffer.from(value)] as const,
    ),
  );
}

async function rowsOf(folder: string): Promise<Rows> {
  const store = await openLmdbStore({ folder, tables });
  try {
    return rowsIn(store);
  } finally {
    await store.close();
  }
}

const child = (...args: string[]): ChildProcess =>
  spawn(process.execPath, [...process.execArgv, script, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: childEnvironment(),
  });

const ended = (process: ChildProcess): Promise<NodeJS.Signals | number | null> =>
  new Promise((resolve) => process.once('close', (code, signal) => resolve(signal ?? code)));

t.test('the new file has the same rows and no free pages', async (t) => {
  const folder = copyOfBase();
  const before = statSync(file(folder));
  const asked: number[] = [];
  const { bytesBefore, bytesAfter } = await compactStore({ folder, tables }, async (bytes) => {
    asked.push(bytes);
  });
  t.equal(bytesBefore, before.size);
  t.equal(bytesAfter, statSync(file(folder)).size);
  t.ok(bytesAfter < bytesBefore / 3, `${bytesAfter} of ${bytesBefore}`);
  t.ok(asked.length === 1 && asked[0]! >= bytesAfter - 3 * 4096, String(asked));
  t.match(await checkFile(file(folder), tables), { kind: 'intact' });
  const use = await useOfFile(file(folder), tables);
  t.ok(use.kind === 'used' && use.freePages < 4, JSON.stringify(use));
  t.notOk(existsSync(join(folder, 'compacting')));
  t.strictSame(await rowsOf(folder), await rowsOf(base));
});

t.test('a store keeps its rows wherever a compaction is killed', async (t) => {
  const rows = await rowsOf(base);
  const states = { old: 0, left: 0, new: 0 };
  for (let call = 1; ; call++) {
    const folder = copyOfBase();
    const { size } = statSync(file(folder));
    const end = await ended(child('compact', folder, String(call)));
    if (statSync(file(folder)).size < size) states.new++;
    else states.old++;
    if (existsSync(join(folder, 'compacting'))) {
      states.left++;
      await t.rejects(openReading({ folder, tables }), /is being compacted/);
    }
    t.strictSame(await rowsOf(folder), rows, `at call ${call}`);
    t.notOk(existsSync(join(folder, 'compacting')), 'nothing is left');
    rmSync(folder, { recursive: true });
    if (end === 0) break;
    t.equal(end, 'SIGKILL');
  }
  t.ok(states.old > 5 && states.left > 5 && states.new > 3, JSON.stringify(states));
});

t.test('what was interrupted is repeated, and half a file is no file', async (t) => {
  const folder = copyOfBase();
  mkdirSync(join(folder, 'compacting'));
  writeFileSync(join(folder, 'compacting/data.mdb'), new Uint8Array(5000).fill(7));
  await compactStore({ folder, tables }, async () => {});
  t.strictSame(await rowsOf(folder), await rowsOf(base));
});

t.test('a reader keeps its slot where the old file stays', async (t) => {
  const folder = copyOfBase();
  const reader = child('read', folder);
  t.teardown(() => reader.kill());
  await new Promise((resolve) => reader.stdout?.once('data', resolve));
  const { ino } = statSync(join(folder, 'lock.mdb'));
  mkdirSync(join(folder, 'compacting'));
  writeFileSync(join(folder, 'compacting/data.mdb'), new Uint8Array(5000).fill(7));
  await (await openLmdbStore({ folder, tables })).close();
  t.notOk(existsSync(join(folder, 'compacting')));
  t.equal(statSync(join(folder, 'lock.mdb')).ino, ino);
});

t.test('a reader of the old file does not lead a writer of the new one astray', async (t) => {
  for (const state of ['done', 'killed before the slots are gone'] as const) {
    const folder = copyOfBase();
    const reader = child('read', folder);
    t.teardown(() => reader.kill());
    await new Promise((resolve) => reader.stdout?.once('data', resolve));
    if (state === 'done') {
      await compactStore({ folder, tables }, async () => {});
    } else {
      const other = copyOfBase();
      await compactStore({ folder: other, tables }, async () => {});
      mkdirSync(join(folder, 'compacting'));
      rmSync(file(folder));
      cpSync(file(other), file(folder));
    }
    const store = await openLmdbStore({ folder, tables });
    const rows = await rowsOf(base);
    t.strictSame(rowsIn(store), rows, state);
    await store.write([row(1, 2, lasting(1))]);
    t.equal(rowsIn(store).length, rows.length + 1);
    await store.close();
    let sum = '';
    reader.stdout?.on('data', (text) => {
      sum += text;
    });
    reader.stdin?.end();
    t.equal(await ended(reader), 0);
    const expected = rows.reduce((total, [, , value]) => total + (value[0] ?? 0), 0);
    t.equal(Number(sum), expected, 'the reader has what it began with');
  }
});

t.test(
  'a store in use, a damaged one, none, and a disk without room stay as they are',
  async (t) => {
    const folder = copyOfBase();
    const store = await openLmdbStore({ folder, tables });
    await t.rejects(
      compactStore({ folder, tables }, async () => {}),
      StoreLockedError,
    );
    await store.close();
    const before = readdirSync(folder).sort();
    const full = new Error('no room');
    await t.rejects(
      compactStore({ folder, tables }, async () => {
        throw full;
      }),
      full,
    );
    t.strictSame(readdirSync(folder).sort(), before);
    const bytes = new Uint8Array(statSync(file(folder)).size).fill(0x5a);
    writeFileSync(file(folder), bytes);
    await t.rejects(
      compactStore({ folder, tables }, async () => {}),
      StoreCorruptError,
    );
    t.equal(statSync(file(folder)).size, bytes.length);
    const none = join(root, 'none');
    await t.rejects(
      compactStore({ folder: none, tables }, async () => {}),
      /no store in/,
    );
    t.notOk(existsSync(none));
  },
);

const skip = process.getuid?.() === 0 ? false : 'only root changes users';

t.test('root leaves the files to the owner of the store', { skip }, async (t) => {
  const { chownSync } = await import('node:fs');
  const UID = 54_321;
  const folder = copyOfBase();
  chownSync(file(folder), UID, UID);
  await compactStore({ folder, tables }, async () => {});
  t.match(statSync(file(folder)), { uid: UID, gid: UID });
  t.notOk(existsSync(join(folder, 'lock.mdb')));
  await copyStore({ folder, tables }, join(root, 'copy'));
  t.match(statSync(join(folder, 'lock.mdb')), { uid: UID, gid: UID });
});

t.test('where root is interrupted, the owner of the store goes on', { skip }, async (t) => {
  const { chownSync } = await import('node:fs');
  const UID = 54_321;
  for (let call = 1; ; call++) {
    const folder = copyOfBase();
    for (const name of ['.', ...readdirSync(folder)]) chownSync(join(folder, name), UID, UID);
    t.equal(await ended(child('compact', folder, String(call))), 'SIGKILL');
    // Else it could neither see that nobody listens there, nor remove what is in the other folder.
    const left = readdirSync(folder).filter((name) => /^lock-|^compacting$/.test(name));
    if (!existsSync(join(folder, 'compacting/data.mdb'))) continue;
    t.equal(left.length, 2);
    for (const name of left) t.equal(statSync(join(folder, name)).uid, UID, name);
    break;
  }
});
