// Rounds of the cleanup: what leaves, and how long scripts may take.
import t from 'tap';
import { createPool } from '../../src/mempool/pool.ts';
import { createTrial } from '../../src/mempool/trial.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { buildTx, signedBytes } from '../../src/tx/tx-bytes.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { setScript } from '../../src/tx/types/013-set-script.ts';
import {
  type Account,
  mine,
  newChain,
  nextTurn,
  payment,
  quiet,
  rules,
  scheme,
  signed,
  type TestChain,
  users,
  verifier,
} from '../chain/chain-harness.ts';
import { compiled } from '../generators/scripts.ts';

const [alice, bob, carol] = users as [Account, Account, Account];
const CLEANUP_MS = 300_000;
const EXPIRE_MS = 7_200_000;
const RUN_MS = 400;

/** A pool whose rounds the test begins. */
function poolOn(at: TestChain) {
  let round: () => void = () => undefined;
  at.clock.after = (ms, action) => {
    if (ms === CLEANUP_MS) round = action;
    return () => undefined;
  };
  const pool = createPool(
    {
      bytesMax: 1_000_000,
      senderEntriesMax: 100,
      expireMs: EXPIRE_MS,
      cleanupMs: CLEANUP_MS,
      nativeToken: 'WEST',
    },
    {
      scheme,
      state: createTrial(at.blockchain, rules, at.clock),
      verifier,
      journal: {
        recovered: [],
        append: async () => undefined,
        rewrite: async () => undefined,
        close: async () => undefined,
      },
      clock: at.clock,
      log: quiet,
    },
  );
  const cleanUp = async (): Promise<void> => {
    round();
    await new Promise(setImmediate);
  };
  return { pool, cleanUp };
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

t.test('scripts get a second of a round, and the others wait for the next one', async (t) => {
  const at = await newChain();
  const about = { name: 'guard', description: '', chainId: scheme.chainId };
  const script = compiled('height < 3');
  const input = { ...about, script, fee: setScript.fee ?? 0n, timestamp: nextTurn(at).time };
  await mine(at, [signed(setScript, alice, input as never, 1)]);
  const { pool, cleanUp } = poolOn(at);
  for (let i = 1; i <= 5; i++) await pool.submit(pay(alice, BigInt(i), at.clock.time + i));
  const plain = payment(bob, carol, 1n, at.clock.time + 9);
  await pool.submit(plain);
  await mine(at);
  let ms = 0;
  at.clock.monotonic = () => {
    ms += RUN_MS;
    return ms;
  };
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
  at.clock.time += EXPIRE_MS + 500;
  await cleanUp();
  t.notOk(pool.get(old.id));
  t.match(pool.dropped(old.id), /is too old/);
  t.ok(pool.get(newer.id));
});
