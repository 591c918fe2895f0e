/**
 * Cost of the ledger alone: overlay, commit and reads, with the rows that transfers make.
 *
 * usage: node bench/ledger.ts [transfers] [transfers per commit] [blocks per commit] [addresses] [folder]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openJournal } from '../src/adapters/journal.ts';
import { openLmdbStore } from '../src/adapters/lmdb/store.ts';
import type { Store, StoreWrite } from '../src/base/ports/store.ts';
import { Writer } from '../src/codec/codec.ts';
import { endlessSlice } from '../src/concurrency/time-slice.ts';
import { createChainScheme } from '../src/crypto/chain-scheme.ts';
import { createFamily } from '../src/crypto/families.ts';
import { createCommitter } from '../src/ledger/commit/commit.ts';
import type { BlockChanges } from '../src/ledger/commit/step-encoder.ts';
import { createCommittedView, viewOf } from '../src/ledger/committed-view.ts';
import { prefix, prefixEnd } from '../src/ledger/key-codecs.ts';
import { createOverlay } from '../src/ledger/overlay.ts';
import {
  accountHistory,
  accounts,
  stateHashes,
  tables,
  transactionIds,
  transactions,
  transactionsByAddress,
  undo,
} from '../src/ledger/tables.ts';

const numbers = process.argv.slice(2, 6).map(Number);
const [total = 200_000, perCommit = 5000, blocksPerCommit = 1, addressCount = 10_000] = numbers;
const folder = process.argv[6] ?? mkdtempSync(join(tmpdir(), 'bench-ledger-'));

const TRANSFER_BYTES = 156;
const scheme = createChainScheme(createFamily('curve25519'), 84);

// A small generator of its own makes every run use the same keys.
let seed = 1;
const next = (): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed;
};
const random = (count: number): Uint8Array =>
  Uint8Array.from({ length: count }, () => next() >>> 24);
const addresses = Array.from({ length: addressCount }, () => random(26));
const anyAddress = (): Uint8Array => addresses[next() % addressCount]!;

const store = await openLmdbStore({ folder, tables });
let storeMs = 0;
let rows = 0;
const timed: Store = {
  ...store,
  write: async (writes, landed) => {
    const list = writes as StoreWrite[];
    rows += list.length;
    const start = performance.now();
    await store.write(list, () => {
      storeMs += performance.now() - start;
      landed?.();
    });
  },
};
const head = createCommittedView(timed, scheme);
const committer = createCommitter({
  store: timed,
  head,
  tables,
  undo: undo.id,
  stateHashes: stateHashes.id,
  undoDepth: 2000,
  slice: endlessSlice,
});

/** Rows that follow from a block alone; the bytes are views into one block, as from the wire. */
function* derived(height: number, count: number): Generator<StoreWrite> {
  const block = random(count * TRANSFER_BYTES);
  const positions = new Uint8Array(6 * count);
  const lists = new Map<Uint8Array, number[]>();
  for (let i = 0; i < count; i++) {
    const value = block.subarray(i * TRANSFER_BYTES, (i + 1) * TRANSFER_BYTES);
    yield { table: transactions.id, key: transactions.key.encode([height, i]), value };
    const position = positions.subarray(6 * i, 6 * i + 6);
    yield { table: transactionIds.id, key: value.subarray(0, 16), value: position };
    for (const address of [anyAddress(), anyAddress()]) {
      const list = lists.get(address);
      if (list === undefined) lists.set(address, [i]);
      else list.push(i);
    }
  }
  const out = new Writer(scheme);
  for (const [address, indexes] of lists) {
    transactionsByAddress.value.write(out, indexes);
    const key = transactionsByAddress.key.encode([address, height]);
    yield { table: transactionsByAddress.id, key, value: out.take() };
  }
}

