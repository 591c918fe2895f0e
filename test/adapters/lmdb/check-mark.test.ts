// A file that a mark vouches for is opened at once and checked in the background.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { takeMark } from '../../../src/adapters/lmdb/check-mark.ts';
import { type LmdbOptions, openLmdbStore } from '../../../src/adapters/lmdb/store.ts';
import { StoreCorruptError } from '../../../src/base/faults/store-damage.ts';
import { storeTables } from '../../compliance/store-tables.ts';

const root = mkdtempSync(join(tmpdir(), 'mark-'));
t.teardown(() => rmSync(root, { recursive: true }));
let folders = 0;

const open = (folder: string, options: Partial<LmdbOptions> = {}) =>
  openLmdbStore({ folder, tables: storeTables, ...options });

/** A closed store with some pages of rows. */
async function closedStore(): Promise<string> {
  const folder = join(root, `${folders++}`);
  const store = await open(folder);
  const row = (i: number) => ({ table: 1, key: Uint8Array.of(1, i >> 8, i), value: rowOf(i) });
  await store.write(Array.from({ length: 2000 }, (_, i) => row(i)));
  await store.close();
  return folder;
}

const rowOf = (i: number): Uint8Array => new Uint8Array(100).fill(i);
const markOf = (folder: string): string => join(folder, 'checked.json');

/** Changes a bit of a row that no test reads. */
function flip(folder: string): void {
  const path = join(folder, 'data.mdb');
  const bytes = readFileSync(path);
  const at = bytes.lastIndexOf(rowOf(77)) + 50;
  bytes[at] = bytes[at]! ^ 1;
  writeFileSync(path, bytes);
}

/** The mark that a store would leave if its present bytes had been its own. */
function vouch(folder: string): void {
  const { size, mtimeNs } = statSync(join(folder, 'data.mdb'), { bigint: true });
  writeFileSync(markOf(folder), JSON.stringify({ file: `${size} ${mtimeNs}` }));
}

t.test('a file that was written after its store was closed is checked first', async (t) => {
  const folder = await closedStore();
  flip(folder);
  await t.rejects(open(folder), StoreCorruptError);
});

t.test('a bit that changed on the disk is found in the background', async (t) => {
  const folder = await closedStore();
  flip(folder);
  vouch(folder);
  const told: string[] = [];
  const store = await open(folder, {
    scrubAfterMs: 1,
    onDamage: ({ message }) => told.push(message),
  });
  t.strictSame(store.get(1, Uint8Array.of(1, 0, 5)), rowOf(5), 'other rows are read meanwhile');
  while (told.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  t.equal(store.problem?.(), told[0]);
  await store.close();
  await t.rejects(open(folder), StoreCorruptError, 'no mark is left');
});

t.test('the check in the background bears writes at the same time', async (t) => {
  const folder = await closedStore();
  const told: string[] = [];
  const store = await open(folder, {
    scrubAfterMs: 1,
    onDamage: ({ message }) => told.push(message),
  });
  t.match(readFileSync(markOf(folder), 'utf8'), /"starts":1/);
  for (let round = 0; /"starts":1/.test(readFileSync(markOf(folder), 'utf8')); round++) {
    const key = Uint8Array.of(2, round >> 8, round);
    await store.write([{ table: 1, key, value: rowOf(round) }]);
  }
  t.strictSame(told, [], 'it is sound');
  await store.close();
  const again = await open(folder);
  await again.close();
});

t.test('a store that closes ends its check', async (t) => {
  const folder = await closedStore();
  const store = await open(folder, { scrubAfterMs: 0 });
  await new Promise((resolve) => setTimeout(resolve, 2));
  await store.close();
  t.match(readFileSync(markOf(folder), 'utf8'), /"file"/);
});

t.test('after an end without closing some starts trust the file', async (t) => {
  const folder = await closedStore();
  takeMark(folder).checked();
  const trusted: boolean[] = [];
  for (let start = 0; start < 6; start++) trusted.push(takeMark(folder).isTrusted);
  t.strictSame(trusted, [true, true, true, true, false, false]);
});

t.test('damage takes the mark away for good', async (t) => {
  const folder = await closedStore();
  const mark = takeMark(folder);
  mark.distrust();
  mark.checked();
  mark.closed();
  t.notOk(takeMark(folder).isTrusted);
});

t.test('a mark that cannot be read vouches for nothing', async (t) => {
  const folder = await closedStore();
  for (const text of ['', '{', '7', '{"file":1}', '{"boot":"another"}']) {
    writeFileSync(markOf(folder), text);
    t.notOk(takeMark(folder).isTrusted, text);
  }
});
