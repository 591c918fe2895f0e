/**
 * Atomic transactions with contracts in blocks of a hostile generator: each result is judged as it
 * would be alone, on the state that the members before it leave.
 */
import t from 'tap';
import { equal } from '../../src/base/bytes.ts';
import { type JsonObject, parse, stringify } from '../../src/base/json/json.ts';
import type { Verifier } from '../../src/base/ports/verifier.ts';
import { verifyBlock } from '../../src/chain/apply/verify-block.ts';
import { blockAt, transactionsOf } from '../../src/chain/store/stored-blocks.ts';
import { base58 } from '../../src/codec/text.ts';
import { endlessSlice } from '../../src/concurrency/time-slice.ts';
import { contractEntry, executedBy } from '../../src/ledger/contracts.ts';
import { txFromJson, txToJson } from '../../src/tx/json/encode.ts';
import { membersOf } from '../../src/tx/members.ts';
import { checkProofs } from '../../src/tx/proof-verdicts.ts';
import { feature, presetFeatures } from '../../src/tx/rules/features.ts';
import { EXECUTED_TX_BYTES_MAX } from '../../src/tx/size.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { decodeUnreadTx } from '../../src/tx/tx-bytes.ts';
import { sealedForBlock } from '../../src/tx/types/120-atomic.ts';
import { seededRandom } from '../crypto/random.ts';
import { hashOfImage } from '../simulated/containers.ts';
import { type Account, ROUND_MS, type WholeNode, wholeNode } from './in-process.ts';

const FEATURES = [...presetFeatures, feature.sponsoredFees, feature.atomic];
const badge = { feeAssetId: null, atomicBadge: { trustedSender: null } };

interface Setting {
  readonly whole: WholeNode;
  readonly owner: Account;
  /** Whom the owner may put into a group. */
  readonly one: Account;
  readonly contract: Tx;
  /** Signs as the generator. */
  readonly signer: Account & { readonly sign: (message: Uint8Array) => Uint8Array };
}

const signerOf = ({ family }: WholeNode, account: Account) => {
  const random = seededRandom('seals');
  const sign = (message: Uint8Array) => family.sign(account.privateKey, message, random);
  return { ...account, sign };
};

/** A node whose chain has a contract; this test makes all blocks. */
async function setting(
  scope: Parameters<typeof wholeNode>[0],
  features: readonly number[] = [...FEATURES, feature.contractsInAtomics],
): Promise<Setting> {
  const whole = await wholeNode(scope, { set: ['miner.enable=no'], features });
  const [owner, one] = whole.accounts;
  const image = { image: 'sum', imageHash: hashOfImage('sum'), contractName: 'sum', params: [] };
  const contract = whole.make(owner, { type: 103, ...image });
  await whole.clock.advance(ROUND_MS);
  await whole.produceBlock(resultOf(whole, owner, contract));
  return { whole, owner, one, contract, signer: signerOf(whole, owner) };
}

const json = (tx: Tx, { scheme }: WholeNode): JsonObject =>
  parse(stringify(txToJson(tx, scheme))) as JsonObject;

function resultOf(whole: WholeNode, by: Account, tx: Tx, results: readonly object[] = []): Tx {
  return whole.make(by, { type: 105, tx: json(tx, whole), results, fee: 0 });
}

const sum = (value: number) => [{ key: 'sum', type: 'integer', value }];

const callOf = (
  { whole, owner, contract }: Setting,
  by: Account,
  trusted: Account | null = owner,
  more: object = {},
): Tx =>
  whole.make(by, {
    ...{ type: 104, version: 4, contractId: base58.encode(contract.id), params: [] },
    ...{ contractVersion: 1, ...badge },
    atomicBadge: { trustedSender: trusted?.text ?? null },
    ...more,
  });

const groupOf = ({ whole, owner }: Setting, members: readonly Tx[]): Tx =>
  whole.make(owner, { type: 120, transactions: members.map((tx) => json(tx, whole)) });

