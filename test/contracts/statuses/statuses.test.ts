// Status records between nodes: signed, checked, kept, handed on once, within limits whatever a
// member signs.
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { equal } from '../../../src/base/bytes.ts';
import { apiError } from '../../../src/base/errors.ts';
import { statusLimits } from '../../../src/base/limits/status-limits.ts';
import { CodecError } from '../../../src/codec/codec.ts';
import { mayExecute } from '../../../src/contracts/may-execute.ts';
import { DOUBTED_MS_MAX, HEARD_MS_MAX } from '../../../src/contracts/statuses/error-quorum.ts';
import { TAKEN_MAX } from '../../../src/contracts/statuses/status-index.ts';
import { RECORDS_MAX } from '../../../src/contracts/statuses/status-messages.ts';
import type { OutcomeStatus } from '../../../src/contracts/statuses/status-report.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { callOf, creationOf, groupOf, inPool } from '../atomic-groups.ts';
import {
  type Ground,
  ground,
  minerOf,
  opened,
  sealed,
  signWith,
  waiting,
} from './status-harness.ts';

const HOUR = 3_600_000;
const DOUBTED_SHARE = statusLimits.doubtedShare.value;
const REPEATS_MAX = statusLimits.repeats.value;
const REPEAT_MS = statusLimits.repeatPause.value;

t.test('a report is signed, kept, and sent to all peers in batches', async (t) => {
  const on = await ground(t);
  const { statuses, peers, pass } = await opened(t, on);
  const { id } = await waiting(on, 'one');
  statuses.report({ txId: id, status: 'Error', code: 3, message: 'x'.repeat(5_000) });
  statuses.report({ txId: id, status: 'Success', code: undefined, message: 'mined' });
  await pass();
  const [refusal, success] = statuses.of(id);
  t.match(refusal, { status: 'Error', code: 3, timestamp: on.clock.now() - 1 });
  t.equal(refusal!.message.length, 1_000);
  t.match(success, { status: 'Success', code: undefined, message: 'mined' });
  t.equal(peers[0].messages, 0, 'the batch waits for more');
  await pass(100);
  for (const { got, messages } of peers) t.strictSame([got.length, messages], [2, 1]);
  t.strictSame(statuses.failuresOf(id, 10), [refusal], 'the contract of a 103 has its id');

  for (let i = 0; i < 100; i++) {
    statuses.report({ txId: randomBytes(32), status: 'Success', code: undefined, message: '' });
  }
  await pass(10);
  t.equal(
    peers[0].messages,
    1,
    'a next batch comes no sooner than the pace of the receiver allows',
  );
  await pass(200);
  t.strictSame([peers[0].got.length, peers[0].messages], [102, 1 + 100 / RECORDS_MAX]);
});

t.test('the outcomes of a full block arrive within seconds', async (t) => {
  const on = await ground(t);
  const { statuses, peers, pass } = await opened(t, on);
  const count = 3_000;
  for (let i = 0; i < count; i++) {
    statuses.report({
      txId: randomBytes(32),
      status: 'Success',
      code: undefined,
      message: 'mined',
    });
  }
  await pass(3_000);
  t.equal(statuses.size(), count);
  t.equal(peers[0].got.length, count);
  t.ok(peers[0].messages <= 3 * 40, 'at the pace of the receivers');
});

t.test('a good record is kept and handed on once, to the others', async (t) => {
  const on = await ground(t);
  const { statuses, peers, arrive, pass, checks } = await opened(t, on);
  const [one, two, three] = peers;
  const { id } = await waiting(on, 'one');
  const record = sealed(on, on.miner, id, 'Error');
  await arrive(one, record);
  await arrive(two, record, record);
  await pass(500);
  t.equal(checks(), 1, 'what is known is not checked again');
  t.match(statuses.of(id), [{ status: 'Error', senderPublicKey: on.miner.publicKey }]);
  t.strictSame([one.got.length, two.got.length, three.got.length], [0, 1, 1]);
  t.strictSame(
    peers.flatMap(({ offences }) => offences),
    [],
  );
});

