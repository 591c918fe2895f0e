// How long scripts may take on arrival and in rounds of the cleanup, and what leaves there.
import t from 'tap';
import type { Tx } from '../../../src/tx/transaction.ts';
import { buildTx, signedBytes } from '../../../src/tx/tx-bytes.ts';
import { transfer } from '../../../src/tx/types/004-transfer.ts';
import { setScript } from '../../../src/tx/types/013-set-script.ts';
import {
  type Account,
  mine,
  newChain,
  nextTurn,
  payment,
  scheme,
  signed,
  type TestChain,
  users,
} from '../../chain/chain-harness.ts';
import { compiled } from '../../generators/scripts.ts';
import { createTestPool, HOUR_MS } from '../pool-harness.ts';

const [alice, bob, carol] = users;
const CLEANUP_MS = 300_000;
const RUN_MS = 400;

/** A pool whose rounds and rests from scripts the test begins and ends. */
function poolOn(at: TestChain) {
  let round: () => void = () => undefined;
  const rests: { ms: number; end: () => void }[] = [];
  at.clock.after = (ms, action) => {
    if (ms === CLEANUP_MS) round = action;
    else rests.push({ ms, end: action });
    return () => undefined;
  };
  const pool = createTestPool(at, {}, { cleanupMs: CLEANUP_MS });
  const cleanUp = async (): Promise<void> => {
    round();
    await new Promise(setImmediate);
  };
  return { pool, cleanUp, rests };
}

function pay(from: Account, amount: bigint, timestamp: number): Tx {
  const input = {
    senderPublicKey: from.publicKey,
    timestamp,
    amount,
    fee: 1_400_000n,
    recipient: { kind: 'address', bytes: bob.address } as const,
    attachment: new Uint8Array(0),
  };
  const layout = transfer.layouts[1]!;
  const bare = buildTx(transfer, layout, input, [], scheme);
  return buildTx(transfer, layout, input, [from.sign(signedBytes(bare))], scheme) as unknown as Tx;
}

/** A chain where each transaction of Alice runs a script. */
async function scriptedChain(): Promise<TestChain> {
  const at = await newChain();
  const about = { name: 'guard', description: '', chainId: scheme.chainId };
  const script = compiled('height < 3');
  const input = { ...about, script, fee: setScript.fee ?? 0n, timestamp: nextTurn(at).time };
  await mine(at, [signed(setScript, alice, input as never, 1)]);
  return at;
}

/** From now on each script takes RUN_MS. */
function slowScripts(at: TestChain): void {
  let ms = 0;
  at.clock.monotonic = () => {
    ms += RUN_MS;
    return ms;
  };
}

t.test('transactions with a script wait while scripts rest, others do not', async (t) => {
  const at = await scriptedChain();
  const { pool, rests } = poolOn(at);
  slowScripts(at);
  const [first, second] = [1, 2].map((i) => pay(alice, BigInt(i), at.clock.time + i)) as [Tx, Tx];
  await pool.submit(first);
  t.same(
    rests.map(({ ms }) => ms),
    [RUN_MS],
  );
  const waiting = pool.submit(second);
  const plain = payment(bob, carol, 1n, at.clock.time + 9);
  await pool.submit(plain);
  t.ok(pool.get(first.id));
  t.ok(pool.get(plain.id));
  t.notOk(pool.get(second.id));
  rests[0]!.end();
  await waiting;
  t.ok(pool.get(second.id));
});

t.test('scripts get a second of a round, and the others wait for the next one', async (t) => {
  const at = await scriptedChain();
  const { pool, cleanUp } = poolOn(at);
  for (let i = 1; i <= 5; i++) await pool.submit(pay(alice, BigInt(i), at.clock.time + i));
  const plain = payment(bob, carol, 1n, at.clock.time + 9);
  await pool.submit(plain);
  await mine(at);
  slowScripts(at);
  await cleanUp();
  t.equal(pool.size(), 3, 'three scripts have run, and refused');
  await cleanUp();
  t.equal(pool.size(), 1);
  t.ok(pool.get(plain.id), 'an entry without a script is not concerned');
});

t.test('an entry that has expired leaves without its script', async (t) => {
  const at = await newChain();
  const { pool, cleanUp } = poolOn(at);
  const old = payment(bob, carol, 1n, at.clock.time);
  const newer = payment(bob, carol, 2n, at.clock.time + 1000);
  await pool.submit(old);
  await pool.submit(newer);
  at.clock.time += 2 * HOUR_MS + 500;
  await cleanUp();
  t.notOk(pool.get(old.id));
  t.match(pool.dropped(old.id), /is too old/);
  t.ok(pool.get(newer.id));
});
