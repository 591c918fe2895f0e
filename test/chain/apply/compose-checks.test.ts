/** The checks of a block are composed in turns, also where the pool knows all of its transactions. */
import t from 'tap';
import { composeChecks } from '../../../src/chain/apply/verify-block.ts';
import { TimeSlice } from '../../../src/concurrency/time-slice.ts';
import { checkProofs } from '../../../src/tx/proof-verdicts.ts';
import { mine, newChain, nextTurn, payment, users, verifier } from '../chain-harness.ts';

const [alice, bob] = users;
const COUNT = 20;

t.test('others have their turn between two transactions', async (t) => {
  const at = await newChain();
  const { time } = nextTurn(at);
  const txs = Array.from({ length: COUNT }, (_, i) => payment(alice, bob, BigInt(i + 1), time));
  const block = await mine(at, txs);
  const verdicts = new Map(
    await Promise.all(
      txs.map(async (tx) => [tx, await checkProofs(tx, undefined, verifier)] as const),
    ),
  );
  let now = 0;
  let turns = 0;
  const slice = new TimeSlice({
    monotonic: () => {
      now += 3;
      return now;
    },
    async turn() {
      turns++;
    },
  });
  const known = verdicts.get.bind(verdicts);
  const { checks } = await composeChecks(block, txs, known, at.blockchain.view, slice);
  t.equal(checks, 1, 'that of the block itself');
  t.ok(turns >= COUNT, `${turns} turns`);
});
