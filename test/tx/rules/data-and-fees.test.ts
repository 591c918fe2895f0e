import t from 'tap';
import { dataEntries } from '../../../src/ledger/data.ts';
import { calculateFee } from '../../../src/tx/rules/fees.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { issue } from '../../../src/tx/types/003-issue.ts';
import { transfer } from '../../../src/tx/types/004-transfer.ts';
import { reissue } from '../../../src/tx/types/005-reissue.ts';
import { burn } from '../../../src/tx/types/006-burn.ts';
import { lease } from '../../../src/tx/types/008-lease.ts';
import { leaseCancel } from '../../../src/tx/types/009-lease-cancel.ts';
import { createAlias } from '../../../src/tx/types/010-create-alias.ts';
import { massTransfer } from '../../../src/tx/types/011-mass-transfer.ts';
import { data } from '../../../src/tx/types/012-data.ts';
import { permit } from '../../../src/tx/types/102-permit.ts';
import { registerNode } from '../../../src/tx/types/111-register-node.ts';
import { compiled } from '../../generators/scripts.ts';
import {
  actor,
  createHarness,
  defaultFees,
  type Genesis,
  type Harness,
  WEST,
} from './ledger-harness.ts';

const [alice, bob] = [actor(1), actor(2)] as const;
const ALL_FEATURES = [2, 3, 4, 5, 6, 7, 9, 10];

async function network(settings: Genesis['rules'] = {}): Promise<Harness> {
  return createHarness({
    balances: [
      [alice, 1000n * WEST],
      [bob, 10n * WEST],
    ],
    participants: [[alice, ['miner', 'permissioner', 'connection_manager', 'issuer']]],
    rules: settings,
  });
}

const message = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

const own = (of: typeof alice) => ({ authorPublicKey: of.publicKey });
const text = (key: string, value: string) => ({ key, type: 'string', value }) as const;

t.test('data entries are added and replaced', async (t) => {
  const h = await network();
  const put = (entries: readonly object[]) => h.send(data, alice, { ...own(alice), data: entries });
  put([
    { key: 'n', type: 'integer', value: -5n },
    { key: 'b', type: 'boolean', value: true },
    { key: 'raw', type: 'binary', value: Uint8Array.of(1, 2) },
    text('s', 'one'),
  ]);
  await h.mine();
  put([text('n', 'now a text')]);
  await h.mine();
  t.same(
    [...dataEntries(h.head, alice.address, 10)],
    [
      ['b', { type: 'boolean', value: true }],
      ['n', { type: 'string', value: 'now a text' }],
      ['raw', { type: 'binary', value: Uint8Array.of(1, 2) }],
      ['s', { type: 'string', value: 'one' }],
    ],
  );
});

t.test('scenario 65: an author must be the sender while that has no script', async (t) => {
  const h = await network();
  const tx = h.make(data, alice, { ...own(bob), data: [text('k', 'v')] });
  t.equal(h.refusal(tx), 'The author of the data must be its sender, since that has no script');
});

t.test('scenario 66: limits of data', async (t) => {
  const h = await network();
  const entries = (list: readonly object[]) =>
    message(() => {
      const tx = h.make(data, alice, { ...own(alice), data: list, fee: WEST });
      data.fields.data.fromJson(
        data.fields.data.toJson(tx.fields['data'] as never, h.head.scheme),
        'obj.data',
        h.head.scheme,
      );
    });
  const many = (count: number, size = 1) =>
    Array.from({ length: count }, (_, i) => text(`key${i}`, 'x'.repeat(size)));
  t.equal(entries(many(100)), '');
  t.match(entries(many(101)), /Too big sequences requested: 101 items/);
  t.match(entries([text('same', '1'), text('same', '2')]), 'Duplicate keys found');
  t.match(entries([text('', '1')]), 'Empty key found');
  t.equal(entries([text('k', 'x'.repeat(32_767))]), '');
  t.not(entries([text('k', 'x'.repeat(32_768))]), '');
  t.match(entries(many(5, 32_000)), /bytes/, 'more than 150 KiB in all');
});

/** One transaction of each type with the least that it needs. */
function samples(h: Harness, fee?: bigint): readonly Tx[] {
  const rest = fee === undefined ? {} : { fee };
  const asset = h.send(issue, alice, {
    name: 'Gold',
    description: '',
    quantity: 10n,
    decimals: 0,
    reissuable: true,
  });
  const leased = h.send(lease, alice, { recipient: bob.to, amount: 1n });
  const { id: assetId } = asset;
  return [
    h.make(issue, alice, {
      name: 'Iron',
      description: '',
      quantity: 1n,
      decimals: 0,
      reissuable: false,
      ...rest,
    }),
    h.make(transfer, alice, { recipient: bob.to, amount: 1n, ...rest }),
    h.make(reissue, alice, { assetId, quantity: 1n, reissuable: true, ...rest }),
    h.make(burn, alice, { assetId, amount: 1n, ...rest }),
    h.make(lease, alice, { recipient: bob.to, amount: 2n, ...rest }),
    h.make(leaseCancel, alice, { leaseId: leased.id, ...rest }),
    h.make(createAlias, alice, { alias: 'alice', ...rest }),
    h.make(permit, alice, { target: bob.to, opType: 'add', role: 'dex', ...rest }),
    h.make(registerNode, alice, {
      targetPubKey: bob.publicKey,
      nodeName: 'bob',
      opType: 'add',
      ...rest,
    }),
  ];
}

