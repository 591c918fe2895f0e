import fc from 'fast-check';
import t from 'tap';
import { asUntyped, createCommittedView, viewOf } from '../../src/ledger/committed-view.ts';
import {
  descendingU32,
  END_OF_TABLE,
  fixed,
  type KeyPart,
  keyText,
  prefix,
  prefixEnd,
  START_OF_TABLE,
  textTail,
  tuple,
  u8Key,
  u16Key,
  u32Key,
  u64Key,
} from '../../src/ledger/key-codecs.ts';
import type { LedgerView, Overlay } from '../../src/ledger/ledger.ts';
import { createOverlay } from '../../src/ledger/overlay.ts';
import { TableRows, WriteSet } from '../../src/ledger/write-set.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import { accounts, own, plain, scheme, texts } from './tables.ts';

const compare = (a: Uint8Array, b: Uint8Array): number => Math.sign(Buffer.compare(a, b));
const hex = (key: Uint8Array): string => Buffer.from(key).toString('hex');

t.test('keys keep their order and come back', async (t) => {
  const ordered = <K>(
    name: string,
    part: KeyPart<K>,
    keys: fc.Arbitrary<K>,
    order: (a: K, b: K) => number,
  ): void => {
    fc.assert(
      fc.property(keys, keys, (a, b) => {
        t.equal(compare(part.encode(a), part.encode(b)), Math.sign(order(a, b)), name);
        t.strictSame(part.decode(part.encode(a)), a, name);
        const [x, y] = [keyText(part.encode(a)), keyText(part.encode(b))];
        t.equal(x < y ? -1 : x > y ? 1 : 0, Math.sign(order(a, b)), `${name} as text`);
      }),
      { numRuns: 40 },
    );
  };
  const up = (a: number, b: number) => a - b;
  const down = (a: number, b: number) => b - a;
  const raw = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  ordered('u8', u8Key, fc.nat(0xff), up);
  ordered('u16', u16Key, fc.nat(0xffff), up);
  ordered('u32', u32Key, fc.nat(0xffff_ffff), up);
  ordered('u64', u64Key, fc.maxSafeNat(), up);
  ordered('descending u32', descendingU32, fc.nat(0xffff_ffff), down);
  ordered('fixed', fixed(3), raw(3), compare);
  ordered('text', textTail, fc.string({ unit: 'binary', minLength: 1 }), (a, b) =>
    compare(Buffer.from(a), Buffer.from(b)),
  );
  ordered(
    'tuple',
    tuple(fixed(1), descendingU32, textTail),
    fc.tuple(raw(1), fc.nat(3), fc.string()),
    (a, b) =>
      compare(a[0], b[0]) || down(a[1], b[1]) || compare(Buffer.from(a[2]), Buffer.from(b[2])),
  );
});

t.test('keys that cannot be are programmer errors', async (t) => {
  t.throws(() => fixed(3).encode(new Uint8Array(2)), /3 bytes/);
  t.throws(() => u32Key.encode(-1));
  t.throws(() => u32Key.encode(0x1_0000_0000));
  t.throws(() => u16Key.encode(0.5));
  t.throws(() => u64Key.encode(2 ** 53));
  t.throws(() => u32Key.decode(new Uint8Array(5)), /width/);
  t.throws(() => tuple(textTail, u32Key), /last part/);
});

t.test('a prefix range holds the keys with that prefix', async (t) => {
  const short = fc.uint8Array({ minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(short, short, (start, key) => {
      const inside = compare(start, key) <= 0 && compare(key, prefixEnd(start)) < 0;
      const begins = compare(key.subarray(0, start.length), start) === 0;
      t.equal(inside, begins, `${hex(start)} ${hex(key)}`);
    }),
  );
  t.strictSame(prefixEnd(new Uint8Array([255, 255])), END_OF_TABLE);
  t.strictSame(prefixEnd(new Uint8Array([1, 255])), new Uint8Array([2]));
  t.strictSame(prefix([fixed(1), u16Key], new Uint8Array([7]), 0x102), new Uint8Array([7, 1, 2]));
});

// ── the overlay against a plain model ────────────────────────────────────────────────────────

const key = fc.uint8Array({ minLength: 1, maxLength: 2, max: 5 });
type Command =
  | { readonly do: 'set'; readonly key: Uint8Array; readonly value: number }
  | { readonly do: 'remove'; readonly key: Uint8Array }
  | { readonly do: 'mark' }
  | { readonly do: 'revert' }
  | {
      readonly do: 'range';
      readonly from: Uint8Array;
      readonly to: Uint8Array;
      readonly limit: number;
      readonly reverse: boolean;
    };
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('set' as const), key, value: fc.nat(99) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), key }) },
  { weight: 1, arbitrary: fc.constant({ do: 'mark' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'revert' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('range' as const),
      from: key,
      to: key,
      limit: fc.nat(6),
      reverse: fc.boolean(),
    }),
  },
);

