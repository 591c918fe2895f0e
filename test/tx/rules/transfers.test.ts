import t from 'tap';
import { latin1 } from '../../../src/base/bytes.ts';
import { I64_MAX } from '../../../src/base/int.ts';
import { CodecError } from '../../../src/codec/codec.ts';
import { base58 } from '../../../src/codec/text.ts';
import { createChainScheme } from '../../../src/crypto/chain-scheme.ts';
import { createFamily } from '../../../src/crypto/families.ts';
import { decodeTx } from '../../../src/tx/registry.ts';
import { issue } from '../../../src/tx/types/003-issue.ts';
import { transfer } from '../../../src/tx/types/004-transfer.ts';
import { reissue } from '../../../src/tx/types/005-reissue.ts';
import { burn } from '../../../src/tx/types/006-burn.ts';
import { leaseCancel } from '../../../src/tx/types/009-lease-cancel.ts';
import { createAlias } from '../../../src/tx/types/010-create-alias.ts';
import { massTransfer } from '../../../src/tx/types/011-mass-transfer.ts';
import { actor, createHarness, type Harness, scheme, toAlias, WEST } from './ledger-harness.ts';

const [alice, bob, carol] = [actor(1), actor(2), actor(3)] as const;
const HOUR = 3_600_000;

async function network(): Promise<Harness> {
  return createHarness({
    balances: [
      [alice, 1000n * WEST],
      [bob, 10n * WEST],
    ],
    participants: [[alice, ['miner', 'permissioner', 'connection_manager', 'issuer']]],
  });
}

const gold = { name: 'Gold', description: 'metal', quantity: 1000n, decimals: 2, reissuable: true };
const message = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

t.test('a transfer moves the amount, and the fee goes to the generator', async (t) => {
  const h = await network();
  const miner = actor(200);
  h.send(transfer, alice, { recipient: bob.to, amount: 5n });
  await h.mine();
  t.equal(h.balance(alice), 1000n * WEST - 5n - transfer.fee!);
  t.equal(h.balance(bob), 10n * WEST + 5n);
  t.equal(h.balance(miner), transfer.fee);
  h.send(transfer, alice, { recipient: alice.to, amount: 7n });
  await h.mine();
  t.equal(h.balance(alice), 1000n * WEST - 5n - 2n * transfer.fee!, 'to itself: only the fee');
});

t.test('more than there is', async (t) => {
  const h = await network();
  const asset = h.send(issue, alice, gold);
  const refusal = (input: object) =>
    h.refusal(h.make(transfer, bob, { recipient: carol.to, ...input }));
  t.equal(
    refusal({ amount: 10n * WEST }),
    'Attempt to transfer unavailable funds: Transaction application leads to negative WEST ' +
      'balance to (at least) temporary negative state, current balance equals 1000000000, ' +
      'spends equals -1001000000, result is -1000000',
  );
  t.equal(
    refusal({ amount: 1n, assetId: asset.id }),
    'Attempt to transfer unavailable funds: Transaction application leads to negative asset ' +
      `'${base58.encode(asset.id)}' balance to (at least) temporary negative state, ` +
      'current balance is 0, spends equals -1, result is -1',
  );
  h.send(transfer, alice, { recipient: bob.to, amount: 3n, assetId: asset.id });
  h.send(transfer, bob, { recipient: carol.to, amount: 3n, assetId: asset.id });
  await h.mine();
  t.equal(h.balance(carol, asset.id), 3n);
  t.equal(h.balance(bob, asset.id), 0n);
});

t.test('scenario 55: another network', async (t) => {
  const other = createChainScheme(createFamily('curve25519'), 'W'.charCodeAt(0));
  const h = await network();
  const here = [
    h.make(issue, alice, gold, { version: 2 }),
    h.make(
      reissue,
      alice,
      { assetId: new Uint8Array(32), quantity: 1n, reissuable: true },
      { version: 2 },
    ),
    h.make(burn, alice, { assetId: new Uint8Array(32), amount: 1n }, { version: 2 }),
    h.make(leaseCancel, alice, { leaseId: new Uint8Array(32) }, { version: 2 }),
  ];
  for (const tx of here) {
    t.equal(
      message(() => decodeTx(tx.bytes, other)).replace(/^\w+: /, ''),
      'Wrong chainId actual: 84, expected: 87',
      tx.def.name,
    );
  }
  const pay = h.make(transfer, alice, { recipient: bob.to, amount: 1n });
  t.throws(() => decodeTx(pay.bytes, other), CodecError);
});

