import fc from 'fast-check';
import t from 'tap';
import type { StoreWrite } from '../../../src/base/ports/store.ts';
import { Writer } from '../../../src/codec/codec.ts';
import { endlessSlice } from '../../../src/concurrency/time-slice.ts';
import { type Committer, createCommitter } from '../../../src/ledger/commit/commit.ts';
import { readUndo, type UndoEntry, writeUndoEntry } from '../../../src/ledger/commit/undo.ts';
import { type CommittedView, createCommittedView } from '../../../src/ledger/committed-view.ts';
import { END_OF_TABLE, START_OF_TABLE, u32Key } from '../../../src/ledger/key-codecs.ts';
import type { LedgerView } from '../../../src/ledger/ledger.ts';
import { createOverlay, type KeyedOverlay } from '../../../src/ledger/overlay.ts';
import { createMemoryStore, type MemoryStore } from '../../simulated/memory-store.ts';
import {
  accounts,
  history,
  own,
  plain,
  scheme,
  stateHashes,
  tables,
  texts,
  undo,
} from '../tables.ts';
import { tickingSlice } from './ticking-slice.ts';

interface Fixture {
  readonly store: MemoryStore;
  readonly head: CommittedView;
  readonly committer: Committer;
}

function fixture(undoDepth = 2000, store = createMemoryStore(), slice = endlessSlice): Fixture {
  const head = createCommittedView(store, scheme);
  const committer = createCommitter({
    store,
    head,
    tables,
    undo: undo.id,
    stateHashes: stateHashes.id,
    undoDepth,
    slice,
  });
  return { store, head, committer };
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const dump = (store: MemoryStore, without: readonly number[] = []): string[] =>
  store
    .dump()
    .filter(({ table }) => !without.includes(table))
    .map(({ table, key, value }) => `${table} ${hex(key)} ${hex(value!)}`);

/** One write of a block, as data. */
type Write = { readonly in: string; readonly key: number; readonly value: number | undefined };
const write: fc.Arbitrary<Write> = fc.record({
  in: fc.constantFrom('accounts', 'texts', 'plain', 'history', 'own'),
  key: fc.nat(7),
  value: fc.option(fc.nat(3), { nil: undefined }),
});
const block = fc.array(write, { maxLength: 12 });

function apply(overlay: KeyedOverlay, writes: readonly Write[]): void {
  for (const { in: name, key, value } of writes) {
    const k = new Uint8Array([1, key]);
    const bytes = new Uint8Array([value ?? 0, key]);
    const account = { balance: BigInt(value ?? 0), leased: -1n };
    if (value === undefined) {
      if (name === 'accounts') overlay.remove(accounts, k);
      if (name === 'texts') overlay.remove(texts, k);
      if (name === 'plain') overlay.remove(plain, k);
      if (name === 'history') overlay.remove(history, [k, key]);
      if (name === 'own') overlay.remove(own, k);
    } else {
      if (name === 'accounts') overlay.set(accounts, k, account);
      if (name === 'texts') overlay.set(texts, k, bytes);
      if (name === 'plain') overlay.set(plain, k, value);
      if (name === 'history') overlay.set(history, [k, key], account);
      if (name === 'own') overlay.set(own, k, bytes);
    }
  }
}

/** The blocks as stacked overlays above `base`, numbered from `height`. */
function stack(base: LedgerView, height: number, blocks: readonly (readonly Write[])[]) {
  let below = base;
  return blocks.map((writes, i) => {
    const overlay = createOverlay(below);
    apply(overlay, writes);
    below = overlay;
    return { height: height + i, overlay };
  });
}

async function commitEach(
  f: Fixture,
  height: number,
  blocks: readonly (readonly Write[])[],
): Promise<Uint8Array[]> {
  const hashes: Uint8Array[] = [];
  for (const [i, writes] of blocks.entries()) {
    hashes.push(...(await f.committer.commit({ blocks: stack(f.head, height + i, [writes]) })));
  }
  return hashes;
}

t.test('many blocks in one commit leave the same bytes as one by one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(block, { minLength: 1, maxLength: 6 }), async (blocks) => {
      const [one, all] = [fixture(3), fixture(3)];
      const hashes = await commitEach(one, 1, blocks);
      const together = await all.committer.commit({ blocks: stack(all.head, 1, blocks) });
      if (hashes.map(hex).join() !== together.map(hex).join()) throw new Error('hashes');
      if (dump(one.store).join() !== dump(all.store).join()) throw new Error('bytes');
    }),
    { numRuns: 300 },
  );
});

