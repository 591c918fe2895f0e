/** The thread of one PGlite (pglite.ts): runs statements in the order in which they come. */
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { assert } from '../../base/assert.ts';
import { Mutex } from '../../concurrency/mutex.ts';
import type { FromPglite, PgliteCommand, PgliteData, ToPglite } from './pglite-messages.ts';

const asText = (text: string): string => text;
const INT8 = 20;
const NUMERIC = 1700;
const JSONB = 3802;
const parsers = { [INT8]: asText, [NUMERIC]: asText, [JSONB]: asText };

const { program, folder, initial } = workerData as PgliteData;
const port = parentPort;
assert(port !== null, 'pglite-worker.ts runs in a thread');
const send = (message: FromPglite): void => port.postMessage(message);

const causeOf = (cause: unknown): { code: string; message: string } => {
  const { code = '', message = String(cause) } = cause as { code?: string; message?: string };
  return { code, message };
};

async function run(db: PGlite, command: PgliteCommand): Promise<readonly object[]> {
  switch (command.kind) {
    case 'query':
      return (await db.query<object>(command.sql, [...command.values])).rows;
    case 'exec':
      await db.exec(command.sql);
      return [];
    case 'copy': {
      const blob = new Blob([command.rows as Uint8Array<ArrayBuffer>]);
      await db.query(command.sql, [], { blob });
      return [];
    }
    case 'listen': {
      const { channel } = command;
      await db.listen(channel, () => send({ kind: 'heard', channel }));
      return [];
    }
    case 'close':
      await db.close();
      return [];
  }
}

try {
  const options = {
    parsers,
    extensions: { pg_trgm },
    pgliteWasmModule: program.module,
    fsBundle: program.files,
    ...(initial && { loadDataDir: initial }),
  };
  const db = await (folder === undefined ? PGlite.create(options) : PGlite.create(folder, options));
  // As in queries to a server (postgres.ts).
  await db.exec('SET enable_mergejoin = off');
  const statements = new Mutex();
  port.on('message', ({ id, command }: ToPglite) => {
    void statements.run(async () => {
      try {
        send({ kind: 'done', id, rows: await run(db, command) });
      } catch (cause) {
        send({ kind: 'failed', id, ...causeOf(cause) });
      }
    });
  });
  send({ kind: 'open' });
} catch (cause) {
  send({ kind: 'unusable', ...causeOf(cause) });
}