type Model = Map<string, number>;
const modelRange = (model: Model, c: Command & { do: 'range' }): string[] => {
  const keys = [...model.keys()].filter((k) => k >= keyText(c.from) && k < keyText(c.to)).sort();
  if (c.reverse) keys.reverse();
  return keys.slice(0, c.limit).map((k) => `${hex(Buffer.from(k, 'latin1'))}=${model.get(k)}`);
};

/** What lies below: a store with the cache of a head, a snapshot, another overlay, any view. */
const bases: Record<string, (rows: [Uint8Array, number][]) => LedgerView> = {
  head: (rows) => createCommittedView(storeWith(rows), scheme),
  snapshot: (rows) => viewOf(storeWith(rows).snapshot(), scheme),
  overlay: (rows) => {
    const below = createOverlay(
      createCommittedView(storeWith(rows.slice(0, rows.length / 2)), scheme),
    );
    for (const [k, v] of rows.slice(rows.length / 2)) below.set(plain, k, v);
    return below;
  },
  'any view': (rows) => {
    const { get, range } = viewOf(storeWith(rows), scheme);
    return { scheme, get, range };
  },
};

/** Throws where a row appears twice. */
function changedSince(overlay: Overlay, mark: number) {
  const changes = Array.from(overlay.changesSince(mark), (one) => ({
    ...one,
    key: keyText(one.key),
  }));
  const written = Array.from(overlay.since(mark), (one) => keyText(one.key));
  const keys = changes.map((one) => one.key);
  if (keys.join() !== [...new Set(written)].join()) throw new Error(`changes: ${keys}`);
  return changes;
}

function storeWith(rows: [Uint8Array, number][]) {
  return createMemoryStore({
    rows: rows.map(([key, v]) => {
      const value = new Uint8Array(8);
      value[7] = v;
      return { table: plain.id, key, value };
    }),
  });
}

for (const [name, base] of Object.entries(bases)) {
  t.test(`an overlay on ${name} is a map with an undo`, async (t) => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(key, fc.nat(99)), { maxLength: 10 }),
        fc.array(command, { maxLength: 60 }),
        (rows, commands) => {
          const below: Model = new Map(rows.map(([k, v]) => [keyText(k), v]));
          let model: Model = new Map(below);
          const overlay = createOverlay(base(rows));
          const marks: { mark: number; model: Model; size: number }[] = [];
          for (const c of commands) {
            if (c.do === 'set') {
              overlay.set(plain, c.key, c.value);
              model.set(keyText(c.key), c.value);
            } else if (c.do === 'remove') {
              overlay.remove(plain, c.key);
              model.delete(keyText(c.key));
            } else if (c.do === 'mark') {
              marks.push({ mark: overlay.mark(), model: new Map(model), size: overlay.size });
            } else if (c.do === 'revert') {
              const last = marks.pop();
              if (last === undefined) continue;
              for (const { key: text, before, after } of changedSince(overlay, last.mark)) {
                const expected = [last.model.get(text), model.get(text)];
                if (before !== expected[0] || after !== expected[1]) throw new Error('change');
              }
              overlay.revert(last.mark);
              model = last.model;
              if (overlay.size !== last.size) throw new Error('size after revert');
            } else {
              const seen = [...overlay.range(plain, c.from, c.to, c.limit, c.reverse)];
              const found = seen.map(([k, v]) => `${hex(k)}=${v}`);
              if (found.join() !== modelRange(model, c).join()) throw new Error(`range: ${found}`);
            }
          }
          const all = [...overlay.range(plain, START_OF_TABLE, END_OF_TABLE, 99)];
          const keys = [...model.keys()].sort();
          t.strictSame(
            all.map(([k, v]) => [keyText(k), v]),
            keys.map((k) => [k, model.get(k)]),
          );
          const changes = [...overlay.changes()];
          if (changes.length !== overlay.size) throw new Error('size');
          for (const change of changes) {
            if (change.before !== below.get(keyText(change.key))) throw new Error('before');
            if (change.after !== model.get(keyText(change.key))) throw new Error('after');
          }
          const changed = new Set(changes.map((change) => keyText(change.key)));
          for (const k of new Set([...below.keys(), ...model.keys()])) {
            if (below.get(k) !== model.get(k) && !changed.has(k)) throw new Error('missed');
          }
        },
      ),
      { numRuns: 200 },
    );
  });
}

t.test('a row is read below once, and not at all where nobody undoes it', async (t) => {
  const reads: string[] = [];
  const below = viewOf(createMemoryStore(), scheme);
  const base: LedgerView = {
    scheme,
    range: below.range,
    get: (table, k) => {
      reads.push(table.name);
      return below.get(table, k);
    },
  };
  const overlay = createOverlay(base, new Set([plain.id]));
  const k = new Uint8Array([1, 2]);
  overlay.set(accounts, k, { balance: 1n, leased: 0n });
  overlay.set(accounts, k, { balance: 2n, leased: 0n });
  overlay.remove(accounts, k);
  t.equal(overlay.get(accounts, k), undefined);
  overlay.set(own, k, k);
  overlay.set(plain, k, 5);
  t.strictSame(reads, ['accounts']);
  t.strictSame(
    [...overlay.changes()].map(({ table, before, after }) => [table.name, before, after]),
    [
      ['accounts', undefined, undefined],
      ['plain', undefined, 5],
      ['own', undefined, k],
    ],
  );
  t.throws(() => overlay.set(plain, k, undefined as unknown as number), /removal/);
  const mark = overlay.mark();
  overlay.revert(mark);
  t.throws(() => overlay.revert(mark + 1), /marks/);
});

