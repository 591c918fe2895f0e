/** Confidential data in a real PostgreSQL, started here from the system's packages. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import t from 'tap';
import {
  type PostgresServer,
  SUPERUSER,
  startPostgresServer,
} from '../../bench/denominators/postgres-server.ts';
import { NotInstalledError } from '../../bench/measure/contender.ts';
import { postgresShelf } from '../../src/adapters/private-store/postgres.ts';
import { verifiedStore } from '../../src/adapters/private-store/verified.ts';
import { base58 } from '../../src/base/base58.ts';
import {
  contentOf,
  holds,
  inPieces,
  itemOf,
  privateStoreCompliance,
} from '../compliance/private-store.ts';
import { leftOut } from '../left-out.ts';
import { memoryLog } from '../node/memory-ports.ts';

const PASSWORD = 'slonik';

/** Undefined with a reason where there is no PostgreSQL. */
async function start(): Promise<PostgresServer | string> {
  try {
    return await startPostgresServer(PASSWORD);
  } catch (cause) {
    if (cause instanceof NotInstalledError) return cause.message;
    throw cause;
  }
}

const server = await start();
const skip = typeof server === 'string' && leftOut(server);
const { folder, stop } = typeof server === 'string' ? ({} as PostgresServer) : server;
const url = `jdbc:postgresql:///postgres?host=${folder}`;
const options = { url, user: SUPERUSER, password: PASSWORD };
const access = { host: folder, user: SUPERUSER, password: PASSWORD, database: 'postgres' };
const direct = new pg.Pool({ ...access, max: 2 });
direct.on('error', () => {});
let running = skip === false;
const end = async (): Promise<void> => {
  if (running) await stop();
  running = false;
};
t.teardown(async () => {
  await direct.end();
  await end();
});

t.test('settings that do not fit end the start', { skip }, async (t) => {
  const refused = (changes: object) => postgresShelf({ ...options, ...changes });
  await t.rejects(refused({ password: 'wrong' }), /password authentication failed/);
  await t.rejects(refused({ url: `postgresql:///nowhere?host=${folder}` }), /does not exist/);
  await t.rejects(refused({ url: 'postgres://127.0.0.1:1/postgres' }), /ECONNREFUSED/);
});

t.test('a user without the right to make tables uses those that are there', { skip }, async (t) => {
  await (await postgresShelf(options)).stop();
  await direct.query(`CREATE ROLE member LOGIN PASSWORD '${PASSWORD}'`);
  await direct.query('GRANT SELECT, INSERT, UPDATE ON policy_data, policy_meta_data TO member');
  const store = verifiedStore(await postgresShelf({ ...options, user: 'member' }), memoryLog());
  const data = new Uint8Array(700_000).fill(3);
  const item = itemOf(data);
  await store.write(item, inPieces(data));
  t.ok(await holds(store, item, data));
  await store.stop();
});

t.test('a text with the one character that PostgreSQL has not', { skip }, async (t) => {
  const store = verifiedStore(await postgresShelf(options), memoryLog());
  const data = new Uint8Array([9]);
  const item = { ...itemOf(data), comment: 'a\0b' };
  await store.write(item, inPieces(data));
  t.equal((await store.info(item.policyId, item.hash))?.comment, 'a\u2400b');
  await store.stop();
});

t.test('rows as other nodes write them are read', { skip }, async (t) => {
  const store = verifiedStore(await postgresShelf(options), memoryLog());
  const data = new Uint8Array([1, 2, 3]);
  const { policyId, hash, sender, timestamp } = itemOf(data);
  const ids = [policyId, hash].map(base58.encode);
  const item = [...ids, base58.encode(sender), 'file', 'n', '3', String(timestamp), 'a', 'c'];
  const values = item.map((_, i) => `$${i + 1}`).join(', ');
  await direct.query(`INSERT INTO policy_meta_data VALUES (${values})`, item);
  await direct.query("INSERT INTO policy_data VALUES ($1, $2, '\\x010203')", ids);
  t.match(await store.info(policyId, hash), { sender, timestamp, filename: 'n', comment: 'c' });
  t.strictSame(await contentOf(store, itemOf(data, policyId)), data);
  await store.stop();
});

t.test('an item whose data are lost is missing, and can be stored again', { skip }, async (t) => {
  const store = verifiedStore(await postgresShelf(options), memoryLog());
  const data = new Uint8Array([4, 5, 6]);
  const item = itemOf(data);
  await store.write(item, inPieces(data));
  await direct.query('DELETE FROM policy_data WHERE hash = $1', [base58.encode(item.hash)]);
  t.equal(await store.info(item.policyId, item.hash), undefined);
  t.strictSame(await store.policiesOf(item.hash), []);
  await store.write(item, inPieces(data));
  t.ok(await holds(store, item, data));
  await store.stop();
});

t.test('a connection that breaks between two pieces', { skip }, async (t) => {
  const log = memoryLog();
  const store = verifiedStore(await postgresShelf(options), log);
  const data = new Uint8Array(700_000).fill(5);
  const item = itemOf(data);
  async function* interrupted(): AsyncIterable<Uint8Array> {
    yield data.subarray(0, 1000);
    await direct.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'platform-node' AND state = 'idle in transaction'`,
    );
    // Longer than the end of the connection takes to arrive.
    await pause(500);
    yield data.subarray(1000);
  }
  const refusal = await store.write(item, interrupted()).catch((cause: unknown) => cause);
  t.match(refusal, { kind: 'storage' });
  t.equal(await store.info(item.policyId, item.hash), undefined);
  await store.write(item, inPieces(data));
  t.ok(await holds(store, item, data), 'the next upload has another connection');
  await store.stop();
});

t.test('PostgreSQL', { skip }, async (t) => {
  await privateStoreCompliance(t, {
    open: async (log) => verifiedStore(await postgresShelf(options), log),
    async damage({ policyId, hash }) {
      const changed = 'set_byte(data, 1000, get_byte(data, 1000) # 1)';
      const ids = [policyId, hash].map(base58.encode);
      await direct.query(
        `UPDATE policy_data SET data = ${changed} WHERE policy_id = $1 AND hash = $2`,
        ids,
      );
    },
    fail: end,
  });
});
