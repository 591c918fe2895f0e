/**
 * A store of any size, made by SQL in seconds: what a chain leaves in it, with values that are
 * frequent, rare, absent, and frequent only in the oldest part. A list that stays fast on all of
 * them depends on no luck with statistics.
 */
import type { Database } from '../../src/base/ports/database.ts';
import { INDEXES, TEXT_INDEXES } from '../../src/data-service/schema/tables.ts';

export const TXS_PER_BLOCK = 20;
const BLOCK_MS = 60_000;
/** 2026-01-01. */
const GENESIS_TIME = 1_767_225_600_000;
const ASSET_EVERY = 100;

/** Base58 texts that follow from a number. */
const id = (n: string): string =>
  `translate(md5('id' || (${n})) || left(md5('more' || (${n})), 12), '0', 'z')`;
const seal = (n: string): string => `translate(md5('s' || (${n})) || md5('t' || (${n})) ||
  left(md5('u' || (${n})), 24), '0', 'z')`;
const address = (n: string): string =>
  `'3M' || left(translate(md5('a' || (${n})) || md5('b' || (${n})), '0', 'z'), 33)`;
/** From 0 up to `below`, the same each time. */
const random = (n: string, seed: number, below: string): string =>
  `(abs(hashint8extended(${n}, ${seed}) % (${below})))`;
/** The same, where low numbers are far more frequent. */
const skewed = (n: string, seed: number, below: string): string =>
  `floor(power(${random(n, seed, '1000000')} / 1000000.0, 4) * (${below}))::bigint`;

/** What is searched for. Rare values are in three of the oldest transactions alone. */
export const KNOWN = {
  frequentText: 'invoice',
  mediumText: 'audit',
  scarceText: 'visa',
  rareText: 'needle',
  oldText: 'legacy',
  absentText: 'nowhere',
  frequentKey: 'sensor',
  rareKey: 'only key',
  oldKey: 'first key',
  frequentAlias: 'name-57',
  frequentAmount: 100,
  rareAmount: 7_777_777,
  rareType: 13,
  absentType: 15,
  rareRole: 'blacklister',
  frequentRole: 'sender',
} as const;

export interface MadeRows {
  readonly txs: number;
  readonly blocks: number;
  readonly users: number;
  /** Sends three transactions of ten; others name it three times. */
  readonly busyAddress: string;
  readonly rareAddress: string;
  readonly frequentAsset: string;
  readonly rareAsset: string;
  readonly frequentContract: string;
  readonly rareContract: string;
  readonly someId: string;
  readonly someSignature: string;
  readonly someProof: string;
  readonly someBlock: string;
  readonly firstDay: string;
  readonly middleDay: string;
  readonly lastDay: string;
}

const TYPE = `CASE
  WHEN n % ${ASSET_EVERY} = 7 THEN 3 WHEN n % ${ASSET_EVERY} = 57 THEN 10
  WHEN n IN (201, 202, 203) THEN ${KNOWN.rareType}
  WHEN n % 200 = 33 THEN 102 WHEN n % 40 = 19 THEN 11 WHEN n % 20 = 11 THEN 104
  WHEN n % 100 IN (5, 6) THEN n % 100 WHEN n % 10 = 2 THEN 12 ELSE 4 END`;

const TEXT = `CASE WHEN n IN (301, 304, 308) THEN '${KNOWN.rareText}'
  WHEN n < :txs / 5 AND r2 < 500000 THEN '${KNOWN.oldText}'
  WHEN r2 < 500000 THEN '${KNOWN.frequentText}' WHEN r2 < 550000 THEN 'rent'
  WHEN r2 < 553000 THEN '${KNOWN.mediumText}' WHEN r2 < 553300 THEN '${KNOWN.scarceText}'
  ELSE 'delivery' END`;

