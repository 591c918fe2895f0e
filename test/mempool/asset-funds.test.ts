// What the pool refuses by itself: more of an asset than its sender has, in several transactions, and
// types that only blocks have.
import t from 'tap';
import { transactionBytesAt } from '../../src/chain/store/stored-blocks.ts';
import { issue } from '../../src/tx/types/003-issue.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { mine, miners, newChain, nextTurn, scheme, signed, users } from '../chain/chain-harness.ts';
import { createTestPool } from './pool-harness.ts';

const [issuer] = miners as [(typeof miners)[0]];
const [alice] = users;

t.test('an asset that is spent twice', async (t) => {
  const at = await newChain();
  const { time } = nextTurn(at);
  const gold = signed(issue, issuer, {
    ...{ chainId: scheme.chainId, name: 'gold', description: '', quantity: 10n, decimals: 0 },
    ...{ reissuable: false, script: undefined, fee: 100_000_000n, timestamp: time },
  } as never);
  await mine(at, [gold]);
  const pool = createTestPool(at);
  const pays = (amount: bigint) =>
    signed(transfer, issuer, {
      ...{ recipient: { kind: 'address', bytes: alice.address }, amount, fee: 1_000_000n },
      ...{ assetId: gold.id, attachment: new Uint8Array(0), timestamp: at.clock.time },
    } as never);
  await pool.submit(pays(6n));
  await t.rejects(pool.submit(pays(5n)), { message: /unavailable funds/ });
  await pool.submit(pays(4n));
});

t.test('a transaction of the genesis block', async (t) => {
  const at = await newChain();
  for (const bytes of transactionBytesAt(at.blockchain.view, 1)) {
    const refusal = await createTestPool(at)
      .submitBytes(bytes)
      .catch((error: unknown) => error);
    t.match(refusal, { entry: 'BadTransactionType' });
  }
});
