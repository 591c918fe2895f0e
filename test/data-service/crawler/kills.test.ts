/**
 * Crawlers that are killed at random moments while the chain is reorganised: the store equals a
 * fresh crawl of the final chain. CRAWL_TXS and CRAWL_KILLS set how much; `npm run test:crawl` takes
 * a million transactions and twenty kills on PostgreSQL. PGlite always has the short form.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { pgliteDatabase } from '../../../src/adapters/database/pglite.ts';
import type { Database } from '../../../src/base/ports/database.ts';
import { migrate } from '../../../src/data-service/schema/migrate.ts';
import { crawl, reached } from '../crawling.ts';
import { initialFolder } from '../initial-cluster.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { type MadeNode, madeNode } from '../made-node.ts';
import { digest, memoryDatabase, postgresCluster } from '../stores.ts';

const TXS = Number(process.env['CRAWL_TXS'] ?? 4000);
const KILLS = Number(process.env['CRAWL_KILLS'] ?? 4);
const PGLITE_TXS = 2000;
const PGLITE_KILLS = 4;
const PER_BLOCK_MAX = 100;
/** In a short form the branches would else be most of it. */
const perBlock = (txs: number): number => Math.min(PER_BLOCK_MAX, Math.ceil(txs / 200));
const DEPTH_MAX = 90;
const LIFE_MS_MIN = 600;
/** A crawler that lives this long for each transaction is killed behind the tip about half the time. */
const LIFE_MS_PER_TX = 1 / 8;
const WAIT_MS_MAX = 3_000_000;
/** First block, configuration, height, and some blocks. */
const REQUESTS_OF_A_START = 5;
const SCHEMA = { indexText: true };

const cluster = await postgresCluster(t);
const program = fileURLToPath(new URL('../crawl-child.ts', import.meta.url));

interface Trial {
  readonly txs: number;
  readonly kills: number;
  readonly database: string;
  /** Resolves when the store is at the tip, where that can be seen from here. */
  readonly caughtUp: () => Promise<unknown>;
  readonly beforeKill?: () => Promise<void>;
}

interface Killed {
  readonly child: ChildProcess;
  readonly reorganisations: number;
}

/** Every second crawler meets a reorganisation, half of them with a store that is at the tip. */
async function killAgainAndAgain(
  t: Test,
  chain: MadeChain,
  node: MadeNode,
  { txs, kills, database, caughtUp, beforeKill }: Trial,
): Promise<Killed> {
  // Six of seven blocks have transactions.
  const blocks = Math.ceil((txs * 7) / (6 * perBlock(txs) * (kills + 1)));
  const start = (): ChildProcess =>
    spawn(process.execPath, [...process.execArgv, program, node.url, database, 'bulk'], {
      stdio: 'inherit',
    });
  let child = start();
  t.teardown(() => void child.kill('SIGKILL'));
  const lifeMs = Math.max(LIFE_MS_MIN, (txs / kills) * LIFE_MS_PER_TX);
  let reorganisations = 0;
  for (let kill = 1; kill <= kills; kill++) {
    chain.grow(blocks);
    await asked(node);
    await later(lifeMs * (0.5 + Math.random()));
    if (kill % 2 === 0) {
      if (kill % 4 === 0) await caughtUp();
      chain.reorganise(1 + Math.floor(Math.random() * DEPTH_MAX), DEPTH_MAX + 5);
      reorganisations++;
      await later(Math.random() * LIFE_MS_MIN);
    }
    await beforeKill?.();
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    child = start();
  }
  chain.grow(blocks);
  return { child, reorganisations };
}

/** Resolves once a crawler has started and asks for blocks. */
async function asked(node: MadeNode): Promise<void> {
  const before = node.requests();
  while (node.requests() < before + REQUESTS_OF_A_START) await later(20);
}

const smallChain = (seed: string, txs: number): MadeChain =>
  madeChain({ seed, txsPerBlock: perBlock(txs), accounts: 500 });

const tipReached = (db: Database, chain: MadeChain): Promise<void> =>
  reached(db, chain.height(), chain.signature(chain.height()), undefined, WAIT_MS_MAX);

/** What a crawl of the final chain without disturbances leaves. */
async function freshDigest(t: Test, fresh: Database, chain: MadeChain, node: MadeNode) {
  t.teardown(() => fresh.close());
  await migrate(fresh, SCHEMA);
  const again = crawl(t, fresh, [node.url], { batchBlocks: 100, bulk: true });
  await tipReached(fresh, chain);
  await again.stop();
  return digest(fresh);
}

const countOf = async (db: Database, sql: string): Promise<number> =>
  Number((await db.query<{ n: string }>(sql))[0]?.n);

t.test('PostgreSQL', { skip: cluster.skip, timeout: 7_200_000 }, async (t) => {
  const chain = smallChain('killed', TXS);
  const node = await madeNode(t, () => chain);
  const database = await cluster.createDatabase();
  const db = cluster.open(database, { poolSize: 1 });
  t.teardown(() => db.close());
  await migrate(db, SCHEMA);
  let inTransaction = 0;
  const { child, reorganisations } = await killAgainAndAgain(t, chain, node, {
    txs: TXS,
    kills: KILLS,
    database,
    caughtUp: () => tipReached(db, chain),
    async beforeKill() {
      const open = `SELECT count(*) AS n FROM pg_stat_activity
        WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()`;
      if ((await countOf(db, open)) > 0) inTransaction++;
    },
  });
  await tipReached(db, chain);
  child.kill('SIGKILL');
  const txs = await countOf(db, 'SELECT count(*) AS n FROM txs');
  const removed = await countOf(db, 'SELECT count(*) AS n FROM reorgs');
  const expected = await freshDigest(t, cluster.open(await cluster.createDatabase()), chain, node);
  t.strictSame(await digest(db), expected);
  t.ok(txs >= TXS * 0.9, `${txs} transactions in ${chain.height()} blocks`);
  t.ok(removed >= Math.floor(KILLS / 4), `${removed} branches were stored and removed`);
  t.comment(
    `${KILLS} kills, ${inTransaction} of them in a transaction; ${reorganisations} reorganisations`,
  );
});

t.test('PGlite', { timeout: 600_000 }, async (t) => {
  const chain = smallChain('killed inside', PGLITE_TXS);
  const node = await madeNode(t, () => chain);
  const folder = await initialFolder(join(t.testdir(), 'store'));
  const { child } = await killAgainAndAgain(t, chain, node, {
    txs: PGLITE_TXS,
    kills: PGLITE_KILLS,
    database: `pglite:${folder}`,
    // Only the process that has the folder open can read it.
    caughtUp: () => later(LIFE_MS_MIN),
  });
  await asked(node);
  await later(LIFE_MS_MIN);
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
  const db = await pgliteDatabase(folder);
  t.teardown(() => db.close());
  const last = crawl(t, db, [node.url], { batchBlocks: 100, bulk: true });
  await tipReached(db, chain);
  await last.stop();
  t.strictSame(await digest(db), await freshDigest(t, await memoryDatabase(), chain, node));
});

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
