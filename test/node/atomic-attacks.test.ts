/** What a stranger, or somebody who is trusted once, might try with atomic transactions. */
import t from 'tap';
import { type JsonObject, parse, stringify } from '../../src/base/json.ts';
import { txFromJson, txToJson } from '../../src/tx/json/encode.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { type Account, ROUND_MS, type WholeNode, wholeNode } from './in-process.ts';

const FEE = 1_000_000n;
const BY_HAND = { set: ['miner.enable=no'] };

const badge = (by: Account) => ({ atomicBadge: { trustedSender: by.text } });

const part = (
  whole: WholeNode,
  from: Account,
  to: Account,
  amount: bigint,
  by: Account,
  more: object = {},
): Tx =>
  whole.make(from, {
    ...{ type: 4, version: 3, recipient: to.text, amount, attachment: '' },
    ...badge(by),
    ...more,
  });

const jsonOf = (tx: Tx, { scheme }: WholeNode): JsonObject =>
  parse(stringify(txToJson(tx, scheme))) as JsonObject;

const group = (whole: WholeNode, by: Account, members: readonly Tx[], more: object = {}): Tx =>
  whole.make(by, {
    ...{ type: 120, transactions: members.map((tx) => jsonOf(tx, whole)) },
    ...more,
  });

const next = async (whole: WholeNode): Promise<void> => {
  await whole.clock.advance(ROUND_MS);
  await whole.produceBlock();
};

t.test('nobody puts her own claim of an alias into the group of another', async (t) => {
  const whole = await wholeNode(t, BY_HAND);
  const [owner, one, two] = whole.accounts;
  const claim = (from: Account, by: Account): Tx =>
    whole.make(from, { type: 10, version: 4, alias: 'precious', feeAssetId: null, ...badge(by) });
  const members = (first: Tx, by: Account) => [first, part(whole, one, two, 5n * FEE, by)];
  const tx = group(whole, one, members(claim(one, one), one));
  const swapped = jsonOf(tx, whole);
  (swapped['transactions'] as JsonObject[])[0] = jsonOf(claim(two, one), whole);
  const other = /of type 10 inside an atomic container must have its sender/;
  t.throws(() => txFromJson(swapped, whole.scheme), { message: other });
  t.throws(() => group(whole, owner, members(claim(one, owner), owner)), { message: other });
  await whole.node.pool.submit(tx);
  await next(whole);
  t.ok(whole.heightOf(tx));
});
