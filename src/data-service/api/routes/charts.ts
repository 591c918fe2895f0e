/** The numbers behind the explorer's charts, over the last blocks. */
import { Int32, Int64 } from '../../../rest-framework/body.ts';
import { Type } from '../../../rest-framework/type.ts';
import { issue } from '../../../tx/types/003-issue.ts';
import { SKIPPED_ROUNDS } from '../../schema/tables.ts';
import * as params from '../query-params.ts';
import { heavyRows, requireIndexes, rows, tipOf } from '../reading.ts';
import { type DataServices, routesIn } from '../services.ts';

const route = routesIn('service');

const Point = Type.Object({
  from: Type.Integer({ description: 'Height of the first block of this point.' }),
  to: Int32,
  timestamp: Int64,
  blocks: Int32,
  transactions: Int64,
  fees: Int64,
  bytes: Int64,
  skipped: Type.Integer({ description: 'Rounds without a block, under proof of authority.' }),
  banned: Type.Integer({ description: 'Miners that are banned at the last block of this point.' }),
});

const Miner = Type.Object({
  address: Type.String(),
  blocks: Int32,
  missed: Type.Integer({ description: 'Turns without a block, under proof of authority.' }),
  bans: Int32,
});

const Ban = Type.Object({
  address: Type.String(),
  from: Type.Integer({ description: 'Height of the block that caused the ban.' }),
  to: Type.Integer({ description: 'Last height at which it is in force.' }),
});

const Stats = Type.Object({
  points: Type.Array(Point),
  types: Type.Array(Type.Object({ type: Int32, count: Int64 })),
  miners: Type.Array(Miner),
  bans: Type.Array(Ban, { description: 'Bans in force in these blocks, the newest first.' }),
  users: Int64,
  assets: Int64,
});

const POINTS = 60;
const BLOCKS_MAX = 20_000;
const MINERS_MAX = 20;
const BANS_MAX = 500;

type PointRow = Record<
  'from' | 'to' | 'ts' | 'blocks' | 'txs' | 'fees' | 'bytes' | 'skipped',
  string
>;

const pointsOf = (first: number, width: number, services: DataServices) =>
  heavyRows<PointRow>(
    services,
    `SELECT min(height) AS "from", max(height) AS "to", max(ts) AS ts, count(*) AS blocks,
       sum(tx_count) AS txs, sum(fee) AS fees, sum(blocksize) AS bytes,
       coalesce(sum(passed), 0) AS skipped
     FROM (SELECT *, ${SKIPPED_ROUNDS} - lag(${SKIPPED_ROUNDS}) OVER (ORDER BY height) AS passed
       FROM blocks WHERE height >= $1::int - 1) counted
     WHERE height >= $1::int GROUP BY (height - $1::int) / $2::int ORDER BY 1`,
    [first, width],
  );

/** Those with the most blocks and turns. */
const minersOf = (first: number, services: DataServices) =>
  heavyRows<{ address: string; blocks: string; missed: string; bans: string }>(
    services,
    `SELECT address, sum(blocks) AS blocks, sum(missed) AS missed, sum(bans) AS bans FROM (
       SELECT generator AS address, count(*) AS blocks, 0 AS missed, 0 AS bans
       FROM blocks WHERE height >= $1 GROUP BY generator
       UNION ALL SELECT address, 0, sum(missed), count(until) FROM miner_marks
       WHERE height >= $1 GROUP BY address) each_miner
     GROUP BY address ORDER BY sum(blocks) + sum(missed) DESC, address LIMIT ${MINERS_MAX}`,
    [first],
  );

const bansOf = (first: number, services: DataServices) =>
  rows<{ address: string; from: number; to: number }>(
    services,
    `SELECT address, height AS "from", until AS "to" FROM miner_marks WHERE until >= $1
     ORDER BY height DESC, address LIMIT ${BANS_MAX}`,
    [first],
  );

const stats = route({
  method: 'GET',
  path: '/stats',
  access: 'apiKey',
  doc: 'Blocks, transactions, fees, skipped rounds and bans over the last blocks, shares of types.',
  query: {
    blocks: {
      ...params.positive(
        `How many of the last blocks; default 1000, at most ${BLOCKS_MAX}.`,
        BLOCKS_MAX,
      ),
      optional: true,
      otherwise: 1000,
    },
  },
  cost: { streamed: true },
  reply: Stats,
  async handle({ query: { blocks } }, services) {
    await requireIndexes(services);
    const tip = await tipOf(services);
    const first = Math.max(1, tip.height - blocks + 1);
    const width = Math.max(1, Math.ceil((tip.height - first + 1) / POINTS));
    const [points, types, miners, bans, users] = await Promise.all([
      pointsOf(first, width, services),
      rows<{ type: number; n: string }>(
        services,
        'SELECT type, n FROM type_counts ORDER BY n DESC',
      ),
      minersOf(first, services),
      bansOf(first, services),
      rows<{ users: string }>(services, 'SELECT coalesce(max(ordinal), 0) AS users FROM users'),
    ]);
    const bannedAt = (height: number): number =>
      bans.filter(({ from, to }) => from <= height && height <= to).length;
    return {
      points: points.map((point) => ({
        from: Number(point.from),
        to: Number(point.to),
        timestamp: Number(point.ts),
        blocks: Number(point.blocks),
        transactions: Number(point.txs),
        fees: BigInt(point.fees),
        bytes: Number(point.bytes),
        skipped: Number(point.skipped),
        banned: bannedAt(Number(point.to)),
      })),
      types: types.map(({ type, n }) => ({ type, count: Number(n) })),
      miners: miners.map(({ address, ...counts }) => ({
        address,
        blocks: Number(counts.blocks),
        missed: Number(counts.missed),
        bans: Number(counts.bans),
      })),
      bans,
      users: Number(users[0]?.users ?? 0),
      // Every asset has its own issue.
      assets: Number(types.find(({ type }) => type === issue.type)?.n ?? 0),
    };
  },
});

export const charts = { stats };
