// The writing thread of the store on disk: refused writes, its death, and the end of the process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { eachRow, RowPacker } from '../../../src/adapters/lmdb/rows.ts';
import {
  type LmdbOptions,
  openLmdbStore,
  StoreWriteError,
} from '../../../src/adapters/lmdb/store.ts';
import { unseal } from '../../../src/adapters/lmdb/sums.ts';
import type { StoreWrite } from '../../../src/base/ports/store.ts';
import { type RowColumn, rowCount, rowsOf } from '../../../src/base/row-columns.ts';
import { childEnvironment } from '../../child-environment.ts';
import { storeTables } from '../../compliance/store-tables.ts';

const root = mkdtempSync(join(tmpdir(), 'writer-'));
t.teardown(() => rmSync(root, { recursive: true }));
const CHILD = new URL('crash-child.ts', import.meta.url).pathname;
let folders = 0;
const open = (options: Partial<LmdbOptions> = {}) =>
  openLmdbStore({ folder: join(root, `${folders++}`), tables: storeTables, ...options });

const key = (text: string): Uint8Array => new TextEncoder().encode(text);
const put = (text: string, length = 1): StoreWrite => ({
  table: 1,
  key: key(text),
  value: new Uint8Array(length).fill(7),
});

t.test('a refused write is reported until one succeeds', async (t) => {
  const store = await open();
  await store.write([put('a')]);
  let landed = false;
  const refused = store.write([put('b'), put('k'.repeat(3000))], () => {
    landed = true;
  });
  await t.rejects(refused, StoreWriteError);
  t.equal(landed, false);
  t.equal(store.get(1, key('b')), undefined);
  t.match(store.problem?.(), /cannot be written/);
  await store.write([put('b')]);
  t.equal(store.problem?.(), undefined);
  t.ok(store.get(1, key('b')));
  await t.rejects(store.write([{ ...put('c'), table: 99 }]), /no table has the number 99/);
  await store.close();
  await t.rejects(store.write([put('c')]), /closed/);
  t.throws(() => store.get(1, key('a')), /closed/);
});

t.test('a full disk refuses a write and takes a smaller one', async (t) => {
  // The shell's limit counts blocks of 512 or 1024 bytes; the child's large write has 8 MB.
  const limited = ['-c', 'ulimit -f 4000 && exec "$0" "$@"', process.execPath];
  const args = [...limited, ...process.execArgv, CHILD, 'full', join(root, 'full')];
  const child = spawn('sh', args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: childEnvironment(),
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const [code] = await once(child, 'close');
  t.equal(code, 0);
  const [opened, refused, problem, ...rest] = text.trim().split('\n');
  t.equal(opened, 'open');
  t.match(refused, /^StoreWriteError: .* cannot be written/);
  t.equal(problem, refused?.replace('StoreWriteError: ', ''));
  t.strictSame(rest, ['1', '3', 'undefined'], 'the old value, then the new one, and no problem');
});

t.test('a thread that dies: the outcome is known, and the next write has a new one', async (t) => {
  const store = await open({ workerUrl: new URL('dying-writer.ts', import.meta.url) });
  await store.write([put('a')]);
  await t.rejects(store.write([put('b'), put('die before')]), /thread died: Error: a bug/);
  t.equal(store.get(1, key('b')), undefined, 'nothing was written');
  t.match(store.problem?.(), /cannot be written/);
  await store.write([put('b')]);
  t.ok(store.get(1, key('b')));
  t.equal(store.problem?.(), undefined);
  await store.write([put('c'), put('die after')]);
  t.ok(store.get(1, key('c')), 'it was on disk when the thread died');
  await store.write([put('d')]);
  t.ok(store.get(1, key('d')));
  await store.close();
});

t.test('the process may end during a write', async (t) => {
  for (let round = 0; round < 6; round++) {
    const folder = join(root, 'ending');
    const args = [...process.execArgv, CHILD, `exit-${round * 45}`, folder];
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: childEnvironment(),
    });
    const [code, signal] = await once(child, 'exit');
    t.strictSame([code, signal], [0, null]);
    const store = await openLmdbStore({ folder, tables: storeTables });
    t.equal(store.problem?.(), undefined);
    t.ok(store.get(1, new Uint8Array(4)));
    await store.close();
  }
});

const bytesTo = (count: number): Uint8Array => Uint8Array.from({ length: count }, (_, i) => i);

t.test('rows of all sizes travel unchanged', async (t) => {
  const writes: StoreWrite[] = [];
  for (const size of [0, 1, 255, 256, 65_535, 65_536, 1_048_569, 3_000_000]) {
    writes.push({
      table: 255,
      key: new Uint8Array(300).fill(size),
      value: new Uint8Array(size).fill(9),
    });
    writes.push({ table: 0, key: new Uint8Array(1), value: undefined });
  }
  const columns: RowColumn[] = [
    { table: 3, keys: bytesTo(40), keyBytes: 4, values: bytesTo(70) },
    { table: 4, keys: bytesTo(3), keyBytes: 1, values: [0, 999, 5].map(bytesTo) },
  ];
  const packer = new RowPacker((bytes) => new ArrayBuffer(Math.max(bytes, 1000)));
  for (const write of writes) packer.add(write);
  for (const column of columns) {
    packer.addRows(column, 0, 2);
    packer.addRows(column, 2, rowCount(column));
    writes.push(...rowsOf(column));
  }
  const back: StoreWrite[] = [];
  for (const buffer of packer.take()) {
    eachRow(buffer, (table, k, value) =>
      back.push({ table, key: k.slice(), value: value && unseal(table, k, value)?.slice() }),
    );
  }
  t.strictSame(back, writes);
  t.strictSame(packer.take(), []);
});
