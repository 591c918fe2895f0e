import t from 'tap';
import { base58 } from '../../../src/codec/text.ts';
import { scripts } from '../../../src/ledger/tables.ts';
import { type Order, orderFromJson } from '../../../src/tx/fields/order.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { issue } from '../../../src/tx/types/003-issue.ts';
import { transfer } from '../../../src/tx/types/004-transfer.ts';
import { exchange } from '../../../src/tx/types/007-exchange.ts';
import { sponsorFee } from '../../../src/tx/types/014-sponsor-fee.ts';
import { compiled } from '../../generators/scripts.ts';
import { verdictsBy } from '../verdicts-by.ts';
import { type Actor, actor, createHarness, type Harness, scheme, WEST } from './ledger-harness.ts';

const [alice, bob, dex, carol] = [actor(1), actor(2), actor(3), actor(4)] as const;
const gold = { name: 'Gold', description: '', quantity: 1000n, decimals: 0, reissuable: false };
const HOUR = 3_600_000;

async function network(): Promise<Harness> {
  return createHarness({
    balances: [alice, bob, dex].map((of) => [of, 100n * WEST] as const),
    participants: [
      [alice, ['miner', 'permissioner', 'connection_manager', 'issuer']],
      [dex, ['dex']],
    ],
  });
}

const PRICE = 2n * WEST;

const BUYS_ONLY = `{-# LANGUAGE_VERSION 2 #-}
match tx { case o: Order => o.orderType == Buy && o.amount == 10 case _ => false }`;

function order(
  h: Harness,
  of: Actor,
  orderType: 'buy' | 'sell',
  amountAsset: Uint8Array,
  rest = {},
): Order {
  const json = {
    version: 2,
    senderPublicKey: base58.encode(of.publicKey),
    matcherPublicKey: base58.encode(dex.publicKey),
    assetPair: { amountAsset: base58.encode(amountAsset), priceAsset: null },
    orderType,
    amount: 10,
    price: PRICE,
    timestamp: h.now,
    expiration: h.now + HOUR,
    matcherFee: 1000,
    proofs: [base58.encode(new Uint8Array(64))],
    ...rest,
  };
  return orderFromJson(json, 'obj', scheme);
}

interface Trade {
  readonly order1: Order;
  readonly order2: Order;
}

const trade = (h: Harness, orders: Trade, amount: bigint, rest: object = {}): Tx =>
  h.make(exchange, dex, {
    orders,
    price: PRICE,
    amount,
    buyMatcherFee: 100n * amount,
    sellMatcherFee: 100n * amount,
    ...rest,
  });

t.test('scenario 71: partial fills up to the amount', async (t) => {
  const h = await network();
  const { id: asset } = h.send(issue, alice, gold);
  await h.mine();
  const before = h.balance(bob);
  const orders = { order1: order(h, bob, 'buy', asset), order2: order(h, alice, 'sell', asset) };
  t.equal(
    h.refusal(trade(h, orders, 4n, { buyMatcherFee: 401n })),
    'Insufficient buy fee',
    'the fee of an order is taken in proportion',
  );
  h.apply(trade(h, orders, 4n));
  await h.mine();
  t.equal(h.balance(bob, asset), 4n);
  t.equal(h.balance(bob), before - 8n - 400n);
  t.equal(h.balance(dex), 100n * WEST + 800n - exchange.fee!);
  t.equal(h.refusal(trade(h, orders, 7n)), 'Too much buy. Already filled volume for the order: 4');
  h.apply(trade(h, orders, 6n));
  await h.mine();
  t.equal(
    h.refusal(trade(h, orders, 1n)),
    'Too much buy. Already filled volume for the order: 10',
    'a full order is not replayed',
  );
  await h.rollback(1);
  h.apply(trade(h, orders, 6n));
});

t.test('a part that is worth less than one unit of the price asset', async (t) => {
  const h = await network();
  const { id: asset } = h.send(issue, alice, gold);
  await h.mine();
  const cheap = { price: WEST / 4n };
  const orders = {
    order1: order(h, bob, 'buy', asset, cheap),
    order2: order(h, alice, 'sell', asset, cheap),
  };
  const before = h.balance(alice);
  h.apply(trade(h, orders, 3n, cheap));
  await h.mine();
  t.equal(h.balance(bob, asset), 3n);
  t.equal(h.balance(alice), before - 300n, 'the seller gets nothing for it, and pays its fee');
});

