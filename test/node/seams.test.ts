/**
 * An error that is thrown while an input is handled or a block is made ends only that input or
 * block. A failed assertion of the node itself stops the node. The tests throw errors at each
 * boundary between two parts, from the called part.
 */
import t, { type Test } from 'tap';
import { AssertionError, unlessOurs } from '../../src/base/assert.ts';
import { utf8 } from '../../src/base/bytes.ts';
import { apiError } from '../../src/base/errors.ts';
import { stringify } from '../../src/base/json/json.ts';
import type { Clock } from '../../src/base/ports/clock.ts';
import type { HttpRequest } from '../../src/base/ports/http.ts';
import { CodecError } from '../../src/codec/codec.ts';
import { pack } from '../../src/mempool/packer.ts';
import { SlotMiner } from '../../src/miner/miner.ts';
import { FetchQueue } from '../../src/privacy/fetching/fetch-queue.ts';
import { createApi } from '../../src/rest/api.ts';
import { txToJson } from '../../src/tx/json/encode.ts';
import { mine, newChain, payment, quiet, scheme, users, verifier } from '../chain/chain-harness.ts';
import { createTestForkChoice } from '../chain/fork-harness.ts';
import { cluster } from '../network/cluster.ts';
import { bench, Charge, mined, unhandled } from './charges.ts';
import { wholeNode } from './in-process.ts';

const [alice, bob] = users;

const errors: Readonly<Record<string, () => Error>> = {
  CodecError: () => new CodecError('bytes', 'injected'),
  ApiError: () => apiError('Invalid', 'injected'),
  RangeError: () => new RangeError('injected'),
};
const ours = (): Error => new AssertionError('injected');

/** A seam: does something through which the armed error passes; the rest must go on. */
type Seam = (t: Tap, charge: Charge, fire: () => void) => Promise<void>;
type Tap = Test;

