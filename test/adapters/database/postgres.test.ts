/** Who may write to a server that several programs share. */
import t from 'tap';
import type { Database } from '../../../src/base/ports/database.ts';
import { postgresCluster } from '../../data-service/stores.ts';

const cluster = await postgresCluster(t);
/** What the first releases take, whatever the schema of their tables. */
const LOCK_OF_DATABASE = 'pg_try_advisory_lock(7225110481)';

const inSchema = (url: string, schema: string): string =>
  `${url}&options=${encodeURIComponent(`-c search_path=${schema}`)}`;

t.test('the lock of a crawler is that of its schema', { skip: cluster.skip }, async (t) => {
  const url = await cluster.createDatabase();
  const opened = (schema: string, poolSize = 2): Database => {
    const db = cluster.open(inSchema(url, schema), { poolSize });
    t.teardown(() => db.close());
    return db;
  };
  const owner = opened('public');
  await owner.exec('CREATE SCHEMA one; CREATE SCHEMA "The Other"; CREATE SCHEMA empty');
  const [one, sameOne, other] = [opened('one'), opened('one'), opened('"The\\ Other"')];
  const lock = await one.lock();
  t.ok(lock, 'the first crawler of a schema');
  t.equal(await sameOne.lock(), undefined, 'a second one of it');
  await one.exec('CREATE TABLE meta (key text PRIMARY KEY, value text)');
  t.equal(await sameOne.lock(), undefined, 'nor once there are tables');
  t.equal(await opened('empty,one').lock(), undefined, 'nor one that finds the tables otherwise');
  const lockOfOther = await other.lock();
  t.ok(lockOfOther, 'a crawler of another schema');
  const missing = await opened('missing').lock();
  t.ok(missing, 'no schema is no crawler: the migration says what is wrong');
  await missing?.release();

  // A session of its own, which keeps what it takes.
  const earlier = opened('one', 1);
  const taken = async (): Promise<boolean> =>
    (await earlier.query<{ is: boolean }>(`SELECT ${LOCK_OF_DATABASE} AS is`))[0]!.is;
  t.equal(await taken(), false, 'an earlier release beside both');
  await lock?.release();
  t.equal(await taken(), false, 'beside one of them');
  await lockOfOther?.release();
  // The server frees a lock a moment after its session has ended.
  while (!(await taken())) await new Promise((next) => setTimeout(next, 20));
  t.equal(await one.lock(), undefined, 'a crawler beside an earlier release');
  t.equal(await other.lock(), undefined, 'also in another schema');
});
