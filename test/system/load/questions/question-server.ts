/**
 * A server of the data service in a process of its own, on made rows: arguments are the number of
 * transactions, the URL of a node, and the URL of a PostgreSQL or the folder of a PGlite. Sends an
 * `AskedServer` once it answers, and ends with the process that has begun it.
 */
import { pgliteDatabase } from '../../../../src/adapters/database/pglite.ts';
import { postgresDatabase } from '../../../../src/adapters/database/postgres.ts';
import { migrate } from '../../../../src/data-service/schema/migrate.ts';
import { type MadeRows, makeRows } from '../../../data-service/made-rows.ts';
import { served } from '../../../data-service/served.ts';

export interface AskedServer {
  readonly url: string;
  readonly made: MadeRows;
}

const [txs = '', nodeUrl = '', where = ''] = process.argv.slice(2);
/** As in an ordinary configuration. */
const CONNECTIONS = 10;
const STATEMENT_MS = 10_000;

const isServer = where.startsWith('postgres:');
const db = isServer
  ? postgresDatabase({ url: where, poolSize: 1 })
  : await pgliteDatabase(where, { statementMs: STATEMENT_MS });
await migrate(db, { indexText: true });
const made = await makeRows(db, Number(txs));
if (isServer) await db.close();
const { url } = await served(
  { teardown: () => undefined },
  nodeUrl,
  async (purpose) =>
    isServer
      ? postgresDatabase({
          url: where,
          poolSize: purpose === 'read' ? CONNECTIONS : 1,
          statementMs: STATEMENT_MS,
          readOnly: true,
        })
      : db.reading!,
  { crawl: undefined, connections: CONNECTIONS },
);
// Without a store there is nothing to ask yet.
while ((await fetch(`${url}/blocks?limit=1`)).status !== 200) {
  await new Promise((resolve) => setTimeout(resolve, 20));
}
process.once('disconnect', () => process.exit());
process.send?.({ url, made } satisfies AskedServer);
