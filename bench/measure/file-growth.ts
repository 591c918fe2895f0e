/**
 * Whether the file of a store stays as it is while its content does: each commit replaces rows of a
 * constant number of keys, writes rows of one to many pages, and removes as many old ones. Prints
 * the size of the file ten times. It must stop growing; where rows of many pages find no free pages
 * beside one another, it does not.
 *
 *   node bench/measure/file-growth.ts EMPTY-FOLDER COMMITS
 */
import { mkdirSync, statSync } from 'node:fs';
import { checkFile } from '../../src/adapters/lmdb/check.ts';
import { dataFile } from '../../src/adapters/lmdb/environment.ts';
import { openLmdbStore } from '../../src/adapters/lmdb/store.ts';
import type { StoreWrite } from '../../src/base/ports/store.ts';
import { ID_PREFIX_BYTES } from '../../src/chain/store/block-index.ts';
import {
  positionKey,
  tables,
  transactionIds,
  transactions,
  undo,
} from '../../src/ledger/tables.ts';

const KEYS = 400_000;
const KEYS_AT_ONCE = 20_000;
/** Keys that a commit replaces: an empty block, small ones, and half of a full one. */
const REPLACED = [0, 20, 200, 3000];
/** A full block once in so many commits. */
const FULL_EVERY = 50;
const FULL = 6500;
const LARGE_ROWS = 3;
const LARGE_BYTES = { min: 4000, max: 1_000_000 };
const LARGE_KEPT_COMMITS = 60;
const UNDO_BYTES = { min: 1000, max: 60_000 };
const UNDO_KEPT_COMMITS = 100;
const LINES = 10;

let state = 12_345;
/** The same in each run; below `end`. */
function random(end: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  return Math.floor((state / 2 ** 32) * end);
}

const bytes = ({ min, max }: { min: number; max: number }): Uint8Array =>
  new Uint8Array(min + random(max - min)).fill(random(256));

/** Keys lie as ids do: next to one another are those of distant numbers. */
function idRow(n: number, value: number): StoreWrite {
  const key = Buffer.alloc(ID_PREFIX_BYTES);
  key.writeUInt32BE(Math.imul(n + 1, 2_654_435_761) >>> 0);
  key.writeUInt32BE(n, 4);
  return { table: transactionIds.id, key, value: positionKey.encode([value, 0]) };
}

function* commit(height: number): Generator<StoreWrite> {
  const count = height % FULL_EVERY === 0 ? FULL : REPLACED[random(REPLACED.length)]!;
  for (let i = 0; i < count; i++) yield idRow(random(KEYS), height);
  for (let i = 0; i < LARGE_ROWS; i++) {
    const key = (at: number): Uint8Array => positionKey.encode([at, i]);
    yield { table: transactions.id, key: key(height), value: bytes(LARGE_BYTES) };
    const old = height - LARGE_KEPT_COMMITS;
    if (old > 0) yield { table: transactions.id, key: key(old), value: undefined };
  }
  const key = (at: number): Uint8Array => undo.key.encode(at);
  yield { table: undo.id, key: key(height), value: bytes(UNDO_BYTES) };
  const old = height - UNDO_KEPT_COMMITS;
  if (old > 0) yield { table: undo.id, key: key(old), value: undefined };
}

const [folder = '', commitsText = ''] = process.argv.slice(2);
const commits = Number(commitsText);
mkdirSync(folder, { recursive: true });
const file = dataFile(folder);
const store = await openLmdbStore({ folder, tables });
for (let from = 0; from < KEYS; from += KEYS_AT_ONCE) {
  await store.write(Array.from({ length: KEYS_AT_ONCE }, (_, i) => idRow(from + i, 0)));
}
for (let height = 1; height <= commits; height++) {
  await store.write([...commit(height)]);
  if (height % Math.ceil(commits / LINES) === 0) {
    const megabytes = (statSync(file).size / 1e6).toFixed(1);
    process.stdout.write(`${height} commits: ${megabytes} MB\n`);
  }
}
await store.close();
process.stdout.write(`${JSON.stringify(await checkFile(file, tables))}\n`);
