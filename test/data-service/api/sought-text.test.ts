/** Which texts an index of trigrams finds: those of the database's locale. */
import t, { type Test } from 'tap';
import type { Database } from '../../../src/base/ports/database.ts';
import { searchSources } from '../../../src/data-service/api/search-sources.ts';
import type { DataServices } from '../../../src/data-service/api/services.ts';
import { hasPart, soughtText } from '../../../src/data-service/api/sought-text.ts';
import { sqlValues } from '../../../src/data-service/api/sql-values.ts';
import { migrate } from '../../../src/data-service/schema/migrate.ts';
import { migratedDatabase, postgresCluster } from '../stores.ts';

const cluster = await postgresCluster(t);

/** The texts, and the parts that an index finds: where all letters have trigrams, and in the locale C. */
const TEXTS: readonly [text: string, all: string | undefined, ascii: string | undefined][] = [
  ['abc', 'abc', 'abc'],
  ['a-b c', undefined, undefined],
  ['🚀🚀🚀', undefined, undefined],
  ['²²²', undefined, undefined],
  ['½¼¾ ①②③ ৴৵৶', undefined, undefined],
  ['m²³ and more of it', 'and more of ', 'and more of '],
  ['яйцо', 'яйцо', undefined],
  ['яйцо 100', 'яйцо 100', 'яйцо 100'],
  ['договор поставки 2026', 'договор пост', '2026'],
  ['- - - - - - - - invoice 7', 'invoice 7', 'invoice 7'],
  ['🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀abcdefghijklmnop', 'abcdefghijkl', 'abcdefghijkl'],
];

async function check(t: Test, db: Database, isAscii: boolean): Promise<void> {
  t.teardown(() => db.close());
  await migrate(db, { indexText: true });
  let asked = 0;
  const query: Database['query'] = (sql, values, signal) => {
    if (sql.includes('show_trgm')) asked++;
    return db.query(sql, values, signal);
  };
  const watched = { ...db, query };
  const meter = { query: () => () => {}, timedOut: () => {} };
  const services = { db: () => watched, meter } as unknown as DataServices;
  for (const [text, all, ascii] of [...TEXTS, ...TEXTS]) {
    const sought = await soughtText(text, services);
    const indexed = isAscii ? ascii : all;
    t.strictSame(sought, { text, indexed }, text);
    const [source] = await searchSources(text, ['in_description'], services);
    t.equal(source?.finding === 'compared', indexed === undefined, text);
    const values = sqlValues();
    const [found] = await db.query(
      `SELECT ${hasPart('own', sought, values)} AS is FROM (SELECT $${values.list.length + 1}::text) one (own)`,
      [...values.list, `before ${text} behind`],
    );
    t.strictSame(found, { is: true }, 'the whole text is found');
  }
  t.equal(asked, 5, 'the database is asked once for each character');
}

t.test('PGlite', async (t) => check(t, await migratedDatabase(), false));
for (const locale of ['C.UTF-8', 'C']) {
  t.test(`PostgreSQL, ${locale}`, { skip: cluster.skip }, async (t) =>
    check(t, cluster.open(await cluster.createDatabase(locale)), locale === 'C'),
  );
}