let overlayMs = 0;
let commitMs = 0;
let slowestMs = 0;
let height = 0;
const fresh = new Set([accountHistory.id]);
for (let done = 0; done < total; done += perCommit) {
  const blocks: BlockChanges[] = [];
  const extra: StoreWrite[] = [];
  const first = height + 1;
  const perBlock = Math.ceil(perCommit / blocksPerCommit);
  let below = undefined as BlockChanges['overlay'] | undefined;
  for (let b = 0; b < blocksPerCommit; b++) {
    const start = performance.now();
    height++;
    const overlay = createOverlay(below ?? head, fresh);
    for (let i = 0; i < perBlock; i++) {
      for (const [address, amount] of [
        [anyAddress(), 5n],
        [anyAddress(), -5n],
      ] as const) {
        const old = overlay.get(accounts, address);
        const value = {
          balance: (old?.balance ?? 10n ** 12n) + amount,
          leasedIn: 0n,
          leasedOut: 0n,
        };
        overlay.set(accounts, address, value);
        overlay.set(accountHistory, [address, height], value);
      }
    }
    overlayMs += performance.now() - start;
    blocks.push({ height, overlay });
    below = overlay;
  }
  for (let h = first; h <= height; h++) extra.push(...derived(h, perBlock));
  const start = performance.now();
  await committer.commit({ blocks, extra });
  const took = performance.now() - start;
  commitMs += took;
  slowestMs = Math.max(slowestMs, took);
}

const us = (ms: number, count: number): string => ((ms * 1000) / count).toFixed(2);
const rate = (ms: number, count: number): string =>
  Math.round((count / ms) * 1000).toLocaleString('en');
const line = (what: string, value: string): void => console.log(`${what.padEnd(44)}${value}`);

line(
  'transfers / per commit / blocks / addresses',
  numbers.length
    ? process.argv.slice(2, 6).join(' ')
    : `${total} ${perCommit} ${blocksPerCommit} ${addressCount}`,
);
line('overlay: 2 reads and 4 writes', `${us(overlayMs, total)} µs a transfer`);
line('commit: sort, encode, hash, undo, cache', `${us(commitMs - storeMs, total)} µs a transfer`);
line('commit: store write with sync', `${us(storeMs, total)} µs a transfer`);
line('slowest commit', `${slowestMs.toFixed(1)} ms`);
line('rows written', `${(rows / total).toFixed(2)} a transfer, ${rate(storeMs, rows)} a second`);
line('transfers through overlay and commit', `${rate(overlayMs + commitMs, total)} a second`);
line(
  'file',
  `${(store.size() / total).toFixed(0)} bytes a transfer, ${(store.size() / 1e6).toFixed(0)} MB`,
);

const READS = 100_000;
function reads(what: string, count: number, one: () => unknown): void {
  for (let i = 0; i < count / 10; i++) one();
  const start = performance.now();
  for (let i = 0; i < count; i++) one();
  const ms = performance.now() - start;
  line(what, `${us(ms, count)} µs, ${rate(ms, count)} a second`);
}
reads('read: account, cached', READS, () => head.get(accounts, anyAddress()));
const view = viewOf(store, scheme);
reads('read: account, from the store', READS, () => view.get(accounts, anyAddress()));
reads('read: transaction bytes by height and index', READS, () =>
  view.get(transactions, [1 + (next() % height), next() % Math.floor(perCommit / blocksPerCommit)]),
);
reads('read: id that is not there', READS, () => view.get(transactionIds, random(16)));
reads('range: the newest history row of an address', READS / 4, () => {
  const from = prefix([accounts.key as never], anyAddress() as never);
  for (const row of view.range(accountHistory, from, prefixEnd(from), 1, true)) return row;
  return undefined;
});
reads('range: ten blocks with an address', READS / 10, () => {
  const from = anyAddress();
  return [...view.range(transactionsByAddress, from, prefixEnd(from), 10)];
});
reads('snapshot taken and released', READS / 10, () => store.snapshot().release());

await store.close();
rmSync(folder, { recursive: true });

const journal = openJournal({ path: join(folder, 'journal') });
for (const callers of [1, 32, 256]) {
  const record = random(200);
  let appended = 0;
  const end = performance.now() + 1000;
  const before = performance.eventLoopUtilization();
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < end) {
        await journal.append(record);
        appended++;
      }
    }),
  );
  const { active } = performance.eventLoopUtilization(before);
  const cost = `${us(active, appended)} µs of the main thread each`;
  line(`journal: ${callers} callers`, `${appended.toLocaleString('en')} a second, ${cost}`);
}
await journal.close();
rmSync(folder, { recursive: true });
