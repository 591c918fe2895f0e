/**
 * One primary and two streaming replicas of PostgreSQL, with servers on the replicas. The primary is
 * killed in the middle of the crawl, and a replica takes its place: the store then equals the chain,
 * and readers of the stream have every event once. REPLICA_KILLS sets how often; `npm run
 * test:replicas` takes ten.
 */
import t, { type Test } from 'tap';
import {
  type PostgresServer,
  SUPERUSER,
  startPostgresServer,
  startReplica,
} from '../../bench/denominators/postgres-server.ts';
import { NotInstalledError } from '../../bench/measure/contender.ts';
import { postgresDatabase } from '../../src/adapters/database/postgres.ts';
import type { Database } from '../../src/base/ports/database.ts';
import { migrate } from '../../src/data-service/schema/migrate.ts';
import { leftOut } from '../left-out.ts';
import { crawl } from './crawling.ts';
import { type MadeChain, madeChain } from './made-chain.ts';
import { madeNode } from './made-node.ts';
import { served } from './served.ts';
import { digest } from './stores.ts';
import { type EventClient, eventClient, type StreamEvent } from './stream/event-client.ts';
import { idsOf, kept } from './stream/kept-events.ts';

const KILLS = Number(process.env['REPLICA_KILLS'] ?? 1);
/** A commit is confirmed once a replica has it. */
const SETTINGS = ['synchronous_standby_names=ANY 1 (one, two)', 'wal_keep_size=512MB'];

type Name = 'one' | 'two';

interface Replica {
  readonly name: Name;
  readonly server: PostgresServer;
  /** Of the server of the data service on it. */
  readonly url: string;
}

const started = await startPostgresServer(undefined, SETTINGS).catch((cause: unknown) => {
  if (cause instanceof NotInstalledError) return leftOut(cause.message);
  throw cause;
});
const skip = typeof started === 'string' && started;
t.setTimeout(240_000 + KILLS * 60_000);

const urlOf = ({ folder }: PostgresServer, database = 'postgres'): string =>
  `postgres://${SUPERUSER}@/${database}?host=${folder}`;

const later = (ms = 20): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** One statement on a connection of its own. */
async function ask<R extends object>(server: PostgresServer, sql: string): Promise<R[]> {
  const db = postgresDatabase({ url: urlOf(server), poolSize: 1 });
  try {
    return await db.query<R>(sql);
  } finally {
    await db.close();
  }
}

/** A client that goes on with its last event at another server of the same store. */
function roaming(t: Test) {
  const events: StreamEvent[] = [];
  let client: EventClient | undefined;
  let lastId = '0';
  return {
    all: (): StreamEvent[] => [...events, ...(client?.events ?? [])],
    client: () => client!,
    async moveTo(url: string): Promise<void> {
      await client?.close();
      events.push(...(client?.events ?? []));
      lastId = client?.lastId() ?? lastId;
      client = undefined;
      client = await eventClient(t, `${url}/transactions/stream`, lastId);
    },
  };
}

type Roaming = ReturnType<typeof roaming>;

async function hasAll(t: Test, reader: Roaming, chain: MadeChain, name: string): Promise<void> {
  const last = idsOf(chain).at(-1);
  const isEnded = (): boolean => reader.all().some(({ type }) => type === 'end');
  while (kept(reader.all()).at(-1) !== last && !isEnded()) await later();
  t.strictSame(kept(reader.all()), idsOf(chain), name);
  t.notOk(isEnded(), `${name} was not ended`);
}

