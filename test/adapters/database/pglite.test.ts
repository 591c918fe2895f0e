/** A PGlite in its thread: a query that takes too long costs the thread, and nothing else. */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { pgliteDatabase } from '../../../src/adapters/database/pglite.ts';
import { migratedFolder } from '../../data-service/initial-cluster.ts';

/** Seconds of work that reads nothing, and yet has an end. */
const LONG = 'SELECT count(*) AS n FROM generate_series(1, 100000000)';
const STATEMENT_MS = 1000;
/** Longer than that, on any machine. */
const SLOW = `DO $$ DECLARE began timestamptz := clock_timestamp(); BEGIN
  WHILE clock_timestamp() < began + interval '${STATEMENT_MS + 200} ms' LOOP END LOOP; END $$`;

const storeFolder = (t: Test): Promise<string> => migratedFolder(t.testdir());

t.test('the time of a query', async (t) => {
  const folder = await storeFolder(t);
  const db = await pgliteDatabase(folder, { statementMs: STATEMENT_MS });
  t.teardown(() => db.close());
  await db.exec('CREATE TABLE one (n integer PRIMARY KEY)');
  await db.query('INSERT INTO one VALUES (1)');
  let heard = 0;
  const listener = await db.listen('news', () => heard++);

  let turns = 0;
  const counting = setInterval(() => turns++, 10);
  const long = db.reading!.query(LONG).catch((cause: unknown) => cause);
  // These wait for it, and run on the next thread.
  const written = db.transaction(async (queries) => {
    await queries.query('INSERT INTO one VALUES (2)');
    await queries.query(`SELECT pg_notify('news', '')`);
  });
  const read = db.reading!.query('SELECT n FROM one ORDER BY n');
  t.match(await long, { name: 'DatabaseError', failure: 'timeout' });
  clearInterval(counting);
  t.ok(turns > 10, 'the event loop runs meanwhile');
  await written;
  t.strictSame(await read, [{ n: 1 }, { n: 2 }], 'nothing is lost');
  for (let tries = 0; tries < 1000 && heard === 0; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  t.equal(heard, 1, 'the next thread listens, too');
  await listener.release();

  // No statement of the crawler has such a limit.
  await db.query(SLOW);
  await db.close();
  await t.rejects(db.query('SELECT 1'), /closed/);

  const again = await pgliteDatabase(folder);
  t.teardown(() => again.close());
  t.strictSame(await again.query('SELECT n FROM one ORDER BY n'), [{ n: 1 }, { n: 2 }]);
});

t.test('a new store, and a close that is asked for twice', async (t) => {
  const folder = t.testdir();
  const db = await pgliteDatabase(folder);
  await Promise.all([db.close(), db.close()]);
  const again = await pgliteDatabase(folder);
  await again.close();
});

t.test('a store that cannot be opened again', async (t) => {
  const folder = await storeFolder(t);
  let now = 0;
  const db = await pgliteDatabase(folder, { statementMs: 1, monotonic: () => now });
  t.teardown(() => db.close());
  await db.exec('CREATE TABLE one (n integer PRIMARY KEY); INSERT INTO one VALUES (1)');
  const control = join(folder, 'pgdata/global/pg_control');
  const rows = () => db.query('SELECT n FROM one');

  t.match(await db.reading!.query(LONG).catch((cause) => cause), { failure: 'timeout' });
  renameSync(control, `${control}-away`);
  await t.rejects(rows(), { name: 'DatabaseError' });
  renameSync(`${control}-away`, control);
  await t.rejects(rows(), { name: 'DatabaseError' }, 'it is not tried with every question');
  now += 1000;
  t.strictSame(await rows(), [{ n: 1 }]);

  renameSync(control, `${control}-away`);
  t.match(await db.reading!.query(LONG).catch((cause) => cause), { failure: 'timeout' });
  await t.rejects(rows());
  now += 1000;
  await t.rejects(rows());
  renameSync(`${control}-away`, control);
  now += 1000;
  await t.rejects(rows(), 'the time grows');
  now += 1000;
  t.strictSame(await rows(), [{ n: 1 }]);
});
