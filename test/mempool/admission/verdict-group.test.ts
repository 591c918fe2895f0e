import t from 'tap';
import type { Verifier } from '../../../src/base/ports/verifier.ts';
import { CodecError } from '../../../src/codec/codec.ts';
import { GROUP_MAX } from '../../../src/mempool/admission/verdict-group.ts';
import { account, newChain, payment, users, verifier } from '../../chain/chain-harness.ts';
import { createTestPool } from '../pool-harness.ts';

const [alice, bob] = users;

/** A pool whose journal and verifier count, and whose journal may fail. */
async function newPool() {
  const at = await newChain();
  const seen = { records: 0, groups: 0, checks: 0, isBroken: false };
  const counting: Verifier = {
    ...verifier,
    verify(items) {
      seen.groups += 1;
      seen.checks += items.length;
      return verifier.verify(items);
    },
  };
  const journal = {
    recovered: [],
    async append() {
      if (seen.isBroken) throw new Error('no space left on device');
      seen.records += 1;
    },
    rewrite: async () => {},
    close: async () => {},
  };
  const pool = createTestPool(at, { verifier: counting, journal });
  t.teardown(() => pool.stop());
  return { pool, seen, now: at.clock.time };
}

function broken(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice();
  copy[copy.length - 1]! ^= 1;
  return copy;
}

t.test('each of a group is decided as if it had come alone', async (t) => {
  const { pool, seen, now } = await newPool();
  const known = payment(alice, bob, 1n, now);
  await pool.submit(known);
  const [good, other] = [2n, 3n].map((amount) => payment(alice, bob, amount, now));
  const poor = payment(account('somebody without funds'), bob, 1n, now);
  const list = [
    good!.bytes,
    broken(other!.bytes),
    good!.bytes,
    known.bytes,
    good!.bytes.subarray(1),
    poor.bytes,
  ];
  const errors = await pool.submitAll(
    list.map((bytes) => ({ bytes })),
    false,
  );
  t.match(errors[1], { message: /doesn't validate as signature/ });
  t.match(errors[5], { message: /unavailable funds/ });
  t.ok(errors[4] instanceof CodecError);
  t.strictSame([errors[0], errors[2], errors[3]], [undefined, undefined, undefined]);
  t.equal(pool.size(), 2);
  t.equal(seen.records, 2);
  t.equal(seen.checks, 3, 'the good one once, the wrong one, that without funds');
  const [doubted] = await pool.submitAll([{ bytes: broken(poor.bytes) }], true);
  t.match(doubted, { message: /unavailable funds/ }, 'the state is asked before the signatures');
});

t.test('signatures travel together, in groups of limited size', async (t) => {
  const { pool, seen, now } = await newPool();
  const list = Array.from({ length: GROUP_MAX + 1 }, (_, i) => payment(alice, bob, 1n, now + i));
  const errors = await pool.submitAll(
    list.map(({ bytes }) => ({ bytes })),
    false,
  );
  t.equal(errors.filter((error) => error === undefined).length, GROUP_MAX + 1);
  t.equal(pool.size(), GROUP_MAX + 1);
  t.equal(seen.groups, 2);
});

t.test('a client that sends one meanwhile gets its outcome, once it is on disk', async (t) => {
  const { pool, seen, now } = await newPool();
  const tx = payment(alice, bob, 1n, now);
  const group = pool.submitAll([{ bytes: tx.bytes }], false);
  t.same((await pool.submit(tx)).id, tx.id);
  t.equal(seen.records, 1);
  t.strictSame(await group, [undefined]);
  t.equal(seen.checks, 1);

  seen.isBroken = true;
  const next = payment(alice, bob, 2n, now);
  const failing = pool.submitAll([{ bytes: next.bytes }], false);
  await t.rejects(pool.submit(next), { message: /cannot be written to disk/ });
  t.match(await failing, [{ message: /cannot be written to disk/ }]);
  t.equal(pool.size(), 1);
});
