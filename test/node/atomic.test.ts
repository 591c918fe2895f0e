/**
 * Atomic transactions on a whole node: all or nothing, by every door, in the pool and in blocks, taken
 * back and restarted.
 */

import t from 'tap';
import { httpListener } from '../../src/adapters/http/listener.ts';
import { base58 } from '../../src/base/base58.ts';
import { equal } from '../../src/base/bytes.ts';
import { ApiError } from '../../src/base/errors.ts';
import { type JsonObject, parse, stringify } from '../../src/base/json/json.ts';
import type { Verifier } from '../../src/base/ports/verifier.ts';
import { verifyBlock } from '../../src/chain/apply/verify-block.ts';
import { blockAt, findTransaction, transactionsOf } from '../../src/chain/store/stored-blocks.ts';
import { endlessSlice } from '../../src/concurrency/time-slice.ts';
import { prepareBroadcasts, readPrepared } from '../../src/rest/broadcast-offload.ts';
import { txFromJson, txToJson } from '../../src/tx/json/encode.ts';
import { checkProofs, unchecked } from '../../src/tx/proof-verdicts.ts';
import { presetFeatures } from '../../src/tx/rules/features.ts';
import { TX_BYTES_MAX } from '../../src/tx/size.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { MEMBERS_MAX, sealedForBlock } from '../../src/tx/types/120-atomic.ts';
import { makeBlock } from '../chain/make-block.ts';
import { seededRandom } from '../crypto/random.ts';
import { compiled } from '../generators/scripts.ts';
import { restOf } from '../system/e2e/rest.ts';
import { type Account, ROUND_MS, type TxFields, type WholeNode, wholeNode } from './in-process.ts';

const FEE = 1_000_000n;
const HOUR = 3_600_000;
const ALONE = 'Transactions with atomic badge cannot be mined outside of atomic container';

/** A transfer that only `by` may put into a group. */
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
    atomicBadge: { trustedSender: by.text },
    ...more,
  });

/** As it comes over the wire. */
const jsonOf = (tx: Tx, { scheme }: WholeNode): JsonObject =>
  parse(stringify(txToJson(tx, scheme))) as JsonObject;

const group = (whole: WholeNode, by: Account, members: readonly Tx[], more: object = {}): Tx =>
  whole.make(by, {
    ...{ type: 120, transactions: members.map((tx) => jsonOf(tx, whole)) },
    ...more,
  });