t.test('a rollback leaves the bytes of before, and the head says the same', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(block, { minLength: 1, maxLength: 6 }),
      fc.array(block, { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      async (before, after, together) => {
        const f = fixture();
        const to = before.length;
        const from = to + after.length;
        const local = [own.id];
        await commitEach(f, 1, before);
        const bytes = dump(f.store, local).join();
        const ownRows = dump(f.store, [1, 2, 3, 4, 8, 9]);
        if (together) await f.committer.commit({ blocks: stack(f.head, to + 1, after) });
        else await commitEach(f, to + 1, after);
        await f.committer.commit({ unwound: await f.committer.unwind(from, to), blocks: [] });
        if (dump(f.store, local).join() !== bytes) throw new Error('bytes');
        const touched = after.flat().some((w) => w.in === 'own');
        if (!touched && dump(f.store, [1, 2, 3, 4, 8, 9]).join() !== ownRows.join()) {
          throw new Error('local rows');
        }
        sameAsStore(f);
      },
    ),
    { numRuns: 300 },
  );
});

/** Every cached value equals the stored one. */
function sameAsStore(f: Fixture): void {
  const fresh = createCommittedView(f.store, scheme);
  for (let key = 0; key < 8; key++) {
    const k = new Uint8Array([1, key]);
    const seen = [f.head, fresh].map((head) =>
      [
        head.get(accounts, k)?.balance,
        hex(head.get(texts, k) ?? new Uint8Array()),
        hex(head.get(own, k) ?? new Uint8Array()),
      ].join(),
    );
    if (seen[0] !== seen[1]) throw new Error(`cache ${seen.join(' ')}`);
  }
}