t.test('scenario 56: neither too early nor too late', async (t) => {
  const h = await network();
  const parent = h.block.parentTimestamp;
  const at = (timestamp: number) =>
    h.make(transfer, alice, { recipient: bob.to, amount: 1n, timestamp });
  const early = h.now + 1.5 * HOUR + 1;
  t.equal(h.refusal(at(early)), `Transaction ts ${early} is from far future. BlockTime: ${h.now}`);
  const late = parent - 2 * HOUR - 1;
  t.equal(
    h.refusal(at(late)),
    `Transaction ts ${late} is too old. Previous block time: Some(${parent})`,
  );
  t.match(
    t.throws(() => h.apply(at(late))),
    { code: 303 },
  );
  h.apply(at(early - 1));
  h.apply(at(late + 1));
});

t.test('scenario 57: the same transaction again', async (t) => {
  const h = await network();
  const tx = h.send(transfer, alice, { recipient: bob.to, amount: 1n });
  const known = `Transaction ${base58.encode(tx.id)} is already in the state on a height of 2`;
  t.equal(h.refusal(tx), known);
  await h.mine();
  t.equal(h.refusal(tx), known);
  await h.rollback(1);
  h.apply(tx);
});

t.test('scenario 58: sums beyond 64 bits', async (t) => {
  const h = await network();
  const overflow = 'overflow error';
  const tooMuch = { recipient: bob.to, amount: I64_MAX };
  t.equal(
    message(() => h.make(transfer, alice, tooMuch)),
    overflow,
  );
  t.equal(
    message(() =>
      h.make(massTransfer, alice, { transfers: [tooMuch, { ...tooMuch, amount: 1n }] }),
    ),
    overflow,
  );
  const asset = h.send(issue, alice, gold);
  const more = { assetId: asset.id, quantity: I64_MAX - 1000n, reissuable: true };
  t.equal(
    h.refusal(h.make(reissue, alice, { ...more, quantity: I64_MAX - 999n })),
    'Asset total value overflow',
  );
  h.send(reissue, alice, more);
  await h.mine();
  t.equal(h.balance(alice, asset.id), I64_MAX);
});

t.test('reissue and burn', async (t) => {
  const h = await network();
  const { id: assetId } = h.send(issue, alice, gold);
  h.send(transfer, alice, { recipient: bob.to, amount: 10n, assetId });
  const again = (from: typeof alice, reissuable: boolean, of = assetId) =>
    h.make(reissue, from, { assetId: of, quantity: 1n, reissuable });
  t.equal(h.refusal(again(alice, true, new Uint8Array(32))), 'Referenced assetId not found');
  t.match(h.refusal(again(bob, true)), /^PermissionError/);
  h.apply(again(alice, false));
  t.equal(h.refusal(again(alice, true)), 'Asset is not reissuable');
  h.send(burn, bob, { assetId, amount: 4n });
  t.equal(
    h.refusal(h.make(burn, bob, { assetId, amount: 7n })),
    `BalanceErrors(${bob.text} -> negative asset balance: ` +
      `[asset: '${base58.encode(assetId)}' -> balance: '-1'])`,
  );
  t.equal(
    h.refusal(h.make(burn, bob, { assetId: new Uint8Array(32), amount: 0n })),
    'Referenced assetId not found',
  );
  await h.mine();
  t.equal(h.balance(bob, assetId), 6n);
});

