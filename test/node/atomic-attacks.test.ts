/** What a stranger, or somebody who is trusted once, might try with atomic transactions. */

import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { apiError } from '../../src/base/errors.ts';
import { type JsonObject, parse, stringify } from '../../src/base/json/json.ts';
import { pack } from '../../src/mempool/packer.ts';
import { txFromJson, txToJson } from '../../src/tx/json/encode.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { type Signer, sealedForBlock } from '../../src/tx/types/120-atomic.ts';
import { makeBlock } from '../chain/make-block.ts';
import { seededRandom } from '../crypto/random.ts';
import { binaryOf, doubled } from '../generators/dear-scripts.ts';
import { compiled } from '../generators/scripts.ts';
import { type Account, ROUND_MS, type WholeNode, wholeNode } from './in-process.ts';

const FEE = 1_000_000n;
const MINUTE = 60_000;
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

/** Of the node's owner, who makes the blocks. */
const signerOf = ({ accounts, family }: WholeNode): Signer<Uint8Array> => {
  const [{ privateKey, publicKey }] = accounts;
  const random = seededRandom('seals');
  return { publicKey, sign: (message) => family.sign(privateKey, message, random) };
};

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

t.test('a group with more runs of scripts than a block has is refused at once', async (t) => {
  const whole = await wholeNode(t, BY_HAND);
  const [owner, one, two] = whole.accounts;
  const scriptOf = (bytes: Uint8Array): string => `base64:${Buffer.from(bytes).toString('base64')}`;
  const asset = await whole.send(owner, {
    ...{ type: 3, version: 2, name: 'token', description: '', quantity: 1000, decimals: 0 },
    ...{ reissuable: false, script: scriptOf(compiled('true', 'asset')) },
  });
  const guard = { script: scriptOf(compiled('true')), name: 's', description: '' };
  await whole.send(one, { type: 13, ...guard, fee: 50n * FEE });
  await next(whole);
  const assetId = base58.encode(asset.id);
  await whole.send(owner, {
    ...{ type: 4, version: 2, recipient: one.text, amount: 500, attachment: '' },
    ...{ assetId, fee: 5n * FEE },
  });
  await next(whole);
  const timestamp = whole.clock.now();
  const membersOf = (count: number): Tx[] =>
    Array.from({ length: count }, (_, i) =>
      part(whole, one, two, 1n, owner, { assetId, fee: 5n * FEE, timestamp: timestamp + i }),
    );
  const tooMany = group(whole, owner, membersOf(51));
  const message = 'The transaction needs 102 runs of scripts, and a block has at most 100';
  t.match(await whole.refusal(tooMany), { code: 112, message: new RegExp(message) });
  const sealed = sealedForBlock(tooMany, signerOf(whole));
  await whole.clock.advance(ROUND_MS);
  await t.rejects(whole.produceBlock(sealed), { message: new RegExp(message) });
  const most = await whole.node.pool.submit(group(whole, owner, membersOf(50)));
  await next(whole);
  t.ok(whole.heightOf(most));
});

t.test('a group whose new scripts need more than a block has is refused at once', async (t) => {
  const whole = await wholeNode(t, BY_HAND);
  const [owner] = whole.accounts;
  const dear = binaryOf({
    ...{ op: 'block', name: 'any', value: { op: 'bool', value: true } },
    body: doubled(14, { op: 'ref', name: 'any' }),
  });
  const timestamp = whole.clock.now();
  const groupOf = (count: number): Tx => {
    const members = Array.from({ length: count }, (_, i) =>
      whole.make(owner, {
        ...{ type: 3, version: 3, name: 'token', description: '', quantity: 9, decimals: 0 },
        ...{ reissuable: false, script: `base64:${Buffer.from(dear).toString('base64')}` },
        ...{ ...badge(owner), timestamp: timestamp + i },
      }),
    );
    return group(whole, owner, members);
  };
  const message = /The scripts of the transaction need more units than a block has/;
  const tooMuch = groupOf(43);
  t.match(await whole.refusal(tooMuch), { code: 112, message });
  await whole.clock.advance(ROUND_MS);
  await t.rejects(whole.produceBlock(sealedForBlock(tooMuch, signerOf(whole))), { message });
  const most = await whole.node.pool.submit(groupOf(42));
  await next(whole);
  t.ok(whole.heightOf(most));
});