t.test('only members that may make blocks are heard', async (t) => {
  const on = await ground(t);
  const { statuses, peers, arrive, checks } = await opened(t, on);
  const { id } = await waiting(on, 'one');
  for (const by of [on.member, on.stranger, on.removed]) {
    await arrive(peers[0], sealed(on, by, id, 'Error'));
  }
  t.strictSame(statuses.of(id), []);
  t.equal(checks(), 0, 'no signature is checked for them');
  t.strictSame(peers[0].offences, [], 'another node may know another head');
});

t.test('forged, malformed, too old and too early records', async (t) => {
  const on = await ground(t);
  const { statuses, peers, arrive, message } = await opened(t, on);
  const { id } = await waiting(on, 'one');
  const forged = sealed(on, on.miner, id, 'Error');
  forged[forged.length - 1]! ^= 1;
  await arrive(peers[0], forged);
  t.strictSame(peers[0].offences, ['forged-status']);
  await arrive(peers[1], sealed(on, on.miner, id, 'Error'));
  t.equal(statuses.of(id).length, 1, 'a forgery does not hide the true record');

  t.throws(() => message(peers[1], new Uint8Array(300)), CodecError);
  const now = on.clock.now();
  for (const timestamp of [now - HOUR - 1, now + 6 * 60_000]) {
    await arrive(peers[1], sealed(on, on.otherMiner, id, 'Error', { timestamp }));
  }
  t.equal(statuses.of(id).length, 1);
  t.strictSame(peers[1].offences, [], 'clocks differ');
});

t.test('a record may be faster than its transaction', async (t) => {
  const on = await ground(t);
  const { statuses, peers, arrive, pass } = await opened(t, on);
  const tx = on.make(on.accounts[0], {
    type: 103,
    image: 'registry/example:1',
    imageHash: 'ab'.repeat(32),
    contractName: 'late',
    params: [],
  });
  await arrive(peers[0], sealed(on, on.miner, tx.id, 'Failure'));
  t.strictSame(statuses.of(tx.id), []);
  await on.node.pool.submit(tx);
  await pass(1_000);
  t.match(statuses.of(tx.id), [{ status: 'Failure' }]);
});

t.test('a flood about transactions that do not exist costs no signature check', async (t) => {
  const on = await ground(t);
  const { statuses, peers, arrive, pass, checks } = await opened(t, on);
  const flood = (): Uint8Array[] =>
    Array.from({ length: RECORDS_MAX }, () => sealed(on, on.miner, randomBytes(32), 'Error'));
  // One signature for all: only the ids differ, and no signature is looked at.
  const [sample] = flood();
  const fresh = (): Uint8Array => {
    const copy = sample!.slice();
    copy.set(randomBytes(32), on.family.publicKeySize + 2);
    return copy;
  };
  const { id } = await waiting(on, 'one');
  for (let i = 0; i < 5_000; i++) {
    await arrive(peers[0], ...Array.from({ length: RECORDS_MAX }, fresh));
  }
  t.equal(checks(), 0);
  t.equal(statuses.size(), 0);
  t.equal(
    on.store
      .range(66, new Uint8Array(1), new Uint8Array(64).fill(255), 10)
      [Symbol.iterator]()
      .next().done,
    true,
  );
  await arrive(peers[1], sealed(on, on.otherMiner, id, 'Error'));
  await pass(200);
  t.equal(statuses.of(id).length, 1, 'an honest record comes through');
  t.equal(peers[2].got.length, 1, 'and nothing else is handed on');
});

t.test('a miner that repeats itself is heard a limited number of times', async (t) => {
  const on = await ground(t);
  const { statuses, peers, arrive, pass, checks } = await opened(t, on);
  const { id } = await waiting(on, 'one');
  for (let i = 0; i < 2 * TAKEN_MAX; i++) {
    await arrive(peers[0], sealed(on, on.miner, id, 'Failure', { message: `attempt ${i}` }));
  }
  await pass(1_000);
  t.equal(checks(), TAKEN_MAX);
  t.equal(peers[1].got.length, TAKEN_MAX);
  t.match(
    statuses.of(id).map(({ message }) => message),
    ['attempt 48', 'attempt 49'],
  );
  await arrive(peers[0], sealed(on, on.miner, id, 'Success'));
  t.equal(statuses.of(id).length, 3, 'another status is heard');
});