t.test('scenario 67: one unit below the minimum, and the minimum', async (t) => {
  const h = await network();
  for (const { def } of samples(h)) {
    const minimum = def.fee!;
    const cheap = samples(await network(), minimum - 1n).find((tx) => tx.type === def.type)!;
    const fresh = await network();
    samples(fresh);
    t.equal(
      fresh.refusal({ ...cheap, timestamp: fresh.now }),
      `Fee '${minimum - 1n}' in 'WEST' for '${def.name}' ` +
        `does not exceed minimal value of '${minimum}'`,
    );
    t.same(calculateFee(cheap, h.draft, h.block), { feeAssetId: undefined, feeAmount: minimum });
  }
  for (const tx of samples(await network())) {
    const fresh = await network();
    const same = samples(fresh).find(({ type }) => type === tx.type)!;
    fresh.apply(same);
    await fresh.mine();
    t.pass(`${tx.def.name} at the minimum`);
  }
});

t.test('scenario 67: fees that grow with the transaction', async (t) => {
  const h = await network();
  const minimum = (tx: Tx) => calculateFee(tx, h.draft, h.block).feeAmount;
  const mass = (count: number, fee = 0n) =>
    h.make(massTransfer, alice, {
      transfers: Array.from({ length: count }, () => ({ recipient: bob.to, amount: 1n })),
      fee,
    });
  const million = 1_000_000n;
  t.same(
    [0, 1, 2, 3, 4].map((n) => minimum(mass(n))),
    [5n * million, 6n * million, 6n * million, 7n * million, 7n * million],
  );
  const ofBytes = (bytes: number, fee = 0n): Tx => {
    const probe = h.make(data, alice, { ...own(alice), data: [text('k', '')], fee });
    const fill = 'x'.repeat(bytes - probe.body.length);
    return h.make(data, alice, { ...own(alice), data: [text('k', fill)], fee });
  };
  t.equal(minimum(ofBytes(1024)), 5n * million);
  t.equal(minimum(ofBytes(1025)), 6n * million);
  t.equal(minimum(ofBytes(2048)), 6n * million);
  t.equal(minimum(ofBytes(2049)), 7n * million);
  t.equal(
    h.refusal(ofBytes(1025, 6n * million - 1n)),
    `Fee '5999999' in 'WEST' for 'DataTransaction' does not exceed minimal value of '6000000'`,
  );
  h.apply(ofBytes(1025, 6n * million));
  h.apply(mass(3, 7n * million));
  await h.mine();
});

t.test('fees switched off, and before the fee switch', async (t) => {
  const free = await network({ fees: { ...defaultFees, enabled: false } });
  free.send(transfer, bob, { recipient: alice.to, amount: 1n, fee: 0n });
  free.send(transfer, bob, { recipient: alice.to, amount: 1n, fee: 3n });
  await free.mine();
  t.equal(free.balance(bob), 10n * WEST - 5n, 'whatever is attached is moved');
  const early = await network({ preActivatedFeatures: new Map([[4, 0]]) });
  early.send(transfer, bob, { recipient: alice.to, amount: 1n, fee: 1n });
  t.equal(
    early.refusal(early.make(transfer, bob, { recipient: alice.to, amount: 1n, fee: 0n })),
    'Fee must be positive for tx type 4.',
  );
});

t.test('feature 2: two fifths now, the rest to the next generator', async (t) => {
  const h = await network({ preActivatedFeatures: new Map(ALL_FEATURES.map((id) => [id, 0])) });
  const [first, second] = [actor(200), actor(201)] as const;
  h.send(transfer, bob, { recipient: alice.to, amount: 1n, fee: 1_000_009n });
  await h.mine(second);
  t.equal(h.balance(first), 400_002n);
  t.equal(h.balance(second), 600_007n, 'before its first transaction');
  await h.mine(first);
  t.equal(h.balance(first), 400_002n);
  await h.rollback(2);
  t.equal(h.balance(first), 0n);
});

t.test('an asset that is not sponsored pays no fee', async (t) => {
  const h = await network();
  const pay = { recipient: bob.to, amount: 1n, feeAssetId: new Uint8Array(32), fee: 0n };
  t.equal(
    h.refusal(h.make(transfer, alice, pay)),
    `Asset '11111111111111111111111111111111' does not exist, cannot be used to pay fees`,
  );
});

t.test('fees where the fee switch is not active', async (t) => {
  const fees = { ...defaultFees, base: new Map([[4, 1n]]) };
  const preActivatedFeatures = new Map([3, 4, 5].map((id) => [id, 0]));
  const h = await network({ fees, preActivatedFeatures });
  const priced = (fee: bigint) => h.make(transfer, alice, { recipient: bob.to, amount: 1n, fee });
  const free = (fee: bigint) => h.make(createAlias, alice, { alias: 'alice', fee });
  // No bytes have a fee below zero, so the second rule is tried without them.
  t.equal(h.refusal(priced(0n)), 'Fee must be positive for tx type 4.');
  t.equal(h.refusal({ ...free(0n), fee: -1n } as Tx), 'Fee must be non negative for tx type 10.');
  h.apply(priced(1n));
  h.apply(free(0n));
});

t.test('a script of an asset needs its feature', async (t) => {
  const h = await network({ preActivatedFeatures: new Map([4, 7].map((id) => [id, 0])) });
  const gold = { name: 'Gold', description: '', quantity: 1n, decimals: 0, reissuable: false };
  t.match(
    h.refusal(h.make(issue, alice, { ...gold, script: compiled('true') })),
    /Blockchain feature 'Smart Assets' .* has not been activated yet/,
  );
  h.send(issue, alice, gold);
});

t.test('a version of a transaction needs its feature', async (t) => {
  const h = await network();
  const pay = { recipient: bob.to, amount: 1n, atomicBadge: undefined };
  t.match(
    h.refusal(h.make(transfer, alice, pay, { version: 3 })),
    /Blockchain feature 'Atomic transactions' .* has not been activated yet/,
  );
});