t.test('a group that fits into a block only without its seal leaves the pool', async (t) => {
  const whole = await wholeNode(t, BY_HAND);
  const [owner, one, two] = whole.accounts;
  const tx = group(whole, owner, [
    part(whole, one, two, 1n, owner),
    part(whole, one, two, 2n, owner),
  ]);
  const { pool, blockchain } = whole.node;
  await pool.submit(tx);
  await whole.clock.advance(ROUND_MS);
  const signer = { ...owner, ...signerOf(whole) };
  const bytesMax = tx.bytes.length + 50;
  await makeBlock(blockchain, signer, whole.clock.now(), async (draft) => {
    await pack(pool, { bytesMax, countMax: 10 }, draft, whole.clock, { signer });
  });
  t.equal(pool.size(), 0);
  t.match(pool.dropped(tx.id), /fit into no block of this network/);
});

t.test('a member waits in one group at a time', async (t) => {
  const whole = await wholeNode(t, BY_HAND);
  const [owner, one, two] = whole.accounts;
  const { pool } = whole.node;
  const poor = whole.newAccount('somebody with little');
  await whole.send(owner, {
    ...{ type: 4, version: 2, recipient: poor.text, amount: 9n * FEE, attachment: '' },
  });
  await next(whole);
  const members = [part(whole, poor, two, 1n, two), part(whole, poor, two, 2n, two)];
  const groupAt = (i: number): Tx =>
    group(whole, two, members, { timestamp: whole.clock.now() + i });
  const first = await pool.submit(groupAt(0));
  const [id, holder] = [members[0]!, first].map((tx) => base58.encode(tx.id));
  const message = `Transaction ${id} waits in the pool already, in the transaction ${holder}`;
  t.match(await whole.refusal(groupAt(1)), { code: 112, message: new RegExp(message) });
  await t.rejects(pool.check(groupAt(2)), { message: new RegExp(message) });
  const shared = [members[0]!, part(whole, poor, two, 3n, two)];
  t.match(await whole.refusal(group(whole, two, shared)), { message: new RegExp(message) });
  await pool.submit(first);
  t.equal(pool.size(), 1);
  await pool.submit(whole.transfer(poor, one, 5n));
  await next(whole);
  t.ok(whole.heightOf(first));
  t.match(await whole.refusal(groupAt(3)), { message: /is already in the state/ });
});

t.test('an alias is claimed by itself or in a group, and not in both', async (t) => {
  const whole = await wholeNode(t, BY_HAND);
  const [owner, one, two] = whole.accounts;
  const { pool } = whole.node;
  const about = { type: 10, alias: 'precious', feeAssetId: null };
  const inside = whole.make(one, { ...about, version: 4, ...badge(one) });
  const alone = whole.make(two, { ...about, version: 3 });
  t.same(inside.id, alone.id);
  const tx = group(whole, one, [inside, part(whole, one, owner, 1n, one)]);
  await pool.submit(tx);
  t.match(await whole.refusal(alone), { message: /waits in the pool already, in the transaction/ });
  pool.drop(pool.entry(tx.id)!, apiError('Invalid', 'for the test'));
  await pool.submit(alone);
  t.match(await whole.refusal(tx), { message: /waits in the pool already, in the transaction/ });
});

t.test('a group that has expired gives back its members and what they spend', async (t) => {
  const whole = await wholeNode(t, BY_HAND);
  const [owner, one, two] = whole.accounts;
  const { pool } = whole.node;
  const all = whole.balance(one);
  const shared = part(whole, one, two, all - 2n * FEE, owner);
  const groupAt = (timestamp: number): Tx =>
    group(whole, owner, [shared, part(whole, two, one, 5n, owner)], { timestamp });
  const old = await pool.submit(groupAt(whole.clock.now() - 115 * MINUTE));
  t.match(await whole.refusal(groupAt(whole.clock.now())), {
    message: /waits in the pool already/,
  });
  await whole.clock.advance(10 * MINUTE);
  t.match(pool.dropped(old.id), /is too old/);
  t.equal(pool.size(), 0);
  const again = await pool.submit(groupAt(whole.clock.now()));
  await next(whole);
  t.ok(whole.heightOf(again) && whole.heightOf(shared));
  t.equal(whole.heightOf(old), undefined);
});