t.test('records survive a restart, and are forgotten after their time', async (t) => {
  const on = await ground(t);
  const first = await opened(t, on);
  const { id } = await waiting(on, 'one');
  await first.arrive(first.peers[0], sealed(on, on.miner, id, 'Error'));
  await first.arrive(first.peers[0], sealed(on, on.otherMiner, id, 'Failure'));
  const before = first.statuses.of(id);
  await first.statuses.stop();

  const second = await opened(t, on);
  t.strictSame(second.statuses.of(id), before);
  t.strictSame(second.statuses.failuresOf(id, 1).length, 1, 'of the contract too');
  await second.arrive(second.peers[0], sealed(on, on.miner, id, 'Error'));
  await second.pass(HOUR + 10_000);
  t.strictSame(second.statuses.of(id), []);
  await second.statuses.stop();

  const third = await opened(t, on);
  t.equal(third.statuses.size(), 0, 'on the disk too');
});

t.test('the quorum of errors removes a transaction from the pool', async (t) => {
  const on = await ground(t);
  const { peers, arrive, pass } = await opened(t, on, { errorQuorum: 2, cleanupMs: 60_000 });
  const [one, two, three] = await Promise.all(
    ['one', 'two', 'three'].map((name) => waiting(on, name)),
  );
  const inPool = (): boolean[] =>
    [one!, two!, three!].map(({ id }) => on.node.pool.get(id) !== undefined);
  await arrive(
    peers[0],
    sealed(on, on.miner, one!.id, 'Error'),
    sealed(on, on.miner, one!.id, 'Error', { code: 4 }),
  );
  await arrive(
    peers[0],
    sealed(on, on.miner, two!.id, 'Error'),
    sealed(on, on.otherMiner, two!.id, 'Failure'),
  );
  await arrive(
    peers[0],
    sealed(on, on.miner, three!.id, 'Error'),
    sealed(on, on.otherMiner, three!.id, 'Error'),
  );
  t.strictSame(inPool(), [true, true, true]);
  await pass(60_000);
  t.strictSame(inPool(), [true, true, false], 'two miners, and not one twice or a failure');
  t.equal(on.node.pool.dropped(three!.id), '2 miners have refused the transaction');
});

t.test('what miners refuse of a member is no refusal of the atomic transaction', async (t) => {
  const on = await ground(t);
  const { peers, arrive, pass } = await opened(t, on, { errorQuorum: 2, cleanupMs: 60_000 });
  const place = { at: on, owner: on.accounts[0] };
  const made = creationOf(place, 'image');
  const call = callOf(place, made);
  const group = groupOf(place, [made, call]);
  await on.node.pool.submit(group);
  const refusedByBoth = ({ id }: Tx): readonly Uint8Array[] =>
    [on.miner, on.otherMiner].map((by) => sealed(on, by, id, 'Error'));
  // Another atomic transaction with the same member may have failed.
  await arrive(peers[0], ...refusedByBoth(call));
  await pass(60_000);
  t.equal(inPool(place, group), true);
  await arrive(peers[0], ...refusedByBoth(group));
  await pass(60_000);
  t.equal(inPool(place, group), false);
  t.equal(on.node.pool.dropped(group.id), '2 miners have refused the transaction');
});

t.test('a node that executes asks no record, until it may make no blocks', async (t) => {
  const on = await ground(t);
  const { now } = on.clock;
  const { view } = on.node.blockchain;
  let [by, rules] = [on.otherMiner, { senderRoleEnabled: false }];
  const executes = (): boolean => mayExecute(view, by.address, now(), rules);
  const options = { errorQuorum: 1, cleanupMs: 60_000 };
  const { peers, arrive, pass } = await opened(t, on, options, { executes });
  const { id } = await waiting(on, 'one');
  await arrive(peers[0], sealed(on, on.miner, id, 'Error'));
  await pass(120_000);
  t.ok(on.node.pool.get(id), 'it judges for itself');
  rules = { senderRoleEnabled: true };
  t.notOk(executes(), 'an account without the role of a sender');
  [by, rules] = [on.member, { senderRoleEnabled: false }];
  t.notOk(executes(), 'an account without the role of a miner');
  await pass(60_000);
  t.equal(on.node.pool.dropped(id), '1 miner has refused the transaction');
});

