/**
 * Row R22 of the goals: forks of depth 1 to 100 whose losing side has transactions that build on
 * one another: transfers of funds received in earlier blocks, aliases, assets, leases, policies
 * with data. No transaction that the losing node has acknowledged is lost: in the end all are in
 * the winning chain, except those that spend the same funds as that chain, which leave with a
 * reason. Some of the nodes die in the middle and come back with their journal. REORGANISATIONS
 * makes it long, on several networks with a seed each: SEED and the numbers after it.
 */

import t, { type Test } from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { latin1 } from '../../src/base/bytes.ts';
import { ApiError } from '../../src/base/errors.ts';
import type { Log } from '../../src/base/ports/log.ts';
import { decodeBlock } from '../../src/block/block.ts';
import type { ForkChoice } from '../../src/chain/fork/fork-choice.ts';
import { blockAt, confirmedHeight } from '../../src/chain/store/stored-blocks.ts';
import { accountOf } from '../../src/ledger/accounts.ts';
import { pack } from '../../src/mempool/packer.ts';
import type { Pool } from '../../src/mempool/pool.ts';
import { unchecked } from '../../src/tx/proof-verdicts.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { createAlias } from '../../src/tx/types/010-create-alias.ts';
import {
  type Account,
  account,
  GENESIS_TIME,
  LENGTH_MS,
  miners,
  newChain,
  quiet,
  scheme,
  type TestChain,
  users,
} from '../chain/chain-harness.ts';
import { createTestForkChoice } from '../chain/fork-harness.ts';
import { makeBlock } from '../chain/make-block.ts';
import { type Attempt, actions, newScene, type Scene, sign } from '../generators/actions.ts';
import { Rng } from '../generators/random.ts';
import { createTestPool, hearBlocks, memoryJournal } from './pool-harness.ts';

const FORKS = Number(process.env['REORGANISATIONS'] ?? 20);
const SEED = Number(process.env['SEED'] ?? 22);
/** Each block is followed by an audit of the whole state, so a chain of all forks takes hours. */
const FORKS_PER_NETWORK = 50;
const DEPTH_MAX = 100;
const FEE = 1_000_000n;
const TOKEN = 100_000_000n;

const BLOCK = { bytesMax: 1_000_000, countMax: 1_000 };
/** Blocks after which everything that is valid must have been mined. */
const BLOCKS_TO_EMPTY = 60;
/** Types whose later transactions need what earlier ones have made. */
const TYPES = [3, 4, 6, 8, 9, 11, 12, 112, 113, 114];

t.setTimeout(60_000 + FORKS * 20_000);

interface Side extends TestChain {
  readonly forkChoice: ForkChoice;
}

async function newSide(): Promise<Side> {
  const at = await newChain();
  return { ...at, forkChoice: createTestForkChoice(at, {}, DEPTH_MAX) };
}

/** The side that loses every fork, with the pool of its node and what is on the disk of that. */
class Loser {
  readonly side: Side;
  pool: Pool;
  /** Id → reason. */
  readonly dropped = new Map<string, string>();
  private journal = memoryJournal();

  constructor(side: Side) {
    this.side = side;
    this.pool = this.newPool([]);
    hearBlocks(side, () => this.pool);
  }

  private newPool(recovered: readonly Uint8Array[]): Pool {
    this.journal = memoryJournal(recovered);
    const log: Log = {
      ...quiet,
      info: (event, fields = {}) => {
        if (event === 'pool.dropped') this.dropped.set(String(fields['id']), String(fields['why']));
      },
    };
    const options = { bytesMax: 2_000_000, senderEntriesMax: 1_000 };
    return createTestPool(this.side, { journal: this.journal, log }, options);
  }

  /** The process ends at once; the next one has the journal. */
  async crash(): Promise<void> {
    const { records } = this.journal;
    await this.pool.stop();
    this.pool = this.newPool(records);
    await this.pool.recover();
  }

  mine(skipped: number, limits = BLOCK): Promise<readonly Tx[]> {
    const { pool } = this;
    return mine(this.side, skipped, (add) => pack(pool, limits, { add }, this.side.clock));
  }
}

