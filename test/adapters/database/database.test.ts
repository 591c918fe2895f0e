/** Transactions on both stores whose statements are sent without waiting. */
import t, { type Test } from 'tap';
import { type Database, DatabaseError } from '../../../src/base/ports/database.ts';
import { memoryDatabase, postgresCluster } from '../../data-service/stores.ts';

const cluster = await postgresCluster(t);
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const countOf = async (db: Database): Promise<string> =>
  (await db.query<{ n: string }>('SELECT count(*) AS n FROM one'))[0]!.n;

async function check(t: Test, db: Database): Promise<void> {
  t.teardown(() => db.close());
  await db.exec('CREATE TABLE one (n integer PRIMARY KEY); CREATE TABLE two (word text)');

  await db.transaction((queries) =>
    Promise.all([
      queries.copy('one', ['n'], bytes('1\n2\n')),
      queries.copy('two', ['word'], bytes('')),
      queries.copy('two', ['word'], bytes('a\\tb\nünï\n')),
      queries.query('UPDATE one SET n = n + $1', [10]),
    ]),
  );
  t.strictSame(await db.query('SELECT n FROM one ORDER BY n'), [{ n: 11 }, { n: 12 }]);
  t.strictSame(await db.query('SELECT word FROM two'), [{ word: 'a\tb' }, { word: 'ünï' }]);

  for (const [name, table, refused] of [
    ['a row twice', 'one', '13\n13\n'],
    ['a row of another form', 'one', `${'14\n'.repeat(1)}word\n${'7\n'.repeat(300_000)}`],
    ['a table that is missing', 'three', '1\n'],
  ] as const) {
    const failed = db.transaction((queries) =>
      Promise.all([
        queries.query('INSERT INTO one VALUES (99)'),
        queries.copy(table, ['n'], bytes(refused)),
        queries.copy('two', ['word'], bytes('later\n')),
        queries.query('INSERT INTO one VALUES (98)'),
      ]),
    );
    await t.rejects(failed, DatabaseError, name);
    t.equal(await countOf(db), '2', `${name} leaves nothing`);
  }
  await t.rejects(
    db.transaction(async (queries) => {
      await queries.query('INSERT INTO one VALUES (97)');
      throw new Error('changed its mind');
    }),
    /changed its mind/,
  );
  t.equal(await countOf(db), '2');
}

/** A filter that is frequent by the statistics, and has one row, is looked up row by row. */
async function lookUps(t: Test, db: Database, reading: Database): Promise<void> {
  await db.exec(`
    CREATE TABLE rows (seq bigint PRIMARY KEY, ts bigint NOT NULL);
    CREATE TABLE parties (address text, role integer, seq bigint, PRIMARY KEY (address, role, seq));
    INSERT INTO rows SELECT n, n FROM generate_series(1, 20000) n;
    INSERT INTO parties SELECT 'busy', 1, n FROM generate_series(1, 10000) n;
    INSERT INTO parties SELECT n::text, 2, n FROM generate_series(10001, 20000) n;
    INSERT INTO parties VALUES ('busy', 2, 1)`);
  await db.exec('VACUUM ANALYZE');
  const lines = await reading.query<Record<string, string>>(
    `EXPLAIN ANALYZE SELECT p.seq FROM parties p JOIN rows USING (seq)
     WHERE address = 'busy' AND role = 2 AND ts > 0 ORDER BY p.seq DESC LIMIT 100`,
  );
  const plan = lines.map((line) => line['QUERY PLAN']).join('\n');
  t.match(plan, /Nested Loop/, plan);
}

t.test('PGlite', async (t) => {
  const db = await memoryDatabase();
  await check(t, db);
  await lookUps(t, db, db.reading!);
});

t.test('PostgreSQL', { skip: cluster.skip }, async (t) => {
  const url = await cluster.createDatabase();
  const db = cluster.open(url);
  await check(t, db);
  const reading = cluster.open(url, { readOnly: true });
  t.teardown(() => reading.close());
  await lookUps(t, db, reading);
  await t.test('a connection that ends in a transaction', async (t) => {
    const [db, other] = [cluster.open(url), cluster.open(url)];
    t.teardown(() => Promise.all([db.close(), other.close()]));
    const ended = db.transaction(async (queries) => {
      const [own] = await queries.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await other.query('SELECT pg_terminate_backend($1)', [own!.pid]);
      await Promise.all([
        queries.copy('one', ['n'], bytes('50\n')),
        queries.query('INSERT INTO one VALUES (51)'),
      ]);
    });
    const failure = await ended.catch((cause: unknown) => cause);
    t.match(failure, { failure: 'away' });
    t.equal(await countOf(db), '2', 'the next one works');
  });
});