t.test('before feature 6 only the issuer burns', async (t) => {
  const h = await createHarness({
    balances: [
      [alice, 1000n * WEST],
      [bob, 10n * WEST],
    ],
    participants: [[alice, ['miner', 'issuer']]],
    rules: {
      preActivatedFeatures: new Map([
        [4, 0],
        [7, 0],
      ]),
    },
  });
  const { id: assetId } = h.send(issue, alice, gold);
  h.send(transfer, alice, { recipient: bob.to, amount: 10n, assetId });
  t.equal(
    h.refusal(h.make(burn, bob, { assetId, amount: 1n })),
    'Asset was issued by other address',
  );
  h.send(burn, alice, { assetId, amount: 990n });
  t.equal(
    h.refusal(h.make(massTransfer, alice, { transfers: [] })),
    `ActivationError(Blockchain feature 'Mass Transfer Transaction' (id: '3') ` +
      'has not been activated yet, but is required for MassTransferTransaction)',
  );
  await h.mine();
});

t.test('scenario 62: recipients by alias', async (t) => {
  const h = await network();
  h.send(createAlias, bob, { alias: 'bobby' }, {});
  h.send(transfer, alice, { recipient: toAlias('bobby'), amount: 3n });
  t.equal(
    h.refusal(h.make(transfer, alice, { recipient: toAlias('nobody'), amount: 3n })),
    'AliasDoesNotExist(alias:T:nobody)',
  );
  const bytes = h.make(transfer, alice, { recipient: toAlias('bobby'), amount: 3n }).bytes.slice();
  bytes[latin1(bytes).indexOf('T', latin1(bytes).indexOf('bobby') - 4)] = 'W'.charCodeAt(0);
  t.match(
    message(() => decodeTx(bytes, scheme)),
    `Alias network char doesn't match current scheme`,
  );
  await h.mine();
  t.equal(h.balance(bob), 10n * WEST - createAlias.fee! + 3n);
});

t.test('scenario 63: one alias per address, four to thirty characters', async (t) => {
  const h = await network();
  const named = (from: typeof alice, alias: string) => h.make(createAlias, from, { alias });
  h.apply(named(alice, 'first'));
  t.equal(h.refusal(named(alice, 'second')), 'Only one alias per address is allowed');
  t.match(h.refusal(named(bob, 'first')), /is already in the state on a height of 2$/);
  const heightOf = () => undefined;
  t.equal(h.refusal(named(bob, 'first'), { heightOf }), 'Alias already claimed');
  for (const length of [3, 31]) {
    const alias = 'a'.repeat(length);
    t.match(
      message(() => decodeTx(named(bob, alias).bytes, scheme)),
      /^\w+: Alias '.*' length should be between 4 and 30$/,
      `${length} characters`,
    );
  }
  t.match(
    message(() => decodeTx(named(bob, 'Upper').bytes, scheme)),
    'Alias should contain only following characters: -.0123456789@_abcdefghijklmnopqrstuvwxyz',
  );
});

t.test('scenario 64: a hundred recipients, some more than once, the sender too', async (t) => {
  const h = await network();
  const { id: assetId } = h.send(issue, alice, gold);
  const list = Array.from({ length: 100 }, (_, i) => ({
    recipient: i % 3 === 0 ? alice.to : i % 3 === 1 ? bob.to : actor(10 + i).to,
    amount: 10n,
  }));
  const fee = 55_000_000n;
  h.send(massTransfer, alice, { transfers: list, assetId, fee });
  await h.mine();
  t.equal(h.balance(alice, assetId), 340n);
  t.equal(h.balance(bob, assetId), 330n);
  t.equal(h.balance(actor(12), assetId), 10n);
  h.send(massTransfer, alice, { transfers: list, fee });
  await h.mine();
  t.equal(h.balance(bob), 10n * WEST + 330n);
  h.send(massTransfer, alice, { transfers: [] });
  await h.mine();
  t.equal(
    h.refusal(h.make(massTransfer, alice, { transfers: [], assetId: new Uint8Array(32) })),
    'Attempt to transfer a nonexistent asset',
  );
  t.equal(
    h.refusal(
      h.make(massTransfer, alice, {
        transfers: [{ recipient: toAlias('nobody'), amount: 0n }],
        fee,
      }),
    ),
    'AliasDoesNotExist(alias:T:nobody)',
  );
  const tooMany = h.make(massTransfer, alice, { transfers: [...list, ...list.slice(0, 1)] });
  t.match(
    message(() => decodeTx(tooMany.bytes, scheme)),
    'Number of transfers 101 is greater than 100',
  );
});
