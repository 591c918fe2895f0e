// Scripts cost time, and what is refused pays nothing: so no script runs where another rule refuses.
import t from 'tap';
import { base58 } from '../../../src/codec/text.ts';
import { accountOf, available } from '../../../src/ledger/accounts.ts';
import { scripts } from '../../../src/ledger/tables.ts';
import { Meter, RUN_UNITS_MAX } from '../../../src/script/evaluation/meter.ts';
import { type Order, orderFromJson } from '../../../src/tx/fields/order.ts';
import type { ScriptRuns } from '../../../src/tx/scripts/script-runs.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { issue } from '../../../src/tx/types/003-issue.ts';
import { transfer } from '../../../src/tx/types/004-transfer.ts';
import { burn } from '../../../src/tx/types/006-burn.ts';
import { exchange } from '../../../src/tx/types/007-exchange.ts';
import { lease } from '../../../src/tx/types/008-lease.ts';
import { leaseCancel } from '../../../src/tx/types/009-lease-cancel.ts';
import { massTransfer } from '../../../src/tx/types/011-mass-transfer.ts';
import { setScript } from '../../../src/tx/types/013-set-script.ts';
import { compiled } from '../../generators/scripts.ts';
import { actor, createHarness, type Harness, scheme, WEST } from './ledger-harness.ts';

const [alice, bob, dex, poor] = [actor(1), actor(2), actor(3), actor(4)] as const;
const FEE = 1_400_000n;
const HOUR = 3_600_000;
const pay = { recipient: bob.to, amount: 1n, fee: FEE };

const gold = { name: 'Gold', description: '', quantity: 1000n, decimals: 0, reissuable: false };

const never: ScriptRuns = {
  begin: () => undefined,
  run: () => {
    throw new Error('a script has run');
  },
  readNew: () => {
    throw new Error('a script was read');
  },
};

/** Notes what happens, and lets it happen. */
function noting(h: Harness) {
  const notes: string[] = [];
  const runs: ScriptRuns = {
    begin: () => {
      notes.push(`begin, alice has ${available(accountOf(h.draft, alice.address))}`);
    },
    run: (owner, script) => {
      notes.push(owner);
      script(new Meter(RUN_UNITS_MAX));
    },
    readNew: (read) => {
      notes.push('new');
      read();
    },
  };
  return { notes, runs };
}

async function network(): Promise<Harness> {
  return createHarness({
    balances: [alice, bob, dex].map((of) => [of, 100n * WEST] as const),
    participants: [
      [alice, ['miner', 'permissioner', 'connection_manager', 'issuer']],
      [dex, ['dex']],
    ],
  });
}

t.test('the script of the sender', async (t) => {
  const h = await network();
  h.send(lease, alice, { recipient: bob.to, amount: 90n * WEST });
  for (const one of [alice, poor]) h.draft.set(scripts, one.address, compiled('true'));
  const known = h.send(transfer, alice, pay);
  const refused: readonly [string, Tx, RegExp][] = [
    ['time', h.make(transfer, alice, { ...pay, timestamp: h.now + 2 * HOUR }), /far future/],
    ['known id', known, /already in the state/],
    ['funds', h.make(transfer, poor, pay), /unavailable funds/],
    ['roles', h.make(issue, bobScripted(h), gold), /PermissionError/],
    ['fee', h.make(transfer, alice, { ...pay, fee: 1n }), /does not exceed minimal/],
    [
      'a rule',
      h.make(burn, alice, { assetId: new Uint8Array(32), amount: 1n, fee: WEST }),
      /not found/,
    ],
    ['another', h.make(leaseCancel, alice, { leaseId: new Uint8Array(32), fee: WEST }), /Lease/],
    ['what is leased out', h.make(transfer, alice, { ...pay, amount: 20n * WEST }), /leased/],
  ];
  for (const [what, tx, why] of refused) t.match(h.refusal(tx, { scripts: never }), why, what);
  const { notes, runs } = noting(h);
  const before = available(accountOf(h.draft, alice.address));
  h.apply(h.make(transfer, alice, { ...pay, amount: 2n }), { scripts: runs });
  t.same(notes, [`begin, alice has ${before - FEE - 2n}`, 'sender'], 'once, after all rules');
});