/** A block in the round that begins `skipped` rounds after the next one. */
async function mine(
  { blockchain, clock }: Side,
  skipped: number,
  fill: (add: (tx: Tx) => void) => Promise<unknown>,
): Promise<readonly Tx[]> {
  const { timestamp } = blockchain.tip().header;
  const next = timestamp - ((timestamp - GENESIS_TIME) % LENGTH_MS) + LENGTH_MS;
  const from = next + skipped * LENGTH_MS;
  const miner = miners.find((one) => blockchain.nextSlot(one, from)?.from === from);
  if (miner === undefined) throw new Error('somebody has the turn');
  clock.time = from + 10;
  const txs: Tx[] = [];
  await makeBlock(blockchain, miner, clock.time, (draft) =>
    fill((tx) => {
      draft.add(tx, unchecked(tx));
      txs.push(tx);
    }),
  );
  await settled();
  return txs;
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** `to` takes over the blocks of `from` above a height. */
async function follow(to: Side, from: Side, above: number): Promise<string> {
  to.clock.time = Math.max(to.clock.time, from.clock.time);
  const branch = [];
  for (let height = above + 1; height <= from.blockchain.tip().height; height++) {
    branch.push(
      await to.forkChoice.check(decodeBlock(blockAt(from.blockchain.view, height)!.bytes, scheme)),
    );
  }
  const verdict = await to.forkChoice.adopt(branch);
  await settled();
  return verdict.kind;
}

let purses = 0;

/** What users send, most of which needs what they have sent before. */
class Users {
  readonly scene: Scene;
  private readonly rng: Rng;
  private readonly side: Side;
  /** Accounts that got their first tokens on the losing side. */
  private readonly purses: Account[] = [];
  private readonly named = new Set<Account>();
  private readonly pending = new Map<string, () => void>();

  constructor(rng: Rng, side: Side) {
    this.rng = rng;
    this.side = side;
    this.scene = newScene(rng);
  }

  make(): Attempt | undefined {
    this.passTime();
    const kind = this.rng.below(10);
    if (kind < 2) return { tx: this.pay(this.rng.pick(users), this.newPurse(), 20n * TOKEN) };
    if (kind < 7) return this.fromPurse(kind);
    const type = this.rng.pick(TYPES);
    const attempt = actions[type]!(this.scene);
    // Nobody ends one lease twice, or takes a member out of a policy who left it.
    if (type === 9) this.scene.leases.splice(0);
    if (type === 113) this.scene.policies.splice(0);
    return attempt;
  }

  newPurse(): Account {
    const purse = account(`purse ${purses++}`);
    this.purses.push(purse);
    if (this.purses.length > 20) this.purses.shift();
    return purse;
  }

  private fromPurse(kind: number): Attempt | undefined {
    if (this.purses.length === 0) return undefined;
    const purse = this.rng.pick(this.purses);
    const { balance } = accountOf(this.side.blockchain.view, purse.address);
    if (balance < 3n * TOKEN) return undefined;
    if (kind > 4) return { tx: this.pay(purse, this.newPurse(), balance - FEE) };
    // An account has one alias at most.
    if (this.named.has(purse)) return undefined;
    this.named.add(purse);
    const alias = `purse-${this.scene.serial}`;
    const tx = sign(this.scene, createAlias, purse, 2, { alias });
    return { tx, accepted: () => void this.scene.aliases.splice(0, 5, alias) };
  }

  /** Clocks of users differ, so a transaction may look older than what it builds on. */
  private passTime(): void {
    this.scene.now = this.side.clock.time - (this.rng.chance(3) ? this.rng.below(60_000) : 0);
  }

  pay(from: Account, to: Account, amount: bigint): Tx {
    this.passTime();
    const recipient = { kind: 'address', bytes: to.address } as const;
    return sign(this.scene, transfer, from, 2, { recipient, amount });
  }

  /** Sends some; gives those that were acknowledged. */
  async send(count: number, pool: Pool): Promise<Tx[]> {
    const acknowledged: Tx[] = [];
    for (let i = 0; i < count; i++) {
      const attempt = this.make();
      if (attempt === undefined) continue;
      try {
        acknowledged.push(await pool.submit(attempt.tx));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        continue;
      }
      if (attempt.accepted) this.pending.set(latin1(attempt.tx.id), attempt.accepted);
    }
    return acknowledged;
  }

  /** They build on what they see in a block. */
  see(txs: readonly Tx[]): void {
    for (const { id } of txs) {
      this.pending.get(latin1(id))?.();
      this.pending.delete(latin1(id));
    }
  }
}

for (let done = 0; done < FORKS; done += FORKS_PER_NETWORK) {
  const forks = Math.min(FORKS_PER_NETWORK, FORKS - done);
  const seed = SEED + done / FORKS_PER_NETWORK;
  t.test(`${forks} reorganisations lose nothing that was acknowledged: seed ${seed}`, (t) =>
    reorganise(t, forks, seed),
  );
}

async function reorganise(t: Test, forks: number, seed: number): Promise<void> {
  const rng = new Rng(seed);
  const loser = new Loser(await newSide());
  const winner = await newSide();
  const people = new Users(rng, loser.side);
  const { view } = loser.side.blockchain;
  let total = 0;
  let returned = 0;
  let deepest = 0;
  let longest = 0;
  loser.side.blockchain.listen({
    rolledBack: (_tip, txs) => {
      returned += txs.length;
    },
  });

  for (let fork = 0; fork < forks; fork++) {
    // Both sides spend what this account has.
    const torn = account(`torn ${fork}`);
    const heir = account(`heir ${fork}`);
    await loser.pool.submit(people.pay(users[0]!, torn, 10n * TOKEN));
    await loser.mine(0);
    const { height: common } = loser.side.blockchain.tip();
    t.equal(
      await follow(winner, loser.side, winner.blockchain.tip().height),
      'adopted',
      'one chain',
    );

    const depth = rng.chance(6) ? rng.between(1, DEPTH_MAX) : rng.between(1, 8);
    deepest = Math.max(deepest, depth);
    const acknowledged: Tx[] = [];
    const doomed: Tx[] = [];
    for (let i = 0; i < depth; i++) {
      acknowledged.push(...(await people.send(rng.between(1, 8), loser.pool)));
      if (i === 0) doomed.push(people.pay(torn, heir, 10n * TOKEN - FEE));
      if (i === 1) doomed.push(people.pay(heir, users[2]!, 9n * TOKEN));
      if (i < 2) await loser.pool.submit(doomed[i]!);
      people.see(await loser.mine(i === 0 ? 1 : 0));
    }
    acknowledged.push(...(await people.send(rng.below(6), loser.pool)));

    // The winner knows the beginning of it, as gossip has brought it, and what else it was sent.
    const known = acknowledged.slice(0, rng.below(acknowledged.length + 1));
    const rivals = rng.chance(2) ? [] : [people.pay(torn, users[1]!, 5n * TOKEN)];
    // The loser has missed a round, so the last block of the winner is as young as its last.
    for (let i = 0; i <= depth; i++) {
      const some = [...rivals.splice(0), ...known.splice(0, rng.below(6))];
      await mine(winner, 0, async (add) => {
        for (const tx of some) {
          try {
            add(tx);
          } catch (error) {
            if (!(error instanceof ApiError)) throw error;
          }
        }
      });
    }
    const isTorn = accountOf(winner.blockchain.view, torn.address).balance < 10n * TOKEN;
    if (!isTorn) acknowledged.push(...doomed.splice(0));
    t.equal(await follow(loser.side, winner, common), 'adopted', `a fork of ${depth}`);
    if (rng.chance(4)) await loser.crash();

    let blocks = 0;
    while (loser.pool.size() > 0 && blocks++ < BLOCKS_TO_EMPTY) {
      const limits = rng.chance(3) ? { ...BLOCK, countMax: rng.between(1, 20) } : BLOCK;
      people.see(await loser.mine(0, limits));
      if (rng.chance(20)) await loser.crash();
    }
    longest = Math.max(longest, blocks);
    total += acknowledged.length;
    const lost = acknowledged.filter(({ id }) => confirmedHeight(view, id) === undefined);
    for (const tx of lost) {
      const why = loser.dropped.get(base58.encode(tx.id)) ?? 'nobody says why';
      t.fail(`fork ${fork} of ${depth}: ${tx.def.name} ${tx.type} is lost: ${why}`);
    }
    for (const { id } of doomed) {
      t.match(loser.dropped.get(base58.encode(id)), /unavailable funds/, 'a recorded reason');
    }
    t.equal(loser.pool.size(), 0, 'nothing waits for ever');
  }
  t.comment(`${total} acknowledged, ${returned} taken back, the deepest fork ${deepest} blocks`);
  t.comment(`all in a block after at most ${longest} blocks`);
  t.ok(returned > forks, 'forks that took something back');
}