t.test('one miner is enough where no other one executes', async (t) => {
  const on = await ground(t);
  const { peers, arrive, pass } = await opened(t, on, { errorQuorum: 2 });
  const [one, two, three, four] = await Promise.all(
    ['one', 'two', 'three', 'four'].map((name) => waiting(on, name)),
  );
  const inPool = (): boolean[] =>
    [one!, two!, three!, four!].map(({ id }) => on.node.pool.get(id) !== undefined);
  await arrive(
    peers[0],
    sealed(on, on.miner, one!.id, 'Error'),
    sealed(on, on.miner, two!.id, 'Failure', { code: undefined }),
    sealed(on, on.miner, three!.id, 'Failure', { code: 1 }),
  );
  await arrive(peers[0], sealed(on, on.stranger, three!.id, 'Error'));
  await pass(60_000);
  t.strictSame(inPool(), [false, false, true, true], 'an image without end counts, an attempt not');
  t.equal(on.node.pool.dropped(two!.id), '1 miner has refused the transaction');
  await arrive(peers[0], sealed(on, on.otherMiner, four!.id, 'Failure', { code: 1 }));
  await pass(HEARD_MS_MAX - DOUBTED_MS_MAX / 2);
  await arrive(peers[0], sealed(on, on.miner, three!.id, 'Error'));
  await pass(60_000);
  t.strictSame(inPool(), [false, false, true, true], 'another miner that executes has a say');
  await pass(DOUBTED_MS_MAX / 2);
  t.strictSame(inPool(), [false, false, false, true], 'until nothing came from it for long');
});

t.test('where miners differ a call stays for a while, whatever one of them repeats', async (t) => {
  const on = await ground(t);
  const { peers, arrive, pass } = await opened(t, on, { errorQuorum: 2 });
  const { id } = await waiting(on, 'one');
  const isWaiting = (): boolean => on.node.pool.get(id) !== undefined;
  await arrive(peers[0], sealed(on, on.miner, id, 'Error'));
  for (let ms = 0; ms < DOUBTED_MS_MAX; ms += 60_000) {
    t.ok(isWaiting(), `an honest miner may execute it, after ${ms} ms`);
    // The other one need not refuse anything, and repetitions do not begin the time anew.
    await arrive(peers[0], sealed(on, on.otherMiner, id, 'Failure', { code: 1 }));
    await arrive(peers[0], sealed(on, on.miner, id, 'Error'));
    await pass(60_000);
  }
  t.notOk(isWaiting(), 'a miner that refuses nothing keeps nothing in the pool');
  t.equal(on.node.pool.dropped(id), '1 miner has refused the transaction');
});

t.test('calls on which miners differ hold a part of the pool, the oldest leave', async (t) => {
  const on = await ground(t);
  const size = on.node.pool.entry((await waiting(on, 'the size of each')).id)!.size;
  const poolBytesMax = 3 * DOUBTED_SHARE * (size + 10);
  const { peers, arrive, pass } = await opened(t, on, { errorQuorum: 2, poolBytesMax });
  const calls = [];
  for (let i = 0; i < 6; i++) calls.push(await waiting(on, `call of number ${i}`));
  const isWaiting = ({ id }: { id: Uint8Array }): boolean => on.node.pool.get(id) !== undefined;
  await arrive(peers[0], sealed(on, on.otherMiner, calls[0]!.id, 'Failure', { code: 1 }));
  for (const { id } of calls.slice(1)) {
    await arrive(peers[0], sealed(on, on.miner, id, 'Error'));
    await pass(1_000);
  }
  await pass(60_000);
  t.strictSame(calls.map(isWaiting), [true, false, false, true, true, true]);
});