t.test('the script of an asset', async (t) => {
  const h = await network();
  const script = compiled('true', 'asset');
  const { id: assetId } = h.send(issue, alice, { ...gold, script });
  const some = (of: typeof alice, amount: bigint): Tx =>
    h.make(transfer, of, { ...pay, assetId, amount });
  t.match(h.refusal(some(bob, 1n), { scripts: never }), /unavailable funds/);
  t.match(h.refusal(some(poor, 1n), { scripts: never }), /unavailable funds/);
  const much = { transfers: [{ recipient: bob.to, amount: 2000n }], assetId, fee: WEST };
  t.match(h.refusal(h.make(massTransfer, alice, much), { scripts: never }), /funds|negative/);
  const { notes, runs } = noting(h);
  h.draft.set(scripts, alice.address, compiled('true'));
  h.apply(h.make(transfer, alice, { ...pay, assetId, fee: FEE + 400_000n }), { scripts: runs });
  t.same(notes.slice(1), ['sender', 'asset']);
});

t.test('the scripts of orders', async (t) => {
  const h = await network();
  const { id: asset } = h.send(issue, alice, { ...gold, script: compiled('true', 'asset') });
  await h.mine();
  for (const one of [alice, bob]) h.draft.set(scripts, one.address, compiled('true'));
  const orders = { order1: order(h, bob, 'buy', asset), order2: order(h, alice, 'sell', asset) };
  const trade = (rest: object): Tx =>
    h.make(exchange, dex, {
      ...{ orders, price: 2n * WEST, amount: 1n, buyMatcherFee: 100n, sellMatcherFee: 100n },
      ...{ fee: WEST, ...rest },
    });
  t.match(h.refusal(trade({ fee: 1000n * WEST }), { scripts: never }), /unavailable funds/);
  t.match(h.refusal(trade({ sellMatcherFee: 101n }), { scripts: never }), /Insufficient sell fee/);
  const { notes, runs } = noting(h);
  h.apply(trade({}), { scripts: runs });
  t.same(notes.slice(1), ['order', 'order', 'asset']);
});

t.test('the script that a transaction brings', async (t) => {
  const h = await network();
  const guard = { name: 'guard', description: '', script: compiled('true'), fee: WEST };
  const refused: readonly [string, Tx, RegExp][] = [
    ['funds', h.make(setScript, poor, guard), /unavailable funds/],
    ['fee', h.make(setScript, bob, { ...guard, fee: 1n }), /does not exceed minimal/],
    ['roles', h.make(setScript, alice, guard), /role other than contract_developer/],
    ['issuers', h.make(issue, bob, { ...gold, script: guard.script }), /PermissionError/],
  ];
  for (const [what, tx, why] of refused) t.match(h.refusal(tx, { scripts: never }), why, what);
  const { notes, runs } = noting(h);
  h.apply(h.make(setScript, bob, guard), { scripts: runs });
  t.match(notes, [/^begin/, 'new']);
  h.apply(h.make(setScript, bob, { ...guard, script: compiled('false') }), { scripts: runs });
  t.match(notes.slice(2), [/^begin/, 'sender', 'new'], 'behind the old one');
  h.apply(h.make(issue, alice, { ...gold, script: guard.script }), { scripts: runs });
  t.match(notes.slice(5), [/^begin/, 'new']);
  h.apply(h.make(issue, alice, gold), { scripts: runs });
  t.equal(notes.length, 7, 'none, none');
});

function bobScripted(h: Harness): typeof bob {
  h.draft.set(scripts, bob.address, compiled('true'));
  return bob;
}

function order(h: Harness, of: typeof alice, orderType: string, asset: Uint8Array): Order {
  const json = {
    version: 2,
    senderPublicKey: base58.encode(of.publicKey),
    matcherPublicKey: base58.encode(dex.publicKey),
    assetPair: { amountAsset: base58.encode(asset), priceAsset: null },
    orderType,
    amount: 10,
    price: 2n * WEST,
    timestamp: h.now,
    expiration: h.now + HOUR,
    matcherFee: 1000,
    proofs: [base58.encode(new Uint8Array(64))],
  };
  return orderFromJson(json, 'obj', scheme);
}