t.test('replicas', { skip }, async (t) => {
  let primary = started as PostgresServer;
  const servers = new Set<PostgresServer>([primary]);
  t.teardown(async () => {
    for (const server of servers) await server.stop();
  });
  const replicaOf = async (name: Name): Promise<Replica> => {
    const server = await startReplica(primary, name, SETTINGS);
    servers.add(server);
    const open = async () => postgresDatabase({ url: urlOf(server), poolSize: 4, readOnly: true });
    const { url } = await served(t, node.url, open, { crawl: undefined });
    return { name, server, url };
  };
  const chain = madeChain({ seed: 'replicas', txsPerBlock: 6, accounts: 20 });
  chain.grow(30);
  const node = await madeNode(t, () => chain);

  const writing = (server: PostgresServer): Database => {
    const db = postgresDatabase({ url: urlOf(server), poolSize: 2 });
    t.teardown(() => db.close());
    return db;
  };
  let [left, right] = [await replicaOf('one'), await replicaOf('two')];
  let db = writing(primary);
  let crawler = crawl(t, db, [node.url], { batchBlocks: 3 });
  const tables = async (): Promise<boolean> => {
    const [found] = await db.query<{ name: unknown }>(`SELECT to_regclass('meta')::text AS name`);
    return found?.name !== null;
  };
  while (!(await tables())) await later();
  const caughtUp = () => crawler.reached(chain.height(), chain.signature(chain.height()));
  await caughtUp();

  const [first, second, moving] = [roaming(t), roaming(t), roaming(t)];
  await first.moveTo(left.url);
  await second.moveTo(right.url);
  await moving.moveTo(left.url);

  // The second replica lags behind a removal of blocks that the client has heard of.
  await ask(right.server, 'SELECT pg_wal_replay_pause()');
  chain.reorganise(5, 8);
  await caughtUp();
  await hasAll(t, moving, chain, 'a reader of the first replica');
  await moving.moveTo(right.url);
  chain.grow(2);
  await hasAll(t, first, chain, 'another reader of the first replica');
  const pauses = moving.all().length;
  await ask(right.server, 'SELECT pg_wal_replay_resume()');
  await hasAll(t, moving, chain, 'a reader that has moved to a replica that lags');
  t.ok(moving.all().length > pauses);

  for (let kill = 1; kill <= KILLS; kill++) {
    chain.grow(60);
    const before = crawler.state.height;
    while (crawler.state.height === before) await later(5);
    await moving.moveTo(kill % 2 === 0 ? left.url : right.url);
    await primary.crash();
    await crawler.stop();
    servers.delete(primary);
    await primary.stop();
    // The one that has most becomes the primary, so nothing is lost that a reader has seen.
    const isLeft = (await progress(left)) >= (await progress(right));
    const [next, other] = isLeft ? [left, right] : [right, left];
    await ask(next.server, 'SELECT pg_promote()');
    const source = `host=${next.server.folder} user=${SUPERUSER} application_name=${other.name}`;
    await ask(other.server, `ALTER SYSTEM SET primary_conninfo = '${source}'`);
    await ask(other.server, 'SELECT pg_reload_conf()');
    primary = next.server;
    if (kill % 2 === 0) chain.reorganise(7, 9);
    db = writing(primary);
    crawler = crawl(t, db, [node.url], { batchBlocks: 3 });
    await caughtUp();
    await moving.moveTo(other.url);
    await hasAll(t, first, chain, `a reader of the first replica after kill ${kill}`);
    await hasAll(t, second, chain, `a reader of the second replica after kill ${kill}`);
    await hasAll(t, moving, chain, `a reader that moves, after kill ${kill}`);
    if (kill === KILLS) break;
    [left, right] = [other, await replicaOf(next.name)];
    await first.moveTo(left.url);
    await second.moveTo(right.url);
  }

  await crawler.stop();
  await ask(primary, 'CREATE DATABASE fresh');
  const fresh = postgresDatabase({ url: urlOf(primary, 'fresh'), poolSize: 2 });
  t.teardown(() => fresh.close());
  await migrate(fresh, { indexText: true });
  const again = crawl(t, fresh, [node.url]);
  await again.reached(chain.height(), chain.signature(chain.height()));
  await again.stop();
  t.strictSame(await digest(db), await digest(fresh), 'the store equals the chain');
});

/** Bytes of changes that it has. */
async function progress({ server }: Replica): Promise<bigint> {
  const [row] = await ask<{ bytes: string }>(
    server,
    `SELECT pg_wal_lsn_diff(coalesce(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), '0/0')::bigint AS bytes`,
  );
  return BigInt(row?.bytes ?? 0);
}
