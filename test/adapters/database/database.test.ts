/** Transactions on both stores whose statements are sent without waiting. */
import t, { type Test } from 'tap';
import { type Database, DatabaseError } from '../../../src/base/database.ts';
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

t.test('PGlite', async (t) => check(t, await memoryDatabase()));

t.test('PostgreSQL', { skip: cluster.skip }, async (t) => {
  const url = await cluster.createDatabase();
  await check(t, cluster.open(url));
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
