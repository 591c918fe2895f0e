// Blocks come and are taken back at random, also while a journal is read: a pool that is restarted again
// and again has the same in doubt, in the same order, as one that is not.
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { fromLatin1 } from '../../src/base/bytes.ts';
import { JournalTooLongError } from '../../src/base/faults/journal-full.ts';
import type { Pool } from '../../src/mempool/pool.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { mine, newChain, payment, replaced, users } from '../chain/chain-harness.ts';
import { Rng } from '../generators/random.ts';
import { createTestPool, hearBlocks, memoryJournal } from './pool-harness.ts';

const FIRST_SEED = 21;
const SEEDS = 20;
const STEPS = 60;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function shuffled<T>(rng: Rng, list: readonly T[]): T[] {
  const left = [...list];
  return list.map(() => left.splice(rng.below(left.length), 1)[0]!);
}

/** A journal that has to be rewritten now and then before it takes what comes back. */
function shortJournal(rng: Rng, recovered: readonly Uint8Array[] = []) {
  const journal = memoryJournal(recovered);
  const { append } = journal;
  return Object.assign(journal, {
    async append(record: Uint8Array, isNeeded = false) {
      await turn();
      if (isNeeded && rng.chance(3)) throw new JournalTooLongError('2 GB');
      await append(record);
    },
  });
}

async function twoPools(rng: Rng) {
  const at = await newChain();
  const steady = createTestPool(at);
  let journal = shortJournal(rng);
  let restarted: Pool = createTestPool(at, { journal });
  let recovering: Promise<void> | undefined;
  let refuses = false;
  for (const pool of [() => steady, () => restarted]) hearBlocks(at, pool);
  at.blockchain.listen({
    async rollingBack() {
      if (refuses) throw new Error('no space left on device');
    },
  });
  let [count, time] = [0n, 0];
  const newTx = (): Tx => {
    const [from, to] = [rng.pick(users), rng.pick(users)];
    return payment(from, to, ++count, at.clock.time - rng.below(4));
  };
  // Each record takes a slice of its own.
  const clock = replaced(at.clock, { monotonic: () => (time += 3), turn });

  async function recovered(): Promise<void> {
    await recovering;
    recovering = undefined;
    for (const pool of [steady, restarted]) await pool.readmitted();
  }

  const steps = {
    async submit() {
      await recovered();
      const tx = newTx();
      for (const pool of [steady, restarted]) await pool.submit(tx);
    },
    async mineOthers() {
      await mine(at, Array.from({ length: 1 + rng.below(4) }, newTx));
    },
    async mineWaiting() {
      const some = steady.inOrder().filter(() => rng.chance(2));
      await mine(at, shuffled(rng, some.map(steady.decode)));
    },
    async rollBack() {
      const { height } = at.blockchain.tip();
      const to = Math.max(1, height - 1 - rng.below(4));
      refuses = rng.chance(4);
      if (to < height) await at.blockchain.rollback(to).catch(() => undefined);
      refuses = false;
    },
    async crash() {
      await restarted.stop();
      await restarted.readmitted();
      await recovering;
      journal = shortJournal(rng, journal.records);
      restarted = createTestPool(at, { journal, clock });
      recovering = restarted.recover();
      for (let turns = rng.below(30); turns > 0; turns--) await turn();
    },
  };
  return { steady, steps, recovered, restarted: () => restarted };
}

const inDoubt = (pool: Pool): readonly string[] =>
  Array.from(pool.inDoubt(), ({ key }) => base58.encode(fromLatin1(key)));

for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
  t.test(`seed ${seed}`, async (t) => {
    const rng = new Rng(seed);
    const { steady, steps, recovered, restarted } = await twoPools(rng);
    const names = Object.keys(steps) as (keyof typeof steps)[];
    for (let i = 0; i < STEPS; i++) {
      const name = rng.pick(names);
      await steps[name]();
      if (!rng.chance(4)) continue;
      await recovered();
      t.strictSame(inDoubt(restarted()), inDoubt(steady), `step ${i}: ${name}`);
      t.equal(restarted().size(), steady.size());
    }
  });
}