/** The statements in order; `:txs` and `:users` stand for numbers. */
const FILL: readonly string[] = [
  `CREATE TEMP TABLE made AS
   SELECT n, ${TYPE} AS type, ${random('n', 2, '1000000')} AS r2, ${random('n', 3, '1000000')} AS r3,
     CASE WHEN n IN (101, 103, 105) THEN ${address(':users + 1')}
       WHEN n = 57 OR (n % 100 <> 57 AND ${random('n', 4, '10')} < 3) THEN ${address('1')}
       ELSE ${address(`2 + ${skewed('n', 5, ':users - 2')}`)} END AS sender,
     CASE WHEN n IN (113, 114, 116) THEN ${address('1')}
       ELSE ${address(`2 + ${skewed('n', 6, ':users - 2')}`)} END AS recipient,
     ${skewed('n', 7, `n / ${ASSET_EVERY}`)} AS asset
   FROM generate_series(1, :txs::bigint) n`,
  `INSERT INTO txs
   SELECT n, ${id('n')}, type, 2, (n - 1) / ${TXS_PER_BLOCK} + 1,
     ${GENESIS_TIME} + ((n - 1) / ${TXS_PER_BLOCK} + 1) * ${BLOCK_MS} - n % 1000, sender,
     left(md5(sender) || md5(sender), 44), ${seal('n')}, 100000, NULL,
     CASE WHEN type = 3 THEN ${id('n')}
       WHEN n IN (501, 503, 508) THEN ${id(`7 + ${ASSET_EVERY}`)}
       WHEN type IN (5, 6) OR (type IN (4, 11) AND r3 < 400000) THEN
         CASE asset WHEN 1 THEN ${id('7')} ELSE ${id(`7 + ${ASSET_EVERY} * asset`)} END
       WHEN type IN (4, 11) THEN 'NATIVE' END,
     CASE WHEN type IN (3, 4, 5, 6, 11) THEN
       CASE WHEN n IN (601, 603, 608) THEN ${KNOWN.rareAmount}
         WHEN r2 % 10 = 0 THEN ${KNOWN.frequentAmount}
         WHEN r3 < 400000 THEN 1000000000 + r2 ELSE r2 % 1000000 END END,
     CASE WHEN type IN (4, 11) THEN ${TEXT} || ' ' || r3 WHEN type = 3 THEN 'Token ' || n || ' made'
       WHEN type = 10 THEN 'name-' || n END,
     CASE WHEN type = 104 THEN jsonb_build_object('proofs', ARRAY[1], 'contractVersion', 1, 'contractId',
         CASE WHEN n IN (411, 431, 451) THEN ${id('423')} ELSE ${id('11')} END)
       ELSE jsonb_build_object('proofs', ARRAY[1], 'recipient', recipient, 'feeAssetId', NULL,
         'attachment', md5(n::text)) END
   FROM made ORDER BY n`,
  `INSERT INTO tx_addresses SELECT sender, n, 1 FROM made
   UNION ALL SELECT recipient, n, 2 FROM made WHERE type IN (4, 11, 102) AND recipient <> sender`,
  `INSERT INTO tx_aliases SELECT 'name-' || n, n FROM made WHERE type = 10
   UNION ALL SELECT 'name-' || (${skewed('n', 8, `n / ${ASSET_EVERY}`)} * ${ASSET_EVERY} + 57), n
   FROM made WHERE type = 4 AND n > 200 AND n % 50 = 1`,
  `INSERT INTO aliases SELECT 'name-' || n, sender, n FROM made WHERE type = 10`,
  `INSERT INTO tx_amounts SELECT n, pos, CASE pos WHEN 0 THEN ${KNOWN.frequentAmount} ELSE r2 + pos END
   FROM made, generate_series(0, 2) pos WHERE type = 11`,
  `INSERT INTO tx_proofs SELECT ${seal(`'p' || n`)}, n FROM made WHERE n % 50 = 0`,
  `INSERT INTO data_entries
   SELECT n, pos, sender, CASE WHEN n IN (12, 22, 42) AND pos = 0 THEN '${KNOWN.rareKey}'
       WHEN pos = 0 AND n < :txs / 5 THEN '${KNOWN.oldKey}'
       WHEN pos = 0 THEN '${KNOWN.frequentKey}' ELSE 'key ' || r3 % 5000 END,
     'string', CASE WHEN pos = 0 THEN 'value ' || r2 % 10 ELSE 'text ' || r2 END
   FROM made, generate_series(0, 1) pos WHERE type = 12`,
  `INSERT INTO assets SELECT ${id('n')}, n, sender, 'Token ' || n, 'made', 1000000, 1000000, 2, true, true
   FROM made WHERE type = 3`,
  `INSERT INTO permission_ops SELECT n, recipient, CASE WHEN n < 700 THEN '${KNOWN.rareRole}'
     WHEN r2 < 900000 THEN '${KNOWN.frequentRole}' ELSE 'issuer' END,
     CASE WHEN r2 % 5 = 0 THEN 'remove' ELSE 'add' END, NULL,
     ${GENESIS_TIME} + n * ${BLOCK_MS / TXS_PER_BLOCK} FROM made WHERE type = 102`,
  `INSERT INTO blocks SELECT h, ${seal(`'b' || h`)}, ${seal(`'b' || (h - 1)`)}, 3,
     ${GENESIS_TIME} + h * ${BLOCK_MS}, ${address('2 + h % 7')}, 0, NULL,
     jsonb_build_object('poa-consensus', jsonb_build_object('overall-skipped-rounds', h / 50)), '{}',
     9000, ${TXS_PER_BLOCK} * 100000, ${TXS_PER_BLOCK}, (h - 1) * ${TXS_PER_BLOCK} + 1
   FROM generate_series(1, :txs::bigint / ${TXS_PER_BLOCK}) h`,
  `INSERT INTO type_counts SELECT type, count(*) FROM made GROUP BY type`,
  `INSERT INTO users SELECT address, row_number() OVER (ORDER BY first, address),
     (first - 1) / ${TXS_PER_BLOCK} + 1, ${GENESIS_TIME} + first * ${BLOCK_MS / TXS_PER_BLOCK}
   FROM (SELECT address, min(seq) AS first FROM tx_addresses GROUP BY address) seen`,
  `INSERT INTO balances SELECT address, '', ordinal * 1000, 1 FROM users
   UNION ALL SELECT address, ${id('7')}, ordinal, 1 FROM users WHERE ordinal % 2 = 0
   UNION ALL SELECT address, ${id(`7 + ${ASSET_EVERY}`)}, ordinal, 1 FROM users WHERE ordinal < 4`,
  'DROP TABLE made',
];