/** The form of the block, where the contract transactions have these results. */
function minedOf(
  at: Setting,
  group: Tx,
  results: readonly object[] = sum(5),
  by: Account = at.owner,
): Tx {
  return sealedForBlock(group, at.signer, (member) =>
    member.def.executable === true ? resultOf(at.whole, by, member, results) : member,
  );
}

/** Throws what a block with these bytes is refused for. */
async function inBlock({ whole }: Setting, tx: Tx): Promise<void> {
  await whole.clock.advance(ROUND_MS);
  await whole.produceBlock(decodeUnreadTx(tx.bytes, whole.scheme));
}

t.test('a good one, in bytes and out of them', async (t) => {
  const at = await setting(t);
  const { whole, owner, one, contract } = at;
  const calls = [callOf(at, one), callOf(at, owner)];
  const group = groupOf(at, calls);
  const mined = minedOf(at, group);
  const decoded = decodeUnreadTx(mined.bytes, whole.scheme);
  t.strictSame(decoded.bytes, mined.bytes);
  t.strictSame(decoded.id, group.id);
  t.strictSame(decoded.def.waiting!(decoded).bytes, group.bytes, 'the form that waited');
  const before = whole.balance(one);
  await inBlock(at, mined);
  const { view } = whole.node.blockchain;
  t.strictSame(contractEntry(view, contract.id, 'sum')?.value, 5n);
  t.equal(whole.balance(one), before - calls[0]!.fee, 'each pays for itself');
  for (const [i, call] of calls.entries()) {
    t.strictSame(executedBy(view, call.id), membersOf(mined)[i]!.id);
  }
  for (const { address } of [owner, one]) {
    t.strictSame([...transactionsOf(view, address, 1)][0]?.tx.id, group.id);
  }
  const again = groupOf(at, [calls[0]!, callOf(at, owner, owner, { params: sum(1) })]);
  await t.rejects(inBlock(at, minedOf(at, again)), /has been already executed/);
});

