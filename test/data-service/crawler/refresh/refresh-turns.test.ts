/** Missed turns and bans of a chain whose third miner is away, at once, block by block and rolled back. */
import t from 'tap';
import type { Database } from '../../../../src/base/ports/database.ts';
import type { NodeReader } from '../../../../src/data-service/crawler/node-reader.ts';
import { MARKS } from '../../../../src/data-service/crawler/refresh/miner-turns.ts';
import { refreshTurns } from '../../../../src/data-service/crawler/refresh/refresh-turns.ts';
import { rollBack } from '../../../../src/data-service/crawler/remove-blocks.ts';
import { migrate } from '../../../../src/data-service/schema/migrate.ts';
import { memoryDatabase } from '../../stores.ts';

const settings = { banDurationBlocks: 10, warningsForBan: 3, maxBansPercentage: 40 };
const node = { banSettings: async () => settings } as unknown as NodeReader;
const pass = { node, nodes: 1, assertLocked() {} };

/** Turns go A, B, C. While C is not banned, each turn of it passes. */
const CHAIN: readonly (readonly [generator: string, skipped: number])[] = [
  ['G', 0],
  ['B', 0],
  ['A', 1],
  ['B', 1],
  ['A', 2],
  ['B', 2],
  ['A', 3],
  ...['B', 'A', 'B', 'A', 'B', 'A', 'B', 'A', 'B', 'A', 'B'].map((miner) => [miner, 3] as const),
  ['A', 4],
];

const WANTED = [
  { height: 3, address: 'C', missed: 1, mark: MARKS.warning, until: null },
  { height: 5, address: 'C', missed: 1, mark: MARKS.warning, until: null },
  { height: 7, address: 'C', missed: 1, mark: MARKS.ban, until: 16 },
  { height: 19, address: 'C', missed: 1, mark: MARKS.warning, until: null },
];

async function addBlock(db: Database, height: number, lost: readonly string[] = []): Promise<void> {
  const [generator, skipped] = CHAIN[height - 1]!;
  const turns = lost.map((miner) => ({ generator: miner }));
  const consensus = JSON.stringify({
    'poa-consensus': {
      'overall-skipped-rounds': skipped,
      ...(turns.length === 0 ? {} : { 'lost-turns': turns }),
    },
  });
  const txs = height === 1 ? 3 : 0;
  await db.query(
    `INSERT INTO blocks (height, signature, reference, version, ts, generator, consensus, features,
       blocksize, fee, tx_count, first_seq)
     VALUES ($1::int, 'sig' || $1::int, '', 3, $2, $3, $4::jsonb, '{}', 1, 0, $5, $6)`,
    [height, 1_000_000 + height * 1000, generator, consensus, txs, height === 1 ? 1 : 4],
  );
}

async function withGenesis(): Promise<Database> {
  const db = await memoryDatabase();
  await migrate(db, { indexText: true });
  await addBlock(db, 1);
  for (const [i, miner] of ['A', 'B', 'C'].entries()) {
    await db.query(
      `INSERT INTO txs (seq, id, type, version, height, ts, fee, body)
       VALUES ($1::int, 'tx' || $1::int, 101, 1, 1, $2, 0, '{}')`,
      [i + 1, 1000 + i],
    );
    await db.query(`INSERT INTO permission_ops VALUES ($1, $2, 'miner', 'add', NULL, $3)`, [
      i + 1,
      miner,
      1000 + i,
    ]);
  }
  return db;
}

const marksIn = (db: Database) => db.query('SELECT * FROM miner_marks ORDER BY height, address');

t.test('all blocks at once', async (t) => {
  const db = await withGenesis();
  t.teardown(() => db.close());
  for (let height = 2; height <= CHAIN.length; height++) await addBlock(db, height);
  t.equal(await refreshTurns(db, pass), false);
  t.strictSame(await marksIn(db), WANTED);
});

t.test('block by block, with blocks removed in between', async (t) => {
  const db = await withGenesis();
  t.teardown(() => db.close());
  for (let height = 2; height <= CHAIN.length; height++) {
    await addBlock(db, height);
    await refreshTurns(db, pass);
    if (![6, 8, 12].includes(height)) continue;
    await rollBack(db, height - 3, 1);
    for (let again = height - 2; again <= height; again++) await addBlock(db, again);
  }
  await refreshTurns(db, pass);
  t.strictSame(await marksIn(db), WANTED);
});

t.test('a miner whose block lost has not missed its turn', async (t) => {
  const db = await withGenesis();
  t.teardown(() => db.close());
  for (let height = 2; height <= 7; height++) await addBlock(db, height, height === 5 ? ['C'] : []);
  await refreshTurns(db, pass);
  t.strictSame(await marksIn(db), [
    { height: 3, address: 'C', missed: 1, mark: MARKS.warning, until: null },
    { height: 7, address: 'C', missed: 1, mark: MARKS.warning, until: null },
  ]);
});

t.test('without proof of authority there is nothing to derive', async (t) => {
  const db = await withGenesis();
  t.teardown(() => db.close());
  await addBlock(db, 2);
  const other = { banSettings: async () => undefined } as unknown as NodeReader;
  t.equal(await refreshTurns(db, { ...pass, node: other }), false);
  t.strictSame(await marksIn(db), []);
});