/**
 * Into an empty store with its schema; `txs` is a multiple of 1000. Indexes are built at the end. A
 * store that has these rows already keeps them.
 */
export async function makeRows(db: Database, txs: number): Promise<MadeRows> {
  const [has] = await db.query<{ txs: string | null }>(
    'SELECT sum(n)::text AS txs FROM type_counts',
  );
  if (has?.txs === String(txs)) return known(db, txs);
  const indexes = { ...INDEXES, ...TEXT_INDEXES };
  const users = txs / 10;
  const fill = FILL.map((sql) =>
    sql.replaceAll(':txs', String(txs)).replaceAll(':users', String(users)),
  );
  await db.exec(
    [
      `SET maintenance_work_mem = '512MB'; SET work_mem = '128MB'; SET synchronous_commit = off`,
      ...Object.keys(indexes).map((name) => `DROP INDEX IF EXISTS ${name}`),
      ...fill,
      ...Object.values(indexes).map((definition) => `CREATE ${definition}`),
      'RESET maintenance_work_mem; RESET work_mem; RESET synchronous_commit',
    ].join(';\n'),
  );
  await db.exec('VACUUM ANALYZE');
  return known(db, txs);
}

async function known(db: Database, txs: number): Promise<MadeRows> {
  const middle = Math.floor(txs / 2);
  const [found] = await db.query<Record<string, string>>(
    `SELECT ${address('1')} AS "busyAddress", ${address(`${txs / 10} + 1`)} AS "rareAddress",
       ${id('7')} AS "frequentAsset", ${id(`7 + ${ASSET_EVERY}`)} AS "rareAsset",
       ${id('11')} AS "frequentContract", ${id('423')} AS "rareContract",
       ${id(String(middle))} AS "someId", ${seal(String(middle))} AS "someSignature",
       ${seal(`'p' || ${middle - (middle % 50)}`)} AS "someProof", ${seal(`'b' || 7`)} AS "someBlock",
       (SELECT count(*) FROM users) AS users`,
  );
  const day = (height: number): string =>
    new Date(GENESIS_TIME + height * BLOCK_MS).toISOString().slice(0, 10);
  const blocks = txs / TXS_PER_BLOCK;
  return {
    ...(found as unknown as MadeRows),
    txs,
    blocks,
    users: Number(found?.['users']),
    firstDay: day(1),
    middleDay: day(blocks / 2),
    lastDay: day(blocks),
  };
}
