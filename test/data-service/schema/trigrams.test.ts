/** Several data services in one database, each in a schema of its own, which is all of their search path. */
import t from 'tap';
import { type Database, DatabaseError } from '../../../src/base/ports/database.ts';
import { migrate } from '../../../src/data-service/schema/migrate.ts';
import { allowReading } from '../../../src/data-service/schema/reader-role.ts';
import { makeTrigrams, withTrigramsOf } from '../../../src/data-service/schema/trigrams.ts';
import { OPTIONS } from '../crawling.ts';
import { madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { served } from '../served.ts';
import { postgresCluster } from '../stores.ts';

const cluster = await postgresCluster(t);
const SCHEMAS = ['one', 'Another One'];

t.test('two schemas of a database', { skip: cluster.skip }, async (t) => {
  const url = await cluster.createDatabase();
  const owner = cluster.open(url);
  t.teardown(() => owner.close());
  for (const [i, schema] of SCHEMAS.entries()) {
    await owner.exec(`CREATE SCHEMA "${schema}"`);
    const chain = madeChain({ seed: schema, txsPerBlock: 2, accounts: 5 });
    chain.grow(3 + i);
    const node = await madeNode(t, () => chain);
    const path = `-c search_path="${schema.replace(' ', '\\ ')}"`;
    const own = `${url}&options=${encodeURIComponent(path)}`;
    const name = `reader_of_${i}`;
    // Both crawl from here on.
    const crawl = { ...OPTIONS, reader: { name } };
    const crawler = await served(t, node.url, async () => cluster.open(own), { crawl });
    await crawler.reached(chain.height());

    const asReader = own.replace(/\/\/\w+@/, `//${name}@`);
    const server = await served(t, node.url, async () => cluster.open(asReader), {
      crawl: undefined,
    });
    await server.reached(chain.height());
    t.equal((await server.get('/health/ready')).status, 200);
    const searched = await server.get(`/transactions?search=${encodeURIComponent('größe')}`);
    t.equal(searched.status, 200, 'which letters are indexed is asked of the extension');
    const writer = cluster.open(own);
    t.teardown(() => writer.close());
    const before = await writer.query('SELECT nspacl::text FROM pg_namespace ORDER BY oid');
    await allowReading(writer, { name });
    t.strictSame(
      await writer.query('SELECT nspacl::text FROM pg_namespace ORDER BY oid'),
      before,
      'nothing is left to grant',
    );
    const [lists] = await writer.query<{ n: string }>(
      `SELECT count(*) AS n FROM pg_indexes WHERE indexname = 'aliases_trgm' AND schemaname = $1`,
      [schema],
    );
    t.equal(lists?.n, '1');
  }
});

t.test('the schema of the extension has any name', async (t) => {
  const definition = 'INDEX i ON t USING gin (a gin_trgm_ops, b gin_trgm_ops)';
  t.equal(withTrigramsOf(undefined, definition), definition);
  t.equal(
    withTrigramsOf('"a$$b$&"', definition),
    'INDEX i ON t USING gin (a "a$$b$&".gin_trgm_ops, b "a$$b$&".gin_trgm_ops)',
  );
});

t.test('a server without the extension says what to install', async (t) => {
  const made = (code: string, schemas: readonly string[] = []) => {
    const cause = Object.assign(new Error('extension "pg_trgm" is not available'), { code });
    return makeTrigrams({
      exec: async () => {
        throw new DatabaseError('other', cause);
      },
      query: async <R extends object>() => schemas.map((name) => ({ name }) as unknown as R),
    });
  };
  for (const code of ['0A000', '58P01'])
    await t.rejects(made(code), {
      failure: 'other',
      message: /^extension "pg_trgm" is not available \(data-service\.database-url\); install /,
    });
  await t.rejects(made('42501'), { message: 'extension "pg_trgm" is not available' });
  await t.resolves(made('23505', ['public']), 'another crawler has made it');
});

t.test('the crawlers of two schemas start at once', { skip: cluster.skip }, async (t) => {
  for (let round = 0; round < 5; round++) {
    const url = await cluster.createDatabase();
    const owner = cluster.open(url);
    await owner.exec('CREATE SCHEMA one; CREATE SCHEMA two; CREATE SCHEMA three');
    await owner.close();
    const all = ['one', 'two', 'three'].map((schema) =>
      cluster.open(`${url}&options=${encodeURIComponent(`-c search_path=${schema}`)}`),
    );
    const reader = { name: `reader_of_all_${round}` };
    try {
      await t.resolves(Promise.all(all.map((db) => migrate(db, { indexText: true }))));
      // A crawler tries again where the store is away.
      const allowed = (db: Database): Promise<void> =>
        allowReading(db, reader).catch((cause: DatabaseError) =>
          cause.failure === 'away' ? allowed(db) : Promise.reject(cause),
        );
      await t.resolves(Promise.all(all.map(allowed)));
    } finally {
      await Promise.all(all.map((db) => db.close()));
    }
  }
});