/** What the node says to a request with these members; no group was made. */
function refusalOf(whole: WholeNode, by: Account, members: readonly object[]): string {
  try {
    whole.make(by, { type: 120, transactions: members } as TxFields);
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
  throw new Error('it should have been refused');
}

const ownerOf = ({ accounts, family }: WholeNode) => {
  const [{ privateKey, publicKey }] = accounts;
  const random = seededRandom('seals');
  return { publicKey, sign: (message: Uint8Array) => family.sign(privateKey, message, random) };
};

t.test('a member sees those before it, and every list shows the group', async (t) => {
  const whole = await wholeNode(t, { http: httpListener });
  const [owner, one, two] = whole.accounts;
  const rest = restOf(`http://127.0.0.1:${whole.node.rest!.port}`, whole.apiKey);
  const poor = whole.newAccount('somebody without funds');
  const first = part(whole, one, poor, 5n * FEE, owner);
  const second = part(whole, poor, two, 3n * FEE, owner);
  const tx = group(whole, owner, [first, second]);
  const [before, got] = [whole.balance(one), whole.balance(two)];
  const id = base58.encode(tx.id);
  t.equal((await rest.post('/transactions/broadcast', txToJson(tx, whole.scheme))).status, 200);
  const waiting = await rest.get(`/transactions/unconfirmed/info/${id}`);
  t.match(waiting.body, { type: 120, miner: null, fee: 0 });
  t.equal((waiting.body as { proofs: string[] }).proofs.length, 1);

  const [mined] = await whole.mine();
  t.equal(base58.encode(mined!.id), id, 'the generator does not change the id');
  t.equal(whole.node.pool.size(), 0);
  t.equal(whole.balance(one), before - 6n * FEE);
  t.equal(whole.balance(poor), FEE);
  t.equal(whole.balance(two), got + 3n * FEE);

  const { height } = whole.node.blockchain.tip();
  const shown = await rest.get(`/transactions/info/${id}`);
  const miner = base58.encode(owner.publicKey);
  t.match(shown.body, { type: 120, id, height, miner, transactions: [{ type: 4 }, { type: 4 }] });
  t.equal((shown.body as { proofs: string[] }).proofs.length, 2);
  t.equal(
    base58.encode(txFromJson(shown.body, whole.scheme).bytes),
    base58.encode(mined!.bytes),
    'the answer says all that the block says',
  );
  for (const member of [first, second]) {
    const { body } = await rest.get(`/transactions/info/${base58.encode(member.id)}`);
    t.match(body, { id: base58.encode(member.id), type: 4, version: 3, height });
  }
  for (const { text, address } of [owner, one, two, poor]) {
    const [list] = (await rest.get(`/transactions/address/${text}/limit/1`)).body as object[][];
    t.match(list, [{ id, type: 120 }], text);
    t.equal([...transactionsOf(whole.node.blockchain.view, address, 9)][0]?.tx.type, 120);
  }
  const block = (await rest.get('/blocks/last')).body;
  t.match(block, { fee: Number(2n * FEE), transactionCount: 1, transactions: [{ id, miner }] });

  const used = group(whole, owner, [second, part(whole, one, two, 7n, owner)]);
  t.match(await whole.refusal(used), { code: 112, message: /is already in the state/ });
  t.match(await whole.refusal(tx), { code: 112, message: /is already in the state/ });
});

t.test('nothing is done where one member is refused', async (t) => {
  const whole = await wholeNode(t, { set: ['miner.enable=no'] });
  const [owner, one, two] = whole.accounts;
  const poor = whole.newAccount('somebody without funds');
  const bad = [part(whole, one, two, 5n, owner), part(whole, poor, two, 3n * FEE, owner)];
  t.match(await whole.refusal(group(whole, owner, bad)), { message: /unavailable funds/ });
  // In the other order the second would pay for the first.
  const early = [part(whole, poor, two, 1n, owner), part(whole, one, poor, 9n * FEE, owner)];
  t.match(await whole.refusal(group(whole, owner, early)), { message: /unavailable funds/ });
  // Funds that are leased out are not there before the lease ends, whatever comes later.
  const all = whole.balance(two);
  const lease = await whole.send(two, {
    ...{ type: 8, version: 2, recipient: one.text, amount: all - 9n * FEE, leasedAsset: null },
  });
  await whole.clock.advance(ROUND_MS);
  await whole.produceBlock();
  const cancel = whole.make(two, {
    ...{ type: 9, version: 3, leaseId: base58.encode(lease.id) },
    atomicBadge: { trustedSender: owner.text },
  });
  const pay = part(whole, two, one, 20n * FEE, owner);
  t.match(await whole.refusal(group(whole, owner, [pay, cancel])), {
    message: /cannot spend leased balance/,
  });
  await whole.node.pool.check(group(whole, owner, [cancel, pay]));
  const before = whole.balance(one);
  const sealed = sealedForBlock(group(whole, owner, bad), ownerOf(whole));
  await whole.clock.advance(ROUND_MS);
  await t.rejects(whole.produceBlock(sealed), /unavailable funds/);
  t.equal(whole.balance(one), before);
});

t.test('a member is refused alone, by every door', async (t) => {
  const whole = await wholeNode(t, { http: httpListener, set: ['miner.enable=no'] });
  const [owner, one, two] = whole.accounts;
  const rest = restOf(`http://127.0.0.1:${whole.node.rest!.port}`, whole.apiKey);
  const member = part(whole, one, two, 5n, owner);
  t.match(await whole.refusal(member), { code: 112, message: new RegExp(ALONE) });
  const { body } = await rest.post('/transactions/broadcast', txToJson(member, whole.scheme));
  t.match(body, { error: 112, message: new RegExp(ALONE) });
  for (const isDoubted of [false, true]) {
    const [error] = await whole.node.pool.submitAll([{ bytes: member.bytes }], isDoubted);
    t.match(error, { message: new RegExp(ALONE) }, 'of a peer');
  }
  await whole.clock.advance(ROUND_MS);
  await t.rejects(whole.produceBlock(member), { message: new RegExp(ALONE) }, 'in a block');
  whole.records.list = [...whole.records.list, member.bytes];
  const again = await whole.restart();
  for (let i = 0; i < 5; i++) {
    await again.clock.advance(ROUND_MS);
    t.strictSame((await again.produceBlock()).transactions, [], 'in the journal');
  }
  t.equal(again.node.pool.size(), 0);

  const absent = whole.make(one, {
    ...{ type: 4, version: 3, recipient: two.text, amount: 5n, attachment: '', atomicBadge: null },
  });
  await again.node.pool.submit(absent);
  t.equal(again.node.pool.size(), 1, 'without a badge it is an ordinary transaction');
});

t.test('what is no group', async (t) => {
  const whole = await wholeNode(t, { set: ['miner.enable=no'] });
  const { scheme } = whole;
  const [owner, one, two] = whole.accounts;
  const json = (tx: Tx): object => txToJson(tx, scheme);
  const first = part(whole, one, two, 5n, owner);
  const good = json(first);
  const other = json(part(whole, one, two, 6n, owner));
  const refused = (members: readonly object[], by = owner): string => refusalOf(whole, by, members);
  t.match(refused([good]), /must contain more than 1 transaction/);
  t.match(refused([good, good]), /duplicated transactions/);
  const inside = json(
    group(whole, owner, [
      whole.make(one, { ...good } as TxFields),
      part(whole, one, two, 8n, owner),
    ]),
  );
  t.match(refused([good, inside]), /cannot contain another atomic transaction/);
  t.match(refused([good, json(whole.transfer(one, two, 5))]), /must have an atomic badge/);
  t.match(
    refused([good, json(whole.make(one, { type: 13, script: null, name: 's', description: '' }))]),
    /type 13 does not support/,
  );
  t.match(refused([good, other], one), /The trusted address .* does not match the atomic sender/);
  const untrusting = json(
    whole.make(one, {
      ...{ type: 4, version: 3, recipient: two.text, amount: 5n, attachment: '' },
      atomicBadge: { trustedSender: null },
    }),
  );
  t.match(refused([good, untrusting]), /The sender address .* does not match the atomic sender/);
  const many = Array.from({ length: MEMBERS_MAX + 1 }, (_, i) =>
    json(part(whole, one, two, BigInt(i + 1), owner)),
  );
  t.match(refused(many), /at most 100 are allowed/);
  const long = (bytes: number): object =>
    json(
      whole.make(one, {
        ...{ type: 12, version: 3, feeAssetId: null, fee: 200_000_000 },
        data: Array.from({ length: 5 }, (_, i) => ({
          key: `k${i}`,
          type: 'string',
          value: 'x'.repeat(i === 0 ? bytes : 30_500),
        })),
        atomicBadge: { trustedSender: owner.text },
      }),
    );
  const { length } = group(whole, owner, [whole.make(one, long(1) as TxFields), first]).bytes;
  const most = TX_BYTES_MAX - length + 1;
  t.ok(whole.make(owner, { type: 120, transactions: [long(most), good] }));
  t.match(refused([long(most + 1), good]), /of 153601 bytes, at most 153600 are allowed/);
  t.match(refused([long(most + 300), good]), /at most 153600 are allowed/);
});

t.test('signatures of members, sender and generator', async (t) => {
  const whole = await wholeNode(t, { set: ['miner.enable=no'] });
  const { scheme } = whole;
  const [owner, one, two] = whole.accounts;
  const members = [part(whole, one, two, 5n, owner), part(whole, two, one, 6n, owner)];
  const spoiled = (json: Record<string, unknown>) => ({
    ...json,
    proofs: [base58.encode(new Uint8Array(64).fill(9))],
  });
  const [first, second] = members.map((tx) => txToJson(tx, scheme));
  const badMember = whole.make(owner, { type: 120, transactions: [first, spoiled(second!)] });
  t.match(await whole.refusal(badMember), { code: 112, message: /doesn't validate as signature/ });
  const tx = group(whole, owner, members);
  const badSender = txFromJson(spoiled(txToJson(tx, scheme)), scheme);
  t.match(await whole.refusal(badSender), { code: 112, message: /doesn't validate as signature/ });

  const seal = ownerOf(whole);
  const sealed = sealedForBlock(tx, seal);
  t.match(await whole.refusal(sealed), { message: /miner of an atomic transaction must be empty/ });
  await whole.clock.advance(ROUND_MS);
  await t.rejects(whole.produceBlock(tx), /miner is empty/);
  const stranger = { ...seal, publicKey: one.publicKey };
  await t.rejects(whole.produceBlock(sealedForBlock(tx, stranger)), { code: 112 });
  const byOther = {
    ...one,
    sign: (message: Uint8Array) => whole.family.sign(one.privateKey, message, seededRandom('x')),
  };
  await t.rejects(whole.produceBlock(sealedForBlock(tx, byOther)), /mined only by block creator/);
  const forged = { ...seal, sign: () => new Uint8Array(64).fill(3) };
  await t.rejects(whole.produceBlock(sealedForBlock(tx, forged)), { code: 112 });
  await whole.produceBlock(sealed);
  t.ok(whole.heightOf(members[1]!));

  // Threads check a block in advance, with what the pool knows of the form that waited there.
  const block = blockAt(whole.node.blockchain.view, whole.node.blockchain.tip().height)!;
  const { view } = whole.node.blockchain;
  const verifier = whole.node.services.verifier;
  const waited = await checkProofs(tx, undefined, verifier);
  for (const [known, made] of [
    [() => undefined, 5],
    [(asked: Tx) => (equal(asked.bytes, tx.bytes) ? waited : undefined), 2],
  ] as const) {
    let checks = 0;
    const counting: Verifier = {
      ...verifier,
      verify(items) {
        checks += items.length;
        return verifier.verify(items);
      },
    };
    const [verdicts] = await verifyBlock(block, [sealed], counting, known, view, endlessSlice);
    t.strictSame(verdicts!.about(sealed), { own: [true], carried: [[true], [true], [true]] });
    t.equal(checks, made, 'of the block, the seal, and what nobody knows');
  }
});

t.test('the pool: one entry, one expiry, funds of every sender', async (t) => {
  const whole = await wholeNode(t);
  const [owner, one, two] = whole.accounts;
  const all = whole.balance(one);
  const tx = group(whole, owner, [
    part(whole, one, two, all - 2n * FEE, owner),
    part(whole, two, owner, 1n, owner),
  ]);
  await whole.node.pool.submit(tx);
  t.equal(whole.node.pool.size(), 1);
  const poorer = group(whole, two, [
    part(whole, one, two, 5n * FEE, two),
    part(whole, two, one, 1n, two),
  ]);
  t.match(await whole.refusal(poorer), { message: /unavailable funds/ }, 'also by another group');
  t.match(
    await whole.refusal(whole.transfer(one, two, Number(2n * FEE))),
    { message: /unavailable funds/ },
    'what a member takes from its sender is spoken for',
  );
  await whole.node.pool.submit(whole.transfer(two, one, 5));
  const old = group(
    whole,
    owner,
    [part(whole, two, one, 1n, owner), part(whole, two, one, 2n, owner)],
    {
      timestamp: whole.clock.now() - 3 * HOUR,
    },
  );
  t.match(await whole.refusal(old), { code: 303 });
  const restarted = await whole.restart();
  t.equal(restarted.node.pool.size(), 2, 'the journal has it');
  await restarted.mine();
  t.equal(restarted.balance(one), FEE + 5n);
  await restarted.node.pool.submit(restarted.transfer(one, two, 1));
  t.equal(restarted.node.pool.size(), 1, 'nothing stays reserved');
});

t.test('two groups that exclude each other', async (t) => {
  const whole = await wholeNode(t, { set: ['miner.enable=no'] });
  const [owner, one, two] = whole.accounts;
  const shared = part(whole, one, two, 5n, owner);
  const [waits, mined] = [7n, 8n].map((amount) =>
    group(whole, owner, [shared, part(whole, two, one, amount, owner)]),
  ) as [Tx, Tx];
  const { pool, blockchain } = whole.node;
  await pool.submit(waits);
  t.match(await whole.refusal(mined), { message: /waits in the pool already/ });
  // Another miner had the other one.
  const signer = { ...owner, ...ownerOf(whole) };
  await whole.clock.advance(ROUND_MS);
  await makeBlock(blockchain, signer, whole.clock.now(), async (draft) => {
    const sealed = sealedForBlock(mined, signer);
    draft.add(sealed, unchecked(sealed));
  });
  t.ok(whole.heightOf(mined));
  await whole.clock.advance(ROUND_MS);
  await whole.produceBlock();
  t.equal(pool.size(), 0);
  t.match(pool.dropped(waits.id), /is already in the state/);
});

t.test('a block that is taken back returns the group as one', async (t) => {
  const whole = await wholeNode(t, { set: ['miner.enable=no'] });
  const [owner, one, two] = whole.accounts;
  const members = [part(whole, one, two, 5n, owner), part(whole, two, one, 6n, owner)];
  const tx = group(whole, owner, members);
  await whole.node.pool.submit(tx);
  await whole.clock.advance(ROUND_MS);
  await whole.produceBlock();
  const { blockchain, pool } = whole.node;
  t.ok(whole.heightOf(tx) && whole.heightOf(members[0]!));
  await blockchain.rollback(blockchain.tip().height - 1);
  await pool.readmitted();
  t.equal(whole.heightOf(members[0]!), undefined);
  t.equal(findTransaction(blockchain.view, tx.id), undefined);
  t.strictSame(pool.get(tx.id)?.bytes, tx.bytes, 'as it was sent');
  // A node that has it from the block alone gets the same.
  const direct = sealedForBlock(tx, ownerOf(whole));
  await whole.produceBlock();
  await blockchain.rollback(blockchain.tip().height - 1);
  await pool.readmitted();
  pool.removeMined([tx]);
  await whole.clock.advance(ROUND_MS);
  await whole.produceBlock(direct);
  t.equal(pool.size(), 0);
  await blockchain.rollback(blockchain.tip().height - 1);
  await pool.readmitted();
  t.strictSame(pool.get(tx.id)?.bytes, tx.bytes, 'without the signature of the generator');

  const again = await whole.restart();
  t.equal(again.node.pool.size(), 1, 'and the journal has it');
  await again.clock.advance(ROUND_MS);
  await again.produceBlock();
  t.ok(again.heightOf(tx) && again.heightOf(members[1]!));
  t.equal(again.node.pool.size(), 0);
});

t.test('threads read and check it before the state is asked', async (t) => {
  const whole = await wholeNode(t, { set: ['miner.enable=no'] });
  const { scheme, family } = whole;
  const [owner, one, two] = whole.accounts;
  const tx = group(whole, owner, [
    part(whole, one, two, 5n, owner),
    part(whole, two, one, 6n, owner),
  ]);
  const body = new TextEncoder().encode(stringify(txToJson(tx, scheme)));
  const prepared = readPrepared(
    (prepareBroadcasts(scheme, family)([body])[0] as { message: Uint8Array }).message,
  );
  t.strictSame(prepared.verdicts.about(tx), { own: [true], carried: [[true], [true]] });
  await whole.node.pool.submitBytes(prepared.bytes, prepared);
  t.equal(whole.node.pool.size(), 1);
});

t.test('an account with a script sends no group, and one of members is asked', async (t) => {
  const whole = await wholeNode(t, { set: ['miner.enable=no'] });
  const [owner, one, two] = whole.accounts;
  const script = `base64:${Buffer.from(compiled('true')).toString('base64')}`;
  await whole.node.pool.submit(
    whole.make(one, { type: 13, script, name: 's', description: '', fee: 50_000_000 }),
  );
  await whole.clock.advance(ROUND_MS);
  await whole.produceBlock();
  const paid = { fee: 1_400_000 };
  const own = [part(whole, one, two, 5n, one, paid), part(whole, one, two, 6n, one, paid)];
  t.match(await whole.refusal(group(whole, one, own)), { message: /no representation in scripts/ });
  const cheap = [part(whole, one, two, 5n, owner), part(whole, two, one, 6n, owner)];
  t.match(await whole.refusal(group(whole, owner, cheap)), {
    message: /minimal value of '1400000'/,
  });

  const never = `base64:${Buffer.from(compiled('false')).toString('base64')}`;
  const denying = { type: 13, script: never, name: 's', description: '', fee: 50_000_000 };
  await whole.node.pool.submit(whole.make(two, denying));
  await whole.clock.advance(ROUND_MS);
  await whole.produceBlock();
  const denied = [part(whole, one, two, 5n, owner, paid), part(whole, two, one, 6n, owner, paid)];
  t.match(await whole.refusal(group(whole, owner, denied)), { code: 307 });
});

t.test('without feature 140', async (t) => {
  const whole = await wholeNode(t, { set: ['miner.enable=no'], features: presetFeatures });
  const [owner, one, two] = whole.accounts;
  const members = [part(whole, one, two, 5n, owner), part(whole, two, one, 6n, owner)];
  const tx = group(whole, owner, members);
  for (const refused of [tx, members[0]!]) {
    t.match(await whole.refusal(refused), { message: /'Atomic transactions' \(id: '140'\)/ });
  }
  await whole.clock.advance(ROUND_MS);
  await t.rejects(whole.produceBlock(sealedForBlock(tx, ownerOf(whole))), /id: '140'/);
});