t.test('what this node has refused is said again, a few times', async (t) => {
  const on = await ground(t);
  const { statuses, peers, pass } = await opened(
    t,
    on,
    { keepMs: 4 * HOUR },
    { miner: minerOf(on) },
  );
  const tx = await waiting(on, 'one');
  const other = await waiting(on, 'two');
  const again = await waiting(on, 'three');
  const refuse = ({ id }: { id: Uint8Array }, code: number | undefined): void =>
    statuses.report({ txId: id, status: 'Failure', code, message: 'no such image' });
  refuse(tx, undefined);
  refuse(other, 1);
  refuse(again, undefined);
  refuse(again, 1);
  await pass(10 * REPEAT_MS);
  t.equal(peers[0].got.length, 4, 'they are in the pool, and may be judged anew');

  for (const { id } of [tx, other, again]) {
    on.node.pool.drop(on.node.pool.entry(id)!, apiError('Invalid', 'no such image'));
  }
  const times: number[] = [];
  for (let seconds = 0; seconds < 10_000; seconds += 30) {
    const before = peers[0].got.length;
    await pass(30_000);
    if (peers[0].got.length > before) times.push(on.clock.now());
  }
  const pauses = times.slice(1).map((at, i) => Math.round((at - times[i]!) / REPEAT_MS));
  t.strictSame(pauses, [2, 4, 8, 16], 'further apart each time');
  const said = peers[0].got.slice(4);
  t.match(
    said,
    Array.from({ length: REPEATS_MAX }, () => ({ code: undefined, message: 'no such image' })),
  );
  t.equal(said.length, REPEATS_MAX);
  t.ok(
    said.every(({ txId }) => equal(txId, tx.id)),
    'a call that is tried again is no news, also where it was refused before',
  );
});

t.test('a failure that was reported is not signed and sent again', async (t) => {
  const on = await ground(t);
  const { statuses, peers, pass } = await opened(t, on);
  const { id } = await waiting(on, 'one');
  const report = (status: OutcomeStatus, code: number | undefined): void =>
    statuses.report({ txId: id, status, code, message: `at ${on.clock.now()}` });
  for (let i = 0; i < 5; i++) {
    report('Failure', 1);
    await pass(1_000);
  }
  t.equal(peers[0].got.length, 1);
  report('Failure', undefined);
  report('Success', undefined);
  await pass(1_000);
  t.match(
    peers[0].got.map(({ status, code }) => [status, code]),
    [
      ['Failure', 1],
      ['Failure', undefined],
      ['Success', undefined],
    ],
  );
});

t.test('a watcher keeps what it gets and hands nothing on', async (t) => {
  const on: Ground = await ground(t);
  const { statuses, peers, arrive, pass } = await opened(t, on, { isWatcher: true });
  const txId = randomBytes(32);
  await arrive(peers[0], sealed(on, on.miner, txId, 'Error'));
  await pass(1_000);
  t.equal(statuses.of(txId).length, 1);
  t.strictSame(
    peers.map(({ got }) => got.length),
    [0, 0, 0],
  );
});

t.test('the limit on records holds, on the disk too', async (t) => {
  const on = await ground(t);
  const { statuses, peers, arrive, pass } = await opened(t, on, {
    isWatcher: true,
    recordsMax: 100,
  });
  for (let i = 0; i < 30; i++) {
    const by = i % 10 === 0 ? on.otherMiner : on.miner;
    const records = Array.from({ length: 10 }, () => sealed(on, by, randomBytes(32), 'Error'));
    await arrive(peers[0], ...records);
  }
  await pass(5_000);
  t.equal(statuses.size(), 100);
  await statuses.stop();
  const again = await opened(t, on, { isWatcher: true });
  t.equal(again.statuses.size(), 100);
});

t.test('a signer that is away for a moment ends no report but the first', async (t) => {
  const on = await ground(t);
  let isAway = true;
  const miner = {
    publicKey: on.accounts[0].publicKey,
    async sign(message: Uint8Array) {
      if (isAway) throw apiError('SignerAway');
      return signWith(on, on.accounts[0], message);
    },
  };
  const { statuses, pass } = await opened(t, on, {}, { miner });
  const ids = Array.from({ length: 4 }, () => randomBytes(32));
  const report = (txId: Uint8Array): void =>
    statuses.report({ txId, status: 'Success', code: undefined, message: 'mined' });
  for (const id of ids.slice(0, 3)) report(id);
  await pass();
  isAway = false;
  report(ids[3]!);
  await pass(10);
  t.strictSame(
    ids.map((id) => statuses.of(id).length),
    [0, 1, 1, 1],
  );
});
