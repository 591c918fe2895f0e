// The pool of a whole node: limits, conflicts, age, restart.
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { transactionsAt } from '../../src/chain/store/stored-blocks.ts';
import { txFromJson } from '../../src/tx/json/encode.ts';
import { ROUND_MS, wholeNode } from './in-process.ts';

const HOUR = 3_600_000;
const FULL = { code: 199, message: 'Transaction pool bytes size limit is reached' };

t.test('scenario 57: replayed from the pool, after mining, after a restart', async (t) => {
  const whole = await wholeNode(t);
  const [owner, one] = whole.accounts;
  const tx = whole.transfer(owner, one, 5);
  await whole.node.pool.submit(tx);
  await whole.node.pool.submit(tx);
  t.equal(whole.node.pool.size(), 1, 'the second is ignored');
  t.equal(whole.records.list.length, 1);

  const restarted = await whole.restart();
  t.equal(restarted.node.pool.size(), 1, 'it waits across the restart');
  const before = restarted.balance(one);
  t.equal((await restarted.mine()).length, 1);
  t.equal(restarted.balance(one) - before, 5n);
  const height = restarted.heightOf(tx);
  const known = `Transaction ${base58.encode(tx.id)} is already in the state on a height of ${height}`;
  t.match(await restarted.refusal(tx), { code: 112, message: known });
  const again = await restarted.restart();
  t.match(await again.refusal(tx), { code: 112, message: known });
  t.equal(again.node.pool.size(), 0);
  t.equal((await again.mine()).length, 0);
  t.equal(again.balance(one) - before, 5n);
});

