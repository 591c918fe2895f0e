// What the entries of the pool take from accounts together: from a sender after a reorganisation, from
// who pays for others, and from sponsors (mempool.md, H-17: shares of the pool).
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { accountOf } from '../../src/ledger/accounts.ts';
import { signedBytes } from '../../src/tx/assemble.ts';
import { buildTx } from '../../src/tx/tx-bytes.ts';
import { issue } from '../../src/tx/types/003-issue.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { data } from '../../src/tx/types/012-data.ts';
import { setScript } from '../../src/tx/types/013-set-script.ts';
import { sponsorFee } from '../../src/tx/types/014-sponsor-fee.ts';
import {
  type Account,
  account,
  FUNDS,
  mine,
  miners,
  newChain,
  nextTurn,
  payment,
  scheme,
  signed,
  type TestChain,
  users,
} from '../chain/chain-harness.ts';
import { compiled } from '../generators/scripts.ts';
import { createTestPool, hearBlocks } from './pool-harness.ts';

const [alice, bob] = users;
const FEE = 1_000_000n;
const NO_FUNDS = { message: /unavailable funds/ };

const to = ({ address }: Account) => ({ kind: 'address', bytes: address });
const pays = (
  from: Account,
  recipient: Account,
  amount: bigint,
  at: TestChain,
  rest: object = {},
) =>
  signed(transfer, from, {
    recipient: to(recipient),
    amount,
    fee: FEE,
    attachment: new Uint8Array(0),
    timestamp: at.clock.time,
    ...rest,
  } as never);

t.test('after a reorganisation each entry takes what it takes, once', async (t) => {
  const at = await newChain();
  const pool = createTestPool(at);
  hearBlocks(at, () => pool);
  await mine(at);
  const { height } = at.blockchain.tip();
  const half = Array.from({ length: 10 }, (_, i) =>
    payment(alice, bob, FUNDS / 20n, at.clock.time + i),
  );
  await mine(at, half);
  await at.blockchain.rollback(height);
  await pool.readmitted();
  // They are judged in turns with other work.
  while (pool.inOrder().some(({ native }) => native === 0n)) await setImmediate();
  t.strictSame(
    pool.inOrder().map(({ native }) => native),
    half.map(({ fee }) => FUNDS / 20n + fee),
  );
  await pool.submit(payment(alice, bob, FUNDS / 2n - 20n * FEE, at.clock.time + 10));
  await t.rejects(pool.submit(payment(alice, bob, 20n * FEE, at.clock.time + 11)), NO_FUNDS);
});

t.test('who pays the fees of others pays for what it has', async (t) => {
  const at = await newChain();
  const { time: timestamp } = nextTurn(at);
  const author = account('an author with little');
  const dataFee = 5_400_000n;
  const script = { script: compiled('true'), name: '', description: '', fee: 50_000_000n };
  await mine(at, [
    signed(setScript, alice, { chainId: scheme.chainId, ...script, timestamp } as never, 1),
    pays(bob, author, 2n * dataFee + FEE, at, { timestamp }),
  ]);
  const pool = createTestPool(at);
  const written = (i: number) => {
    const values = {
      senderPublicKey: alice.publicKey,
      authorPublicKey: author.publicKey,
      data: [{ key: `k${i}`, type: 'integer', value: 1n }],
      fee: dataFee,
      timestamp: at.clock.time + i,
    } as never;
    const layout = data.layouts[0]!;
    const draft = buildTx(data, layout, values, [new Uint8Array(64)], scheme);
    const proofs = [author.sign(signedBytes(draft as never))];
    return buildTx(data, layout, values, proofs, scheme) as never;
  };
  await pool.submit(written(1));
  await pool.submit(written(2));
  await t.rejects(pool.submit(written(3)), NO_FUNDS);
  await t.rejects(pool.submit(pays(author, bob, 1n, at)), NO_FUNDS, 'it has signed them');
});

t.test('sponsors', async (t) => {
  const at = await newChain();
  const { time: timestamp, miner } = nextTurn(at);
  const sponsor = miners.find((one) => one !== miner)!;
  const holder = account('a holder of the asset');
  const gold = signed(issue, sponsor, {
    ...{ chainId: scheme.chainId, name: 'gold', description: '', quantity: 10n ** 12n },
    ...{ decimals: 0, reissuable: false, script: undefined, fee: 100_000_000n, timestamp },
  } as never);
  const { id: assetId } = gold;
  const sponsored = { assetId, minSponsoredAssetFee: 100_000n, fee: 100_000_000n, timestamp };
  await mine(at, [
    gold,
    signed(sponsorFee, sponsor, sponsored as never, 1),
    pays(sponsor, holder, 10n ** 11n, at, { assetId, timestamp }),
  ]);
  // Its balance has no fees of the next block.
  while (nextTurn(at).miner === sponsor) await mine(at);
  const { balance } = accountOf(at.blockchain.view, sponsor.address);
  const turn = nextTurn(at);
  const rest = 2n * FEE + FEE / 2n;
  await mine(at, [pays(sponsor, alice, balance - rest - FEE, at, { timestamp: turn.time })]);
  t.equal(accountOf(at.blockchain.view, sponsor.address).balance, rest);

  const pool = createTestPool(at);
  const inGold = (i: number) =>
    pays(holder, bob, 1n, at, { assetId, feeAssetId: assetId, timestamp: at.clock.time + i });
  await pool.submit(inGold(1));
  await pool.submit(inGold(2));
  await t.rejects(pool.submit(inGold(3)), NO_FUNDS, 'strangers hinder one another');
  const own = pays(sponsor, alice, FEE, at);
  await t.resolves(pool.submit(own), 'and not the sponsor');
  pool.removeMined([own, inGold(1), inGold(2)]);
  await pool.submit(own);
  await t.rejects(pool.submit(inGold(4)), NO_FUNDS, 'whose own entries come first');
});