const seams: Readonly<Record<string, Seam>> = {
  async decode(t, charge, fire) {
    const trapped = mined(scheme, 'fastHash', charge);
    const { at, pool } = await bench({ scheme: trapped });
    const tx = payment(alice, bob, 1n, at.clock.time);
    fire();
    await t.rejects(pool.submit(tx));
    t.equal(pool.size(), 0);
    await pool.submit(tx);
    t.equal(pool.size(), 1, 'and then it is taken');
  },

  async check(t, charge, fire) {
    const { at, pool, records } = await bench({
      state: (state) => mined(state, 'tryApply', charge),
    });
    const tx = payment(alice, bob, 1n, at.clock.time);
    fire();
    await t.rejects(pool.submit(tx));
    t.equal(records.length, 0);
    await pool.submit(tx);
    t.equal(pool.size(), 1, 'and then it is taken');
  },

  async verify(t, charge, fire) {
    const { at, pool } = await bench({ verifier: mined(verifier, 'verifyOne', charge) });
    const tx = payment(alice, bob, 1n, at.clock.time);
    fire();
    await t.rejects(pool.submit(tx));
    await pool.submit(tx);
    t.equal(pool.size(), 1, 'and then it is taken');
  },

  async journal(t, charge, fire) {
    const { at, pool } = await bench({ charge });
    const tx = payment(alice, bob, 1n, at.clock.time);
    fire();
    await t.rejects(pool.submit(tx));
    t.equal(pool.size(), 0, 'what is not on disk is not acknowledged');
    await pool.submit(tx);
    t.equal(pool.size(), 1, 'and then it is taken');
  },

  async 'listener of the pool'(t, charge, fire) {
    const { at, pool } = await bench();
    const notified: unknown[] = [];
    pool.listen({ added: () => charge.pass() });
    pool.listen({ added: (entry) => notified.push(entry) });
    fire();
    await pool.submit(payment(alice, bob, 1n, at.clock.time));
    t.equal(notified.length, 1, 'the others are notified');
  },

  async 'listener of the chain'(t, charge, fire) {
    const { at } = await bench();
    const notified: unknown[] = [];
    at.blockchain.listen({ block: () => charge.pass() });
    at.blockchain.listen({ block: (event) => notified.push(event) });
    fire();
    await mine(at);
    t.equal(notified.length, 1, 'the others are notified');
    await mine(at);
    t.equal(at.blockchain.tip().height, 3);
  },

  async 'recovery, decode'(t, charge, fire) {
    const time = (await newChain()).clock.time;
    const recovered = [1n, 2n].map((amount) => payment(alice, bob, amount, time).bytes);
    const { pool } = await bench({ scheme: mined(scheme, 'fastHash', charge), recovered });
    fire();
    await pool.recover();
    t.equal(pool.size(), 1, 'the other one is there');
  },

  async 'recovery, check'(t, charge, fire) {
    const time = (await newChain()).clock.time;
    const recovered = [1n, 2n].map((amount) => payment(alice, bob, amount, time).bytes);
    const { pool } = await bench({
      state: (state) => mined(state, 'tryApply', charge),
      recovered,
    });
    fire();
    await pool.recover();
    t.equal(pool.size(), 2, 'it was tried again');
  },

  async 'pack, decode'(t, charge, fire) {
    const { at, pool } = await bench();
    for (const amount of [1n, 2n]) await pool.submit(payment(alice, bob, amount, at.clock.time));
    const packed: unknown[] = [];
    const limits = { bytesMax: 10_000, countMax: 10 };
    fire();
    await pack(
      mined(pool, 'decode', charge),
      limits,
      { add: (tx) => void packed.push(tx) },
      at.clock,
    );
    t.equal(packed.length, 1);
    t.equal(pool.size(), 1, 'what cannot be packed leaves the pool');
  },

  async 'pack, apply'(t, charge, fire) {
    const { at, pool } = await bench();
    const txs = [1n, 2n].map((amount) => payment(alice, bob, amount, at.clock.time));
    for (const tx of txs) await pool.submit(tx);
    const packed: unknown[] = [];
    const limits = { bytesMax: 10_000, countMax: 10 };
    fire();
    const add = (tx: unknown): void => {
      charge.pass();
      packed.push(tx);
    };
    await pack(pool, limits, { add }, at.clock);
    t.equal(packed.length, 1);
    const [gone] = txs.filter(({ id }) => pool.get(id) === undefined);
    t.match(pool.dropped(gone!.id), /injected/, 'with its reason');
  },

  async seal(t, charge, fire) {
    const timers: (() => void)[] = [];
    const clock: Clock = {
      ...(await newChain()).clock,
      after(_ms, action) {
        timers.push(action);
        return () => void timers.splice(timers.indexOf(action), 1);
      },
    };
    const now = clock.now();
    let made = 0;
    const miner = new SlotMiner(
      { enabled: true, quorum: 0, noQuorumDelayMs: 1, staleTipMs: 1_000_000 },
      {
        clock,
        log: quiet,
        connectedMiners: () => 0,
        isRemovedFromNetwork: () => false,
        chain: {
          tip: () => ({ height: 1, timestamp: now }),
          nextSlot: (from: number) => ({
            start: from - 10_000,
            from: from - 10_000,
            until: from + 10_000,
          }),
          isUsed: (slot: { from: number }) => made > 0 && slot.from < now,
          async produceBlock() {
            charge.pass();
            made++;
          },
          unfinished: { waits: () => false, finish: async () => undefined },
          onHead: () => () => {},
        },
      } as never,
    );
    t.teardown(() => miner.stop().catch(() => {}));
    fire();
    miner.start();
    for (let i = 0; i < 20 && made === 0; i++) {
      timers.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (charge.fired > 0) t.ok(made > 0, 'the next block is made');
  },

  async 'apply a block of another node'(t, charge, fire) {
    const [maker, judge] = await Promise.all([newChain(), newChain()]);
    const blockchain = mined(judge.blockchain, 'exclusive', charge);
    const forks = createTestForkChoice(judge, { blockchain });
    const block = await mine(maker);
    judge.clock.time = maker.clock.time;
    fire();
    await forks.offer(block).catch(unlessOurs(() => {}));
    t.equal(judge.blockchain.tip().height, 1);
    t.equal((await forks.offer(block)).kind, 'adopted', 'it is not held against the block');
  },

  async 'fetch of confidential data'(t, charge, fire) {
    const { at } = await bench();
    const lost: unknown[] = [];
    const queue = new FetchQueue(
      { parallelism: 1, attemptsMax: 1, firstDelayMs: 1, lostEveryMs: 1 },
      {
        free: () => new Map(),
        isBusy: () => false,
        backlog: { set: () => {}, list: () => [], stateOf: () => undefined, flush: async () => {} },
        clock: at.clock,
        random: { bytes: (count) => new Uint8Array(count) },
        log: quiet,
        async fetch() {
          charge.pass();
          return 'settled';
        },
        onLost: (item) => lost.push(item),
      },
    );
    fire();
    queue.add({ policyId: new Uint8Array(32), hash: new Uint8Array(32) }, 0);
    await queue.idle();
    t.equal(lost.length, 1, 'it counts as an attempt');
  },

  async REST(t, charge, fire) {
    const whole = await wholeNode(t);
    const [owner, one] = whole.accounts;
    const services = {
      ...whole.node.services,
      pool: { ...whole.node.pool, problem: () => undefined },
    };
    const api = createApi({ ...services, pool: mined(services.pool, 'submit', charge) });
    const route = api.find(
      ({ method, pattern }) => method === 'POST' && pattern === '/transactions/broadcast',
    );
    const body = utf8(stringify(txToJson(whole.transfer(owner, one, 5), whole.scheme)));
    const request = { header: () => '' } as unknown as HttpRequest;
    fire();
    t.ok((await route!.handle(request, body)).status >= 400);
    t.equal((await route!.handle(request, body)).status, 200, 'the next request is served');
  },
};

for (const [seam, run] of Object.entries(seams)) {
  for (const [name, make] of Object.entries(errors)) {
    t.test(`${name} at ${seam} ends nothing else`, async (t) => {
      const charge = new Charge();
      const stray = await unhandled(() => run(t, charge, () => charge.arm(make)));
      t.strictSame(stray, []);
      t.equal(charge.fired, 1, 'it was thrown');
    });
  }
}

/** Where somebody waits for the outcome, the assertion is theirs; elsewhere nobody catches it. */
for (const [seam, run] of Object.entries(seams)) {
  if (seam === 'journal' || seam === 'verify') continue; // ports: what they throw is the world's
  t.test(`an assertion at ${seam} is not caught`, async (t) => {
    const charge = new Charge();
    const quietTap = new Proxy(t, {
      get: (target, name) =>
        name === 'teardown'
          ? target.teardown.bind(target)
          : name === 'rejects'
            ? (promise: Promise<unknown>) => promise
            : () => true,
    });
    let thrown: unknown;
    const stray = await unhandled(() =>
      run(quietTap, charge, () => charge.arm(ours)).catch((cause) => {
        thrown = cause;
      }),
    );
    const seen = [thrown, ...stray].some((cause) => cause instanceof AssertionError);
    t.ok(seen, 'it reaches the one who stops the node');
  });
}

t.test('a node whose pool fails on what peers send blames nobody', async (t) => {
  const at = await cluster(t, { miners: ['one', 'two'] });
  const [one, two] = await Promise.all([at.start('one'), at.start('two')]);
  await at.rounds(2);
  const { pool } = two.node;
  let failures = 3;
  const stop = pool.listen({
    added() {
      if (failures-- > 0) throw new RangeError('injected');
    },
  });
  for (let i = 1; i <= 5; i++) {
    const { text: _text, ...from } = at.member('one');
    await one.node.pool.submit(payment(from as never, bob, BigInt(i), at.clock.now()));
    await at.seconds(1);
  }
  await at.rounds(2);
  stop();
  t.equal(two.node.services.peers!.sessions.all().length, 1);
  t.strictSame([...one.log.of('peer.offence'), ...two.log.of('peer.offence')], []);
  t.ok(two.node.blockchain.tip().height >= one.node.blockchain.tip().height - 1);
});
