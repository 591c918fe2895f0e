/** `platform-node data …`: the data service (data-service.md). */

import { existsSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import type { Database } from '../../../base/ports/database.ts';
import type { DataConfig } from '../../../node/config/read.ts';
import type { SetFlags } from '../../config-file.ts';
import { CliError, EXIT } from '../../terminal/exit.ts';
import { setOption } from '../config.ts';

interface Flags extends SetFlags {
  readonly json?: true;
  readonly wait?: true;
}

export function register(command: Command): void {
  const sub = (name: string, description: string): Command =>
    command
      .command(name)
      .description(description)
      .argument('[config]', 'configuration file (HOCON)')
      .addOption(setOption());
  const run = (name: string, description: string, parts: { crawl: boolean; serve: boolean }) =>
    sub(name, description)
      .option('--json', 'print one line of JSON when it answers queries')
      .action((path: string | undefined, flags: Flags) => runParts(path, flags, parts));
  const waiting = (verb: Command): Command =>
    verb.option('--wait', 'wait while another crawler writes to the database');
  waiting(run('start', 'Crawl and serve, in one process.', { crawl: true, serve: true }));
  waiting(
    run('crawl', 'Copy the chain of a node into the database.', { crawl: true, serve: false }),
  );
  run('serve', 'Answer queries; any number of servers may use one database.', {
    crawl: false,
    serve: true,
  });
  sub('migrate', 'Create the tables, or bring them up to date.')
    .option('--check', 'change nothing; exit code 1 where something is to do')
    .action(migrateStore);
  sub('status', 'Print height and schema of the database, and the last reorganisation.').action(
    (path: string | undefined, flags: Flags) => withStore(path, flags, printStatus),
  );
  sub('rollback', 'Remove all blocks above a height; the crawler must not run.')
    .requiredOption('--to <height>', 'the last block that stays', height)
    .action((path: string | undefined, flags: Flags & { to: number }) =>
      withWriter(path, flags, async (db) => {
        const { rollBack } = await import('../../../data-service/crawler/remove-blocks.ts');
        await rollBack(db, flags.to, Date.now());
      }),
    );
  sub('reindex', 'Build every index anew; the crawler must not run.').action(
    (path: string | undefined, flags: Flags) => withWriter(path, flags, buildIndexes),
  );
  sub('verify', 'Compare stored blocks and balances with those of the node.')
    .option('--from <height>', 'first block', height, 1)
    .option('--to <height>', 'last block (default: the last stored one)', height)
    .option('--balances <number>', 'addresses whose balances are compared, or all', sample, 1000)
    .action(verify);
  command
    .command('openapi')
    .description('Print the description of the interface.')
    .action(async () => {
      const { openApi } = await import('../../../rest-framework/openapi.ts');
      const { dataDescription, dataRoutes } = await import('../../../data-service/api/data-api.ts');
      const { version } = await import('../version.ts');
      const { printJson } = await import('../../terminal/output.ts');
      printJson(openApi(dataRoutes, dataDescription(version)));
    });
}

function height(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError('a height: an integer from 0 up');
}

function sample(text: string): number {
  const value = Number(text);
  if (text === 'all') return Number.POSITIVE_INFINITY;
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError('a number of addresses, or all');
}

const configOf = async (
  path: string | undefined,
  flags: Flags,
  serves = false,
): Promise<DataConfig> =>
  (await import('../../config-file.ts')).loadDataConfig(path, flags, serves);

async function runParts(
  path: string | undefined,
  flags: Flags,
  parts: { crawl: boolean; serve: boolean },
): Promise<void> {
  const config = await configOf(path, flags, parts.serve);
  const { runDataService } = await import('./run-data-service.ts');
  const { endWithParent } = await import('../../terminal/end-with-parent.ts');
  const { url, answering, finished } = await runDataService(config, { ...parts, wait: flags.wait });
  // `platform-node dev` has started this process and waits for its address.
  process.send?.({ url });
  endWithParent();
  if (flags.json === true && url !== undefined) {
    const { printJson } = await import('../../terminal/output.ts');
    void answering.then(() => printJson({ ready: true, data: url }));
  }
  await finished;
}

const REMEDY = 'name another one, or make it with platform-node data start';

/** For commands that need the store alone. One inside this process is there, unless it `isMade`. */
async function withStore(
  path: string | undefined,
  flags: Flags,
  work: (db: Database, config: DataConfig['dataService']) => Promise<void>,
  isMade = false,
): Promise<void> {
  const { dataService } = await configOf(path, flags);
  const { openDataStore, pgliteFolder } = await import('./run-data-service.ts');
  const folder = pgliteFolder(dataService);
  if (!isMade && folder !== undefined && !existsSync(folder)) {
    throw new CliError(`there is no database in ${folder} (data-service.database-url): ${REMEDY}`);
  }
  const db = await openDataStore(dataService, 'write');
  try {
    await work(db, dataService);
  } catch (cause) {
    const { DatabaseError } = await import('../../../base/ports/database.ts');
    const { reasonOf } = await import('../../../data-service/store-reason.ts');
    if (!(cause instanceof DatabaseError)) throw cause;
    const isMissing = cause.failure === 'unmigrated';
    const missing = `there are no tables in the database (data-service.database-url): ${REMEDY}`;
    throw new CliError(isMissing ? missing : reasonOf(cause));
  } finally {
    await db.close();
  }
}

/** The same, while no crawler writes. */
const withWriter = (
  path: string | undefined,
  flags: Flags,
  work: Parameters<typeof withStore>[2],
) => withStore(path, flags, (db, config) => locked(db, () => work(db, config)));

async function locked<T>(db: Database, work: () => Promise<T>): Promise<T> {
  const lock = await db.lock();
  if (lock === undefined) {
    throw new CliError('a crawler writes to this database: stop it first', EXIT.locked);
  }
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

async function migrateStore(path: string | undefined, flags: Flags & { check?: true }) {
  const migrateTables: Parameters<typeof withStore>[2] = async (db, config) => {
    const schema = await import('../../../data-service/schema/migrate.ts');
    const { allowReading } = await import('../../../data-service/schema/reader-role.ts');
    const { readerOf } = await import('./run-data-service.ts');
    const { printJson } = await import('../../terminal/output.ts');
    const from = await schema.schemaVersion(db);
    const to = schema.SCHEMA_VERSION;
    if (flags.check === true) {
      printJson({ version: from, wanted: to });
      if (from !== to) throw new CliError('the tables are not up to date');
      await schema.assertComplete(db);
      return;
    }
    // A crawler that runs has migrated; only a change of the tables needs its lock.
    if (from === to) await schema.assertComplete(db);
    else await locked(db, () => schema.migrate(db, config));
    const reader = readerOf(config);
    if (reader !== undefined) await allowReading(db, reader);
    printJson({ from, to });
  };
  await withStore(path, flags, migrateTables, flags.check !== true);
}

async function printStatus(db: Database): Promise<void> {
  const { readMeta, schemaVersion } = await import('../../../data-service/schema/migrate.ts');
  const { readTip } = await import('../../../data-service/crawler/store-end.ts');
  const { printJson } = await import('../../terminal/output.ts');
  const version = await schemaVersion(db);
  if (version === 0) {
    printJson({ schemaVersion: 0 });
    return;
  }
  const [counts] = await db.query<{ txs: string; reorgs: string }>(
    'SELECT (SELECT coalesce(max(seq), 0) FROM txs) AS txs, (SELECT count(*) FROM reorgs) AS reorgs',
  );
  printJson({
    schemaVersion: version,
    ...(await readTip(db)),
    transactions: Number(counts?.txs ?? 0),
    reorganisations: Number(counts?.reorgs ?? 0),
    bulk: (await readMeta(db, 'bulk')) === '1',
    chainId: await readMeta(db, 'chain_id'),
    genesis: await readMeta(db, 'genesis_signature'),
  });
}

async function buildIndexes(db: Database, config: DataConfig['dataService']): Promise<void> {
  const { beginFirstLoad, endFirstLoad } = await import(
    '../../../data-service/crawler/first-load.ts'
  );
  const { say } = await import('../../terminal/output.ts');
  await beginFirstLoad(db, config);
  await endFirstLoad(db, config, (name) => say(`index ${name}`));
}

interface VerifyFlags extends Flags {
  readonly from: number;
  readonly to?: number;
  readonly balances: number;
}

async function verify(path: string | undefined, flags: VerifyFlags) {
  await withStore(path, flags, async (db, config) => {
    const { verifyBlocks } = await import('../../../data-service/crawler/verify/verify-blocks.ts');
    const balances = await import('../../../data-service/crawler/verify/verify-balances.ts');
    const { NodeReader } = await import('../../../data-service/crawler/node-reader.ts');
    const { undiciClient } = await import('../../../adapters/http/undici.ts');
    const { systemClock } = await import('../../../adapters/system.ts');
    const { say, printJson } = await import('../../terminal/output.ts');
    const { randomInt } = await import('node:crypto');
    const { nodeTls } = await import('./run-data-service.ts');
    const http = undiciClient(nodeTls(config));
    const clock = systemClock(undefined);
    const node = new NodeReader(
      { urls: config.nodeUrl, apiKey: config.nodeApiKey },
      { http, clock, failed: (url, why) => say(`${url}: ${why}`) },
    );
    try {
      const blocks = await verifyBlocks(db, node, flags.from, flags.to);
      const asked = balances.sampleOf(db, flags.balances, randomInt);
      const held = await balances.verifyBalances(db, node, clock, asked);
      printJson({ ...blocks, balances: held });
      if (blocks.different.length > 0) throw new CliError('stored blocks differ from the node');
      if (held.different.length > 0) throw new CliError('stored balances differ from the node');
    } finally {
      await http.close();
    }
  });
}