t.test('a reorganisation is one write and equals a node that only saw the fork', async () => {
  const blocks = fc.array(block, { maxLength: 4 });
  const some = fc.array(block, { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(blocks, some, blocks, async (common, lost, won) => {
      let writes = 0;
      const store = createMemoryStore({
        fail: (step, of) => {
          if (step === of) writes++;
        },
      });
      const [f, straight] = [fixture(5, store), fixture(5)];
      const noLocal = (all: readonly (readonly Write[])[]) =>
        all.map((one) => one.filter((w) => w.in !== 'own'));
      await commitEach(f, 1, noLocal(common));
      await commitEach(f, common.length + 1, noLocal(lost));
      const unwound = await f.committer.unwind(common.length + lost.length, common.length);
      writes = 0;
      await f.committer.commit({
        unwound,
        blocks: stack(unwound.overlay, common.length + 1, noLocal(won)),
      });
      if (writes !== 1) throw new Error('more than one write');
      await commitEach(straight, 1, noLocal(common));
      await commitEach(straight, common.length + 1, noLocal(won));
      const [a, b] = [dump(f.store, [undo.id]), dump(straight.store, [undo.id])];
      if (a.join() !== b.join()) throw new Error('bytes');
      sameAsStore(f);
    }),
    { numRuns: 300 },
  );
});

t.test('the state hash knows the content and not the order', async (t) => {
  const hashOf = async (writes: readonly Write[]): Promise<string> => {
    const f = fixture();
    const [hash] = await f.committer.commit({ blocks: stack(f.head, 1, [writes]) });
    return hex(hash!);
  };
  const distinct = fc.uniqueArray(write, { selector: (w) => `${w.in} ${w.key}`, maxLength: 20 });
  const twoOrders = distinct.chain((writes) =>
    fc.tuple(
      fc.constant(writes),
      fc.shuffledSubarray(writes, { minLength: writes.length, maxLength: writes.length }),
    ),
  );
  await fc.assert(
    fc.asyncProperty(twoOrders, async ([writes, shuffled]) => {
      if ((await hashOf(writes)) !== (await hashOf(shuffled))) throw new Error('order matters');
      const value = (writes.find((w) => w.in === 'plain')?.value ?? 0) + 1;
      const changed = [...writes, { in: 'plain', key: 200, value }];
      if ((await hashOf(changed)) === (await hashOf(writes)))
        throw new Error('content does not matter');
      const indexed = [...writes, { in: 'history', key: 200, value }, { in: 'own', key: 9, value }];
      if ((await hashOf(indexed)) !== (await hashOf(writes)))
        throw new Error('derived rows matter');
    }),
    { numRuns: 200 },
  );
  // sha256 of 32 zero bytes, then table 3, key 0105, value 7.
  t.equal(
    await hashOf([{ in: 'plain', key: 5, value: 7 }]),
    hex(
      scheme.fastHash(
        Buffer.concat([
          Buffer.alloc(32),
          Buffer.from('03' + '0002' + '0105' + '01' + '00000008' + '0000000000000007', 'hex'),
        ]),
      ),
    ),
  );
});

t.test('what stays the same is neither written nor recorded', async (t) => {
  const lists: StoreWrite[][] = [];
  const memory = createMemoryStore();
  const store: MemoryStore = {
    ...memory,
    write: (writes, landed) => {
      lists.push([...writes]);
      return memory.write(writes, landed);
    },
  };
  const f = fixture(undefined, store);
  const one: Write[] = [
    { in: 'accounts', key: 1, value: 1 },
    { in: 'texts', key: 1, value: 1 },
    { in: 'texts', key: 2, value: undefined },
  ];
  await f.committer.commit({ blocks: stack(f.head, 1, [one]) });
  await f.committer.commit({ blocks: stack(f.head, 2, [one]) });
  const names = (list: readonly StoreWrite[]) => list.map(({ table }) => table);
  t.strictSame(names(lists[0]!), [accounts.id, texts.id, undo.id, stateHashes.id]);
  t.strictSame(names(lists[1]!), [undo.id, stateHashes.id]);
  t.equal(store.get(undo.id, u32Key.encode(2))?.length, 0);
});

t.test('undo records older than the depth go, a few with each commit', async (t) => {
  const kept = (f: Fixture): number[] =>
    [...f.store.range(undo.id, START_OF_TABLE, END_OF_TABLE, 999)].map(([k]) => u32Key.decode(k));
  const deep = fixture(60);
  const one: Write[] = [{ in: 'plain', key: 1, value: 1 }];
  await commitEach(deep, 1, Array(50).fill(one));
  t.equal(kept(deep).length, 50);
  const f = fixture(3, deep.store);
  await commitEach(f, 51, [one]);
  t.equal(kept(f).length, 51 - 10);
  await commitEach(f, 52, Array(6).fill(one));
  t.strictSame(kept(f), [55, 56, 57]);
  await f.committer.commit({ blocks: stack(f.head, 58, Array(9).fill(one)) });
  t.strictSame(kept(f), [64, 65, 66]);
  await t.rejects(f.committer.unwind(66, 62), /Block 63 is too old to be rolled back/);
  t.equal((await f.committer.unwind(66, 63)).overlay.size, 0, 'those blocks changed nothing');
});

t.test('the undo record of a large block is read in slices', async (t) => {
  const { slice, turns } = tickingSlice();
  const f = fixture(undefined, undefined, slice);
  const count = 1000;
  const overlay = createOverlay(f.head);
  for (let i = 0; i < count; i++) overlay.set(plain, new Uint8Array([i >> 8, i]), 1);
  await f.committer.commit({ blocks: [{ height: 1, overlay }] });
  const before = turns();
  t.equal((await f.committer.unwind(1, 0)).overlay.size, count);
  t.ok(turns() - before > count / 10, `${turns() - before} turns`);
});

t.test('rows of local tables come along and reach the cache', async (t) => {
  const f = fixture();
  const key = new Uint8Array([1, 1]);
  t.equal(f.head.get(own, key), undefined);
  const extra = [
    { table: own.id, key, value: new Uint8Array([1]) },
    { table: own.id, key: new Uint8Array([1, 2]), value: undefined },
  ];
  await f.committer.commit({
    blocks: stack(f.head, 1, [[{ in: 'own', key: 2, value: 1 }]]),
    extra,
  });
  t.strictSame(f.head.get(own, key), new Uint8Array([1]));
  t.equal(f.head.get(own, new Uint8Array([1, 2])), undefined, 'extra rows come last');
  await f.committer.commit({
    unwound: await f.committer.unwind(1, 0),
    blocks: [],
    extra: [{ table: own.id, key, value: undefined }],
  });
  t.strictSame(dump(f.store), []);
  t.equal(f.head.get(own, key), undefined);
});

t.test('a write that fails leaves store and head alone', async (t) => {
  let broken = false;
  const store = createMemoryStore({
    fail: (step) => {
      if (broken && step === 2) throw new Error('power cut');
    },
  });
  const f = fixture(undefined, store);
  await commitEach(f, 1, [[{ in: 'accounts', key: 1, value: 1 }]]);
  const bytes = dump(store);
  const blocks = stack(f.head, 2, [[{ in: 'accounts', key: 1, value: 2 }]]);
  broken = true;
  await t.rejects(f.committer.commit({ blocks }), /power cut/);
  t.strictSame(dump(store), bytes);
  t.equal(f.head.get(accounts, new Uint8Array([1, 1]))?.balance, 1n);
  broken = false;
  await f.committer.commit({ blocks });
  t.equal(f.head.get(accounts, new Uint8Array([1, 1]))?.balance, 2n);
});

t.test('blocks that do not follow each other are a programmer error', async (t) => {
  const f = fixture();
  await commitEach(f, 1, [[], []]);
  const [, third, fourth] = stack(f.head, 2, [[], [], []]);
  await t.rejects(f.committer.commit({ blocks: [third!, { ...fourth!, height: 5 }] }), /follows/);
  await t.rejects(f.committer.commit({ blocks: [fourth!] }), /state hash of height 3/);
  const unwound = await f.committer.unwind(2, 1);
  await t.rejects(f.committer.commit({ unwound, blocks: [third!] }), /follows/);
});

t.test('undo records come back as they were written', async (t) => {
  const entry = fc.record({
    table: fc.nat(255),
    key: fc.uint8Array({ minLength: 1, maxLength: 300, max: 3 }),
    previous: fc.option(fc.uint8Array({ maxLength: 300 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 10 }), (entries) => {
      const out = new Writer(scheme);
      entries.forEach((e, i) => {
        writeUndoEntry(out, e.table, e.key, e.previous, entries[i - 1]?.key);
      });
      const plainBytes = (e: UndoEntry) =>
        `${e.table} ${hex(e.key)} ${e.previous && hex(e.previous)}`;
      const back = [...readUndo(out.take(), scheme)].map(plainBytes);
      if (back.join() !== entries.map(plainBytes).join()) throw new Error('differs');
    }),
  );
  const bad = (text: string) => () => [...readUndo(Buffer.from(text, 'hex'), scheme)];
  t.throws(bad('0101'), /shared/);
  t.throws(bad('0100'), /unexpected end/);
  t.throws(bad('0100ffffffffff01'), /32 bits/);
});