t.test('nobody is told of a transaction before it is durable', async (t) => {
  const whole = await wholeNode(t);
  const [owner, one] = whole.accounts;
  const disk = Promise.withResolvers<void>();
  whole.records.disk = disk.promise;
  const tx = whole.transfer(owner, one, 5);
  const notified: string[] = [];
  const both = ['first', 'second'].map((name, i) =>
    (i === 0 ? Promise.resolve() : turn())
      .then(() => whole.node.pool.submit(tx))
      .then(() => notified.push(name)),
  );
  await turn();
  await turn();
  t.strictSame(notified, []);
  disk.resolve();
  await Promise.all(both);
  t.strictSame(notified.sort(), ['first', 'second']);
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function workedMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return Math.round((user + system) / 1000);
}

t.test('scenario 73: ten thousand conflicting transactions of one account', async (t) => {
  const whole = await wholeNode(t);
  const [owner, one, poor] = whole.accounts;
  const funds = whole.balance(poor);
  // Each of them alone is affordable, a hundred together are not.
  const amount = funds / 100n;
  let refused = 0;
  for (let i = 0; i < 2000; i++) {
    const tx = whole.transfer(poor, one, amount, { timestamp: whole.clock.now() + i });
    await whole.node.pool.submit(tx).catch(() => refused++);
  }
  t.equal(whole.node.pool.size(), 99, 'only affordable ones stay');
  t.equal(refused, 1901);
  t.equal((await whole.mine()).length, 99);
  t.ok(whole.balance(poor) >= 0n);

  // All of these are affordable, and yet only one of them can be mined.
  const count = 10_000;
  const sending = process.cpuUsage();
  for (let i = 0; i < count; i++) {
    const timestamp = whole.clock.now() + i;
    await whole.send(owner, { type: 10, version: 2, alias: `alias_${i}`, timestamp });
  }
  const sent = workedMs(sending);
  t.equal(whole.node.pool.size(), count);
  const oneMore = whole.make(owner, { type: 10, version: 2, alias: 'one.too.many' });
  t.match(await whole.refusal(oneMore), FULL, 'the share of one sender');
  await whole.send(one, { type: 10, version: 2, alias: 'of-another' });
  const mining = process.cpuUsage();
  const mined = await whole.mine();
  const left = workedMs(mining);
  t.equal(mined.length, 2);
  t.equal(whole.node.pool.size(), 0, 'the others left');
  t.equal(whole.log.of('pool.dropped').length, count - 1, 'with a reason');
  // To sign and check them is linear work, whatever the machine.
  t.ok(2 * left < sent, `sent in ${sent} ms of CPU time, dropped in ${left}`);
});

t.test('scenario 74: a full pool takes nothing until a block has made room', async (t) => {
  const limit = 1700;
  const set = ['miner.enable=no'];
  const whole = await wholeNode(t, { set: [...set, `utx.memory-limit=${limit}B`] });
  const { pool } = whole.node;
  const [owner, first] = whole.accounts;
  const senders = Array.from({ length: 12 }, (_, i) => whole.newAccount(`sender ${i}`));
  const transfers = senders.map(({ text }) => ({ recipient: text, amount: 100_000_000 }));
  const funding = { type: 11, version: 1, transfers, attachment: '', fee: 20_000_000 };
  // Larger than what one sender may have in this pool, so it comes in a block of its own.
  const rich = await wholeNode(t, { set });
  await rich.send(owner, funding);
  for (const { clock } of [rich, whole]) await clock.advance(ROUND_MS);
  await whole.node.blockchain.append(await rich.produceBlock());

  const small = whole.transfer(first, owner, 1);
  const size = small.bytes.length;
  await pool.submit(small);
  t.match(await whole.refusal(whole.transfer(first, owner, 2)), FULL, 'a tenth for one sender');
  const room = Math.floor(limit / size);
  for (const sender of senders.slice(0, room - 1)) {
    await pool.submit(whole.transfer(sender, owner, 1));
  }
  t.equal(pool.bytes(), room * size);
  const newcomer = senders.at(-1)!;
  t.match(await whole.refusal(whole.transfer(newcomer, owner, 1)), FULL, 'the pool is full');
  await whole.clock.advance(ROUND_MS);
  t.equal((await whole.produceBlock()).transactions.length, room, 'nothing was thrown out');
  await pool.submit(whole.transfer(newcomer, owner, 1));
  t.equal(pool.size(), 1, 'after a block it is accepted');
});

t.test('scenario 75: older than two hours', async (t) => {
  const whole = await wholeNode(t, { set: ['miner.enable=no', 'utx.cleanup-interval=1m'] });
  const { pool } = whole.node;
  const [owner, one] = whole.accounts;
  const tx = await whole.send(owner, { type: 4, version: 2, recipient: one.text, amount: 1 });
  await whole.clock.advance(2 * HOUR);
  t.equal(pool.size(), 1, 'not yet too old');
  await whole.clock.advance(60_000);
  t.equal(pool.size(), 0);
  t.match(pool.dropped(tx.id), /^Transaction ts \d+ is too old/);
  t.strictSame(whole.log.of('pool.dropped'), [
    { id: base58.encode(tx.id), why: pool.dropped(tx.id) },
  ]);
});

t.test('scenario 75: what a block makes invalid leaves at the next cleanup', async (t) => {
  const set = ['miner.enable=no', 'utx.cleanup-interval=1m'];
  const [maker, judge] = await Promise.all([wholeNode(t, { set }), wholeNode(t, { set })]);
  const [owner, one] = maker.accounts;
  const grant = { type: 102, target: one.text, opType: 'add', role: 'issuer' };
  await maker.send(owner, grant);
  for (const { clock } of [maker, judge]) await clock.advance(ROUND_MS);
  const twin = await judge.send(owner, grant);
  await judge.node.blockchain.append(await maker.produceBlock());
  await judge.clock.advance(60_000);
  t.equal(judge.node.pool.size(), 0);
  t.match(judge.node.pool.dropped(twin.id), /Cannot assign role that is already active/);
});

t.test('scenario 77: types that only blocks may carry', async (t) => {
  const whole = await wholeNode(t);
  const { scheme } = whole;
  const genesis = transactionsAt(whole.node.blockchain.view, 1);
  for (const tx of genesis) {
    t.match(await whole.refusal(tx), {
      code: 199,
      message: `Bad transaction type (${tx.type}) and version (1)`,
    });
  }
  t.equal(scheme.chainId, 84);
  t.equal(whole.node.pool.size(), 0);
});

t.test('scenario 72: a key of small order signs nothing', async (t) => {
  const whole = await wholeNode(t);
  const [owner, one] = whole.accounts;
  const good = whole.transfer(owner, one, 1);
  // With such a key a signature of zeros holds by the bare equation, for any message.
  const publicKey = Uint8Array.of(1, ...new Uint8Array(31));
  const json = {
    type: 4,
    version: 2,
    senderPublicKey: base58.encode(publicKey),
    recipient: one.text,
    amount: 1,
    attachment: '',
    fee: good.fee,
    timestamp: whole.clock.now(),
    proofs: [base58.encode(Uint8Array.of(1, ...new Uint8Array(63)))],
  };
  const forged = txFromJson(json, whole.scheme);
  t.match(await whole.refusal(forged), { code: 112, message: /doesn't validate as signature/ });
  t.equal(whole.node.pool.size(), 0);
});
