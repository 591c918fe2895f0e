/**
 * What a crawler does when its store fails: nothing is lost, nothing is there twice, and it goes on
 * by itself. The full disk is a small file system in memory.
 */
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { pgliteDatabase } from '../../../src/adapters/database/pglite.ts';
import type { Database } from '../../../src/base/ports/database.ts';
import { migrate } from '../../../src/data-service/schema/migrate.ts';
import { leftOut } from '../../left-out.ts';
import { type Crawling, crawl } from '../crawling.ts';
import { initialFolder } from '../initial-cluster.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { digest, memoryDatabase, postgresCluster } from '../stores.ts';

const cluster = await postgresCluster(t);
const SCHEMA = { indexText: true };
const MIB = 1024 * 1024;
const WAIT_MS = 20;

t.setTimeout(240_000);

const grown = (seed: string, blocks: number, txsPerBlock = 30): MadeChain => {
  const chain = madeChain({ seed, txsPerBlock, accounts: 50 });
  chain.grow(blocks);
  return chain;
};

async function atTip(crawler: Crawling, chain: MadeChain): Promise<void> {
  await crawler.reached(chain.height(), chain.signature(chain.height()));
}

/** The store has exactly what a crawl without faults leaves. */
async function equalsFreshCrawl(t: Test, db: Database, chain: MadeChain, url: string) {
  const fresh =
    cluster.skip === false ? cluster.open(await cluster.createDatabase()) : await memoryDatabase();
  t.teardown(() => fresh.close());
  await migrate(fresh, SCHEMA);
  const again = crawl(t, fresh, [url]);
  await atTip(again, chain);
  await again.stop();
  t.strictSame(await digest(db), await digest(fresh));
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
}

t.test(
  'a server that is away, and crashes in the middle of batches',
  {
    skip: cluster.skip,
  },
  async (t) => {
    const chain = grown('crashes', 80);
    const node = await madeNode(t, () => chain);
    const db = cluster.open(await cluster.createDatabase());
    t.teardown(() => db.close());
    await migrate(db, SCHEMA);
    await cluster.server!.crash();
    const crawler = crawl(t, db, [node.url], { batchBlocks: 2 });
    await until(() => crawler.state.lastError !== undefined);
    t.match(crawler.log.of('crawl.failed')[0], { kind: 'database-away' });
    await cluster.server!.start();
    for (let times = 0; times < 3; times++) {
      const { height } = crawler.state;
      await until(
        () => crawler.state.height > height + 4 || crawler.state.height === chain.height(),
      );
      await cluster.server!.crash();
      await cluster.server!.start();
      chain.grow(20);
    }
    await atTip(crawler, chain);
    // A session that is idle when the server ends is seen by its lock first.
    const failures = crawler.log.of('crawl.failed');
    const others = failures.filter(
      ({ kind }) => kind !== 'database-away' && kind !== 'database-lock',
    );
    t.strictSame(others, []);
    await crawler.stop();
    await equalsFreshCrawl(t, db, chain, node.url);
  },
);

/** A folder on a file system of its own, or false where this process may not mount one. */
function smallDisk(t: Test, bytes: number): string | false {
  const disk = mkdtempSync(join(tmpdir(), 'small-'));
  try {
    const size = `size=${bytes}`;
    execFileSync('mount', ['-t', 'tmpfs', '-o', size, 'tmpfs', disk], { stdio: 'ignore' });
  } catch {
    return false;
  }
  // After the store has left it: what is added first runs last.
  t.teardown(() => {
    execFileSync('umount', ['--lazy', disk]);
    rmSync(disk, { recursive: true });
  });
  return disk;
}

/** Leaves the disk this much space; the returned function frees what was taken. */
function fill(disk: string, bytesLeft: number): () => void {
  const ballast = join(disk, 'ballast');
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(ballast, new Uint8Array(Math.max(0, bavail * bsize - bytesLeft)));
  return () => rmSync(ballast);
}

const NO_MOUNT = 'no file system can be mounted here';

t.test('a full disk of a server', { skip: cluster.skip }, async (t) => {
  const disk = smallDisk(t, 64 * MIB);
  if (disk === false) return t.comment(leftOut(NO_MOUNT));
  const { account } = cluster.server!;
  if (account !== undefined) chownSync(disk, account.uid, account.gid);
  const space = join(disk, 'space');
  mkdirSync(space);
  if (account !== undefined) chownSync(space, account.uid, account.gid);
  const url = await cluster.createDatabase();
  const admin = cluster.open(url, { poolSize: 1 });
  await admin.exec(`CREATE TABLESPACE small LOCATION '${space}'`);
  const name = /\/(\w+)\?/.exec(url)?.[1];
  await admin.exec(`ALTER DATABASE ${name} SET default_tablespace = small`);
  await admin.close();
  const db = cluster.open(url);
  t.teardown(() => db.close());
  await migrate(db, SCHEMA);
  const chain = grown('full', 100);
  const node = await madeNode(t, () => chain);
  const empty = fill(disk, MIB);
  const crawler = crawl(t, db, [node.url]);
  await until(() => crawler.log.of('crawl.failed').length >= 2);
  t.match(crawler.log.of('crawl.failed')[0], {
    kind: 'database-full',
    why: /No space left on device/,
  });
  const [{ n } = { n: '0' }] = await db.query<{ n: string }>('SELECT count(*) AS n FROM blocks');
  t.equal(Number(n), crawler.state.height, 'what was written can be read');
  empty();
  await atTip(crawler, chain);
  await crawler.stop();
  await equalsFreshCrawl(t, db, chain, node.url);
});

t.test('a full disk of the store inside the process', async (t) => {
  const disk = smallDisk(t, 320 * MIB);
  if (disk === false) return t.comment(leftOut(NO_MOUNT));
  const db = await pgliteDatabase(await initialFolder(join(disk, 'store')));
  t.teardown(() => db.close());
  await migrate(db, SCHEMA);
  const chain = grown('full inside', 100);
  const node = await madeNode(t, () => chain);
  const empty = fill(disk, MIB);
  const crawler = crawl(t, db, [node.url]);
  await until(() => crawler.log.of('crawl.failed').length >= 2);
  t.match(crawler.log.of('crawl.failed')[0], { kind: 'database-full' });
  empty();
  await atTip(crawler, chain);
  await crawler.stop();
  await equalsFreshCrawl(t, db, chain, node.url);
});

t.test('questions that end the thread of the store again and again', async (t) => {
  const db = await pgliteDatabase(await initialFolder(t.testdir()), { statementMs: 200 });
  t.teardown(() => db.close());
  await migrate(db, SCHEMA);
  const chain = grown('slow questions', 15);
  const node = await madeNode(t, () => chain);
  const crawler = crawl(t, db, [node.url], { batchBlocks: 5 });
  const slow = 'SELECT count(*) FROM generate_series(1, 2000000000)';
  let ended = 0;
  while (crawler.state.height < chain.height() || ended < 3) {
    t.match(await db.reading!.query(slow).catch((cause) => cause), { failure: 'timeout' });
    ended++;
    if (ended < 3) chain.grow(5);
  }
  await atTip(crawler, chain);
  t.strictSame(crawler.log.of('crawl.failed'), [], 'its statements wait for the next thread');
  await crawler.stop();
  await equalsFreshCrawl(t, db, chain, node.url);
});
