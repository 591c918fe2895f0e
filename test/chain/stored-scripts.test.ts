// A transaction that the node has accepted is read again without the estimate of the script in it:
// a script of another author may ask for many of them, and pays for their bytes alone.
import t from 'tap';
import { bytesUnder, candidateUnder } from '../../src/chain/stored-blocks.ts';
import { scriptsOf } from '../../src/tx/scripts/known-scripts.ts';
import { decodeTx } from '../../src/tx/tx-bytes.ts';
import { setScript } from '../../src/tx/types/013-set-script.ts';
import { binaryOf, doubled } from '../generators/dear-scripts.ts';
import { createTestPool } from '../mempool/pool-harness.ts';
import { callsOf } from '../script/counted-calls.ts';
import { mine, newChain, scheme, signed, users } from './chain-harness.ts';

const [alice] = users;
/** More than the node keeps decoded. */
const OTHERS = 200;

const changing = [
  [Map.prototype, ['set', 'delete']],
  [Array.prototype, ['push', 'pop', 'slice', 'splice']],
] as const;

const dearScript = () =>
  binaryOf({
    op: 'block',
    name: 'any',
    value: { op: 'bool', value: true },
    body: doubled(12, { op: 'ref', name: 'any' }),
  });

function forgetScripts(): void {
  for (let i = 0; i < OTHERS; i++) {
    scriptsOf(scheme).read(binaryOf({ op: 'string', value: `script ${i}` }));
  }
}

t.test('what was accepted is not estimated again', async (t) => {
  const at = await newChain();
  const tx = signed(setScript, alice, {
    script: dearScript(),
    name: 'dear',
    description: '',
    fee: 50_000_000n,
    timestamp: at.clock.time,
  });
  const pool = createTestPool(at);
  await pool.submit(tx);
  const work = (read: () => unknown): number => {
    forgetScripts();
    return callsOf(changing, read);
  };
  const fresh = work(() => decodeTx(tx.bytes, scheme));
  t.ok(fresh > 10_000, `${fresh} changes at the door`);
  const waiting = work(() => pool.decode(pool.entry(tx.id)!));
  t.ok(waiting < 100, `${waiting} in the pool`);
  await mine(at, [tx]);
  const { view } = at.blockchain;
  const found = work(() => candidateUnder(view, tx.id)!.tx());
  t.ok(found < 100, `${found} where a script looks it up`);
  t.same(candidateUnder(view, tx.id)!.tx().bytes, bytesUnder(view, tx.id)!.bytes);
});
