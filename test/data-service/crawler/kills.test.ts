/**
 * Crawlers that are killed at random moments while the chain is reorganised: the store equals a
 * fresh crawl of the final chain. CRAWL_TXS and CRAWL_KILLS set how much; `npm run test:crawl` takes
 * a million transactions and twenty kills.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { migrate } from '../../../src/data-service/schema/migrate.ts';
import { crawl, reached } from '../crawling.ts';
import { madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { digest, postgresCluster } from '../stores.ts';

const TXS = Number(process.env['CRAWL_TXS'] ?? 20_000);
const KILLS = Number(process.env['CRAWL_KILLS'] ?? 5);
const PER_BLOCK = 100;
const LIFE_MS_MIN = 600;
const WAIT_MS_MAX = 3_000_000;

const cluster = await postgresCluster(t);
const program = fileURLToPath(new URL('../crawl-child.ts', import.meta.url));

t.test('killed crawlers', { skip: cluster.skip, timeout: 3_600_000 }, async (t) => {
  const chain = madeChain({ seed: 'killed', txsPerBlock: PER_BLOCK, accounts: 500 });
  const blocks = Math.ceil((TXS * 7) / (6 * PER_BLOCK));
  const node = await madeNode(t, () => chain);
  const url = await cluster.createDatabase();
  const db = cluster.open(url);
  t.teardown(() => db.close());
  await migrate(db, { indexText: true });
  const start = (): ChildProcess =>
    spawn(process.execPath, [program, node.url, url, 'bulk'], { stdio: 'inherit' });
  let child = start();
  t.teardown(() => void child.kill('SIGKILL'));
  const lifeMs = Math.max(LIFE_MS_MIN, TXS / KILLS / 8);
  for (let kill = 1; kill <= KILLS; kill++) {
    chain.grow(Math.ceil(blocks / (KILLS + 1)));
    await later(lifeMs * (0.5 + Math.random()));
    if (kill % 2 === 0) chain.reorganise(1 + Math.floor(Math.random() * 90), 95);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    child = start();
  }
  chain.grow(Math.ceil(blocks / (KILLS + 1)));
  const height = chain.height();
  await reached(db, height, chain.signature(height), undefined, WAIT_MS_MAX);
  child.kill('SIGKILL');

  const freshUrl = await cluster.createDatabase();
  const fresh = cluster.open(freshUrl);
  t.teardown(() => fresh.close());
  await migrate(fresh, { indexText: true });
  const again = crawl(t, fresh, [node.url], { batchBlocks: 100 });
  await reached(fresh, height, chain.signature(height), again.state, WAIT_MS_MAX);
  await again.stop();
  const [counts] = await fresh.query<{ n: string }>('SELECT count(*) AS n FROM txs');
  t.ok(Number(counts?.n) >= TXS * 0.9, `${counts?.n} transactions`);
  t.strictSame(await digest(db), await digest(fresh));
});

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
