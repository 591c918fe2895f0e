/**
 * The cost of questions about the past, in rows read from the store. A chain that is ten times as
 * long must answer at the same cost (docs/architecture.md, "Questions about the past").
 */
import t from 'tap';
import type { Store, StoreView } from '../../src/base/ports/store.ts';
import {
  findTransaction,
  headerRowAt,
  transactionsOf,
} from '../../src/chain/store/stored-blocks.ts';
import { Writer } from '../../src/codec/codec.ts';
import { inOneGo } from '../../src/concurrency/steps.ts';
import { effective } from '../../src/ledger/accounts.ts';
import {
  everHolders,
  GENERATING_DEPTH,
  generatingBalance,
  minimumOver,
} from '../../src/ledger/balance-history.ts';
import { createCommittedView, type KeyedView, viewOf } from '../../src/ledger/committed-view.ts';
import { minersInSteps } from '../../src/ledger/miner-queue.ts';
import { createOverlay } from '../../src/ledger/overlay.ts';
import { rolesAt } from '../../src/ledger/permissions.ts';
import { accountHistory } from '../../src/ledger/tables.ts';
import { issue } from '../../src/tx/types/003-issue.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { permit } from '../../src/tx/types/102-permit.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import {
  mine,
  miners,
  newChain,
  nextTurn,
  payment,
  scheme,
  signed,
  users,
} from './chain-harness.ts';

const minersAt = (...of: Parameters<typeof minersInSteps>) => inOneGo(minersInSteps(...of));

const [alice, bob, carol] = users;
const [one, two] = miners as [(typeof miners)[0], (typeof miners)[0]];
const FEE = 1_000_000n;

/** Counts lookups and the rows that are taken out of ranges. */
function counted(store: StoreView): { readonly view: KeyedView; reads(): number } {
  let reads = 0;
  const view = viewOf(
    {
      get(table, key) {
        reads++;
        return store.get(table, key);
      },
      *range(table, from, to, limit, reverse) {
        reads++;
        for (const row of store.range(table, from, to, limit, reverse)) {
          reads++;
          yield row;
        }
      },
    },
    scheme,
  );
  return { view, reads: () => reads };
}

const role = (opType: 'add' | 'remove', timestamp: number) =>
  signed(
    permit,
    one,
    {
      target: { kind: 'address', bytes: carol.address },
      timestamp,
      fee: FEE,
      opType,
      role: 'miner',
      dueTimestamp: undefined,
    } as never,
    1,
  );

interface History {
  readonly store: Store;
  readonly height: number;
  readonly asset: Uint8Array;
  /** Id of the first payment of the newest block but five. */
  readonly paid: Uint8Array;
}

/** Everybody is busy in every block; carol gets something once. */
async function busyChain(blocks: number): Promise<History> {
  const store = createMemoryStore();
  const at = await newChain(store);
  const base = { fee: 100_000_000n, timestamp: at.clock.time };
  const gold = { name: 'Gold', description: '', decimals: 0, reissuable: false };
  const asset = signed(issue, one, {
    ...base,
    ...gold,
    quantity: 1_000_000n,
    chainId: scheme.chainId,
    script: undefined,
  } as never);
  await mine(at, [asset, payment(alice, carol, 5n, at.clock.time)]);
  const paid: Uint8Array[] = [];
  for (let i = 0; i < blocks; i++) {
    const { time } = nextTurn(at);
    // She is a miner at the very time of every other block, and never has a turn.
    const [given, taken] = [role('add', time - 5), role('remove', time + 5)];
    const gift = signed(transfer, one, {
      timestamp: time,
      amount: 1n,
      fee: FEE,
      assetId: asset.id,
      recipient: { kind: 'address', bytes: alice.address },
      attachment: new Uint8Array(0),
    });
    const pay = payment(alice, bob, 1n, time);
    paid.push(pay.id);
    await mine(at, i % 2 === 0 ? [given, taken, gift, pay] : [gift, pay]);
  }
  return { store, height: at.blockchain.tip().height, asset: asset.id, paid: paid.at(-6)! };
}

const questions: Readonly<Record<string, (view: KeyedView, of: History) => unknown>> = {
  'the lowest balance over 6 blocks': (view, { height }) =>
    minimumOver(view, alice.address, height, 6, effective),
  'the generating balance of an account that rests': (view, { height }) =>
    generatingBalance(view, carol.address, height),
  'roles at a past time': (view) =>
    rolesAt(view, carol.address, headerRowAt(view, 7)!.header.timestamp),
  'miners at a past height': (view) => minersAt(view, headerRowAt(view, 7)!.header.timestamp),
  'the distribution of an asset at a past height': (view, { asset }) => [
    ...everHolders(view, asset, 7),
  ],
  'the newest transactions of an address': (view) => [...transactionsOf(view, alice.address, 5)],
  'the page after a transaction': (view, { paid }) => [
    ...transactionsOf(view, alice.address, 5, findTransaction(view, paid)),
  ],
};

t.test('ten times the blocks, the same number of reads', async (t) => {
  const short = await busyChain(14);
  const long = await busyChain(140);
  for (const [name, ask] of Object.entries(questions)) {
    const [few, many] = [counted(short.store), counted(long.store)];
    ask(few.view, short);
    ask(many.view, long);
    t.equal(many.reads(), few.reads(), name);
    t.ok(few.reads() <= 20, `${name}: ${few.reads()} reads`);
  }
});

t.test('answers about the past are those that were given then', async (t) => {
  const { store, asset } = await busyChain(20);
  const view = viewOf(store, scheme);
  for (const height of [3, 7, 15]) {
    const given = BigInt(height - 2);
    t.same(
      [...everHolders(view, asset, height)].map(([address, balance]) => [
        scheme.addressToText(address),
        balance,
      ]),
      [
        [alice.text, given],
        [one.text, 1_000_000n - given],
      ].sort(([a], [b]) => compareAddresses(String(a), String(b))),
    );
    const { timestamp } = headerRowAt(view, height)!.header;
    const names = minersAt(view, timestamp).map((address) => scheme.addressToText(address));
    t.equal(names.includes(carol.text), height % 2 === 1, `height ${height}`);
    t.ok(names.includes(two.text));
  }
  t.same(
    [...everHolders(view, asset, 1)].map(([, balance]) => balance),
    [0n, 0n],
  );
});

const compareAddresses = (a: string, b: string): number =>
  Buffer.compare(Buffer.from(scheme.addressFromText(a)), Buffer.from(scheme.addressFromText(b)));

t.test('a generating balance reads a thousand blocks at most', async (t) => {
  const store = createMemoryStore();
  const ledger = createOverlay(createCommittedView(store, scheme));
  const changes = 20_000;
  for (let height = 1; height <= changes; height++) {
    const account = { balance: BigInt(height), leasedIn: 0n, leasedOut: 0n };
    ledger.set(accountHistory, [alice.address, height], account);
  }
  const { id, key, value } = accountHistory;
  const out = new Writer(scheme);
  await store.write(
    Array.from(
      ledger.range(accountHistory, new Uint8Array(1), new Uint8Array(30).fill(255), changes),
    ).map(([at, account]) => {
      value.write(out, account);
      return { table: id, key: key.encode(at), value: out.take() };
    }),
  );
  const { view, reads } = counted(store);
  const lowest = generatingBalance(view, alice.address, changes);
  t.equal(lowest, BigInt(changes - GENERATING_DEPTH + 1));
  t.ok(reads() <= GENERATING_DEPTH + 2, `${reads()} reads`);
});