t.test('what the generator must not do', async (t) => {
  const at = await setting(t);
  const { whole, owner, one, signer, contract } = at;
  const call = callOf(at, one);
  const other = callOf(at, owner);
  const group = groupOf(at, [call, other]);
  const results = (member: Tx): Tx => resultOf(whole, owner, member, sum(5));

  t.match(await whole.refusal(minedOf(at, group)), { message: /created only by block creator/ });
  await t.rejects(inBlock(at, sealedForBlock(group, signer)), /cannot contain executable/);
  await t.rejects(inBlock(at, group), /wasn't executed|miner is empty/);

  const bare = { ...signer, sign: () => signer.sign(group.body) };
  await t.rejects(
    inBlock(at, sealedForBlock(group, bare, results)),
    { code: 112 },
    'ids of results',
  );
  await t.rejects(inBlock(at, minedOf(at, group, sum(5), one)), /created only by block creator/);
  const forged = (member: Tx): Tx => {
    const made = results(member);
    const bytes = made.bytes.slice();
    bytes[bytes.length - 1]! ^= 1;
    return decodeUnreadTx(bytes, whole.scheme);
  };
  await t.rejects(
    inBlock(at, sealedForBlock(group, signer, forged)),
    { code: 112 },
    'a bad result',
  );
  const alone = resultOf(whole, owner, call, sum(5));
  await t.rejects(inBlock(at, alone), /cannot be mined outside of atomic container/);

  const twice = (member: Tx): Tx => resultOf(whole, owner, call, sum(member === call ? 5 : 6));
  await t.rejects(inBlock(at, sealedForBlock(group, signer, twice)), /duplicated|validate/);
  const replaced = callOf(at, owner, owner, { params: sum(2) });
  const changed = (member: Tx): Tx => results(equal(member.id, other.id) ? replaced : member);
  await t.rejects(
    inBlock(at, sealedForBlock(group, signer, changed)),
    { code: 112 },
    'other members',
  );
  const untrusting = (member: Tx): Tx =>
    results(equal(member.id, call.id) ? callOf(at, one, null) : member);
  await t.rejects(
    inBlock(at, sealedForBlock(group, signer, untrusting)),
    /does not match the atomic/,
  );

  const ended = groupOf(at, [
    whole.make(owner, {
      ...{ type: 106, version: 3, contractId: base58.encode(contract.id), ...badge },
    }),
    call,
  ]);
  t.match(await whole.refusal(ended), { message: /disabled|not active|Disabled/i });
  await t.rejects(
    inBlock(at, minedOf(at, ended)),
    /disabled|not active/i,
    'the state of those before',
  );

  const long = (value: number) => [{ key: 'k', type: 'string', value: 'x'.repeat(value) }];
  const most = EXECUTED_TX_BYTES_MAX - minedOf(at, group, long(0)).bytes.length;
  const half = Math.floor(most / 2);
  await t.rejects(inBlock(at, minedOf(at, group, long(half + 1))), /at most 307200 are allowed/);
  await inBlock(at, minedOf(at, group, long(half)));
  t.ok(executedBy(whole.node.blockchain.view, call.id));
});

t.test('it waits in the pool as it was sent, for a miner that executes contracts', async (t) => {
  const at = await setting(t);
  const { whole, owner, one } = at;
  const group = groupOf(at, [callOf(at, one), callOf(at, owner)]);
  const mined = json(minedOf(at, group), whole);
  const early = { ...json(group, whole), transactions: mined['transactions'] };
  t.throws(() => txFromJson(early, whole.scheme), /cannot contain executed transactions/);
  await whole.node.pool.submit(group);
  await whole.clock.advance(ROUND_MS);
  t.strictSame((await whole.produceBlock()).transactions, []);
  t.equal(whole.node.pool.size(), 1);
});

t.test('an update has no results, and a call of another version is refused', async (t) => {
  const at = await setting(t);
  const { whole, owner, contract } = at;
  const contractId = base58.encode(contract.id);
  const update = whole.make(owner, {
    ...{ type: 107, version: 3, contractId, image: 'b', imageHash: hashOfImage('b'), ...badge },
  });
  const next = callOf(at, owner, owner, { contractVersion: 2 });
  await t.rejects(inBlock(at, minedOf(at, groupOf(at, [update, next]))), /update .* no results/);
  const wrong = minedOf(at, groupOf(at, [update, callOf(at, owner)]), []);
  await t.rejects(inBlock(at, wrong), /doesn't match actual contract version/);
  await inBlock(at, minedOf(at, groupOf(at, [update, next]), []));
  t.ok(executedBy(whole.node.blockchain.view, next.id));
});

t.test('threads check each signature once', async (t) => {
  const at = await setting(t);
  const { whole, owner, one } = at;
  const group = groupOf(at, [callOf(at, one), callOf(at, owner)]);
  const mined = minedOf(at, group);
  await inBlock(at, mined);
  const { blockchain } = whole.node;
  const { view } = blockchain;
  const block = blockAt(view, blockchain.tip().height)!;
  const { verifier } = whole.node.services;
  const waited = await checkProofs(group, undefined, verifier);
  const good = [true];
  for (const [known, made] of [
    [() => undefined, 7],
    [(asked: Tx) => (equal(asked.bytes, group.bytes) ? waited : undefined), 4],
  ] as const) {
    let checks = 0;
    const counting: Verifier = {
      ...verifier,
      verify(items) {
        checks += items.length;
        return verifier.verify(items);
      },
    };
    const [verdicts] = await verifyBlock(block, [mined], counting, known, view, endlessSlice);
    t.strictSame(verdicts!.about(mined), { own: good, carried: [good, good, good, good, good] });
    t.equal(checks, made, 'of the block, the seal, the results, and what nobody knows');
  }
});

t.test('a network without the feature', async (t) => {
  const at = await setting(t, FEATURES);
  const { whole, owner, one } = at;
  const group = groupOf(at, [callOf(at, one), callOf(at, owner)]);
  const refused = { code: 199, message: /runs no contracts inside atomic transactions/ };
  t.match(await whole.refusal(group), refused);
  for (const isDoubted of [false, true]) {
    const [error] = await whole.node.pool.submitAll([{ bytes: group.bytes }], isDoubted);
    t.match(error, refused, 'of a peer');
  }
  await t.rejects(inBlock(at, minedOf(at, group)), refused);
});
