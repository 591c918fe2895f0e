import t from 'tap';
import {
  createDoubtOrder,
  type Doubted,
  takenWithoutEngine,
} from '../../../src/contracts/waiting/doubt-order.ts';
import type { PoolEntry } from '../../../src/mempool/entries/entry.ts';

const KEY_BYTES = 32;

/** A single transaction of this contract, whose name has one character. */
function single(type: number, contract: string): PoolEntry {
  const bytes = new Uint8Array(3 + KEY_BYTES + 3);
  bytes.set([0, 1, contract.charCodeAt(0)], 3 + KEY_BYTES);
  return { def: { type, executable: type !== 106 }, key: 'id', bytes } as unknown as PoolEntry;
}

/** An atomic transaction that calls these contracts, and may end one. */
function group(contracts: string, ...more: readonly number[]): PoolEntry {
  return {
    def: { type: 120 },
    memberTypes: new Set([...(contracts === '' ? [] : [104]), ...more]),
    memberContracts: [...contracts].map((key) => ({ key })),
  } as unknown as PoolEntry;
}

const orderOf = (entries: readonly PoolEntry[], over: readonly PoolEntry[] = []) =>
  createDoubtOrder(doubted(entries), KEY_BYTES, (entry) => over.includes(entry));

const doubted = (entries: readonly PoolEntry[]): Doubted => ({
  inDoubt: () => entries,
  isInDoubt: (entry) => entries.includes(entry),
});

t.test('one waits for those of the other part that come before it', async (t) => {
  const [first, both, call, end, other] = [
    single(104, 'a'),
    group('ba'),
    single(104, 'b'),
    single(106, 'a'),
    single(104, 'c'),
  ] as const;
  const all = [first, both, call, end, other];
  const { waits } = orderOf(all);
  t.strictSame(all.map(waits), [false, true, true, true, false]);
  t.strictSame(all.map(orderOf(all, [first]).waits), [false, false, true, true, false]);
  t.strictSame(all.map(orderOf(all, [first, both]).waits), Array(5).fill(false));
  t.equal(waits(single(106, 'a')), false, 'what is in no doubt');
});

t.test('atomic transactions wait for the one before them', async (t) => {
  const [first, both, other, last] = [group('a'), group('ba'), group('c'), group('ac')] as const;
  const all = [first, both, other, last];
  t.strictSame(all.map(orderOf(all).before), [undefined, first, undefined, both]);
  t.strictSame(all.map(orderOf(all, [both]).before), [undefined, first, undefined, first]);
  t.strictSame(all.map(orderOf(all, [first, both]).before), [
    undefined,
    undefined,
    undefined,
    other,
  ]);
  t.equal(orderOf(all).before(group('a')), undefined, 'what is in no doubt');
});

t.test('one that calls a contract and ends another one comes behind all', async (t) => {
  const [call, calls, end, later] = [
    single(104, 'a'),
    group('b'),
    group('c', 106),
    single(104, 'c'),
  ] as const;
  const all = [call, calls, end, later];
  t.strictSame(all.map(orderOf(all).waits), [false, false, true, true]);
  t.equal(orderOf(all).before(end), calls);
  const { waits, before } = orderOf(all, [call, calls]);
  t.strictSame([waits(end), before(end)], [false, undefined]);
});

t.test('what is in doubt since the block was begun waits for the next one', async (t) => {
  const [call, late, lateEnd] = [single(104, 'a'), single(104, 'b'), group('', 106)] as const;
  const entries = [call];
  const { waits, held } = createDoubtOrder(doubted(entries), KEY_BYTES, (entry) => entry === call);
  entries.push(late, lateEnd);
  t.strictSame([call, late, lateEnd, single(104, 'b')].map(waits), [false, true, true, false]);
  t.strictSame([...held()], [lateEnd]);
});

t.test('the places are those of the pool, and all others come behind', async (t) => {
  const [later, earlier] = [single(104, 'a'), single(104, 'a')];
  const { placeOf } = orderOf([later, earlier]);
  t.strictSame([later, earlier, single(104, 'a')].map(placeOf!), [0, 1, Number.POSITIVE_INFINITY]);
  t.equal(orderOf([]).placeOf, undefined);
});

t.test('the end of a contract waits where nothing is executed', async (t) => {
  const [call, end, ofOther] = [single(104, 'a'), single(106, 'a'), single(106, 'b')] as const;
  const [atomicCall, atomicEnd, plain] = [group('b'), group('', 106), group('', 4)] as const;
  const taken = (...entries: readonly PoolEntry[]): readonly boolean[] =>
    entries.map(takenWithoutEngine(() => entries, KEY_BYTES));
  t.strictSame(taken(end, call), [true, false]);
  t.strictSame(taken(call, end, ofOther), [false, false, true]);
  t.strictSame(taken(atomicCall, ofOther, end), [false, false, true]);
  t.strictSame(taken(atomicEnd, call, plain), [true, false, true]);
  t.strictSame(taken(call, atomicEnd, plain), [false, false, true]);
  t.strictSame([...orderOf([call, atomicEnd]).held()], [atomicEnd]);
  t.strictSame([...orderOf([call, atomicEnd], [call]).held()], [], 'the call has had its turn');
});