t.test('a range shows the rows of its beginning while the overlay is written', async (t) => {
  const overlay = createOverlay(createCommittedView(storeWith([[new Uint8Array([3]), 3]]), scheme));
  for (const k of [1, 2, 4]) overlay.set(plain, new Uint8Array([k]), k);
  const seen: number[] = [];
  for (const [k] of overlay.range(plain, START_OF_TABLE, END_OF_TABLE, 9)) {
    seen.push(k[0]!);
    overlay.set(plain, new Uint8Array([k[0]! + 10]), 1);
  }
  t.strictSame(seen, [1, 2, 3, 4]);
  t.equal([...overlay.range(plain, START_OF_TABLE, END_OF_TABLE, 99)].length, 8);
});

t.test('a reader of one row looks for no other that was written', async (t) => {
  const written = new WriteSet();
  for (let n = 0; n < 1000; n++) {
    const k = new Uint8Array([n >> 8, n & 0xff]);
    written.add(asUntyped(plain), k, keyText(k), undefined, n);
  }
  const rows = written.of(plain.id)!;
  let looks = 0;
  rows.find = (text) => {
    looks++;
    return TableRows.prototype.find.call(rows, text);
  };
  for (const [reverse, first] of [
    [false, 10],
    [true, 899],
  ] as const) {
    looks = 0;
    const range = rows.between(new Uint8Array([0, 10]), new Uint8Array([3, 132]), reverse);
    t.equal(range.size, 890);
    t.equal(range.rows.next().value?.after, first);
    t.equal(looks, 1);
  }
});

t.test('a range leaves out rows that were taken back before the reader came to them', async (t) => {
  const overlay = createOverlay(createCommittedView(storeWith([]), scheme));
  for (const n of [1, 60]) overlay.set(plain, new Uint8Array([n]), n);
  const mark = overlay.mark();
  for (let n = 2; n < 50; n++) overlay.set(plain, new Uint8Array([n]), n);
  const seen: number[] = [];
  for (const [k] of overlay.range(plain, START_OF_TABLE, END_OF_TABLE, 99)) {
    seen.push(k[0]!);
    if (k[0] === 1) overlay.revert(mark);
  }
  t.strictSame(seen, [1, 60]);
});

t.test('a range after very many writes has them all', async (t) => {
  const overlay = createOverlay(createCommittedView(storeWith([]), scheme));
  const first = () => [...overlay.range(plain, START_OF_TABLE, END_OF_TABLE, 1)].length;
  overlay.set(plain, new Uint8Array([0, 0, 0]), 0);
  t.equal(first(), 1);
  const most = 200_000;
  for (let n = 1; n < most; n++) overlay.set(plain, new Uint8Array([n >> 16, n >> 8, n]), n);
  t.equal(first(), 1);
  t.equal([...overlay.range(plain, START_OF_TABLE, END_OF_TABLE, most)].length, most);
});

t.test('the head keeps hot values decoded, absence too, and no more than it may', async (t) => {
  const store = createMemoryStore();
  let reads = 0;
  const get = (id: number, key: Uint8Array) => {
    reads++;
    return store.get(id, key);
  };
  const head = createCommittedView({ ...store, get }, scheme);
  const k = (n: number) => new Uint8Array([0, n]);
  t.equal(head.get(texts, k(1)), undefined);
  t.equal(head.get(texts, k(1)), undefined);
  t.equal(reads, 1, 'absence is remembered');
  head.written(texts as never, keyText(k(1)), k(7), k(7));
  t.strictSame(head.get(texts, k(1)), k(7));
  t.equal(reads, 1);
  for (let n = 2; n < 9; n++) head.get(texts, k(n));
  t.equal(reads, 8);
  head.get(texts, k(1));
  t.equal(reads, 9, 'the oldest were dropped');
  const block = new Uint8Array(1000);
  const value = block.subarray(10, 12);
  head.written(texts as never, keyText(k(3)), value, value);
  t.equal(head.get(texts, k(3))!.buffer.byteLength, 2, 'a cached value does not pin a block');
});

t.test('a stored value that does not decode stops the node', async (t) => {
  const row = { table: accounts.id, key: new Uint8Array([1, 1]), value: new Uint8Array(17) };
  const store = createMemoryStore({ rows: [row] });
  t.throws(
    () => createCommittedView(store, scheme).get(accounts, new Uint8Array([1, 1])),
    /trailing/,
  );
});