t.test('who trades what', async (t) => {
  const h = await network();
  const { id: asset } = h.send(issue, alice, gold);
  const unknown = new Uint8Array(32).fill(5);
  const orders = (of: Uint8Array, rest = {}) => ({
    order1: order(h, bob, 'buy', of, rest),
    order2: order(h, alice, 'sell', of),
  });
  t.equal(
    h.refusal(trade(h, orders(unknown), 1n)),
    'Assets should be issued before they can be traded',
  );
  t.match(
    h.refusal(
      trade(
        h,
        { order1: order(h, bob, 'buy', asset), order2: order(h, carol, 'sell', asset) },
        1n,
        { sellMatcherFee: 0n },
      ),
    ),
    /^BalanceErrors\(.*negative asset balance/,
    'a seller sells what it has',
  );
  t.equal(
    h.refusal(trade(h, orders(asset, { proofs: [] }), 1n)),
    'Orders of non-scripted accounts must have exactly 1 proof',
  );
  for (const forged of [1, 2]) {
    const tx = trade(h, orders(asset), 1n);
    const verdicts = verdictsBy(tx, (index) => index !== forged);
    t.match(h.refusal(tx, { verdicts }), /doesn't validate/);
  }
  const concerned = [...(exchange.involved?.(trade(h, orders(asset), 1n) as never, h.head) ?? [])];
  t.same(concerned, [bob.address, alice.address]);
});

t.test('scenario 71: an order of version 1 from a scripted account', async (t) => {
  const h = await network();
  const { id: asset } = h.send(issue, alice, gold);
  await h.mine();
  h.draft.set(scripts, bob.address, compiled(BUYS_ONLY));
  const signature = base58.encode(new Uint8Array(64));
  const sell = order(h, alice, 'sell', asset);
  const old = order(h, bob, 'buy', asset, { version: 1, signature, proofs: undefined });
  t.equal(
    h.refusal(trade(h, { order1: old, order2: sell }, 1n)),
    `Can't process order with signature from scripted account`,
  );
  const newer = order(h, bob, 'buy', asset, { proofs: [] });
  h.apply(trade(h, { order1: newer, order2: sell }, 1n));
  await h.mine();
  h.draft.set(scripts, alice.address, compiled(BUYS_ONLY));
  t.equal(
    h.refusal(trade(h, { order1: newer, order2: sell }, 1n)),
    'Transaction is not allowed by account-script',
  );
});

t.test('scenario 71: what a trade with scripts needs', async (t) => {
  const h = await createHarness({
    balances: [alice, bob, dex].map((of) => [of, 100n * WEST] as const),
    participants: [
      [alice, ['miner', 'permissioner', 'connection_manager', 'issuer']],
      [dex, ['dex']],
    ],
    rules: { preActivatedFeatures: new Map([4, 7].map((id) => [id, 0])) },
  });
  const { id: asset } = h.send(issue, alice, gold);
  await h.mine();
  const signature = base58.encode(new Uint8Array(64));
  const old = { version: 1, signature, proofs: undefined };
  const orders = (rest = {}) => ({
    order1: order(h, bob, 'buy', asset, rest),
    order2: order(h, alice, 'sell', asset, rest),
  });
  h.draft.set(scripts, bob.address, compiled(BUYS_ONLY));
  t.match(
    h.refusal(trade(h, orders(), 1n)),
    /Blockchain feature 'Smart Account Trading' .* has not been activated yet/,
  );
  h.draft.remove(scripts, bob.address);
  h.draft.set(scripts, dex.address, compiled('true'));
  // A matcher with a script pays more.
  const fee = 2n * exchange.fee!;
  h.apply(trade(h, orders(), 1n, { fee }));
  const { fields } = trade(h, orders(old), 1n, { fee });
  t.equal(
    h.refusal(h.make(exchange, dex, fields, { version: 1 })),
    `Can't process transaction with signature from scripted account`,
  );
});

t.test('an exchange where the network has none', async (t) => {
  const h = await createHarness({
    balances: [alice, bob, dex].map((of) => [of, 100n * WEST] as const),
    participants: [
      [alice, ['miner', 'permissioner', 'connection_manager', 'issuer']],
      [dex, ['dex']],
    ],
    rules: { exchangeEnabled: false },
  });
  const { id: asset } = h.send(issue, alice, gold);
  const orders = { order1: order(h, bob, 'buy', asset), order2: order(h, alice, 'sell', asset) };
  t.match(h.refusal(trade(h, orders, 1n)), /The exchange/);
});

t.test('scenario 68: fees in a sponsored asset', async (t) => {
  const h = await network();
  const { id: asset } = h.send(issue, alice, { ...gold, quantity: 1_000_000n });
  h.send(transfer, alice, { recipient: carol.to, amount: 500_000n, assetId: asset });
  const pay = (fee: bigint) =>
    h.make(transfer, carol, {
      recipient: bob.to,
      amount: 1n,
      assetId: asset,
      feeAssetId: asset,
      fee,
    });
  t.equal(
    h.refusal(pay(100_000n)),
    `Asset '${base58.encode(asset)}' is not sponsored, cannot be used to pay fees`,
  );
  t.equal(
    h.refusal(
      h.make(sponsorFee, bob, { assetId: asset, minSponsoredAssetFee: 1n }, { version: 1 }),
    ),
    'Asset was issued by other address',
  );
  h.send(sponsorFee, alice, { assetId: asset, minSponsoredAssetFee: 10_000n }, { version: 1 });
  await h.mine();
  const [sponsor, generator] = [h.balance(alice), h.balance(actor(200))];
  t.equal(
    h.refusal(pay(99_999n)),
    `Fee '99999' in '${base58.encode(asset)}' for 'TransferTransaction' ` +
      `does not exceed minimal value of '100000'`,
  );
  h.apply(pay(100_000n));
  await h.mine();
  t.equal(h.balance(carol, asset), 399_999n);
  t.equal(h.balance(alice, asset), 600_000n);
  t.equal(h.balance(alice), sponsor - 1_000_000n, 'the sponsor pays in native units');
  t.equal(h.balance(actor(200)), generator + 1_000_000n);
  h.send(transfer, alice, { recipient: bob.to, amount: h.balance(alice) - 1_500_000n });
  t.match(h.refusal(pay(100_000n)), /^BalanceErrors\(.*negative WEST balance/, 'who has them');
  h.send(transfer, bob, { recipient: alice.to, amount: 10n * WEST });
  h.send(sponsorFee, alice, { assetId: asset, minSponsoredAssetFee: 0n }, { version: 1 });
  t.match(h.refusal(pay(100_000n)), /is not sponsored/, 'sponsorship has ended');
  await h.mine();
});
